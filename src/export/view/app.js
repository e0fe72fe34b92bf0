// SPDX-License-Identifier: MIT
// app.js - what the panes share: what is selected, searched and chosen, and who wants to know.
//
// Events: 'selection' (a stretch of time and tracks), 'item' (one slice, point or value), 'search', 'theme', 'focus'.

import { Search } from './search.js';
import { Theme } from './theme.js';

export class App {
	#listeners = new Map();

	constructor(model, doc) {
		this.model = model;
		this.doc = doc;
		this.selection = { from: null, to: null, tracks: null };
		this.item = null; // {slice: row} | {instant: row} | {value: row}
		this.search = '';
		this.theme = new Theme(doc.documentElement, model.strings, model.nameCounts(),
			() => this.emit('theme', this.theme));
		this.matches = new Search(model, () => this.emit('matches', this.matches));
		this.reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
		this.live = doc.getElementById('live');
	}

	on(event, listener) {
		if (!this.#listeners.has(event))
			this.#listeners.set(event, new Set());
		this.#listeners.get(event).add(listener);
		return () => this.#listeners.get(event).delete(listener);
	}

	emit(event, detail) {
		for (const listener of this.#listeners.get(event) ?? [])
			listener(detail);
	}

	/* {from, to: ns from the begin, or null: all; tracks: Set of track numbers, or null: all} */
	select({ from = null, to = null, tracks = null } = {}) {
		if (from !== null && to !== null && to < from)
			[from, to] = [to, from];
		this.selection = { from, to, tracks };
		this.emit('selection', this.selection);
	}

	/* Chooses a slice, point or value, or null, without moving the timeline. */
	choose(item) {
		this.item = item;
		this.emit('item', item);
	}

	/* Shows the timeline at {slice: row} | {instant: row} | {value: row} | {time} | {from, to} and chooses it. */
	focus(target) {
		if ('slice' in target || 'instant' in target || 'value' in target)
			this.choose(target);
		this.showPane?.('timeline');
		this.emit('focus', target);
	}

	setSearch(text) {
		if (text === this.search)
			return;
		this.search = text;
		this.matches.set(text);
		this.emit('search', text);
	}

	/* For screen readers. */
	announce(text) {
		this.live.textContent = text;
	}
}
