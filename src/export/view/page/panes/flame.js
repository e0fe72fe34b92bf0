// SPDX-License-Identifier: MIT
// flame.js - the flame graph and its inverse, of the selection or of everything.

import { partition, stratify } from 'd3-hierarchy';
import { makeCanvas } from '../timeline/canvas.js';
import { DEPTH_MAX, addHidden, callPaths, inverse, matching, widest } from '../data/call_paths.js';
import { changeOf, differenceOf, matchPaths } from '../data/compare.js';
import { element, onKeys } from '../dom.js';
import { count, duration, plural } from '../data/format.js';
import { shortened } from '../data/names.js';
import { choice, percent, segmented } from './pane_tools.js';
import { SidePane } from './side_pane.js';

const FRAMES = 3000;
const CELL_PX = 20;
const LABEL_PX = 35;
const INDENT_PX = 8; // beside a frame's label
const KINDS = [['thread', 'Threads'], ['async', 'Async spans'], ['cpu', 'Threads on CPUs']];

export class FlamePane extends SidePane {
	constructor(place, model, app) {
		super(place, model, app, 'flame');
		this.way = 'flame';
		this.byTrack = false;
		this.kind = KINDS.find(([kind]) => model.tracks.some((t) => t.kind === kind && t.slices[1] > t.slices[0]))?.[0] ?? 'thread';
		this.zoom = 0;
		this.tree = null;
		this.other = null; // of the recording that is compared, by node of the tree
		this.wide = app.comparison?.sideOf(model) ?? null; // whose times are widths
		this.#build();
		app.on('matches', () => this.shown && this.tree && this.#search());
		this.watch(this.canvas);
	}

	again() {
		this.#search();
	}

	themeChanged() {
		if (this.tree)
			this.draw();
	}

	changed() {
		this.zoom = 0;
		super.changed();
	}

	#build() {
		const way = segmented('Direction', [['flame', 'Callers first'], ['inverse', 'Inverse']], this.way, (to) => {
			this.way = to;
			this.changed();
		});
		const merge = segmented('Threads', [[false, 'Merged'], [true, 'By thread']], false, (to) => {
			this.byTrack = to;
			this.changed();
		});
		const has = KINDS.filter(([kind]) => this.model.tracks.some((t) => t.kind === kind && t.slices[1] > t.slices[0]));
		const of = choice('What', has, (to) => {
			this.kind = to;
			this.changed();
		});
		of.hidden = has.length < 2;
		const wide = segmented('Widths', [['before', 'Widths before'], ['after', 'Widths after']], this.wide, (to) => {
			this.wide = to;
			this.changed();
		});
		wide.element.hidden = this.wide === null;
		// Both recordings are compared as a whole, and their threads are not the same.
		merge.element.hidden = this.wide !== null;
		this.scope.element.hidden = this.wide !== null;
		this.back = element('button', { type: 'button', onclick: () => this.#zoomTo(0) }, 'Zoom out');
		this.longest = element('button', { type: 'button', onclick: () => this.#showLongest() }, 'Longest in the timeline');
		this.found = element('span', { class: 'pane-found', 'aria-live': 'polite' });
		this.details = element('p', { class: 'flame-details' });
		this.canvas = element('div', { class: 'flame-canvas' });
		const ctx = makeCanvas(this.place.ownerDocument, '').getContext('2d');
		ctx.font = '12px system-ui, sans-serif';
		this.widthOf = (text) => ctx.measureText(text).width;
		onKeys(this.canvas, ({ target }) => this.#keys(target));
		const onFrame = (what, act) => this.canvas.addEventListener(what, ({ target }) => {
			const frame = target.closest('.frame');
			if (frame)
				act(frame.node.data, frame);
		});
		onFrame('click', (id) => this.#zoomTo(id));
		onFrame('mouseover', (id) => this.#describe(id));
		onFrame('focusin', (id, frame) => {
			this.#makeStop(frame);
			this.#choose(id);
		});
		this.canvas.addEventListener('mouseleave', () => this.tree && this.#describe(this.current));
		this.place.append(
			this.bar('Flame graph', way.element, wide.element, merge.element, of, this.scope.element, this.back, this.longest, this.found),
			this.note, this.details, this.canvas);
	}

	/* The recording whose names and times these are. */
	get #source() {
		return this.app.comparison?.sides[this.wide] ?? this.model;
	}

	#label(id) {
		const { strings, tracks } = this.#source;
		const name = this.tree.name[id];
		if (id === 0)
			return 'All';
		return name < strings.length ? this.#source.name(name) : tracks[name - strings.length].longTitle;
	}

	#treeOf(model) {
		const { comparison } = this.app;
		const options = { kind: this.kind, range: comparison ? null : this.scope.range, byTrack: this.byTrack };
		const tree = callPaths(model, options);
		if (this.way !== 'inverse')
			return tree;
		const made = inverse(model, tree, this.byTrack);
		addHidden(model, made, options);
		return made;
	}

	make() {
		const { comparison } = this.app;
		this.tree = this.#treeOf(this.#source);
		if (comparison) {
			const other = comparison.sides[comparison.otherThan(this.wide)];
			this.other = matchPaths(this.#source, this.tree, other, this.#treeOf(other));
			// The frame that has changed most is the brightest.
			this.most = this.other.total.reduce((most, ns, id) => (id ? Math.max(most, Math.abs(ns - this.tree.total[id])) : most), 1);
		}
		this.stale = false;
		this.draw();
	}

	/* Frames of what leads to the zoomed node, of that one, and of what of it is wide enough to be seen. */
	#layOut() {
		const { tree } = this;
		const path = [];
		for (let id = this.zoom; id >= 0; id = tree.parent[id])
			path.unshift(id);
		const { ids, cut } = widest(tree, this.zoom, FRAMES, this.width * 2);
		this.cut = cut;
		this.root = stratify().id((id) => id).parentId((id) => (id ? tree.parent[id] : null))([...path, ...ids]);
		this.root.each((node) => { node.value = tree.total[Math.max(node.data, this.zoom)]; });
		return partition().size([this.width, (this.root.height + 1) * CELL_PX])(this.root);
	}

	draw() {
		this.width = Math.floor(this.canvas.clientWidth);
		if (!this.width || !this.shown) {
			this.stale = true;
			return;
		}
		this.canvas.replaceChildren();
		this.canvas.style.setProperty('--on-fill', this.app.theme.onFill);
		this.back.disabled = this.zoom === 0;
		if (this.tree.total[0] > 0)
			this.canvas.append(this.#graph(this.#layOut()));
		else
			this.canvas.append(element('p', { class: 'pane-empty' }, 'No spans or function calls that took time here.'));
		this.#notes();
		this.#search();
		this.#choose(this.zoom);
		if (this.way === 'flame')
			this.canvas.scrollTop = this.canvas.scrollHeight;
	}

	/* One tab stop; arrows go along the tree. */
	#graph(root) {
		const { tree } = this;
		const { strings } = this.#source;
		const inverse = this.way === 'inverse';
		const graph = element('div', { class: 'flame-graph', role: 'tree', 'aria-label': inverse ? 'Inverse flame graph' : 'Flame graph' });
		graph.style.height = `${(root.height + 1) * CELL_PX}px`;
		root.each((node) => {
			const id = node.data;
			const text = this.#text(id);
			const plain = id === 0 || tree.name[id] >= strings.length;
			const width = node.x1 - node.x0;
			node.frame = element('div', { node, role: 'treeitem', tabIndex: -1, title: text, 'aria-label': text,
				'aria-level': String(node.depth + 1), class: `frame${plain ? ' flame-plain' : ''}` +
				`${id < this.zoom ? ' flame-outer' : ''}${width < LABEL_PX ? ' flame-narrow' : ''}` }, this.#caption(id, width - INDENT_PX));
			const top = inverse ? node.y0 : (root.height - node.depth) * CELL_PX;
			Object.assign(node.frame.style, { left: `${node.x0}px`, top: `${top}px`, width: `${width}px` });
			node.frame.style.setProperty('--fill', this.#fill(id));
			graph.append(node.frame);
			if (id === this.zoom)
				this.#makeStop(node.frame);
		});
		return graph;
	}

	/* Times of a node: [before, after] */
	#sides(id, what = 'total') {
		const both = [this.other[what][id], this.tree[what][id]];
		return this.wide === 'after' ? both : both.reverse();
	}

	#fill(id) {
		const { theme } = this.app;
		if (this.other && id) {
			const [before, after] = this.#sides(id);
			return theme.change((after - before) / this.most);
		}
		return id === 0 || this.tree.name[id] >= this.#source.strings.length ? theme.faint : theme.fill(this.tree.name[id]);
	}

	#makeStop(frame) {
		if (this.stop)
			this.stop.tabIndex = -1;
		this.stop = frame;
		frame.tabIndex = 0;
	}

	/* What stands in a frame: its name, and what has changed if there is room for both. */
	#caption(id, room) {
		const label = this.#label(id);
		const both = this.other ? `${label}  ${changeOf(...this.#sides(id))}` : label;
		return this.widthOf(both) <= room ? both : shortened(label, room, this.widthOf);
	}

	#text(id) {
		const { tree } = this;
		if (this.other) {
			const [before, after] = this.#sides(id);
			return `${this.#label(id)}: ${duration(before)} before, ${duration(after)} after, ${changeOf(before, after)}`;
		}
		const total = tree.total[id];
		const times = tree.count[id] ? `, ${plural(tree.count[id], 'time')}` : '';
		const self = this.way === 'inverse' ? '' : `, self ${duration(tree.self[id])}`;
		return `${this.#label(id)}: ${duration(total)} (${percent(total, tree.total[0])})${self}${times}`;
	}

	#describe(id) {
		if (this.other)
			this.#describeChange(id);
		else
			this.#describeTimes(id);
	}

	#describeChange(id) {
		const self = this.way === 'flame' && id ? ['self'] : [];
		const pairs = ['total', ...self].flatMap((what) => {
			const [before, after] = this.#sides(id, what);
			return [[`${what === 'self' ? 'Self' : 'Total'} before`, duration(before)], ['after', duration(after)],
				['change', `${differenceOf(before, after)}, ${changeOf(before, after) || 'none'}`]];
		});
		const [before, after] = this.#sides(id, 'count');
		if (before || after)
			pairs.push(['Count before', count(before)], ['after', count(after)]);
		this.#showPairs(id, pairs);
	}

	#describeTimes(id) {
		const { tree } = this;
		const total = tree.total[id];
		const share = (ns) => `${duration(ns)}${ns > 0 ? ` (${percent(ns, tree.total[0])})` : ''}`;
		const pairs = [['Total', share(total)]];
		if (this.way === 'inverse' && tree.depth[id] === (this.byTrack ? 2 : 1))
			pairs[0][0] = 'Self';
		else if (this.way === 'inverse' && id)
			pairs[0][0] = 'Below this caller';
		if (this.way === 'flame' && tree.longest[id] >= 0)
			pairs.push(['Self', share(tree.self[id])]);
		if (tree.count[id] > 0)
			pairs.push(['Count', count(tree.count[id])]);
		if (tree.count[id] > 0 && this.way === 'flame')
			pairs.push(['Average', duration(total / tree.count[id])]);
		if (tree.longest[id] >= 0)
			pairs.push(['Max', duration(tree.longestNs[id])]);
		this.#showPairs(id, pairs);
	}

	#showPairs(id, pairs) {
		this.details.replaceChildren(element('strong', {}, this.#label(id)),
			...pairs.map(([key, value]) => element('span', {}, element('em', {}, key), ` ${value}`)));
	}

	#notes() {
		const notes = [];
		if (this.other)
			notes.push('Red frames took longer after than before, blue ones less. A frame of one recording alone shows with its widths.');
		if (this.#source.thinned)
			notes.push(`Not every slice is in this page: ${this.way === 'flame' ? 'short ones are missing, above what called them'
				: this.scope.range?.timed ? 'short ones are missing' : 'who called short ones is not'}.`);
		if (this.cut)
			notes.push(`${plural(this.cut, 'frame is', 'frames are')} too narrow to be drawn: a click on what holds them shows more.`);
		if (this.tree.left)
			notes.push(`${count(this.tree.left)} deeper than ${DEPTH_MAX} calls, or too many: not drawn.`);
		this.showNotes(notes);
	}

	#search() {
		const { active, text } = this.app.matches;
		const { strings, tracks } = this.#source;
		const hits = strings.map((name) => name.toLowerCase().includes(text));
		const hit = (name) => (name < strings.length ? hits[name]
			: tracks[name - strings.length].longTitle.toLowerCase().includes(text));
		for (const frame of this.canvas.querySelectorAll('.frame'))
			frame.classList.toggle('flame-match', active && frame.node.data !== 0 && hit(this.tree.name[frame.node.data]));
		const { ns, nodes } = active ? matching(this.tree, hit) : {};
		this.found.textContent = !active ? '' : `${plural(nodes, 'frame matches', 'frames match')}: ` +
			`${duration(ns)}, ${percent(ns, this.tree.total[0]) || '0 %'}`;
	}

	#zoomTo(id) {
		const moved = this.canvas.contains(this.place.ownerDocument.activeElement);
		this.zoom = id;
		this.draw();
		if (moved)
			this.stop?.focus();
	}

	#choose(id) {
		this.current = id;
		this.longest.disabled = this.tree.longest[id] < 0 || this.#source !== this.model;
		this.#describe(id);
	}

	#keys({ node }) {
		if (!node)
			return null;
		const siblings = node.parent?.children ?? [node];
		const at = siblings.indexOf(node);
		const go = (to) => to?.frame.focus();
		const inner = () => go(node.children?.[0]);
		const outer = () => go(node.parent);
		const back = this.zoom && (() => this.#zoomTo(0));
		return {
			ArrowLeft: () => go(siblings[at - 1]), ArrowRight: () => go(siblings[at + 1]), Home: () => go(this.root),
			ArrowUp: this.way === 'inverse' ? outer : inner, ArrowDown: this.way === 'inverse' ? inner : outer,
			Enter: () => this.#zoomTo(node.data), ' ': () => this.#zoomTo(node.data),
			Escape: back, Backspace: back, t: () => this.#showLongest(),
		};
	}

	#showLongest() {
		const row = this.tree.longest[this.current];
		if (row >= 0 && this.#source === this.model)
			this.app.focus({ slice: row });
	}
}
