// SPDX-License-Identifier: MIT
//
// test_timeline_model.mjs - what the timeline computes, without a browser: rows and their sums, statistics, search,
// steps from slice to slice, least and greatest, the view's bounds, times as text; compared with simple computations.
import assert from 'node:assert/strict';
import { Model, printable, takeApart } from '../../../src/export/view/page/data/data.js';
import * as format from '../../../src/export/view/page/data/format.js';
import { itemAt, placeOf } from '../../../src/export/view/page/timeline/hit.js';
import { Walk } from '../../../src/export/view/page/keyboard.js';
import { HEADER_HEIGHT, Layout } from '../../../src/export/view/page/timeline/layout.js';
import { Pyramid } from '../../../src/export/view/page/data/pyramid.js';
import { ranking } from '../../../src/export/view/page/data/ranking.js';
import { firstAbove, firstAboveNear } from '../../../src/export/view/page/timeline/rows.js';
import { Search } from '../../../src/export/view/page/data/search.js';
import { statistics } from '../../../src/export/view/page/data/statistics.js';
import { View } from '../../../src/export/view/page/timeline/view.js';
import { bare, makeModel } from './make_model.mjs';

const bufferOf = (bytes) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b)), `${what}: ${a} is not ${b}`);

function modelOf(events, seed) {
	const { main, text } = makeModel(events, seed);
	const model = new Model(takeApart(bufferOf(main)));
	model.textSource = async () => bufferOf(text);
	return model;
}

function testHalving() {
	const times = [0, 1, 1, 3, 7, 7, 7, 20];
	for (const value of [-1, 0, 0.5, 1, 2, 7, 19, 20, 21])
		for (let from = 0; from <= times.length; from++) {
			const plain = times.findIndex((t, i) => i >= from && t > value);
			const wanted = plain < 0 ? times.length : plain;
			assert.equal(firstAbove(times, value, from, times.length), wanted);
			// firstAboveNear() must start at a place that is not above.
			if (from < times.length && times[from] <= value)
				assert.equal(firstAboveNear(times, value, from, times.length), wanted);
		}
}

function testRows(model) {
	const { slices } = model;
	for (const track of model.tracks) {
		const rows = model.rows(track);
		assert.equal(rows.reduce((n, row) => n + row.n, 0), track.slices[1] - track.slices[0]);
		for (const [depth, row] of rows.entries()) {
			for (let i = 0; i < row.n; i++)
				assert.equal(slices.depth[row.slice[i]], depth);
			for (let part = 0; part < 20; part++) {
				const from = model.durationNs * 0.05 * part - 1e6;
				const to = from + model.durationNs * 0.013 * (part % 5);
				let plain = 0;
				for (let i = 0; i < row.n; i++)
					plain += Math.max(0, Math.min(row.end[i], to) - Math.max(row.begin[i], from));
				near(row.coverage(from, to), plain, `coverage of ${track.name} ${depth}`);
			}
		}
	}
}

/* Looks at each slice by itself. */
function plainStatistics(model, from, to, tracks) {
	const { slices, instants } = model;
	const sums = new Map();
	for (let row = 0; row < slices.n; row++) {
		const begin = slices.begin[row];
		const end = begin + slices.duration[row];
		if (!tracks.has(slices.track[row]) || end <= from || begin > to)
			continue;
		const name = slices.name[row];
		const sum = sums.get(name) ?? { count: 0, total: 0, self: 0, min: Infinity, max: 0 };
		const part = Math.min(end, to) - Math.max(begin, from);
		sum.count++;
		sum.total += part;
		sum.self += part;
		sum.min = Math.min(sum.min, slices.duration[row]);
		sum.max = Math.max(sum.max, slices.duration[row]);
		sums.set(name, sum);
		const parent = model.parent(row);
		if (parent >= 0)
			sums.get(slices.name[parent]).self -= part; // the parent begins before, so it is there
	}
	let points = 0;
	for (let row = 0; row < instants.n; row++)
		points += tracks.has(instants.track[row]) && instants.time[row] >= from && instants.time[row] <= to ? 1 : 0;
	return { sums, points };
}

function testStatistics(model) {
	const threads = model.tracks.filter((t) => t.kind === 'thread').map((t) => t.index);
	for (const [from, to, tracks] of [[0, model.durationNs, threads], [3.3e8, 3.31e8, threads], [1.1e9, 1.9e9, [threads[1]]],
		[1.25e9, 1.2501e9, threads], [0, model.durationNs, model.tracks.map((t) => t.index)]]) {
		const found = statistics(model, { from, to, tracks: new Set(tracks) });
		const { sums, points } = plainStatistics(model, from, to, new Set(tracks));
		assert.equal(found.slices.length, sums.size);
		for (const row of found.slices) {
			const plain = sums.get(row.name);
			assert.equal(row.count, plain.count, row.text);
			near(row.total, plain.total, `total of ${row.text}`);
			// The table's own figures of self are integers; those of parts are computed.
			assert.ok(Math.abs(row.self - Math.max(0, plain.self)) <= plain.count * 8 + 1e-6 * plain.total,
				`self of ${row.text}: ${row.self}, ${plain.self}`);
			if (Number.isFinite(row.min)) {
				assert.ok(row.min >= plain.min && row.max <= plain.max);
			}
		}
		assert.equal(found.points.reduce((n, p) => n + p.points, 0), points);
	}
	const lost = (from, to) => statistics(model, { from, to, tracks: null }).lost;
	assert.deepEqual([lost(0, 2.4e9), lost(0, 8e8), lost(9.5e8, 1e9)], [1251, 0, 1234]);
	const counter = model.tracks.find((t) => t.kind === 'counter');
	const [values] = statistics(model, { from: 1e8, to: 2e8, tracks: new Set([counter.index]) }).counters;
	const { time, value } = model.values;
	const inside = [...value.subarray(...counter.values)].filter((v, i) =>
		time[counter.values[0] + i] <= 2e8 && (time[counter.values[0] + i + 1] ?? Infinity) > 1e8);
	assert.deepEqual([values.min, values.max, values.first, values.last],
		[Math.min(...inside), Math.max(...inside), inside[0], inside.at(-1)]);
}

function testRanking(model) {
	const { slices } = model;
	for (let row = 11; row < slices.n; row += 997) {
		const same = [];
		for (let i = 0; i < slices.n; i++)
			if (slices.name[i] === slices.name[row] && slices.kind[i] === slices.kind[row] && !(slices.flags[i] & 2))
				same.push(slices.duration[i]);
		const found = ranking(model, row);
		assert.deepEqual([found.count, found.longer], [same.length, same.filter((d) => d > slices.duration[row]).length]);
		assert.equal(slices.duration[found.longest], Math.max(...same));
		near(found.average, same.reduce((a, b) => a + b) / same.length, 'average');
	}
}

/* A split slice counts once; a slice that is not over has no length. */
function testPieces() {
	const rows = [['a', 0, 10, 0, 16], ['a', 10, 20, 0, 32], ['b', 30, 5, 0, 0], ['open', 40, 60, 0, 2]];
	const column = (type, k) => type.from(rows, (r) => r[k]);
	const strings = ['a', 'b', 'open'];
	const n = rows.length;
	const slices = { n, track: new Uint32Array(n), name: Uint32Array.from(rows, (r) => strings.indexOf(r[0])),
		kind: new Uint8Array(n), flags: column(Uint8Array, 4), depth: new Uint16Array(n), begin: column(Float64Array, 1),
		duration: column(Float64Array, 2), self: column(Float64Array, 2), text: new Int32Array(n).fill(-1), id: new Float64Array(n) };
	const model = new Model(bare({ strings, duration_ns: 100, tracks: [{ kind: 'thread', tid: 1, depth: 1, name: 0 }] },
		{ slices }));
	const found = Object.fromEntries(statistics(model, { from: 0, to: 100, tracks: null }).slices.map((s) => [s.text, s]));
	assert.deepEqual([found.a.count, found.a.total, found.a.avg, found.a.min, found.a.max], [1, 30, 30, 30, 30]);
	assert.deepEqual([found.open.count, found.open.total, found.open.max], [1, 60, -Infinity]);
	const part = statistics(model, { from: 12, to: 20, tracks: null }).slices.find((s) => s.text === 'a');
	assert.deepEqual([part.count, part.total, part.max], [1, 8, -Infinity], 'its first piece is not in the area');
}

async function testSearch(model) {
	const { slices, instants } = model;
	const texts = await model.loadText().then(() => (row) => model.text(row));
	for (const text of ['kv:', 'LOOKUP', 'user42', '雪', '<script', 'no such']) {
		let done = 0;
		const search = new Search(model, () => { done++; });
		search.set(text);
		while (search.busy)
			await new Promise((resolve) => { setTimeout(resolve, 20); });
		const has = (name, row) => model.name(name).toLowerCase().includes(text.toLowerCase()) ||
			(row >= 0 && texts(row).toLowerCase().includes(text.toLowerCase()));
		const wanted = [];
		for (let i = 0; i < slices.n; i++)
			if (has(slices.name[i], slices.text[i]))
				wanted.push([slices.begin[i], i]);
		for (let i = 0; i < instants.n; i++)
			if (has(instants.name[i], instants.text[i]))
				wanted.push([instants.time[i], slices.n + i]);
		assert.equal(search.count, wanted.length, `matches of ${text}`);
		assert.ok(done >= 2, 'it tells when names are searched, and when fields are');
		for (let i = 1; i < search.count; i++)
			assert.ok(model.events.time[search.refs[i]] >= model.events.time[search.refs[i - 1]], 'in order of time');
		assert.deepEqual([...search.refs].sort((a, b) => a - b), wanted.map(([, ref]) => ref).sort((a, b) => a - b));
		if (search.count > 2) {
			const first = search.step(true, 1e9);
			const { from } = placeOf(model, first);
			assert.ok(from >= 1e9);
			search.step(true);
			assert.deepEqual(search.step(false), first, 'back again');
			for (let i = 0; i < search.count; i++)
				search.step(true);
			assert.deepEqual(model.events.item(search.refs[search.at]), first, 'round');
		}
	}
}

function testWalk(model) {
	const layout = new Layout(model);
	const walk = new Walk(model, layout);
	const thread = model.tracks.find((t) => t.kind === 'thread' && t.instants[1] > t.instants[0]);
	const deep = { slice: model.rows(thread)[3].slice[5] };
	let up = deep;
	for (let depth = 2; depth >= 0; depth--) {
		const at = placeOf(model, up);
		up = walk.parent(up);
		const over = placeOf(model, up);
		assert.equal(over.depth, depth);
		assert.ok(over.from <= at.from && over.to >= at.to);
	}
	const down = walk.child(up);
	assert.equal(placeOf(model, down).depth, 1);
	assert.deepEqual(walk.parent(down), up);
	assert.ok('instant' in walk.parent(up), 'points are above');
	const next = walk.beside(deep, 1);
	assert.ok(placeOf(model, next).from > placeOf(model, deep).from);
	assert.deepEqual(walk.beside(next, -1), deep);
	assert.equal(walk.beside(walk.edge(deep, true), 1), null);
	const same = walk.sameName(deep, 1);
	assert.equal(model.slices.name[same.slice], model.slices.name[deep.slice]);
	assert.deepEqual(walk.sameName(same, -1), deep);
	// Keys alone reach all tracks.
	const seen = new Set();
	for (let at = walk.first(layout.items[1].track, 0), i = 0; at && i < 200; at = walk.child(at), i++)
		seen.add(placeOf(model, at).track);
	assert.equal(seen.size, model.tracks.length);
}

function testHits(model) {
	const layout = new Layout(model);
	const view = new View(model.durationNs, () => {});
	view.width = 1000;
	view.set(1e9, 1.004e9);
	let hits = 0;
	for (const track of model.tracks.filter((t) => t.kind === 'thread')) {
		const line = layout.ofTrack[track.index];
		for (const [depth, row] of model.rows(track).entries())
			for (let i = row.after(view.from); i < row.n && row.begin[i] < view.to; i++) {
				const x = view.x((Math.max(row.begin[i], view.from) + Math.min(row.end[i], view.to)) / 2);
				const found = itemAt(model, layout, view, x, line.rowY(depth) + 5);
				if (row.end[i] - row.begin[i] > 6 * view.nsPerPx) {
					assert.deepEqual(found, { slice: row.slice[i] });
					hits++;
				} else {
					assert.ok(found, 'something is near');
				}
			}
	}
	assert.ok(hits > 5);
	assert.equal(itemAt(model, layout, view, 5, HEADER_HEIGHT / 2), null);
	const before = layout.height;
	layout.groups[1].open = false;
	layout.update();
	assert.ok(layout.height < before);
	const all = layout.tracksBetween(0, layout.height);
	assert.equal(all.size, model.tracks.length, 'a closed group stands for its tracks');
}

function testPyramid() {
	const values = Float64Array.from({ length: 5000 }, (_, i) => Math.sin(i * i) * i);
	const pyramid = new Pyramid(values);
	for (let i = 0; i < 400; i++) {
		const from = (i * 37) % 5000;
		const to = Math.min(5000, from + 1 + ((i * i * 13) % 2500));
		pyramid.look(from, to);
		const part = values.subarray(from, to);
		assert.deepEqual([pyramid.min, pyramid.max], [Math.min(...part), Math.max(...part)]);
	}
}

/* NaN does not count, and takes nothing from its neighbours; infinities do not set the scale. */
function testNoNumbers() {
	const value = Float64Array.from({ length: 5000 }, (_, i) => (i % 3 ? NaN : i === 600 ? Infinity : i === 900 ? -Infinity : i % 50 - 10));
	const pyramid = new Pyramid(value);
	for (const [from, to] of [[0, 5000], [1, 3], [1, 40], [590, 650], [895, 1200]]) {
		pyramid.look(from, to);
		const part = value.subarray(from, to).filter((v) => !Number.isNaN(v));
		assert.deepEqual([pyramid.min, pyramid.max], [Math.min(...part), Math.max(...part)]);
	}
	const scaleOf = (...numbers) => {
		const model = Object.create(Model.prototype);
		model.values = { value: Float64Array.from(numbers) };
		const { least, greatest, part } = model.counterScale({ values: [0, numbers.length] });
		return [least, greatest, ...numbers.map(part)];
	};
	assert.deepEqual(scaleOf(NaN, -1, Infinity, 3, -Infinity), [-Infinity, Infinity, NaN, 0, 1, 1, 0]);
	assert.deepEqual(scaleOf(NaN, NaN), [NaN, NaN, NaN, NaN]);
	assert.deepEqual(scaleOf(Number.MAX_VALUE, -Number.MAX_VALUE, 0), [-Number.MAX_VALUE, Number.MAX_VALUE, 1, 0, 0.5]);
	assert.deepEqual(scaleOf(2, 4), [2, 4, 0.5, 1]);
	assert.deepEqual(scaleOf(0, 0), [0, 0, 0, 0]);
}

function testView() {
	const view = new View(1e9, () => {});
	view.width = 500;
	for (let i = 0; i < 300; i++) {
		view.zoom(view.time((i * 77) % 500), i % 3 ? 0.5 : 1.7, false);
		view.pan((((i * 7919) % 200) - 100) * view.nsPerPx * 9, false);
		assert.ok(view.span >= 19.99 && view.span <= 1.0401e9, `span ${view.span}`);
		assert.ok(view.to > 0 && view.from < 1e9, 'some of the recording is in sight');
	}
	view.set(4e8, 5e8);
	const time = view.time(123);
	view.zoom(time, 0.3, false);
	near(view.x(time), 123, 'the place that is zoomed at stays');
	view.zoom(time, 0.5, true);
	let frames = 0;
	while (view.advance(16))
		frames++;
	assert.ok(frames > 3 && frames < 60);
	near(view.span, 1.5e7, 'the move comes to its end');
}

function testText() {
	const { clock, count, duration, relative } = format;
	assert.deepEqual([0, 1, 999, 1000, 1234567, 12345678, 999999999, 1e9, 9.87654e10, 3.7e12].map(duration),
		['0 ns', '1 ns', '999 ns', '1.000 µs', '1.235 ms', '12.35 ms', '1.000 s', '1.000 s', '98.77 s', '1 h 1 min 40 s']);
	assert.equal(count(1234567), '1\u202f234\u202f567');
	assert.equal(relative(1500000, 100000), '1.5 ms');
	assert.equal(relative(-20, 1), '−20 ns');
	assert.match(clock(1763737402123456789n, 1), /^\d\d:\d\d:\d\d\.123456790$/);
	assert.match(clock(1763737402999999999n, 2), /\.000000001$/);
	assert.equal(printable('a\u0000\u202eb\nc\u{e0041}\u00ad\u2028'), 'a\u2400\\u{202e}b\u240ac\\u{e0041}\\u{ad}\\u{2028}');
	assert.throws(() => takeApart(new ArrayBuffer(8)), /no recording/);
	const { main } = makeModel(500);
	assert.throws(() => takeApart(bufferOf(main.subarray(0, main.length - 64))), /cut off/);
}

const model = modelOf(4000, 3);
testHalving();
testRows(model);
testStatistics(model);
testPieces();
testRanking(model);
await testSearch(model);
testWalk(model);
testHits(model);
testPyramid();
testNoNumbers();
testView();
testText();
console.log('ok');
