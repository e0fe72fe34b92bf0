// SPDX-License-Identifier: MIT
// overview.js - all of the recording in one line: how busy its threads are, and the part in view, to be dragged.

import { begin, hatch } from './canvas.js';
import { onDrag } from '../dom.js';
import { lossBars } from './hit.js';
import { firstAbove } from './rows.js';

export const OVERVIEW_HEIGHT = 34;
const HANDLE_PX = 7;
const ROWS_MAX = 200; // threads that are counted

/* How busy each of the columns is, 0 … 1: slices' share of the time; where no track has slices, points and values. */
function measure(model, columns) {
	const busy = new Float64Array(columns);
	const width = model.durationNs / columns;
	const rows = model.tracks.filter((t) => t.kind !== 'counter' && t.slices[1] > t.slices[0]).slice(0, ROWS_MAX)
		.map((t) => model.rows(t)[0]);
	for (const row of rows)
		for (let i = 0; i < columns; i++)
			busy[i] += row.coverage(i * width, (i + 1) * width) / width;
	if (!rows.length)
		for (const track of model.tracks)
			for (const [{ time: column }, [from, to]] of [[model.instants, track.instants], [model.values, track.values]])
				for (let i = 0, at = from; i < columns && at < to; i++) {
					const next = firstAbove(column, (i + 1) * width, at, to);
					busy[i] += Math.sqrt(next - at);
					at = next;
				}
	const most = busy.reduce((a, b) => Math.max(a, b), 1e-9);
	return busy.map((v) => v / most);
}

export class Overview {
	constructor(canvas, model, view) {
		this.canvas = canvas;
		this.model = model;
		this.view = view;
		this.busy = null;
		canvas.addEventListener('pointermove', ({ offsetX }) => {
			canvas.style.cursor = this.#edge(offsetX) ? 'ew-resize' : '';
		});
		onDrag(canvas, ({ offsetX }) => {
			const drag = this.#drag(offsetX);
			return (event) => drag(this.#time(event.offsetX));
		});
		canvas.addEventListener('wheel', (event) => {
			event.preventDefault();
			view.zoom(this.#time(event.offsetX), Math.exp(event.deltaY * 0.002), false);
		}, { passive: false });
	}

	#x(time) {
		return (time / this.model.durationNs) * this.view.width;
	}

	#time(x) {
		return (x / this.view.width) * this.model.durationNs;
	}

	#measure(columns) {
		this.busy = measure(this.model, columns);
		this.outline = new Path2D();
		const { width } = this.view;
		const bottom = OVERVIEW_HEIGHT - 1;
		this.outline.moveTo(0, bottom);
		this.busy.forEach((part, i) => {
			const y = bottom - part * (OVERVIEW_HEIGHT - 6);
			this.outline.lineTo((i * width) / columns, y);
			this.outline.lineTo(((i + 1) * width) / columns, y);
		});
		this.outline.lineTo(width, bottom);
	}

	/* area: {from, to} that is selected, or null; marks: [{from, to}] */
	draw(theme, area, marks) {
		const { view, model } = this;
		const { width } = view;
		const columns = Math.max(1, Math.floor(width / 2));
		if (this.busy?.length !== columns)
			this.#measure(columns);
		const ctx = begin(this.canvas, width, OVERVIEW_HEIGHT);
		ctx.fillStyle = theme.panel;
		ctx.fillRect(0, 0, width, OVERVIEW_HEIGHT);
		ctx.fillStyle = theme.accent;
		ctx.globalAlpha = 0.45;
		ctx.fill(this.outline);
		ctx.globalAlpha = 0.8;
		if (model.losses.n)
			ctx.fillStyle = hatch(ctx, theme.loss);
		for (const [x0, x1] of lossBars(model.losses, (time) => this.#x(time), width))
			ctx.fillRect(x0, 0, x1 - x0, OVERVIEW_HEIGHT);
		ctx.globalAlpha = 1;
		this.#drawBrush(ctx, theme);
		ctx.fillStyle = theme.match;
		const bar = ({ from, to }, y) => ctx.fillRect(this.#x(from), y, Math.max(2, this.#x(to) - this.#x(from)), 3);
		for (const mark of marks)
			bar(mark, 0);
		ctx.fillStyle = theme.select;
		if (area)
			bar(area, OVERVIEW_HEIGHT - 3);
	}

	#drawBrush(ctx, theme) {
		const { width } = this.view;
		const x0 = Math.max(0, this.#x(this.view.from));
		const x1 = Math.min(width, Math.max(this.#x(this.view.to), x0 + 2));
		ctx.fillStyle = theme.back;
		ctx.globalAlpha = 0.62;
		ctx.fillRect(0, 0, x0, OVERVIEW_HEIGHT);
		ctx.fillRect(x1, 0, width - x1, OVERVIEW_HEIGHT);
		ctx.globalAlpha = 1;
		ctx.strokeStyle = theme.accent;
		ctx.lineWidth = 1;
		ctx.strokeRect(x0 + 0.5, 0.5, Math.max(1, x1 - x0 - 1), OVERVIEW_HEIGHT - 1);
		ctx.fillStyle = theme.accent;
		for (const x of [x0, x1 - 3])
			ctx.fillRect(x, OVERVIEW_HEIGHT / 2 - 7, 3, 14);
	}

	/* What follows the pointer: one end of the view, the view, or another view. */
	#drag(x) {
		const { view } = this;
		const start = this.#time(x);
		const edge = this.#edge(x);
		if (edge === 'from')
			return (time) => view.set(Math.min(time, view.to - 10), view.to);
		if (edge === 'to')
			return (time) => view.set(view.from, Math.max(time, view.from + 10));
		if (start > view.from && start < view.to && view.span < this.model.durationNs) {
			const offset = start - view.from;
			return (time) => view.set(time - offset, time - offset + view.span);
		}
		return (time) => Math.abs(this.#x(time) - x) > 3 && view.set(Math.min(start, time), Math.max(start, time));
	}

	#edge(x) {
		const near = (time) => Math.abs(this.#x(Math.max(0, Math.min(this.model.durationNs, time))) - x) < HANDLE_PX;
		return near(this.view.from) ? 'from' : near(this.view.to) ? 'to' : null;
	}
}
