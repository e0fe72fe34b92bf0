// SPDX-License-Identifier: MIT
// overlay.js - what changes while the tracks stay: pointer, chosen item, selected area, marks.

import { drawFlows } from './timeline/arrows.js';
import { begin, bubble } from './timeline/canvas.js';
import { duration } from './data/format.js';
import { boxOf } from './timeline/hit.js';
import { drawPath } from './timeline/path_lines.js';

function isSelected(item, tracks) {
	if (item.isGroup)
		return !item.open && item.children.some((child) => tracks.has(child.track.index));
	return tracks.has(item.track.index);
}

function drawArea(ctx, { view, layout, selection, theme }, scroll, height) {
	const { from, to, tracks } = selection;
	if (from === null && tracks === null)
		return;
	const x0 = from === null ? 0 : view.x(from);
	const x1 = to === null ? view.width : view.x(to);
	ctx.fillStyle = theme.select;
	ctx.globalAlpha = 0.13;
	if (tracks === null)
		ctx.fillRect(x0, 0, x1 - x0, height); // also below the tracks
	else
		for (const item of layout.between(scroll, scroll + height))
			if (isSelected(item, tracks))
				ctx.fillRect(x0, item.y - scroll, x1 - x0, item.height);
	ctx.globalAlpha = 0.8;
	if (from !== null) {
		ctx.fillRect(Math.round(x0) - 0.5, 0, 1, height);
		ctx.fillRect(Math.round(x1) - 0.5, 0, 1, height);
	}
	ctx.globalAlpha = 1;
}

function drawMarks(ctx, { view, marks, theme }, height) {
	ctx.fillStyle = theme.match;
	for (const mark of marks) {
		ctx.globalAlpha = 0.85;
		ctx.fillRect(Math.round(view.x(mark.from)), 0, 1, height);
		if (mark.to > mark.from)
			ctx.fillRect(Math.round(view.x(mark.to)), 0, 1, height);
	}
	ctx.globalAlpha = 1;
}

function outline(ctx, box, scroll, width, color, line) {
	if (!box)
		return;
	const x0 = Math.max(box.x, -6);
	const x1 = Math.min(box.x + box.width, width + 6);
	if (x1 < x0)
		return;
	ctx.strokeStyle = color;
	ctx.lineWidth = line;
	ctx.beginPath();
	ctx.roundRect(x0 - 0.5, box.y - scroll - 0.5, Math.max(x1 - x0, 3), box.height + 1, 3);
	ctx.stroke();
}

function drawValue(ctx, { model, view, layout, theme }, item, scroll) {
	const { track: tracks, time, value } = model.values;
	const track = model.tracks[tracks[item.value]];
	const line = layout.ofTrack[track.index];
	if (!line?.group.open)
		return;
	const { part } = model.counterScale(track);
	const bottom = line.y + line.height - 4;
	const y = bottom - (part(value[item.value]) || 0) * (line.height - 10) - scroll;
	ctx.fillStyle = theme.accent;
	ctx.beginPath();
	ctx.arc(view.x(time[item.value]), y, 4, 0, 7);
	ctx.fill();
}

/* state: {model, view, layout, theme, selection, marks, item, hover, pointerX (or null), measuring} */
export function drawOverlay(canvas, state, scroll, height) {
	const { model, view, layout, theme } = state;
	const ctx = begin(canvas, view.width, height);
	drawArea(ctx, state, scroll, height);
	drawMarks(ctx, state, height);
	drawFlows(ctx, state, scroll);
	drawPath(ctx, state, scroll);
	for (const [item, color, line] of [[state.hover, theme.dim, 1], [state.item, theme.accent, 2]]) {
		if (!item)
			continue;
		if ('value' in item)
			drawValue(ctx, state, item, scroll);
		else
			outline(ctx, boxOf(model, layout, view, item), scroll, view.width, color, line);
	}
	if (state.pointerX !== null) {
		ctx.fillStyle = theme.dim;
		ctx.globalAlpha = 0.5;
		ctx.fillRect(Math.round(state.pointerX), 0, 1, height);
		ctx.globalAlpha = 1;
	}
	const { from, to } = state.selection;
	if (state.measuring && from !== null)
		bubble(ctx, duration(to - from), view.x((from + to) / 2), 16, view.width, theme.select, theme.back);
}
