// SPDX-License-Identifier: MIT
// search.js - which slices, points and losses match a text: by their names at once, by their fields when those are taken
// apart.

const SCAN_ROWS = 10000; // fields that are looked at at once
const NONE = -1;

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export class Search {
	constructor(model, changed) {
		Object.assign(this, { model, changed });
		this.#clear('');
	}

	get active() {
		return this.text !== '';
	}

	get count() {
		return this.refs.length;
	}

	#clear(text) {
		this.text = text;
		this.scan = null; // what looks at fields now
		this.names = null; // by name: 1 if it matches
		this.texts = null; // by row of text: 1 if it matches
		this.hits = null; // by ref (event_rows.js): 1 if it matches
		this.refs = []; // those slices and points that do, by time
		this.at = NONE;
	}

	set(given) {
		const text = given.trim().toLowerCase();
		if (text === this.text)
			return;
		this.#clear(text);
		if (this.active) {
			this.names = Uint8Array.from(this.model.strings, (s) => (s.toLowerCase().includes(this.text) ? 1 : 0));
			this.#collect();
			this.#scanFields(this.scan = {});
		}
		this.changed();
	}

	get busy() {
		return this.scan !== null;
	}

	/* The match after (before) the current one, or after (before) time if there is none; goes round. null: no match. */
	step(forward, time) {
		const { model, refs, count } = this;
		if (!count)
			return null;
		if (this.at === NONE) {
			const next = refs.findIndex((ref) => model.events.time[ref] >= time);
			this.at = (next < 0 ? count : next) - (forward ? 0 : 1);
		} else {
			this.at += forward ? 1 : -1;
		}
		this.at = (this.at + count) % count;
		return model.events.item(refs[this.at]);
	}

	#collect() {
		const { events } = this.model;
		const current = this.refs[this.at];
		this.hits = events.name.map((name, ref) => this.names[name] || this.texts?.[events.text[ref]]);
		this.refs = events.byTime.filter((ref) => this.hits[ref] && !events.isLoss(ref));
		this.at = current === undefined ? NONE : this.refs.indexOf(current);
	}

	async #scanFields(scan) {
		// While letters still come, nothing is begun that takes long.
		await pause(150);
		if (scan !== this.scan)
			return;
		const { model } = this;
		await model.loadText().catch(() => {}); // without fields, names alone are searched
		const found = new Uint8Array(model.texts?.at.length ?? 0);
		for (let row = 0; row < found.length; row++) {
			if (row % SCAN_ROWS === 0)
				await pause(0);
			if (scan !== this.scan)
				return;
			found[row] = model.text(row).toLowerCase().includes(this.text) ? 1 : 0;
		}
		this.scan = null;
		if (found.includes(1)) {
			this.texts = found;
			this.#collect();
		}
		this.changed();
	}
}
