// SPDX-License-Identifier: MIT
// table.js - the pane "Events": slices, points and losses as a table.

import { element } from '../dom.js';
import { KINDS } from './event_rows.js';
import { clock, count, duration, exactDuration, plural } from '../data/format.js';
import { choice } from './pane_tools.js';
import { SidePane, nameFilter } from './side_pane.js';
import { VirtualGrid } from './virtual_grid.js';

const TRACKS_MAX = 2000; // in the list of threads; others are found by the search

export class TablePane extends SidePane {
	constructor(place, model, app) {
		super(place, model, app, 'table');
		this.events = model.events;
		this.filter = { track: -1, kind: -1, name: '' };
		this.order = { column: 'time', descending: false };
		this.refs = [];
		this.#build(place);
		app.on('matches', () => this.changed());
	}

	show() {
		super.show();
		this.#follow();
		this.model.loadText().then(() => this.grid.refresh(), () => this.grid.refresh());
	}

	themeChanged() {
		this.grid.refresh();
	}

	#build(place) {
		const name = nameFilter((text) => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => this.#set({ name: text }), 150);
		});
		const tracks = this.model.tracks.filter((t) => t.slices[1] > t.slices[0] || t.instants[1] > t.instants[0]);
		const track = choice('Thread, CPU or other track', [['-1', 'All threads'],
			...tracks.slice(0, TRACKS_MAX).map((t) => [t.index, t.longTitle])], (value) => this.#set({ track: Number(value) }));
		const kinds = KINDS.map((text, kind) => [kind, text]).filter(([kind]) => this.events.kind.includes(kind));
		const kind = choice('Kind', [['-1', 'All kinds'], ...kinds], (value) => this.#set({ kind: Number(value) }));
		this.total = element('span', { class: 'pane-dim', 'aria-live': 'polite' });
		this.grid = new VirtualGrid({
			label: 'Events', minWidth: 860,
			columns: [
				{ id: 'time', title: 'Time', width: '11.5em', sort: true },
				{ id: 'duration', title: 'Duration', width: '7em', sort: true, number: true },
				{ id: 'name', title: 'Name', width: 'minmax(8em, 22em)', sort: true },
				{ id: 'track', title: 'Thread, CPU', width: 'minmax(8em, 15em)', sort: true },
				{ id: 'kind', title: 'Kind', width: '6.5em', sort: true },
				{ id: 'text', title: 'Fields', width: 'minmax(8em, 1fr)' },
			],
			cell: (index, id) => this.#cell(this.refs[index], id),
			choose: (index) => this.#choose(index),
			activate: (index) => this.app.focus(this.events.item(this.refs[index])),
			sort: (column, descending) => {
				this.order = { column, descending };
				this.#arrange(true);
			},
			decorate: (index, row) => this.#mark(this.refs[index], row),
		});
		this.grid.showSort('time', false);
		this.details = element('div', { class: 'table-details', role: 'region', 'aria-label': 'The event' });
		place.append(this.bar('Events', name, track, kind, this.scope.element, this.total), this.grid.element, this.details);
		this.#describe();
	}

	#set(filter) {
		Object.assign(this.filter, filter);
		this.changed();
	}

	make() {
		const { track, kind, name } = this.filter;
		const names = name ? Uint8Array.from(this.model.strings, (s) => (s.toLowerCase().includes(name) ? 1 : 0)) : null;
		this.found = this.events.filtered({ range: this.scope.range, track, kind, names, hits: this.app.matches.hits });
		this.stale = false;
		this.total.textContent = this.found.length === this.events.n ? plural(this.events.n, 'row')
			: `${count(this.found.length)} of ${plural(this.events.n, 'row')}`;
		this.#arrange();
	}

	#arrange(fromTop = false) {
		const before = this.refs[this.grid.active];
		this.refs = this.events.sorted(this.found, this.order.column);
		if (this.order.descending)
			this.refs = this.refs.slice().reverse();
		this.grid.setRows(this.refs.length, { active: this.refs.indexOf(before), fromTop });
		this.#describe();
	}

	/* What is chosen elsewhere is the active row here. */
	#follow() {
		const ref = this.events.ref(this.app.item);
		if (ref >= 0 && this.refs[this.grid.active] !== ref)
			this.grid.setActive(this.refs.indexOf(ref));
		else
			this.grid.refresh();
		this.#describe();
	}

	#choose(index) {
		const ref = this.refs[index];
		this.app.choose(this.events.isLoss(ref) ? null : this.events.item(ref));
		this.#describe();
	}

	#duration(ref) {
		const ns = this.events.duration[ref];
		return Number.isNaN(ns) ? '' : (this.events.longer(ref) ? '≥ ' : '') + duration(ns);
	}

	/* Where it was: a loss is a process's. */
	#place(ref) {
		const { losses, processes } = this.model;
		if (!this.events.isLoss(ref))
			return this.model.tracks[this.events.track[ref]].longTitle;
		const row = this.events.loss(ref);
		const process = processes[losses.process[row]];
		return [process && `${process.comm} ${process.pid}`, losses.cpu[row] >= 0 && `CPU ${losses.cpu[row]}`].filter(Boolean)
			.join(', ');
	}

	#text(ref) {
		if (!this.events.isLoss(ref))
			return this.model.text(this.events.text[ref]);
		return `${plural(this.model.losses.count[this.events.loss(ref)], 'event')} lost`;
	}

	#cell(ref, id) {
		const { events, model } = this;
		switch (id) {
		case 'time':
			return clock(model.beginNs, events.time[ref]);
		case 'duration':
			return this.#duration(ref);
		case 'track':
			return this.#place(ref);
		case 'kind':
			return KINDS[events.kind[ref]] ?? '';
		case 'name':
			return model.name(events.name[ref]);
		default:
			return this.#text(ref) ?? '…';
		}
	}

	#mark(ref, row) {
		row.classList.toggle('table-lost', this.events.isLoss(ref));
		row.style.setProperty('--name-color', this.app.theme.fill(this.events.name[ref]));
	}

	#describe() {
		const ref = this.refs[this.grid.active];
		if (ref === undefined) {
			this.details.replaceChildren(element('span', { class: 'pane-dim' },
				'A click or Enter shows an event in the timeline.'));
			return;
		}
		const { events, model } = this;
		const ns = events.duration[ref];
		const parts = [element('strong', {}, model.name(events.name[ref])),
			element('span', {}, `${this.#place(ref)}, ${clock(model.beginNs, events.time[ref])}`)];
		if (!Number.isNaN(ns))
			parts.push(element('span', {}, (events.longer(ref) ? '≥ ' : '') + exactDuration(ns)));
		const text = this.#text(ref);
		if (text)
			parts.push(element('code', {}, text));
		parts.push(element('button', { type: 'button', onclick: () => this.app.focus(events.item(ref)) }, 'Show in the timeline'));
		this.details.replaceChildren(...parts);
	}
}
