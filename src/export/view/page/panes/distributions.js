// SPDX-License-Identifier: MIT
// distributions.js - how long slices of each name took: sorted durations of those in the page, and where the page has not
// all of them the exact counts that it has of all (aggregates and buckets, docs/design/view.md).

import { SLICE_CALL, SLICE_CONTINUED, SLICE_END_LOST, SLICE_LEFT, SLICE_NO_EXIT, SLICE_OPEN, SLICE_SPLIT } from '../data/data.js';
import { firstAbove } from '../timeline/rows.js';

const FAR = 1e307; // twice of that is a number yet
const KIND_OF_TRACK = { thread: 0, async: 2, cpu: 3 };

/* As hodo_view_bucket(): 8 for each power of two, of equal width within it. */
export function bucketOf(ns) {
	if (!(ns >= 1))
		return 0;
	const power = Math.floor(Math.log2(ns)); // where it is rounded up to the next, the rest is below 0, which is the same
	return 8 * power + Math.floor((ns / 2 ** power - 1) * 8);
}

/* ns; the first holds what is below 1 as well. */
export function bucketBegin(bucket) {
	return bucket <= 0 ? 0 : 2 ** Math.floor(bucket / 8) * (1 + (bucket % 8) / 8);
}

/* Index of the first that is in a bucket, or above it. Durations are whole. */
const firstOf = (sorted, bucket) => firstAbove(sorted, Math.ceil(bucketBegin(bucket)) - 1, 0, sorted.length);

export class Distribution {
	/* unordered: rows of model.slices; whole: of wholeDurations() */
	constructor(name, kind, unordered, whole) {
		Object.assign(this, { name, kind, unordered, whole });
		this.sorted = new Float64Array(unordered.map((row) => whole[row])).sort(); // of the slices in the page
		this.all = null; // of all slices, where these are not all
		this.total = this.sorted.reduce((sum, ns) => sum + ns, 0);
	}

	/* The slices in the page, the shortest first. */
	get rows() {
		const { whole } = this;
		this.ordered ??= this.unordered.sort((a, b) => whole[a] - whole[b] || a - b);
		return this.ordered;
	}

	get n() {
		return this.all ? this.all.n : this.sorted.length;
	}

	get min() {
		return this.all ? this.all.min : this.sorted[0];
	}

	get max() {
		return this.all ? this.all.max : this.sorted[this.sorted.length - 1];
	}

	get mean() {
		return this.total / this.n;
	}

	/* What q (0 … 1) of all are not above. From buckets: as if they were spread evenly in each. */
	at(q) {
		const rank = Math.max(1, Math.ceil(q * this.n - 1e-9));
		if (!this.all)
			return this.sorted[rank - 1];
		let before = 0;
		for (const [bucket, count] of this.all.buckets) {
			if (before + count >= rank) {
				const begin = bucketBegin(bucket);
				const ns = begin + (bucketBegin(bucket + 1) - begin) * ((rank - before) / count);
				return Math.min(this.max, Math.max(this.min, ns));
			}
			before += count;
		}
		return this.max;
	}

	/* [[bucket, count]…], ascending, of those that are not empty. */
	buckets() {
		if (this.all)
			return this.all.buckets;
		const found = [];
		for (let i = 0; i < this.sorted.length;) {
			const bucket = bucketOf(this.sorted[i]);
			const end = firstOf(this.sorted, bucket + 1);
			found.push([bucket, end - i]);
			i = end;
		}
		return found;
	}

	/* [first, end) in sorted and rows of a bucket's, or of all. */
	span(bucket = null) {
		if (bucket === null)
			return [0, this.sorted.length];
		return [firstOf(this.sorted, bucket), firstOf(this.sorted, bucket + 1)];
	}

	addAll(count, total, min, max) {
		if (!this.all) {
			this.all = { n: 0, min: Infinity, max: 0, buckets: new Map() };
			this.total = 0;
		}
		this.all.n += count;
		this.all.min = Math.min(this.all.min, min);
		this.all.max = Math.max(this.all.max, max);
		this.total += total;
	}
}

/* Whether it is known how long a slice took. A span that is LEFT ends with the one around it. */
function hasLength(flags, kind) {
	return !(flags & (SLICE_OPEN | SLICE_NO_EXIT | SLICE_END_LOST)) && !(flags & SLICE_LEFT && kind !== SLICE_CALL);
}

/*
 * Durations by row; slices that were split so that they nest count once, at their first piece, with the length of all. NaN:
 * not known, or a later piece. Made once for a model.
 */
export function wholeDurations(model) {
	if (model.whole)
		return model.whole;
	const { slices } = model;
	const whole = Float64Array.from(slices.duration);
	let open = []; // first rows of those that were split and go on
	let track = -1;
	for (let row = 0; row < slices.n; row++) {
		const flags = slices.flags[row];
		if (flags === 0)
			continue;
		if (slices.track[row] !== track)
			open = [];
		track = slices.track[row];
		let first = row;
		if (flags & SLICE_CONTINUED) {
			const end = slices.begin[row];
			const at = open.findIndex((of) => slices.name[of.first] === slices.name[row] && of.end === end);
			whole[row] = NaN;
			if (at < 0)
				continue;
			({ first } = open[at]);
			open.splice(at, 1);
			whole[first] += slices.duration[row];
		}
		if (!hasLength(flags, slices.kind[row]))
			whole[first] = NaN;
		else if (flags & SLICE_SPLIT)
			open.push({ first, end: slices.begin[row] + slices.duration[row] });
	}
	model.whole = whole;
	return whole;
}

/* One for each name and kind, of slices that are in the range, at least in part. range: of rangeOf(), or null. */
export function distributions(model, range) {
	const { begin, kind, n, name, track } = model.slices;
	const whole = wholeDurations(model);
	const groups = new Map();
	const within = (row) => {
		const end = begin[row] + whole[row];
		return range.tracks[track[row]] && begin[row] <= range.to && (end > range.from || begin[row] === range.from);
	};
	for (let row = 0; row < n; row++) {
		if (Number.isNaN(whole[row]) || (range && !within(row)))
			continue;
		const group = name[row] * 4 + (kind[row] & 3);
		if (groups.has(group))
			groups.get(group).push(row);
		else
			groups.set(group, [row]);
	}
	const found = new Map([...groups].map(([group, rows]) => [group, new Distribution(group >> 2, group & 3, rows, whole)]));
	if (model.aggregates?.n && !range?.timed)
		takeAll(model, range, found);
	return [...found.values()];
}

/* Exact figures over all slices. They know names and tracks: a thread's names are spans unless a slice says otherwise. */
function takeAll(model, range, found) {
	const { aggregates, buckets, tracks } = model;
	for (let i = 0; i < aggregates.n; i++) {
		const track = tracks[aggregates.track[i]];
		const used = aggregates.buckets[i];
		if (!track || !used || (range && !range.tracks[track.index]) || KIND_OF_TRACK[track.kind] === undefined)
			continue;
		const name = aggregates.name[i];
		let kind = KIND_OF_TRACK[track.kind];
		if (kind === 0 && !found.has(name * 4) && (found.has(name * 4 + 1) || !model.strings[name].includes(':')))
			kind = 1;
		if (!found.has(name * 4 + kind))
			found.set(name * 4 + kind, new Distribution(name, kind, [], null));
		const group = found.get(name * 4 + kind);
		group.addAll(aggregates.count[i], aggregates.total[i], aggregates.min[i], aggregates.max[i]);
		const first = aggregates.histogram[i];
		for (let b = first; b < first + used && b < buckets.n; b++) {
			const counts = group.all.buckets;
			if (buckets.count[b] > 0)
				counts.set(buckets.log2x8[b], (counts.get(buckets.log2x8[b]) ?? 0) + buckets.count[b]);
		}
	}
	for (const group of found.values())
		if (group.all)
			group.all.buckets = [...group.all.buckets].sort((a, b) => a[0] - b[0]);
}

/* {min, max, mean} of those from first to end - 1 that are numbers; NaN where there are none. */
export function figuresOf(values, first = 0, end = values.length) {
	let [min, max, sum, n] = [NaN, NaN, 0, 0];
	for (let i = first; i < end; i++) {
		const value = values[i];
		if (Number.isNaN(value))
			continue;
		min = value >= min ? min : value;
		max = value <= max ? max : value;
		sum += value;
		n++;
	}
	return { min, max, mean: n ? sum / n : NaN };
}

/* As a plot takes them: infinite ones at the edge of the others, and a gap where there is no number. */
export function heightsOf(values) {
	const { min, max } = figuresOf(values.filter(Number.isFinite));
	const [low, high] = [min, max].map((edge) => Math.max(-FAR, Math.min(FAR, edge)) || 0);
	return Array.from(values, (value) => (Number.isNaN(value) ? null : Math.max(low, Math.min(high, value))));
}

/*
 * A counter's values from row `first` to row `end`, at most four for each of `columns` parts of from … to: the first, least,
 * greatest and last, so that nothing that could be seen is left out.
 */
export function thinValues(values, [first, end], from, to, columns) {
	if (end - first <= columns * 4)
		return { times: values.time.slice(first, end), values: values.value.slice(first, end) };
	const times = [];
	const kept = [];
	const columnOf = (row) => Math.floor((values.time[row] - from) / (to - from) * columns);
	for (let row = first; row < end;) {
		const column = columnOf(row);
		const begin = row;
		let least = row;
		let greatest = row;
		for (; row < end && columnOf(row) === column; row++) {
			// What is no number gives way to the first one.
			if (values.value[row] < values.value[least] || Number.isNaN(values.value[least]))
				least = row;
			if (values.value[row] > values.value[greatest] || Number.isNaN(values.value[greatest]))
				greatest = row;
		}
		for (const keep of [...new Set([begin, least, greatest, row - 1])].sort((a, b) => a - b)) {
			times.push(values.time[keep]);
			kept.push(values.value[keep]);
		}
	}
	return { times: Float64Array.from(times), values: Float64Array.from(kept) };
}
