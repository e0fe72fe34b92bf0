// SPDX-License-Identifier: MIT
// call_paths.js - slices as a tree: which names inside of which, how often, how long. In columns, for a recording has
// a million slices and as many paths as it likes; what is drawn of it is few.
//
// A node's name is the number of a string; from strings.length on that of a track.

import { SLICE_CALL, SLICE_CONTINUED } from './data.js';

export const DEPTH_MAX = 400;
const INVERSE_STEPS = 20e6;

export class PathTree {
	constructor(model) {
		Object.assign(this, { n: 0, left: 0, // slices too deep to be in; INVERSE: paths too many
			name: [], parent: [], depth: [], count: [], total: [], self: [], longest: [], longestNs: [] });
		this.names = model.strings.length + model.tracks.length;
		this.ids = new Map();
		this.child(-1, 0); // 0: all
	}

	child(parent, name) {
		const key = parent * this.names + name;
		const known = this.ids.get(key);
		if (known !== undefined)
			return known;
		const id = this.n++;
		this.ids.set(key, id);
		this.name.push(name);
		this.parent.push(parent);
		this.depth.push(id ? this.depth[parent] + 1 : 0);
		this.longest.push(-1);
		for (const column of [this.count, this.total, this.self, this.longestNs])
			column.push(0);
		return id;
	}

	/* -1: there is none. */
	find(parent, name) {
		return this.ids.get(parent * this.names + name) ?? -1;
	}

	seen(id, row, ns) {
		if (row >= 0 && (this.longest[id] < 0 || ns > this.longestNs[id])) {
			this.longest[id] = row;
			this.longestNs[id] = ns;
		}
	}
}

/*
 * What is on tracks of a kind ("thread", "async", "cpu"). range: of rangeOf(), or null. byTrack: each track for itself.
 * Slices that reach over the range's borders count for as long as they are in it.
 */
export function callPaths(model, { kind = 'thread', range = null, byTrack = false } = {}) {
	const { slices, tracks, strings } = model;
	const tree = new PathTree(model);
	const nodes = new Int32Array(DEPTH_MAX + 1); // nodes[d]: what a slice of depth d is inside of
	const cut = new Uint8Array(DEPTH_MAX + 1);
	const from = range ? range.from : -Infinity;
	const to = range ? range.to : Infinity;
	for (const track of tracks) {
		if (track.kind !== kind || (range && !range.tracks[track.index]))
			continue;
		let level = 0;
		nodes[0] = -1;
		for (let row = track.slices[0]; row < track.slices[1]; row++) {
			const begin = slices.begin[row];
			const end = begin + slices.duration[row];
			if (begin > to || end < from)
				continue;
			if (nodes[0] < 0)
				nodes[0] = byTrack ? tree.child(0, strings.length + track.index) : 0;
			// Outer ones come before inner ones; async slices and turns on a CPU are inside of none.
			const depth = slices.kind[row] <= SLICE_CALL ? Math.min(slices.depth[row], level) : 0;
			if (depth >= DEPTH_MAX) {
				tree.left++;
				continue;
			}
			const partly = begin < from || end > to;
			const ns = partly ? Math.min(end, to) - Math.max(begin, from) : slices.duration[row];
			const id = tree.child(nodes[depth], slices.name[row]);
			tree.total[id] += ns;
			tree.self[id] += partly ? ns : slices.self[row];
			if (!(slices.flags[row] & SLICE_CONTINUED) && begin < to && (end > from || begin >= from))
				tree.count[id]++;
			tree.seen(id, row, ns);
			if (depth === 0)
				tree.total[nodes[0]] += ns;
			else if (cut[depth])
				tree.self[nodes[depth]] -= ns;
			if (depth === 0 && byTrack)
				tree.total[0] += ns;
			level = depth + 1;
			if (level < nodes.length) {
				nodes[level] = id;
				cut[level] = partly ? 1 : 0;
			}
		}
	}
	return tree;
}

/* The tree by callers: below all (or below each track) what took time itself, below that what called it. */
export function inverse(model, tree, byTrack) {
	const made = new PathTree(model);
	made.left = tree.left;
	const top = byTrack ? 1 : 0; // depth of the nodes that are tracks, if there are
	let ids = new Uint32Array(tree.n);
	let n = 0;
	let steps = 0;
	for (let id = 1; id < tree.n; id++) {
		if (tree.depth[id] > top && tree.self[id] > 0) {
			ids[n++] = id;
			steps += tree.depth[id];
		}
	}
	ids = ids.subarray(0, n);
	if (steps > INVERSE_STEPS)
		ids.sort((a, b) => tree.self[b] - tree.self[a]);
	steps = 0;
	for (const leaf of ids) {
		const ns = tree.self[leaf];
		made.total[0] += ns;
		steps += tree.depth[leaf];
		if (steps > INVERSE_STEPS) {
			made.left++;
			continue;
		}
		let at = 0;
		if (byTrack) {
			let track = leaf;
			while (tree.depth[track] > 1)
				track = tree.parent[track];
			at = made.child(0, tree.name[track]);
			made.total[at] += ns;
		}
		for (let id = leaf; tree.depth[id] > top; id = tree.parent[id]) {
			at = made.child(at, tree.name[id]);
			made.total[at] += ns;
			made.count[at] += tree.count[leaf];
			made.seen(at, tree.longest[leaf], tree.longestNs[leaf]);
		}
		made.self[at] += ns;
	}
	return made;
}

/*
 * Adds to an inverse what is not in the page: how long names took themselves is known of all slices (aggregates), but not
 * who called them. options: of callPaths(); within a stretch of time it is not known either.
 */
export function addHidden(model, made, { kind = 'thread', range = null, byTrack = false } = {}) {
	const { aggregates, slices, strings, tracks } = model;
	if (!aggregates?.n || range?.timed)
		return;
	const shown = new Map();
	const keyOf = (track, name) => track * strings.length + name;
	for (let row = 0; row < slices.n; row++) {
		const key = keyOf(slices.track[row], slices.name[row]);
		const sum = shown.get(key) ?? { self: 0, count: 0 };
		sum.self += slices.self[row];
		sum.count++;
		shown.set(key, sum);
	}
	for (let i = 0; i < aggregates.n; i++) {
		const track = tracks[aggregates.track[i]];
		if (track?.kind !== kind || (range && !range.tracks[track.index]))
			continue;
		const { self, count } = shown.get(keyOf(track.index, aggregates.name[i])) ?? { self: 0, count: 0 };
		const hidden = aggregates.self[i] - self;
		if (!(hidden > 0))
			continue;
		const top = byTrack ? made.child(0, strings.length + track.index) : 0;
		const id = made.child(top, aggregates.name[i]);
		made.total[id] += hidden;
		made.count[id] += Math.max(0, aggregates.count[i] - count);
		made.total[0] += hidden;
		if (top)
			made.total[top] += hidden;
	}
}

/*
 * The nodes that are worth drawing when zoomed to a node: those inside of it, the widest first, at most limit, and none
 * narrower than 1/least of it. Each comes after the one it is inside of. cut: how many are left out.
 */
export function widest(tree, zoom, limit, least) {
	const inside = new Uint8Array(tree.n);
	const floor = tree.total[zoom] / least;
	const ids = [];
	let cut = 0;
	inside[zoom] = 1;
	for (let id = zoom + 1; id < tree.n; id++) {
		if (!inside[tree.parent[id]])
			continue;
		inside[id] = 1;
		if (tree.total[id] > 0 && tree.total[id] >= floor)
			ids.push(id);
		else
			cut++;
	}
	// An inner one is never wider, and always has the greater number.
	ids.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
	cut += Math.max(0, ids.length - limit);
	return { ids: ids.slice(0, limit), cut };
}

/* Time of the nodes whose names match, each path once. names: (name) => boolean. */
export function matching(tree, names) {
	const in_ = new Uint8Array(tree.n);
	let ns = 0;
	let nodes = 0;
	for (let id = 1; id < tree.n; id++) {
		const own = names(tree.name[id]);
		if (own && !in_[tree.parent[id]])
			ns += tree.total[id];
		if (own)
			nodes++;
		in_[id] = own || in_[tree.parent[id]] ? 1 : 0;
	}
	return { ns, nodes };
}
