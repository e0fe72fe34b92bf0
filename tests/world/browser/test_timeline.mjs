// SPDX-License-Identifier: MIT
//
// test_timeline.mjs - the shell and the timeline in Chromium: what mouse, keys and fingers do, what it draws and tells
// screen readers, hostile names, light and dark, small windows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { container, makeModel, makePage } from './make_model.mjs';
import { run } from './lib.mjs';

const near = (a, b, part, what) => assert.ok(Math.abs(a - b) <= part * Math.max(Math.abs(a), Math.abs(b)), `${what}: ${a} is not ${b}`);

let template = null;

function makeFile(t, change = (model) => model, events = 4000) {
	template ??= readFileSync(process.env.TEMPLATE, 'utf8');
	return t.write('page.html', makePage(template, change(makeModel(events))));
}

const openPage = (t, options) => t.open(makeFile(t), options);
const live = (page) => page.locator('#live').textContent();
const stage = (page) => page.locator('.tl-stage');
const settle = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));

/* The stretch of time in view, as the shell's own text gives it. */
const spanText = (page) => page.locator('.tl-corner .span').textContent();

/* A thread's slice near the middle, as the model has it. */
function someSlice(page, depth = 0) {
	return page.evaluate((wanted) => {
		const { slices, tracks, strings, durationNs } = globalThis.hodo.model;
		for (let row = 0; row < slices.n; row++)
			if (tracks[slices.track[row]].kind === 'thread' && slices.depth[row] === wanted && slices.begin[row] > durationNs / 2)
				return { row, name: strings[slices.name[row]], begin: slices.begin[row], duration: slices.duration[row],
					track: slices.track[row] };
		return null;
	}, depth);
}

/* Zooms to a slice and clicks into its middle. */
async function clickSlice(page, slice) {
	await page.evaluate((row) => globalThis.hodo.app.focus({ slice: row }), slice.row);
	await page.keyboard.press('f');
	await settle(page);
	const box = await page.evaluate((s) => {
		const stageBox = document.querySelector('.tl-stage').getBoundingClientRect();
		const label = [...document.querySelectorAll('.label.track')].find((l) => l.item.track.index === s.track);
		return { x: stageBox.left + stageBox.width / 2, y: label.getBoundingClientRect().top + label.item.rowY(0) - label.item.y + 9 };
	}, slice);
	await page.evaluate(() => globalThis.hodo.app.choose(null));
	await page.mouse.click(box.x, box.y);
	await settle(page);
	return box;
}

async function shell(t, page) {
	assert.equal(await page.title(), 'kv-server – hodo.data – hodo view');
	assert.deepEqual(await page.locator('[role=tab]').allTextContents(), ['Timeline', 'Flame graph', 'Histograms', 'Events']);
	assert.match(await page.locator('#notices').textContent(), /1\u202f251 events lost/);
	await page.locator('#tab-timeline').focus();
	for (const id of ['tab-flame', 'tab-histograms', 'tab-table', 'tab-timeline']) {
		await page.keyboard.press('ArrowRight');
		assert.equal(await page.evaluate(() => document.activeElement.id), id);
		assert.equal(await page.locator('[role=tabpanel]:visible').count(), 1);
	}
	await page.keyboard.press('?');
	assert.ok(await page.locator('dialog.help').isVisible());
	assert.match(await page.locator('dialog.help').textContent(), /Licences/);
	await t.screenshot(page, 'help');
	await page.keyboard.press('Escape');
	assert.ok(!await page.locator('dialog.help').isVisible());
	await t.screenshot(page, 'light');
}

async function mouse(t, page) {
	const slice = await someSlice(page);
	const at = await clickSlice(page, slice);
	const details = page.locator('.tl-details');
	assert.equal(await details.locator('.panel-title').textContent(), slice.name);
	const facts = await details.locator('.facts').textContent();
	assert.ok(facts.includes((slice.duration / 1e3).toFixed(3)) || facts.includes((slice.duration / 1e6).toFixed(6)), facts);
	assert.match(await live(page), new RegExp(`^${slice.name.replace(/[^\w]/g, '.')}`));
	await page.mouse.move(at.x + 3, at.y);
	await page.locator('.tooltip').waitFor();
	assert.ok((await page.locator('.tooltip').textContent()).startsWith(slice.name));
	await page.mouse.dblclick(at.x, at.y);
	const area = await page.evaluate(() => ({ ...globalThis.hodo.app.selection, tracks: [...globalThis.hodo.app.selection.tracks] }));
	assert.deepEqual(area, { from: slice.begin, to: slice.begin + slice.duration, tracks: [slice.track] });
	await t.screenshot(page, 'slice');

	// The wheel with Ctrl zooms at the pointer, Shift pans.
	await page.keyboard.press('0');
	await settle(page);
	const before = await spanText(page);
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, -240);
	await page.keyboard.up('Control');
	await settle(page);
	assert.notEqual(await spanText(page), before);
	const zoomed = await page.evaluate(() => globalThis.hodo.app.viewFrom());
	await page.keyboard.down('Shift');
	await page.mouse.wheel(0, 90);
	await page.keyboard.up('Shift');
	await settle(page);
	assert.ok(await page.evaluate(() => globalThis.hodo.app.viewFrom()) > zoomed);
}

/* A drag selects what lies under it; the figures agree with the model's. */
async function area(t, page) {
	const labels = page.locator('.label.track.thread');
	const first = await labels.nth(0).boundingBox();
	const second = await labels.nth(1).boundingBox();
	const box = await stage(page).boundingBox();
	await page.mouse.move(box.x + box.width * 0.25, first.y + 8);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, second.y + 20, { steps: 4 });
	await page.mouse.up();
	const wanted = await page.evaluate(() => {
		const { selection } = globalThis.hodo.app;
		const { slices, strings } = globalThis.hodo.model;
		const counts = {};
		for (let row = 0; row < slices.n; row++) {
			const name = strings[slices.name[row]];
			if (selection.tracks.has(slices.track[row]) && slices.begin[row] <= selection.to &&
			    slices.begin[row] + slices.duration[row] > selection.from)
				counts[name] = (counts[name] ?? 0) + 1;
		}
		return { from: selection.from, to: selection.to, tracks: selection.tracks.size, counts };
	});
	assert.equal(wanted.tracks, 2);
	near(wanted.to - wanted.from, 0.25 * 2.4e9 * 1.02, 0.02, 'length of the area');
	const table = page.locator('table[aria-label="Slices in the area"]');
	await table.waitFor();
	const shown = async () => Object.fromEntries((await table.locator('tbody tr').evaluateAll((list) =>
		list.map((r) => [...r.cells].map((c) => c.textContent)))).map(([name, n]) => [name, Number(n.replace(/\D/g, ''))]));
	const sorted = (object) => JSON.stringify(Object.entries(object).sort());
	for (let i = 0; i < 100 && sorted(await shown()) !== sorted(wanted.counts); i++)
		await page.waitForTimeout(30); // figures follow a drag after a while
	assert.deepEqual(await shown(), wanted.counts);
	assert.match(await page.locator('.tl-details .lost').first().textContent(), /1\u202f234 events lost there/);
	await table.locator('th', { hasText: 'Count' }).getByRole('button').click();
	assert.equal(await table.locator('th', { hasText: 'Count' }).getAttribute('aria-sort'), 'descending');
	const counts = await table.locator('tbody tr td:nth-child(2)').allTextContents();
	assert.deepEqual(counts, [...counts].sort((a, b) => b.replace(/\D/g, '') - a.replace(/\D/g, '')));
	await t.screenshot(page, 'area');

	// Its edges can be moved; a drag on the ruler selects all tracks.
	const edge = box.x + box.width * 0.5;
	await page.mouse.move(edge, first.y + 30);
	await page.mouse.down();
	await page.mouse.move(edge + 100, first.y + 30, { steps: 3 });
	await page.mouse.up();
	const moved = await page.evaluate(() => globalThis.hodo.app.selection);
	near(moved.from, wanted.from, 1e-9, 'the other edge');
	assert.ok(moved.to > wanted.to + 1e8);
	const ruler = await page.locator('canvas.ruler').boundingBox();
	await page.mouse.move(ruler.x + 100, ruler.y + 20);
	await page.mouse.down();
	await page.mouse.move(ruler.x + 300, ruler.y + 20, { steps: 3 });
	await page.mouse.up();
	assert.equal(await page.evaluate(() => globalThis.hodo.app.selection.tracks), null);
	await page.keyboard.press('f');
	await settle(page);
	near(await page.evaluate(() => globalThis.hodo.app.viewFrom() < globalThis.hodo.app.selection.from ? 1 : 0), 1, 0, 'zoomed');
}

/* All of it without a mouse. */
async function keys(t, page) {
	await page.locator('#theme').focus();
	const stops = [];
	for (let i = 0; i < 12; i++) {
		await page.keyboard.press('Tab');
		stops.push(await page.evaluate(() => document.activeElement.getAttribute('role') || document.activeElement.tagName));
	}
	for (const role of ['treeitem', 'application', 'separator'])
		assert.ok(stops.includes(role), `${role} is a tab stop: ${stops}`);
	assert.equal(stops.filter((role) => role === 'treeitem').length, 1, 'the tree is one tab stop');

	await stage(page).focus();
	await page.keyboard.press('ArrowRight');
	const first = await live(page);
	assert.match(first, /running, .* level 1, CPU 0$/);
	const tracks = new Set();
	for (let i = 0; i < 60; i++) {
		await page.keyboard.press('ArrowDown');
		tracks.add((await live(page)).split(', ').at(-1));
	}
	for (const track of ['CPU 1', 'kv-server 4211', 'worker-3 4214', 'kv:request', 'kv-client<b> 4300'])
		assert.ok(tracks.has(track), `${track} is reached: ${[...tracks]}`);

	const slice = await someSlice(page, 2);
	await page.evaluate((row) => globalThis.hodo.app.choose({ slice: row }), slice.row);
	await page.keyboard.press('ArrowUp');
	assert.match(await live(page), /level 2/);
	await page.keyboard.press('ArrowDown');
	assert.match(await live(page), /level 3/);
	await page.keyboard.press('Shift+ArrowRight');
	await page.keyboard.press('Shift+ArrowRight');
	const extended = await page.evaluate(() => ({ from: globalThis.hodo.app.selection.from, to: globalThis.hodo.app.selection.to }));
	assert.ok(extended.to > extended.from + slice.duration);
	await page.keyboard.press('m');
	assert.match(await live(page), /^Marked/);
	await page.keyboard.press('m');
	assert.match(await live(page), /^Mark removed/);
	await page.keyboard.press('Escape');
	await page.keyboard.press('Escape');
	assert.deepEqual(await page.evaluate(() => [globalThis.hodo.app.item, globalThis.hodo.app.selection.from]), [null, null]);

	const before = await page.evaluate(() => globalThis.hodo.app.viewFrom());
	await page.keyboard.press('0');
	const all = await spanText(page);
	await page.keyboard.press('w');
	await page.keyboard.press('d');
	await settle(page);
	assert.notEqual(await spanText(page), all);
	assert.notEqual(await page.evaluate(() => globalThis.hodo.app.viewFrom()), before);
}

/* Everything that can have the focus has a name and a role, which the browser tells a screen reader. */
async function names(t, page) {
	const client = await page.context().newCDPSession(page);
	const slice = await someSlice(page, 1);
	await page.evaluate((row) => globalThis.hodo.app.focus({ slice: row }), slice.row);
	await page.evaluate(() => globalThis.hodo.app.select({ from: 1e9, to: 1.1e9 }));
	await page.locator('.statistics table').first().waitFor();
	for (const showing of ['Area', 'Chosen']) {
		await page.locator('.choice button', { hasText: showing }).click();
		const { nodes } = await client.send('Accessibility.getFullAXTree');
		const focusable = nodes.filter((n) => !n.ignored && n.properties?.some((p) => p.name === 'focusable' && p.value.value));
		assert.ok(focusable.length > 20);
		for (const node of focusable.filter((n) => n.role.value !== 'RootWebArea'))
			assert.ok(node.name?.value && !['generic', 'none'].includes(node.role.value),
				`${node.role.value} has no name: ${JSON.stringify(node.properties)}`);
		const roles = new Set(nodes.map((n) => n.role?.value));
		for (const role of ['tablist', 'tab', 'tabpanel', 'tree', 'treeitem', 'application', 'status', 'searchbox', 'separator'])
			assert.ok(roles.has(role), `${role}: ${[...roles]}`);
	}
}

/* The tree at the left folds and selects tracks. */
async function tree(t, page) {
	const item = () => page.evaluate(() => document.activeElement.item.label);
	await page.locator('[role=treeitem]').first().focus();
	assert.equal(await item(), 'CPUs');
	const heightOf = () => page.locator('.tl-content').evaluate((e) => e.offsetHeight);
	const tall = await heightOf();
	await page.keyboard.press('ArrowLeft');
	assert.equal(await page.locator('[role=treeitem]').first().getAttribute('aria-expanded'), 'false');
	assert.ok(await heightOf() < tall);
	await page.keyboard.press('ArrowDown');
	assert.equal(await item(), 'kv-server');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Space');
	const { selected, threads } = await page.evaluate(() => ({ selected: [...globalThis.hodo.app.selection.tracks],
		threads: globalThis.hodo.model.tracks.filter((track) => track.tid === 4211).map((track) => track.index) }));
	assert.deepEqual(selected, threads);
	await page.waitForFunction(() => document.activeElement.getAttribute('aria-selected') === 'true');
	await t.screenshot(page, 'tree');
}

async function searching(t, page) {
	await page.keyboard.press('/');
	assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
	await page.keyboard.type('kv:compact');
	const wanted = await page.evaluate(() => {
		const { slices, strings } = globalThis.hodo.model;
		return slices.name.reduce((n, name) => n + (strings[name] === 'kv:compact' ? 1 : 0), 0);
	});
	const output = page.locator('#search-count');
	await page.waitForFunction((n) => document.getElementById('search-count').textContent.replace(/\D/g, '') === String(n), wanted);
	await page.keyboard.press('Enter');
	assert.match(await output.textContent(), /^1 of /);
	assert.match(await live(page), /^kv:compact/);
	await page.keyboard.press('Enter');
	assert.match(await output.textContent(), /^2 of /);
	await page.keyboard.press('Shift+Enter');
	assert.match(await output.textContent(), /^1 of /);
	await page.keyboard.press('Shift+Enter');
	assert.match(await output.textContent(), new RegExp(`^${wanted}`), 'goes round');
	await settle(page);
	await t.screenshot(page, 'search');
	// The search also finds fields.
	await page.locator('#search').fill('key="user42"');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => /\d/.test(document.getElementById('search-count').textContent));
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => document.querySelector('.fields pre')?.textContent.includes('key="user42"'));
	await page.keyboard.press('Escape');
	assert.equal(await page.locator('#search').inputValue(), '');
	assert.equal(await output.textContent(), '');
	assert.equal(await page.evaluate(() => document.activeElement.classList.contains('tl-stage')), true, 'Esc leaves the box');
	const wide = await spanText(page);
	await page.keyboard.press('w');
	await settle(page);
	assert.notEqual(await spanText(page), wide, 'and keys are the timeline\'s again');
	// It also works where another pane is shown.
	await page.click('#tab-table');
	await page.keyboard.press('/');
	await page.keyboard.type('x');
	await page.keyboard.press('Escape');
	assert.deepEqual(await page.evaluate(() => [document.activeElement.id, document.getElementById('search').value]), ['panes', '']);
	await page.click('#tab-timeline');
}

/* Losses are shown where they happened. */
async function losses(t, page) {
	const box = await stage(page).boundingBox();
	const thread = await page.locator('.label.track.thread').first().boundingBox();
	const x = await page.evaluate(() => {
		const { width } = document.querySelector('.tl-stage').getBoundingClientRect();
		return ((9.3e8 + 2.4e9 * 0.01) / (2.4e9 * 1.02)) * width;
	});
	await page.mouse.move(box.x + x, thread.y + 30);
	await page.locator('.tooltip .loss').waitFor();
	assert.match(await page.locator('.tooltip .loss').first().textContent(), /1\u202f234 lost: discarded: buffers were full, CPU 1/);
	await page.getByRole('button', { name: 'Show where' }).click();
	assert.match(await live(page), /^1 of 2 places: 1\u202f234 events lost, discarded: buffers were full, at 900/);
	const from = await page.evaluate(() => globalThis.hodo.app.viewFrom());
	assert.ok(from > 8e8 && from < 9e8, `in sight: ${from}`);
	await page.getByRole('button', { name: 'Next of 2' }).click();
	assert.match(await live(page), /^2 of 2 places: 17 events/);
	await page.keyboard.press('0');
	await settle(page);
	// The hatched stripes are drawn in the group's head, where nothing else is.
	const group = await page.locator('.label.group').nth(1).boundingBox();
	const reds = await page.evaluate(({ from, y }) => {
		const canvas = document.querySelector('canvas.tracks');
		const { data } = canvas.getContext('2d').getImageData(Math.round(from) - 6, Math.round(y), 12, 12);
		let n = 0;
		for (let i = 0; i < data.length; i += 4)
			n += data[i] - data[i + 2] > 25 ? 1 : 0;
		return n;
	}, { from: x, y: group.y - box.y + 8 });
	assert.ok(reds > 10 && reds < 130, `stripes: ${reds} of 144`);
}

async function hostile(t, page) {
	const text = await page.evaluate(() => document.body.innerHTML);
	assert.ok(!text.includes('<img src=x') && !text.includes('<b>'), 'names are not markup');
	const row = await page.evaluate(() => {
		const { slices, strings } = globalThis.hodo.model;
		return [...slices.name].findIndex((name) => strings[name].startsWith('<script>'));
	});
	await page.evaluate((slice) => globalThis.hodo.app.focus({ slice }), row);
	await page.waitForFunction(() => document.querySelector('.fields pre')?.textContent.startsWith('path='));
	assert.equal(await page.locator('.panel-title').textContent(), '<script>document.title="owned"</script>');
	assert.match(await page.title(), /^kv-server/);
	assert.equal(await page.locator('main img, main script').count(), 0);
}

async function themes(t) {
	const page = await openPage(t, { scheme: 'dark' });
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const light = (rgb) => rgb.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) > 384;
	assert.ok(!light(await back()));
	await t.screenshot(page, 'dark');
	await page.locator('#theme').click();
	assert.ok(light(await back()));
	// Contrast of text: at least 4.5 (WCAG AA).
	for (const scheme of ['light', 'dark']) {
		const worst = await page.evaluate((wanted) => {
			const { theme } = globalThis.hodo.app;
			if (theme.name !== wanted)
				theme.toggle();
			const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
			const luminance = (color) => {
				probe.fillStyle = color;
				probe.fillRect(0, 0, 1, 1);
				const [r, g, b] = [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => {
					const c = v / 255;
					return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
				});
				return 0.2126 * r + 0.7152 * g + 0.0722 * b;
			};
			const contrast = (a, b) => {
				const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
				return (x + 0.05) / (y + 0.05);
			};
			const pairs = [[theme.text, theme.back], [theme.text, theme.panel], [theme.dim, theme.back], [theme.dim, theme.panel],
				[theme.accent, theme.back], [theme.loss, theme.back], ...theme.fills.map((fill) => [theme.onFill, fill])];
			return pairs.map(([a, b]) => [contrast(a, b), a, b]).sort((a, b) => a[0] - b[0])[0];
		}, scheme);
		assert.ok(worst[0] >= 4.5, `${scheme}: ${worst}`);
	}
}

async function small(t) {
	const page = await openPage(t, { width: 420, height: 560 });
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out');
	for (const id of ['tab-timeline', 'search', 'theme', 'help']) {
		const box = await page.locator(`#${id}`).boundingBox();
		assert.ok(box.x >= 0 && box.x + box.width <= 420, `${id} is in the window`);
	}
	assert.ok((await stage(page).boundingBox()).width > 200);
	await t.screenshot(page, 'small');
	await page.setViewportSize({ width: 1900, height: 1000 });
	await settle(page);
	await page.waitForFunction(() => document.querySelector('canvas.tracks').offsetWidth > 1500);
}

async function fingers(t, page) {
	const box = await stage(page).boundingBox();
	const client = await page.context().newCDPSession(page);
	const touch = (type, ...points) => client.send('Input.dispatchTouchEvent', { type,
		touchPoints: points.map(([x, y], id) => ({ x: box.x + x, y: box.y + y, id })) });
	const before = await spanText(page);
	await touch('touchStart', [300, 100], [400, 100]);
	for (let i = 1; i <= 5; i++)
		await touch('touchMove', [300 - i * 20, 100], [400 + i * 20, 100]);
	await touch('touchEnd');
	await settle(page);
	assert.notEqual(await spanText(page), before);
	const from = await page.evaluate(() => globalThis.hodo.app.viewFrom());
	await touch('touchStart', [400, 100]);
	for (let i = 1; i <= 5; i++)
		await touch('touchMove', [400 - i * 30, 100]);
	await touch('touchEnd');
	await settle(page);
	assert.ok(await page.evaluate(() => globalThis.hodo.app.viewFrom()) > from, 'one finger moves');
}

/* The cost of a frame does not grow with the events: pixels bound what is drawn. */
async function bounded(t) {
	const page = await t.open(makeFile(t, (made) => made, 50000));
	const calls = await page.evaluate(async () => {
		let n = 0;
		for (const what of ['fillRect', 'fill', 'stroke', 'drawImage', 'putImageData', 'fillText', 'measureText']) {
			const own = CanvasRenderingContext2D.prototype[what];
			CanvasRenderingContext2D.prototype[what] = function count(...all) {
				n++;
				return own.apply(this, all);
			};
		}
		const element = document.querySelector('.tl-stage');
		const most = { all: 0, slices: globalThis.hodo.model.slices.n };
		for (let i = 0; i < 40; i++) {
			n = 0;
			element.dispatchEvent(new WheelEvent('wheel', { deltaY: -25, ctrlKey: true, clientX: 700, clientY: 300, bubbles: true,
				cancelable: true }));
			await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
			most.all = Math.max(most.all, n);
		}
		return most;
	});
	assert.ok(calls.slices > 40000 && calls.all > 50 && calls.all < 6000, JSON.stringify(calls));
	await t.screenshot(page, 'zoomed');
}

/* Messages say what is not all shown, what was warned of and what is damaged. */
async function notices(t) {
	const page = await t.open(makeFile(t, (made) => {
		made.header.warnings.push('cpu0: cut off: <i>the rest</i> is not there');
		made.header.totals.slices *= 10;
		made.main = container(made.header, made.tables);
		return made;
	}, 300));
	const text = await page.locator('#notices').textContent();
	assert.match(text, /Not everything is shown/);
	assert.match(text, /cut off: <i>the rest<\/i> is not there/);
	await page.getByRole('button', { name: 'Dismiss: Not everything is shown.' }).click();
	assert.doesNotMatch(await page.locator('#notices').textContent(), /Not everything/);
	const damaged = await t.open(makeFile(t, (made) => ({ ...made, main: made.main.subarray(0, 4000) }), 300), { wait: false });
	await damaged.locator('.opening.failed').waitFor();
	assert.match(await damaged.locator('.opening').textContent(), /The recording cannot be shown: .*(cut off|ends within)/);
	damaged.trouble.length = 0; // the console reports it as well
}

/* Brings the page back to its state after opening. */
async function reset(page) {
	await page.evaluate(() => {
		const { app } = globalThis.hodo;
		app.showPane('timeline');
		app.choose(null);
		app.select({});
		document.querySelector('.tl-scroller').scrollTop = 0;
	});
	await page.mouse.move(2, 2);
	await page.locator('#search').fill('');
	await stage(page).focus();
	await page.keyboard.press('0');
	await settle(page);
}

/* Opening a page costs more than these parts do: all parts that leave it as it was share one. */
async function onOnePage(t) {
	const page = await openPage(t);
	for (const part of [shell, mouse, area, keys, names, searching, losses, hostile, fingers, tree]) {
		try {
			await part(t, page);
		} catch (error) {
			error.message = `${part.name}: ${error.message}`;
			throw error;
		}
		await reset(page);
	}
}

await run({ onOnePage, themes, small, bounded, notices });
