// SPDX-License-Identifier: MIT
// timeline.js - the pane of tracks: puts its parts together and draws when something has changed.

import { makeCanvas } from './canvas.js';
import { sentence } from '../panes/describe.js';
import { Details } from '../panes/details.js';
import { button, element } from '../dom.js';
import { Drawing } from './drawing.js';
import { day, duration, plural } from '../data/format.js';
import { Gestures } from '../gestures.js';
import { boxOf, itemAt, lossesAt, omittedAt, placeOf } from './hit.js';
import { timelineKeys, Walk } from '../keyboard.js';
import { TrackTree } from './labels.js';
import { Layout } from './layout.js';
import { drawOverlay } from '../overlay.js';
import { Overview } from './overview.js';
import { drawRuler } from './ruler.js';
import { splitter } from '../splitter.js';
import { Tooltip } from '../tooltip.js';
import { View } from './view.js';

const EDGE_PX = 5;
const DETAILS_PX = 236; // as style.css has it
const DETAILS_PART = 0.6;

export class TimelinePane {
	constructor(place, model, app) {
		Object.assign(this, { element: place, model, app });
		this.shown = false;
		this.marks = [];
		this.hovered = null;
		this.pointer = null;
		this.measuring = false;
		this.dirty = true; // the tracks, not just what is laid over them
		this.layout = new Layout(model);
		this.view = new View(model.durationNs, () => this.#changed());
		this.walk = new Walk(model, this.layout);
		this.drawing = new Drawing(model, app);
		this.#build(place.ownerDocument);
		this.#listen();
	}

	#build(doc) {
		const make = (tag, className, parent, more = {}) => {
			const made = element(tag, { class: className, ...more });
			parent.append(made);
			return made;
		};
		this.main = make('div', 'tl-main', this.element);
		const top = make('div', 'tl-top', this.main);
		this.#buildCorner(make('div', 'tl-corner', top));
		this.strip = make('div', 'tl-strip', top);
		this.overviewCanvas = makeCanvas(doc, 'overview');
		this.rulerCanvas = makeCanvas(doc, 'ruler');
		this.strip.append(this.overviewCanvas, this.rulerCanvas);
		this.scroller = make('div', 'tl-scroller', this.main);
		this.content = make('div', 'tl-content', this.scroller);
		this.treeElement = make('div', 'tl-labels', this.content);
		this.stage = make('div', 'tl-stage', this.content, { tabIndex: 0, role: 'application', 'aria-label':
			'Timeline: arrow keys go from slice to slice, W and S zoom, A and D move, ? lists all keys' });
		this.canvas = makeCanvas(doc, 'tracks');
		this.overlayCanvas = makeCanvas(doc, 'overlay');
		this.stage.append(this.canvas, this.overlayCanvas);
		this.below = make('section', 'tl-details', this.element, { 'aria-label': 'Details of what is chosen' });
		this.below.before(splitter('Height of the details', this.below));
		this.tree = new TrackTree(this.treeElement, this);
		this.tooltip = new Tooltip(this.main, this.model);
		this.overview = new Overview(this.overviewCanvas, this.model, this.view);
		this.details = new Details(this.below, this.model, this.app, this);
		this.gestures = new Gestures(this.stage, this);
		this.rulerGestures = new Gestures(this.rulerCanvas, this.#rulerTarget());
	}

	#buildCorner(corner) {
		const icon = (text, title, act) => corner.append(button(text, act, { class: 'icon', title, 'aria-label': title }));
		icon('+', 'Zoom in (W)', () => this.view.zoom(this.zoomPlace(), 0.6, true));
		icon('−', 'Zoom out (S)', () => this.view.zoom(this.zoomPlace(), 1 / 0.6, true));
		icon('↔', 'All of the recording (0)', () => this.view.showAll());
		icon('⊟', 'Fold or unfold all threads', () => this.#foldAll());
		this.spanText = element('output', { class: 'span', title: 'How much time is in view' });
		corner.append(this.spanText, element('span', { class: 'day',
			title: 'When the recording begins; times of day are those of this computer' }, `${day(this.model.beginNs)}, local time`));
	}

	/* The ruler selects time on all tracks. */
	#rulerTarget() {
		const { view } = this;
		return {
			view, scroll: 0, scrollable: false,
			hover: (x) => this.#point({ x, y: -1 }),
			leave: () => this.leave(),
			pointerAt: (x) => this.#point({ x, y: -1 }),
			click: () => {},
			doubleClick: () => this.app.select({}),
			selectionEdge: (x) => this.selectionEdge(x),
			moveEdge: (edge, time, done) => this.moveEdge(edge, time, done),
			area: (from, to, y0, y1, done) => this.#selectArea(from, to, null, done),
			scrollBy: () => {},
		};
	}

	#listen() {
		const { app } = this;
		this.scroller.addEventListener('scroll', () => {
			this.tooltip.hide();
			this.#changed();
		});
		this.resizing = new ResizeObserver(() => {
			this.#resized();
			if (this.shown && this.marked)
				this.#draw(performance.now()); // before it is painted: no frame with rows as they were
		});
		this.resizing.observe(this.scroller);
		this.resizing.observe(this.strip);
		app.on('item', () => this.#changed(false));
		for (const what of ['matches', 'selection', 'theme'])
			app.on(what, () => this.#changed());
		app.on('focus', (target) => this.#focus(target));
		app.keys = (event) => (this.shown ? timelineKeys(this, event) : null);
		app.viewFrom = () => this.view.goal.from;
		const reduced = matchMedia('(prefers-reduced-motion: reduce)');
		const still = () => { this.view.smooth = !reduced.matches; };
		reduced.addEventListener('change', still);
		still();
		this.stage.addEventListener('focus', () => {
			if (app.item)
				app.announce(sentence(this.model, app.item));
		});
	}

	show() {
		this.shown = true;
		this.#resized();
	}

	hide() {
		this.shown = false;
		this.tooltip.hide();
	}

	focus() {
		this.stage.focus({ preventScroll: true });
	}

	get hasFocus() {
		const active = this.element.ownerDocument.activeElement;
		return active === this.stage || active === this.element.ownerDocument.body;
	}

	get scroll() {
		return this.scroller.scrollTop;
	}

	get height() {
		return this.scroller.clientHeight;
	}

	get scrollable() {
		return this.layout.height > this.height + 1;
	}

	scrollBy(y) {
		this.scroller.scrollTop += y;
	}

	/*
	 * Rows use what the details leave when they are open: so nothing moves when they open. While nothing is chosen they are
	 * only if all tracks have room beside them.
	 */
	#fit() {
		const details = Math.min(parseFloat(this.below.style.height) || DETAILS_PX, this.element.clientHeight * DETAILS_PART);
		const room = this.height + this.below.offsetHeight - details;
		this.layout.fit(room);
		this.below.classList.toggle('roomy', this.layout.least <= room);
	}

	#resized() {
		const width = Math.max(1, this.stage.clientWidth);
		this.#fit();
		this.content.style.height = `${this.layout.height}px`;
		this.stage.style.height = `${this.height}px`;
		this.view.width = width;
		this.#changed();
	}

	#changed(tracks = true) {
		this.dirty ||= tracks;
		if (!this.frame && this.shown)
			this.frame = requestAnimationFrame((now) => this.#draw(now));
	}

	#draw(now) {
		cancelAnimationFrame(this.frame);
		this.frame = 0;
		if (!this.shown)
			return;
		const moving = this.view.advance(Math.min(now - (this.drawnAt ?? now - 16), 50));
		this.drawnAt = moving ? now : undefined;
		const { scroll, height } = this;
		if (this.dirty) {
			this.drawing.draw(this.canvas, this.view, this.layout, scroll, height);
			this.tree.update(scroll, height);
			const { selection } = this.app;
			this.overview.draw(this.app.theme, selection.from === null ? null : selection, this.marks);
			const text = duration(Math.min(this.view.span, this.model.durationNs));
			if (this.spanText.textContent !== text)
				this.spanText.textContent = text;
		}
		const state = { model: this.model, view: this.view, layout: this.layout, theme: this.app.theme,
			selection: this.app.selection, marks: this.marks, item: this.app.item, hover: this.hovered,
			pointerX: this.pointer?.x ?? null, measuring: this.measuring };
		drawOverlay(this.overlayCanvas, state, scroll, height);
		drawRuler(this.rulerCanvas, state);
		this.dirty = false;
		if (!this.marked) {
			this.marked = true;
			performance.mark('hodo-shown'); // for tests: the recording is in sight
		}
		if (moving)
			this.#changed();
	}

	/* What gestures.js asks. */

	#point(pointer) {
		this.pointer = pointer;
		this.#changed(false);
	}

	hover(x, y) {
		const { model, layout, view } = this;
		const at = y + this.scroll;
		this.hovered = itemAt(model, layout, view, x, at);
		const box = this.stage.getBoundingClientRect();
		const main = this.main.getBoundingClientRect();
		const losses = lossesAt(model, layout, view, x, at);
		this.tooltip.show(this.hovered, losses, omittedAt(model, layout, view, x, at), x + box.left - main.left, y + box.top - main.top);
		this.stage.classList.toggle('over', this.hovered !== null);
		this.#point({ x, y });
	}

	pointerAt(x, y) {
		this.#point({ x, y });
	}

	leave() {
		this.hovered = null;
		this.tooltip.hide();
		this.#point(null);
	}

	click(x, y, event) {
		const item = itemAt(this.model, this.layout, this.view, x, y + this.scroll);
		this.stage.focus({ preventScroll: true });
		if (item)
			this.#choose(item);
		else if (event.shiftKey)
			return;
		else if (this.app.item)
			this.app.choose(null);
		else
			this.app.select({});
	}

	doubleClick(x, y) {
		const item = itemAt(this.model, this.layout, this.view, x, y + this.scroll);
		if (!item || !('slice' in item))
			return;
		const { from, to, track } = placeOf(this.model, item);
		this.app.select({ from, to, tracks: new Set([track]) });
	}

	area(from, to, y0, y1, done) {
		this.tooltip.hide();
		// All of it below the tracks: as on the ruler, a stretch of time.
		const below = Math.min(y0, y1) > this.layout.height;
		this.#selectArea(from, to, below ? null : this.layout.tracksBetween(y0, y1), done);
	}

	#selectArea(from, to, tracks, done) {
		const inside = (time) => Math.max(0, Math.min(this.model.durationNs, time));
		this.measuring = !done;
		this.app.select({ from: inside(Math.min(from, to)), to: inside(Math.max(from, to)),
			tracks: tracks?.size === 0 ? null : tracks });
		if (done)
			this.app.announce(`Area of ${duration(Math.abs(to - from))} selected` +
				` on ${tracks?.size ? plural(tracks.size, 'track') : 'all tracks'}.`);
	}

	selectionEdge(x) {
		const { from, to } = this.app.selection;
		if (from === null)
			return null;
		const near = (time) => Math.abs(this.view.x(time) - x) <= EDGE_PX;
		return near(to) ? 'to' : near(from) ? 'from' : null;
	}

	moveEdge(edge, time, done) {
		const { from, to, tracks } = this.app.selection;
		// The other edge stays, also when this one is moved past it.
		this.fixedEdge ??= edge === 'from' ? to : from;
		this.#selectArea(this.fixedEdge, time, tracks, done);
		if (done)
			this.fixedEdge = undefined;
	}

	/* What keyboard.js asks. */

	/* The time that stays when keys zoom: the pointer's, that of what is chosen and seen, the middle. */
	zoomPlace() {
		if (this.pointer)
			return this.view.time(this.pointer.x);
		const { from, to } = this.view.goal;
		if (this.app.item) {
			const place = placeOf(this.model, this.app.item);
			const middle = (Math.max(place.from, from) + Math.min(place.to, to)) / 2;
			if (middle >= from && middle <= to && place.to >= from && place.from <= to)
				return middle;
		}
		return (from + to) / 2;
	}

	/* The first thing in sight. */
	start() {
		for (const { track } of this.layout.between(this.scroll, Infinity)) {
			const found = track && this.walk.first(track, Math.max(0, this.view.from));
			if (found)
				return found;
		}
		return null;
	}

	#choose(item) {
		this.app.choose(item);
		this.app.announce(sentence(this.model, item));
	}

	/* Chooses and brings into sight. */
	pick(item) {
		this.tooltip.hide();
		this.#choose(item);
		const { from, to } = placeOf(this.model, item);
		this.#scrollTo(item);
		const { goal } = this.view;
		const seen = Math.min(to, goal.to) - Math.max(from, goal.from);
		if (to - from > goal.to - goal.from ? seen <= 0 : seen < to - from)
			this.view.reveal(from, Math.min(to, from + (goal.to - goal.from) * 0.8));
	}

	/* Goes from item to next, which the area then reaches to: away from where the first of these steps began. */
	extend(item, next) {
		const { from, to, tracks } = this.app.selection;
		if (!this.anchor || from === null || this.extended !== this.app.selection)
			this.anchor = placeOf(this.model, item);
		const place = placeOf(this.model, next);
		this.pick(next);
		this.app.select({ from: Math.min(this.anchor.from, place.from), to: Math.max(this.anchor.to, place.to),
			tracks: this.extended === this.app.selection && to !== null ? tracks : new Set([place.track]) });
		this.extended = this.app.selection;
	}

	#scrollTo(item) {
		const place = placeOf(this.model, item);
		const before = this.layout.height;
		this.layout.show(this.model.tracks[place.track], place.depth);
		if (this.layout.height !== before)
			this.#resized();
		const box = boxOf(this.model, this.layout, this.view, item);
		if (box)
			this.#reveal(box.y, box.height, 40);
	}

	#reveal(y, height, room) {
		if (y - room < this.scroll)
			this.scroller.scrollTop = y - room;
		else if (y + height + room > this.scroll + this.height)
			this.scroller.scrollTop = y + height + room - this.height;
	}

	revealItem(item) {
		this.#reveal(item.y, Math.min(item.height, this.height / 2), 0);
		this.tree.update(this.scroll, this.height);
	}

	#focus(target) {
		if ('from' in target) {
			this.view.around(target.from, target.to);
		} else if ('time' in target) {
			const half = this.view.span / 2;
			this.view.set(target.time - half, target.time + half, true);
		} else {
			this.app.announce(sentence(this.model, target));
			this.#scrollTo(target);
			this.#zoomTo(target);
		}
	}

	/* So that it is easily seen, with what is around it. */
	#zoomTo(item) {
		const { from, to } = placeOf(this.model, item);
		const { goal } = this.view;
		const span = goal.to - goal.from;
		const length = to - from;
		if (length > span)
			this.view.around(from, to);
		else if (length > 0 && length < span / 300)
			this.view.around(from - 20 * length, to + 20 * length);
		else
			this.view.reveal(from, to);
	}

	focusChosen() {
		const { item } = this.app;
		if (!item) {
			this.focusArea();
			return;
		}
		const { from, to } = placeOf(this.model, item);
		this.#scrollTo(item);
		const half = to > from ? 0 : Math.min(this.view.goal.to - this.view.goal.from, this.model.durationNs / 50) / 2;
		this.view.around(from - half, to + half);
	}

	focusArea() {
		const { from, to } = this.app.selection;
		if (from !== null)
			this.view.around(from, to);
	}

	/* A mark stays on the ruler until the same is marked again; what is chosen becomes the area: it is measured. */
	mark() {
		const { item, selection } = this.app;
		const place = item ? placeOf(this.model, item) : selection.from !== null ? selection : null;
		if (!place) {
			this.app.announce('Nothing is chosen that could be marked.');
			return;
		}
		const same = this.marks.findIndex((m) => m.from === place.from && m.to === place.to);
		if (same >= 0) {
			this.marks.splice(same, 1);
			this.app.announce('Mark removed.');
		} else {
			this.marks.push({ from: place.from, to: place.to });
			if (item && place.to > place.from)
				this.app.select({ from: place.from, to: place.to, tracks: null });
			this.app.announce(`Marked: ${duration(place.to - place.from)}.`);
		}
		this.#changed();
	}

	clear() {
		const { app } = this;
		if (app.item)
			app.choose(null);
		else if (app.selection.from !== null || app.selection.tracks !== null)
			app.select({});
		else
			this.marks = [];
		app.announce('Nothing chosen.');
		this.#changed(false);
	}

	/* What labels.js asks. */

	toggle(item) {
		item.open = !item.open;
		this.layout.update();
		this.#resized();
		this.tree.update(this.scroll, this.height);
	}

	#foldAll() {
		const tracks = this.layout.groups.flatMap((g) => g.children).filter((item) => item.folds);
		const open = !tracks.some((item) => item.open);
		for (const item of tracks)
			item.open = open;
		this.layout.update();
		this.#resized();
	}

	selectTracks(items, add) {
		const { from, to, tracks } = this.app.selection;
		const chosen = new Set(add ? tracks : null);
		const all = items.every((item) => chosen.has(item.track.index));
		for (const item of items) {
			if (add && all)
				chosen.delete(item.track.index);
			else
				chosen.add(item.track.index);
		}
		this.app.select({ from, to, tracks: chosen.size ? chosen : null });
		this.app.announce(chosen.size ? `${plural(chosen.size, 'track')} selected.` : 'All tracks.');
	}
}
