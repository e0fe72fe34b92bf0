// SPDX-License-Identifier: MIT
// ruler.js - the time above the tracks: of day and from the start; marks, the selected area, losses.

import { begin, bubble } from './canvas.js';
import { clock, clockDigits, duration, niceStep, relative } from '../data/format.js';
import { lossBars } from './hit.js';

export const RULER_HEIGHT = 42;
const TICK_PX = 132; // room for "23:59:59.123456789"

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
	if (x1 - x0 > ctx.measureText(text).width + 24)
		bubble(ctx, text, (x0 + x1) / 2, RULER_HEIGHT - 9, view.width, theme.panel, theme.match);
}

/* state: as of overlay.js */
export function drawRuler(canvas, state) {
	const { view, model, theme, selection } = state;
	const ctx = begin(canvas, view.width, RULER_HEIGHT);
	ctx.fillStyle = theme.panel;
	ctx.fillRect(0, 0, view.width, RULER_HEIGHT);
	drawTicks(ctx, state);
	ctx.fillStyle = theme.loss;
	for (const [x0, x1] of lossBars(model.losses, (time) => view.x(time), view.width))
		ctx.fillRect(x0, RULER_HEIGHT - 3, x1 - x0, 3);
	if (selection.from !== null) {
		ctx.fillStyle = theme.select;
		ctx.globalAlpha = 0.22;
		ctx.fillRect(view.x(selection.from), 0, Math.max(1, view.x(selection.to) - view.x(selection.from)), RULER_HEIGHT);
		ctx.globalAlpha = 1;
	}
	for (const mark of state.marks)
		drawMark(ctx, state, mark);
	const time = view.time(state.pointerX);
	if (state.pointerX !== null && time >= 0 && time <= model.durationNs)
		bubble(ctx, relative(time, niceStep(view.nsPerPx)), state.pointerX, 29, view.width, theme.text, theme.back);
}
