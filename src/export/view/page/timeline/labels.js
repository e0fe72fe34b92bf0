// SPDX-License-Identifier: MIT
// labels.js - the names of groups and tracks at the left: a tree as WAI-ARIA has it. Only those in sight are elements.

import { element, onKeys } from '../dom.js';
import { number } from '../data/format.js';
import { withoutQualifier } from '../data/names.js';

const AROUND_PX = 200;

/* A name whose provider is what gives way first. */
function nameElement(text) {
	const rest = withoutQualifier(text);
	if (!rest)
		return element('span', { class: 'name' }, text);
	return element('span', { class: 'name qualified' }, element('span', { class: 'qualifier' }, text.slice(0, -rest.length)),
		element('span', { class: 'rest' }, rest));
}

export class TrackTree {
	/* timeline has: layout, app, toggle(item), selectTracks(items, add) */
	constructor(place, timeline) {
		this.element = place;
		this.timeline = timeline;
		this.shown = new Set();
		this.current = null; // the one tab stop
		place.setAttribute('role', 'tree');
		place.setAttribute('aria-label', 'Processes and tracks');
		place.setAttribute('aria-multiselectable', 'true');
		place.addEventListener('click', (event) => this.#click(event));
		onKeys(place, (event) => this.#keys(event));
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
		const drawn = [scroll, height, layout.generation, app.selection.tracks];
		if (this.drawn?.every((what, i) => what === drawn[i]))
			return;
		this.drawn = drawn;
		const { items } = layout;
		const wanted = new Set(layout.between(scroll - AROUND_PX, scroll + height + AROUND_PX));
		if (!items.includes(this.current))
			this.current = items[0] ?? null;
		if (this.current)
			wanted.add(this.current);
		for (const item of this.shown)
			if (!wanted.has(item))
				item.node.remove();
		this.shown = wanted;
		for (const item of wanted) {
			item.node ??= this.#make(item);
			this.#place(item);
			if (!item.node.parentElement)
				this.element.insertBefore(item.node, [...this.element.children].find((other) => other.item.y > item.y) ?? null);
		}
	}

	#make(item) {
		const siblings = item.isGroup ? this.timeline.layout.groups : item.group.children;
		const node = element('div', { role: 'treeitem', class: item.isGroup ? 'label group' : `label track ${item.track.kind}`,
			'aria-level': item.isGroup ? '1' : '2', 'aria-posinset': String(item.position),
			'aria-setsize': String(siblings.length), title: this.#title(item), item },
		element('span', { class: 'fold', 'aria-hidden': 'true' }), nameElement(item.label),
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

	#place(item) {
		const { node } = item;
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
		if (this.current?.node)
			this.current.node.tabIndex = -1;
		this.current = item;
		if (item.node)
			item.node.tabIndex = 0;
	}

	#focus(item) {
		if (!item)
			return;
		this.#makeCurrent(item);
		this.timeline.revealItem(item);
		item.node?.focus({ preventScroll: true });
	}

	#click(event) {
		const item = this.#itemOf(event.target);
		if (!item)
			return;
		item.node.focus({ preventScroll: true });
		const add = event.ctrlKey || event.metaKey || event.shiftKey;
		if (item.folds && !add && (item.isGroup || event.target.closest('.fold')))
			this.timeline.toggle(item);
		else
			this.timeline.selectTracks(item.isGroup ? item.children : [item], add);
	}

	#keys(event) {
		const { items } = this.timeline.layout;
		const item = this.current;
		const at = items.indexOf(item);
		return item && {
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
	}
}
