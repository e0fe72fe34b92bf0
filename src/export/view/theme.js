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

	#apply(tell) {
		const dark = this.name === 'dark';
		this.root.dataset.theme = this.name;
		const style = getComputedStyle(this.root);
		for (const name of VARIABLES)
			this[name] = style.getPropertyValue(`--${name}`).trim();
		this.fills = [];
		this.strokes = [];
		for (let i = 0; i < HUES; i++) {
			// Neighbours in number are far apart in hue; two lightnesses tell neighbours in hue apart.
			const hue = Math.round((i * 360 * 7) / HUES + 8) % 360;
			const step = i % 2 ? 4 : 0;
			this.fills.push(dark ? `hsl(${hue} 32% ${35 + step}%)` : `hsl(${hue} 52% ${80 - step}%)`);
			this.strokes.push(dark ? `hsl(${hue} 52% ${64 - step}%)` : `hsl(${hue} 52% ${40 + step}%)`);
		}
		this.onFill = dark ? '#f2f4f8' : '#1c2128';
		if (tell)
			this.changed();
	}
}
