// SPDX-License-Identifier: MIT
// pane_tools.js - what the panes beside the timeline share: choices, the selection as a test on rows.

import { element } from '../dom.js';
import { clock, count, duration } from '../data/format.js';

let groups = 0;

/* Radio buttons in a row. choices: [[value, text]…]. set() does not call changed(). */
export function segmented(label, choices, value, changed) {
	const name = `choice-${++groups}`;
	const inputs = choices.map(([choice]) => element('input', { type: 'radio', name, checked: choice === value,
		onchange: () => changed(choice) }));
	return {
		element: element('span', { class: 'pane-segmented', role: 'radiogroup', 'aria-label': label },
			...choices.map(([, text], i) => element('label', {}, inputs[i], text))),
		set: (to) => inputs.forEach((input, i) => { input.checked = choices[i][0] === to; }),
	};
}

/* A select element. choices: [[value, text]…]. */
export function choice(label, choices, changed) {
	return element('select', { 'aria-label': label, onchange: ({ target }) => changed(target.value) },
		...choices.map(([value, text]) => element('option', { value }, text)));
}

export function percent(part, whole) {
	return whole > 0 ? `${(100 * part / whole).toFixed(part * 1000 < whole ? 3 : 1)} %` : '';
}

/* What app.selection means to rows: tracks: Uint8Array by track, from and to in ns. null: everything. */
export function rangeOf(model, { from = null, to = null, tracks = null } = {}) {
	const timed = from !== null && to !== null && to > from;
	if (!timed && !tracks)
		return null;
	const wanted = new Uint8Array(model.tracks.length).fill(tracks ? 0 : 1);
	for (const id of tracks ?? [])
		wanted[id] = 1;
	return { from: timed ? from : -Infinity, to: timed ? to : Infinity, tracks: wanted, timed };
}

function rangeText(model, range) {
	if (!range)
		return 'Everything';
	const wanted = range.tracks.reduce((sum, yes) => sum + yes, 0);
	const where = wanted < model.tracks.length ? `, ${count(wanted)} of ${count(model.tracks.length)} tracks` : '';
	const when = range.timed ? `${duration(range.to - range.from)} from ${clock(model.beginNs, range.from)}` : 'All the time';
	return when + where;
}

/* "Selection | Everything": of what a pane is, in words. changed(): after a choice. */
export class Scope {
	constructor(model, app, changed) {
		this.model = model;
		this.app = app;
		this.all = false;
		this.switch = segmented('Of what', [[false, 'Selection'], [true, 'Everything']], false, (all) => {
			this.all = all;
			this.selectionChanged();
			changed();
		});
		this.text = element('span', { class: 'pane-dim' });
		this.element = element('span', { class: 'pane-scope' }, this.switch.element, this.text);
		this.selectionChanged();
	}

	/* null: everything */
	get range() {
		return this.all ? null : this.selected;
	}

	selectionChanged() {
		this.selected = rangeOf(this.model, this.app.selection);
		this.switch.element.hidden = this.selected === null;
		this.text.textContent = rangeText(this.model, this.range);
	}
}
