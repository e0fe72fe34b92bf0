// SPDX-License-Identifier: MIT
// notices.js - what whoever looks has to know of the recording: what was lost, what is not shown, what was wrong.

import { count, plural } from './format.js';

function notice(doc, kind, title, text) {
	const line = doc.createElement('p');
	line.className = `notice ${kind}`;
	const strong = doc.createElement('strong');
	strong.textContent = title;
	line.append(strong, ` ${text}`);
	const close = doc.createElement('button');
	close.type = 'button';
	close.className = 'icon';
	close.textContent = '×';
	close.setAttribute('aria-label', `Dismiss: ${title}`);
	close.addEventListener('click', () => {
		line.remove();
		globalThis.dispatchEvent(new Event('resize'));
	});
	line.append(close);
	return line;
}

export function showNotices(place, model) {
	const doc = place.ownerDocument;
	const { totals } = model;
	if (!model.tracks.length)
		place.append(notice(doc, 'warning', 'Nothing was recorded.',
			'The recording holds no event: hodo list tells which ones the program has.'));
	if (totals.lost > 0)
		place.append(notice(doc, 'lost', `${plural(totals.lost, 'event')} lost.`,
			'Hatched where it happened: what is missing there was not recorded.'));
	if (model.thinned)
		place.append(notice(doc, 'thinned', 'Not everything is shown.',
			`${count(totals.shown_slices)} of ${plural(totals.slices, 'slice')} and ${count(totals.shown_instants)} of ` +
			`${plural(totals.instants, 'point')}: the longest. Histograms count all.`));
	for (const warning of model.warnings.slice(0, 3))
		place.append(notice(doc, 'warning', 'Warning.', warning));
	if (model.warnings.length > 3)
		place.append(notice(doc, 'warning', 'Warning.', `${count(model.warnings.length - 3)} more of the kind.`));
}
