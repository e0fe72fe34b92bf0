// SPDX-License-Identifier: MIT
// event_rows.js - slices, points and losses in one list, by time or otherwise, and those of them that are asked for.
//
// A row is one number, as for search.js: a slice's row, or a point's plus the number of slices; or a loss's plus both.

import { SLICE_NO_EXIT, SLICE_OPEN } from './data.js';
import { ranksOf, sortByKey, trackName } from './pane_tools.js';

export const KINDS = ['span', 'function', 'async span', 'on CPU', 'point', 'lost'];
const POINT = 4;
const LOST = 5;

export class EventRows {
	constructor(model) {
		this.model = model;
		this.split = model.slices.n;
		this.end = model.slices.n + model.instants.n;
		this.n = this.end + model.losses.n;
	}

	isLoss(ref) {
		return ref >= this.end;
	}

	/* Its row in model.losses. */
	loss(ref) {
		return ref - this.end;
	}

	time(ref) {
		const { slices, instants, losses } = this.model;
		return ref < this.split ? slices.begin[ref] : ref < this.end ? instants.time[ref - this.split] : losses.begin[this.loss(ref)];
	}

	/* NaN: a point, or not known. */
	duration(ref) {
		const { slices, losses } = this.model;
		if (this.isLoss(ref))
			return losses.end[this.loss(ref)] - losses.begin[this.loss(ref)];
		return ref >= this.split || slices.flags[ref] & SLICE_NO_EXIT ? NaN : slices.duration[ref];
	}

	/* The slice lasted at least as long. */
	longer(ref) {
		return ref < this.split && (this.model.slices.flags[ref] & SLICE_OPEN) !== 0;
	}

	/* Of a loss its cause. */
	name(ref) {
		const { slices, instants, losses } = this.model;
		return ref < this.split ? slices.name[ref] : ref < this.end ? instants.name[ref - this.split] : losses.cause[this.loss(ref)];
	}

	/* -1: a loss's, which is a process's. */
	track(ref) {
		const { slices, instants } = this.model;
		return ref < this.split ? slices.track[ref] : ref < this.end ? instants.track[ref - this.split] : -1;
	}

	kind(ref) {
		return ref < this.split ? this.model.slices.kind[ref] : ref < this.end ? POINT : LOST;
	}

	textRow(ref) {
		const { slices, instants } = this.model;
		return ref < this.split ? slices.text[ref] : ref < this.end ? instants.text[ref - this.split] : -1;
	}

	/* What app.focus() takes. */
	item(ref) {
		if (this.isLoss(ref))
			return { from: this.time(ref), to: this.time(ref) + this.duration(ref) };
		return ref < this.split ? { slice: ref } : { instant: ref - this.split };
	}

	/* Of a slice or point; -1: of nothing that is in the list. */
	ref(item) {
		return item?.slice !== undefined ? item.slice : item?.instant !== undefined ? this.split + item.instant : -1;
	}

	/* All of them by time; slices before points, outer before inner ones. */
	get byTime() {
		if (!this.ordered) {
			const all = new Uint32Array(this.n);
			for (let ref = 0; ref < this.n; ref++)
				all[ref] = ref;
			const times = new Float64Array(this.n);
			times.set(this.model.slices.begin.subarray(0, this.split));
			times.set(this.model.instants.time.subarray(0, this.end - this.split), this.split);
			for (let ref = this.end; ref < this.n; ref++)
				times[ref] = this.time(ref);
			this.ordered = sortByKey(all, times);
		}
		return this.ordered;
	}

	/*
	 * Those asked for, by time. range: of rangeOf(), or null; track, kind: -1: all; names: Uint8Array by name, or null;
	 * matches: a Search, or null.
	 */
	filtered({ range = null, track = -1, kind = -1, names = null, matches = null }) {
		const all = this.byTime;
		if (!range && track < 0 && kind < 0 && !names && !matches)
			return all;
		const found = new Uint32Array(this.n);
		let n = 0;
		for (let i = 0; i < all.length; i++) {
			const ref = all[i];
			const at = this.track(ref);
			if ((track >= 0 && at !== track) || (kind >= 0 && this.kind(ref) !== kind) || (names && !names[this.name(ref)]))
				continue;
			if (range && !((at < 0 || range.tracks[at]) && this.#within(ref, range)))
				continue;
			if (matches && !this.#matches(ref, matches))
				continue;
			found[n++] = ref;
		}
		return found.slice(0, n);
	}

	#within(ref, { from, to }) {
		const begin = this.time(ref);
		const lasts = ref < this.split ? this.model.slices.duration[ref] : this.isLoss(ref) ? this.duration(ref) : 0;
		return begin <= to && begin + lasts >= from;
	}

	#matches(ref, matches) {
		if (this.isLoss(ref))
			return matches.names[this.name(ref)] === 1;
		return ref < this.split ? matches.matchesSlice(ref) : matches.matchesInstant(ref - this.split);
	}

	/* refs, which are by time, by another column. */
	sorted(refs, column) {
		if (column === 'time')
			return refs;
		if (column === 'name')
			this.nameRanks ??= ranksOf(this.model.strings);
		if (column === 'track')
			this.trackRanks ??= ranksOf(this.model.tracks.map((_, id) => trackName(this.model, id)));
		const keys = new Float64Array(refs.length);
		for (let i = 0; i < refs.length; i++) {
			const ref = refs[i];
			if (column === 'duration')
				keys[i] = this.duration(ref) + 1 || 0; // points before those of 0 ns
			else if (column === 'name')
				keys[i] = this.nameRanks[this.name(ref)];
			else if (column === 'track')
				keys[i] = this.trackRanks[this.track(ref)] + 1 || 0;
			else
				keys[i] = this.kind(ref);
		}
		return sortByKey(refs, keys);
	}
}
