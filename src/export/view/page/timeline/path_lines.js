// SPDX-License-Identifier: MIT
// path_lines.js - the critical path of what is chosen, as lines below the tracks that it leads over; and who woke a thread that is
// chosen on a CPU.

import { drawArrow, flowOf } from './arrows.js';
import { criticalPath, RUNS, WAITS_FOR_CPU } from '../data/critical_path.js';
import { SLICE_ASYNC, SLICE_RUNNING } from '../data/data.js';
import { boxOf } from './hit.js';

const LINE_PX = 4;

/* The thread that a slice's time is of: of a span across threads the one on which it ended. 0: not known. */
function threadOf(model, slice) {
	const { kind, track } = model.slices;
	if (kind[slice] === SLICE_ASYNC) {
		const flow = flowOf(model, slice);
		return flow < 0 ? 0 : model.tracks[model.flows.to[flow]].tid;
	}
	return kind[slice] === SLICE_RUNNING ? 0 : model.tracks[track[slice]].tid;
}

/* {segments, cut} of criticalPath(); null: the recording does not know it, or it was the thread itself all the time. */
export function pathOf(model, item) {
	if (!model.threads || !item || !('slice' in item))
		return null;
	if (model.path?.slice !== item.slice) {
		const { begin, duration } = model.slices;
		const thread = threadOf(model, item.slice);
		const found = thread ? criticalPath(model.threads, thread, begin[item.slice], begin[item.slice] + duration[item.slice]) : null;
		model.path = { slice: item.slice, found: found?.segments.some(({ what }) => what !== RUNS) ? found : null };
	}
	return model.path.found;
}

export const colorOf = (theme, what) => (what === RUNS ? theme.accent : what === WAITS_FOR_CPU ? theme.match : theme.loss);

/* Where a thread's line is: below its own track, or that of the CPU on which it ran. null: on neither. */
function lineY({ model, layout }, thread, time) {
	const track = model.threads.track(thread) ?? model.tracks[model.slices.track[model.threads.runAt(thread, time)]];
	const item = track && layout.ofTrack[track.index];
	if (!item)
		return null;
	return item.group.open ? item.y + item.height - LINE_PX - 1 : item.group.y + item.group.height - LINE_PX - 1;
}

function drawWaker(ctx, state, scroll) {
	const { model, view, layout, theme, item } = state;
	const wait = model.slices.kind[item.slice] === SLICE_RUNNING ? model.threads.waitBefore(item.slice) : null;
	const waker = wait?.waker ? model.threads.runAt(wait.waker, wait.woken) : -1;
	if (waker < 0)
		return;
	const [from, to] = [boxOf(model, layout, view, { slice: waker }), boxOf(model, layout, view, item)];
	if (!from || !to)
		return;
	ctx.strokeStyle = theme.text;
	ctx.fillStyle = theme.text;
	ctx.lineWidth = 1.5;
	drawArrow(ctx, state, view.x(wait.woken), from.y + from.height / 2 - scroll, view.x(wait.to), to.y + to.height / 2 - scroll);
}

/* state: as of overlay.js */
export function drawPath(ctx, state, scroll) {
	const { model, view, theme, item } = state;
	if (!model.threads || !item || !('slice' in item))
		return;
	drawWaker(ctx, state, scroll);
	const path = pathOf(model, item);
	let before = null;
	for (const { thread, from, to, what } of path?.segments ?? []) {
		const y = lineY(state, thread, from);
		if (y === null || from > view.to || to < view.from) {
			before = null;
			continue;
		}
		ctx.fillStyle = colorOf(theme, what);
		ctx.fillRect(view.x(from), y - scroll, Math.max(1, view.x(to) - view.x(from)), LINE_PX);
		if (before !== null && before !== y) {
			ctx.strokeStyle = theme.dim;
			ctx.lineWidth = 1;
			ctx.beginPath();
			ctx.moveTo(view.x(from), before + LINE_PX / 2 - scroll);
			ctx.lineTo(view.x(from), y + LINE_PX / 2 - scroll);
			ctx.stroke();
		}
		before = y;
	}
}
