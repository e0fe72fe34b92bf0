// SPDX-License-Identifier: MIT
// arrows.js - from thread to thread: where a span across threads began and where it ended.

import { firstAbove } from './rows.js';

const SEEN_MAX = 150; // more of them at once would hide what they lead to: then those of what is chosen alone are drawn
const LOOK_MAX = 20000; // flows that are looked at in each frame
const FAR_PX = 4000;
const HEAD_PX = 7;

/* The row of model.flows of a slice; -1: it leads from no thread to another. */
export function flowOf(model, slice) {
	const { flows } = model;
	const at = firstAbove(flows.slice, slice - 1, 0, flows.n);
	return at < flows.n && flows.slice[at] === slice ? at : -1;
}

/* How far down a track something begins or ends: in the innermost slice of that time. */
function placeOn(model, layout, index, time) {
	const item = layout.ofTrack[index];
	if (!item.group.open)
		return item.group.y + item.group.height / 2;
	const rows = item.track.kind === 'counter' ? [] : model.rows(item.track);
	for (let depth = (item.open ? rows.length : Math.min(1, rows.length)) - 1; depth >= 0; depth--)
		if (rows[depth].sliceAt(time) >= 0)
			return item.rowY(depth) + layout.rowHeight / 2;
	return item.y + item.height / 2;
}

/* Draws a curve with a head from one place and time to another. */
export function drawArrow(ctx, { view }, x0, y0, x1, y1) {
	const inside = (x) => Math.max(-FAR_PX, Math.min(view.width + FAR_PX, x));
	const [from, to] = [inside(x0), inside(x1)];
	const bend = Math.max(14, (to - from) / 3);
	ctx.beginPath();
	ctx.moveTo(from, y0);
	ctx.bezierCurveTo(from + bend, y0, to - bend, y1, to - HEAD_PX, y1);
	ctx.stroke();
	ctx.beginPath();
	ctx.moveTo(to, y1);
	ctx.lineTo(to - HEAD_PX, y1 - HEAD_PX / 2);
	ctx.lineTo(to - HEAD_PX, y1 + HEAD_PX / 2);
	ctx.fill();
}

/* Flows in sight; null: too many. */
function inSight(model, view) {
	const { flows, slices } = model;
	if (flows.n > LOOK_MAX)
		return null;
	const found = [];
	for (let i = 0; i < flows.n; i++) {
		const begin = slices.begin[flows.slice[i]];
		if (begin < view.to && begin + slices.duration[flows.slice[i]] > view.from && found.push(i) > SEEN_MAX)
			return null;
	}
	return found;
}

/* Of a span across threads its own; of another slice those that begin or end in it. */
function flowsOf(model, item) {
	if (!item || !('slice' in item))
		return [];
	const own = flowOf(model, item.slice);
	const { flows, slices } = model;
	if (own >= 0)
		return [own];
	if (flows.n > LOOK_MAX)
		return [];
	const { track, begin, duration } = slices;
	const within = (index, time) => index === track[item.slice] && time >= begin[item.slice] &&
		time <= begin[item.slice] + duration[item.slice];
	const found = [];
	for (let i = 0; i < flows.n && found.length < SEEN_MAX; i++) {
		const slice = flows.slice[i];
		if (within(flows.from[i], begin[slice]) || within(flows.to[i], begin[slice] + duration[slice]))
			found.push(i);
	}
	return found;
}

/* From spans to those of other processes that began because of them. */
function drawLinks(ctx, { model, view, layout, theme }, scroll) {
	const { n, from, to, begin, end } = model.links;
	const found = [];
	for (let i = 0; i < n; i++)
		if (Math.min(begin[i], end[i]) < view.to && Math.max(begin[i], end[i]) > view.from && found.push(i) > SEEN_MAX)
			return;
	ctx.globalAlpha = 0.6;
	ctx.lineWidth = 1;
	for (const i of found) {
		ctx.strokeStyle = theme.stroke(model.tracks[from[i]].nameId);
		ctx.fillStyle = ctx.strokeStyle;
		drawArrow(ctx, { view }, view.x(begin[i]), placeOn(model, layout, from[i], begin[i]) - scroll, view.x(end[i]),
			placeOn(model, layout, to[i], end[i]) - scroll);
	}
	ctx.globalAlpha = 1;
}

/* state: as of overlay.js */
export function drawFlows(ctx, state, scroll) {
	const { model, view, layout, theme, item, hover } = state;
	const { flows, slices } = model;
	drawLinks(ctx, state, scroll);
	if (!flows.n)
		return;
	const strong = new Set([...flowsOf(model, item), ...flowsOf(model, hover)]);
	for (const i of new Set([...inSight(model, view) ?? [], ...strong])) {
		const slice = flows.slice[i];
		const begin = slices.begin[slice];
		const end = begin + slices.duration[slice];
		ctx.strokeStyle = theme.stroke(slices.name[slice]);
		ctx.fillStyle = ctx.strokeStyle;
		ctx.globalAlpha = strong.has(i) ? 1 : 0.45;
		ctx.lineWidth = strong.has(i) ? 2 : 1;
		drawArrow(ctx, state, view.x(begin), placeOn(model, layout, flows.from[i], begin) - scroll, view.x(end),
			placeOn(model, layout, flows.to[i], end) - scroll);
	}
	ctx.globalAlpha = 1;
}
