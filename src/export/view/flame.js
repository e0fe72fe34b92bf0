// SPDX-License-Identifier: MIT
// flame.js - the flame graph and its inverse, of the selection or of everything. d3-flame-graph draws it; here are the
// tree, what of it is drawn, the colours, keys and details.

import flamegraph from 'd3-flame-graph';
import { select } from 'd3-selection';
import { DEPTH_MAX, addHidden, callPaths, inverse, matching, widest } from './call_paths.js';
import { element } from './dom.js';
import { count, duration, plural } from './format.js';
import { choice, nameOf, percent, segmented, trackName } from './pane_tools.js';
import { SidePane } from './side_pane.js';

const FRAMES = 3000; // each is five elements
const CELL = 20;
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
		app.on('search', () => this.shown && this.tree && this.#search());
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
		this.canvas = element('div', { class: 'flame-canvas', onkeydown: (event) => this.#key(event) });
		this.canvas.addEventListener('click', (event) => this.#click(event), true);
		this.canvas.addEventListener('mouseleave', () => this.tree && this.#describe(this.current));
		this.canvas.addEventListener('focusin', (event) => this.#focused(event));
		this.place.append(
			this.bar('Flame graph', way.element, merge.element, of, this.scope.element, this.back, this.longest, this.found),
			this.note, this.details, this.canvas);
	}

	label(id) {
		const name = this.tree.name[id];
		if (id === 0)
			return 'All';
		return name < this.model.strings.length ? nameOf(this.model, name)
			: trackName(this.model, name - this.model.strings.length);
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

	/* What d3-flame-graph draws: what leads to the zoomed node, that one, and what of it is wide enough to be seen. */
	#data() {
		const { tree } = this;
		const objects = new Map();
		const object = (id) => {
			const made = { name: this.label(id), value: tree.total[id], node: id, children: [] };
			objects.set(id, made);
			return made;
		};
		let data = object(this.zoom);
		for (let id = tree.parent[this.zoom]; id >= 0; id = tree.parent[id])
			data = Object.assign(object(id), { children: [data], fade: true });
		const { ids, cut } = widest(tree, this.zoom, FRAMES, Math.max(this.width, 1) * 2);
		for (const id of ids)
			objects.get(tree.parent[id]).children.push(object(id));
		this.cut = cut;
		return data;
	}

	draw() {
		this.width = Math.floor(this.canvas.clientWidth);
		if (!this.width || !this.shown) {
			this.stale = true;
			return;
		}
		this.canvas.replaceChildren();
		this.canvas.style.setProperty('--on-fill', this.app.theme.onFill);
		this.chart = null;
		this.back.disabled = this.zoom === 0;
		if (this.tree.total[0] > 0)
			this.#chart();
		else
			this.canvas.append(element('p', { class: 'pane-empty' }, 'No spans or function calls that took time here.'));
		this.#notes();
		this.#search();
		this.#choose(this.zoom);
		if (this.way === 'flame')
			this.canvas.scrollTop = this.canvas.scrollHeight;
	}

	#chart() {
		this.chart = flamegraph()
			.width(this.width)
			.cellHeight(CELL)
			.minFrameSize(0.5)
			.transitionDuration(0)
			.inverted(this.way === 'inverse')
			.sort((a, b) => b.data.value - a.data.value || a.data.node - b.data.node)
			.getName((d) => d.data.name)
			.label((d) => this.#text(d.data.node))
			.color((d) => this.#color(d))
			.setDetailsHandler(() => {})
			.setSearchHandler(() => {})
			.setSearchMatch((d, term) => d.data.node !== 0 && d.data.name.toLowerCase().includes(term))
			.onHover((d) => this.#describe(d.data.node));
		select(this.canvas).datum(this.#data()).call(this.chart);
		this.#makeReachable();
	}

	#color(d) {
		const { theme } = this.app;
		const name = this.tree.name[d.data.node];
		if (d.highlight)
			return theme.match;
		if (d.data.node === 0 || name >= this.model.strings.length)
			return theme.faint;
		return theme.fill(name);
	}

	/* Each update of the graph sets its own. */
	#setClasses() {
		for (const [id, { frame, node }] of this.frames) {
			frame.classList.toggle('flame-plain', !node.highlight && (id === 0 || this.tree.name[id] >= this.model.strings.length));
			frame.classList.toggle('flame-match', Boolean(node.highlight));
		}
	}

	/* One tab stop; arrows go along the tree. */
	#makeReachable() {
		const svg = this.canvas.querySelector('svg');
		svg.setAttribute('role', 'tree');
		svg.setAttribute('aria-label', this.way === 'inverse' ? 'Inverse flame graph' : 'Flame graph');
		this.frames = new Map();
		for (const frame of svg.querySelectorAll('g.frame')) {
			const node = select(frame).datum();
			this.frames.set(node.data.node, { frame, node });
			frame.setAttribute('role', 'treeitem');
			frame.setAttribute('tabindex', '-1');
			frame.setAttribute('aria-level', String(node.depth + 1));
			frame.setAttribute('aria-label', this.#text(node.data.node));
		}
		this.frames.get(this.zoom)?.frame.setAttribute('tabindex', '0');
	}

	#text(id) {
		const { tree } = this;
		const total = tree.total[id];
		const times = tree.count[id] ? `, ${plural(tree.count[id], 'time')}` : '';
		const self = this.way === 'inverse' ? '' : `, ${duration(tree.self[id])} itself`;
		return `${this.label(id)}: ${duration(total)} (${percent(total, tree.total[0])})${self}${times}`;
	}

	#describe(id) {
		const { tree } = this;
		const total = tree.total[id];
		const share = (ns) => `${duration(ns)}${ns > 0 ? ` (${percent(ns, tree.total[0])})` : ''}`;
		const pairs = [['Total', share(total)]];
		if (this.way === 'inverse' && tree.depth[id] === (this.byTrack ? 2 : 1))
			pairs[0][0] = 'Itself';
		else if (this.way === 'inverse' && id)
			pairs[0][0] = 'Below this caller';
		if (this.way === 'flame' && tree.longest[id] >= 0)
			pairs.push(['Itself', share(tree.self[id])]);
		if (tree.count[id] > 0)
			pairs.push(['Count', count(tree.count[id])]);
		if (tree.count[id] > 0 && this.way === 'flame')
			pairs.push(['Mean', duration(total / tree.count[id])]);
		if (tree.longest[id] >= 0)
			pairs.push(['Longest', duration(tree.longestNs[id])]);
		this.details.replaceChildren(element('strong', {}, this.label(id)),
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
		const term = this.app.search.toLowerCase();
		this.found.textContent = '';
		if (!this.chart)
			return;
		if (!term) {
			if (this.searched)
				this.chart.clear();
			this.searched = false;
			this.#setClasses();
			return;
		}
		const hit = new Map();
		const { ns, nodes } = matching(this.tree, (name) => {
			let yes = hit.get(name);
			if (yes === undefined) {
				const text = name < this.model.strings.length ? nameOf(this.model, name)
					: trackName(this.model, name - this.model.strings.length);
				hit.set(name, yes = text.toLowerCase().includes(term));
			}
			return yes;
		});
		this.found.textContent = `${plural(nodes, 'frame matches', 'frames match')}: ` +
			`${duration(ns)}, ${percent(ns, this.tree.total[0]) || '0 %'}`;
		this.chart.search(term);
		this.searched = true;
		this.#setClasses();
	}

	#zoomTo(id) {
		const moved = this.canvas.contains(this.place.ownerDocument.activeElement);
		this.zoom = id;
		this.draw();
		if (moved)
			this.frames?.get(id)?.frame.focus();
	}

	#click(event) {
		const frame = event.target.closest('g.frame');
		if (!frame)
			return;
		event.stopPropagation(); // before d3-flame-graph zooms by its own means, which know only what is drawn
		this.#zoomTo(select(frame).datum().data.node);
	}

	#focused(event) {
		const frame = event.target.closest('g.frame');
		if (!frame)
			return;
		for (const { frame: other } of this.frames.values())
			other.setAttribute('tabindex', other === frame ? '0' : '-1');
		this.#choose(select(frame).datum().data.node);
	}

	#choose(id) {
		this.current = id;
		this.longest.disabled = this.tree.longest[id] < 0;
		this.#describe(id);
	}

	#key(event) {
		const frame = event.target.closest('g.frame');
		if (!frame || event.altKey || event.ctrlKey || event.metaKey)
			return;
		const node = select(frame).datum();
		const drawn = (d) => d && this.frames.has(d.data.node) ? d : null;
		const siblings = (node.parent?.children ?? [node]).filter(drawn);
		const at = siblings.indexOf(node);
		const inner = drawn(node.children?.find(drawn));
		const go = {
			ArrowLeft: () => siblings[at - 1], ArrowRight: () => siblings[at + 1],
			ArrowUp: () => this.way === 'inverse' ? node.parent : inner,
			ArrowDown: () => this.way === 'inverse' ? inner : node.parent,
			Home: () => node.ancestors().at(-1),
		}[event.key];
		if (go)
			this.frames.get(go()?.data.node)?.frame.focus();
		else if (event.key === 'Enter' || event.key === ' ')
			this.#zoomTo(node.data.node);
		else if ((event.key === 'Escape' || event.key === 'Backspace') && this.zoom)
			this.#zoomTo(0);
		else if (event.key.toLowerCase() === 't')
			this.#showLongest();
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	#showLongest() {
		const row = this.tree.longest[this.current];
		if (row >= 0)
			this.app.focus({ slice: row });
	}
}
