// SPDX-License-Identifier: MIT
//
// make_model.mjs TEMPLATE OUT.html [EVENTS] - a page with a made-up recording (docs/design/view.md), the same each time:
// a server's threads with nested slices, requests across threads, counters, CPUs, losses, hostile names.
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { pathToFileURL } from 'node:url';

const BYTES = { u8: 1, u16: 2, u32: 4, i32: 4, f64: 8 };
const WRITE = { u8: 'writeUInt8', u16: 'writeUInt16LE', u32: 'writeUInt32LE', i32: 'writeInt32LE', f64: 'writeDoubleLE' };
const COLUMNS = {
	slices: { track: 'u32', name: 'u32', kind: 'u8', flags: 'u8', depth: 'u16', begin: 'f64', duration: 'f64',
		self: 'f64', text: 'i32', id: 'f64' },
	instants: { track: 'u32', name: 'u32', time: 'f64', text: 'i32' },
	values: { track: 'u32', time: 'f64', value: 'f64' },
	losses: { process: 'u32', cpu: 'i32', begin: 'f64', end: 'f64', count: 'f64', cause: 'u32' },
	aggregates: { name: 'u32', track: 'u32', count: 'f64', total: 'f64', self: 'f64', min: 'f64', max: 'f64',
		histogram: 'u32', buckets: 'u32' },
	buckets: { log2x8: 'u16', count: 'f64' },
};

const up8 = (n) => Math.ceil(n / 8) * 8;

/* header: without its tables; tables: {name: {n, columns: {name: [type, bytes]}}}. */
export function container(header, tables) {
	const parts = [];
	let at = 0;
	const described = {};
	for (const [name, { n, columns }] of Object.entries(tables)) {
		described[name] = { n, columns: {} };
		for (const [column, [type, bytes]] of Object.entries(columns)) {
			described[name].columns[column] = { type, at, ...(bytes.length === n * BYTES[type] ? {} : { n: bytes.length }) };
			const padded = Buffer.alloc(up8(bytes.length));
			bytes.copy(padded);
			parts.push(padded);
			at += padded.length;
		}
	}
	let json = Buffer.from(JSON.stringify({ ...header, tables: described }));
	json = Buffer.concat([json, Buffer.alloc(up8(json.length) - json.length, ' ')]);
	const head = Buffer.alloc(16);
	head.write('HODOVIEW');
	head.writeUInt32LE(1, 8);
	head.writeUInt32LE(json.length, 12);
	return Buffer.concat([head, json, ...parts]);
}

/* Rows as objects -> {n, columns}. */
function table(name, rows) {
	const columns = {};
	for (const [column, type] of Object.entries(COLUMNS[name])) {
		const bytes = Buffer.alloc(rows.length * BYTES[type]);
		rows.forEach((row, i) => bytes[WRITE[type]](row[column], i * BYTES[type]));
		columns[column] = [type, bytes];
	}
	return { n: rows.length, columns };
}

/* An input for Model that contains nothing but what is given. */
export function bare(header, tables) {
	const nothing = ['slices', 'instants', 'values', 'losses'].map((name) =>
		[name, { n: 0, ...Object.fromEntries(Object.keys(COLUMNS[name]).map((column) => [column, new Float64Array(0)])) }]);
	return { header: { title: '', dir: '', begin_ns: '0', warnings: [], processes: [], totals: {}, ...header },
		tables: { ...Object.fromEntries(nothing), ...tables } };
}

function randomOf(seed) {
	let s = seed >>> 0;
	return () => {
		s = (s + 0x6d2b79f5) >>> 0;
		let t = Math.imul(s ^ (s >>> 15), 1 | s);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

class Maker {
	constructor(events, seed = 1) {
		this.random = randomOf(seed);
		this.events = events;
		this.strings = [];
		this.byString = new Map();
		this.tracks = [];
		this.rows = { slices: [], instants: [], values: [], losses: [] };
		this.texts = [];
		this.duration = 2.4e9;
	}

	string(text) {
		if (!this.byString.has(text))
			this.byString.set(text, this.strings.push(text) - 1);
		return this.byString.get(text);
	}

	text(text) {
		return this.texts.push(text) - 1;
	}

	track(kind, process, name, more = {}) {
		this.tracks.push({ kind, process, pid: 0, tid: 0, cpu: 0, name: this.string(name), depth: 1, coarse: false, ...more });
		return this.tracks.length - 1;
	}

	slice(track, name, begin, duration, more = {}) {
		const row = { track, name: this.string(name), kind: 0, flags: 0, depth: 0, begin: Math.round(begin),
			duration: Math.round(duration), self: Math.round(duration), text: -1, id: 0, ...more };
		this.tracks[track].depth = Math.max(this.tracks[track].depth, row.depth + 1);
		this.rows.slices.push(row);
		return row;
	}

	instant(track, name, time, text = -1) {
		this.rows.instants.push({ track, name: this.string(name), time: Math.round(time), text });
	}

	/* Makes a call and the calls inside of it; returns what is left of the budget. */
	call(track, names, begin, duration, depth, budget) {
		const name = names[Math.floor(this.random() * names.length)];
		const mark = name.startsWith('kv:');
		const slice = this.slice(track, name, begin, duration, { depth, kind: mark ? 0 : 1,
			text: mark ? this.text(`key="user${Math.floor(this.random() * 900)}" shard=${depth} bytes=${Math.round(duration)}`) : -1 });
		budget--;
		let at = slice.begin + duration * 0.04;
		const end = slice.begin + slice.duration;
		while (depth < 7 && budget > 0 && at < end - duration * 0.1 && duration > 200) {
			const part = duration * (0.05 + 0.4 * this.random());
			if (at + part > end)
				break;
			const before = budget;
			budget = this.call(track, names, at, part, depth + 1, Math.ceil(budget / 2)) + Math.floor(budget / 2);
			slice.self -= Math.round(part);
			at += part * (1.05 + 0.3 * this.random());
			if (budget >= before)
				break;
		}
		slice.self = Math.max(slice.self, 0);
		return budget;
	}

	worker(track, names, share) {
		const each = Math.max(this.duration / Math.max(share / 9, 1), 400);
		let at = this.random() * each;
		while (at < this.duration - each) {
			const long = each * (0.3 + 0.5 * this.random());
			this.call(track, names, at, long, 0, 12);
			if (this.random() < 0.3)
				this.instant(track, this.random() < 0.8 ? 'kv:evict' : 'kv:hit', at + long * this.random(),
					this.text(`age=${Math.floor(this.random() * 100)}`));
			at += long + each * 0.5 * this.random();
		}
	}

	requests(track, share) {
		const free = [];
		const each = this.duration / Math.max(share, 1);
		for (let at = 0, id = 1; at < this.duration * 0.97; at += each * (0.3 + 1.4 * this.random()), id++) {
			const long = each * (0.5 + 3 * this.random());
			let depth = free.findIndex((end) => end <= at);
			if (depth < 0)
				depth = free.push(0) - 1;
			free[depth] = at + long;
			this.slice(track, this.strings[this.tracks[track].name], at, Math.min(long, this.duration - at),
				{ kind: 2, depth, id, text: this.text(`id=${id} key="user${id % 900}"`), flags: at + long > this.duration ? 2 : 0 });
		}
	}

	counter(track, share) {
		let value = 1e6;
		for (let i = 0; i < share; i++) {
			value = Math.max(0, value + (this.random() - 0.48) * 4e4);
			if (this.random() < 0.002)
				value *= 0.4;
			this.rows.values.push({ track, time: Math.round((i / share) * this.duration), value: Math.round(value) });
		}
	}

	cpu(track, share, comms) {
		const each = this.duration / Math.max(share, 1);
		for (let at = 0; at < this.duration - each * 2;) {
			const long = each * (0.2 + 0.9 * this.random());
			const who = Math.floor(this.random() * comms.length);
			this.slice(track, comms[who], at, long, { kind: 3, id: 4211 + who });
			at += long + (this.random() < 0.4 ? each * this.random() : 0);
		}
	}
}

const FUNCTIONS = ['kv:get', 'kv:put', 'kv_lookup', 'hash_find', 'memcpy', 'kv:compact', 'pthread_mutex_lock', 'log_append',
	'std::vector<std::pair<int, std::string>>::emplace_back(int&&, std::string&&)', 'crc32'];

function hostile(m, track) {
	const names = ['<script>document.title="owned"</script>', '"><img src=x onerror=alert(1)>', 'tab\there\nline',
		'\u202egnitirw thgir', 'naïve 雪 🦉', ''];
	names.forEach((name, i) => m.slice(track, name, 2e8 * (i + 1), 1.5e8, { text: m.text(`path="</script>${name}"`) }));
}

export function makeModel(events = 20000, seed = 1) {
	const m = new Maker(events, seed);
	const processes = [
		{ pid: 4211, comm: 'kv-server', exe: '/usr/local/bin/kv-server', kernel: false },
		{ pid: 4300, comm: 'kv-client<b>', exe: '/home/u/kv-client', kernel: false },
	];
	const comms = ['kv-server', 'worker-0', 'worker-1', 'worker-2', 'kv-client<b>', 'ksoftirqd/0'];
	const workers = 4;
	for (let i = 0; i < workers; i++)
		m.worker(m.track('thread', 0, i ? `worker-${i}` : 'kv-server', { pid: 4211, tid: 4211 + i }), FUNCTIONS,
			(events * 0.6) / workers);
	m.requests(m.track('async', 0, 'kv:request', { pid: 4211 }), events * 0.1);
	m.counter(m.track('counter', 0, 'kv:cache_bytes', { pid: 4211 }), Math.ceil(events * 0.1));
	hostile(m, m.track('thread', 1, 'kv-client<b>', { pid: 4300, tid: 4300 }));
	for (let cpu = 0; cpu < 2; cpu++)
		m.cpu(m.track('cpu', -1, `CPU ${cpu}`, { cpu }), events * 0.1, comms);
	m.rows.losses.push(
		{ process: 0, cpu: 1, begin: 9e8, end: 9.6e8, count: 1234, cause: m.string('discarded: buffers were full') },
		{ process: 0, cpu: 0, begin: 1.7e9, end: 1.7004e9, count: 17, cause: m.string('overwritten') });
	return finish(m, processes, 1251);
}

/*
 * One thread of one program, with so little in it that rows have room to grow. longer: factors for slices by name;
 * slices with a factor of 0 are left out.
 */
export function makeFew(longer = {}) {
	const m = new Maker(0);
	const own = m.slice;
	m.slice = (track, name, begin, duration, more) => longer[name] !== 0 &&
		own.call(m, track, name, begin, duration * (longer[name] ?? 1), { ...more, self: (more.self ?? 0) * (longer[name] ?? 1) });
	const main = m.track('thread', 0, 'srv', { pid: 77, tid: 77 });
	for (let i = 0; i < 12; i++) {
		m.slice(main, 'srv:lookup', i * 2e8, 1.6e8, { self: 1e8 });
		for (let depth = 1; depth < 5; depth++)
			m.slice(main, 'ns::Store::compact', i * 2e8 + 3e7, 6e7, { depth, kind: 1, self: depth < 4 ? 0 : 6e7 });
		m.slice(main, 'ns::old', i * 2e8 + 1.1e8, 2e7, { depth: 1, kind: 1, self: 2e7 });
		m.slice(main, 'ns::fresh', i * 2e8 + 1.35e8, 2e7, { depth: 1, kind: 1, self: 2e7 });
	}
	m.instant(main, 'srv:note', 1e9);
	return finish(m, [{ pid: 77, comm: 'srv', exe: '/usr/bin/srv', kernel: false }]);
}

/* The result in the form that a page has. */
function finish(m, processes, lost = 0) {
	for (const name of ['slices', 'instants', 'values']) {
		const time = name === 'slices' ? 'begin' : 'time';
		m.rows[name].sort((a, b) => a.track - b.track || a[time] - b[time] || (a.depth ?? 0) - (b.depth ?? 0));
	}
	const { slices, instants, values } = m.rows;
	const total = slices.length * 2 + instants.length + values.length;
	const header = {
		title: `${processes[0].comm} – hodo.data`, dir: '/home/u/hodo.data', begin_ns: '1763737402123456789', duration_ns: m.duration,
		hodo: '0.6', warnings: [], strings: m.strings, processes, tracks: m.tracks,
		totals: { events: total, slices: slices.length, instants: instants.length, values: values.length,
			shown_slices: slices.length, shown_instants: instants.length, lost },
	};
	const encoded = m.texts.map((t) => Buffer.from(t));
	const at = Buffer.alloc(encoded.length * 4);
	const length = Buffer.alloc(encoded.length * 4);
	encoded.reduce((sum, bytes, i) => {
		at.writeUInt32LE(sum, i * 4);
		length.writeUInt32LE(bytes.length, i * 4);
		return sum + bytes.length;
	}, 0);
	const tables = Object.fromEntries(Object.entries(m.rows).map(([name, rows]) => [name, table(name, rows)]));
	return { header, tables, main: container(header, tables), text: container({}, { text: { n: encoded.length,
		columns: { at: ['u32', at], length: ['u32', length], bytes: ['u8', Buffer.concat(encoded)] } } }) };
}

/* after: the other recording, for a comparison. */
export function makePage(template, { main, text, header }, after = null) {
	const element = (id, data) => `<script type="text/plain" id="${id}">${deflateSync(data).toString('base64')}</script>`;
	const data = element('hodo-main', main) + element('hodo-text', text) +
		(after ? element('hodo-after', after.main) + element('hodo-after-text', after.text) : '');
	return template.replace('<!--hodo:title-->', () => header.title).replace('<!--hodo:data-->', () => data);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
	const [, , template, out, events] = process.argv;
	writeFileSync(out, makePage(readFileSync(template, 'utf8'), makeModel(Number(events) || 20000)));
}
