// SPDX-License-Identifier: MIT
//
// test_arrows.mjs - spans that begin on one thread and end on another, in Chromium: they are those of hodo print, and
// their arrows lead to the right places.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { hodo, run } from './lib.mjs';

function make(t, events) {
	const dir = join(t.dir, `requests${events}`);
	execFileSync(process.env.MAKE_RECORDING, ['requests', dir, String(events)]);
	return dir;
}

/* {id: [tid of the begin, tid of the end]} of the spans that have both. */
function plainFlows(dir) {
	const ends = {};
	for (const line of hodo('print', '--json', '-e', 'kv:flow', dir).split('\n').filter(Boolean)) {
		const { name, tid, fields } = JSON.parse(line);
		if (name?.startsWith('kv:flow'))
			(ends[fields.id] ??= [])[name.endsWith('.begin') ? 0 : 1] = tid;
	}
	return Object.fromEntries(Object.entries(ends).filter(([, [from, to]]) => from && to && from !== to));
}

/* Curves drawn in the next frame: [x0, y0, x1, y1] each. */
async function curves(page, act = () => {}) {
	await page.evaluate(() => {
		const { prototype } = CanvasRenderingContext2D;
		globalThis.ownCurve ??= prototype.bezierCurveTo;
		globalThis.ownMove ??= prototype.moveTo;
		globalThis.curves = [];
		let start = [0, 0];
		prototype.moveTo = function moveTo(...at) {
			start = at;
			return globalThis.ownMove.apply(this, at);
		};
		prototype.bezierCurveTo = function curve(...at) {
			globalThis.curves.push([...start, ...at.slice(4), this.lineWidth]);
			return globalThis.ownCurve.apply(this, at);
		};
	});
	await act();
	await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
	await page.evaluate(() => { globalThis.curves.length = 0; });
	await page.mouse.move(300 + Math.random() * 50, 2);
	await page.evaluate(() => globalThis.hodo.app.emit('item', globalThis.hodo.app.item));
	await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
	return page.evaluate(() => globalThis.curves);
}

async function whichThey(t) {
	const dir = make(t, 8000);
	const page = await t.open(t.view(dir));
	const flows = await page.evaluate(() => {
		const { flows: f, slices, tracks } = globalThis.hodo.model;
		return Object.fromEntries(Array.from({ length: f.n }, (_, i) => [slices.id[f.slice[i]], [tracks[f.from[i]].tid, tracks[f.to[i]].tid]]));
	});
	const plain = plainFlows(dir);
	assert.ok(Object.keys(plain).length > 20, 'some lead from thread to thread');
	assert.deepEqual(flows, plain);

	// Choosing one of them shows an arrow from the row where it began to the row where it ended.
	const chosen = await page.evaluate(() => {
		const { app, model } = globalThis.hodo;
		const slice = model.flows.slice[3];
		app.focus({ slice });
		return { tracks: [model.flows.from[3], model.flows.to[3]].map((i) => model.tracks[i].longTitle) };
	});
	await page.keyboard.press('f');
	const drawn = (await curves(page)).filter(([, , , , width]) => width === 2);
	assert.equal(drawn.length, 1, 'its arrow stands out');
	const [[x0, y0, x1, y1]] = drawn;
	assert.ok(x1 > x0, `it goes forward: ${x0} to ${x1}`);
	const labels = await page.evaluate((heights) => heights.map((y) => {
		const stage = document.querySelector('.tl-stage').getBoundingClientRect();
		const label = [...document.querySelectorAll('.label.track')].find((l) => {
			const box = l.getBoundingClientRect();
			return y + stage.y >= box.top && y + stage.y < box.bottom;
		});
		return label?.item.track.longTitle;
	}), [y0, y1]);
	assert.deepEqual(labels, chosen.tracks);
	await t.screenshot(page, 'chosen');
	await page.getByText('Began on').waitFor();
	const facts = await page.locator('.facts').textContent();
	assert.ok(facts.includes(`Began on${chosen.tracks[0]}`) && facts.includes(`Ended on${chosen.tracks[1]}`), facts);
	await page.getByRole('button', { name: chosen.tracks[1] }).click();
	assert.equal(await page.evaluate(() => globalThis.hodo.model.tracks[globalThis.hodo.model.slices.track[globalThis.hodo.app.item.slice]].longTitle),
		chosen.tracks[1]);
	// Choosing the slice to which they lead makes its arrows stand out too.
	assert.ok((await curves(page)).some(([, , , , width]) => width === 2));
}

/* All arrows in sight if they are few, none if they are many: the cost of a frame has a bound. */
async function few(t) {
	const page = await t.open(t.view(make(t, 1200)));
	const n = await page.evaluate(() => globalThis.hodo.model.flows.n);
	assert.ok(n > 1 && n <= 150, `${n} flows`);
	assert.equal((await curves(page)).length, n);
	await t.screenshot(page, 'few');
	const many = await t.open(t.view(make(t, 100000)));
	const counts = await many.evaluate(() => [globalThis.hodo.model.flows.n, globalThis.hodo.model.tracks.length]);
	assert.ok(counts[0] > 300, `${counts[0]} flows`);
	assert.equal((await curves(many)).length, 0);
	await many.evaluate(() => { const { app, model } = globalThis.hodo; app.focus({ slice: model.flows.slice[10] }); });
	await many.keyboard.press('f');
	assert.ok((await curves(many)).length >= 1, 'in a stretch of time they are few');
}

/* From spans to those of other processes, as a recording of several hosts has them: one arrow each, from and to the tracks
 * that it names. */
async function links(t) {
	const page = await t.open(t.view(make(t, 1200)));
	const before = (await curves(page)).length;
	const tracks = await page.evaluate(() => {
		const { model } = globalThis.hodo;
		const threads = model.tracks.filter((track) => track.kind === 'thread').slice(0, 2);
		const at = model.durationNs / 2;
		model.links = { n: 2, from: [0, 1].map((i) => threads[i].index), to: [1, 0].map((i) => threads[i].index),
			begin: [at, at * 1.1], end: [at * 1.2, at * 1.3] };
		return threads.map((track) => track.longTitle);
	});
	const drawn = await curves(page);
	assert.equal(drawn.length, before + 2);
	const [there, back] = drawn; // before the others
	assert.ok(there[0] < there[2] && back[0] < back[2], 'forward in time');
	assert.ok(tracks[0] !== tracks[1] && there[1] !== there[3], 'between two tracks');
	assert.ok(Math.abs(there[1] - back[3]) < Math.abs(there[1] - there[3]), 'and back');
	await page.evaluate(() => { globalThis.hodo.model.links.n = 0; });
	assert.equal((await curves(page)).length, before);
}

await run({ whichThey, few, links });
