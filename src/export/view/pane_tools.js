// SPDX-License-Identifier: MIT
// pane_tools.js - what the panes beside the timeline share: choices, the selection as a test on rows, and a sort of a
// million numbers.

import { SLICE_CALL, SLICE_LEFT, SLICE_NO_EXIT, SLICE_OPEN } from './data.js';
import { element } from './dom.js';
import { clock, count, duration } from './format.js';

/* Whether it is known how long a slice took. A span that has lost its end ends with the one around it, as LEFT. */
export function hasLength(slices, row) {
	const flags = slices.flags[row];
	return !(flags & (SLICE_OPEN | SLICE_NO_EXIT)) && !(flags & SLICE_LEFT && slices.kind[row] !== SLICE_CALL);
}

/* Buttons of which one is pressed. choices: [[value, text]…]. set() does not call changed(). */
export function segmented(label, choices, value, changed) {
	const group = element('span', { class: 'pane-segmented', role: 'radiogroup', 'aria-label': label });
	const buttons = choices.map(([choice, text]) => {
		const button = element('button', { type: 'button', role: 'radio' }, text);
		button.addEventListener('click', () => {
			set(choice);
			changed(choice);
		});
		group.append(button);
		return button;
	});
	function set(to) {
		choices.forEach(([choice], i) => {
			buttons[i].setAttribute('aria-checked', String(choice === to));
			buttons[i].tabIndex = choice === to ? 0 : -1;
		});
	}
	group.addEventListener('keydown', (event) => {
		const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
		if (!step || event.altKey || event.ctrlKey || event.metaKey)
			return;
		const next = (buttons.indexOf(event.target) + step + buttons.length) % buttons.length;
		event.preventDefault();
		event.stopPropagation();
		buttons[next].focus();
		buttons[next].click();
	});
	set(value);
	return { element: group, set };
}

/* A select element. choices: [[value, text]…]. */
export function choice(label, choices, changed) {
	const select = element('select', { 'aria-label': label },
		...choices.map(([value, text]) => element('option', { value }, text)));
	select.addEventListener('change', () => changed(select.value));
	return select;
}

export function percent(part, whole) {
	return whole > 0 ? `${(100 * part / whole).toFixed(part * 1000 < whole ? 3 : 1)} %` : '';
}

export function nameOf(model, name) {
	return model.strings[name] || '(no name)';
}

/* A track as people call it: "worker 4711", with its process if there are several. */
export function trackName(model, id) {
	const track = model.tracks[id];
	if (!track)
		return '';
	const name = track.kind === 'thread' ? `${track.name} ${track.tid}` : track.name;
	const process = model.processes.length > 1 ? model.processes[track.process] : null;
	if (!process || (track.kind === 'thread' && track.tid === process.pid))
		return name;
	return `${name} · ${process.comm} ${process.pid}`;
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

export function rangeText(model, range) {
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

/*
 * rows (Uint32Array) in the order of keys, where keys[i] is that of rows[i]; ascending and stable. By radix, 16 bits at a
 * time: times are whole nanoseconds. What is negative or no number is taken as 0.
 */
export function sortByKey(rows, keys) {
	const n = rows.length;
	const low = new Uint32Array(n);
	const high = new Uint32Array(n);
	let most = 0;
	for (let i = 0; i < n; i++) {
		const key = keys[i] >= 0 ? Math.min(Math.floor(keys[i]), Number.MAX_SAFE_INTEGER) : 0;
		low[i] = key >>> 0;
		high[i] = Math.floor(key / 4294967296);
		if (key > most)
			most = key;
	}
	let order = new Uint32Array(n);
	let next = new Uint32Array(n);
	for (let i = 0; i < n; i++)
		order[i] = i;
	const at = new Uint32Array(65537);
	for (let shift = 0; shift < 64 && most >= 2 ** shift; shift += 16) {
		const part = shift < 32 ? low : high;
		const by = shift & 31;
		at.fill(0);
		for (let i = 0; i < n; i++)
			at[((part[i] >>> by) & 65535) + 1]++;
		for (let i = 0; i < 65536; i++)
			at[i + 1] += at[i];
		for (let i = 0; i < n; i++) {
			const row = order[i];
			next[at[(part[row] >>> by) & 65535]++] = row;
		}
		[order, next] = [next, order];
	}
	for (let i = 0; i < n; i++)
		next[i] = rows[order[i]];
	return next;
}

/* The place of each text in their order, for sorting rows by name. */
export function ranksOf(texts) {
	const order = Array.from(texts, (_, i) => i)
		.sort((a, b) => (texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : a - b));
	const ranks = new Uint32Array(texts.length);
	order.forEach((text, rank) => {
		ranks[text] = rank;
	});
	return ranks;
}
