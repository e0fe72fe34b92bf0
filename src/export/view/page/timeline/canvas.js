// SPDX-License-Identifier: MIT
// canvas.js - a canvas as sharp as the screen, with coordinates in CSS pixels.

import { shortened } from '../data/names.js';

export const FONT = '11px system-ui, sans-serif';
export const DOTS_PX = 4;
const WIDTHS_MAX = 200000;

export function makeCanvas(doc, className) {
	const canvas = doc.createElement('canvas');
	canvas.className = className;
	canvas.setAttribute('aria-hidden', 'true');
	return canvas;
}

/* Sizes it and returns its context, cleared. */
export function begin(canvas, width, height) {
	const ratio = Math.max(globalThis.devicePixelRatio || 1, 1);
	const w = Math.max(1, Math.round(width * ratio));
	const h = Math.max(1, Math.round(height * ratio));
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	const ctx = canvas.getContext('2d');
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.clearRect(0, 0, width, height);
	ctx.font = FONT;
	ctx.textBaseline = 'middle';
	return ctx;
}

/* Stripes that say "something is missing here". */
export function hatch(ctx, color) {
	const ratio = Math.max(globalThis.devicePixelRatio || 1, 1);
	const size = Math.round(8 * ratio);
	const tile = ctx.canvas.ownerDocument.createElement('canvas');
	tile.width = size;
	tile.height = size;
	const t = tile.getContext('2d');
	t.strokeStyle = color;
	t.lineWidth = 1.6 * ratio;
	t.beginPath();
	for (const shift of [-size, 0, size]) {
		t.moveTo(shift - 2, size + 2);
		t.lineTo(shift + size + 2, -2);
	}
	t.stroke();
	const pattern = ctx.createPattern(tile, 'repeat');
	pattern.setTransform(new DOMMatrix().scale(1 / ratio));
	return pattern;
}

/* Dots that say "more than is drawn". */
export function dots(ctx, color) {
	const tile = ctx.canvas.ownerDocument.createElement('canvas');
	tile.width = DOTS_PX;
	tile.height = DOTS_PX;
	const t = tile.getContext('2d');
	t.fillStyle = color;
	t.fillRect(0, 0, 2, 2);
	return ctx.createPattern(tile, 'repeat');
}

/* A text on a ground of its own, its middle at x, or as near as it can be within the width. */
export function bubble(ctx, text, x, y, width, ground, color) {
	const wide = ctx.measureText(text).width + 12;
	const left = Math.max(4, Math.min(width - wide - 4, x - wide / 2));
	ctx.fillStyle = ground;
	ctx.beginPath();
	ctx.roundRect(left, y - 9, wide, 18, 5);
	ctx.fill();
	ctx.fillStyle = color;
	ctx.fillText(text, left + 6, y);
}

/* Shortens names to widths. What has been measured is kept: names are few and drawn often. */
export class Labels {
	constructor(strings) {
		this.strings = strings;
		this.widths = new Map();
	}

	fit(ctx, name, room) {
		return shortened(this.strings[name] ?? '', room, (text) => {
			let width = this.widths.get(text);
			if (width === undefined) {
				if (this.widths.size > WIDTHS_MAX)
					this.widths.clear();
				width = ctx.measureText(text).width;
				this.widths.set(text, width);
			}
			return width;
		});
	}
}
