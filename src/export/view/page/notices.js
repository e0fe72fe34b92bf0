// SPDX-License-Identifier: MIT
// notices.js - what the reader of the page must know of the recording: what was lost, is not shown, or was wrong.

import { button, element } from './dom.js';
import { count, duration, plural, relative } from './data/format.js';

function notice(kind, title, text) {
	const close = button('×', () => line.remove(), { class: 'icon', 'aria-label': `Dismiss: ${title}` });
	const line = element('p', { class: `notice ${kind}` },
		element('span', {}, element('strong', {}, title), ` ${text}`), close);
	return line;
}

/* Goes from one place where events were lost to the next. */
function lossButton(model, app) {
	const { losses } = model;
	let next = 0;
	const show = button('Show where', () => {
		const i = next;
		next = (next + 1) % losses.n;
		const [from, to] = [losses.begin[i], losses.end[i]];
		// As much on both sides, so that it is seen what was going on.
		const room = Math.max(to - from, model.durationNs / 2000);
		app.focus({ from: from - room, to: to + room });
		app.announce(`${i + 1} of ${plural(losses.n, 'place')}: ${plural(losses.count[i], 'event')} lost, ` +
			`${model.name(losses.cause[i])}, at ${relative(from, 1)}, for ${duration(to - from)}.`);
		show.textContent = losses.n > 1 ? `Next of ${count(losses.n)}` : 'Show where';
	}, { class: 'show' });
	return show;
}

export function showNotices(place, model, app) {
	const { totals } = model;
	if (!model.tracks.length)
		place.append(notice('warning', 'Nothing was recorded.',
			'The recording holds no event: hodo list shows which ones the program has.'));
	if (totals.lost > 0) {
		const line = notice('lost', `${plural(totals.lost, 'event')} lost.`,
			'Hatched where it happened: what is missing there was not recorded.');
		if (model.losses.n)
			line.lastChild.before(lossButton(model, app));
		place.append(line);
	}
	if (model.thinned) {
		const parts = [['slices', 'slice'], ['instants', 'point'], ['values', 'value']]
			.filter(([what]) => totals[`shown_${what}`] < totals[what])
			.map(([what, one]) => `${count(totals[`shown_${what}`])} of ${plural(totals[what], one)}`);
		place.append(notice('thinned', 'Not everything is shown.', `${parts.join(', ')}: the longest. Dots below a ` +
			'track: others are left out there. Histograms count all; hodo view with --since and --until, --thread or a ' +
			'larger --limit shows others.'));
	}
	for (const warning of model.warnings.slice(0, 3))
		place.append(notice('warning', 'Warning.', warning));
	if (model.warnings.length > 3)
		place.append(notice('warning', 'Warning.', `${count(model.warnings.length - 3)} more of the kind.`));
}
