// SPDX-License-Identifier: MIT
// search_box.js - the box at the top: Enter goes to the next match, Shift+Enter to the one before, Esc ends the search.

import { onKeys } from './dom.js';
import { count } from './data/format.js';

export class SearchBox {
	/* leave(): gives the focus to what is searched */
	constructor(doc, app, leave) {
		Object.assign(this, { app, leave });
		this.input = doc.getElementById('search');
		this.output = doc.getElementById('search-count');
		const previous = doc.getElementById('search-previous');
		const next = doc.getElementById('search-next');
		doc.getElementById('search-form').addEventListener('submit', (event) => event.preventDefault());
		this.input.addEventListener('input', () => this.#later());
		onKeys(this.input, ({ shiftKey }) => ({ Enter: () => this.step(!shiftKey), Escape: () => this.#escape() }));
		previous.addEventListener('click', () => this.step(false));
		next.addEventListener('click', () => this.step(true));
		this.buttons = [previous, next];
		app.on('matches', () => this.#show());
		this.#show();
	}

	focus() {
		this.input.focus();
		this.input.select();
	}

	#later() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.app.matches.set(this.input.value), 120);
	}

	#escape() {
		this.input.value = '';
		clearTimeout(this.timer);
		this.app.matches.set('');
		this.leave();
	}

	step(forward) {
		clearTimeout(this.timer);
		this.app.matches.set(this.input.value);
		const item = this.app.matches.step(forward, this.app.viewFrom?.() ?? 0);
		if (item)
			this.app.focus(item);
		this.#show();
	}

	#show() {
		const { matches } = this.app;
		for (const button of this.buttons)
			button.disabled = matches.count === 0;
		if (!matches.active)
			this.output.textContent = '';
		else if (matches.count === 0)
			this.output.textContent = matches.busy ? 'searching…' : 'no match';
		else if (matches.at >= 0)
			this.output.textContent = `${count(matches.at + 1)} of ${count(matches.count)}`;
		else
			this.output.textContent = `${count(matches.count)}${matches.busy ? '…' : ''}`;
	}
}
