// SPDX-License-Identifier: MIT
//
// build.mjs MODULES OUT - makes the template of the page that hodo view fills: index.html with main.js, the styles that
// it imports and what they need of MODULES (a node_modules folder), in one file that asks the network for nothing.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const modules = resolve(process.argv[2]);
const out = resolve(process.argv[3]);
const esbuild = createRequire(join(modules, 'x.js'))('esbuild-wasm');

function fail(text) {
	console.error(`build.mjs: ${text}`);
	process.exit(1);
}

const made = await esbuild.build({
	entryPoints: [join(here, 'main.js')],
	bundle: true,
	minify: true,
	format: 'iife',
	target: ['es2022'],
	outfile: 'page.js',
	write: false,
	metafile: true,
	legalComments: 'none', // the licences are whole in the page
	charset: 'ascii',
	nodePaths: [modules],
	logLevel: 'warning',
});

const script = made.outputFiles.find((f) => f.path.endsWith('.js')).text.trim();
const style = (made.outputFiles.find((f) => f.path.endsWith('.css'))?.text ?? '').trim();

// What would end an inline element before its end, or begin a state in which "</script>" does not end it.
for (const [text, bad] of [[script, /<\/script|<script|<!--/i], [style, /<\/style|<!--|@import|url\((?!["']?(data:|#))/i]]) {
	const found = bad.exec(text);
	if (found)
		fail(`${JSON.stringify(text.slice(found.index - 40, found.index + 40))}: cannot stand in the page`);
}

// The licences of what is bundled have to go with it.
function licences() {
	const used = new Set();
	for (const path of Object.keys(made.metafile.inputs)) {
		const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(resolve(path));
		if (name)
			used.add(name[1]);
	}
	return [...used].sort().map((name) => {
		const folder = join(modules, name);
		const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
		const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
		if (!file)
			fail(`${name}: has no licence`);
		return `${name} ${about.version} (${about.license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
	}).join('\n----\n\n');
}

const text = licences();
if (/<\/script|<script|<!--/i.test(text))
	fail('a licence cannot stand in the page');

const hash = (s) => `'sha256-${createHash('sha256').update(s).digest('base64')}'`;
// Only this script and this style, and no request at all; libraries set styles through the CSSOM, which is not bound.
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; ` +
	`base-uri 'none'; form-action 'none'`;
const parts = {
	csp: `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
	style: `<style>${style}</style>`,
	script: `<script type="text/plain" id="hodo-licences">\n${text}</script>\n<script>${script}</script>`,
};

let html = readFileSync(join(here, 'index.html'), 'utf8').replace(/<title>[^<]*<\/title>/, '<title><!--hodo:title--></title>');
for (const name of ['title', 'data', 'csp', 'style', 'script']) {
	const at = html.split(`<!--hodo:${name}-->`);
	if (at.length !== 2)
		fail(`index.html: <!--hodo:${name}--> occurs ${at.length - 1} times, not once`);
	if (parts[name])
		html = at.join(parts[name]);
}
// hodo itself puts the recording's title and the recording there.
const places = ['<!--hodo:title-->', '<!--hodo:data-->', parts.script].map((text) => html.indexOf(text));
if (places[0] < 0 || places[0] > places[1] || places[1] > places[2])
	fail('index.html: title, data and script stand in this order');

writeFileSync(`${out}.new`, html);
renameSync(`${out}.new`, out);
