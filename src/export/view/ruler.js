// SPDX-License-Identifier: MIT
// ruler.js - the time above the tracks: of day and from the begin; marks, the selected area, losses.

import { begin } from './canvas.js';
import { clock, clockDigits, duration, niceStep, relative } from './format.js';

export const RULER_HEIGHT = 42;
const TICK_PX = 132; // room for "23:59:59.123456789"

function drawBand(ctx, view, from, to, y, height, color) {
	const x0 = view.x(from);
	const x1 = view.x(to);
	ctx.fillStyle = color;
	ctx.fillRect(x0, y, Math.max(1, x1 - x0), height);
}

function drawTicks(ctx, { view, model, theme }) {
	const step = niceStep(view.nsPerPx * TICK_PX);
	const digits = clockDigits(step);
	for (let i = Math.ceil((view.from - step) / step); i * step < view.to; i++) {
		const time = i * step;
		if (time < 0 || time > model.durationNs)
			continue;
		const x = Math.round(view.x(time));
		ctx.fillStyle = theme.line;
		ctx.fillRect(x, 4, 1, RULER_HEIGHT);
		ctx.fillStyle = theme.text;
		ctx.fillText(relative(time, step), x + 5, 28);
		ctx.fillStyle = theme.dim;
		ctx.fillText(clock(model.beginNs, time, digits), x + 5, 13);
		ctx.fillStyle = theme.line;
		for (let part = 1; part < 5; part++)
			ctx.fillRect(Math.round(view.x(time + (step * part) / 5)), RULER_HEIGHT - 6, 1, 5);
	}
}

function drawMark(ctx, { view, theme }, mark) {
	const x0 = view.x(mark.from);
	const x1 = view.x(mark.to);
	if (x1 < -20 || x0 > view.width + 20)
		return;
	ctx.fillStyle = theme.match;
	ctx.beginPath();
	for (const x of [x0, x1]) {
		ctx.moveTo(x - 5, RULER_HEIGHT - 9);
		ctx.lineTo(x + 5, RULER_HEIGHT - 9);
		ctx.lineTo(x, RULER_HEIGHT - 1);
	}
	ctx.fill();
	ctx.fillRect(x0, RULER_HEIGHT - 9, Math.max(0, x1 - x0), 2);
	const text = duration(mark.to - mark.from);
	const width = ctx.measureText(text).width;
	if (x1 - x0 > width + 24) {
		const x = Math.max(8, Math.min((x0 + x1) / 2 - width / 2, view.width - width - 8));
		ctx.fillStyle = theme.panel;
		ctx.fillRect(x - 5, RULER_HEIGHT - 16, width + 10, 15);
		ctx.fillStyle = theme.match;
		ctx.fillText(text, x, RULER_HEIGHT - 8);
	}
}

/* state: as of overlay.js */
export function drawRuler(canvas, state) {
	const { view, model, theme, selection } = state;
	const ctx = begin(canvas, view.width, RULER_HEIGHT);
	ctx.fillStyle = theme.panel;
	ctx.fillRect(0, 0, view.width, RULER_HEIGHT);
	drawTicks(ctx, state);
	const { losses } = model;
	let last = -Infinity;
	for (let i = 0; i < losses.n && losses.begin[i] <= view.to; i++) {
		const x1 = Math.max(view.x(losses.end[i]), view.x(losses.begin[i]) + 2);
		if (x1 < 0 || x1 <= last)
			continue;
		drawBand(ctx, view, losses.begin[i], losses.end[i], RULER_HEIGHT - 3, 3, theme.loss);
		last = x1;
	}
	if (selection.from !== null) {
		ctx.globalAlpha = 0.22;
		drawBand(ctx, view, selection.from, selection.to, 0, RULER_HEIGHT, theme.select);
		ctx.globalAlpha = 1;
	}
	for (const mark of state.marks)
		drawMark(ctx, state, mark);
	if (state.pointerX !== null)
		drawPointer(ctx, state);
}

function drawPointer(ctx, { view, model, theme, pointerX }) {
	const step = view.nsPerPx;
	const text = relative(view.time(pointerX), niceStep(step));
	const width = ctx.measureText(text).width + 10;
	const x = Math.max(2, Math.min(view.width - width - 2, pointerX - width / 2));
	if (view.time(pointerX) < 0 || view.time(pointerX) > model.durationNs)
		return;
	ctx.fillStyle = theme.text;
	ctx.beginPath();
	ctx.roundRect(x, 20, width, 17, 4);
	ctx.fill();
	ctx.fillStyle = theme.back;
	ctx.fillText(text, x + 5, 29);
}
