// SPDX-License-Identifier: MIT
//
// test_panes_model.mjs - what the panes compute from a recording, without a browser: call paths and their inverse,
// distributions, the order of rows, each compared with a simple computation of the same.
import assert from 'node:assert/strict';
import { DEPTH_MAX, addHidden, callPaths, inverse, matching, widest } from '../../../src/export/view/page/data/call_paths.js';
import { Model, takeApart } from '../../../src/export/view/page/data/data.js';
import { bucketBegin, bucketOf, distributions, figuresOf, heightsOf, thinValues } from '../../../src/export/view/page/panes/distributions.js';
import { ranksOf } from '../../../src/export/view/page/panes/event_rows.js';
import { rangeOf } from '../../../src/export/view/page/panes/pane_tools.js';
import { bare, makeModel } from './make_model.mjs';

const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b)), `${what}: ${a} is not ${b}`);

function modelOf(events, seed) {
	const { main } = makeModel(events, seed);
	return new Model(takeApart(main.buffer.slice(main.byteOffset, main.byteOffset + main.length)));
}

/* A model of a few slices: {track, name, begin, duration, self, depth, kind, flags}; names are their own strings. */
function smallModel(rows, tracks, more = {}) {
	const strings = [...new Set([...tracks.map((t) => t.name), ...rows.map((r) => r.name)])];
	const index = (text) => strings.indexOf(text);
	const column = (key, type, fallback = 0) => type.from(rows, (row) => row[key] ?? fallback);
	const slices = { n: rows.length, name: Uint32Array.from(rows, (row) => index(row.name)), track: column('track', Uint32Array),
		kind: column('kind', Uint8Array), flags: column('flags', Uint8Array), depth: column('depth', Uint16Array),
		begin: column('begin', Float64Array), duration: column('duration', Float64Array), self: column('self', Float64Array),
		text: column('text', Int32Array, -1), id: column('id', Float64Array) };
	return new Model(bare({ strings, duration_ns: 1000,
		tracks: tracks.map((t) => ({ kind: 'thread', tid: 1, depth: 9, ...t, name: index(t.name) })) }, { slices, ...more }));
}

function pathOf(model, tree, id) {
	const names = [];
	for (; id > 0; id = tree.parent[id])
		names.unshift(model.strings[tree.name[id]] ?? `track ${tree.name[id] - model.strings.length}`);
	return names.join(';');
}

function asObject(model, tree) {
	const found = {};
	for (let id = 1; id < tree.n; id++)
		found[pathOf(model, tree, id)] = [tree.count[id], tree.total[id], tree.self[id]];
	return found;
}

function testPathsByHand() {
	const model = smallModel([
		{ track: 0, name: 'a', begin: 0, duration: 100, self: 40, depth: 0 },
		{ track: 0, name: 'b', begin: 10, duration: 50, self: 50, depth: 1 },
		{ track: 0, name: 'b', begin: 70, duration: 10, self: 10, depth: 1 },
		{ track: 0, name: 'b', begin: 200, duration: 30, self: 30, depth: 0 },
		{ track: 1, name: 'a', begin: 0, duration: 20, self: 15, depth: 0 },
		{ track: 1, name: 'b', begin: 5, duration: 5, self: 5, depth: 1 },
	], [{ name: 't0' }, { name: 't1' }]);
	const tree = callPaths(model);
	assert.deepEqual(asObject(model, tree), { a: [2, 120, 55], 'a;b': [3, 65, 65], b: [1, 30, 30] });
	assert.equal(tree.total[0], 150);
	assert.equal(tree.longest[tree.child(0, model.strings.indexOf('a'))], 0);
	assert.deepEqual(asObject(model, inverse(model, tree, false)),
		{ a: [2, 55, 55], b: [4, 95, 30], 'b;a': [3, 65, 65] });
	const byTrack = callPaths(model, { byTrack: true });
	assert.equal(byTrack.total[0], 150);
	assert.deepEqual(asObject(model, byTrack)['track 1;a;b'], [1, 5, 5]);
	assert.deepEqual(asObject(model, inverse(model, byTrack, true))['track 0;b;a'], [2, 60, 60]);
	// 40 … 75: 35 of a, of which b has 20 + 5
	const range = rangeOf(model, { from: 40, to: 75, tracks: new Set([0]) });
	assert.deepEqual(asObject(model, callPaths(model, { range })), { a: [1, 35, 10], 'a;b': [2, 25, 25] });
	assert.deepEqual(matching(tree, (name) => model.strings[name] === 'b'), { ns: 95, nodes: 2 });
	assert.deepEqual(matching(tree, (name) => model.strings[name] === 'a'), { ns: 120, nodes: 1 });
	assert.deepEqual(matching(tree, () => true), { ns: 150, nodes: 3 });
}

function testDeepAndBroken() {
	const rows = [];
	for (let depth = 0; depth < DEPTH_MAX + 50; depth++)
		rows.push({ track: 0, name: 'f', begin: depth, duration: 2000 - 2 * depth, self: 2, depth });
	const tree = callPaths(smallModel(rows, [{ name: 't' }]));
	assert.equal(tree.n, DEPTH_MAX + 1);
	assert.equal(tree.left, 50);
	// A slice at a depth to which no parent leads is put at the next depth that there is.
	const odd = smallModel([{ track: 0, name: 'x', begin: 0, duration: 10, depth: 7 }], [{ name: 't' }]);
	assert.deepEqual(Object.keys(asObject(odd, callPaths(odd))), ['x']);
}

function testPathsAgainstSums() {
	const model = modelOf(8000, 3);
	const { slices, tracks } = model;
	for (const range of [null, rangeOf(model, { from: 3e8, to: 1.1e9 }), rangeOf(model, { tracks: new Set([0, 2]) })]) {
		const tree = callPaths(model, { range });
		const back = inverse(model, tree, false);
		const total = new Map();
		const self = new Map();
		let top = 0;
		for (let row = 0; row < slices.n; row++) {
			if (tracks[slices.track[row]].kind !== 'thread' || (range && !range.tracks[slices.track[row]]))
				continue;
			const begin = Math.max(slices.begin[row], range?.from ?? -Infinity);
			const end = Math.min(slices.begin[row] + slices.duration[row], range?.to ?? Infinity);
			if (end < begin)
				continue;
			total.set(slices.name[row], (total.get(slices.name[row]) ?? 0) + end - begin);
			top += slices.depth[row] === 0 ? end - begin : 0;
			if (!range)
				self.set(slices.name[row], (self.get(slices.name[row]) ?? 0) + slices.self[row]);
		}
		near(tree.total[0], top, 'the root');
		const sums = new Map();
		const selfs = new Map();
		for (let id = 1; id < tree.n; id++) {
			sums.set(tree.name[id], (sums.get(tree.name[id]) ?? 0) + tree.total[id]);
			selfs.set(tree.name[id], (selfs.get(tree.name[id]) ?? 0) + tree.self[id]);
		}
		for (const [name, ns] of total)
			near(sums.get(name), ns, `total of ${model.strings[name]}`);
		for (const [name, ns] of self)
			near(selfs.get(name), ns, `self of ${model.strings[name]}`);
		for (let id = 1; id < back.n; id++)
			if (back.depth[id] === 1)
				near(back.total[id], selfs.get(back.name[id]), `inverse of ${model.strings[back.name[id]]}`);
	}
}

function testWidest() {
	const tree = callPaths(modelOf(8000, 4));
	const { ids, cut } = widest(tree, 0, 200, 1e9);
	assert.equal(ids.length, 200);
	assert.ok(cut > 0);
	const seen = new Set([0]);
	for (const id of ids) {
		assert.ok(seen.has(tree.parent[id]), 'an inner one comes after its outer one');
		seen.add(id);
	}
	const least = tree.total[ids.at(-1)];
	for (let id = 1; id < tree.n; id++)
		assert.ok(seen.has(id) || tree.total[id] <= least);
	const chain = callPaths(smallModel(Array.from({ length: 9 }, (_, depth) =>
		({ track: 0, name: `f${depth}`, begin: 0, duration: 10, depth })), [{ name: 't' }]));
	assert.deepEqual(widest(chain, 0, 4, 10), { ids: [1, 2, 3, 4], cut: 5 });
	const inside = widest(tree, ids[0], 1e6, 1e12).ids;
	assert.ok(inside.every((id) => { for (; id > 0; id = tree.parent[id]) if (id === ids[0]) return true; return false; }));
}

function testBuckets() {
	for (const [ns, bucket] of [[0, 0], [1, 0], [2, 8], [3, 12], [7, 22], [8, 24], [9, 25], [1023, 79], [1024, 80], [1151, 80],
		[1152, 81], [2 ** 40 - 1, 319], [2 ** 40, 320],
		[2 ** 53 - 1, 423]])
		assert.equal(bucketOf(ns), bucket, `${ns} ns`);
	for (let bucket = 24; bucket < 400; bucket++) {
		assert.equal(bucketOf(bucketBegin(bucket)), bucket);
		assert.equal(bucketOf(bucketBegin(bucket + 1) - 2 ** (Math.floor(bucket / 8) - 20)), bucket);
	}
}

function groupsOf(model, range) {
	return new Map(distributions(model, range).map((g) => [`${model.strings[g.name]}/${g.kind}`, g]));
}

function testDistributions() {
	const model = modelOf(8000, 5);
	const { slices } = model;
	for (const range of [null, rangeOf(model, { from: 3e8, to: 1.1e9, tracks: new Set([0, 1, 4]) })]) {
		const plain = new Map();
		for (let row = 0; row < slices.n; row++) {
			const end = slices.begin[row] + slices.duration[row];
			if (slices.flags[row] & 2 ||
				(range && (!range.tracks[slices.track[row]] || slices.begin[row] > range.to || end <= range.from)))
				continue;
			const key = `${model.strings[slices.name[row]]}/${slices.kind[row]}`;
			plain.set(key, [...plain.get(key) ?? [], slices.duration[row]]);
		}
		const groups = groupsOf(model, range);
		assert.deepEqual([...groups.keys()].sort(), [...plain.keys()].sort());
		for (const [key, group] of groups) {
			const sorted = plain.get(key).sort((a, b) => a - b);
			assert.deepEqual([...group.sorted], sorted);
			assert.deepEqual(Array.from(group.rows, (row) => slices.duration[row]), sorted);
			for (const q of [0.5, 0.9, 0.99, 0.999])
				assert.equal(group.at(q), sorted[Math.ceil(q * sorted.length - 1e-9) - 1], `${key} ${q}`);
			assert.equal(group.buckets().reduce((sum, [, n]) => sum + n, 0), sorted.length);
			for (const [bucket, n] of group.buckets())
				assert.equal(sorted.filter((ns) => bucketOf(ns) === bucket).length, n);
			near(group.total, sorted.reduce((sum, ns) => sum + ns, 0), 'total');
		}
	}
}

/* Slices that were split so that they nest count once; slices of unknown length do not count. */
function testSplit() {
	const model = smallModel([
		{ track: 0, name: 's', begin: 0, duration: 10, flags: 16 },
		{ track: 0, name: 's', begin: 10, duration: 5, flags: 32 | 16 },
		{ track: 0, name: 's', begin: 15, duration: 7, flags: 32 },
		{ track: 0, name: 's', begin: 30, duration: 3 },
		{ track: 0, name: 's', begin: 40, duration: 1, flags: 16 },
		{ track: 0, name: 's', begin: 41, duration: 1, flags: 32 | 2 },
		{ track: 0, name: 's', begin: 50, duration: 9, flags: 2 },
		{ track: 0, name: 's', begin: 60, duration: 9, flags: 1 },
		{ track: 0, name: 's', begin: 70, duration: 0, flags: 4 },
		{ track: 0, name: 's', begin: 72, duration: 4, flags: 8 },
		{ track: 0, name: 'call', begin: 80, duration: 2, flags: 1, kind: 1 },
		{ track: 0, name: 'call', begin: 90, duration: 5, flags: 8, kind: 1 },
	], [{ name: 't' }]);
	const [group, calls] = distributions(model, null);
	assert.deepEqual([...calls.sorted], [2]);
	assert.deepEqual([...group.sorted], [3, 22]);
	assert.deepEqual([...group.rows], [3, 0]);
	assert.equal(callPaths(model).count[1], 7);
	// A slice that ends where a range begins is not in it.
	assert.deepEqual([...distributions(model, rangeOf(model, { from: 22, to: 33 }))[0].sorted], [3]);
}

/* A page without all slices: the figures are those of all slices. */
function testAggregates() {
	const all = Array.from({ length: 5000 }, (_, i) => 100 + ((i * 7919) % 5000) ** 2);
	const counts = new Map();
	for (const ns of all)
		counts.set(bucketOf(ns), (counts.get(bucketOf(ns)) ?? 0) + 1);
	const used = [...counts].sort((a, b) => a[0] - b[0]);
	const total = all.reduce((sum, ns) => sum + ns, 0);
	const shown = Math.max(...all);
	const more = {
		aggregates: { n: 1, name: [1], track: [0], count: [all.length], total: [total], self: [total], min: [Math.min(...all)],
			max: [shown], histogram: [0], buckets: [used.length] },
		buckets: { n: used.length, log2x8: used.map(([b]) => b), count: used.map(([, n]) => n) },
	};
	const model = smallModel([{ track: 0, name: 'kv:get', begin: 0, duration: shown, self: shown }], [{ name: 't' }], more);
	const [group] = distributions(model, null);
	const sorted = all.sort((a, b) => a - b);
	assert.equal(group.n, all.length);
	near(group.mean, total / all.length, 'mean');
	assert.equal(group.at(1), shown);
	for (const q of [0.01, 0.5, 0.9, 0.99, 0.999]) {
		const exact = sorted[Math.ceil(q * sorted.length) - 1];
		assert.ok(Math.abs(group.at(q) - exact) <= exact / 8, `p${q * 100}: ${group.at(q)} for ${exact}`);
	}
	// The inverse includes their own time.
	const back = inverse(model, callPaths(model), false);
	addHidden(model, back);
	const top = back.child(0, group.name);
	near(back.total[top], total, 'time in the inverse');
	near(back.total[0], total, 'time of all in the inverse');
	assert.equal(back.count[top], all.length);
	const timed = distributions(model, rangeOf(model, { from: 0, to: 10 }));
	assert.equal(timed[0].n, 1);
}

function testRows() {
	assert.deepEqual([...ranksOf(['b', 'a', 'c', ''])], [2, 1, 3, 0]);

	const model = modelOf(5000, 6);
	const { events } = model;
	const all = [...events.byTime];
	assert.equal(all.length, model.slices.n + model.instants.n + model.losses.n);
	assert.deepEqual(all.filter((ref) => events.isLoss(ref)).map((ref) => events.item(ref)),
		[{ from: 9e8, to: 9.6e8 }, { from: 1.7e9, to: 1.7004e9 }]);
	assert.ok(all.every((ref, i) => i === 0 || events.time[all[i - 1]] <= events.time[ref]));
	const longest = events.sorted(events.byTime, 'duration');
	assert.equal(events.duration[longest.at(-1)], Math.max(...model.slices.duration));
	assert.ok(longest.every((ref, i) => i === 0 || !(events.duration[longest[i - 1]] > events.duration[ref])));
	const range = rangeOf(model, { from: 5e8, to: 6e8, tracks: new Set([1]) });
	const found = [...events.filtered({ range })];
	assert.ok(found.length > 10);
	assert.deepEqual(found, all.filter((ref) => events.track[ref] === 1 && events.time[ref] <= 6e8 &&
		events.time[ref] + (events.duration[ref] || 0) >= 5e8));
	for (const ref of [0, model.slices.n, events.end - 1])
		assert.equal(events.ref(events.item(ref)), ref);
	assert.equal(events.ref(null), -1);
}

function testValues() {
	const n = 50000;
	const values = { time: Float64Array.from({ length: n }, (_, i) => i), value: Float64Array.from({ length: n }, (_, i) => i % 97) };
	values.value[33333] = 1e6;
	values.value[44444] = -1e6;
	const thin = thinValues(values, [0, n], 0, n, 300);
	assert.ok(thin.times.length <= 1200 && thin.times.length > 600);
	assert.ok(thin.values.includes(1e6) && thin.values.includes(-1e6));
	assert.equal(thin.times[0], 0);
	assert.equal(thin.times.at(-1), n - 1);
	assert.ok(thin.times.every((time, i) => i === 0 || time > thin.times[i - 1]));
	thin.times.forEach((time, i) => assert.equal(values.value[time], thin.values[i]));
}

/* NaN is not a value: it hides no other value, and is a gap. */
function testNoNumbers() {
	const n = 30000;
	const values = { time: Float64Array.from({ length: n }, (_, i) => i), value: new Float64Array(n).fill(NaN) };
	for (let i = 5; i < n; i += 50)
		values.value[i] = i;
	const thin = thinValues(values, [0, n], 0, n, 60);
	for (let column = 0; column < 60; column++)
		assert.ok(thin.values.includes(column * 500 + 5) && thin.values.includes(column * 500 + 455));
	assert.deepEqual(figuresOf(Float64Array.of(NaN, 3, -1, NaN, 7)), { min: -1, max: 7, mean: 3 });
	assert.deepEqual(figuresOf(Float64Array.of(9, NaN, 3, 9), 1, 3), { min: 3, max: 3, mean: 3 });
	assert.deepEqual(figuresOf(Float64Array.of(NaN)), { min: NaN, max: NaN, mean: NaN });
	assert.deepEqual(heightsOf(Float64Array.of(NaN, -2, Infinity, 5, -Infinity)), [null, -2, 5, 5, -2]);
	assert.deepEqual(heightsOf(Float64Array.of(NaN, Infinity)), [null, 0]);
	assert.deepEqual(heightsOf(Float64Array.of(Number.MAX_VALUE, 1)), [1e307, 1]);
	assert.deepEqual(heightsOf(Float64Array.of(-Number.MAX_VALUE)), [-1e307]);
}

for (const test of [testPathsByHand, testDeepAndBroken, testPathsAgainstSums, testWidest, testBuckets, testDistributions, testSplit,
	testAggregates, testRows, testValues, testNoNumbers]) {
	test();
	console.log(`ok ${test.name}`);
}
