/* SPDX-License-Identifier: MIT */
/* Puts the page together, and again when another device or other colours are chosen. */

const report = JSON.parse(byId('data').textContent);

/* What a bucket counts, by second. */
function rates(column) {
	const seconds = charts.device.series.width_ns / 1e9;
	return column.map(n => n / seconds);
}

function byOperation(suffix, show, scale) {
	const series = charts.device.series;
	const names = suffix ? ['read_bytes', 'write_bytes', 'other_bytes'] : ['reads', 'writes', 'others'];
	return ['read', 'write', 'other'].map((label, i) => {
		const column = rates(series[names[i]]);
		return {
			label, colour: label, total: sum(series[names[i]]),
			column: column.map(rate => rate / scale), show: bucket => show(column[bucket]),
		};
	}).filter(one => one.total);
}

function throughputChart() {
	const series = charts.device.series;
	const moved = ['read_bytes', 'write_bytes'].filter(name => sum(series[name]));
	const most = Math.max(...(moved.length ? moved : ['other_bytes']).map(
		name => rates(series[name]).reduce((a, b) => Math.max(a, b), 0)));
	const unit = most >= 1 << 30 ? 3 : most >= 1 << 20 ? 2 : 1;
	const lines = byOperation('bytes', showBytesPerSecond, Math.pow(1024, unit));
	/* A discard moves no data, and would dwarf what does. */
	lines.forEach(line => { line.hidden = line.label === 'other' && lines.length > 1; });
	return {
		id: 'throughput', title: 'Throughput, ' + BYTE_UNITS[unit] + '/s', height: 170, y: {},
		summary: 'At most ' + showBytesPerSecond(most) + ' of one kind.', series: lines,
	};
}

function iopsChart() {
	const errors = charts.device.series.errors, column = rates(errors);
	const failed = {
		label: 'failed', colour: 'loss', column, show: bucket => showRate(column[bucket]),
		options: { strokeWidth: 2.4 },
	};
	return {
		id: 'iops', title: 'I/Os per second', height: 170, y: {},
		series: [...byOperation('', rate => showRate(rate), 1), ...sum(errors) ? [failed] : []],
	};
}

function depthChart() {
	const series = charts.device.series;
	const line = (label, name, colourName, options) => ({
		label, colour: colourName, column: series[name], options, thin: Boolean(options),
		show: bucket => series[name][bucket] === null ? '–' : String(Number(series[name][bucket].toFixed(2))),
	});
	const bare = { fillGraph: false, strokeWidth: 0.8, strokePattern: [3, 2] };
	return {
		id: 'depth', title: 'Queue depth', height: 170, y: {},
		series: [
			line('open, mean', 'open_mean', 'other'), line('in the driver, mean', 'driver_mean', 'read'),
			line('open, max', 'open_max', 'other', bare), line('in the driver, max', 'driver_max', 'read', bare),
		].filter(one => one.column.some(n => n > 0)),
	};
}

function busyChart() {
	const series = charts.device.series;
	const share = series.known_ns.map((known, i) => known ? 100 * series.busy_ns[i] / known : null);
	return {
		id: 'busy', title: 'Busy, %', height: 110, y: { range: [0, 105] },
		series: [{
			label: 'busy', colour: 'busy', column: share,
			show: bucket => showPercent(share[bucket] === null ? null : share[bucket] / 100),
		}],
	};
}

function drawCharts() {
	const device = charts.device;
	charts.list.forEach(chart => chart.graph.destroy());
	charts.list = [];
	hatch = null;
	byId('charts').replaceChildren();
	if (!device || !device.series || !(device.all.ios || device.all.errors)) {
		byId('charts').append(element('p', { class: 'note' }, !device ? 'Nothing was recorded.' :
			device.series ? 'No I/O was completed on ' + device.name + '.' :
			'There are no series of ' + device.name + ': only the first devices have them.'));
		byId('time').classList.add('without');
		return;
	}
	byId('time').classList.remove('without');
	const specs = [throughputChart(), iopsChart(), ...heatCharts(), ...offsetCharts(), depthChart(), busyChart()];
	charts.list = specs.filter(spec => spec && (spec.isMap || spec.series.length)).map(makeChart);
	showView();
}

function chooseDevice(index) {
	charts.device = report.devices[index] || null;
	const series = charts.device && charts.device.series;
	charts.whole = series ? [series.from_ns, series.from_ns + series.buckets * series.width_ns] : [0, 1];
	charts.view = charts.whole.slice();
	showDevice(charts.device);
	drawCharts();
}

/* One is shown at a time: sums over stacked devices would count an I/O twice. */
function offerDevices() {
	if (report.devices.length < 2)
		return;
	const choice = element('select', { id: 'device', 'aria-label': 'Device of the figures and charts below' });
	report.devices.forEach((device, i) => choice.append(element('option', { value: i },
		device.name + ' (' + showSome(device.all.ios, 'I/O') + ')')));
	choice.addEventListener('change', () => chooseDevice(Number(choice.value)));
	byId('devices').append(element('label', {}, 'Device ', choice));
	choice.value = busiest();
}

function busiest() {
	return report.devices.reduce((best, device, i) =>
		device.all.ios > report.devices[best].all.ios ? i : best, 0);
}

function startPrinting() {
	window.addEventListener('beforeprint', () => {
		themes.forced = 'light';
		document.body.classList.add('paper');
		applyTheme();
	});
	window.addEventListener('afterprint', () => {
		themes.forced = null;
		document.body.classList.remove('paper');
		applyTheme();
	});
}

setMoments(report.to_ns);
startTheme();
showHead();
offerDevices();
showTables();
showFailed();
showUnfinished();
showSlowest();
chooseDevice(busiest());
themes.watchers.push(drawCharts);
byId('zoom-in').addEventListener('click', () => zoomBy(0.5, 0));
byId('zoom-out').addEventListener('click', () => zoomBy(2, 0));
byId('earlier').addEventListener('click', () => zoomBy(1, -0.25));
byId('later').addEventListener('click', () => zoomBy(1, 0.25));
byId('whole').addEventListener('click', zoomWhole);
startPrinting();
document.body.dataset.ready = 'true';
