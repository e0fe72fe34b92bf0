// SPDX-License-Identifier: MIT
// event_rows.js - slices and points in one list, by time or otherwise, and those of them that are asked for.
//
// A row is one number, as for search.js: a slice's row, or a point's plus the number of slices.

import { SLICE_NO_EXIT, SLICE_OPEN } from './data.js';
import { ranksOf, sortByKey, trackName } from './pane_tools.js';

export const KINDS = ['span', 'function', 'async span', 'on CPU', 'point'];

export class EventRows {
	constructor(model) {
		this.model = model;
		this.split = model.slices.n;
		this.n = model.slices.n + model.instants.n;
	}

	time(ref) {
		return ref < this.split ? this.model.slices.begin[ref] : this.model.instants.time[ref - this.split];
	}

	/* NaN: a point, or not known. */
	duration(ref) {
		if (ref >= this.split || this.model.slices.flags[ref] & SLICE_NO_EXIT)
			return NaN;
		return this.model.slices.duration[ref];
	}

	/* The slice lasted at least as long. */
	longer(ref) {
		return ref < this.split && (this.model.slices.flags[ref] & SLICE_OPEN) !== 0;
	}

	name(ref) {
		return ref < this.split ? this.model.slices.name[ref] : this.model.instants.name[ref - this.split];
	}

	track(ref) {
		return ref < this.split ? this.model.slices.track[ref] : this.model.instants.track[ref - this.split];
	}

	kind(ref) {
		return ref < this.split ? this.model.slices.kind[ref] : KINDS.length - 1;
	}

	textRow(ref) {
		return ref < this.split ? this.model.slices.text[ref] : this.model.instants.text[ref - this.split];
	}

	item(ref) {
		return ref < this.split ? { slice: ref } : { instant: ref - this.split };
	}

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
			times.set(this.model.instants.time.subarray(0, this.n - this.split), this.split);
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
			if (range && !(range.tracks[at] && this.#within(ref, range)))
				continue;
			if (matches && !(ref < this.split ? matches.matchesSlice(ref) : matches.matchesInstant(ref - this.split)))
				continue;
			found[n++] = ref;
		}
		return found.slice(0, n);
	}

	#within(ref, { from, to }) {
		const begin = this.time(ref);
		return begin <= to && (ref < this.split ? begin + this.model.slices.duration[ref] : begin) >= from;
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
				keys[i] = this.trackRanks[this.track(ref)];
			else
				keys[i] = this.kind(ref);
		}
		return sortByKey(refs, keys);
	}
}
