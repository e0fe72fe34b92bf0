// SPDX-License-Identifier: MIT
// event_rows.js - slices, points and losses in one list, by time or otherwise, and those of them that are asked for.
//
// A row is one number, its ref: a slice's row, or a point's plus the number of slices, or a loss's plus both.

import { SLICE_NO_EXIT, SLICE_OPEN } from '../data/data.js';

export const KINDS = ['span', 'function', 'async span', 'on CPU', 'point', 'lost'];
const POINT = 4;
const LOST = 5;

function joined(type, ...columns) {
	const all = new type(columns.reduce((n, column) => n + column.length, 0));
	let at = 0;
	for (const column of columns) {
		all.set(column, at);
		at += column.length;
	}
	return all;
}

/* The place of each text in their order, for sorting rows by name. */
export function ranksOf(texts) {
	const order = Array.from(texts.keys()).sort((a, b) => (texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : a - b));
	const ranks = new Uint32Array(texts.length);
	order.forEach((text, rank) => {
		ranks[text] = rank;
	});
	return ranks;
}

export class EventRows {
	constructor(model) {
		const { slices, instants, losses } = model;
		this.model = model;
		this.split = slices.n;
		this.end = slices.n + instants.n;
		this.n = this.end + losses.n;
		const all = ({ n }, value) => new Float64Array(n).fill(value);
		this.time = joined(Float64Array, slices.begin, instants.time, losses.begin);
		// NaN: a point, or not known.
		this.duration = joined(Float64Array, slices.duration, all(instants, NaN), losses.end.map((end, i) => end - losses.begin[i]));
		for (let row = 0; row < slices.n; row++)
			if (slices.flags[row] & SLICE_NO_EXIT)
				this.duration[row] = NaN;
		this.name = joined(Uint32Array, slices.name, instants.name, losses.cause);
		this.track = joined(Int32Array, slices.track, instants.track, all(losses, -1)); // a loss is a process's
		this.kind = joined(Uint8Array, slices.kind, all(instants, POINT), all(losses, LOST));
		this.text = joined(Int32Array, slices.text, instants.text, all(losses, -1));
	}

	isLoss(ref) {
		return ref >= this.end;
	}

	/* Its row in model.losses. */
	loss(ref) {
		return ref - this.end;
	}

	/* The slice lasted at least as long. */
	longer(ref) {
		return ref < this.split && (this.model.slices.flags[ref] & SLICE_OPEN) !== 0;
	}

	/* What app.focus() takes. */
	item(ref) {
		if (this.isLoss(ref))
			return { from: this.time[ref], to: this.time[ref] + this.duration[ref] };
		return ref < this.split ? { slice: ref } : { instant: ref - this.split };
	}

	/* Of a slice or point; -1: of nothing that is in the list. */
	ref(item) {
		return item?.slice ?? (item?.instant !== undefined ? this.split + item.instant : -1);
	}

	/* All of them by time; slices before points, outer before inner ones. */
	get byTime() {
		// An array's sort makes use of what is in order already, as each track is; a typed array's does not.
		this.ordered ??= new Uint32Array(Array.from(this.time.keys()).sort((a, b) => this.time[a] - this.time[b]));
		return this.ordered;
	}

	/*
	 * Those asked for, by time. range: of rangeOf(), or null; track, kind: -1: all; names: Uint8Array by name, or null;
	 * hits: a Search's, or null.
	 */
	filtered({ range = null, track = -1, kind = -1, names = null, hits = null }) {
		const within = (ref) => (this.isLoss(ref) || range.tracks[this.track[ref]]) && this.time[ref] <= range.to &&
			this.time[ref] + (this.duration[ref] || 0) >= range.from;
		return this.byTime.filter((ref) => (track < 0 || this.track[ref] === track) && (kind < 0 || this.kind[ref] === kind) &&
			(!names || names[this.name[ref]]) && (!hits || hits[ref]) && (!range || within(ref)));
	}

	/* refs, which are by time, by another column. */
	sorted(refs, column) {
		if (column === 'time')
			return refs;
		if (column === 'name')
			this.nameRanks ??= ranksOf(this.model.strings);
		if (column === 'track')
			this.trackRanks ??= ranksOf(this.model.tracks.map((track) => track.longTitle));
		const keyOf = {
			duration: (ref) => this.duration[ref] + 1 || 0, // points before those of 0 ns
			name: (ref) => this.nameRanks[this.name[ref]],
			track: (ref) => this.trackRanks[this.track[ref]] + 1 || 0,
			kind: (ref) => this.kind[ref],
		}[column];
		const keys = new Float64Array(this.n);
		for (const ref of refs)
			keys[ref] = keyOf(ref);
		return refs.slice().sort((a, b) => keys[a] - keys[b]);
	}
}
