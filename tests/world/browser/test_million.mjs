// SPDX-License-Identifier: MIT
//
// test_million.mjs [--json] - a recording of 1,000,000 events: the page's size, the times to write it, and to open and
// draw it, and frames while it is zoomed and moved. The test reports times but does not judge them: bench/ has targets.
// With --json the figures are printed as one object.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { check, hodo, run } from './lib.mjs';

const EVENTS = Number(process.env.EVENTS ?? 1000000);
const json = process.argv.includes('--json');
process.argv = process.argv.filter((a) => a !== '--json');

/* ms from the request to the first frame that shows everything. */
function opened(page) {
	return page.evaluate(() => new Promise((done) => {
		const wait = () => (document.documentElement.dataset.ready ? requestAnimationFrame(() =>
			requestAnimationFrame(() => done(performance.now()))) : setTimeout(wait, 2));
		wait();
	}));
}

/* ms between frames while keys are held down: zooming in, moving, zooming out. */
async function frames(page) {
	await page.click('#tab-timeline');
	await page.evaluate(() => {
		globalThis.frameTimes = [];
		let last = performance.now();
		const step = (now) => {
			if (!globalThis.frameTimes)
				return;
			globalThis.frameTimes.push(now - last);
			last = now;
			requestAnimationFrame(step);
		};
		requestAnimationFrame(step);
	});
	for (const key of ['w', 'd', 'a', 's', 'w', 'd']) {
		await page.keyboard.down(key);
		await page.waitForTimeout(600);
		await page.keyboard.up(key);
	}
	const times = await page.evaluate(() => {
		const t = globalThis.frameTimes;
		globalThis.frameTimes = null;
		return t.slice(2);
	});
	times.sort((a, b) => a - b);
	return { frames: times.length, median: times[times.length >> 1], p99: times[Math.floor(times.length * 0.99)] };
}

await run({
	million: async (t) => {
		const dir = join(t.dir, 'million');
		const path = join(t.dir, 'million.html');
		execFileSync(process.env.MAKE_RECORDING, ['requests', dir, String(EVENTS)]);
		let at = process.hrtime.bigint();
		hodo('view', '-q', '-o', path, dir);
		const write = Number(process.hrtime.bigint() - at) / 1e6;
		const page = await t.open(path, { wait: false });
		const open = await opened(page);
		const shown = await page.evaluate(() => globalThis.hodo.model.totals);
		await t.screenshot(page, 'timeline');
		const from = await page.evaluate(() => globalThis.hodo.app.viewFrom());
		const moved = await frames(page);
		await t.screenshot(page, 'moved');
		at = process.hrtime.bigint();
		await page.click('#tab-table');
		await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
		const table = Number(process.hrtime.bigint() - at) / 1e6;
		const told = { events: shown.events, bytes: statSync(path).size, write_ms: write, open_ms: open, frames: moved.frames,
			frame_ms_median: moved.median, frame_ms_p99: moved.p99, table_ms: table };
		console.log(json ? JSON.stringify(told) : told);
		check(shown.events === EVENTS && shown.shown_slices === shown.slices, 'everything is shown');
		check(told.bytes < 40 * EVENTS, `${told.bytes} bytes`);
		check(from !== await page.evaluate(() => globalThis.hodo.app.viewFrom()), 'it moves');
	},
});
