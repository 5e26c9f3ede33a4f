/* SPDX-License-Identifier: MIT */
/*
 * The charts over time. All show the same span: dygraphs draws them, and what people do with one of
 * them is done to all.
 */

const LABEL_WIDTH = 74;
const charts = { list: [], device: null, whole: [0, 1], view: [0, 1] };

/* 1, 2 or 5 times a power of ten. */
function niceStep(span, count) {
	const rough = span / Math.max(1, count);
	const power = Math.pow(10, Math.floor(Math.log10(rough)));
	return [1, 2, 5, 10].find(step => step * power >= rough) * power;
}

function timeTicks(from, to, pixels) {
	const step = Math.max(niceStep(to - from, pixels / 110), 1e-3);
	const ticks = [];
	for (let i = Math.ceil(from / step); i * step <= to; i++)
		ticks.push({ v: i * step, label: showMoment(i * step, step) });
	return ticks;
}

function numberTicks(from, to, pixels) {
	const step = niceStep(to - from, pixels / 34);
	const decimals = Math.max(0, -Math.floor(Math.log10(step)));
	const ticks = [];
	for (let i = Math.ceil(from / step); i * step <= to; i++)
		ticks.push({ v: i * step, label: group((i * step).toFixed(decimals)) });
	return ticks;
}

/* Of the device's own, and of all of its recording. */
function lossWindows(device) {
	return report.losses.filter(loss => loss.recording === device.recording &&
		(loss.device === null || loss.device === device.name));
}

let hatch = null;

/* So that it is no matter of colour alone. */
function hatchPattern(context) {
	if (hatch)
		return hatch;
	const tile = document.createElement('canvas');
	tile.width = tile.height = 8;
	const pen = tile.getContext('2d');
	pen.strokeStyle = colour('loss');
	pen.lineWidth = 1.5;
	pen.beginPath();
	for (const shift of [-8, 0, 8]) {
		pen.moveTo(shift - 1, 9);
		pen.lineTo(shift + 9, -1);
	}
	pen.stroke();
	hatch = context.createPattern(tile, 'repeat');
	return hatch;
}

/* Returns how many are in view. */
function shadeLosses(context, area, graph) {
	let shown = 0;
	for (const loss of lossWindows(charts.device)) {
		const left = Math.max(area.x, graph.toDomXCoord(loss.from_ns));
		const right = Math.min(area.x + area.w, Math.max(graph.toDomXCoord(loss.to_ns), left + 3));
		if (right <= left)
			continue;
		shown++;
		context.save();
		context.globalAlpha = 0.22;
		context.fillStyle = colour('loss');
		context.fillRect(left, area.y, right - left, area.h);
		context.globalAlpha = 0.75;
		context.fillStyle = hatchPattern(context);
		context.fillRect(left, area.y, right - left, area.h);
		context.restore();
	}
	return shown;
}

function swatch(colourName, text, extra, tag) {
	const value = element('b', {});
	const node = element(tag || 'span', { class: 'key' },
		element('i', { style: 'background: var(--' + colourName + ')', class: extra || '' }), text, value);
	return { node, value };
}

function lossKey() {
	return element('span', { class: 'key' }, element('i', { class: 'hatched' }), 'events lost');
}

/*
 * A chart. @spec: id, title, height, series (label, colour, show, column of figures), y (range, ticks),
 * under(context, area, graph), describe(bucket, y): what is under the mouse, keys: further legend.
 */
function makeChart(spec) {
	const readout = element('span', { class: 'readout' });
	const values = spec.series.map(series => swatch(series.colour, series.label, series.thin ? 'thin' : '', 'button'));
	const head = element('div', { class: 'chart-head' }, element('h3', {}, spec.title),
		...values.map(value => value.node), ...(spec.keys || []));
	if (lossWindows(charts.device).length)
		head.append(lossKey());
	head.append(element('span', { class: 'spring' }), readout);
	const plot = element('div', { class: 'plot', style: 'height:' + spec.height + 'px' });
	const node = element('div', { class: 'chart', id: 'chart-' + spec.id }, head, plot);
	byId('charts').append(node);
	const chart = { spec, node, plot, readout, values };
	const series = charts.device.series;
	const moment = i => series.from_ns + i * series.width_ns;
	const rows = [];
	/* Steps: the last one needs an end. */
	for (let i = 0; i <= series.buckets; i++) {
		const bucket = Math.min(i, series.buckets - 1);
		rows.push([moment(i), ...(spec.series.length ? spec.series.map(one => one.column[bucket]) : [NaN])]);
	}
	values.forEach((value, i) => toggleBy(value.node, chart, i));
	const options = {};
	spec.series.forEach(one => { options[one.label] = one.options || {}; });
	chart.graph = new Dygraph(plot, rows, {
		labels: ['time', ...(spec.series.length ? spec.series.map(one => one.label) : [''])],
		colors: spec.series.length ? spec.series.map(one => colour(one.colour)) : ['transparent'],
		series: options,
		visibility: spec.series.length ? spec.series.map(one => !one.hidden) : [true],
		stepPlot: !spec.isMap,
		fillGraph: !spec.isMap,
		fillAlpha: 0.16,
		strokeWidth: 1.4,
		legend: 'never',
		interactionModel: {},
		highlightCircleSize: 0,
		dateWindow: charts.view.slice(),
		rightGap: 10,
		xAxisHeight: 24,
		includeZero: !spec.y.range,
		valueRange: spec.y.range || null,
		gridLineColor: colour('grid'),
		axisLineColor: colour('axis'),
		axes: {
			x: { ticker: timeTicks, axisLabelWidth: 90, axisLabelFontSize: 12, drawGrid: true },
			y: { ticker: spec.y.ticks || numberTicks, axisLabelWidth: LABEL_WIDTH, axisLabelFontSize: 12 },
		},
		underlayCallback: (context, area, graph) => {
			if (spec.under)
				spec.under(context, area, graph);
			node.dataset.losses = shadeLosses(context, area, graph);
		},
		drawCallback: graph => placeOverlay(chart, graph),
	});
	/* Drawn at once: the overlay comes into a page that has its sizes. */
	placeOverlay(chart, chart.graph);
	return chart;
}

/* A line comes and goes by its key. */
function toggleBy(key, chart, index) {
	key.type = 'button';
	key.title = 'Show or hide';
	key.setAttribute('aria-pressed', !chart.spec.series[index].hidden);
	key.addEventListener('click', () => {
		const isShown = key.getAttribute('aria-pressed') !== 'true';
		key.setAttribute('aria-pressed', isShown);
		chart.graph.setVisibility(index, isShown);
	});
}

function addOverlay(chart) {
	chart.line = element('div', { class: 'cross' });
	chart.chosen = element('div', { class: 'chosen' });
	chart.overlay = element('div', {
		class: 'overlay', tabindex: '0', role: 'img', 'aria-describedby': 'keys',
		'aria-label': chart.spec.title + '. ' + (chart.spec.summary || ''),
	}, chart.line, chart.chosen);
	chart.plot.append(chart.overlay);
	watchPointer(chart);
	chart.overlay.addEventListener('keydown', onKey);
}

function placeOverlay(chart, graph) {
	const area = graph.getArea();
	if (!chart.overlay)
		addOverlay(chart);
	Object.assign(chart.overlay.style, {
		left: area.x + 'px', top: area.y + 'px', width: area.w + 'px', height: area.h + 'px',
	});
	chart.area = area;
	[chart.node.dataset.from, chart.node.dataset.to] = graph.xAxisRange();
}

/* Moves all charts. Never closer than four buckets, never outside of the recording. */
function setView(from, to) {
	const [first, last] = charts.whole;
	const width = charts.device && charts.device.series ? charts.device.series.width_ns : 1;
	const span = Math.min(Math.max(to - from, 4 * width), last - first);
	from = Math.min(Math.max(from + (to - from - span) / 2, first), last - span);
	charts.view = [from, from + span];
	charts.list.forEach(chart => chart.graph.updateOptions({ dateWindow: charts.view.slice() }));
	showView();
}

function showView() {
	const [from, to] = charts.view;
	const isWhole = to - from >= charts.whole[1] - charts.whole[0];
	const step = Math.max((to - from) / 1000, 1e-9);
	let text = showMoment(from, step) + ' to ' + showMoment(to, step);
	if (report.start && charts.whole[1] > 0)
		text += ' · from ' + new Date(Date.parse(report.start) + from / 1e6).toISOString().replace('T', ' ');
	byId('range').textContent = text + (isWhole ? '' : ' · ' + showNs(to - from));
	byId('whole').disabled = byId('zoom-out').disabled = isWhole;
	byId('earlier').disabled = isWhole || from <= charts.whole[0];
	byId('later').disabled = isWhole || to >= charts.whole[1];
	document.body.dataset.zoomed = !isWhole;
}

/* By a factor, around the middle; and moved by a share of what is seen. */
function zoomBy(factor, shift) {
	const [from, to] = charts.view;
	const middle = (from + to) / 2 + (to - from) * shift;
	setView(middle - (to - from) * factor / 2, middle + (to - from) * factor / 2);
}

function zoomWhole() {
	setView(...charts.whole);
}

const KEYS = {
	'+': () => zoomBy(0.5, 0), '=': () => zoomBy(0.5, 0), '-': () => zoomBy(2, 0),
	ArrowLeft: () => zoomBy(1, -0.25), ArrowRight: () => zoomBy(1, 0.25),
	0: zoomWhole, Escape: zoomWhole,
};

function onKey(event) {
	if (event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key])
		return;
	KEYS[event.key]();
	event.preventDefault();
}

function watchPointer(chart) {
	const overlay = chart.overlay;
	const at = event => Math.min(Math.max(event.clientX - overlay.getBoundingClientRect().left, 0), chart.area.w);
	const time = x => charts.view[0] + x / chart.area.w * (charts.view[1] - charts.view[0]);
	let drag = null;

	overlay.addEventListener('pointerdown', event => {
		if (event.button !== 0)
			return;
		drag = { x: at(event), view: charts.view.slice(), moves: event.shiftKey };
		overlay.setPointerCapture(event.pointerId);
	});
	overlay.addEventListener('pointermove', event => {
		const x = at(event);
		if (drag && drag.moves) {
			const shift = (drag.x - x) / chart.area.w * (drag.view[1] - drag.view[0]);
			setView(drag.view[0] + shift, drag.view[1] + shift);
		} else if (drag) {
			showChosen(Math.min(drag.x, x), Math.abs(x - drag.x));
		}
		const y = event.clientY - overlay.getBoundingClientRect().top;
		point(chart, time(x), chart.graph.toDataYCoord(y + chart.area.y));
	});
	overlay.addEventListener('pointerup', event => {
		const x = at(event);
		if (drag && !drag.moves && Math.abs(x - drag.x) > 5)
			setView(time(Math.min(x, drag.x)), time(Math.max(x, drag.x)));
		drag = null;
		showChosen(0, 0);
	});
	overlay.addEventListener('pointercancel', () => {
		drag = null;
		showChosen(0, 0);
	});
	overlay.addEventListener('pointerleave', () => drag || unpoint());
	overlay.addEventListener('dblclick', zoomWhole);
}

function showChosen(left, width) {
	charts.list.forEach(chart => Object.assign(chart.chosen.style, {
		display: width ? 'block' : 'none', left: left + 'px', width: width + 'px',
	}));
}

/* A line at one moment in all charts, with their figures there. */
function point(under, time, y) {
	const series = charts.device.series;
	const bucket = Math.floor((time - series.from_ns) / series.width_ns);
	const [from, to] = charts.view;
	const start = series.from_ns + bucket * series.width_ns;

	if (bucket < 0 || bucket >= series.buckets)
		return;
	charts.list.forEach(chart => {
		Object.assign(chart.line.style, {
			display: 'block', left: (time - from) / (to - from) * chart.area.w + 'px',
		});
		chart.spec.series.forEach((one, i) => {
			chart.values[i].value.textContent = ' ' + one.show(bucket);
		});
		chart.readout.textContent = chart === under ?
			(chart.spec.describe ? chart.spec.describe(bucket, y) + ' · ' : '') +
			momentNumber(start, series.width_ns) + ' to ' +
			showMoment(start + series.width_ns, series.width_ns) : '';
	});
}

function unpoint() {
	charts.list.forEach(chart => {
		chart.line.style.display = 'none';
		chart.values.forEach(value => { value.value.textContent = ''; });
		chart.readout.textContent = '';
	});
}
