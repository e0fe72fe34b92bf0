// SPDX-License-Identifier: MIT
// overview.js - all of the recording in one line: how busy its threads are, and the part in view, to be dragged.

import { begin, hatch } from './canvas.js';
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
		this.drag = null;
		canvas.addEventListener('pointerdown', (event) => this.#down(event));
		canvas.addEventListener('pointermove', (event) => this.#move(event));
		canvas.addEventListener('pointerup', () => { this.drag = null; });
		canvas.addEventListener('pointercancel', () => { this.drag = null; });
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
		this.#drawLosses(ctx, theme);
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

	#drawLosses(ctx, theme) {
		const { losses } = this.model;
		if (!losses.n)
			return;
		ctx.fillStyle = hatch(ctx, theme.loss);
		let last = -Infinity;
		for (let i = 0; i < losses.n; i++) {
			const x0 = Math.max(last, this.#x(losses.begin[i]));
			const x1 = Math.max(x0 + 2, this.#x(losses.end[i]));
			if (x1 > last)
				ctx.fillRect(x0, 0, x1 - x0, OVERVIEW_HEIGHT);
			last = Math.max(last, x1);
		}
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

	#down(event) {
		if (event.button !== 0)
			return;
		this.canvas.setPointerCapture(event.pointerId);
		const { view } = this;
		const x = event.offsetX;
		const near = (time) => Math.abs(this.#x(time) - x) < HANDLE_PX;
		const time = this.#time(x);
		if (near(view.from) || near(Math.max(0, view.from)))
			this.drag = { edge: 'from' };
		else if (near(view.to) || near(Math.min(this.model.durationNs, view.to)))
			this.drag = { edge: 'to' };
		else if (time > view.from && time < view.to && view.span < this.model.durationNs)
			this.drag = { offset: time - view.from };
		else
			this.drag = { start: time };
	}

	#move(event) {
		const { view, drag } = this;
		const x = event.offsetX;
		const near = Math.min(Math.abs(this.#x(Math.max(0, view.from)) - x),
			Math.abs(this.#x(Math.min(view.to, this.model.durationNs)) - x)) < HANDLE_PX;
		this.canvas.style.cursor = near ? 'ew-resize' : drag && 'offset' in drag ? 'grabbing' : 'crosshair';
		if (!drag)
			return;
		const time = this.#time(x);
		if (drag.edge === 'from')
			view.set(Math.min(time, view.to - 10), view.to);
		else if (drag.edge === 'to')
			view.set(view.from, Math.max(time, view.from + 10));
		else if ('offset' in drag)
			view.set(time - drag.offset, time - drag.offset + view.span);
		else if (Math.abs(this.#x(drag.start) - x) > 3)
			view.set(Math.min(drag.start, time), Math.max(drag.start, time));
	}
}
