// SPDX-License-Identifier: MIT
//
// test_panes.mjs - the flame graph, the histograms and the table of events in Chromium: compared with the page's own
// data; keys, search, selection, hostile names, light and dark.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bucketBegin, bucketOf } from '../../../src/export/view/page/panes/distributions.js';
import { hodo, run } from './lib.mjs';
import { makeModel, makePage } from './make_model.mjs';

const EVENTS = 2000;

const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 0.002 * Math.max(Math.abs(a), Math.abs(b)), `${what}: ${a} is not ${b}`);

const UNITS = { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 };

/* "1.235 ms" -> ns */
function nsOf(text) {
	const [, value, unit] = /(-?[\d.]+) (ns|µs|ms|s)\b/.exec(text);
	return Number(value) * UNITS[unit];
}

const countOf = (text) => Number(text.replace(/[^\d]/g, ''));

/* The page's figures, computed in a simple way. */
function plainFigures(page) {
	return page.evaluate(() => {
		const { slices, tracks, strings } = globalThis.hodo.model;
		const total = {};
		const durations = {};
		let top = 0;
		for (let row = 0; row < slices.n; row++) {
			const name = strings[slices.name[row]];
			if (tracks[slices.track[row]].kind === 'thread') {
				total[name] = (total[name] ?? 0) + slices.self[row];
				top += slices.depth[row] === 0 ? slices.duration[row] : 0;
			}
			if (!(slices.flags[row] & 14))
				(durations[`${name}/${slices.kind[row]}`] ??= []).push(slices.duration[row]);
		}
		for (const list of Object.values(durations))
			list.sort((a, b) => a - b);
		return { total, durations, top };
	});
}

async function testFlame(page, shot) {
	const plain = await plainFigures(page);
	const details = page.locator('.flame-details');
	const frames = page.locator('.flame-canvas .frame');
	await page.click('#tab-flame');
	await frames.first().waitFor();
	assert.match(await details.textContent(), /^All/);
	near(nsOf(await details.textContent()), plain.top, 'time of all');
	await shot('flame');

	// A click zooms, Escape goes back; the arrow keys move.
	const before = await frames.count();
	const get = page.locator('.flame-canvas .frame', { hasText: 'kv:get' }).first();
	await get.click();
	await page.mouse.move(5, 5); // the details are those of the frame under the pointer, if there is one
	assert.match(await details.textContent(), /^kv:get/);
	const width = await page.locator('.flame-canvas').evaluate((e) => e.clientWidth);
	const zoomed = page.locator('.flame-canvas .frame[tabindex="0"]');
	assert.match(await zoomed.getAttribute('aria-label'), /^kv:get: /);
	await page.waitForFunction((w) => document.querySelector('.flame-canvas .frame[tabindex="0"]')?.getBoundingClientRect()
		.width > w - 3, width);
	await zoomed.focus();
	await page.keyboard.press('ArrowUp');
	const level = await page.evaluate(() => document.activeElement.getAttribute('aria-level'));
	assert.equal(level, '3');
	await page.keyboard.press('ArrowRight');
	assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-level')), '3');
	await page.keyboard.press('Enter');
	assert.equal(await zoomed.getAttribute('aria-level'), '3');
	await page.keyboard.press('Escape');
	assert.equal(await frames.count(), before);

	// The inverse: sorted by what took the time itself.
	await page.getByRole('radio', { name: 'Inverse' }).click();
	const labels = await page.locator('.flame-canvas .frame[aria-level="2"]').evaluateAll((all) =>
		all.map((e) => e.getAttribute('aria-label')));
	const wide = Object.entries(plain.total).filter(([, ns]) => ns > plain.top / 100);
	assert.ok(wide.length > 5);
	for (const [name, ns] of wide) {
		const label = labels.find((l) => l.startsWith(`${name || '(no name)'}: `));
		assert.ok(label, `${name} is in the inverse: ${labels.join('|')}`);
		near(nsOf(label.slice((name || '(no name)').length)), ns, `self of ${name}`);
	}
	await shot('inverse');

	// The search marks frames and shows their time.
	await page.fill('#search', 'KV_look');
	await page.waitForFunction(() => document.querySelector('.flame-match') !== null);
	const marked = await page.locator('.flame-match').evaluateAll((all) => all.map((e) => e.getAttribute('aria-label')));
	assert.ok(marked.length > 0 && marked.every((label) => label.startsWith('kv_lookup: ')));
	assert.match(await page.locator('.pane-found').textContent(), /frames match/);
	await page.fill('#search', '');
	await page.waitForFunction(() => document.querySelector('.flame-match') === null);

	// A selection, by thread.
	await page.getByRole('radio', { name: 'Callers first' }).click();
	await page.evaluate(() => globalThis.hodo.app.select({ from: 1e8, to: 3e8, tracks: new Set([0, 1]) }));
	await page.getByRole('radio', { name: 'By thread' }).click();
	const threads = await page.locator('.flame-canvas .frame[aria-level="2"]').evaluateAll((all) =>
		all.map((e) => e.getAttribute('aria-label')));
	assert.equal(threads.length, 2);
	assert.ok(nsOf(await details.textContent()) <= 4e8);
	await page.getByRole('radio', { name: 'Everything' }).click();
	near(nsOf(await details.textContent()), plain.top, 'time of all');
	await page.evaluate(() => globalThis.hodo.app.select({}));
	await page.getByRole('radio', { name: 'Merged' }).click();

	// The button shows the longest slice of a frame in the timeline.
	await page.locator('.flame-canvas .frame', { hasText: 'hash_find' }).first().click();
	await page.getByRole('button', { name: 'Longest in the timeline' }).click();
	assert.equal(await page.getAttribute('#tab-timeline', 'aria-selected'), 'true');
	const longest = await page.evaluate(() => {
		const { app, model } = globalThis.hodo;
		return [model.strings[model.slices.name[app.item.slice]], model.slices.duration[app.item.slice]];
	});
	assert.equal(longest[0], 'hash_find');
	assert.ok(longest[1] > 0);
}

/* Text of each cell by its column's header. */
async function figures(page) {
	return page.locator('.histogram-figures').evaluate((table) => Object.fromEntries([...table.tHead.rows[0].cells].map((cell, i) =>
		[cell.textContent, table.tBodies[0].rows[0].cells[i].textContent])));
}

async function testHistograms(page, shot) {
	const { durations } = await plainFigures(page);
	await page.evaluate(() => globalThis.hodo.app.choose(null));
	await page.click('#tab-histograms');
	const pane = page.locator('#pane-histograms, .histograms-pane').first();
	const names = pane.getByRole('grid', { name: 'Names and how long they took' });
	const list = pane.getByRole('grid', { name: 'Slices, the slowest first' });
	await names.locator('.grid-layer .grid-row').first().waitFor();
	assert.equal(Number(await names.getAttribute('aria-rowcount')), Object.keys(durations).length + 1);
	await shot('histogram');

	await pane.getByRole('searchbox').fill('kv:get');
	const sorted = durations['kv:get/0'];
	await page.waitForFunction(() => document.querySelector('.histogram-title').textContent === 'kv:get');
	const shown = await figures(page);
	assert.equal(countOf(shown.Count), sorted.length);
	near(nsOf(shown.Total), sorted.reduce((a, b) => a + b, 0), 'total');
	for (const [name, q] of [['p50', 0.5], ['p90', 0.9], ['p99', 0.99], ['p99.9', 0.999], ['Max', 1]])
		near(nsOf(shown[name]), sorted[Math.ceil(q * sorted.length) - 1], name);
	assert.equal(Number(await list.getAttribute('aria-rowcount')), sorted.length + 1);

	// A click on a bucket lists its slices; so do the keys.
	const over = pane.locator('.u-over');
	const box = await over.boundingBox();
	const logOf = (bucket) => Math.log2(Math.max(1, bucketBegin(bucket)));
	const middle = bucketOf(sorted[sorted.length >> 1]);
	const [first, end] = [logOf(bucketOf(sorted[0]) - 1), logOf(bucketOf(sorted.at(-1)) + 2)];
	const part = ((logOf(middle) + logOf(middle + 1)) / 2 - first) / (end - first);
	await over.click({ position: { x: box.width * part, y: box.height - 5 } });
	assert.equal(Number(await list.getAttribute('aria-rowcount')) - 1, sorted.filter((ns) => bucketOf(ns) === middle).length);
	assert.match(await pane.locator('h3').textContent(), /^In the chosen bucket, slowest first: /);
	const slider = pane.getByRole('slider');
	await slider.focus();
	await page.keyboard.press('End');
	const text = await slider.getAttribute('aria-valuetext');
	const inLast = sorted.filter((ns) => ns >= Number(nsOf(text)) * 0.9995).length;
	assert.ok(Math.abs(countOf(text.split(': ')[1].split(',')[0]) - inLast) <= 1, text);
	assert.equal(Number(await list.getAttribute('aria-rowcount')) - 1, countOf(text.split(': ')[1].split(',')[0]));
	await page.getByRole('radio', { name: 'Logarithmic' }).click();
	await shot('histogram-bucket');

	// The slowest is active in the list; Enter shows it in the timeline.
	await slider.focus();
	await page.keyboard.press('Enter');
	await page.keyboard.press('Enter');
	assert.equal(await page.getAttribute('#tab-timeline', 'aria-selected'), 'true');
	assert.equal(await page.evaluate(() => globalThis.hodo.model.slices.duration[globalThis.hodo.app.item.slice]), sorted.at(-1));

	// Counters.
	await page.click('#tab-histograms');
	await pane.getByRole('searchbox').fill('');
	await page.getByRole('radio', { name: 'Counters' }).click();
	const counter = await page.evaluate(() => {
		const { values } = globalThis.hodo.model;
		return { n: values.n, max: Math.max(...values.value), last: values.value[values.n - 1] };
	});
	const told = await figures(page);
	assert.equal(countOf(told.Values), counter.n);
	assert.equal(countOf(told.Max), counter.max);
	assert.equal(countOf(told.Last), counter.last);
	await shot('counter');
	await slider.focus();
	await page.keyboard.press('End');
	assert.equal(countOf((await slider.getAttribute('aria-valuetext')).split(': ')[1]), counter.last);
	// A drag over a stretch selects it, and shows only that.
	const area = await over.boundingBox();
	await page.mouse.move(area.x + area.width * 0.25, area.y + 50);
	await page.mouse.down();
	await page.mouse.move(area.x + area.width * 0.4, area.y + 60, { steps: 3 });
	await page.mouse.move(area.x + area.width * 0.5, area.y + 60, { steps: 3 });
	await page.mouse.up();
	const drawn = await page.evaluate(() => [globalThis.hodo.app.selection.from, globalThis.hodo.app.selection.to].map((ns) =>
		ns / globalThis.hodo.model.durationNs));
	assert.ok(Math.abs(drawn[0] - 0.25) < 0.01 && Math.abs(drawn[1] - 0.5) < 0.01, `selected ${drawn}`);
	const inQuarter = countOf((await figures(page)).Values);
	assert.ok(inQuarter > counter.n / 5 && inQuarter < counter.n / 3, `${inQuarter} of ${counter.n} values`);
	await page.evaluate(() => globalThis.hodo.app.select({}));
	await page.getByRole('radio', { name: 'Durations' }).click();
}

async function testTable(page, shot) {
	await page.evaluate(() => globalThis.hodo.app.choose(null));
	await page.click('#tab-table');
	const grid = page.getByRole('grid', { name: 'Events' });
	const n = await page.evaluate(() => ['slices', 'instants', 'losses'].reduce((sum, name) => sum + globalThis.hodo.model[name].n, 0));
	assert.equal(Number(await grid.getAttribute('aria-rowcount')), n + 1);
	assert.ok(await grid.getByRole('row').count() < 100, 'only rows in sight are elements');
	const active = () => grid.evaluate((e) => {
		const row = document.getElementById(e.getAttribute('aria-activedescendant'));
		return row && { index: Number(row.getAttribute('aria-rowindex')), cells: [...row.children].map((c) => c.textContent) };
	});
	await page.waitForFunction(() => !document.querySelector('.table-pane .grid-layer').textContent.includes('…'));
	await shot('table');

	await grid.focus();
	await page.keyboard.press('ArrowDown');
	assert.equal((await active()).index, 2);
	await page.keyboard.press('PageDown');
	assert.ok((await active()).index > 10);
	await page.keyboard.press('End');
	assert.equal((await active()).index, n + 1);
	await page.keyboard.press('ArrowUp');
	assert.equal((await active()).index, n);
	await page.keyboard.press('Home');
	assert.equal((await active()).index, 2);

	// By duration, the longest first.
	await grid.getByRole('button', { name: 'Duration' }).click();
	assert.equal(await grid.getByRole('columnheader', { name: 'Duration' }).getAttribute('aria-sort'), 'descending');
	await grid.focus();
	await page.keyboard.press('Home');
	const longest = await page.evaluate(() => Math.max(...globalThis.hodo.model.slices.duration));
	near(nsOf((await active()).cells[1]), longest, 'the longest');

	// Search in fields; filter by name and thread.
	await page.fill('#search', 'user77"');
	await page.waitForFunction((all) => Number(document.querySelector('.table-pane .grid').getAttribute('aria-rowcount')) < all, n);
	await page.waitForFunction(() => globalThis.hodo.app.matches.busy === false);
	const hits = await page.evaluate(async () => {
		const { model } = globalThis.hodo;
		await model.loadText();
		const has = (row) => row >= 0 && model.text(row).includes('user77"');
		return model.slices.text.filter(has).length + model.instants.text.filter(has).length;
	});
	assert.ok(hits > 0);
	assert.equal(Number(await grid.getAttribute('aria-rowcount')), hits + 1);
	await page.fill('#search', '');
	const pane = page.locator('.table-pane');
	await pane.getByRole('searchbox').fill('compact');
	await pane.getByLabel('Thread, CPU or other track').selectOption({ label: await pane.locator('select').first().locator('option')
		.nth(2).textContent() });
	const wanted = await page.evaluate(() => {
		const { slices, strings } = globalThis.hodo.model;
		return slices.name.filter((name, row) => strings[name] === 'kv:compact' && slices.track[row] === 1).length;
	});
	await page.waitForFunction((rows) => Number(document.querySelector('.table-pane .grid').getAttribute('aria-rowcount')) === rows + 1,
		wanted);

	// Losses are listed at the times when they happened.
	await pane.getByRole('searchbox').fill('');
	await pane.getByLabel('Thread, CPU or other track').selectOption('-1');
	await pane.getByLabel('Kind').selectOption({ label: 'lost' });
	await page.waitForFunction(() => document.querySelector('.table-pane .grid').getAttribute('aria-rowcount') === '3');
	await shot('table-lost');
	const lost = await grid.locator('.grid-layer').textContent();
	assert.match(lost, /discarded: buffers were full.*1.234 events lost/);
	await grid.focus();
	await page.keyboard.press('End');
	await page.keyboard.press('Enter');
	const view = await page.evaluate(() => [globalThis.hodo.app.viewFrom(), globalThis.hodo.app.item]);
	assert.ok(view[0] >= 8.5e8 && view[0] <= 1.7004e9, `the timeline is at ${view[0]}`);
	assert.equal(view[1], null);
	await page.click('#tab-table');
	await pane.getByLabel('Kind').selectOption('-1');
	await pane.getByRole('searchbox').fill('compact');
	await pane.getByLabel('Thread, CPU or other track').selectOption({ index: 2 });
	await page.waitForFunction((rows) => Number(document.querySelector('.table-pane .grid').getAttribute('aria-rowcount')) === rows + 1,
		wanted);

	// A click shows the row in the timeline; back in the table, that row is active.
	await grid.locator('.grid-layer .grid-row').nth(4).click();
	assert.equal(await page.getAttribute('#tab-timeline', 'aria-selected'), 'true');
	const item = await page.evaluate(() => globalThis.hodo.app.item.slice);
	assert.equal(await page.evaluate((row) => globalThis.hodo.model.strings[globalThis.hodo.model.slices.name[row]], item),
		'kv:compact');
	await page.click('#tab-table');
	assert.equal((await active()).index, 6);
	assert.match(await pane.locator('.table-details').textContent(), /^kv:compact.*bytes=/);
	await shot('table-chosen');
	await pane.getByRole('searchbox').fill('');
	await pane.getByLabel('Thread, CPU or other track').selectOption('-1');
}

/* Every pane shows names that are HTML as text. */
async function testHostile(page) {
	const bad = '<script>document.title="owned"</script>';
	await page.click('#tab-flame');
	await page.getByRole('treeitem', { name: `${bad}: ` }).first().waitFor(); // its width decides how much it shows
	for (const [tab, place] of [['histograms', '.histogram-names'], ['table', '.table-pane']]) {
		await page.click(`#tab-${tab}`);
		if (tab === 'table')
			await page.locator('.table-pane').getByRole('searchbox').fill('<script');
		await page.waitForFunction(([where, text]) => document.querySelector(where).textContent.includes(text), [place, bad]);
	}
	await page.locator('.table-pane').getByRole('searchbox').fill('');
	const found = await page.evaluate(() => [document.title, document.images.length, document.querySelectorAll('#panes script').length]);
	assert.ok(!found[0].includes('owned'));
	assert.deepEqual(found.slice(1), [0, 0]);
}

/* Each pane in the dark theme: nothing stays light. */
async function testDark(page, shot) {
	for (const tab of ['flame', 'histograms', 'table']) {
		await page.click(`#tab-${tab}`);
		const bright = await page.evaluate(() => [...document.querySelectorAll('#panes > :not([hidden]) *')].filter((e) => {
			const color = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(getComputedStyle(e).backgroundColor);
			return color && e.getBoundingClientRect().width > 200 && color.slice(1).every((part) => Number(part) > 200);
		}).map((e) => e.outerHTML.slice(0, 100)));
		assert.deepEqual(bright, [], `bright in ${tab}`);
		await shot(`${tab}-dark`);
	}
}

/* On a narrow screen nothing is wider than the screen. */
async function testNarrow(page, shot) {
	for (const tab of ['flame', 'histograms', 'table']) {
		await page.click(`#tab-${tab}`);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${tab} is too wide`);
		await shot(`${tab}-narrow`);
	}
}

/* Filters by a name; returns its table of figures. */
async function figuresOf(page, name) {
	await page.locator('.histograms-pane').getByRole('searchbox').fill(name);
	await page.waitForFunction((wanted) => document.querySelector('.histogram-title').textContent.startsWith(wanted), name);
	return figures(page);
}

function within(a, b, part, what) {
	assert.ok(Math.abs(a - b) <= part * Math.max(Math.abs(a), Math.abs(b)), `${what}: ${a} is not ${b}`);
}

/* A recording's page has the figures of hodo report, even where it does not have all slices. */
async function testRecording(t) {
	const dir = join(t.dir, 'requests');
	execFileSync(process.env.MAKE_RECORDING, ['requests', dir, '12000']);
	const { spans, values } = JSON.parse(hodo('report', '--json', dir));
	const names = spans.map((span) => span.name);
	assert.deepEqual(names.filter((name) => name.startsWith('kv:')).sort(), ['kv:flow', 'kv:lookup', 'kv:parse', 'kv:request']);
	for (const [options, exactly] of [[[], true], [['--limit', '3000'], false]]) {
		const page = await t.open(t.view(dir, ...options));
		await page.click('#tab-histograms');
		assert.equal(await page.evaluate(() => globalThis.hodo.model.thinned), !exactly);
		for (const span of spans) {
			const told = await figuresOf(page, span.name);
			assert.equal(countOf(told.Count), span.count, span.name);
			for (const [column, key] of [['Total', 'total_ns'], ['Average', 'avg_ns'], ['Min', 'min_ns'], ['Max', 'max_ns']])
				within(nsOf(told[column]), span[key], 0.001, `${span.name} ${key}`);
			for (const [column, key] of [['p50', 'p50_ns'], ['p90', 'p90_ns'], ['p99', 'p99_ns'], ['p99.9', 'p999_ns']])
				within(nsOf(told[column]), span[key], exactly ? 0.012 : 0.13, `${span.name} ${key}`);
		}
		await t.screenshot(page, exactly ? 'recording-histogram' : 'recording-histogram-thinned');
		if (!exactly) {
			// The names' own time is all there; so is the time of requests, which contain them.
			await page.click('#tab-flame');
			await page.getByRole('radio', { name: 'Inverse' }).click();
			within(nsOf(await page.locator('.flame-details').textContent()), spans.find((span) => span.name === 'kv:request').total_ns,
				0.001, 'all of the inverse');
			assert.match(await page.locator('.flame-pane .pane-note').textContent(), /who called short ones is not/);
			continue;
		}
		// Requests have no callers: their frame in the graph has the time of all of them.
		await page.click('#tab-flame');
		const label = await page.locator('.flame-canvas .frame[aria-label^="kv:request: "]').getAttribute('aria-label');
		const request = spans.find((span) => span.name === 'kv:request');
		within(nsOf(label.slice('kv:request: '.length)), request.total_ns, 0.001, 'requests in the flame graph');
		assert.equal(countOf(/, ([^,]*) times/.exec(label)[1]), request.count);
		await t.screenshot(page, 'recording-flame');
		await page.click('#tab-histograms');
		await page.locator('.histograms-pane').getByRole('searchbox').fill('');
		await page.getByRole('radio', { name: 'Counters' }).click();
		const [counter] = values;
		const told = await figures(page);
		assert.equal(countOf(told.Values), counter.count);
		for (const key of ['min', 'max', 'last'])
			assert.equal(countOf(told[key[0].toUpperCase() + key.slice(1)]), counter[key], `${counter.name} ${key}`);
	}
}

function made(test, options) {
	return async (t) => {
		const file = t.write('page.html', makePage(readFileSync(process.env.TEMPLATE, 'utf8'), makeModel(EVENTS)));
		const page = await t.open(file, options);
		page.setDefaultTimeout(20000);
		await test(page, (name) => t.screenshot(page, name));
	};
}

await run({
	flame: made(testFlame), histograms: made(testHistograms), table: made(testTable),
	hostile_and_dark: made(async (page, shot) => {
		await testHostile(page);
		await testDark(page, shot);
	}, { scheme: 'dark' }), narrow: made(testNarrow, { width: 480, height: 800 }), recording: testRecording,
});
