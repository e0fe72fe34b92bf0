// SPDX-License-Identifier: MIT
// search.js - which slices and points match a text: by their names at once, by their fields when those are taken apart.

const SCAN_STEP = 4 << 20; // bytes of fields between two looks at the clock
const NONE = -1;

/* Merges runs that are each in order of time into one. refs, times: typed arrays; ends: of the runs. */
function mergeRuns(refs, times, ends) {
	let from = { refs, times };
	let to = { refs: new refs.constructor(refs.length), times: new Float64Array(times.length) };
	while (ends.length > 1) {
		const merged = [];
		let begin = 0;
		for (let i = 0; i < ends.length; i += 2) {
			const middle = ends[i];
			const end = ends[i + 1] ?? middle;
			let a = begin;
			let b = middle;
			for (let out = begin; out < end; out++) {
				const left = a < middle && (b >= end || from.times[a] <= from.times[b]);
				const at = left ? a++ : b++;
				to.refs[out] = from.refs[at];
				to.times[out] = from.times[at];
			}
			merged.push(end);
			begin = end;
		}
		ends = merged;
		[from, to] = [to, from];
	}
	return from;
}

/* Where needle (bytes, lower case) is in bytes[from, to), ASCII letters being the same in both cases; -1: nowhere. */
function findBytes(bytes, needle, from, to) {
	const last = to - needle.length;
	const first = needle[0];
	const upper = first >= 0x61 && first <= 0x7a ? first - 32 : first;
	for (let i = from; i <= last; i++) {
		if (bytes[i] !== first && bytes[i] !== upper)
			continue;
		let j = 1;
		for (; j < needle.length; j++) {
			const c = bytes[i + j];
			if ((c >= 0x41 && c <= 0x5a ? c + 32 : c) !== needle[j])
				break;
		}
		if (j === needle.length)
			return i;
	}
	return -1;
}

/* A match is one number: a slice's row, or that of an instant plus the number of slices. */
export class Search {
	constructor(model, changed) {
		this.model = model;
		this.changed = changed;
		this.generation = 0;
		this.text = '';
		this.names = null; // by name: 1 if it matches
		this.texts = null; // by row of text: 1 if it matches
		this.refs = null;
		this.times = null;
		this.at = NONE;
		this.busy = false;
	}

	get active() {
		return this.text !== '';
	}

	get count() {
		return this.refs ? this.refs.length : 0;
	}

	set(text) {
		this.text = text.trim().toLowerCase();
		this.generation++;
		this.at = NONE;
		this.texts = null;
		this.names = null;
		this.refs = null;
		this.busy = false;
		if (this.active) {
			this.names = Uint8Array.from(this.model.strings, (s) => (s.toLowerCase().includes(this.text) ? 1 : 0));
			this.#collect();
			this.#scanFields(this.generation);
		}
		this.changed();
	}

	matchesSlice(row) {
		const { slices } = this.model;
		return this.names[slices.name[row]] === 1 || (this.texts !== null && this.texts[slices.text[row]] === 1);
	}

	matchesInstant(row) {
		const { instants } = this.model;
		return this.names[instants.name[row]] === 1 || (this.texts !== null && this.texts[instants.text[row]] === 1);
	}

	item(ref) {
		const n = this.model.slices.n;
		return ref < n ? { slice: ref } : { instant: ref - n };
	}

	/* The match after (before) the current one, or after (before) time if there is none; goes round. null: no match. */
	step(forward, time) {
		if (!this.count)
			return null;
		if (this.at === NONE) {
			let low = 0;
			let high = this.count;
			while (low < high) {
				const middle = (low + high) >>> 1;
				if (this.times[middle] < time)
					low = middle + 1;
				else
					high = middle;
			}
			this.at = forward ? low : low - 1;
		} else {
			this.at += forward ? 1 : -1;
		}
		this.at = (this.at + this.count) % this.count;
		return this.item(this.refs[this.at]);
	}

	#collect() {
		const { slices, instants, tracks } = this.model;
		const current = this.at === NONE ? NONE : this.refs[this.at];
		let n = 0;
		const hit = new Uint8Array(slices.n + instants.n);
		for (let i = 0; i < slices.n; i++)
			n += hit[i] = this.matchesSlice(i) ? 1 : 0;
		for (let i = 0; i < instants.n; i++)
			n += hit[slices.n + i] = this.matchesInstant(i) ? 1 : 0;
		const refs = new Uint32Array(n);
		const times = new Float64Array(n);
		const ends = [];
		let out = 0;
		const run = (from, to, base, column) => {
			const begin = out;
			for (let i = from; i < to; i++)
				if (hit[base + i]) {
					refs[out] = base + i;
					times[out++] = column[i];
				}
			if (out > begin)
				ends.push(out);
		};
		for (const track of tracks) {
			run(track.slices[0], track.slices[1], 0, slices.begin);
			run(track.instants[0], track.instants[1], slices.n, instants.time);
		}
		const merged = mergeRuns(refs.subarray(0, out), times.subarray(0, out), ends);
		this.refs = merged.refs;
		this.times = merged.times;
		this.at = current === NONE ? NONE : this.refs.indexOf(current);
	}

	async #scanFields(generation) {
		this.busy = true;
		// While letters still come, nothing is begun that takes long.
		await new Promise((resolve) => { setTimeout(resolve, 150); });
		if (generation !== this.generation)
			return;
		try {
			await this.model.loadText();
		} catch {
			this.busy = false;
			this.changed();
			return;
		}
		const { at, length, bytes } = this.model.texts;
		const needle = new TextEncoder().encode(this.text);
		const found = new Uint8Array(at.length);
		let any = false;
		let row = 0;
		for (let from = 0; from < bytes.length; from += SCAN_STEP) {
			if (generation !== this.generation)
				return;
			const to = Math.min(bytes.length, from + SCAN_STEP + needle.length - 1);
			for (let i = findBytes(bytes, needle, from, to); i >= 0; i = findBytes(bytes, needle, i + 1, to)) {
				while (row + 1 < at.length && at[row + 1] <= i)
					row++;
				if (row < at.length && i >= at[row] && i + needle.length <= at[row] + length[row]) {
					found[row] = 1;
					any = true;
				}
			}
			await new Promise((resolve) => { setTimeout(resolve, 0); });
		}
		if (generation !== this.generation)
			return;
		this.busy = false;
		if (any) {
			this.texts = found;
			this.generation++;
			this.#collect();
		}
		this.changed();
	}
}
