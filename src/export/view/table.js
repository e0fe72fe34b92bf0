// SPDX-License-Identifier: MIT
// table.js - the pane "Events": slices, points and losses as a table.

import { element } from './dom.js';
import { EventRows, KINDS } from './event_rows.js';
import { clock, count, duration, exactDuration, plural } from './format.js';
import { choice, nameOf, trackName } from './pane_tools.js';
import { SidePane, nameFilter } from './side_pane.js';
import { VirtualGrid } from './virtual_grid.js';

const TRACKS_MAX = 2000; // in the list of threads; others are found by the search

export class TablePane extends SidePane {
	constructor(place, model, app) {
		super(place, model, app, 'table');
		this.events = new EventRows(model);
		this.filter = { track: -1, kind: -1, name: '' };
		this.order = { column: 'time', descending: false };
		this.refs = null;
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
		const tracks = this.#tracks();
		const track = choice('Thread, CPU or other track', [['-1', 'All threads'], ...tracks],
			(value) => this.#set({ track: Number(value) }));
		const kind = choice('Kind', [['-1', 'All kinds'], ...this.#kinds()], (value) => this.#set({ kind: Number(value) }));
		this.total = element('span', { class: 'pane-dim', 'aria-live': 'polite' });
		this.grid = new VirtualGrid({
			label: 'Events', minWidth: 860,
			columns: [
				{ id: 'time', title: 'Time', width: '11.5em', sort: true },
				{ id: 'duration', title: 'Duration', width: '7em', sort: true, number: true, descendingFirst: true },
				{ id: 'name', title: 'Name', width: 'minmax(8em, 22em)', sort: true },
				{ id: 'track', title: 'Thread, CPU', width: 'minmax(8em, 15em)', sort: true },
				{ id: 'kind', title: 'Kind', width: '6.5em', sort: true },
				{ id: 'text', title: 'Fields', width: 'minmax(8em, 1fr)' },
			],
			cell: (index, id) => this.#cell(this.#ref(index), id),
			choose: (index) => this.#choose(index),
			activate: (index) => this.app.focus(this.events.item(this.#ref(index))),
			sort: (column, descending) => this.#sort(column, descending),
			decorate: (index, row) => this.#mark(this.#ref(index), row),
		});
		this.grid.showSort('time', false);
		this.details = element('div', { class: 'table-details', role: 'region', 'aria-label': 'The event' });
		place.append(this.bar('Events', name, track, kind, this.scope.element, this.total), this.grid.element, this.details);
		this.#describe(-1);
	}

	#tracks() {
		const has = this.model.tracks.filter((t) => t.slices[1] > t.slices[0] || t.instants[1] > t.instants[0]);
		return has.slice(0, TRACKS_MAX).map((t) => [String(t.index), trackName(this.model, t.index)]);
	}

	#kinds() {
		const seen = new Uint8Array(KINDS.length);
		for (let row = 0; row < this.model.slices.n; row++)
			seen[this.model.slices.kind[row]] = 1;
		seen[KINDS.indexOf('point')] = this.model.instants.n ? 1 : 0;
		seen[KINDS.indexOf('lost')] = this.model.losses.n ? 1 : 0;
		return KINDS.map((text, kind) => [String(kind), text]).filter((_, kind) => seen[kind]);
	}

	#set(filter) {
		Object.assign(this.filter, filter);
		this.changed();
	}

	make() {
		const { matches } = this.app;
		const { track, kind, name } = this.filter;
		const before = this.refs && this.grid.active >= 0 ? this.#ref(this.grid.active) : -1;
		const names = name ? Uint8Array.from(this.model.strings, (s) => (s.toLowerCase().includes(name) ? 1 : 0)) : null;
		this.found = this.events.filtered({ range: this.scope.range, track, kind, names,
			matches: matches.active ? matches : null });
		this.stale = false;
		this.total.textContent = this.found.length === this.events.n ? plural(this.events.n, 'row')
			: `${count(this.found.length)} of ${plural(this.events.n, 'row')}`;
		this.#arrange(before);
	}

	#sort(column, descending) {
		const before = this.grid.active >= 0 ? this.#ref(this.grid.active) : -1;
		this.order = { column, descending };
		this.#arrange(before, true);
	}

	#arrange(active, fromTop = false) {
		this.refs = this.events.sorted(this.found, this.order.column);
		this.grid.setRows(this.refs.length, { active: this.#index(active), fromTop });
		this.#describe(this.grid.active >= 0 ? active : -1);
	}

	/* Descending is the same list from its end. */
	#ref(index) {
		return this.refs[this.order.descending ? this.refs.length - 1 - index : index];
	}

	#index(ref) {
		const at = ref < 0 ? -1 : this.refs.indexOf(ref);
		return at < 0 ? -1 : this.order.descending ? this.refs.length - 1 - at : at;
	}

	/* What is chosen elsewhere is the active row here. */
	#follow() {
		const ref = this.events.ref(this.app.item);
		if (ref < 0 || (this.grid.active >= 0 && this.#ref(this.grid.active) === ref)) {
			this.grid.refresh();
			return;
		}
		const index = this.#index(ref);
		this.grid.setActive(index);
		this.#describe(index < 0 ? -1 : ref);
	}

	#choose(index) {
		const ref = this.#ref(index);
		this.app.choose(this.events.isLoss(ref) ? null : this.events.item(ref));
		this.#describe(ref);
	}

	#duration(ref) {
		const ns = this.events.duration(ref);
		return Number.isNaN(ns) ? '' : (this.events.longer(ref) ? '≥ ' : '') + duration(ns);
	}

	/* Where it was: a loss is a process's. */
	#place(ref) {
		const { losses, processes } = this.model;
		if (!this.events.isLoss(ref))
			return trackName(this.model, this.events.track(ref));
		const row = this.events.loss(ref);
		const process = processes[losses.process[row]];
		return [process && `${process.comm} ${process.pid}`, losses.cpu[row] >= 0 && `CPU ${losses.cpu[row]}`].filter(Boolean)
			.join(', ');
	}

	#text(ref) {
		if (!this.events.isLoss(ref))
			return this.model.text(this.events.textRow(ref));
		return `${plural(this.model.losses.count[this.events.loss(ref)], 'event')} lost`;
	}

	#cell(ref, id) {
		const { events, model } = this;
		switch (id) {
		case 'time':
			return clock(model.beginNs, events.time(ref));
		case 'duration':
			return this.#duration(ref);
		case 'track':
			return this.#place(ref);
		case 'kind':
			return KINDS[events.kind(ref)] ?? '';
		case 'name':
			return nameOf(model, events.name(ref));
		default:
			return this.#text(ref) ?? '…';
		}
	}

	#mark(ref, row) {
		row.classList.toggle('table-lost', this.events.isLoss(ref));
		row.style.setProperty('--name-color', this.app.theme.fill(this.events.name(ref)));
	}

	#describe(ref) {
		if (ref < 0) {
			this.details.replaceChildren(element('span', { class: 'pane-dim' },
				'A click or Enter shows an event in the timeline.'));
			return;
		}
		const { events, model } = this;
		const ns = events.duration(ref);
		const parts = [element('strong', {}, nameOf(model, events.name(ref))),
			element('span', {}, `${this.#place(ref)}, ${clock(model.beginNs, events.time(ref))}`)];
		if (!Number.isNaN(ns))
			parts.push(element('span', {}, (events.longer(ref) ? '≥ ' : '') + exactDuration(ns)));
		const text = this.#text(ref);
		if (text)
			parts.push(element('code', {}, text));
		parts.push(element('button', { type: 'button', onclick: () => this.app.focus(events.item(ref)) }, 'Show in the timeline'));
		this.details.replaceChildren(...parts);
	}
}
