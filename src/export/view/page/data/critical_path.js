// SPDX-License-Identifier: MIT
// critical_path.js - what a stretch of a thread's time was spent on: itself, waiting for a CPU, or what another thread did
// before it woke this one.
//
// It is followed backwards from the end. A thread that was woken by another one waited for what that one had done since the
// wait began, so that time is the other one's; where nobody is known to have woken it, it is the wait's own.

import { WHYS } from '../panes/threads.js';

export const RUNS = 'runs';
export const NOT_RUNNING = 'is not known to run';
export const WAITS_FOR_CPU = 'waits for a CPU';

const SEGMENTS_MAX = 2000;
const STEPS_MAX = 20000;
const STILL_MAX = 20;

/*
 * {segments: [{thread, from, to, what: RUNS, NOT_RUNNING, WAITS_FOR_CPU or of WHYS}…] in order of time, without gaps; cut: there is more
 * before the first}
 */
export function criticalPath(threads, thread, from, to) {
	const path = [];
	const todo = [{ thread, from, to }]; // stretches that are to be followed, the last one first
	let steps = 0;
	const add = (who, begin, end, what) => {
		if (end > begin)
			path.push({ thread: who, from: begin, to: end, what });
	};
	while (todo.length && path.length < SEGMENTS_MAX && steps++ < STEPS_MAX) {
		const now = todo.pop();
		const wait = now.to > now.from ? threads.lastWait(now.thread, now.to) : null;
		const since = wait ? Math.max(wait.to, now.from) : now.from;
		// Where the recording ends before the wait does, it is known only that the thread did not run.
		const run = threads.lastRun(now.thread, now.to);
		const ran = run ? Math.min(now.to, Math.max(run.to, since)) : since;
		add(now.thread, ran, now.to, NOT_RUNNING);
		add(now.thread, since, ran, RUNS);
		if (since === now.from)
			continue;
		const begin = Math.max(now.from, wait.from);
		const woken = Number.isNaN(wait.woken) ? wait.to : Math.max(begin, wait.woken);
		add(now.thread, woken, wait.to, WAITS_FOR_CPU);
		todo.push({ thread: now.thread, from: now.from, to: begin });
		// Threads that woke each other at once are followed no further: that leads nowhere.
		const still = begin === now.from && woken === now.to ? (now.still ?? 0) + 1 : 0;
		if (wait.waker && wait.waker !== now.thread && still < STILL_MAX)
			todo.push({ thread: wait.waker, from: begin, to: woken, still });
		else
			add(now.thread, begin, woken, WHYS[wait.why] ?? WHYS.at(-1));
	}
	return { segments: path.reverse(), cut: todo.length > 0 };
}

/* Times of a path: [{thread, what, ns}…], the longest first. */
export function sumOf(segments) {
	const sums = new Map();
	for (const { thread, what, from, to } of segments) {
		const key = `${thread} ${what}`;
		const sum = sums.get(key) ?? { thread, what, ns: 0 };
		sum.ns += to - from;
		sums.set(key, sum);
	}
	return [...sums.values()].sort((a, b) => b.ns - a.ns);
}
