// SPDX-License-Identifier: MIT
// hit.js - what is under a place of the timeline, and where the boxes of slices and points are.

import { POINTS_HEIGHT } from './layout.js';
import { firstAbove } from './rows.js';

const NEAR_PX = 3;
const LOOK_MAX = 4096; // slices looked at within a few pixels

/* The slice of a row at time, else the longest of those near. -1: none. */
function sliceNear(row, time, near) {
	const exact = row.sliceAt(time);
	let best = -1;
	let length = -1;
	const first = row.after(time - near);
	for (let i = first; i < row.n && i < first + LOOK_MAX && row.begin[i] <= time + near; i++) {
		if (row.slice[i] === exact && row.end[i] - row.begin[i] >= near)
			return exact;
		if (row.end[i] - row.begin[i] > length) {
			length = row.end[i] - row.begin[i];
			best = row.slice[i];
		}
	}
	return best;
}

/* Index of the time nearest to one, in [from, to) of an array in order; -1: none within near. */
function nearest(times, time, near, from, to) {
	const after = firstAbove(times, time, from, to);
	let best = -1;
	for (const i of [after - 1, after])
		if (i >= from && i < to && Math.abs(times[i] - time) <= near &&
		    (best < 0 || Math.abs(times[i] - time) < Math.abs(times[best] - time)))
			best = i;
	return best;
}

/* {slice} | {instant} | {value} | null. x, y: in the tracks' area, y from the top of all. */
export function itemAt(model, layout, view, x, y) {
	const item = layout.at(y);
	if (!item || item.isGroup || y > item.y + item.height)
		return null;
	const time = view.time(x);
	const { track } = item;
	if (track.kind === 'counter') {
		const i = firstAbove(model.values.time, time, ...track.values) - 1;
		return i >= track.values[0] ? { value: i } : null;
	}
	if (item.hasPoints && y < item.pointsY + POINTS_HEIGHT) {
		const i = nearest(model.instants.time, time, 6 * view.nsPerPx, ...track.instants);
		return i >= 0 ? { instant: i } : null;
	}
	const rows = model.rows(track);
	const depth = Math.floor((y - item.rowY(0)) / layout.rowHeight);
	if (depth < 0 || depth >= (item.open ? rows.length : Math.min(1, rows.length)))
		return null;
	const slice = sliceNear(rows[depth], time, NEAR_PX * view.nsPerPx);
	return slice >= 0 ? { slice } : null;
}

/* Where losses are drawn: [x0, x1] of each, one after the other. xOf(time); losers: of which processes, or null: of all. */
export function* lossBars(losses, xOf, width, losers = null) {
	let last = -10;
	for (let i = 0; i < losses.n && xOf(losses.begin[i]) < width; i++) {
		const x0 = Math.floor(xOf(losses.begin[i]));
		const x1 = Math.min(Math.max(Math.ceil(xOf(losses.end[i])), x0 + 3), width + 10);
		if (x1 <= last || (losers && !losers.includes(losses.process[i])))
			continue;
		yield [Math.max(x0, last), x1];
		last = x1;
	}
}

/* What the recording lost for the process at a place: rows of losses, or none. */
export function lossesAt(model, layout, view, x, y) {
	const item = layout.at(y);
	const found = [];
	if (!item || y > item.y + item.height)
		return found;
	const { losers } = item.group ?? item;
	const { losses } = model;
	const near = 2 * view.nsPerPx;
	const time = view.time(x);
	for (let i = 0; i < losses.n && losses.begin[i] <= time + near; i++)
		if (losers.includes(losses.process[i]) && losses.end[i] >= time - near)
			found.push(i);
	return found;
}

/* How many slices and points of the track at a place are not in the page: a row of model.omitted, -1: none there. */
export function omittedAt(model, layout, view, x, y) {
	const item = layout.at(y);
	if (!item || item.isGroup || y > item.y + item.height)
		return -1;
	const [from, to] = item.track.omitted;
	const i = firstAbove(model.omitted.begin, view.time(x), from, to) - 1;
	return i >= from && model.omitted.end[i] >= view.time(x) - 2 * view.nsPerPx ? i : -1;
}

/*
 * What an item is called, when it is, and on which track: {name: of a string, text: row of its fields or -1, track, from, to,
 * depth: of a slice}.
 */
export function placeOf(model, item) {
	const kind = Object.keys(item)[0];
	const table = model[`${kind}s`];
	const row = item[kind];
	const track = table.track[row];
	const from = (table.begin ?? table.time)[row];
	return { name: table.name?.[row] ?? model.tracks[track].nameId, text: table.text?.[row] ?? -1, track, from,
		to: from + (table.duration?.[row] ?? 0), depth: table.depth?.[row] ?? 0 };
}

/* Where it is drawn: {x, y, width, height}. null: it is folded away. */
export function boxOf(model, layout, view, item) {
	const place = placeOf(model, item);
	const line = layout.ofTrack[place.track];
	if (!line || !line.group.open)
		return null;
	const x = view.x(place.from);
	if ('slice' in item) {
		if (place.depth > 0 && !line.open)
			return null;
		return { x, y: line.rowY(place.depth), width: Math.max(view.x(place.to) - x, 2), height: layout.rowHeight - 1 };
	}
	if ('instant' in item)
		return { x: x - 5, y: line.pointsY, width: 10, height: POINTS_HEIGHT - 2 };
	return { x: x - 3, y: line.y + 2, width: 6, height: line.height - 5 };
}
