// SPDX-License-Identifier: MIT
// app.js - what the panes share: what is selected, searched and chosen, and who wants to know.
//
// Events: 'selection' (a stretch of time and tracks), 'item' (one slice, point or value), 'matches' (of the search), 'theme',
// 'focus'.

import { Search } from './data/search.js';
import { Theme } from './theme.js';

export class App extends EventTarget {
	/* comparison: of compare.js, if there is another recording; else null */
	constructor(model, doc, comparison = null) {
		super();
		this.comparison = comparison;
		this.model = model;
		this.doc = doc;
		this.selection = { from: null, to: null, tracks: null };
		this.item = null; // {slice: row} | {instant: row} | {value: row}
		this.theme = new Theme(doc.documentElement, model.strings, model.nameCounts(), () => this.emit('theme'));
		this.matches = new Search(model, () => this.emit('matches'));
		this.live = doc.getElementById('live');
	}

	on(event, listener) {
		this.addEventListener(event, ({ detail }) => listener(detail));
	}

	emit(event, detail) {
		this.dispatchEvent(new CustomEvent(event, { detail }));
	}

	/* {from, to: ns from the start, or null: all; tracks: Set of track numbers, or null: all} */
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

	/* For screen readers. */
	announce(text) {
		this.live.textContent = text;
	}
}
