// SPDX-License-Identifier: MIT
//
// lib.mjs - what the tests of the page share: chromium, pages of recordings, checks.
//
// In the environment: VIEW_MODULES (node_modules with playwright-core), VIEW_WORK (a folder for what tests make and
// keep: screenshots), HODO, TEMPLATE (the page without a recording), CHROMIUM (found if not set). A test is a
// program: `await run({ name: async (t) => { … } })` runs its cases; it ends with 77 where something that it needs is
// missing.
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SKIP = 77;

export function skip(why) {
	console.log(`skipped: ${why}`);
	process.exit(SKIP);
}

function findChromium() {
	const names = process.env.CHROMIUM ? [process.env.CHROMIUM]
		: (process.env.PATH ?? '').split(':').flatMap((dir) => [join(dir, 'chromium'), join(dir, 'chromium-browser')]);
	for (const name of names) {
		try {
			accessSync(name, constants.X_OK);
			return name;
		} catch {
			// try the next one
		}
	}
	return skip('there is no chromium');
}

function playwright() {
	const modules = process.env.VIEW_MODULES;
	if (!modules || !existsSync(join(modules, 'playwright-core')))
		skip('playwright-core is not there: npm could not get it when the build was configured');
	return createRequire(join(modules, 'x.js'))('playwright-core');
}

/* Runs hodo; gives its standard output, or throws with its standard error. */
export function hodo(...args) {
	return execFileSync(process.env.HODO, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'],
		maxBuffer: 1 << 28 });
}

/* Whether hodo was built with the page. */
export function needPage() {
	if (process.env.TEMPLATE && existsSync(process.env.TEMPLATE) && execFileSync('wc', ['-c', process.env.TEMPLATE],
		{ encoding: 'utf8' }).startsWith('0 '))
		skip('hodo is built without its page');
}

/* What a case gets: a browser, its own folder, which is removed at the end, and a list of its complaints. */
class Test {
	constructor(browser, name, file) {
		this.browser = browser;
		this.name = name;
		this.file = file;
		this.dir = mkdtempSync(join(tmpdir(), 'hodo-view-'));
		this.contexts = [];
	}

	/*
	 * Opens a page. page.trouble keeps each error in the page, each message on its console, each breach of policy and
	 * each request for anything but the file itself: the test fails if there is any at its end.
	 */
	async open(path, { width = 1280, height = 800, scheme = 'light', wait = true, hash = '' } = {}) {
		const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: scheme,
			reducedMotion: 'reduce' });
		context.setDefaultTimeout(60000); // other tests may need the machine, too
		const page = await context.newPage();
		const url = pathToFileURL(path).href;
		page.trouble = [];
		page.on('pageerror', (error) => page.trouble.push(`error: ${error.stack ?? error}`));
		page.on('console', (message) => {
			if (['error', 'warning'].includes(message.type()))
				page.trouble.push(`console: ${message.text()}`);
		});
		page.on('dialog', (dialog) => {
			page.trouble.push(`dialog: ${dialog.message()}`);
			dialog.dismiss();
		});
		page.on('request', (request) => {
			// The part behind # is never requested.
			if (request.url().split('#')[0] !== url && !request.url().startsWith('data:'))
				page.trouble.push(`request: ${request.url().slice(0, 200)}`);
		});
		this.contexts.push({ context, page });
		await page.goto(url + hash);
		if (wait)
			await ready(page);
		return page;
	}

	/* Keeps a picture as output of the test. */
	async screenshot(page, name) {
		const folder = join(process.env.VIEW_WORK ?? tmpdir(), 'screenshots');
		mkdirSync(folder, { recursive: true });
		const path = join(folder, `${basename(this.file, '.mjs')}-${name}.png`);
		await page.screenshot({ path });
		return path;
	}

	/* A page of a recording, made by hodo view. */
	view(recording, ...options) {
		const path = join(this.dir, `page${this.contexts.length}-${Math.random().toString(36).slice(2)}.html`);
		hodo('view', '-q', '-o', path, ...options, recording);
		return path;
	}

	write(name, text) {
		const path = join(this.dir, name);
		writeFileSync(path, text);
		return path;
	}

	async end() {
		const trouble = [];
		for (const { context, page } of this.contexts) {
			trouble.push(...page.trouble);
			await context.close();
		}
		rmSync(this.dir, { recursive: true, force: true });
		if (trouble.length)
			throw new Error(`the page is in trouble:\n  ${trouble.join('\n  ')}`);
	}
}

/* Waits until the recording is open and its first frame is drawn. */
export async function ready(page, timeout = 60000) {
	await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout });
	const state = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() =>
		requestAnimationFrame(() => done(document.documentElement.dataset.ready)))));
	if (state !== 'true')
		throw new Error(`the page says: ${await page.locator('body').innerText()}`);
}

export function check(what, message) {
	if (!what)
		throw new Error(message ?? 'check failed');
}

export function equal(got, wanted, message) {
	const a = JSON.stringify(got);
	const b = JSON.stringify(wanted);
	if (a !== b)
		throw new Error(`${message ? `${message}: ` : ''}got ${a}, not ${b}`);
}

/* Launches chromium, and runs each case. Arguments choose cases by name. */
export async function run(cases, { page = true } = {}) {
	if (page)
		needPage();
	const { chromium } = playwright();
	const executablePath = findChromium();
	const file = process.argv[1];
	const wanted = process.argv.slice(2);
	let failed = 0;
	let browser;
	try {
		browser = await chromium.launch({ executablePath, headless: true,
			args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-device-scale-factor=1'] });
	} catch (error) {
		skip(`chromium does not start here: ${String(error).split('\n')[0]}`);
	}
	try {
		for (const [name, body] of Object.entries(cases)) {
			if (wanted.length && !wanted.includes(name))
				continue;
			const test = new Test(browser, name, file);
			const begin = Date.now();
			let error = null;
			try {
				await body(test);
			} catch (e) {
				error = e;
			}
			try {
				await test.end();
			} catch (e) {
				error ??= e;
			}
			console.log(`${error ? 'FAILED' : 'ok'} ${name} (${Date.now() - begin} ms)`);
			if (error) {
				failed++;
				console.log(String(error.stack ?? error).replace(/^/gm, '    '));
			}
		}
	} finally {
		await browser.close();
	}
	process.exit(failed ? 1 : 0);
}
