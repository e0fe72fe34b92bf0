// SPDX-License-Identifier: MIT
// distributions.js - how long slices of each name took: sorted durations of those in the page, and where the page has not
// all of them the exact counts that it has of all (aggregates and buckets, docs/design/view.md).

import { SLICE_CONTINUED, SLICE_SPLIT } from './data.js';
import { hasLength, sortByKey } from './pane_tools.js';

const SORT_SMALL = 5000; // sortByKey() has a cost of its own
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

/* First index of sorted with a value of at least ns. */
function lowerBound(sorted, ns) {
	let from = 0;
	let to = sorted.length;
	while (from < to) {
		const middle = (from + to) >>> 1;
		if (sorted[middle] < ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

export class Distribution {
	constructor(name, kind, sorted, rows) {
		this.name = name;
		this.kind = kind;
		this.sorted = sorted; // durations of the slices in the page, ascending
		this.rows = rows; // theirs in model.slices
		this.all = null; // of all slices, where these are not all
		this.total = 0;
		for (let i = 0; i < sorted.length; i++)
			this.total += sorted[i];
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
			const end = lowerBound(this.sorted, bucketBegin(bucket + 1));
			found.push([bucket, end - i]);
			i = end;
		}
		return found;
	}

	/* [first, end) in sorted and rows of a bucket's, or of all. */
	span(bucket = null) {
		if (bucket === null)
			return [0, this.rows.length];
		return [lowerBound(this.sorted, bucketBegin(bucket)), lowerBound(this.sorted, bucketBegin(bucket + 1))];
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

/*
 * Durations by row; slices that were split so that they nest count once, at their first piece, with the length of all. NaN:
 * not known, or a later piece. Made once for a model.
 */
const ofAll = new WeakMap();

export function wholeDurations(model) {
	if (ofAll.has(model))
		return ofAll.get(model);
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
		if (!hasLength(slices, row))
			whole[first] = NaN;
		else if (flags & SLICE_SPLIT)
			open.push({ first, end: slices.begin[row] + slices.duration[row] });
	}
	ofAll.set(model, whole);
	return whole;
}

/* Rows of slices whose length is known and that are in the range, at least in part. */
function rowsIn(model, range, whole) {
	const { slices } = model;
	const rows = new Uint32Array(slices.n);
	let n = 0;
	for (let row = 0; row < slices.n; row++) {
		if (Number.isNaN(whole[row]))
			continue;
		if (range) {
			const begin = slices.begin[row];
			const end = begin + whole[row];
			if (!range.tracks[slices.track[row]] || begin > range.to || end < range.from || (end === range.from && end > begin))
				continue;
		}
		rows[n++] = row;
	}
	return rows.subarray(0, n);
}

function distribution(group, rows, whole) {
	const durationsOf = (of) => {
		const durations = new Float64Array(of.length);
		for (let i = 0; i < of.length; i++)
			durations[i] = whole[of[i]];
		return durations;
	};
	const order = rows.length < SORT_SMALL ? rows.sort((a, b) => whole[a] - whole[b] || a - b)
		: sortByKey(rows, durationsOf(rows));
	return new Distribution(group >> 2, group & 3, durationsOf(order), order);
}

/* One for each name and kind. range: of rangeOf(), or null. */
export function distributions(model, range) {
	const { slices } = model;
	const whole = wholeDurations(model);
	const rows = rowsIn(model, range, whole);
	const ends = new Uint32Array(model.strings.length * 4 + 1);
	const groups = new Uint32Array(rows.length);
	for (let i = 0; i < rows.length; i++) {
		groups[i] = slices.name[rows[i]] * 4 + (slices.kind[rows[i]] & 3);
		ends[groups[i] + 1]++;
	}
	for (let i = 1; i < ends.length; i++)
		ends[i] += ends[i - 1];
	const begins = ends.slice();
	const grouped = new Uint32Array(rows.length);
	for (let i = 0; i < rows.length; i++)
		grouped[ends[groups[i]]++] = rows[i];
	const found = new Map();
	for (let group = 0; group + 1 < begins.length; group++) {
		const [from, to] = [begins[group], begins[group + 1]];
		if (to > from)
			found.set(group, distribution(group, grouped.subarray(from, to), whole));
	}
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
			found.set(name * 4 + kind, new Distribution(name, kind, new Float64Array(0), new Uint32Array(0)));
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
