// SPDX-License-Identifier: MIT
// statistics.js - what is in a selected area: per name of slices count and times, points, counters, losses.

import { SLICE_CONTINUED, SLICE_NO_EXIT, SLICE_OPEN, SLICE_SPLIT } from './data.js';
import { firstAbove } from './rows.js';

const PIECE = SLICE_SPLIT | SLICE_CONTINUED;
const UNKNOWN = SLICE_OPEN | SLICE_NO_EXIT; // how long it was is not known

class Sums {
	constructor(names) {
		this.count = new Float64Array(names);
		this.total = new Float64Array(names);
		this.self = new Float64Array(names);
		this.known = new Float64Array(names); // those whose whole length is known
		this.whole = new Float64Array(names);
		this.min = new Float64Array(names).fill(Infinity);
		this.max = new Float64Array(names).fill(-Infinity);
	}
}

function addWhole(sums, name, duration, known) {
	sums.count[name]++;
	if (!known)
		return;
	sums.known[name]++;
	sums.whole[name] += duration;
	if (duration < sums.min[name])
		sums.min[name] = duration;
	if (duration > sums.max[name])
		sums.max[name] = duration;
}

/* Slices that were split so that they nest are one each. */
function addPieces(sums, model, pieces) {
	const { name: names, begin, duration, flags } = model.slices;
	const open = new Map(); // by name: {sum, known}
	pieces.sort((a, b) => begin[a] - begin[b]);
	for (const row of pieces) {
		const name = names[row];
		// A piece whose begin or rest is outside of the area does not say how long the whole is.
		const before = open.get(name) ?? { sum: 0, known: !(flags[row] & SLICE_CONTINUED) };
		const piece = { sum: before.sum + duration[row], known: before.known && !(flags[row] & UNKNOWN) };
		open.delete(name);
		if (flags[row] & SLICE_SPLIT)
			open.set(name, piece);
		else
			addWhole(sums, name, piece.sum, piece.known);
	}
	for (const [name, { sum }] of open)
		addWhole(sums, name, sum, false);
}

function addSlices(sums, model, track, from, to) {
	const { slices } = model;
	const rows = model.rows(track);
	const pieces = [];
	for (let depth = 0; depth < rows.length; depth++) {
		const row = rows[depth];
		// One that ends where the area begins is not in it, unless it has no length.
		const first = row.after(from);
		const last = firstAbove(row.begin, to, first, row.n);
		for (let i = first; i < last; i++) {
			const slice = row.slice[i];
			const name = slices.name[slice];
			const duration = slices.duration[slice];
			const begin = row.begin[i];
			const end = begin + duration;
			if (slices.flags[slice] & PIECE)
				pieces.push(slice);
			else
				addWhole(sums, name, duration, !(slices.flags[slice] & UNKNOWN));
			if (begin >= from && end <= to) {
				sums.total[name] += duration;
				sums.self[name] += slices.self[slice];
				continue;
			}
			const part = Math.min(end, to) - Math.max(begin, from);
			sums.total[name] += part;
			if (track.coarse && duration > 0) // those inside of it are not all there
				sums.self[name] += (slices.self[slice] * part) / duration;
			else if (track.kind === 'async' || depth + 1 === rows.length)
				sums.self[name] += part;
			else
				sums.self[name] += part - rows[depth + 1].coverage(Math.max(begin, from), Math.min(end, to));
		}
	}
	addPieces(sums, model, pieces);
}

function addValues(counters, model, track, from, to) {
	const { time, value } = model.values;
	const [begin, end] = track.values;
	const first = Math.max(begin, firstAbove(time, from, begin, end) - 1);
	const last = firstAbove(time, to, begin, end);
	if (last <= first)
		return;
	const { pyramid } = model.counterScale(track);
	pyramid.look(first - begin, last - begin);
	const any = pyramid.min <= pyramid.max;
	counters.push({ track: track.index, name: track.name, values: last - first, first: value[first],
		last: value[last - 1], min: any ? pyramid.min : NaN, max: any ? pyramid.max : NaN });
}

function countLosses(model, processes, from, to) {
	const { losses } = model;
	let lost = 0;
	for (let i = 0; i < losses.n && losses.begin[i] <= to; i++)
		if (losses.end[i] >= from && processes.has(losses.process[i]))
			lost += losses.count[i];
	return lost;
}

/*
 * Times are those inside of the area (total, self); avg, min and max are of whole slices, in the area or partly.
 * {from, to, duration, tracks: how many, slices: [{name, text, count, total, self, avg, min, max}], points: [{name,
 * text, count}], counters: [{track, name, values, first, last, min, max}], lost, coarse}
 */
export function statistics(model, selection) {
	const from = selection.from ?? 0;
	const to = selection.to ?? model.durationNs;
	const names = model.strings.length;
	const sums = new Sums(names);
	const points = new Float64Array(names);
	const counters = [];
	const processes = new Set();
	const tracks = model.tracks.filter((t) => selection.tracks === null || selection.tracks.has(t.index));
	for (const track of tracks) {
		processes.add(track.process);
		if (track.kind === 'counter') {
			addValues(counters, model, track, from, to);
			continue;
		}
		addSlices(sums, model, track, from, to);
		const { time, name } = model.instants;
		const [begin, end] = track.instants;
		for (let i = firstAbove(time, from - 0.5, begin, end); i < end && time[i] <= to; i++)
			points[name[i]]++;
	}
	const result = { from, to, duration: to - from, tracks: tracks.length, slices: [], points: [], counters,
		lost: countLosses(model, processes, from, to), coarse: tracks.some((t) => t.coarse) };
	for (let name = 0; name < names; name++) {
		if (sums.count[name])
			result.slices.push({ name, text: model.name(name), count: sums.count[name], total: sums.total[name],
				self: Math.max(0, sums.self[name]), avg: sums.whole[name] / sums.known[name],
				min: sums.min[name], max: sums.max[name] }); // not finite: of none is known how long it was
		if (points[name])
			result.points.push({ name, text: model.name(name), count: points[name] });
	}
	return result;
}
