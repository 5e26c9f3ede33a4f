/* SPDX-License-Identifier: MIT */
/* Figures as people read them, and elements without any markup from the data. */

const NBSP = '\u00a0';

/* Three digits that tell something. */
function scaled(value, unit) {
	const decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	return group(value.toFixed(decimals)) + NBSP + unit;
}

/* 1234567.8 as 1,234,567.8 */
function group(text) {
	const [whole, fraction] = text.split('.');
	const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
	return fraction === undefined ? grouped : grouped + '.' + fraction;
}

function isKnown(value) {
	return typeof value === 'number' && Number.isFinite(value);
}

function showNs(ns) {
	if (!isKnown(ns))
		return '–';
	if (ns >= 999.5e6)
		return scaled(ns / 1e9, 's');
	if (ns >= 999.5e3)
		return scaled(ns / 1e6, 'ms');
	if (ns >= 1e3)
		return scaled(ns / 1e3, 'µs');
	return Math.round(ns) + NBSP + 'ns';
}

function showCount(n) {
	return isKnown(n) ? group(String(Math.round(n))) : '–';
}

function showSome(n, what) {
	return showCount(n) + ' ' + what + (n === 1 ? '' : 's');
}

function showRate(n) {
	return isKnown(n) ? group(n.toFixed(n < 99.95 && n !== 0 ? 2 : 0)) : '–';
}

const BYTE_UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

function showBytes(bytes) {
	if (!isKnown(bytes))
		return '–';
	let unit = 0;
	while (bytes >= 1024 && unit < BYTE_UNITS.length - 1) {
		bytes /= 1024;
		unit++;
	}
	return unit ? scaled(bytes, BYTE_UNITS[unit]) : Math.round(bytes) + NBSP + 'bytes';
}

function showBytesPerSecond(rate) {
	return isKnown(rate) ? showBytes(rate) + '/s' : '–';
}

function showPercent(part) {
	return isKnown(part) ? (100 * part).toFixed(1) + NBSP + '%' : '–';
}

/* An integer power of two as "4 KiB". */
function showSize(bytes) {
	let unit = 0;
	while (bytes >= 1024 && bytes % 1024 === 0) {
		bytes /= 1024;
		unit++;
	}
	return bytes + NBSP + BYTE_UNITS[unit];
}

/* Moments are shown in one unit all over the page, which fits the length of the recording. */
const moments = { unit: 's', ns: 1e9 };

function setMoments(endNs) {
	[moments.unit, moments.ns] = endNs >= 1e9 ? ['s', 1e9] : endNs >= 1e6 ? ['ms', 1e6] :
		endNs >= 1e3 ? ['µs', 1e3] : ['ns', 1];
}

/* @stepNs: what has to be told apart. */
function momentNumber(ns, stepNs) {
	const decimals = Math.max(0, Math.ceil(-Math.log10(stepNs / moments.ns) - 1e-9));
	return group((ns / moments.ns).toFixed(Math.min(9, decimals)));
}

function showMoment(ns, stepNs) {
	return isKnown(ns) ? momentNumber(ns, stepNs) + NBSP + moments.unit : '–';
}

/*
 * element('td', {class: 'x'}, 'text', node ...): text is text, never markup. The names in the data
 * come from any process that did I/O.
 */
function element(tag, attributes, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value !== null && value !== undefined && value !== false)
			node.setAttribute(name, value);
	}
	node.append(...children);
	return node;
}

function byId(id) {
	return document.getElementById(id);
}

function sum(numbers) {
	return numbers.reduce((total, n) => total + n, 0);
}

/* The name of a thread, or of what is none. */
function ownerName(item) {
	if (item.others)
		return 'others';
	if (item.owner === 'kernel writeback' || item.owner === 'interrupt')
		return '[' + item.owner + ']';
	if (item.owner === 'unknown')
		return '[not seen queued]';
	const name = item.process === null ? '<...>' : item.process;
	return (item.owner === 'kernel thread' ? '[' + name + ']' : name) + ' ' + item.pid;
}
