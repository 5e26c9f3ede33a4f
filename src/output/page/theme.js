/* SPDX-License-Identifier: MIT */
/* Dark or light: as the system has it, or as the switch says. */

const THEMES = ['system', 'light', 'dark'];
const themes = { chosen: 'system', watchers: [], forced: null };
const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

function isDark() {
	return themes.forced ? themes.forced === 'dark' :
		themes.chosen === 'system' ? systemDark.matches : themes.chosen === 'dark';
}

function applyTheme() {
	document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
	byId('theme').textContent = { system: '◐ As the system', light: '☀ Light', dark: '☾ Dark' }[themes.chosen];
	byId('theme').setAttribute('aria-label', 'Colours: ' + themes.chosen + '. Press to change.');
	themes.watchers.forEach(watcher => watcher());
}

/* A colour of the style sheet. */
function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

/*
 * Scales for numbers: little is near the background. Blue to yellow is seen alike by the colour-blind;
 * of the two maps of offsets each has the hue of its operation.
 */
const SCALES = {
	light: {
		heat: ['#dfeaf2', '#9cc9d6', '#4f9fc0', '#2a6ca8', '#26397f', '#170c3a'],
		read: ['#dbe8f6', '#a5c8ea', '#5f9bd4', '#1f6bb0', '#08457f', '#032448'],
		write: ['#fae6d3', '#f6bf8d', '#e98c43', '#c65d0e', '#8a3a04', '#4a1d02'],
	},
	dark: {
		heat: ['#1d2c4f', '#2f4f7c', '#5a7684', '#93957a', '#cdb557', '#fff17a'],
		read: ['#16293f', '#1d4a75', '#2b74b3', '#56a4e0', '#9fd0f7', '#e6f5ff'],
		write: ['#38240f', '#6b4011', '#a96312', '#e08e24', '#f9bd63', '#fff0d2'],
	},
};

function channels(hex) {
	return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
}

/* 256 colours. */
function scaleColours(name) {
	const stops = SCALES[isDark() ? 'dark' : 'light'][name].map(channels);
	return Array.from({ length: 256 }, (_, i) => {
		const at = i / 255 * (stops.length - 1);
		const stop = Math.min(Math.floor(at), stops.length - 2);
		const mixed = stops[stop].map((from, c) => Math.round(from + (at - stop) * (stops[stop + 1][c] - from)));
		return 'rgb(' + mixed.join(',') + ')';
	});
}

function startTheme() {
	try {
		themes.chosen = THEMES.includes(localStorage.blkboxTheme) ? localStorage.blkboxTheme : 'system';
	} catch (error) {
		/* A page from a file may have no storage. */
	}
	byId('theme').addEventListener('click', () => {
		themes.chosen = THEMES[(THEMES.indexOf(themes.chosen) + 1) % THEMES.length];
		try {
			localStorage.blkboxTheme = themes.chosen;
		} catch (error) {
			/* Then it lasts as long as the page. */
		}
		applyTheme();
	});
	systemDark.addEventListener('change', applyTheme);
	applyTheme();
}
