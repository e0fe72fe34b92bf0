// SPDX-License-Identifier: MIT
//
// test_kernel.mjs - a recording of the kernel and of a program on one timeline: what ran on each CPU, and when.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { check, equal, hodo, run } from './lib.mjs';

function make(t) {
	const dir = join(t.dir, 'both');
	execFileSync(process.env.GEN_REPORT, ['both', dir, '3000', '7']);
	return dir;
}

await run({
	/* The times on CPUs, thread by thread, add up to those in hodo report. */
	cpus: async (t) => {
		const dir = make(t);
		const page = await t.open(t.view(dir));
		const seen = await page.evaluate(async () => {
			const { model } = globalThis.hodo;
			const { tracks, slices, strings } = model;
			await model.loadText();
			const threads = {};
			const whys = new Set();
			let overlaps = 0;
			const ends = new Map();
			for (let i = 0; i < slices.n; i++) {
				const track = slices.track[i];
				if (tracks[track].kind !== 'cpu')
					continue;
				// Threads often have the same name: the text beside it tells them apart.
				const [, tid, why] = /^pid=\d+ tid=(\d+) why="(\w+)"$/.exec(model.text(slices.text[i]));
				const name = `${strings[slices.name[i]]}[${tid}]`;
				whys.add(why);
				const row = (threads[name] ??= { count: 0, ns: 0 });
				row.count++;
				row.ns += slices.duration[i];
				overlaps += slices.begin[i] < (ends.get(track) ?? -Infinity);
				ends.set(track, slices.begin[i] + slices.duration[i]);
			}
			return { threads, overlaps, whys: [...whys].sort(), kinds: tracks.map((k) => k.kind) };
		});
		const told = JSON.parse(hodo('report', '-q', '--json', '-n', '1000', dir)).running;
		check(told.length > 5, 'threads ran');
		equal(seen.kinds.filter((kind) => kind === 'cpu').length, 2);
		equal(seen.overlaps, 0, 'a CPU runs one thread at a time');
		equal(seen.whys, ['blocked', 'preempted', 'sleeps', 'stopped', 'unknown']);
		await t.screenshot(page, 'cpus');
		for (const row of told)
			equal(seen.threads[row.thread], { count: row.count, ns: row.total_ns }, row.thread);
	},
});
