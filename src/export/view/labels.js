// SPDX-License-Identifier: MIT
// labels.js - the names of groups and tracks at the left: a tree as WAI-ARIA has it. Only those in sight are elements.

import { element } from './dom.js';
import { number } from './format.js';

const AROUND_PX = 200;

export class TrackTree {
	/* timeline has: layout, app, toggle(item), selectTracks(items, add) */
	constructor(place, timeline) {
		this.element = place;
		this.timeline = timeline;
		this.shown = new Map();
		this.current = null; // the one tab stop
		place.setAttribute('role', 'tree');
		place.setAttribute('aria-label', 'Processes and tracks');
		place.setAttribute('aria-multiselectable', 'true');
		place.addEventListener('click', (event) => this.#click(event));
		place.addEventListener('keydown', (event) => this.#key(event));
		place.addEventListener('focusin', (event) => {
			const item = this.#itemOf(event.target);
			if (item)
				this.#makeCurrent(item);
		});
	}

	#itemOf(target) {
		return target instanceof Element ? target.closest('[role=treeitem]')?.item ?? null : null;
	}

	/* Puts up those between scroll and scroll + height. */
	update(scroll, height) {
		const { layout, app } = this.timeline;
		const { drawn } = this;
		if (drawn && drawn.scroll === scroll && drawn.height === height && drawn.generation === layout.generation &&
		    drawn.tracks === app.selection.tracks)
			return;
		this.drawn = { scroll, height, generation: layout.generation, tracks: app.selection.tracks };
		const wanted = new Set();
		const from = layout.indexAt(scroll - AROUND_PX);
		for (let i = from; i < layout.items.length && layout.items[i].y < scroll + height + AROUND_PX; i++)
			wanted.add(layout.items[i]);
		if (!layout.items.includes(this.current))
			this.current = layout.items[0] ?? null;
		if (this.current)
			wanted.add(this.current);
		for (const [item, node] of this.shown)
			if (!wanted.has(item)) {
				node.remove();
				this.shown.delete(item);
			}
		let before = null;
		for (const item of wanted) {
			let node = this.shown.get(item);
			if (!node) {
				node = this.#make(item);
				this.shown.set(item, node);
				if (before)
					before.after(node);
				else
					this.element.prepend(node);
			}
			this.#place(item, node);
			if (item !== this.current || layout.items.indexOf(item) >= from)
				before = node;
		}
	}

	#make(item) {
		const siblings = item.isGroup ? this.timeline.layout.groups : item.group.children;
		const node = element('div', { role: 'treeitem', class: item.isGroup ? 'label group' : `label track ${item.track.kind}`,
			'aria-level': item.isGroup ? '1' : '2', 'aria-posinset': String(item.position),
			'aria-setsize': String(siblings.length), title: this.#title(item), item },
		element('span', { class: 'fold', 'aria-hidden': 'true' }), element('span', { class: 'name' }, item.label),
		element('span', { class: 'detail' }, item.detail));
		if (!item.isGroup && item.track.kind === 'counter' && item.track.values[1] > item.track.values[0]) {
			const { least, greatest } = this.timeline.model.counterScale(item.track);
			node.append(element('span', { class: 'range' }, `${number(least)} – ${number(greatest)}`));
		}
		return node;
	}

	#title(item) {
		if (!item.isGroup)
			return `${item.label} ${item.detail}${item.track.coarse ? ' (not everything is shown)' : ''}`;
		const process = this.timeline.model.processes[item.process];
		return process ? `${item.label} ${item.detail}\n${process.exe || ''}` : item.label;
	}

	#place(item, node) {
		node.style.top = `${item.y}px`;
		node.style.height = `${item.height}px`;
		node.tabIndex = item === this.current ? 0 : -1;
		if (item.folds)
			node.setAttribute('aria-expanded', String(item.open));
		const { tracks } = this.timeline.app.selection;
		const selected = tracks !== null && (item.isGroup ? item.children.every((c) => tracks.has(c.track.index))
			: tracks.has(item.track.index));
		node.setAttribute('aria-selected', String(selected));
	}

	#makeCurrent(item) {
		if (this.current === item)
			return;
		const before = this.shown.get(this.current);
		if (before)
			before.tabIndex = -1;
		this.current = item;
		const node = this.shown.get(item);
		if (node)
			node.tabIndex = 0;
	}

	#focus(item) {
		if (!item)
			return;
		this.#makeCurrent(item);
		this.timeline.revealItem(item);
		this.shown.get(item)?.focus({ preventScroll: true });
	}

	#click(event) {
		const item = this.#itemOf(event.target);
		if (!item)
			return;
		this.#makeCurrent(item);
		this.shown.get(item)?.focus({ preventScroll: true });
		const add = event.ctrlKey || event.metaKey || event.shiftKey;
		if (item.folds && !add && (item.isGroup || event.target.closest('.fold')))
			this.timeline.toggle(item);
		else
			this.timeline.selectTracks(item.isGroup ? item.children : [item], add);
	}

	#key(event) {
		const { items } = this.timeline.layout;
		const item = this.current;
		const at = items.indexOf(item);
		if (!item || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const actions = {
			ArrowDown: () => this.#focus(items[at + 1]),
			ArrowUp: () => this.#focus(items[at - 1]),
			Home: () => this.#focus(items[0]),
			End: () => this.#focus(items.at(-1)),
			ArrowRight: () => {
				if (item.folds && !item.open)
					this.timeline.toggle(item);
				else if (item.isGroup)
					this.#focus(items[at + 1]);
			},
			ArrowLeft: () => {
				if (item.folds && item.open)
					this.timeline.toggle(item);
				else if (!item.isGroup)
					this.#focus(item.group);
			},
			Enter: () => { if (item.folds) this.timeline.toggle(item); },
			' ': () => this.timeline.selectTracks(item.isGroup ? item.children : [item], event.shiftKey),
		};
		const action = actions[event.key];
		if (!action)
			return;
		event.preventDefault();
		action();
	}
}
