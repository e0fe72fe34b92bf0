// SPDX-License-Identifier: MIT
// help.js - the overlay with keys and gestures.

import { button, element } from './dom.js';

const SECTIONS = [
	['Move', [
		[['W', 'S'], 'zoom in, out'],
		[['A', 'D'], 'earlier, later'],
		[['Ctrl', 'wheel'], 'zoom at the pointer; two fingers do too'],
		[['Shift', 'wheel'], 'earlier, later'],
		[['Shift', 'drag'], 'move the view; so does the middle button'],
		[['F'], 'zoom to the chosen slice, or to the selected area'],
		[['0'], 'all of the recording'],
	]],
	['Choose', [
		[['click'], 'a slice, point or value: its details'],
		[['←', '→'], 'the one before, after on its row'],
		[['↑', '↓'], 'its parent, its child; then the next track'],
		[['Home', 'End'], 'first, last of its row'],
		[['[', ']'], 'the one before, after of the same name; , and . too'],
		[['Esc'], 'nothing'],
	]],
	['Select and measure', [
		[['drag'], 'an area: statistics of what is in it; on the ruler or below the tracks: of all tracks'],
		[['Shift', '← →'], 'the same by keys: from slice to slice'],
		[['M'], 'mark the chosen slice or the area; again: remove the mark'],
		[['double click'], 'select the time of a slice on its track'],
	]],
	['Find', [
		[['/'], 'search names and fields'],
		[['Enter'], 'next match'],
		[['Shift', 'Enter'], 'the match before'],
		[['Esc'], 'end the search, back to what is searched'],
		[['?'], 'this help'],
	]],
	['In the other views', [
		[['←', '→', '↑', '↓'], 'along the flame graph, a histogram, a table'],
		[['Enter'], 'flame graph: zoom in; table: show in the timeline'],
		[['Esc'], 'flame graph: zoom out; histogram: no bucket'],
		[['T'], 'flame graph: the longest in the timeline'],
	]],
];

function makeSection([title, rows]) {
	return element('section', {}, element('h3', {}, title), element('dl', {}, ...rows.flatMap(([keys, text]) => [
		element('dt', {}, ...keys.flatMap((key) => [element('kbd', {}, key), ' '])), element('dd', {}, text)])));
}

export function makeHelp(doc) {
	const dialog = element('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
		button('×', () => dialog.close(), { class: 'icon close', 'aria-label': 'Close' }),
		element('h2', { id: 'help-title' }, 'Keys and gestures'),
		element('div', { class: 'columns' }, ...SECTIONS.map(makeSection)),
		element('details', {}, element('summary', {}, 'Licences of what this page is made with'),
			element('pre', {}, doc.getElementById('hodo-licences').textContent.trim())));
	dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close()); // beside it
	doc.body.append(dialog);
	return dialog;
}
