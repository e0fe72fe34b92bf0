// SPDX-License-Identifier: MIT
// flame.js - the flame graph and its inverse, of the selection or of everything.

import { partition, stratify } from 'd3-hierarchy';
import { makeCanvas } from './canvas.js';
import { DEPTH_MAX, addHidden, callPaths, inverse, matching, widest } from './call_paths.js';
import { element, onKeys } from './dom.js';
import { count, duration, plural } from './format.js';
import { shortened } from './names.js';
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
			this.bar('Flame graph', way.element, merge.element, of, this.scope.element, this.back, this.longest, this.found),
			this.note, this.details, this.canvas);
	}

	#label(id) {
		const { strings, tracks } = this.model;
		const name = this.tree.name[id];
		if (id === 0)
			return 'All';
		return name < strings.length ? this.model.name(name) : tracks[name - strings.length].longTitle;
	}

	make() {
		const options = { kind: this.kind, range: this.scope.range, byTrack: this.byTrack };
		this.tree = callPaths(this.model, options);
		if (this.way === 'inverse') {
			this.tree = inverse(this.model, this.tree, this.byTrack);
			addHidden(this.model, this.tree, options);
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
		const { model, app, tree } = this;
		const inverse = this.way === 'inverse';
		const graph = element('div', { class: 'flame-graph', role: 'tree', 'aria-label': inverse ? 'Inverse flame graph' : 'Flame graph' });
		graph.style.height = `${(root.height + 1) * CELL_PX}px`;
		root.each((node) => {
			const id = node.data;
			const text = this.#text(id);
			const plain = id === 0 || tree.name[id] >= model.strings.length;
			const width = node.x1 - node.x0;
			node.frame = element('div', { node, role: 'treeitem', tabIndex: -1, title: text, 'aria-label': text,
				'aria-level': String(node.depth + 1), class: `frame${plain ? ' flame-plain' : ''}` +
				`${id < this.zoom ? ' flame-outer' : ''}${width < LABEL_PX ? ' flame-narrow' : ''}` }, shortened(this.#label(id), width - INDENT_PX, this.widthOf));
			const top = inverse ? node.y0 : (root.height - node.depth) * CELL_PX;
			Object.assign(node.frame.style, { left: `${node.x0}px`, top: `${top}px`, width: `${width}px` });
			node.frame.style.setProperty('--fill', plain ? app.theme.faint : app.theme.fill(tree.name[id]));
			graph.append(node.frame);
			if (id === this.zoom)
				this.#makeStop(node.frame);
		});
		return graph;
	}

	#makeStop(frame) {
		if (this.stop)
			this.stop.tabIndex = -1;
		this.stop = frame;
		frame.tabIndex = 0;
	}

	#text(id) {
		const { tree } = this;
		const total = tree.total[id];
		const times = tree.count[id] ? `, ${plural(tree.count[id], 'time')}` : '';
		const self = this.way === 'inverse' ? '' : `, self ${duration(tree.self[id])}`;
		return `${this.#label(id)}: ${duration(total)} (${percent(total, tree.total[0])})${self}${times}`;
	}

	#describe(id) {
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
		this.details.replaceChildren(element('strong', {}, this.#label(id)),
			...pairs.map(([key, value]) => element('span', {}, element('em', {}, key), ` ${value}`)));
	}

	#notes() {
		const notes = [];
		if (this.model.thinned)
			notes.push(`Not every slice is in this page: ${this.way === 'flame' ? 'short ones are missing, above what called them'
				: this.scope.range?.timed ? 'short ones are missing' : 'who called short ones is not'}.`);
		if (this.cut)
			notes.push(`${plural(this.cut, 'frame is', 'frames are')} too narrow to be drawn: a click on what holds them shows more.`);
		if (this.tree.left)
			notes.push(`${count(this.tree.left)} deeper than ${DEPTH_MAX} calls, or too many: not drawn.`);
		this.showNotes(notes);
	}

	#search() {
		const { active, names, text } = this.app.matches;
		const { strings, tracks } = this.model;
		const hit = (name) => (name < strings.length ? names[name] === 1
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
		this.longest.disabled = this.tree.longest[id] < 0;
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
		if (row >= 0)
			this.app.focus({ slice: row });
	}
}
