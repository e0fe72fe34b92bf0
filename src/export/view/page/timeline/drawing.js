// SPDX-License-Identifier: MIT
// drawing.js - tracks on a canvas. What is narrower than a pixel is drawn a column at a time: sums over a row (rows.js)
// say how much of the column is covered, so that a frame costs what the screen has of pixels, not of events.
// Columns stand at multiples of their width in time, so that they do not flicker when the view moves.

import { begin, dots, DOTS_PX, hatch, Labels } from './canvas.js';
import { SLICE_CONTINUED, SLICE_END_LOST, SLICE_LEFT, SLICE_OPEN, SLICE_SPLIT } from '../data/data.js';
import { duration as lengthOf } from '../data/format.js';
import { lossBars } from './hit.js';
import { PADDING, POINTS_HEIGHT } from './layout.js';
import { firstAbove, firstAboveNear } from './rows.js';
import { pack, Strips } from './strips.js';

const WIDE_PX = 1.6; // from here on a slice is drawn for itself, …
const BOX_PX = 6; // … from here on as a box, below as pixels
const LABEL_PX = 22;
const FADED = 0.3; // what a search does not find
const LOOK_MAX = 12; // slices of a column among which the longest gives the colour
const TWO_LINES_PX = 32; // rows of this height have room for how long a slice took, below its name
const LINE_PX = 14;

export class Drawing {
	constructor(model, app) {
		this.model = model;
		this.app = app;
		this.labels = new Labels(model.strings);
		this.strips = new Strips(app.doc);
	}

	/* Everything between scroll and scroll + height. */
	draw(canvas, view, layout, scroll, height) {
		const ctx = begin(canvas, view.width, height);
		this.ctx = ctx;
		this.view = view;
		this.theme = this.app.theme;
		this.hits = this.app.matches.hits;
		this.texts = []; // [name, x, y, room, color]
		this.figures = []; // [text, x, y, room]: how long slices took, where there is room
		this.sliceHeight = layout.rowHeight - 1;
		this.quantum = view.nsPerPx;
		this.shift = -view.from / this.quantum; // pixels from time 0 to the left edge
		this.top = scroll;
		this.bottom = scroll + height;
		this.strips.start(Math.ceil(view.width));
		ctx.save();
		ctx.translate(0, -scroll);
		const items = layout.between(scroll, scroll + height);
		items.forEach((item) => this.#ground(item));
		this.#losses(layout, scroll, height, false);
		items.forEach((item) => this.#item(item));
		this.#omitted(items);
		this.strips.draw(ctx);
		this.#texts();
		this.#losses(layout, scroll, height, true);
		this.#edges(scroll, height);
		ctx.restore();
	}

	#ground(item) {
		const { ctx, theme, view } = this;
		if (item.isGroup) {
			ctx.fillStyle = theme.panel;
			ctx.fillRect(0, item.y, view.width, item.height);
		}
		ctx.fillStyle = theme.line;
		ctx.fillRect(0, item.y + item.height - 1, view.width, 1);
	}

	#item(item) {
		if (item.isGroup) {
			if (!item.open)
				this.#activity(item);
		} else if (item.track.kind === 'counter') {
			this.#counter(item);
		} else {
			const rows = this.model.rows(item.track);
			const n = item.open ? rows.length : Math.min(1, rows.length);
			const first = Math.max(0, Math.floor((this.top - item.rowY(0)) / item.layout.rowHeight));
			for (let depth = first; depth < n && item.rowY(depth) < this.bottom; depth++)
				this.#row(rows[depth], item.rowY(depth));
			if (item.hasPoints)
				this.#points(item);
		}
	}

	/* Slices of one row. */
	#row(row, y) {
		const { view, quantum } = this;
		const { begin: begins, end: ends } = row;
		const wide = quantum * WIDE_PX;
		const box = quantum * BOX_PX;
		let i = row.after(view.from);
		this.strips.open(y, this.sliceHeight);
		while (i < row.n && begins[i] < view.to) {
			const length = ends[i] - begins[i];
			if (length >= wide) {
				if (length >= box)
					this.#slice(row, i, y);
				else
					this.#narrow(row, i);
				i++;
				continue;
			}
			const column = Math.floor(begins[i] / quantum);
			let next = firstAboveNear(begins, (column + 1) * quantum, i, row.n);
			// Only the last that begins in a column can be wide.
			if (next - 1 > i && ends[next - 1] - begins[next - 1] >= wide)
				next--;
			next = Math.max(next, i + 1);
			this.#column(row, i, next, column);
			i = next;
		}
		this.ctx.globalAlpha = 1;
	}

	/* The pixel that slices first … next - 1 of a row have. */
	#color(row, first, next, alpha) {
		const { slices } = this.model;
		let longest = first;
		const look = Math.min(next, first + LOOK_MAX);
		for (let j = first + 1; j < look; j++)
			if (row.end[j] - row.begin[j] > row.end[longest] - row.begin[longest])
				longest = j;
		if (this.hits && row.matches(first, next, this.hits) > 0)
			return pack(this.theme.matchRgb, 1);
		return pack(this.theme.fillRgb(slices.name[row.slice[longest]]), this.hits ? alpha * FADED : alpha);
	}

	/* Slices first … next - 1, all in one pixel column. */
	#column(row, first, next, column) {
		const covered = Math.min(1, (row.covered[next] - row.covered[first]) / this.quantum);
		this.strips.set(Math.round(column + this.shift), this.#color(row, first, next, 0.45 + 0.55 * covered));
	}

	#narrow(row, i) {
		const x0 = Math.round(this.view.x(row.begin[i]));
		const x1 = Math.round(this.view.x(row.end[i]));
		this.strips.fill(x0, x1 - (x1 - x0 > 3 ? 1 : 0), this.#color(row, i, i + 1, 1));
	}

	#slice(row, i, y) {
		const { ctx, view } = this;
		const { slices } = this.model;
		const slice = row.slice[i];
		const name = slices.name[slice];
		const x0 = Math.max(-4, view.x(row.begin[i]));
		const x1 = Math.min(view.width + 4, view.x(row.end[i])) - 1;
		const hit = !this.hits || this.hits[slice] === 1;
		ctx.globalAlpha = hit ? 1 : FADED;
		ctx.fillStyle = this.theme.fill(name);
		ctx.beginPath();
		ctx.roundRect(x0, y, x1 - x0, this.sliceHeight, 2);
		ctx.fill();
		if (this.hits && hit) {
			ctx.fillStyle = this.theme.match;
			ctx.fillRect(x0, y + this.sliceHeight - 2, x1 - x0, 2);
		}
		if (slices.flags[slice] !== 0 && x1 - x0 > 8)
			this.#flags(slices.flags[slice], x0, x1, y);
		const left = Math.max(x0, 0);
		if (hit && x1 - left > LABEL_PX)
			this.#label(name, slices.duration[slice], left + 4, y + this.sliceHeight / 2, Math.min(x1, view.width) - left - 8);
	}

	/* A slice's name, and how long it took if the row has room for both. */
	#label(name, duration, x, middle, room) {
		const both = this.sliceHeight >= TWO_LINES_PX;
		this.texts.push([name, x, both ? middle - LINE_PX / 2 : middle, room, this.theme.onFill]);
		if (both)
			this.figures.push([lengthOf(duration), x, middle + LINE_PX / 2, room]);
	}

	/* An end that is not the slice's own is dotted. */
	#flags(flags, x0, x1, y) {
		const { ctx } = this;
		ctx.fillStyle = flags & (SLICE_LEFT | SLICE_END_LOST) ? this.theme.loss : this.theme.dim;
		const dots = (x) => {
			for (let at = 1; at < this.sliceHeight; at += 4)
				ctx.fillRect(x, y + at, 2, 2);
		};
		if (flags & SLICE_CONTINUED)
			dots(x0 + 1);
		if (flags & (SLICE_OPEN | SLICE_SPLIT | SLICE_LEFT | SLICE_END_LOST))
			dots(x1 - 3);
	}

	/* Texts come last, all at once: changing between shapes and texts takes its time. */
	#texts() {
		const { ctx } = this;
		ctx.globalAlpha = 1;
		for (const [name, x, y, room, color] of this.texts) {
			ctx.fillStyle = color;
			ctx.fillText(this.labels.fit(ctx, name, room), x, y);
		}
		ctx.fillStyle = this.theme.onFill;
		ctx.globalAlpha = 0.7;
		for (const [text, x, y, room] of this.figures)
			if (ctx.measureText(text).width <= room)
				ctx.fillText(text, x, y);
		ctx.globalAlpha = 1;
	}

	/* Instants: a lozenge where there is room, a tick where they stand close. */
	#points(item) {
		const { ctx, view, quantum } = this;
		const { instants } = this.model;
		const [from, to] = item.track.instants;
		const { time } = instants;
		const y = item.pointsY;
		const middle = y + POINTS_HEIGHT / 2 - 1;
		let i = firstAbove(time, view.from - 6 * quantum, from, to);
		let before = -Infinity;
		this.strips.open(y + 1, POINTS_HEIGHT - 4);
		while (i < to && time[i] < view.to + 6 * quantum) {
			const next = firstAboveNear(time, (Math.floor(time[i] / quantum) + 1) * quantum, i, to);
			const x = view.x(time[i]);
			const after = next < to ? view.x(time[next]) : Infinity;
			const hit = !this.hits || this.#pointsMatch(i, next);
			if (x - before > 9 && after - x > 9) {
				ctx.globalAlpha = hit ? 1 : FADED;
				ctx.fillStyle = this.hits && hit ? this.theme.match : this.theme.stroke(instants.name[i]);
				ctx.beginPath();
				ctx.moveTo(x, middle - 5);
				ctx.lineTo(x + 4, middle);
				ctx.lineTo(x, middle + 5);
				ctx.lineTo(x - 4, middle);
				ctx.fill();
				if (hit && after - x > 50)
					this.texts.push([instants.name[i], x + 7, middle, Math.min(after, view.width) - x - 14, this.theme.dim]);
			} else {
				this.strips.set(Math.round(x), this.hits && hit ? pack(this.theme.matchRgb, 1)
					: pack(this.theme.strokeRgb(instants.name[i]), this.hits ? FADED : 0.8));
			}
			before = x;
			i = Math.max(next, i + 1);
		}
		ctx.globalAlpha = 1;
	}

	#pointsMatch(from, to) {
		const { split } = this.model.events;
		return this.hits.subarray(split + from, split + Math.min(to, from + 64)).includes(1);
	}

	/* A counter as steps, with gaps where it is no number; in a column with many values all from the least to the greatest. */
	#counter(item) {
		const { ctx, view, quantum, theme } = this;
		const [from, to] = item.track.values;
		if (to <= from)
			return;
		const { time, value } = this.model.values;
		const { pyramid, part } = this.model.counterScale(item.track);
		const top = item.y + PADDING + 2;
		const bottom = item.y + item.height - PADDING;
		const yOf = (v) => bottom - part(v) * (bottom - top);
		const filled = (y) => (Number.isNaN(y) ? bottom : y);
		let i = Math.max(from, firstAbove(time, view.from, from, to) - 1);
		const line = new Path2D();
		const area = new Path2D();
		let x = Math.max(0, view.x(time[i]));
		let y = yOf(value[i]);
		line.moveTo(x, y); // without a number, paths stay as they are
		area.moveTo(x, bottom);
		area.lineTo(x, filled(y));
		const stop = Math.min(view.width, view.x(this.model.durationNs));
		while (++i < to && time[i] <= view.to) {
			const next = Math.max(i + 1, firstAboveNear(time, (Math.floor(time[i] / quantum) + 1) * quantum, i, to));
			x = Math.max(0, view.x(time[i]));
			line.lineTo(x, y);
			area.lineTo(x, filled(y));
			let gap = Number.isNaN(y);
			if (next - i > 2) {
				pyramid.look(i - from, next - from);
				if (pyramid.min <= pyramid.max) {
					line[gap ? 'moveTo' : 'lineTo'](x, yOf(pyramid.min));
					line.lineTo(x, yOf(pyramid.max));
					gap = false;
				}
			}
			y = yOf(value[next - 1]);
			line[gap ? 'moveTo' : 'lineTo'](x, y);
			area.lineTo(x, filled(y));
			i = next - 1;
		}
		line.lineTo(Math.max(x, stop), y);
		area.lineTo(Math.max(x, stop), filled(y));
		area.lineTo(Math.max(x, stop), bottom);
		ctx.fillStyle = theme.stroke(item.track.nameId);
		ctx.globalAlpha = 0.16;
		ctx.fill(area);
		ctx.globalAlpha = 1;
		ctx.strokeStyle = theme.stroke(item.track.nameId);
		ctx.lineWidth = 1;
		ctx.stroke(line);
	}

	/* A closed group: how many of its threads are busy, in columns of two pixels. */
	#activity(group) {
		const { ctx, view, theme } = this;
		const rows = [];
		for (const { track } of group.children.slice(0, 64))
			if (track.kind !== 'counter' && this.model.rows(track).length)
				rows.push(this.model.rows(track)[0]);
		if (!rows.length)
			return;
		const width = 2 * this.quantum;
		const height = group.height - 8;
		ctx.fillStyle = theme.accent;
		ctx.globalAlpha = 0.5;
		for (let at = Math.floor(view.from / width) * width; at < view.to; at += width) {
			let sum = 0;
			for (const row of rows)
				sum += row.coverage(at, at + width);
			const part = Math.min(1, sum / width / rows.length);
			if (part > 0)
				ctx.fillRect(Math.round(view.x(at)), group.y + 4 + height * (1 - part), 2, Math.max(1, height * part));
		}
		ctx.globalAlpha = 1;
	}

	/*
	 * Hatched: events that a process wrote there are missing. Below what is drawn, and above it the fainter the
	 * wider it is: narrow ones are still found between dense slices, wide ones do not hide what is there.
	 */
	#losses(layout, scroll, height, above) {
		const { ctx, view } = this;
		const { losses } = this.model;
		if (!losses.n)
			return;
		const pattern = hatch(ctx, this.theme.loss);
		for (const group of layout.groups) {
			if (!group.losers.length || group.bottom < scroll || group.y > scroll + height)
				continue;
			const y0 = Math.max(group.y, scroll - 8);
			const y1 = Math.min(group.bottom, scroll + height + 8);
			ctx.fillStyle = pattern;
			for (const [x0, x1] of lossBars(losses, (time) => view.x(time), view.width, group.losers)) {
				ctx.globalAlpha = above ? Math.min(0.45, Math.max(0.08, 12 / (x1 - x0))) : 0.22;
				ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
			}
		}
		ctx.globalAlpha = 1;
	}

	/* Dots below a track where slices or points of it are not in the page. */
	#omitted(items) {
		const { ctx, view } = this;
		const { omitted } = this.model;
		if (!omitted.n)
			return;
		ctx.fillStyle = dots(ctx, this.theme.dim);
		for (const { track, y, height } of items.filter((item) => !item.isGroup)) {
			const [from, to] = track.omitted;
			let drawn = 0;
			for (let i = firstAbove(omitted.end, view.from, from, to); i < to && omitted.begin[i] < view.to; i++) {
				const x0 = Math.max(drawn, Math.floor(view.x(omitted.begin[i])));
				const x1 = Math.min(view.width, Math.max(Math.ceil(view.x(omitted.end[i])), x0 + DOTS_PX));
				// The pattern's dots stand where whole rows of it fit.
				const row = Math.floor((y + height - PADDING) / DOTS_PX) * DOTS_PX;
				if (x1 > x0)
					ctx.fillRect(x0, row, x1 - x0, 2);
				drawn = Math.max(drawn, x1);
			}
		}
	}

	/* Before the start and after the end there is nothing. */
	#edges(scroll, height) {
		const { ctx, view } = this;
		ctx.fillStyle = this.theme.faint;
		const x0 = view.x(0);
		const x1 = view.x(this.model.durationNs);
		if (x0 > 0)
			ctx.fillRect(0, scroll, x0, height);
		if (x1 < view.width)
			ctx.fillRect(x1, scroll, view.width - x1, height);
	}
}
