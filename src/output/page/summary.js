/* SPDX-License-Identifier: MIT */
/* What was recorded and lost, and how each operation fared: what the first screen tells. */

/* A name from the log: what would bend the line that it is in is shown as its code. */
function showName(name) {
	return name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g,
		c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

function notice(kind, ...text) {
	const marks = { good: '✓', bad: '⚠', note: 'ℹ' };
	byId('notices').append(element('div', { class: 'banner ' + kind },
		element('span', { 'aria-hidden': 'true', class: 'mark' }, marks[kind]), ...text));
}

/* Returns what was lost of a device, or nothing. */
function lossSentence(device) {
	const parts = [], ended = device.all.unmatched, overdue = ended.ios.reused + ended.ios.aged;
	if (device.dropped)
		parts.push(showSome(device.dropped, 'event') + ' dropped in ' + showSome(device.loss_windows, 'window') +
			', ' + showNs(device.loss_ns) + ' in all');
	/* Protocol 2 counts dropped events, too; so does 1 since Linux 6.19, and nobody knows. */
	if (device.sequence_missing > (device.protocol === 2 ? device.dropped : 0))
		parts.push(showSome(device.sequence_missing, 'event') + ' missing in ' +
			showSome(device.sequence_gaps, 'gap') + ' of sequence numbers' +
			(device.dropped && device.protocol !== 2 ? ' (since Linux 6.19, the dropped ones are among them)' : ''));
	if (!parts.length)
		return null;
	return parts.join('; ') + '. ' + showSome(ended.ios.loss, 'I/O') + ' cut off by that, ' +
		showCount(ended.touched_by_loss) + ' more touched: ' + (report.with_losses ?
		'they are in the latencies, which may be wrong (--with-losses).' : 'they are in no latency here.') +
		(overdue ? ' ' + showSome(overdue, 'completion') + ' missing elsewhere: depth and busy share are too high.' : '');
}

function showLosses() {
	const lines = report.devices.filter(lossSentence).map(device => element('div', {},
		element('b', {}, 'Lost events'), ' on ' + showName(device.name) + ': ' + lossSentence(device)));

	if (lines.length > 4)
		notice('bad', element('details', {}, element('summary', {}, element('b', {}, 'Lost events'), ' on ' +
			lines.length + ' devices: ' + showCount(sum(report.devices.map(device =>
			Math.max(device.dropped, device.sequence_missing)))) + ' in all.'), ...lines));
	else if (lines.length)
		notice('bad', element('div', {}, ...lines));
	if (!report.events)
		return;
	if (report.untold_losses)
		notice('bad', 'No loss is told' + (lines.length ? ' of the other devices' : '') + ', but ' +
			showSome(report.untold_losses, 'completion') + (report.untold_losses === 1 ? ' is' : ' are') + ' missing: ' +
			'events were lost untold (blktrace does that), or writes overlapped. The latencies may be wrong, and ' +
			'depth and busy share too high: an I/O without a completion counts as in flight.');
	else if (report.complete && !lines.length)
		notice('good', 'No event was lost.');
	else if (!lines.length)
		notice('bad', 'No event was dropped, but the recording is cut off or damaged.');
}

/* What must not be overlooked when figures are missing. */
function showRemarks() {
	for (const device of report.devices) {
		const name = showName(device.name);
		if (!device.operations.length && !device.impossible_sectors)
			continue;
		if (device.has_queue && device.has_completion && !device.has_issue)
			notice('note', name + ': no issue events on this device, so no D2C: it is a stacked device ' +
				'(then the underlying device has them), or they were not recorded. Q2C stands.');
		if (device.has_queue && device.protocol === 1 && device.all.unmatched.no_queue)
			notice('note', name + ': ' + showCount(device.all.unmatched.no_queue) + ' I/Os were not seen queued: ' +
				'they are in no Q2C and have no owner. From Linux 6.19 on, protocol 1 (blktrace) leaves out the ' +
				'queue events of FUA writes.');
		if (device.impossible_sectors)
			notice('bad', name + ': ' + showSome(device.impossible_sectors, 'event') +
				' left out, with a sector that no device has (damaged?).');
		if (!device.has_completion)
			notice('note', name + ': no completions were recorded, so nothing has a latency.');
		if (!device.has_queue && device.has_issue)
			notice('note', name + ': no queue events were recorded: no Q2C, and no owners.');
	}
	if (!report.events)
		notice('note', 'No events were recorded.');
	if (report.events && report.devices.length && !report.devices.some(isActive))
		notice('note', 'No I/O is one of those that were asked for.');
	if (report.cut)
		notice('note', 'So that this page stays small: ' + cutSentence(report.cut) + '. blkbox report --json has all.');
}

function cutSentence(cut) {
	const parts = [];
	if (cut.bucket_fold > 1)
		parts.push(cut.bucket_fold + ' spans of time are one');
	if (cut.devices_left_out)
		parts.push(showSome(cut.devices_left_out, 'device') + ' left out, with the fewest events');
	if (cut.series_left_out)
		parts.push(showSome(cut.series_left_out, 'device') + ' without charts');
	parts.push('tables have at most ' + showCount(cut.groups_max) + ' rows, the last one of all others');
	return parts.join('; ');
}

function isShown(group) {
	return group.queued || group.ios || group.errors || group.requests.issued;
}

function isActive(device) {
	return device.operations.some(isShown);
}

function showHead() {
	const seconds = report.to_ns - report.from_ns;
	const about = [];
	document.title = showName(report.file) + ' – blkbox report';
	byId('file').textContent = showName(report.file);
	if (report.start)
		about.push('Recorded ' + report.start.replace('T', ' ').replace(/\.(\d{3})\d*/, '.$1'));
	about.push(showNs(seconds) + (report.from_ns ? ' from ' + showMoment(report.from_ns, seconds / 1000) + ' on' : ''));
	about.push(showSome(report.events, 'event'));
	about.push(report.devices.length === 1 ? showName(report.devices[0].name) : report.devices.length + ' devices');
	byId('about').textContent = about.join(' · ');
	showLosses();
	showRemarks();
	showOperations();
	showUnmatched();
}

/* Of a flush, what the device did is a request, which many may wait for. */
function stageOf(row, stage) {
	return row.latency[stage === 'd2c' && row.operation === 'flush' ? 'request_d2c' : stage];
}

function operationRows() {
	return report.devices.flatMap(device => {
		const rows = device.operations.filter(isShown).map(row => Object.assign({ device }, row));
		return rows.length > 1 ?
			[...rows, Object.assign({ device, operation: 'all' }, device.all)] : rows;
	});
}

function showOperations() {
	const latency = (stage, key, name) => ({
		name: stage.toUpperCase() + ' ' + name, show: showNs, isWide: /min|p90/.test(name),
		value: row => key in stageOf(row, stage) ? stageOf(row, stage)[key] : null,
	});
	const percentiles = stage => [['min_ns', 'min'], ['mean_ns', 'mean'], ['p50_ns', 'p50'], ['p90_ns', 'p90'],
		['p99_ns', 'p99'], ['p99.9_ns', 'p99.9'], ['max_ns', 'max']].map(([key, name]) => latency(stage, key, name));
	const columns = [
		{ name: 'Operation', value: row => row.operation, isText: true }, ...rateColumns,
		{ name: 'Merged', isWide: true, show: showCount, value: row =>
			row.merges.back + row.merges.front + row.merges.request + row.merges.unannounced },
		failedColumn, ...percentiles('q2c'), ...percentiles('d2c').filter(one => !/min|mean/.test(one.name)),
	];
	if (report.devices.length > 1)
		columns.unshift({ name: 'Device', value: row => showName(row.device.name), isText: true });
	byId('flush-note').hidden = !operationRows().some(row => row.operation === 'flush' && row.device.has_issue);
	makeTable(byId('operations'), 'Throughput and latency by operation', columns, operationRows(), undefined, 12);
}

function showUnmatched() {
	const all = report.devices.map(device => device.all);
	const count = pick => sum(all.map(pick));
	const parts = [
		[count(g => g.unmatched.ios.in_flight), 'in flight at the end'],
		[count(g => g.unmatched.completions.before_start), 'completion', 'of I/Os whose begin was not recorded'],
		[countAll(row => row.errors), 'failed'],
		[count(g => g.unmatched.no_queue), 'not seen queued (no Q2C)'],
		[count(g => g.unmatched.ios.reused + g.unmatched.ios.aged), 'whose completion is missing'],
		[count(g => g.unmatched.completions.behind_loss), 'completion', 'behind losses'],
		[count(g => g.unmatched.completions.other), 'completion', 'whose issue is missing'],
		[count(g => g.unmatched.inverted), 'whose times are not in order'],
	].filter(([n]) => n);
	byId('unmatched').textContent = parts.length ?
		'Not in the latencies: ' + parts.map(([n, what, more]) => (more ? showSome(n, what) + ' ' + more : showCount(n) + ' ' + what)).join(', ') + '.' : '';
}

function showTiles(device) {
	const all = device.all, latency = (stage, key) => key in all.latency[stage] ? all.latency[stage][key] : null;
	const busy = device.depth.known_ns ? device.depth.busy_ns / device.depth.known_ns : null;
	const tiles = [
		['I/Os', all.ios, showCount], ['IOPS', all.iops, showRate],
		['Throughput', all.data_bytes_per_second, showBytesPerSecond],
		['Q2C p50', latency('q2c', 'p50_ns'), showNs], ['Q2C p99', latency('q2c', 'p99_ns'), showNs],
		['Q2C max', latency('q2c', 'max_ns'), showNs],
		['D2C p50', latency('d2c', 'p50_ns'), showNs], ['D2C p99', latency('d2c', 'p99_ns'), showNs],
		['Depth, mean', device.depth.driver_mean, showRate], ['Busy', busy, showPercent],
		['Failed', all.errors, showCount],
	];
	byId('tiles').replaceChildren(...tiles.map(([name, value, show]) => element('div',
		{ class: name === 'Failed' && value ? 'alarm' : null },
		element('dt', {}, name), element('dd', { 'data-value': value }, show(value)))));
}

function log2Label(row) {
	const edge = n => n >= 20 ? (1 << (n - 20)) + NBSP + 's' : n >= 10 ? (1 << (n - 10)) + NBSP + 'ms' : (1 << n) + NBSP + 'µs';
	return row ? edge(row - 1) : '< 1' + NBSP + 'µs';
}

/* The picture of log2 rows that everybody knows; a second here is 1024 ms, a millisecond 1024 µs. */
function showHistogram(device) {
	const q2c = device.all.log2_us.q2c, d2c = device.all.log2_us.d2c;
	const rows = Math.max(q2c.length, d2c.length);
	const of = (counts, row) => counts[row] || 0;
	const most = Math.max(1, ...q2c, ...d2c);
	let first = 0;
	while (first < rows && !of(q2c, first) && !of(d2c, first))
		first++;
	const grid = element('div', { class: 'histogram', role: 'table', 'aria-labelledby': 'shape-title' });
	const head = element('div', { class: 'legend' }, swatch('read', 'Q2C').node, swatch('write', 'D2C').node,
		element('span', { class: 'note' }, 'I/Os, by latency from'));
	for (let row = first; row < rows; row++) {
		const bar = (counts, name) => element('i', { class: 'h-' + name,
			style: 'width:' + 100 * of(counts, row) / most + '%' });
		grid.append(element('div', { role: 'row' },
			element('span', { role: 'rowheader' }, log2Label(row)),
			element('span', { class: 'bars', role: 'presentation' }, bar(q2c, 'q2c'), bar(d2c, 'd2c')),
			element('span', { role: 'cell', class: 'n' }, showCount(of(q2c, row))),
			element('span', { role: 'cell', class: 'n' }, showCount(of(d2c, row)))));
	}
	byId('histogram').replaceChildren(first < rows ? head : element('p', { class: 'note' }, 'No I/O has a latency.'), grid);
}

/* Of the device that was chosen. */
function showDevice(device) {
	byId('shapes').hidden = !device || !device.all.ios;
	byId('tiles').hidden = !device;
	if (!device)
		return;
	showTiles(device);
	showHistogram(device);
	showShares(device);
}
