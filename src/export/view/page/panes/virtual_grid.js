// SPDX-License-Identifier: MIT
// virtual_grid.js - a table of any number of rows, of which only those in sight are elements. One tab stop; keys move the
// active row (WAI-ARIA's grid with aria-activedescendant).
//
// A browser's elements end at some 30 million pixels: above SPACE_MAX the scroll bar stands for a part of the whole, and
// the wheel, keys and first row are kept to the row by ourselves.

import { element, onKeys } from '../dom.js';

const SPACE_MAX = 8e6;
let grids = 0;

export class VirtualGrid {
	/*
	 * columns: [{id, title, width (of CSS grid-template-columns), sort (can be sorted by), number (right-aligned, sorted from the greatest)}…]
	 * cell(index, id): text. choose(index): has become active. activate(index): Enter, or a click.
	 * sort(id, descending): a header was used. decorate(index, row element): after its cells are set. minWidth: below it
	 * the table is scrolled sideways.
	 */
	constructor({ label, columns, cell, choose, activate, sort, decorate, rowHeight = 24, minWidth = 0 }) {
		Object.assign(this, { columns, cell, choose, activate, sort, decorate, rowHeight });
		this.id = `grid-${++grids}`;
		this.n = 0;
		this.top = 0; // the first row in sight; a fraction if it is in part
		this.active = -1;
		this.sorted = { id: null, descending: false };
		this.head = element('div', { class: 'grid-row grid-head', role: 'row', 'aria-rowindex': '1' });
		this.layer = element('div', { class: 'grid-layer', role: 'rowgroup' });
		this.space = element('div', { class: 'grid-space', role: 'none' });
		this.header = element('div', { class: 'grid-top', role: 'rowgroup' }, this.head);
		this.element = element('div', { class: 'grid', role: 'grid', tabIndex: 0, 'aria-label': label,
			'aria-colcount': String(columns.length), 'aria-rowcount': '1' }, this.header, this.layer, this.space);
		this.element.style.setProperty('--grid-min', `${minWidth}px`);
		this.template = columns.map((column) => column.width).join(' ');
		this.head.style.gridTemplateColumns = this.template;
		this.#makeHead();
		this.element.addEventListener('scroll', () => this.#scrolled());
		this.element.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
		this.layer.addEventListener('click', (event) => this.#click(event));
		onKeys(this.element, (event) => this.#keys(event));
		new ResizeObserver(() => this.refresh()).observe(this.element);
	}

	#makeHead() {
		this.columns.forEach((column, i) => {
			const head = element('div', { class: column.number ? 'grid-cell grid-number' : 'grid-cell', role: 'columnheader',
				'aria-colindex': String(i + 1) });
			if (column.sort) {
				head.append(element('button', { type: 'button', class: 'grid-sort', onclick: () => this.#sortBy(column.id) },
					column.title));
				head.setAttribute('aria-sort', 'none');
			} else {
				head.textContent = column.title;
			}
			column.head = head;
			this.head.append(head);
		});
	}

	#sortBy(id) {
		const descending = this.sorted.id === id ? !this.sorted.descending : Boolean(this.columns.find((c) => c.id === id).number);
		this.showSort(id, descending);
		this.sort(id, descending);
	}

	showSort(id, descending) {
		this.sorted = { id, descending };
		for (const column of this.columns)
			if (column.sort)
				column.head.setAttribute('aria-sort', column.id !== id ? 'none' : descending ? 'descending' : 'ascending');
	}

	/* Other rows. The active one is none unless it is given; it is brought into sight unless fromTop. */
	setRows(n, { active = -1, fromTop = false } = {}) {
		this.n = n;
		this.active = active < n ? active : -1;
		this.element.setAttribute('aria-rowcount', String(n + 1));
		this.space.style.height = `${Math.min(n * this.rowHeight, SPACE_MAX)}px`;
		this.#moveTo(0);
		if (this.active >= 0 && !fromTop)
			this.#bringIntoSight();
		this.refresh();
	}

	/* Active without choose(). */
	setActive(index) {
		this.active = index;
		if (index >= 0)
			this.#bringIntoSight();
		this.refresh();
	}

	/* Pixels that rows have. */
	get #height() {
		return Math.max(0, this.element.clientHeight - this.header.offsetHeight);
	}

	get inSight() {
		return this.#height / this.rowHeight;
	}

	/* Draws the rows in sight; their texts are asked for anew. */
	refresh() {
		if (!this.#height)
			return;
		this.layer.style.top = `${this.header.offsetHeight}px`;
		this.top = Math.max(0, Math.min(this.top, this.n - this.inSight));
		const first = Math.floor(this.top);
		const end = Math.min(first + Math.ceil(this.inSight) + 1, this.n);
		this.layer.replaceChildren(...Array.from({ length: end - first }, (_, i) => this.#row(first + i)));
		if (this.active >= first && this.active < end)
			this.element.setAttribute('aria-activedescendant', `${this.id}-${this.active}`);
		else
			this.element.removeAttribute('aria-activedescendant');
	}

	#row(index) {
		const cells = this.columns.map((column, i) => element('div', { role: 'gridcell', 'aria-colindex': String(i + 1),
			class: column.number ? 'grid-cell grid-number' : 'grid-cell' }, this.cell(index, column.id)));
		const row = element('div', { index, id: `${this.id}-${index}`, class: index % 2 ? 'grid-row grid-odd' : 'grid-row', role: 'row',
			'aria-rowindex': String(index + 2), 'aria-selected': String(index === this.active) }, ...cells);
		Object.assign(row.style, { gridTemplateColumns: this.template, height: `${this.rowHeight}px`,
			transform: `translateY(${(index - this.top) * this.rowHeight}px)` });
		this.decorate?.(index, row);
		return row;
	}

	/* The scroll bar goes over scrollMax pixels while the first row goes over topMax rows. */
	#scale() {
		const scrollMax = Math.min(this.n * this.rowHeight, SPACE_MAX) - this.#height;
		return { scrollMax: Math.max(scrollMax, 1), topMax: Math.max(this.n - this.inSight, 0) };
	}

	#moveTo(top) {
		const { scrollMax, topMax } = this.#scale();
		this.top = Math.max(0, Math.min(top, topMax));
		this.element.scrollTop = topMax ? this.top / topMax * scrollMax : 0;
		this.expected = this.element.scrollTop;
	}

	#scrolled() {
		const { scrollTop } = this.element;
		if (this.expected === undefined || Math.abs(scrollTop - this.expected) >= 1) {
			const { scrollMax, topMax } = this.#scale();
			this.top = scrollTop / scrollMax * topMax;
			this.expected = scrollTop;
		}
		this.refresh();
	}

	#wheel(event) {
		if (event.ctrlKey || event.shiftKey || this.n * this.rowHeight <= SPACE_MAX)
			return;
		const unit = [1, this.rowHeight, this.#height][event.deltaMode];
		event.preventDefault();
		this.#moveTo(this.top + event.deltaY * unit / this.rowHeight);
		this.refresh();
	}

	#bringIntoSight() {
		if (this.active < this.top)
			this.#moveTo(this.active);
		else if (this.active + 1 > this.top + this.inSight)
			this.#moveTo(this.active + 1 - this.inSight);
	}

	#click(event) {
		const row = event.target.closest('.grid-row');
		if (!row || !this.element.ownerDocument.getSelection().isCollapsed)
			return;
		this.#go(row.index);
		this.activate?.(row.index);
	}

	#go(index) {
		this.setActive(index);
		this.choose?.(index);
	}

	#keys({ target }) {
		if (target !== this.element || !this.n)
			return null;
		const page = Math.max(1, Math.floor(this.inSight) - 1);
		const go = (to) => () => this.#go(Math.max(0, Math.min(this.n - 1, to)));
		const activate = this.active >= 0 && (() => this.activate?.(this.active));
		return { ArrowDown: go(this.active + 1), ArrowUp: go(this.active - 1), PageDown: go(Math.max(this.active, 0) + page),
			PageUp: go(this.active - page), Home: go(0), End: go(this.n - 1), Enter: activate, ' ': activate };
	}
}
