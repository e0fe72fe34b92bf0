// SPDX-License-Identifier: MIT
// theme.js - light or dark, and the colours of canvases: those of style.css, and one for each name.

const KEY = 'hodo-theme';
const HUES = 20;
const APART = 2 * HUES; // of so many names, the most frequent ones, no two share a colour without need
const VARIABLES = ['back', 'panel', 'raised', 'line', 'faint', 'text', 'dim', 'accent', 'select', 'loss', 'match',
	'row'];

/* FNV-1a: the same name has the same colour in every recording. */
function hash(text) {
	let h = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
	h ^= h >>> 15;
	return h >>> 0;
}

/*
 * Lightness and chroma of the OKLCH colour space, hue in degrees -> [red, green, blue], 0 … 255. Colours of one
 * lightness look equally light there, which HSL's do not: texts on all of them are as easily read.
 */
function rgbOf(lightness, chroma, hue) {
	const a = chroma * Math.cos((hue * Math.PI) / 180);
	const b = chroma * Math.sin((hue * Math.PI) / 180);
	const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
	return [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
		-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
		-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s].map((linear) => {
		const c = Math.min(1, Math.max(0, linear));
		return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
	});
}

const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

/* "#rrggbb" */
function rgbOfHex(hex) {
	return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function stored() {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null; // a page from a file may have no storage
	}
}

/* The colour of each name: that of its hash; of frequent names with the same one, the rarer have the next free one. */
function coloursOf(strings, counts) {
	const colours = Uint8Array.from(strings, (text) => hash(text) % HUES);
	const used = new Uint32Array(HUES);
	const frequent = Array.from(strings.keys()).filter((i) => counts[i] > 0).sort((a, b) => counts[b] - counts[a]);
	for (const name of frequent.slice(0, APART)) {
		let best = colours[name];
		for (let k = 1; k < HUES && used[best] > 0; k++)
			if (used[(colours[name] + k) % HUES] < used[best])
				best = (colours[name] + k) % HUES;
		used[best]++;
		colours[name] = best;
	}
	return colours;
}

export class Theme {
	/* counts: how often each of the strings is a name. */
	constructor(root, strings, counts, changed) {
		this.root = root;
		this.changed = changed;
		this.query = matchMedia('(prefers-color-scheme: dark)');
		this.choice = stored();
		this.query.addEventListener('change', () => this.#apply(true));
		const ofName = coloursOf(strings, counts);
		// fill(name): of its slices and points, as CSS has it; stroke(name): stands out from the background; …Rgb: in numbers.
		for (const what of ['fill', 'stroke', 'fillRgb', 'strokeRgb'])
			this[what] = (name) => this[`${what}s`][ofName[name] ?? 0];
		this.#apply(false);
	}

	get name() {
		return this.choice === 'light' || this.choice === 'dark' ? this.choice : this.query.matches ? 'dark' : 'light';
	}

	toggle() {
		this.choice = this.name === 'dark' ? 'light' : 'dark';
		try {
			localStorage.setItem(KEY, this.choice);
		} catch {
			// it holds for this page only
		}
		this.#apply(true);
	}

	/* From blue, less, over the ground to red, more: part is -1 … 1. */
	change(part) {
		const most = part < 0 ? this.lessRgb : this.moreRgb;
		const ground = rgbOfHex(this.faint);
		return css(ground.map((value, i) => Math.round(value + (most[i] - value) * Math.sqrt(Math.min(1, Math.abs(part))))));
	}

	#apply(notify) {
		const dark = this.name === 'dark';
		this.root.dataset.theme = this.name;
		const style = getComputedStyle(this.root);
		for (const name of VARIABLES)
			this[name] = style.getPropertyValue(`--${name}`).trim();
		this.matchRgb = rgbOfHex(this.match);
		this.fillRgbs = [];
		this.strokeRgbs = [];
		for (let i = 0; i < HUES; i++) {
			// Neighbours in number are far apart in hue; two lightnesses keep neighbours in hue apart.
			const hue = ((i * 360 * 7) / HUES + 8) % 360;
			const step = i % 2 ? 0.035 : 0;
			this.fillRgbs.push(dark ? rgbOf(0.44 + step, 0.075, hue) : rgbOf(0.875 - step, 0.07, hue));
			this.strokeRgbs.push(dark ? rgbOf(0.76 - step, 0.11, hue) : rgbOf(0.52 + step, 0.13, hue));
		}
		this.fills = this.fillRgbs.map(css);
		this.strokes = this.strokeRgbs.map(css);
		this.moreRgb = dark ? rgbOf(0.46, 0.14, 28) : rgbOf(0.76, 0.15, 28);
		this.lessRgb = dark ? rgbOf(0.46, 0.12, 255) : rgbOf(0.76, 0.12, 250);
		this.onFill = dark ? '#f2f4f8' : '#1c2128';
		if (notify)
			this.changed();
	}
}
