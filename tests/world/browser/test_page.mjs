// SPDX-License-Identifier: MIT
//
// test_page.mjs - the page as a whole: it opens, requests nothing from the network, and shows what a recording holds as
// nothing but text.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, equal, hodo, needPage, ready, run } from './lib.mjs';

export function make(t, what, events = 10000) {
	const dir = join(t.dir, what);
	execFileSync(process.env.MAKE_RECORDING, [what, dir, String(events)]);
	return dir;
}

const PANES = ['timeline', 'flame', 'histograms', 'table'];

/* Shows each pane as a user first sees it. */
async function tour(t, page, name) {
	for (const pane of PANES) {
		await page.click(`#tab-${pane}`);
		await page.waitForTimeout(300);
		await t.screenshot(page, `${name}-${pane}`);
	}
	await page.click('#tab-timeline');
}

await run({
	/* A recording like the store's, in both themes. Requests, errors and breaches of the policy fail any case. */
	opens: async (t) => {
		const path = t.view(make(t, 'requests', 20000));
		for (const scheme of ['light', 'dark']) {
			const page = await t.open(path, { scheme });
			equal(await page.title(), 'kvd[412] – hodo view');
			await tour(t, page, scheme);
		}
	},

	/* The page contains what hodo stat counts. */
	holds_the_recording: async (t) => {
		const dir = make(t, 'requests', 20000);
		const page = await t.open(t.view(dir));
		const told = JSON.parse(hodo('stat', '--json', dir));
		const counts = Object.fromEntries(told.events.map((e) => [e.name, e.count]));
		const model = await page.evaluate(async () => {
			const { model: m } = globalThis.hodo;
			await m.loadText();
			const names = {};
			for (const table of [m.slices, m.instants])
				for (let i = 0; i < table.n; i++)
					names[m.strings[table.name[i]]] = (names[m.strings[table.name[i]]] ?? 0) + 1;
			return { names, totals: m.totals, values: m.values.n, thinned: m.thinned,
				first: m.text(m.slices.text[0]), begin: String(m.beginNs), tracks: m.tracks.map((k) => k.kind) };
		});
		equal(model.totals.events, told.recorded);
		equal(model.totals.lost, 0);
		for (const name of ['kv:request', 'kv:parse', 'kv:lookup', 'kv:flow'])
			equal(model.names[name], counts[`${name}.begin`], name);
		for (const name of ['kv:note', 'kv:mark'])
			equal(model.names[name], counts[name], name);
		equal(model.values, counts['kv:entries']);
		equal(model.thinned, false);
		equal(model.first, 'key="user:0" shard=0');
		equal(model.begin, '1795000000001000200');
		equal(model.tracks.slice().sort(), ['async', 'counter', 'thread', 'thread', 'thread', 'thread']);
	},

	/* The file: a policy that lets the page load nothing, no parts from elsewhere, the libraries' licences. */
	policy: async (t) => {
		needPage();
		const html = readFileSync(t.view(make(t, 'requests', 1000)), 'utf8');
		const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)[1];
		check(policy.startsWith("default-src 'none';") && !policy.includes('unsafe') && !/https?:|\*/.test(policy), policy);
		check(html.indexOf('Content-Security-Policy') < html.indexOf('<style'), 'the policy comes first');
		equal(html.match(/<script\b[^>]*>/g), ['<script type="text/plain" id="hodo-main">',
			'<script type="text/plain" id="hodo-text">', '<script type="text/plain" id="hodo-licences">', '<script>']);
		check(!/<(?:img|link|iframe|object|embed|base|form\s+action)\b/.test(html), 'nothing is loaded');
		for (const name of ['uplot', 'd3-hierarchy'])
			check(html.includes(`${name} `), `the licence of ${name}`);
		// The policy works: it stops a script and a request that are not the page's.
		const page = await t.open(t.write('x.html', html));
		const stopped = await page.evaluate(async () => {
			const seen = [];
			document.addEventListener('securitypolicyviolation', (e) => seen.push(e.effectiveDirective));
			const script = document.createElement('script');
			script.textContent = 'globalThis.owned = true';
			document.body.append(script);
			await fetch('http://127.0.0.1:9/').catch(() => {});
			const image = new Image();
			image.src = 'http://127.0.0.1:9/x.png';
			await new Promise((done) => setTimeout(done, 200));
			return { seen: seen.sort(), owned: globalThis.owned ?? false };
		});
		equal(stopped.owned, false);
		equal(stopped.seen, ['connect-src', 'img-src', 'script-src-elem']);
		page.trouble.length = 0; // the test caused it
	},

	/* Names and texts that would do harm as HTML, script or control bytes. */
	hostile: async (t) => {
		const path = t.view(make(t, 'hostile'), '--title', '</title><script>document.title="owned"</script>');
		const html = readFileSync(path, 'utf8');
		for (const text of ['owned', 'onerror', '</title><script>'])
			check(!html.replace(/"(?:\\.|[^"\\])*"/g, '').includes(`${text}=`), text);
		equal(html.match(/<\/?title>/g).length, 2);
		const page = await t.open(path);
		await tour(t, page, 'hostile');
		await page.fill('#search', '<img src=x onerror=');
		await page.press('#search', 'Enter');
		await page.waitForTimeout(200);
		const seen = await page.evaluate(async () => {
			const m = globalThis.hodo.model;
			await m.loadText();
			const texts = [];
			for (let i = 0; i < m.instants.n; i++)
				texts.push(m.text(m.instants.text[i]));
			return { title: document.title, strings: m.strings, texts: [...new Set(texts)], warnings: m.warnings,
				elements: document.querySelectorAll('img, iframe, object, script:not([type])').length,
				handlers: document.querySelectorAll('[onerror], [onload], [onclick]').length };
		});
		check(seen.title.endsWith('– hodo view') && seen.title.startsWith('</title><script>'), seen.title);
		equal(seen.elements, 1, 'the one script of the page');
		equal(seen.handlers, 0);
		check(seen.strings.some((s) => s.includes('</script><script>')), 'names are there, as text');
		check(seen.texts.some((s) => s.includes('<img src=x onerror=')), 'texts are there, as text');
		// Invisible characters are made visible.
		check(![...seen.strings, ...seen.texts, ...seen.warnings].some((s) => /[\u0000-\u001f\u202e]/.test(s)), 'control');
		check(seen.warnings.length > 0, 'warnings');
	},

	/* Where events were lost, how many and why. */
	losses: async (t) => {
		const page = await t.open(t.view(make(t, 'losses')));
		const losses = await page.evaluate(() => {
			const m = globalThis.hodo.model;
			const l = m.losses;
			return Array.from({ length: l.n }, (_, i) => [m.processes[l.process[i]].comm, l.cpu[i],
				Number(m.beginNs - 1795000000000000000n) + l.begin[i], Number(m.beginNs - 1795000000000000000n) + l.end[i],
				l.count[i], m.strings[l.cause[i]]]);
		});
		equal(losses, [
			['over', 0, 2000, 7000, 40, 'newer events overwrote them'],
			['full', 0, 3200, 4000, 70, 'the buffer was full'],
			['full', 1, 3500, 4500, 2, 'larger than a packet'],
			['full', 0, 6000, 9000, 5, 'the buffer was full'],
		]);
		await t.screenshot(page, 'losses');
	},

	/* A page whose data are damaged says so. */
	damaged: async (t) => {
		const html = readFileSync(t.view(make(t, 'requests', 1000)), 'latin1');
		const at = html.indexOf('id="hodo-main">') + 200;
		const path = t.write('damaged.html', Buffer.from(`${html.slice(0, at)}AAAA${html.slice(at + 4)}`, 'latin1'));
		const page = await t.open(path, { wait: false });
		let error = null;
		await ready(page).catch((e) => (error = e));
		check(error && /cannot be shown/.test(String(error)), String(error));
		page.trouble.length = 0; // the test caused it
	},
});
