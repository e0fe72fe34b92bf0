// SPDX-License-Identifier: MIT
// layout.js - which tracks stand where: groups (CPUs, processes), below each its threads, async spans, counters.

import { shownId } from '../data/data.js';
import { firstAbove } from './rows.js';

export const ROW_HEIGHT = 18; // of slices, at least; Layout.rowHeight is what it is
export const POINTS_HEIGHT = 14;
export const COUNTER_HEIGHT = 46; // at least
export const HEADER_HEIGHT = 28;
export const PADDING = 4;

const ROW_MOST = 64; // so tall do they become where there is room
const COUNTER_MOST = 200;

const TRACKS_OPEN_MAX = 300; // more than that: all but the first groups begin closed

const ORDER = { cpu: 0, thread: 1, async: 2, counter: 3 };

function hasAny([from, to]) {
	return to > from;
}

/* One line of the page: a group's head, or a track. */
class Item {
	constructor(layout, group, track) {
		this.layout = layout;
		this.group = group; // null: it is a group
		this.track = track; // null: it is a group
		this.children = []; // of a group
		this.process = -1; // of a group
		this.losers = []; // of a group: processes whose losses are missing here
		this.open = true;
		this.y = 0;
		this.height = 0;
		this.label = '';
		this.detail = '';
		this.position = 0; // among its siblings, from 1
	}

	get isGroup() {
		return this.track === null;
	}

	/* Can it be folded? */
	get folds() {
		return this.isGroup || this.rowCount > 1;
	}

	get rowCount() {
		return this.track.kind === 'counter' ? 1 : this.layout.model.rows(this.track).length;
	}

	get hasPoints() {
		return hasAny(this.track.instants);
	}

	get pointsY() {
		return this.y + PADDING;
	}

	/* Top of the row at this depth. */
	rowY(depth) {
		const at = this.y + PADDING + (this.hasPoints ? POINTS_HEIGHT : 0);
		return this.open ? at + depth * this.layout.rowHeight : at;
	}

	measure() {
		if (this.isGroup)
			return HEADER_HEIGHT;
		if (this.track.kind === 'counter')
			return this.layout.counterHeight;
		const height = (this.hasPoints ? POINTS_HEIGHT : 0) + this.rowsShown * this.layout.rowHeight;
		return Math.max(height, ROW_HEIGHT) + 2 * PADDING;
	}

	get rowsShown() {
		return this.open ? this.rowCount : Math.min(this.rowCount, 1);
	}
}

export class Layout {
	constructor(model) {
		this.model = model;
		this.groups = [];
		this.items = []; // seen, from top to bottom
		this.ofTrack = new Array(model.tracks.length);
		this.height = 0;
		this.room = 0; // that rows may grow to use
		this.least = 0; // that they need
		this.rowHeight = ROW_HEIGHT;
		this.counterHeight = COUNTER_HEIGHT;
		this.generation = 0; // of what update() made
		this.#makeGroups();
		let seen = 0;
		for (const [i, group] of this.groups.entries()) {
			seen += group.children.length;
			group.open = i === 0 || seen <= TRACKS_OPEN_MAX;
		}
		this.update();
	}

	#makeGroups() {
		const byProcess = new Map();
		for (const track of this.model.tracks) {
			const key = track.kind === 'cpu' ? -2 : track.process;
			if (!byProcess.has(key))
				byProcess.set(key, []);
			byProcess.get(key).push(track);
		}
		// CPUs first, then programs, the kernel, what belongs to no process.
		const rank = (key) => {
			if (key < 0)
				return key === -2 ? -1 : Infinity;
			return this.model.processes[key]?.kernel ? 1e9 + key : key;
		};
		for (const key of [...byProcess.keys()].sort((a, b) => rank(a) - rank(b)))
			this.#makeGroup(key, byProcess.get(key));
	}

	#makeGroup(key, tracks) {
		const group = new Item(this, null, null);
		const process = this.model.processes[key];
		group.process = key;
		// What ran on CPUs is known by the kernel.
		group.losers = key !== -2 ? [key] : this.model.processes.flatMap((p, i) => (p.kernel ? [i] : []));
		group.label = key === -2 ? 'CPUs' : process ? process.comm || process.exe || 'process' : 'other';
		group.detail = key === -2 ? `${tracks.length}` : process && !process.kernel ? `${process.pid}` : '';
		if (process?.kernel)
			group.label = process.comm || 'kernel';
		tracks.sort((a, b) => ORDER[a.kind] - ORDER[b.kind] || (shownId(b.tid) === b.pid) - (shownId(a.tid) === a.pid) ||
			a.cpu - b.cpu || a.tid - b.tid || a.index - b.index);
		for (const track of tracks) {
			const item = new Item(this, group, track);
			item.label = track.name || (track.kind === 'thread' ? 'thread' : '(no name)');
			item.detail = (track.kind === 'thread' ? `${shownId(track.tid)}` : '') + (track.coarse ? ' ≈' : '');
			item.position = group.children.push(item);
			this.ofTrack[track.index] = item;
		}
		group.position = this.groups.push(group);
	}

	/* Rows grow until they use this height, or are tall enough. */
	fit(room) {
		if (room === this.room)
			return;
		this.room = room;
		this.update();
	}

	/* Rows and counters grow alike; where rows are as tall as they become, counters have the rest. */
	#grow() {
		this.rowHeight = ROW_HEIGHT;
		this.counterHeight = COUNTER_HEIGHT;
		const lines = this.groups.flatMap((group) => (group.open ? [group, ...group.children] : [group]));
		this.least = lines.reduce((sum, item) => sum + item.measure(), 0);
		const free = this.room - this.least;
		const tracks = lines.filter((item) => !item.isGroup);
		const counters = tracks.filter((item) => item.track.kind === 'counter').length;
		const rows = tracks.reduce((n, item) => n + (item.track.kind === 'counter' ? 0 : item.rowsShown), 0);
		if (free <= 0 || rows + counters === 0)
			return;
		const grown = Math.min(ROW_MOST / ROW_HEIGHT, 1 + free / (rows * ROW_HEIGHT + counters * COUNTER_HEIGHT));
		this.rowHeight = Math.floor(ROW_HEIGHT * grown);
		if (counters) {
			const rest = free - rows * (this.rowHeight - ROW_HEIGHT);
			this.counterHeight = Math.min(COUNTER_MOST, COUNTER_HEIGHT + Math.floor(rest / counters));
		}
	}

	/* After something was folded, or there is more room or less. */
	update() {
		let y = 0;
		this.#grow();
		this.items = [];
		const add = (item) => {
			item.y = y;
			item.height = item.measure();
			y += item.height;
			this.items.push(item);
		};
		for (const group of this.groups) {
			add(group);
			if (group.open)
				group.children.forEach(add);
			group.bottom = y;
		}
		this.height = y;
		this.tops = this.items.map((item) => item.y);
		this.generation++;
	}

	/* Index of the item at y, or the nearest. */
	indexAt(y) {
		return Math.max(0, firstAbove(this.tops, y, 0, this.tops.length) - 1);
	}

	at(y) {
		return this.items[this.indexAt(y)];
	}

	between(y0, y1) {
		return this.items.slice(this.indexAt(Math.min(y0, y1)), this.indexAt(Math.max(y0, y1)) + 1);
	}

	/* Tracks whose items touch y0 … y1; a closed group stands for all of its own. */
	tracksBetween(y0, y1) {
		const touched = this.between(y0, y1).flatMap((item) => (!item.isGroup ? [item] : item.open ? [] : item.children));
		return new Set(touched.map((item) => item.track.index));
	}

	/* Unfolds what hides a track's row at this depth. */
	show(track, depth) {
		const item = this.ofTrack[track.index];
		if (!item || (item.group.open && (item.open || depth === 0)))
			return item;
		item.group.open = true;
		if (depth > 0)
			item.open = true;
		this.update();
		return item;
	}
}
