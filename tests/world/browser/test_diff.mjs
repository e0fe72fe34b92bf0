// SPDX-License-Identifier: MIT
//
// test_diff.mjs - two recordings on one page in Chromium: which one is shown, flames in colours of their difference, histograms
// over each other, figures of both, hostile names.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callPaths } from '../../../src/export/view/page/data/call_paths.js';
import { changeOf, Comparison, matchPaths } from '../../../src/export/view/page/data/compare.js';
import { Model, takeApart } from '../../../src/export/view/page/data/data.js';
import { hodo, run } from './lib.mjs';
import { makeFew, makeModel, makePage } from './make_model.mjs';

const modelOf = ({ main }) => new Model(takeApart(main.buffer.slice(main.byteOffset, main.byteOffset + main.length)));

async function openBoth(t, before, after, options) {
	return t.open(t.write('both.html', makePage(readFileSync(process.env.TEMPLATE, 'utf8'), before, after)), options);
}

/* Compares both trees path by path. */
function pathsMatch() {
	const [before, after] = [modelOf(makeModel(3000, 1)), modelOf(makeModel(2000, 2))];
	const plain = (model) => {
		const tree = callPaths(model);
		const found = new Map();
		const paths = [''];
		for (let id = 1; id < tree.n; id++) {
			paths[id] = `${paths[tree.parent[id]]};${model.strings[tree.name[id]]}`;
			found.set(paths[id], tree.total[id]);
		}
		return { tree, paths, found };
	};
	const [a, b] = [plain(before), plain(after)];
	const matched = matchPaths(after, b.tree, before, a.tree);
	let alike = 0;
	for (let id = 1; id < b.tree.n; id++) {
		assert.equal(matched.total[id], a.found.get(b.paths[id]) ?? 0, b.paths[id]);
		alike += a.found.has(b.paths[id]) ? 1 : 0;
	}
	assert.ok(alike > 20 && alike < b.tree.n - 20, `${alike} of ${b.tree.n} paths are in both`);
	const pairs = new Comparison(before, after, after).distributions();
	assert.ok(pairs.some((pair) => pair.before && pair.after));
	for (const [one, two, text] of [[1, 2, '+100 %'], [200, 100, '−50.0 %'], [0, 5, 'new'], [5, 0, 'gone'], [0, 0, ''], [3, 3, '±0 %'],
		[1, 100, '+9\u202f900 %'], [undefined, 4, 'new']])
		assert.equal(changeOf(one, two), text);
}

/* [red, green, blue] of a frame. */
const colorOf = (page, name) => page.locator(`.frame[aria-label^="${name}: "]`).first().evaluate((frame) =>
	getComputedStyle(frame).backgroundColor.match(/\d+/g).map(Number));

async function differences(t) {
	// After the change, lookup takes twice as long and compact half; one function is gone, another is new.
	const before = makeFew({ 'ns::fresh': 0 });
	const after = makeFew({ 'srv:lookup': 1.2, 'ns::Store::compact': 0.5, 'ns::old': 0 });
	for (const scheme of ['light', 'dark']) {
		const page = await openBoth(t, before, after, { scheme });
		assert.match(await page.title(), /^srv – hodo.data → srv – hodo.data/);
		await page.click('#tab-flame');
		await page.locator('.frame[aria-label^="srv:lookup: "]').waitFor();
		assert.equal(await page.locator('.frame[aria-label^="srv:lookup: "]').getAttribute('aria-label'),
			'srv:lookup: 1.920 s before, 2.304 s after, +20.0 %');
		const red = await colorOf(page, 'srv:lookup');
		const blue = await colorOf(page, 'ns::Store::compact');
		assert.ok(red[0] > red[2] + 30, `longer is red: ${red}`);
		assert.ok(blue[2] > blue[0] + 30, `shorter is blue: ${blue}`);
		const fresh = page.locator('.frame[aria-label^="ns::fresh: "]');
		assert.match(await fresh.getAttribute('aria-label'), /: 0 ns before, .* after, new$/);
		assert.equal(await page.locator('.frame[aria-label^="ns::old: "]').count(), 0);
		await t.screenshot(page, `flame-${scheme}`);
		await page.getByRole('radio', { name: 'Widths before' }).click();
		assert.match(await page.locator('.frame[aria-label^="ns::old: "]').getAttribute('aria-label'), /before, 0 ns after, gone$/);
		assert.equal(await fresh.count(), 0);
		await page.locator('.frame[aria-label^="srv:lookup: "]').hover();
		assert.match(await page.locator('.flame-details').textContent(),
			/^srv:lookupTotal before 1.920 safter 2.304 schange \+384.0 ms, \+20.0 %.*Count before 12after 12$/);

		await page.click('#tab-histograms');
		const figures = page.locator('.histogram-figures');
		await page.locator('.histograms-pane').getByRole('searchbox').fill('srv:lookup');
		await page.waitForFunction(() => document.querySelector('.histogram-title').textContent === 'srv:lookup');
		const rows = await figures.locator('tbody tr').evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)));
		assert.deepEqual(rows.map((row) => row.slice(0, 4)), [['Before', '12', '1.920 s', '160.0 ms'], ['After', '12', '2.304 s', '192.0 ms'],
			['Change', '±0 %', '+20.0 %', '+20.0 %']]);
		// Both are drawn: each has its own bars, filled with its colour, through which the background shows.
		const seen = await page.evaluate(() => {
			const { theme } = globalThis.hodo.app;
			const canvas = document.querySelector('.histogram-plot canvas');
			const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
			const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
			const back = rgb(theme.back);
			const part = 0x38 / 255;
			const filled = (hex) => rgb(hex).map((value, i) => value * part + back[i] * (1 - part));
			return [theme.match, theme.accent].map(filled).map((color) => {
				let n = 0;
				for (let i = 0; i < data.length; i += 4)
					n += color.every((value, k) => Math.abs((data[i + k] * data[i + 3] + back[k] * (255 - data[i + 3])) / 255 - value) < 4) ? 1 : 0;
				return n;
			});
		});
		assert.ok(seen.every((n) => n > 1000), `pixels of before and after: ${seen}`);
		await t.screenshot(page, `histogram-${scheme}`);
		await page.locator('.histograms-pane').getByRole('searchbox').fill('');
		const names = page.getByRole('grid', { name: 'Names and how long they took' });
		await names.getByText('ns::old').click();
		assert.match(await figures.textContent(), /gone/);
		assert.match(await page.locator('h3.histogram-title').textContent(), /^Slowest first: 0 of/);
	}
}

/* The timeline and the table of events show one of the two recordings; the address says which. */
async function sides(t) {
	const page = await openBoth(t, makeFew(), makeFew({ 'srv:lookup': 1.2 }));
	const total = () => page.evaluate(() => globalThis.hodo.model.slices.duration[0]);
	assert.equal(await total(), 1.92e8);
	const shown = page.getByRole('navigation', { name: 'Recording that is shown' });
	await Promise.all([page.waitForEvent('load'), shown.getByRole('link', { name: 'Before' }).click()]);
	await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
	assert.equal(await total(), 1.6e8);
	assert.equal(await shown.getByRole('link', { name: 'Before' }).getAttribute('aria-current'), 'true');
	await page.locator('.statistics table').first().waitFor();
	await t.screenshot(page, 'before');
}

/* hodo view --diff of recordings: the page has the same figures as hodo report --diff. Names may hold anything. */
async function recordings(t) {
	const make = (what, name, events) => {
		const dir = join(t.dir, name);
		execFileSync(process.env.MAKE_RECORDING, [what, dir, String(events)]);
		return dir;
	};
	const [before, after] = [make('requests', 'before', 4000), make('requests', 'after', 9000)];
	const page = await t.open(t.view(before, '--diff', after));
	const counts = await page.evaluate(() => Object.fromEntries(globalThis.hodo.app.comparison.distributions().map((pair) =>
		[pair.label, [pair.before?.n ?? 0, pair.after?.n ?? 0]])));
	const told = JSON.parse(hodo('report', '--json', '--diff', after, before));
	assert.ok(told.spans.length >= 4);
	for (const span of told.spans)
		assert.deepEqual(counts[span.name], [span.before.count, span.after.count], span.name);
	const hostile = await t.open(t.view(make('hostile', 'hostile', 100), '--diff', before));
	for (const tab of ['flame', 'histograms'])
		await hostile.click(`#tab-${tab}`);
	assert.equal(await hostile.locator('main img, main script').count(), 0);
}

await run({ pathsMatch, differences, sides, recordings });
