// SPDX-License-Identifier: MIT
// describe.js - slices, points, values and processes in words.

import { SLICE_ASYNC, SLICE_CALL, SLICE_CONTINUED, SLICE_END_LOST, SLICE_LEFT, SLICE_NO_EXIT, SLICE_OPEN,
	SLICE_RUNNING, SLICE_SPLIT } from '../data/data.js';
import { duration, number, relative } from '../data/format.js';
import { placeOf } from '../timeline/hit.js';

const KINDS = { [SLICE_CALL]: 'function call', [SLICE_ASYNC]: 'span across threads', [SLICE_RUNNING]: 'running' };

const FLAGS = [
	[SLICE_LEFT, 'left without an end: by longjmp, an exception or the like'],
	[SLICE_END_LOST, 'its end was lost: it may have ended before'],
	[SLICE_OPEN, 'not over at the end of the recording'],
	[SLICE_NO_EXIT, 'its exit cannot be seen'],
	[SLICE_SPLIT, 'goes on in another slice: spans of this thread overlap'],
	[SLICE_CONTINUED, 'begun in another slice: spans of this thread overlap'],
];

export function kindOf(model, slice) {
	return KINDS[model.slices.kind[slice]] ?? 'span';
}

export function flagsOf(model, slice) {
	return FLAGS.filter(([bit]) => model.slices.flags[slice] & bit).map(([, text]) => text);
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
	const { name: nameId, from, to, track, depth } = placeOf(model, item);
	const name = model.name(nameId);
	if ('value' in item)
		return `${name} is ${number(model.values.value[item.value])} from ${relative(from, 1)}`;
	const { title } = model.tracks[track];
	if ('instant' in item)
		return `${name}, point at ${relative(from, 1)}, ${title}`;
	return `${name}, ${kindOf(model, item.slice)}, ${duration(to - from)}, at ${relative(from, 1)}, level ${depth + 1}, ${title}`;
}
