/* SPDX-License-Identifier: MIT */
/* The maps: latency by time, offset by time. A cell's colour is how many I/Os are in it. */

/* The greatest count and the rows that have any. */
function mapExtent(map) {
	const extent = { most: 0, first: Infinity, last: -1, total: 0 };
	for (const [, row, ...counts] of map) {
		extent.first = Math.min(extent.first, row);
		extent.last = Math.max(extent.last, row + counts.length - 1);
		for (const n of counts) {
			extent.most = Math.max(extent.most, n);
			extent.total += n;
		}
	}
	return extent;
}

/* Of 256: logarithmic, for one I/O among thousands is to be seen. */
function shadeOf(n, most) {
	return most > 1 ? Math.round(30 + 225 * Math.log(n) / Math.log(most)) : 200;
}

function mapCount(map, bucket, row) {
	for (const [at, first, ...counts] of map) {
		if (at === bucket && row >= first && row < first + counts.length)
			return counts[row - first];
	}
	return 0;
}

function paintMap(map, extent, colours, context, area, graph) {
	const series = charts.device.series;
	const x = bucket => Math.round(Math.min(Math.max(
		graph.toDomXCoord(series.from_ns + bucket * series.width_ns), area.x), area.x + area.w));
	const y = row => Math.round(Math.min(Math.max(graph.toDomYCoord(row), area.y), area.y + area.h));

	for (const [bucket, first, ...counts] of map) {
		const left = x(bucket), right = x(bucket + 1);
		if (right <= area.x || left >= area.x + area.w)
			continue;
		counts.forEach((n, i) => {
			const bottom = y(first + i), height = Math.max(bottom - y(first + i + 1), 2);
			context.fillStyle = colours[shadeOf(n, extent.most)];
			context.fillRect(left, bottom - height, Math.max(right - left, 2), height);
		});
	}
}

/* The scale of a map, with figures. */
function mapKey(extent, colours) {
	const bar = element('canvas', { width: 140, height: 10, role: 'img', 'aria-label': 'Colour scale' });
	const pen = bar.getContext('2d');
	for (let x = 0; x < 140; x++) {
		pen.fillStyle = colours[extent.most > 1 ? Math.round(30 + 225 * x / 139) : 200];
		pen.fillRect(x, 0, 1, 10);
	}
	const middle = Math.round(Math.sqrt(extent.most));
	return element('span', { class: 'scale', title: 'I/Os in a cell; the scale is logarithmic' }, extent.most > 1 ? '1' : '', bar,
		showSome(extent.most, 'I/O') + (extent.most > 8 ? ' (middle: ' + showCount(middle) + ')' : ''));
}

/* Where a latency is among the rows, with fractions. */
function heatPlace(rows, ns) {
	let row = rows.findIndex(from => from > ns) - 1;
	if (row < 0)
		row = rows.length - 1;
	const next = row + 1 < rows.length ? rows[row + 1] : 2 * rows[row];
	return row + Math.min(1, (ns - rows[row]) / (next - rows[row]));
}

function heatTicks(rows, first, last) {
	const few = last - first < 16;
	const ticks = [];
	for (let power = 1e3; power <= 1e14; power *= 10) {
		for (const step of few ? [1, 2, 5] : [1]) {
			const place = heatPlace(rows, power * step);
			if (place >= first && place <= last && power * step <= rows[rows.length - 1])
				ticks.push({ v: place, label: tickNs(power * step) });
		}
	}
	return ticks;
}

function tickNs(ns) {
	return ns >= 1e9 ? ns / 1e9 + ' s' : ns >= 1e6 ? ns / 1e6 + ' ms' : ns / 1e3 + ' µs';
}

/* @stage: q2c or d2c. @range: rows, the same for both, so that they can be compared. */
function heatChart(stage, title, range) {
	const series = charts.device.series;
	const map = series[stage + '_heat'], rows = series.heat_from_ns;
	const extent = mapExtent(map), colours = scaleColours('heat');
	const means = series[stage + '_n'].map((n, i) => n ? series[stage + '_sum_ns'][i] / n : NaN);

	if (!extent.total)
		return null;
	return {
		id: stage, title, height: 200, isMap: true,
		summary: 'Map of time by latency, ' + showSome(extent.total, 'I/O') + '.',
		series: [{
			label: 'mean', colour: 'mean', show: bucket => showNs(means[bucket]),
			column: means.map(ns => Number.isNaN(ns) ? null : heatPlace(rows, ns)),
			options: { strokeBorderWidth: 1, strokeBorderColor: colour('panel'), stepPlot: true,
				fillGraph: false },
		}],
		keys: [mapKey(extent, colours)],
		y: { range, ticks: () => heatTicks(rows, range[0], range[1]) },
		under: (...where) => paintMap(map, extent, colours, ...where),
		describe: (bucket, y) => {
			const row = Math.floor(y);
			return showNs(rows[row]) + ' to ' + showNs(rows[row + 1]) + ': ' +
				showCount(mapCount(map, bucket, row)) + ' I/Os';
		},
	};
}

function heatCharts() {
	const series = charts.device.series;
	const extents = [mapExtent(series.q2c_heat), mapExtent(series.d2c_heat)];
	const first = Math.min(...extents.map(extent => extent.first));
	const last = Math.max(...extents.map(extent => extent.last));
	const range = [Math.max(0, first - 1), Math.max(last + 2, first + 4)];

	return [
		heatChart('q2c', 'Latency Q2C: what processes waited', range),
		heatChart('d2c', 'Latency D2C: the device', range),
	];
}

/* Powers of two of bytes: 512 MiB, 1 GiB, 1.5 GiB ... */
function offsetTicks(first, last, rowBytes, pixels) {
	const span = (last - first) * rowBytes;
	const step = Math.pow(2, Math.ceil(Math.log2(span / Math.max(2, pixels / 40))));
	const ticks = [];
	for (let i = Math.max(0, Math.ceil(first * rowBytes / step)); i * step <= last * rowBytes; i++)
		ticks.push({ v: i * step / rowBytes, label: tickBytes(i * step) });
	return ticks;
}

function tickBytes(bytes) {
	let unit = 0;
	while (bytes >= 1024 && unit < BYTE_UNITS.length - 1) {
		bytes /= 1024;
		unit++;
	}
	return Number(bytes.toFixed(2)) + ' ' + (unit ? BYTE_UNITS[unit] : 'B');
}

/* A cross where a listed I/O failed, a ring where one did not complete. */
function markTroubled(kind, rowSectors, context, area, graph) {
	const isHere = item => item.device === charts.device.name && item.recording === charts.device.recording &&
		item.operation === kind && item.sector !== null;
	const draw = (item, time, shape) => {
		const x = graph.toDomXCoord(time), y = graph.toDomYCoord(item.sector / rowSectors);
		if (x < area.x - 4 || x > area.x + area.w + 4)
			return;
		context.beginPath();
		shape(x, y);
		context.stroke();
	};
	context.save();
	context.strokeStyle = colour('loss');
	context.lineWidth = 2;
	report.failed.filter(isHere).forEach(item => draw(item, item.times.completed_ns, (x, y) => {
		context.moveTo(x - 4, y - 4);
		context.lineTo(x + 4, y + 4);
		context.moveTo(x - 4, y + 4);
		context.lineTo(x + 4, y - 4);
	}));
	report.unfinished.filter(isHere).forEach(item => draw(item, beginOf(item), (x, y) =>
		context.arc(x, y, 4, 0, 2 * Math.PI)));
	context.restore();
}

function troubleKeys(kind) {
	const has = list => list.some(item => item.operation === kind && item.device === charts.device.name);
	return [...has(report.failed) ? [element('span', { class: 'key alarm' }, '✕ failed')] : [],
		...has(report.unfinished) ? [element('span', { class: 'key alarm' }, '○ not completed')] : []];
}

function offsetChart(kind, range) {
	const series = charts.device.series;
	const map = series[kind + '_offsets'], rowBytes = series.offset_row_sectors * 512;
	const extent = mapExtent(map), colours = scaleColours(kind);

	if (!extent.total && !troubleKeys(kind).length)
		return null;
	return {
		id: kind + '-offsets', title: kind === 'read' ? 'Where was read' : 'Where was written', height: 170,
		summary: 'Map of time by place on the device, ' + showSome(extent.total, 'I/O') + '.',
		isMap: true, series: [],
		keys: [mapKey(extent, colours), ...troubleKeys(kind)],
		y: { range, ticks: (from, to, pixels) => offsetTicks(range[0], range[1], rowBytes, pixels) },
		under: (...where) => {
			paintMap(map, extent, colours, ...where);
			markTroubled(kind, series.offset_row_sectors, ...where);
		},
		describe: (bucket, y) => {
			const row = Math.floor(y);
			return row < 0 ? '' : tickBytes(row * rowBytes) + ' to ' + tickBytes((row + 1) * rowBytes) + ': ' +
				showCount(mapCount(map, bucket, row)) + ' I/Os';
		},
	};
}

function offsetCharts() {
	const series = charts.device.series;
	const extents = [mapExtent(series.read_offsets), mapExtent(series.write_offsets)];
	const troubled = [...report.failed, ...report.unfinished].filter(item =>
		item.device === charts.device.name && item.sector !== null).map(item => Math.floor(item.sector / series.offset_row_sectors));
	const first = Math.min(...extents.map(extent => extent.first), ...troubled);
	const last = Math.max(...extents.map(extent => extent.last), ...troubled);

	return ['read', 'write'].map(kind => offsetChart(kind, [first - 2, last + 3]));
}
