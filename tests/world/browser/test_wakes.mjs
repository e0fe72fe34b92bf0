// SPDX-License-Identifier: MIT
//
// test_wakes.mjs - who woke whom, and the critical path of a span, in Chromium, with the kernel's scheduling:
// compared with the story in make_recording.c, and with simple computations.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { criticalPath, sumOf } from '../../../src/export/view/page/data/critical_path.js';
import { run } from './lib.mjs';

function make(t, program, ...args) {
	const dir = join(t.dir, args[0]);
	execFileSync(process.env[program], [args[0], dir, ...args.slice(1)]);
	return dir;
}

/* Threads with these waits: [thread, from, woken, to, why, waker]…; they run when they do not wait. */
const threadsOf = (waits) => ({
	lastWait: (tid, time) => waits.filter(([thread, , , to]) => thread === tid && to <= time).sort((a, b) => a[3] - b[3])
		.map(([, from, woken, to, why, waker]) => ({ from, woken, to, why, waker })).at(-1) ?? null,
	lastRun: (tid, time) => ({ from: 0, to: time }),
});

function byHand() {
	const path = (waits, ...args) => criticalPath(threadsOf(waits), ...args).segments.map(({ thread, from, to, what }) => `${thread} ${from}-${to} ${what}`);
	assert.deepEqual(path([], 1, 0, 10), ['1 0-10 runs']);
	assert.deepEqual(path([[1, 2, 6, 7, 1, 2]], 1, 0, 10), ['1 0-2 runs', '2 2-6 runs', '1 6-7 waits for a CPU', '1 7-10 runs']);
	// It begins to wait before the stretch does; its waker was woken itself; a preempted thread was not woken.
	assert.deepEqual(path([[1, -5, 6, 7, 1, 2], [2, 1, 3, 4, 2, 3], [3, 2, 2, 2.5, 0, 9]], 1, 0, 8),
		['2 0-1 runs', '3 1-2 runs', '3 2-2.5 waits for a CPU', '3 2.5-3 runs', '2 3-4 waits for a CPU', '2 4-6 runs', '1 6-7 waits for a CPU', '1 7-8 runs']);
	assert.deepEqual(path([[1, 2, NaN, 4, 2, 0]], 1, 0, 5), ['1 0-2 runs', '1 2-4 blocked', '1 4-5 runs']);
	// Two threads that wake each other at the same time lead nowhere: the path ends.
	const round = criticalPath(threadsOf([[1, 0, 5, 5, 1, 2], [2, 0, 5, 5, 1, 1]]), 1, 0, 6);
	assert.ok(round.segments.length < 10 && !round.cut);
	for (const seed of [1, 2, 3]) {
		let s = seed;
		const dice = (n) => (s = (s * 1103515245 + 12345) % 2147483648) % n;
		const waits = Array.from({ length: 300 }, () => {
			const from = dice(10000);
			const woken = from + dice(50);
			return [1 + dice(5), from, dice(9) ? woken : NaN, woken + 1 + dice(20), dice(5), dice(7)];
		});
		const { segments, cut } = criticalPath(threadsOf(waits), 1, 100, 9000);
		assert.equal(cut, false);
		assert.deepEqual([segments[0].from, segments.at(-1).to], [100, 9000]);
		assert.ok(segments.every(({ from, to }, i) => to > from && (i === 0 || from === segments[i - 1].to)), 'without gaps or overlaps');
		assert.equal(sumOf(segments).reduce((sum, { ns }) => sum + ns, 0), 8900);
	}
}

async function story(t) {
	const page = await t.open(t.view(make(t, 'MAKE_RECORDING', 'wakes')));
	await page.evaluate(() => {
		const { app, model } = globalThis.hodo;
		app.focus({ slice: [...model.slices.name].findIndex((name) => model.strings[name] === 'kv:request') });
	});
	await page.waitForFunction(() => globalThis.hodo.model.path?.found);
	const path = await page.evaluate(() => globalThis.hodo.model.path.found.segments.map(({ thread, from, to, what }) =>
		[thread, from, to, what]));
	const begin = await page.evaluate(() => Number(globalThis.hodo.model.beginNs % 1000000000n));
	const ms = (value) => value * 1e6 - begin;
	assert.deepEqual(path, [[10, ms(1), ms(2), 'runs'], [11, ms(2), ms(3), 'runs'], [12, ms(3), ms(4), 'runs'], [11, ms(4), ms(4.2), 'waits for a CPU'],
		[11, ms(4.2), ms(6), 'runs'], [10, ms(6), ms(6.5), 'waits for a CPU'], [10, ms(6.5), ms(7), 'runs'], [10, ms(7), ms(7.5), 'blocked'],
		[10, ms(7.5), ms(9), 'runs']]);
	const lists = page.locator('.path');
	await lists.first().waitFor();
	assert.deepEqual(await lists.first().locator('li').allTextContents(), ['kvd 10 runs 3.000 ms, 37.5 %', 'log 11 runs 2.800 ms, 35.0 %',
		'disk 12 runs 1.000 ms, 12.5 %', 'kvd 10 waits for a CPU 500.0 µs, 6.3 %', 'kvd 10 blocked 500.0 µs, 6.3 %', 'log 11 waits for a CPU 200.0 µs, 2.5 %']);
	assert.equal((await lists.nth(1).locator('li').allTextContents())[1], 'log 11 runs 1.000 ms');
	await t.screenshot(page, 'path');

	// The path is drawn below the tracks once the view has settled, coloured by state: most of it running.
	await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
	const drawn = await page.evaluate(() => {
		const { theme } = globalThis.hodo.app;
		const canvas = document.querySelector('canvas.overlay');
		const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
		return [theme.accent, theme.match, theme.loss].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16))).map((color) => {
			let n = 0;
			for (let i = 0; i < data.length; i += 4)
				n += data[i + 3] > 250 && color.every((value, k) => Math.abs(data[i + k] - value) < 12) ? 1 : 0;
			return n;
		});
	});
	assert.ok(drawn[0] > drawn[1] && drawn[1] > 100 && drawn[2] > 50, `pixels that run, wait, are blocked: ${drawn}`);

	// For a run: how long the thread had waited, and a way to the thread that woke it.
	await page.evaluate(() => {
		const { app, model } = globalThis.hodo;
		app.choose({ slice: model.threads.runAt(10, model.threads.lastWait(10, model.durationNs * 0.8).to) });
	});
	await page.getByText('Waited').waitFor();
	assert.match(await page.locator('.facts').textContent(), /Waited500.0 µs, blocked/);
	await page.evaluate((time) => {
		const { app, model } = globalThis.hodo;
		app.choose({ slice: model.threads.runAt(10, time) });
	}, ms(6.6));
	await page.getByText('Woken by').waitFor();
	assert.match(await page.locator('.facts').textContent(), /Waited4.500 ms, sleeps; 500.0 µs of it for a CPUWoken bylog 11/);
	await t.screenshot(page, 'woken');
	await page.getByRole('button', { name: 'log 11' }).click();
	const chosen = await page.evaluate(() => [globalThis.hodo.model.slices.id[globalThis.hodo.app.item.slice], globalThis.hodo.model.slices.begin[globalThis.hodo.app.item.slice]]);
	assert.deepEqual(chosen, [11, ms(4.2)]);
}

/* A recording as a scheduler makes it: the paths of all slices of threads have no gaps, and end. */
async function sound(t) {
	const page = await t.open(t.view(make(t, 'GEN_REPORT', 'both', '3000', '7')));
	const paths = await page.evaluate(async () => {
		const { app, model } = globalThis.hodo;
		const { slices, tracks } = model;
		const found = { paths: 0, bad: 0, waits: model.waits.n, wakers: 0 };
		for (let row = 0; row < slices.n; row++) {
			if (tracks[slices.track[row]].kind !== 'thread' || !model.processes[tracks[slices.track[row]].process].kernel)
				continue;
			app.choose({ slice: row });
			await new Promise((done) => { requestAnimationFrame(done); });
			const path = model.path?.slice === row ? model.path.found : null;
			if (!path)
				continue;
			found.paths++;
			const { segments } = path;
			found.wakers += segments.some(({ thread }) => thread !== tracks[slices.track[row]].tid) ? 1 : 0;
			if (segments[0].from !== slices.begin[row] || segments.at(-1).to !== slices.begin[row] + slices.duration[row] ||
			    segments.some(({ from }, i) => i > 0 && from !== segments[i - 1].to))
				found.bad++;
		}
		return found;
	});
	assert.ok(paths.waits > 500 && paths.paths > 20 && paths.wakers > 10, JSON.stringify(paths));
	assert.equal(paths.bad, 0);
}

await run({ byHand, story, sound });
