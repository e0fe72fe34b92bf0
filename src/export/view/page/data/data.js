// SPDX-License-Identifier: MIT
// data.js - takes the recording out of the page (docs/design/view.md) and holds it as typed arrays.

import { figuresOf } from '../panes/distributions.js';
import { EventRows } from '../panes/event_rows.js';
import { Pyramid } from './pyramid.js';
import { firstAbove, trackRows } from '../timeline/rows.js';
import { Threads } from '../panes/threads.js';

const MAGIC = 'HODOVIEW';
const VERSION = 1;
const BASE64_STEP = 1 << 20; // a multiple of 4, so that each step stands for itself

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

export const SLICE_SPAN = 0;
export const SLICE_CALL = 1;
export const SLICE_ASYNC = 2;
export const SLICE_RUNNING = 3;

export const SLICE_LEFT = 1;
export const SLICE_OPEN = 2;
export const SLICE_NO_EXIT = 4;
export const SLICE_END_LOST = 8;
export const SLICE_SPLIT = 16;
export const SLICE_CONTINUED = 32;

/* A recording's texts may hold anything: what could not be seen, or turns the writing's direction, is made visible. */
export function printable(text) {
	return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => {
		const code = c.codePointAt(0);
		if (code < 0x20)
			return String.fromCharCode(0x2400 + code);
		return `\\u{${code.toString(16)}}`;
	});
}

function bytesOfBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/* Base64 of a zlib stream -> an ArrayBuffer. */
async function inflate(base64) {
	if (!globalThis.DecompressionStream)
		throw new Error('this browser is too old for it (it has no DecompressionStream)');
	const text = base64.trim();
	const parts = [];
	for (let at = 0; at < text.length; at += BASE64_STEP)
		parts.push(bytesOfBase64(text.slice(at, at + BASE64_STEP)));
	return new Response(new Blob(parts).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
}

/* A container -> {header, tables: {name: {n, column: typed array…}}}. */
export function takeApart(buffer) {
	const bytes = new Uint8Array(buffer);
	if (bytes.length < 16 || String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC)
		throw new Error('the page holds no recording, or its data is damaged');
	const view = new DataView(buffer);
	const version = view.getUint32(8, true);
	if (version !== VERSION)
		throw new Error(`the data has version ${version}, this page reads version ${VERSION}`);
	const headerLength = view.getUint32(12, true);
	if (16 + headerLength > bytes.length)
		throw new Error('the data ends within its header');
	const header = JSON.parse(new TextDecoder().decode(bytes.subarray(16, 16 + headerLength)));
	const base = Math.ceil((16 + headerLength) / 8) * 8;
	const tables = {};
	for (const [name, table] of Object.entries(header.tables)) {
		const columns = { n: table.n };
		for (const [column, { type, at, n }] of Object.entries(table.columns)) {
			const array = ARRAYS[type];
			// Bytes have no rows: they go on to the end.
			const count = n ?? (column === 'bytes' ? buffer.byteLength - base - at : table.n);
			if (!array || count < 0 || base + at + count * array.BYTES_PER_ELEMENT > buffer.byteLength)
				throw new Error(`the data of ${name}.${column} is cut off`);
			columns[column] = new array(buffer, base + at, count);
		}
		tables[name] = columns;
	}
	return { header, tables };
}

/* Thread IDs of several hosts differ on the page by what is above the kernel's largest one. */
export function shownId(tid) {
	return tid % 2 ** 22;
}

export class Model {
	constructor({ header, tables }) {
		this.title = printable(header.title || 'recording');
		this.dir = printable(header.dir);
		this.beginNs = BigInt(header.begin_ns);
		this.durationNs = Math.max(header.duration_ns, 1);
		this.warnings = header.warnings.map(printable);
		this.strings = header.strings.map(printable);
		this.processes = header.processes.map((p) => ({ ...p, comm: printable(p.comm), exe: printable(p.exe) }));
		this.totals = header.totals;
		this.omitted = { n: 0, track: [], begin: [], end: [], count: [] }; // if everything is shown
		this.waits = { n: 0 };
		this.flows = { n: 0, slice: [], from: [], to: [] }; // if there is none
		this.links = { n: 0, from: [], to: [], begin: [], end: [] };
		Object.assign(this, tables);
		this.tracks = header.tracks.map((track, index) => this.#makeTrack(track, index));
		this.texts = null;
		this.textSource = null; // () => Promise<ArrayBuffer>
	}

	#makeTrack(t, index) {
		// Tables are in the order of tracks.
		const range = ({ n, track }) => [firstAbove(track, index - 1, 0, n), firstAbove(track, index, 0, n)];
		return { ...t, index, name: this.strings[t.name], nameId: t.name, ...this.#titles(t),
			slices: range(this.slices), instants: range(this.instants), values: range(this.values), omitted: range(this.omitted) };
	}

	/* As people call a track: title: "worker 4711"; longTitle: with its process, if there are several. */
	#titles({ kind, name, process: index, tid }) {
		const title = kind === 'thread' ? `${this.strings[name] || 'thread'} ${shownId(tid)}` : this.strings[name];
		const process = this.processes.length > 1 ? this.processes[index] : null;
		const alone = !process || (kind === 'thread' && shownId(tid) === process.pid);
		return { title, longTitle: alone ? title : `${title} · ${process.comm} ${process.pid}` };
	}

	name(index) {
		return this.strings[index] || '(no name)';
	}

	/* How often each string is the name of a slice, point or counter. */
	nameCounts() {
		const counts = new Float64Array(this.strings.length);
		for (const { n, name } of [this.slices, this.instants])
			for (let i = 0; i < n; i++)
				counts[name[i]]++;
		for (const track of this.tracks)
			counts[track.nameId] += track.values[1] - track.values[0];
		return counts;
	}

	/* Not everything is shown: totals and aggregates say what is missing. */
	get thinned() {
		return ['slices', 'instants', 'values'].some((what) => this.totals[`shown_${what}`] < this.totals[what]);
	}

	/* What the scheduler did; null: the recording has nothing of it. */
	get threads() {
		if (this.waits.n > 0)
			this.threadRows ??= new Threads(this);
		return this.threadRows ?? null;
	}

	/* Slices, points and losses in one list. */
	get events() {
		this.eventRows ??= new EventRows(this);
		return this.eventRows;
	}

	/* Rows of slices of a track, one for each depth (rows.js). */
	rows(track) {
		track.rowCache ??= trackRows(this.slices, track);
		return track.rowCache;
	}

	/*
	 * Of a counter's track: {pyramid of its values, least, greatest: of them, NaN if none is a number, part(value): how far
	 * up it is drawn, 0 … 1}. The axis goes from zero, or the least that is finite, to the greatest; infinite ones are drawn
	 * at its ends. NaN: no number, nowhere.
	 */
	counterScale(track) {
		if (!track.scale) {
			const values = this.values.value.subarray(...track.values);
			const { min: least, max: greatest } = figuresOf(values);
			const { min, max } = figuresOf(values.filter(Number.isFinite));
			const low = min < 0 ? min : 0;
			const high = max > low ? max : low;
			const span = high / 2 - low / 2 || 1; // all of it may be more than there are numbers for
			track.scale = { pyramid: new Pyramid(values), least, greatest,
				part: (value) => (Math.max(low, Math.min(high, value)) / 2 - low / 2) / span };
		}
		return track.scale;
	}

	/* The row of the slice that this one is inside of; -1: none. */
	parent(row) {
		const depth = this.slices.depth[row];
		const track = this.tracks[this.slices.track[row]];
		if (depth === 0 || track.kind === 'async')
			return -1;
		return this.rows(track)[depth - 1]?.sliceAt(this.slices.begin[row]) ?? -1;
	}

	/* The fields of an event as text. null: they are not taken apart yet; loadText() does, and resolves when done. */
	text(row) {
		if (row < 0)
			return '';
		if (!this.texts)
			return null;
		const { at, length, bytes } = this.texts;
		if (row >= at.length)
			return '';
		this.decoder ??= new TextDecoder();
		return printable(this.decoder.decode(bytes.subarray(at[row], at[row] + length[row])));
	}

	loadText() {
		this.textPromise ??= (async () => {
			this.texts = takeApart(await this.textSource()).tables.text;
		})();
		return this.textPromise;
	}
}

/* The recording in two of the page's elements. */
export async function loadModel(doc, mainId = 'hodo-main', textId = 'hodo-text') {
	const main = doc.getElementById(mainId);
	const text = doc.getElementById(textId);
	if (!main)
		throw new Error('the page holds no recording');
	const model = new Model(takeApart(await inflate(main.textContent)));
	main.textContent = ''; // 4/3 of the compressed data: not needed twice
	model.textSource = async () => {
		const buffer = await inflate(text.textContent);
		text.textContent = '';
		return buffer;
	};
	return model;
}
