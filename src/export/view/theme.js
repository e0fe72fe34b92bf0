// SPDX-License-Identifier: MIT
// theme.js - light or dark, and the colours of canvases: those of style.css, and one for each name.

const KEY = 'hodo-theme';
const HUES = 20;
const VARIABLES = ['back', 'panel', 'raised', 'line', 'faint', 'text', 'dim', 'accent', 'select', 'loss', 'match', 'row'];

/* FNV-1a: the same name has the same colour in every recording. */
export function hash(text) {
	let h = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
	h ^= h >>> 15;
	return h >>> 0;
}

/* Degrees, per cent, per cent -> [red, green, blue], 0 … 255. */
function rgbOf(hue, saturation, lightness) {
	const l = lightness / 100;
	const a = (saturation / 100) * Math.min(l, 1 - l);
	return [0, 8, 4].map((n) => {
		const k = (n + hue / 30) % 12;
		return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	});
}

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

export class Theme {
	constructor(root, strings, changed) {
		this.root = root;
		this.strings = strings;
		this.changed = changed;
		this.query = matchMedia('(prefers-color-scheme: dark)');
		this.choice = stored();
		this.query.addEventListener('change', () => this.#apply(true));
		this.ofName = new Uint8Array(strings.length);
		for (let i = 0; i < strings.length; i++)
			this.ofName[i] = hash(strings[i]) % HUES;
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

	/* The fill of a name's slices and points: "hsl(…)". */
	fill(nameIndex) {
		return this.fills[this.ofName[nameIndex] ?? 0];
	}

	/* A line or point in that name's colour that stands out from the background. */
	stroke(nameIndex) {
		return this.strokes[this.ofName[nameIndex] ?? 0];
	}

	/* The same as [red, green, blue]. */
	fillRgb(nameIndex) {
		return this.fillRgbs[this.ofName[nameIndex] ?? 0];
	}

	strokeRgb(nameIndex) {
		return this.strokeRgbs[this.ofName[nameIndex] ?? 0];
	}

	#apply(tell) {
		const dark = this.name === 'dark';
		this.root.dataset.theme = this.name;
		const style = getComputedStyle(this.root);
		for (const name of VARIABLES)
			this[name] = style.getPropertyValue(`--${name}`).trim();
		this.matchRgb = rgbOfHex(this.match);
		this.fills = [];
		this.fillRgbs = [];
		this.strokes = [];
		this.strokeRgbs = [];
		for (let i = 0; i < HUES; i++) {
			// Neighbours in number are far apart in hue; two lightnesses tell neighbours in hue apart.
			const hue = Math.round((i * 360 * 7) / HUES + 8) % 360;
			const step = i % 2 ? 4 : 0;
			const fill = dark ? [hue, 32, 35 + step] : [hue, 52, 80 - step];
			const stroke = dark ? [hue, 45, 62 - step] : [hue, 48, 42 + step];
			this.fills.push(`hsl(${fill[0]} ${fill[1]}% ${fill[2]}%)`);
			this.fillRgbs.push(rgbOf(...fill));
			this.strokes.push(`hsl(${stroke[0]} ${stroke[1]}% ${stroke[2]}%)`);
			this.strokeRgbs.push(rgbOf(...stroke));
		}
		this.onFill = dark ? '#f2f4f8' : '#1c2128';
		if (tell)
			this.changed();
	}
}
