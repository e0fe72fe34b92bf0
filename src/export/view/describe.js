// SPDX-License-Identifier: MIT
// describe.js - slices, points, values and tracks in words.

import { SLICE_ASYNC, SLICE_CALL, SLICE_CONTINUED, SLICE_LEFT, SLICE_NO_EXIT, SLICE_OPEN, SLICE_RUNNING,
	SLICE_SPLIT } from './data.js';
import { duration, number, relative } from './format.js';

const KINDS = { [SLICE_CALL]: 'function call', [SLICE_ASYNC]: 'span across threads', [SLICE_RUNNING]: 'running' };

const FLAGS = [
	[SLICE_LEFT, 'left without an end: by longjmp, an exception or the like, or its end was lost'],
	[SLICE_OPEN, 'not over at the end of the recording'],
	[SLICE_NO_EXIT, 'its exit cannot be seen'],
	[SLICE_SPLIT, 'goes on in another slice: spans of this thread overlap'],
	[SLICE_CONTINUED, 'begun in another slice: spans of this thread overlap'],
];

export function kindOf(model, item) {
	if ('instant' in item)
		return 'point';
	if ('value' in item)
		return 'value';
	return KINDS[model.slices.kind[item.slice]] ?? 'span';
}

export function flagsOf(model, item) {
	return 'slice' in item ? FLAGS.filter(([bit]) => model.slices.flags[item.slice] & bit).map(([, text]) => text) : [];
}

export function nameOf(model, item) {
	if ('slice' in item)
		return model.name(model.slices.name[item.slice]);
	if ('instant' in item)
		return model.name(model.instants.name[item.instant]);
	return model.tracks[model.values.track[item.value]].name;
}

export function trackName(track) {
	return track.kind === 'thread' ? `${track.name || 'thread'} ${track.tid}` : track.name;
}

export function processName(model, track) {
	const process = model.processes[track.process];
	if (!process)
		return '';
	return process.kernel ? process.comm || 'kernel' : `${process.comm || process.exe} ${process.pid}`;
}

/* The place in the source, if the fields have one ("file.c:123"). */
export function sourceOf(text) {
	return /(?:^|[\s="'(])((?:[\w.+-]*\/)*[\w.+-]+\.(?:c|cc|cpp|cxx|h|hh|hpp|rs|go|S|py):\d+)/.exec(text)?.[1] ?? '';
}

/* One sentence, for screen readers. */
export function sentence(model, item) {
	const name = nameOf(model, item) || 'without name';
	if ('value' in item) {
		const { time, value } = model.values;
		return `${name} is ${number(value[item.value])} from ${relative(time[item.value], 1)}`;
	}
	if ('instant' in item) {
		const { time, track } = model.instants;
		return `${name}, point at ${relative(time[item.instant], 1)}, ${trackName(model.tracks[track[item.instant]])}`;
	}
	const { begin, duration: durations, depth, track } = model.slices;
	const row = item.slice;
	return `${name}, ${kindOf(model, item)}, ${duration(durations[row])}, at ${relative(begin[row], 1)}, ` +
		`level ${depth[row] + 1}, ${trackName(model.tracks[track[row]])}`;
}
