// SPDX-License-Identifier: MIT
// keyboard.js - the timeline without a mouse: W A S D and arrows.

import { placeOf } from './timeline/hit.js';
import { firstAbove } from './timeline/rows.js';

const ZOOM = 0.72;
const PAN = 0.2;

/* Steps from item to item; each returns an item or null. */
export class Walk {
	constructor(model, layout) {
		this.model = model;
		this.layout = layout;
	}

	/* The row that an item is in: {n, at: its index, item(i)}. */
	#line(item) {
		const { model } = this;
		if ('slice' in item) {
			const { track, depth, begin } = model.slices;
			const row = model.rows(model.tracks[track[item.slice]])[depth[item.slice]];
			let at = firstAbove(row.begin, begin[item.slice], 0, row.n) - 1;
			while (at > 0 && row.slice[at] !== item.slice && row.begin[at - 1] === row.begin[at])
				at--;
			return { n: row.n, at, item: (i) => ({ slice: row.slice[i] }) };
		}
		const kind = 'instant' in item ? 'instant' : 'value';
		const table = kind === 'instant' ? model.instants : model.values;
		const [from, to] = model.tracks[table.track[item[kind]]][`${kind}s`];
		return { n: to - from, at: item[kind] - from, item: (i) => ({ [kind]: from + i }) };
	}

	beside(item, by) {
		const line = this.#line(item);
		const at = Math.max(0, Math.min(line.n - 1, line.at + by));
		return at === line.at ? null : line.item(at);
	}

	edge(item, last) {
		const line = this.#line(item);
		return line.item(last ? line.n - 1 : 0);
	}

	/* The next of the same name on its track, or the one before. */
	sameName(item, by) {
		if ('value' in item)
			return this.beside(item, by);
		const kind = 'slice' in item ? 'slice' : 'instant';
		const table = this.model[`${kind}s`];
		const [from, to] = this.model.tracks[table.track[item[kind]]][`${kind}s`];
		for (let i = item[kind] + by; i >= from && i < to; i += by)
			if (table.name[i] === table.name[item[kind]])
				return { [kind]: i };
		return null;
	}

	parent(item) {
		if (!('slice' in item))
			return this.#acrossFrom(item, -1);
		const row = this.model.parent(item.slice);
		if (row >= 0)
			return { slice: row };
		const { track, depth, begin } = this.model.slices;
		const of = this.model.tracks[track[item.slice]];
		if (of.kind === 'async' && depth[item.slice] > 0)
			return this.#nearestIn(of, depth[item.slice] - 1, begin[item.slice]);
		if (of.instants[1] > of.instants[0])
			return this.#pointNear(of, begin[item.slice]);
		return this.#acrossFrom(item, -1);
	}

	child(item) {
		const place = placeOf(this.model, item);
		const track = this.model.tracks[place.track];
		if ('instant' in item && track.slices[1] > track.slices[0])
			return this.#nearestIn(track, 0, place.from);
		if ('slice' in item) {
			const row = this.model.rows(track)[place.depth + 1];
			const i = row ? row.after(place.from) : 0;
			if (row && track.kind === 'async')
				return this.#nearestIn(track, place.depth + 1, place.from);
			if (row && i < row.n && row.begin[i] < place.to)
				return { slice: row.slice[i] };
		}
		return this.#acrossFrom(item, 1);
	}

	#pointNear(track, time) {
		const at = firstAbove(this.model.instants.time, time, ...track.instants);
		return { instant: Math.min(at, track.instants[1] - 1) };
	}

	#nearestIn(track, depth, time) {
		const row = this.model.rows(track)[depth];
		if (!row?.n)
			return null;
		return { slice: row.slice[Math.min(row.after(time), row.n - 1)] };
	}

	/* What is at the same time on the next track, or the one before. */
	#acrossFrom(item, by) {
		const place = placeOf(this.model, item);
		const { items, ofTrack } = this.layout;
		for (let i = items.indexOf(ofTrack[place.track]) + by; i >= 0 && i < items.length; i += by) {
			if (items[i].isGroup)
				continue;
			const found = this.first(items[i].track, place.from, by < 0);
			if (found)
				return found;
		}
		return null;
	}

	/* Something of a track at or after time. fromBelow: the deepest there. */
	first(track, time, fromBelow = false) {
		if (track.kind === 'counter') {
			const [from, to] = track.values;
			return to > from ? { value: Math.max(from, firstAbove(this.model.values.time, time, from, to) - 1) } : null;
		}
		const rows = this.model.rows(track);
		if (!rows.length || (track.instants[1] > track.instants[0] && !fromBelow))
			return track.instants[1] > track.instants[0] ? this.#pointNear(track, time) : null;
		if (fromBelow)
			for (let depth = rows.length - 1; depth > 0; depth--) {
				const row = rows[depth].sliceAt(time);
				if (row >= 0)
					return { slice: row };
			}
		return this.#nearestIn(track, 0, time);
	}
}

/* timeline has: view, walk, app, zoomPlace(), pick(item), extend(from, to), start(), focusChosen(), mark(), clear(). */
export function timelineKeys(timeline, event) {
	const { view, walk, app } = timeline;
	const { item } = app;
	const go = (step, extend = false) => {
		const next = item ? step() : timeline.start();
		if (next && item && extend)
			timeline.extend(item, next);
		else if (next)
			timeline.pick(next);
		else
			app.announce('No further one.');
	};
	const moves = {
		w: () => view.zoom(timeline.zoomPlace(), ZOOM, true),
		s: () => view.zoom(timeline.zoomPlace(), 1 / ZOOM, true),
		a: () => view.pan(-(view.goal.to - view.goal.from) * PAN, true),
		d: () => view.pan((view.goal.to - view.goal.from) * PAN, true),
		0: () => view.showAll(),
		f: () => timeline.focusChosen(),
		m: () => timeline.mark(),
		Escape: () => timeline.clear(),
		'[': () => go(() => walk.sameName(item, -1)),
		']': () => go(() => walk.sameName(item, 1)),
	};
	if (timeline.hasFocus)
		Object.assign(moves, {
			ArrowLeft: () => go(() => walk.beside(item, -1), event.shiftKey),
			ArrowRight: () => go(() => walk.beside(item, 1), event.shiftKey),
			ArrowUp: () => go(() => walk.parent(item)),
			ArrowDown: () => go(() => walk.child(item)),
			Home: () => go(() => walk.edge(item, false)),
			End: () => go(() => walk.edge(item, true)),
			PageUp: () => timeline.scrollBy(-timeline.height * 0.8),
			PageDown: () => timeline.scrollBy(timeline.height * 0.8),
		});
	// Brackets need a third key on some keyboards.
	return { ...moves, '+': moves.w, '-': moves.s, ',': moves['['], '.': moves[']'] };
}
