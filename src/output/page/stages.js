/* SPDX-License-Identifier: MIT */
/* Stages of I/Os as bars: their shares by operation, and the timeline of each slow one. */

const STAGES = {
	q2g: 'waiting for a request', g2i: 'until inserted', i2d: 'in the scheduler', g2d: 'until issued',
	q2m: 'until merged', m2d: 'merged, until issued', q2d: 'until issued', requeue: 'given back, until issued again',
	d2c: 'in the device', flush: 'flush behind the data', q2c: 'until completed',
	q2a: 'down to the disk', back: 'back from the disk', open: 'not issued so far', device: 'in the device so far',
};

function stageName(stage) {
	return ['requeue', 'flush', 'back', 'open', 'device'].includes(stage) ? stage : stage.toUpperCase();
}

/* @stages: [name, ns] in their order; @width: of the whole bar, in percent. */
function stageBar(stages, width) {
	const total = sum(stages.map(([, ns]) => ns));
	const bar = element('span', { class: 'stages', style: 'width:' + Math.max(width, 0.5) + '%' });
	for (const [stage, ns] of stages) {
		const share = ns / total;
		if (!ns)
			continue;
		bar.append(element('i', {
			class: 'stage', 'data-stage': stage, 'data-ns': ns,
			style: 'flex-grow:' + share + ';background:var(--stage-' + stage + ')',
			title: stageName(stage) + ' (' + STAGES[stage] + '): ' + showNs(ns) + ', ' + showPercent(share),
		}, share * width > 12 ? stageName(stage) : ''));
	}
	return bar;
}

function stageKeys(used) {
	return Object.keys(STAGES).filter(stage => used.has(stage)).map(stage =>
		swatch('stage-' + stage, stageName(stage) + ' ' + STAGES[stage]).node);
}

function showShares(device) {
	const node = element('div', { class: 'shares' });
	const used = new Set();
	for (const row of device.operations) {
		const shares = row.shares;
		if (!shares.sum_ns)
			continue;
		const stages = Object.keys(STAGES).map(stage => [stage, shares[stage + '_ns']]).filter(([, ns]) => ns);
		stages.forEach(([stage]) => used.add(stage));
		node.append(element('span', {}, row.operation), stageBar(stages, 100),
			element('span', { class: 'note' }, stages.map(([stage, ns]) =>
				stageName(stage) + NBSP + showPercent(ns / shares.sum_ns)).join(' · ')));
	}
	byId('shares').replaceChildren(element('div', { class: 'legend' }, ...stageKeys(used)),
		used.size ? node : element('p', { class: 'note' }, 'No I/O was seen from queue to completion.'));
}

function addBeforeIssue(add, times) {
	if (times.merged_ns !== null) {
		add('q2m', times.queued_ns, times.merged_ns);
		add('m2d', times.merged_ns, times.first_issued_ns);
	} else if (times.getrq_ns !== null) {
		add('q2g', times.queued_ns, times.getrq_ns);
		add('g2i', times.getrq_ns, times.inserted_ns);
		if (times.inserted_ns !== null)
			add('i2d', times.inserted_ns, times.first_issued_ns);
		else
			add('g2d', times.getrq_ns, times.first_issued_ns);
	} else {
		add('q2d', times.queued_ns, times.first_issued_ns);
	}
	if (times.issued_ns !== times.first_issued_ns)
		add('requeue', times.first_issued_ns, times.issued_ns);
}

/* Of an I/O, by way of its part on the lowest of stacked devices. */
function stagesOf(item) {
	const below = item.below && item.below.times;
	if (!below || item.times.issued_ns !== null || below.queued_ns === null)
		return stagesBetween(item.times);
	return [['q2a', below.queued_ns - item.times.queued_ns], ...stagesBetween(below),
		['back', item.times.completed_ns - below.completed_ns]];
}

/* Of what did not complete: as far as it came. */
function openStages(item) {
	const times = item.below ? item.below.times : item.times, stages = [];
	const begin = item.times.queued_ns === null ? item.times.first_issued_ns : item.times.queued_ns;
	const add = (stage, from, to) => {
		if (from !== null && to !== null && to >= from)
			stages.push([stage, to - from]);
	};
	if (times.issued_ns === null)
		return [['open', item.open_ns]];
	if (times.queued_ns !== null)
		addBeforeIssue(add, times);
	add('device', times.issued_ns, begin + item.open_ns);
	return stages;
}

/* In the order in which they happened; together they are the whole. */
function stagesBetween(times) {
	const data = times.data_completed_ns === null ? times.completed_ns : times.data_completed_ns;
	const stages = [];
	const add = (stage, from, to) => {
		if (from !== null && to !== null && to >= from)
			stages.push([stage, to - from]);
	};
	if (times.issued_ns === null) {
		add('q2c', times.queued_ns, times.completed_ns);
		return stages;
	}
	/* If it was not seen queued, its latency is from the issue. */
	if (times.queued_ns !== null)
		addBeforeIssue(add, times);
	add('d2c', times.issued_ns, data);
	if (data !== times.completed_ns)
		add('flush', data, times.completed_ns);
	return stages;
}

/* Where it is in the charts. */
function goTo(item, begin) {
	const index = report.devices.findIndex(device =>
		device.name === item.device && device.recording === item.recording);
	if (index < 0)
		return;
	if (report.devices[index] !== charts.device) {
		byId('device').value = index;
		chooseDevice(index);
	}
	if (!charts.list.length)
		return;
	const length = item.open_ns === undefined ? item.latency_ns : item.open_ns;
	const margin = Math.max(length, 10 * charts.device.series.width_ns);
	setView(begin - margin, begin + length + margin);
	byId('time').scrollIntoView({ block: 'start' });
}

function atButton(item, begin) {
	const button = element('button', { type: 'button', class: 'link', title: 'Show it in the charts' },
		showMoment(begin, 1000));
	button.addEventListener('click', () => goTo(item, begin));
	return button;
}

function placeOf(item) {
	return item.sector === null ? '–' : item.sector + '+' + item.bytes / 512 +
		(item.below && item.below.sector !== null ? ' → ' + showName(item.below.device) + ' ' + item.below.sector : '') +
		item.above.map(level => ' ← ' + showName(level.name) + ' ' + level.sector).join('');
}

/* When it began: the first that was seen of it. */
function beginOf(item) {
	return item.times.queued_ns !== null ? item.times.queued_ns : item.times.first_issued_ns !== null ?
		item.times.first_issued_ns : item.times.completed_ns;
}

/* What it was, where and whose. */
const ioColumns = [
	{ name: 'At', value: beginOf, isMoment: true, show: (value, item) => atButton(item, value) },
	{ name: 'Device', value: item => showName(item.device), isText: true },
	{ name: 'Operation', value: item => item.operation, isText: true,
		show: (value, item) => value + ' (' + item.rwbs + ')' },
	{ name: 'Sector', value: item => item.sector, show: (value, item) => placeOf(item) },
	{ name: 'Size', value: item => item.bytes, show: showBytes },
	{ name: 'Process', value: ownerName, isText: true },
];

function stagesColumn(stagesOfItem, lengthOf, most, value) {
	return {
		name: 'Stages', value, isText: true, isTimeline: true,
		show: (known, item) => element('div', { class: 'timeline' },
			stageBar(stagesOfItem(item), 100 * lengthOf(item) / most),
			element('small', {}, stagesOfItem(item).map(([stage, ns]) =>
				stageName(stage) + NBSP + showNs(ns)).join(' · '))),
	};
}

function showSlowest() {
	const used = new Set(report.slowest.flatMap(item => stagesOf(item).map(([stage]) => stage)));
	const most = Math.max(1, ...report.slowest.map(item => item.latency_ns));

	byId('slow-legend').append(...stageKeys(used));
	makeTable(byId('slowest'), 'The slowest I/Os and their stages', [
		{ name: 'Latency', value: item => item.latency_ns, show: showNs,
			title: 'From queue to completion; from issue if it was not seen queued' },
		...ioColumns,
		Object.assign(stagesColumn(stagesOf, item => item.latency_ns, most, item => item.times.issued_ns === null ?
			null : item.times.completed_ns - item.times.issued_ns), { title: 'Sorted by D2C' }),
	], report.slowest, 0, 20);
}

/* Counts of all devices: an I/O on stacked devices counts on each. */
function countAll(pick) {
	return sum(report.devices.flatMap(device => device.operations.map(pick)));
}

function showFailed() {
	const total = countAll(row => row.errors);
	const most = Math.max(1, ...report.failed.map(item => item.latency_ns));

	byId('failed-section').hidden = !report.failed.length;
	byId('failed-note').textContent = 'The first ' + report.failed.length + ' of ' + showCount(total) + '.';
	makeTable(byId('failed'), 'I/Os that failed', [
		{ name: 'Error', value: item => item.error_name, isText: true },
		{ name: 'Latency', value: item => item.latency_ns, show: showNs },
		...ioColumns,
		stagesColumn(stagesOf, item => item.latency_ns, most, item => item.latency_ns),
	], report.failed, 2, 20);
}

const ENDS = {
	in_flight: 'in flight at the end', aged: 'given up: open for too long',
	reused: 'its place was used again: the completion is missing',
};

function showUnfinished() {
	const total = countAll(row => row.unmatched.ios.in_flight + row.unmatched.ios.reused + row.unmatched.ios.aged);
	const most = Math.max(1, ...report.unfinished.map(item => item.open_ns));

	byId('unfinished-section').hidden = !report.unfinished.length;
	byId('unfinished-note').textContent = 'Those of ' + showCount(total) + ' that were open longest.';
	makeTable(byId('unfinished'), 'I/Os that did not complete', [
		{ name: 'Open for', value: item => item.open_ns, show: showNs },
		...ioColumns,
		{ name: 'End', value: item => ENDS[item.end], isText: true },
		stagesColumn(openStages, item => item.open_ns, most, item => item.open_ns),
	], report.unfinished, 0, 10);
}
