// SPDX-License-Identifier: MIT
// side_pane.js - the life of a pane beside the timeline: made when it is shown and what it shows has changed since.
//
// A pane has make(), which sets stale to false, and may have again() (shown as it was made), draw() (in another width or
// theme).

import './panes.css';
import { element } from '../dom.js';
import { Scope } from './pane_tools.js';

export class SidePane {
	constructor(place, model, app, name) {
		Object.assign(this, { place, model, app, shown: false, stale: true, width: 0 });
		place.classList.add('side-pane', `${name}-pane`);
		this.scope = new Scope(model, app, () => this.changed());
		app.on('selection', () => this.selectionChanged());
		app.on('theme', () => this.themeChanged());
		this.note = element('p', { class: 'pane-note' });
	}

	show() {
		this.shown = true;
		if (this.stale)
			this.make();
		else
			this.again();
	}

	hide() {
		this.shown = false;
	}

	again() {}

	changed() {
		this.stale = true;
		if (this.shown)
			this.make();
	}

	selectionChanged() {
		this.scope.selectionChanged();
		this.changed();
	}

	themeChanged() {
		if (this.shown && !this.stale)
			this.draw();
	}

	/* Draws anew when the place, whose width draw() keeps, gets another one. */
	watch(place) {
		new ResizeObserver(() => {
			if (!this.shown || Math.abs(place.clientWidth - this.width) <= 1)
				return;
			if (this.stale)
				this.make();
			else
				this.draw();
		}).observe(place);
	}

	bar(label, ...children) {
		return element('div', { class: 'pane-bar', role: 'toolbar', 'aria-label': label }, ...children);
	}

	showNotes(notes) {
		this.note.textContent = notes.join(' ');
		this.note.hidden = notes.length === 0;
	}
}

/* A field for a part of names. */
export function nameFilter(changed) {
	const input = element('input', { type: 'search', placeholder: 'Name', 'aria-label': 'Only names that contain',
		autocomplete: 'off', spellcheck: false });
	input.addEventListener('input', () => changed(input.value.trim().toLowerCase()));
	return input;
}
