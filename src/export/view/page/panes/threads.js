// SPDX-License-Identifier: MIT
// threads.js - what the kernel's scheduler did with each thread: when it ran and on which CPU, when it waited and who woke it.

import { SLICE_RUNNING, shownId } from '../data/data.js';
import { firstAbove } from '../timeline/rows.js';

export const WHYS = ['preempted', 'sleeps', 'blocked', 'stopped', 'ended', 'not known']; // enum hodo_sched_why

const NONE = { rows: [], ends: [] };

/* rows by key, each in the order of their times: Map of {rows, ends: those times} */
function grouped(rows, keyOf, timeOf) {
	const groups = new Map();
	for (const row of rows) {
		const key = keyOf(row);
		if (!groups.has(key))
			groups.set(key, { rows: [] });
		groups.get(key).rows.push(row);
	}
	for (const group of groups.values()) {
		group.rows.sort((a, b) => timeOf(a) - timeOf(b));
		group.ends = Float64Array.from(group.rows, timeOf);
	}
	return groups;
}

/* A thread is known by its number. Made once for a model that has waits. */
export class Threads {
	constructor(model) {
		this.model = model;
		const { waits, slices } = model;
		// Those that took no time are none.
		const lasting = Array.from({ length: waits.n }, (_, i) => i).filter((i) => waits.duration[i] > 0);
		this.waits = grouped(lasting, (i) => waits.thread[i], (i) => waits.begin[i] + waits.duration[i]);
		const running = [];
		for (const { kind, slices: [from, to] } of model.tracks)
			for (let row = from; row < to && kind === 'cpu'; row++)
				if (slices.kind[row] === SLICE_RUNNING)
					running.push(row);
		this.runs = grouped(running, (row) => slices.id[row], (row) => slices.begin[row]);
		this.tracks = new Map();
		// The program's own track has what it did; the kernel's has its system calls.
		for (const track of model.tracks.filter((t) => t.kind === 'thread'))
			if (!this.tracks.has(track.tid) || !model.processes[track.process]?.kernel)
				this.tracks.set(track.tid, track);
	}

	/* null: nothing of it is on the page but its runs. */
	track(tid) {
		return this.tracks.get(tid) ?? null;
	}

	name(tid) {
		const track = this.track(tid);
		if (track)
			return track.title;
		const { slices } = this.model;
		const run = this.runs.get(tid)?.rows[0];
		return run === undefined ? `thread ${shownId(tid)}` : `${this.model.name(slices.name[run])} ${shownId(tid)}`;
	}

	/* The last wait of a thread that was over at a time: {from, woken: NaN if not known, to, why, waker: 0 if nobody}; null. */
	lastWait(tid, time) {
		const { rows, ends } = this.waits.get(tid) ?? NONE;
		const at = firstAbove(ends, time, 0, rows.length) - 1;
		return at < 0 ? null : this.#wait(rows[at]);
	}

	/* The wait that ended with a run's start. */
	waitBefore(slice) {
		const { slices } = this.model;
		const wait = this.lastWait(slices.id[slice], slices.begin[slice]);
		return wait?.to === slices.begin[slice] ? wait : null;
	}

	#wait(row) {
		const { waits } = this.model;
		return { from: waits.begin[row], woken: waits.woken[row], to: waits.begin[row] + waits.duration[row], why: waits.why[row],
			waker: waits.waker[row] };
	}

	/* When a thread ran last before a time, or at it: {from, to}; null: it is not known to have run. */
	lastRun(tid, time) {
		const { slices } = this.model;
		const { rows, ends } = this.runs.get(tid) ?? NONE;
		const row = rows[firstAbove(ends, time, 0, rows.length) - 1];
		return row === undefined ? null : { from: slices.begin[row], to: slices.begin[row] + slices.duration[row] };
	}

	/* The slice of a CPU's track in which a thread ran at a time; -1: none is known. */
	runAt(tid, time) {
		const { slices } = this.model;
		const { rows, ends } = this.runs.get(tid) ?? NONE;
		const row = rows[firstAbove(ends, time, 0, rows.length) - 1];
		return row !== undefined && slices.begin[row] + slices.duration[row] >= time ? row : -1;
	}
}
