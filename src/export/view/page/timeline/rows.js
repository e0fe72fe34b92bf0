// SPDX-License-Identifier: MIT
// rows.js - the slices of one track at one depth: they do not overlap, so that both ends are in order and found by
// halving; sums say how much of any stretch is covered without looking at what is in it.

/* First index in [from, to) with array[index] > value, else to. */
export function firstAbove(array, value, from, to) {
	while (from < to) {
		const middle = (from + to) >>> 1;
		if (array[middle] > value)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* firstAbove() for an index that is probably near from. */
export function firstAboveNear(array, value, from, to) {
	let step = 1;
	let low = from;
	while (low + step < to && array[low + step] <= value) {
		low += step;
		step *= 2;
	}
	return firstAbove(array, value, low, Math.min(low + step + 1, to));
}

export class Row {
	constructor(n) {
		this.n = n;
		this.slice = new Uint32Array(n); // row of the table of slices
		this.begin = new Float64Array(n);
		this.end = new Float64Array(n);
		this.covered = new Float64Array(n + 1); // durations of those before
		this.matched = null; // how many of those before match the search
		this.matchedBy = null;
	}

	/* Index of the first that ends after time. */
	after(time) {
		return firstAbove(this.end, time, 0, this.n);
	}

	/* The table's row of the slice that holds time; -1: none. */
	sliceAt(time) {
		const i = firstAbove(this.begin, time, 0, this.n) - 1;
		if (i < 0 || (this.end[i] < time))
			return -1;
		return this.slice[i];
	}

	/* How many ns of from … to are inside of slices. */
	coverage(from, to) {
		if (to <= from)
			return 0;
		const first = this.after(from);
		const last = firstAbove(this.begin, to, first, this.n);
		if (last <= first)
			return 0;
		let sum = this.covered[last] - this.covered[first];
		sum -= Math.max(0, from - this.begin[first]);
		sum -= Math.max(0, this.end[last - 1] - to);
		return Math.max(0, sum);
	}

	/* How many of first … last - 1 match. hits: of a Search. */
	matches(first, last, hits) {
		if (this.matchedBy !== hits) {
			this.matched ??= new Uint32Array(this.n + 1);
			for (let i = 0; i < this.n; i++)
				this.matched[i + 1] = this.matched[i] + hits[this.slice[i]];
			this.matchedBy = hits;
		}
		return this.matched[last] - this.matched[first];
	}
}

/* One Row for each depth of the track. */
export function trackRows(slices, track) {
	const [from, to] = track.slices;
	const counts = [];
	for (let i = from; i < to; i++) {
		const depth = slices.depth[i];
		while (counts.length <= depth)
			counts.push(0);
		counts[depth]++;
	}
	const rows = counts.map((n) => new Row(n));
	counts.fill(0);
	for (let i = from; i < to; i++) {
		const depth = slices.depth[i];
		const row = rows[depth];
		const at = counts[depth]++;
		const begin = slices.begin[i];
		let end = begin + slices.duration[i];
		if (at > 0 && end < row.end[at - 1])
			end = row.end[at - 1]; // must not be; the search by halves needs the order
		row.slice[at] = i;
		row.begin[at] = begin;
		row.end[at] = end;
		row.covered[at + 1] = row.covered[at] + Math.max(0, end - begin);
	}
	return rows;
}
