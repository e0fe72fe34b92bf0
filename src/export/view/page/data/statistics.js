// SPDX-License-Identifier: MIT
// statistics.js - what is in a selected area: per name of slices count and times, points, counters, losses.

import { SLICE_CONTINUED } from './data.js';
import { wholeDurations } from '../panes/distributions.js';
import { firstAbove } from '../timeline/rows.js';

function addSlices(sumOf, model, track, from, to) {
	const { slices } = model;
	const whole = wholeDurations(model);
	const rows = model.rows(track);
	for (let depth = 0; depth < rows.length; depth++) {
		const row = rows[depth];
		// One that ends where the area begins is not in it, unless it has no length.
		const first = row.after(from);
		const last = firstAbove(row.begin, to, first, row.n);
		for (let i = first; i < last; i++) {
			const slice = row.slice[i];
			const sum = sumOf(slices.name[slice]);
			const duration = slices.duration[slice];
			const begin = row.begin[i];
			const end = begin + duration;
			// Of pieces that follow each other the first in the area stands for all.
			if (!(slices.flags[slice] & SLICE_CONTINUED) || begin <= from)
				sum.count++;
			if (!Number.isNaN(whole[slice])) {
				sum.known++;
				sum.whole += whole[slice];
				sum.min = Math.min(sum.min, whole[slice]);
				sum.max = Math.max(sum.max, whole[slice]);
			}
			const part = Math.min(end, to) - Math.max(begin, from);
			sum.total += part;
			if (part === duration)
				sum.self += slices.self[slice];
			else if (track.coarse) // those inside of it are not all there
				sum.self += (slices.self[slice] * part) / duration;
			else if (track.kind === 'async' || depth + 1 === rows.length)
				sum.self += part;
			else
				sum.self += part - rows[depth + 1].coverage(Math.max(begin, from), Math.min(end, to));
		}
	}
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
 * slices: times inside the area, {name, text, count, total, self}; whole: those of them whose length is known, with the
 * time that is outside as well, {name, text, known: how many, whole: their sum, avg, min, max}.
 * {from, to, duration, tracks: how many, slices, whole, points: [{name, text, points}], counters: [{track, name, values,
 * first, last, min, max}], lost, coarse}
 */
export function statistics(model, selection) {
	const from = selection.from ?? 0;
	const to = selection.to ?? model.durationNs;
	const tracks = model.tracks.filter((t) => selection.tracks === null || selection.tracks.has(t.index));
	const sums = new Map();
	const sumOf = (name) => {
		if (!sums.has(name))
			sums.set(name, { name, text: model.name(name), count: 0, points: 0, total: 0, self: 0, known: 0, whole: 0,
				min: Infinity, max: -Infinity }); // not finite: no duration is known
		return sums.get(name);
	};
	const counters = [];
	for (const track of tracks) {
		if (track.kind === 'counter') {
			addValues(counters, model, track, from, to);
			continue;
		}
		addSlices(sumOf, model, track, from, to);
		const { time, name } = model.instants;
		const [begin, end] = track.instants;
		for (let i = firstAbove(time, from - 0.5, begin, end); i < end && time[i] <= to; i++)
			sumOf(name[i]).points++;
	}
	const found = [...sums.values()];
	for (const sum of found) {
		sum.self = Math.max(0, sum.self);
		sum.avg = sum.whole / sum.known;
	}
	return { from, to, duration: to - from, tracks: tracks.length, slices: found.filter((sum) => sum.count || sum.total),
		whole: found.filter((sum) => sum.known),
		points: found.filter((sum) => sum.points), counters,
		lost: countLosses(model, new Set(tracks.map((track) => track.process)), from, to), coarse: tracks.some((t) => t.coarse) };
}
