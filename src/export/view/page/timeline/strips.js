// SPDX-License-Identifier: MIT
// strips.js - rows of narrow things as pixels: one line of pixels for each row, all put into one picture at once and
// stretched to their heights. Thousands of rectangles a frame would cost many times as much.

import { makeCanvas } from './canvas.js';

const ROWS_STEP = 64;

export class Strips {
	constructor(doc) {
		this.canvas = makeCanvas(doc, '');
		// In main memory: it is written each frame.
		this.ctx = this.canvas.getContext('2d', { willReadFrequently: true });
		this.places = [];
		this.width = 0;
		this.pixels = null;
	}

	start(width) {
		this.places.length = 0;
		if (width !== this.width)
			this.#size(width, ROWS_STEP);
	}

	#size(width, rows) {
		const before = width === this.width ? this.pixels : null;
		this.width = width;
		this.canvas.width = width;
		this.canvas.height = rows;
		this.image = this.ctx.createImageData(width, rows);
		this.pixels = new Uint32Array(this.image.data.buffer);
		if (before)
			this.pixels.set(before);
	}

	/* A row at y; pixels of it are set from now on. */
	open(y, height) {
		if (this.places.length === this.canvas.height)
			this.#size(this.width, this.canvas.height + ROWS_STEP);
		this.base = this.places.length * this.width;
		this.places.push({ y, height, used: false });
		this.place = this.places[this.places.length - 1];
		this.pixels.fill(0, this.base, this.base + this.width);
	}

	/* color: of pack() */
	set(x, color) {
		if (x < 0 || x >= this.width)
			return;
		this.pixels[this.base + x] = color;
		this.place.used = true;
	}

	/* Pixels from … to - 1, one at least. */
	fill(from, to, color) {
		const begin = Math.max(0, from);
		const end = Math.min(this.width, Math.max(to, from + 1));
		if (end <= begin)
			return;
		this.pixels.fill(color, this.base + begin, this.base + end);
		this.place.used = true;
	}

	draw(ctx) {
		if (!this.places.some((p) => p.used))
			return;
		this.ctx.putImageData(this.image, 0, 0, 0, 0, this.width, this.places.length);
		ctx.imageSmoothingEnabled = false;
		this.places.forEach(({ y, height, used }, row) => {
			if (used)
				ctx.drawImage(this.canvas, 0, row, this.width, 1, 0, y, this.width, height);
		});
	}
}

/* Red, green, blue (0 … 255) and alpha (0 … 1) as a pixel; all machines that show such pages are little endian. */
export function pack([red, green, blue], alpha) {
	return ((Math.round(alpha * 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
