/* SPDX-License-Identifier: MIT */
/* Tables that sort. */

/* What is not known comes last, whichever way it is sorted. */
function compareValues(a, b, sign) {
	const aKnown = a !== null && a !== undefined, bKnown = b !== null && b !== undefined;
	if (!aKnown || !bKnown)
		return bKnown - aKnown;
	return sign * (typeof a === 'string' ? a.localeCompare(b, 'en', { numeric: true }) : a - b);
}

/*
 * @columns: name, value(item): what is sorted by, show(value, item): text or a node, isText, title,
 * isMoment, hasBar, isWide: left out where there is little room. Sorted by column @first to start with;
 * without one, as it comes and for good.
 */
function makeTable(table, caption, columns, items, first, limit) {
	const classOf = column => (column.isText ? 'text' : 'number') + (column.isWide ? ' wide' : '') +
		(column.isTimeline ? ' stages-column' : '');
	/* Names from A on, moments from the first one on, all else from the most on. */
	const isDown = column => !(column && (column.isText || column.isMoment));
	const state = { column: first, down: isDown(columns[first]), all: false };
	const body = element('tbody');
	const heads = columns.map((column, i) => {
		const label = first === undefined ? column.name :
			element('button', { type: 'button', title: column.title }, column.name);
		const head = element('th', { scope: 'col', class: classOf(column) }, label);
		if (first !== undefined)
			label.addEventListener('click', () => {
				state.down = state.column === i ? !state.down : isDown(column);
				state.column = i;
				fill();
			});
		return head;
	});
	const more = element('button', { type: 'button', class: 'more' });
	more.addEventListener('click', () => {
		state.all = !state.all;
		fill();
	});

	function cell(column, item, most) {
		const value = column.value(item);
		const isKnown = value !== null && value !== undefined;
		const shown = column.show ? column.show(value, item) : isKnown ? String(value) : '–';
		const node = element('td', { class: classOf(column),
			'data-value': isKnown ? value : null }, shown);
		if (column.hasBar && most)
			node.style.setProperty('--share', 100 * value / most + '%');
		if (column.hasBar)
			node.classList.add('bar');
		return node;
	}

	function fill() {
		const column = columns[state.column];
		let sorted = items.slice();
		if (column)
			sorted.sort((a, b) => compareValues(column.value(a), column.value(b), state.down ? -1 : 1));
		if (limit && !state.all)
			sorted = sorted.slice(0, limit);
		heads.forEach((head, i) => {
			if (first !== undefined)
				head.setAttribute('aria-sort', i !== state.column ? 'none' :
					state.down ? 'descending' : 'ascending');
		});
		const most = columns.map(one => one.hasBar ? Math.max(0, ...items.map(one.value)) : 0);
		body.replaceChildren(...sorted.map(item =>
			element('tr', {}, ...columns.map((one, i) => cell(one, item, most[i])))));
		more.textContent = state.all ? 'Show the first ' + limit : 'Show all ' + showCount(items.length);
	}

	table.replaceChildren(element('caption', {}, caption), element('thead', {}, element('tr', {}, ...heads)), body);
	fill();
	if (limit && items.length > limit)
		table.parentNode.after(more);
	if (!items.length)
		table.parentNode.replaceWith(element('p', { class: 'note' }, 'None.'));
}

function latencyColumn(name, stage, key, title) {
	return {
		name, title, show: showNs,
		value: item => key in item.latency[stage] ? item.latency[stage][key] : null,
	};
}

/* Of several, only what is data counts: a discard has bytes, too. */
function isOneOperation(item) {
	return item.operation !== undefined && item.operation !== 'all' && !item.others;
}

const rateColumns = [
	{ name: 'I/Os', value: item => item.ios, show: showCount },
	{ name: 'IOPS', value: item => item.iops, show: showRate },
	{ name: 'Data', value: item => isOneOperation(item) ? item.bytes : item.data_bytes, show: showBytes },
	{ name: 'Throughput', show: showBytesPerSecond,
		value: item => isOneOperation(item) ? item.bytes_per_second : item.data_bytes_per_second },
];
const failedColumn = { name: 'Failed', value: item => item.errors, show: showCount };
const latencyColumns = [
	latencyColumn('Q2C mean', 'q2c', 'mean_ns'), latencyColumn('Q2C p50', 'q2c', 'p50_ns'),
	latencyColumn('Q2C p99', 'q2c', 'p99_ns'), latencyColumn('Q2C max', 'q2c', 'max_ns'),
	latencyColumn('D2C p50', 'd2c', 'p50_ns'), latencyColumn('D2C p99', 'd2c', 'p99_ns'),
];
const waitedColumn = Object.assign(latencyColumn('Waited', 'q2c', 'sum_ns', 'Q2C, added up'), { hasBar: true });

function sizeName(item) {
	return item.others ? 'others' : item.from_bytes === 0 ? 'no data' :
		item.from_bytes === 1 ? 'below ' + showSize(4096) :
		item.to_bytes === null ? showSize(item.from_bytes) + ' and more' :
		showSize(item.from_bytes) + ' to ' + showSize(item.to_bytes + 1);
}

/* Of several LOGs: which one. */
function recordingColumn() {
	return new Set(report.devices.map(device => device.recording)).size > 1 ?
		[{ name: 'LOG', value: item => item.others ? null : item.recording }] : [];
}

function showTables() {
	const figures = [...rateColumns, failedColumn, waitedColumn, ...latencyColumns];
	const names = recordingColumn();

	makeTable(byId('processes'), 'I/Os by process', [
		{ name: 'Process', value: ownerName, isText: true }, ...names, ...figures], report.processes,
	1 + names.length + figures.indexOf(waitedColumn), 15);
	makeTable(byId('sizes'), 'I/Os by operation and size', [
		{ name: 'Operation', value: item => item.others ? 'others' : item.operation, isText: true },
		{ name: 'Size', value: item => item.from_bytes, show: (value, item) => sizeName(item) },
		...figures], report.sizes, 2, 20);
	byId('cpu-section').hidden = report.cpus.length < 2;
	makeTable(byId('cpus'), 'I/Os by CPU', [
		{ name: 'CPU', value: item => item.others ? null : item.cpu,
			show: (value, item) => item.others ? 'others' : String(value) },
		...names, ...figures], report.cpus, 1 + names.length, 16);
	byId('cgroup-section').hidden = !report.cgroups.some(item => item.cgroup_id);
	makeTable(byId('cgroups'), 'I/Os by cgroup', [
		{ name: 'cgroup', value: item => item.others ? null : item.cgroup_id,
			show: (value, item) => item.others ? 'others' : value ? String(value) : 'none' },
		...names, ...figures], report.cgroups, 1 + names.length, 16);
}
