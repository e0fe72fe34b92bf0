// SPDX-License-Identifier: MIT
//
// test_rows.mjs - few threads in Chromium: their rows grow to fill the page, names are shortened from the left,
// a drag below the tracks selects time, and statistics keep slices that an area's edges cut apart from the others.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortened, withoutQualifier } from '../../../src/export/view/page/data/names.js';
import { makeFew, makeModel, makePage } from './make_model.mjs';
import { run } from './lib.mjs';

const settle = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));

async function openFew(t, options, made = makeFew()) {
	const page = await t.open(t.write('few.html', makePage(readFileSync(process.env.TEMPLATE, 'utf8'), made)), options);
	// Records what the canvas draws as text.
	await page.evaluate(() => {
		const own = CanvasRenderingContext2D.prototype.fillText;
		globalThis.drawn = [];
		CanvasRenderingContext2D.prototype.fillText = function keep(text, ...more) {
			globalThis.drawn.push(text);
			return own.call(this, text, ...more);
		};
	});
	return page;
}

/* Heights of the tracks, and of the room for them. */
const heights = (page) => page.evaluate(() => ({
	tracks: [...document.querySelectorAll('.label')].reduce((sum, label) => sum + label.item.height, 0),
	row: document.querySelector('.label').item.layout.rowHeight,
	place: document.querySelector('.tl-scroller').clientHeight,
	stage: document.querySelector('.tl-stage').getBoundingClientRect().toJSON(),
}));

/* Names drawn since the last time. */
async function namesDrawn(page) {
	await page.evaluate(() => { globalThis.drawn.length = 0; });
	await page.evaluate(() => globalThis.hodo.app.select({}));
	await settle(page);
	return page.evaluate(() => globalThis.drawn.filter((text) => /lo|comp/.test(text)));
}

async function grow(t) {
	const page = await openFew(t);
	const tall = await heights(page);
	assert.ok(tall.row > 40, `rows are ${tall.row} pixels tall`);
	assert.ok(tall.tracks <= tall.place && tall.stage.bottom <= 800, JSON.stringify(tall));
	await namesDrawn(page);
	assert.ok(await page.evaluate(() => globalThis.drawn.includes('160.0 ms')), 'tall ones say how long they took');
	await t.screenshot(page, 'few');
	// In a smaller window, rows shrink as long as they can.
	await page.setViewportSize({ width: 1280, height: 640 });
	await settle(page);
	const less = await heights(page);
	assert.ok(less.row < tall.row || less.tracks <= less.place, JSON.stringify(less));
	await page.setViewportSize({ width: 1280, height: 460 });
	await settle(page);
	await page.evaluate(() => globalThis.hodo.app.choose({ slice: 0 }));
	await settle(page);
	const least = await heights(page);
	assert.ok(least.row < tall.row && least.row >= 18, JSON.stringify(least));
	// With many tracks rows keep their height; the tracks use the details' room until something is chosen.
	const many = await openFew(t, { height: 600 }, makeModel(2000));
	assert.equal((await heights(many)).row, 18);
	assert.ok((await many.locator('.tl-details').boundingBox()).height < 50);
	assert.ok((await page.locator('.tl-details').boundingBox()).height > 50);
}

/* A click chooses what is under it, although the rows' heights depend on the room. */
async function still(t) {
	const page = await openFew(t);
	const before = await heights(page);
	const row = await page.evaluate(() => [...document.querySelectorAll('.label.track')][0].item.rowY(1));
	const box = { x: before.stage.x + before.stage.width * 0.5, y: before.stage.y + row + 10 };
	const panel = () => page.locator('.tl-details').boundingBox();
	const panelBefore = await panel();
	await page.mouse.dblclick(box.x + 25, box.y);
	await settle(page);
	const chosen = await page.evaluate(() => [globalThis.hodo.app.item?.slice, globalThis.hodo.app.selection.from]);
	assert.ok(chosen[0] !== undefined && chosen[1] !== null, `a double click selects the slice's time: ${chosen}`);
	assert.equal((await heights(page)).row, before.row);
	assert.deepEqual(await panel(), panelBefore, 'the panel was there before');
}

async function left(t) {
	const page = await openFew(t);
	for (const [width, wanted] of [[1280, /^srv:lookup$/], [1000, /^lookup$/], [700, /^lo+k?u?…?$/]]) {
		await page.setViewportSize({ width, height: 800 });
		await settle(page);
		const names = await namesDrawn(page);
		const seen = [...new Set(names.filter((name) => !/comp/.test(name)))];
		assert.ok(seen.length > 0 && seen.every((name) => wanted.test(name)), `${width}: ${seen}`);
		await t.screenshot(page, `names-${width}`);
	}
	// The same in the flame graph.
	await page.click('#tab-flame');
	const frames = await page.locator('.frame').allTextContents();
	assert.ok(frames.includes('ns::Store::compact') || frames.includes('Store::compact') || frames.includes('compact'), `${frames}`);
}

async function below(t) {
	const page = await openFew(t, { height: 1400 });
	const { tracks, place, stage } = await heights(page);
	assert.ok(place > tracks + 60, 'there is something below the tracks');
	const drag = async (y0, y1, x = 200) => {
		await page.mouse.move(stage.x + x, stage.y + y0);
		await page.mouse.down();
		await page.mouse.move(stage.x + x + 300, stage.y + y1, { steps: 3 });
		await page.mouse.up();
		return page.evaluate(() => {
			const { from, to, tracks: of } = globalThis.hodo.app.selection;
			return { long: to > from, tracks: of && [...of], told: document.getElementById('live').textContent,
				title: document.querySelector('.panel-title').textContent };
		});
	};
	const beneath = await drag(tracks + 20, tracks + 50);
	assert.deepEqual([beneath.long, beneath.tracks], [true, null]);
	assert.match(beneath.told, /selected on all tracks\.$/);
	await page.waitForFunction(() => /on all tracks$/.test(document.querySelector('.panel-title').textContent));
	assert.deepEqual((await drag(60, tracks + 50, 250)).tracks, [0]);
}

/* One slice that both edges of an area cut. */
async function statistics(t) {
	const page = await openFew(t);
	const rows = (label) => page.locator(`table[aria-label="${label}"] tbody tr`).evaluateAll((list) =>
		list.map((row) => [...row.cells].map((cell) => cell.textContent)));
	const heads = (label) => page.locator(`table[aria-label="${label}"] thead th`).allTextContents();
	await page.locator('table[aria-label="Whole slices"]').waitFor();
	assert.deepEqual((await rows('Slices in the area'))[1], ['srv:lookup', '12', '1.920 s', '1.200 s'], 'all of the recording');
	await page.evaluate(() => globalThis.hodo.app.select({ from: 1e8, to: 1e8 + 627, tracks: null }));
	await page.waitForFunction(() => document.querySelector('.panel-title').textContent.startsWith('627 ns'));
	assert.deepEqual(await heads('Slices in the area'), ['Name', 'Count', 'Total', 'Self']);
	assert.deepEqual(await rows('Slices in the area'), [['srv:lookup', '1', '627 ns', '627 ns']]);
	assert.deepEqual(await heads('Whole slices'), ['Name', 'Count', 'Total', 'Average', 'Min', 'Max']);
	assert.deepEqual(await rows('Whole slices'), [['srv:lookup', '1', '160.0 ms', '160.0 ms', '160.0 ms', '160.0 ms']]);
	await t.screenshot(page, 'statistics');
	// Its flame graph uses the same words.
	await page.click('#tab-flame');
	await page.locator('.frame', { hasText: 'lookup' }).focus();
	assert.match(await page.locator('.flame-details').textContent(), /Total 627 ns.*Self 627 ns.*Count 1Average 627 ns.*Max 627 ns$/);
}

/* Dots below a track that has more than it shows; the pointer says how many. */
async function omitted(t) {
	const dir = join(t.dir, 'requests');
	execFileSync(process.env.MAKE_RECORDING, ['requests', dir, '40000']);
	const page = await t.open(t.view(dir, '--limit', '3000'));
	assert.match(await page.locator('#notices').textContent(), /Dots below a track/);
	const [of, count] = await page.evaluate(() => {
		const { omitted: all, tracks } = globalThis.hodo.model;
		const { index } = tracks.find((track) => track.kind === 'thread' && track.omitted[1] > track.omitted[0]);
		return [index, all.count[tracks[index].omitted[0]]];
	});
	const place = await page.evaluate((track) => {
		const label = [...document.querySelectorAll('.label.track')].find((l) => l.item.track.index === track);
		const stage = document.querySelector('.tl-stage').getBoundingClientRect();
		return { x: stage.x, y: label.getBoundingClientRect().bottom - 4, top: stage.y, width: stage.width };
	}, of);
	// Patterned areas of this track: dots below it, along the stretches, with a few pixels more at most.
	await page.evaluate(() => {
		const own = CanvasRenderingContext2D.prototype.fillRect;
		globalThis.dotted = [];
		CanvasRenderingContext2D.prototype.fillRect = function keep(...at) {
			if (this.fillStyle instanceof CanvasPattern && this.canvas.className === 'tracks')
				globalThis.dotted.push(at);
			return own.apply(this, at);
		};
		globalThis.hodo.app.select({});
	});
	await settle(page);
	const dotted = await page.evaluate((track) => {
		const { item } = [...document.querySelectorAll('.label.track')].find((l) => l.item.track.index === track);
		return globalThis.dotted.filter(([, y]) => y > item.rowY(item.rowCount - 1) && y < item.y + item.height);
	}, of);
	const wide = dotted.reduce((sum, [, , width]) => sum + width, 0);
	const wanted = place.width / 1.02 * await page.evaluate((track) => {
		const { omitted: all, tracks, durationNs } = globalThis.hodo.model;
		const [first, end] = tracks[track].omitted;
		return all.end.slice(first, end).reduce((sum, ns, i) => sum + ns - all.begin[first + i], 0) / durationNs;
	}, of);
	assert.ok(wanted > 100 && wide > wanted * 0.95 && wide < wanted * 1.6, `${wide} pixels, not ${wanted}`);
	await page.mouse.move(place.x + place.width * 0.0105, place.y);
	await page.locator('.tooltip').waitFor();
	assert.ok((await page.locator('.tooltip').textContent()).includes(`${count.toLocaleString('en-US').replaceAll(',', '\u202f')} more within`));
	await t.screenshot(page, 'omitted');
}

function names() {
	const widthOf = (text) => text.length;
	for (const [text, room, wanted] of [['kv:request', 10, 'kv:request'], ['kv:request', 9, 'request'], ['kv:request', 7, 'request'],
		['kv:request', 6, 'reque…'], ['kv:request', 2, ''], ['a::b::call', 9, 'b::call'], ['a::b::call', 5, 'call'], ['memcpy', 5, 'memc…'],
		['kv:🦉🦉🦉', 4, '🦉…'], ['operator::', 6, 'opera…'], [':x', 1, '']])
		assert.equal(shortened(text, room, widthOf), wanted, `${text} in ${room}`);
	for (const [text, wanted] of [['kv:get', 'get'], ['std::vector<std::pair<int, int>>::at', 'vector<std::pair<int, int>>::at'],
		['vector<a::b>::at', ''], ['', ''], ['a b:c', '']])
		assert.equal(withoutQualifier(text), wanted, text);
}

await run({ names, grow, still, left, below, statistics, omitted });
