// SPDX-License-Identifier: MIT
// plots.js - a latency histogram on a logarithmic scale, and a counter over time, drawn by uPlot.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { bucketBegin, bucketOf } from '../panes/distributions.js';
import { count, duration, number, relative } from '../data/format.js';

const FONT = '12px system-ui, sans-serif';
const STEPS = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat();

function axis(theme, more) {
	return { stroke: theme.dim, font: FONT, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1, size: 5 },
		...more };
}

/* log2 of a time; what is below 1 ns is drawn there. */
const logOf = (ns) => Math.log2(Math.max(ns, 1));

/* 1, 2 and 5 times powers of ten, or powers alone, or fewer: as many as there is room for. */
function timeSplits(from, to, room) {
	const decades = (to - from) / Math.log2(10);
	const factors = decades * 3 <= room ? [1, 2, 5] : [1];
	const step = Math.max(1, Math.ceil(decades / Math.max(room, 1)));
	const found = [];
	for (let power = 0; power <= 18; power++)
		for (const factor of power % step ? [] : factors) {
			const at = Math.log2(factor * 10 ** power);
			if (at >= from && at <= to)
				found.push(at);
		}
	if (found.length >= 2)
		return found;
	return Array.from({ length: 5 }, (_, i) => from + (to - from) * i / 4);
}

/* Lines with names that do not lie on each other. */
function drawMarks(plot, theme, marks) {
	const { ctx, bbox } = plot;
	const scale = uPlot.pxRatio;
	const height = 16 * scale;
	const placed = [];
	ctx.save();
	ctx.font = `${12 * scale}px system-ui, sans-serif`;
	ctx.textAlign = 'left';
	ctx.textBaseline = 'top';
	ctx.strokeStyle = theme.accent;
	ctx.lineWidth = scale;
	for (const [name, ns] of marks) {
		const x = Math.round(plot.valToPos(logOf(ns), 'x', true));
		ctx.setLineDash(name === 'Max' ? [] : [4 * scale, 3 * scale]);
		ctx.beginPath();
		ctx.moveTo(x, bbox.top);
		ctx.lineTo(x, bbox.top + bbox.height);
		ctx.stroke();
		const width = ctx.measureText(name).width;
		const left = x + width + 8 * scale > bbox.left + bbox.width ? x - width - 5 * scale : x + 4 * scale;
		let top = bbox.top + 2 * scale;
		while (placed.some((other) => other.top === top && left < other.right + 6 * scale && other.left < left + width + 6 * scale))
			top += height;
		placed.push({ name, left, top, right: left + width });
	}
	for (const { name, left, top, right } of placed) {
		ctx.fillStyle = theme.back;
		ctx.fillRect(left - 2 * scale, top - scale, right - left + 4 * scale, height - scale);
		ctx.fillStyle = theme.text;
		ctx.fillText(name, left, top);
	}
	ctx.restore();
}

function drawChosen(plot, theme, bucket) {
	if (bucket === null)
		return;
	const { ctx, bbox } = plot;
	const from = plot.valToPos(logOf(bucketBegin(bucket)), 'x', true);
	const to = plot.valToPos(logOf(bucketBegin(bucket + 1)), 'x', true);
	ctx.save();
	ctx.globalAlpha = 0.35;
	ctx.fillStyle = theme.accent;
	ctx.fillRect(from, bbox.top, Math.max(2, to - from), bbox.height);
	ctx.restore();
}

/*
 * layers: [{buckets, fill, stroke}], over each other; marks: [[name, ns]…]; state: {bucket: chosen, or null}; hovered(bucket or
 * null), clicked(bucket).
 */
export function histogramPlot(place, theme, { layers, marks, logCounts, state, width, height, hovered, clicked }) {
	const first = Math.min(...layers.map(({ buckets }) => buckets[0][0]));
	const last = Math.max(...layers.map(({ buckets }) => buckets[buckets.length - 1][0]));
	const xs = [];
	const ys = layers.map(() => []);
	const counts = layers.map(({ buckets }) => new Map(buckets));
	for (let bucket = Math.max(first - 1, 0); bucket <= last + 2; bucket++) {
		const at = logOf(bucketBegin(bucket));
		if (xs[xs.length - 1] === at) // buckets below 1 ns hold nothing
			continue;
		xs.push(at);
		ys.forEach((column, i) => column.push(counts[i].get(bucket) ?? 0));
	}
	const [from, to] = [xs[0], xs[xs.length - 1]];
	const most = Math.max(...counts.flatMap((of) => [...of.values()]));
	// Logarithmic: 0, 1, 10, 100 … are as far apart; so that none and one look different.
	const heightOf = (n) => (!logCounts ? n : n > 0 ? Math.log10(n) + 1 : 0);
	const countOf = (y) => (!logCounts ? y : y > 0 ? 10 ** (y - 1) : 0);
	const plot = new uPlot({
		width, height, legend: { show: false },
		padding: [8, 28, 0, 0],
		cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
		scales: {
			x: { time: false, range: [from, to] },
			y: { range: [0, heightOf(most) * 1.08] },
		},
		axes: [
			axis(theme, { size: 30, splits: (u) => timeSplits(from, to, u.bbox.width / uPlot.pxRatio / 75),
				values: (u, splits) => splits.map((at) => duration(2 ** at).replace(/\.0+ /, ' ')) }),
			axis(theme, { size: 70, incrs: STEPS,
				values: (u, splits) => splits.map((y) => count(countOf(y))) }),
		],
		series: [{}, ...layers.map(({ fill, stroke }) => ({ paths: uPlot.paths.stepped({ align: 1 }), fill, stroke,
			width: layers.length > 1 ? 1.5 : 1, points: { show: false } }))],
		hooks: {
			draw: [(u) => {
				drawChosen(u, theme, state.bucket);
				drawMarks(u, theme, marks);
			}],
			setCursor: [(u) => hovered(u.cursor.left >= 0 ? bucketAt(u, u.cursor.left) : null)],
		},
	}, [xs, ...ys.map((column) => column.map(heightOf))], place);
	plot.over.addEventListener('click', () => plot.cursor.left >= 0 && clicked(bucketAt(plot, plot.cursor.left)));
	return plot;
}

function bucketAt(plot, left) {
	return bucketOf(2 ** plot.posToVal(left, 'x'));
}

/* hovered(index or null), clicked(index): of times; selected(from, to): drawn over with the pointer. */
export function counterPlot(place, theme, { times, values, from, to, stroke, fill, width, height, hovered, clicked, selected }) {
	const plot = new uPlot({
		width, height, legend: { show: false },
		padding: [8, 12, 0, 0],
		cursor: { drag: { x: true, y: false, setScale: false, dist: 5 }, y: false,
			points: { size: 7, fill: theme.accent, stroke: theme.accent } },
		scales: { x: { time: false, range: [from, to] } },
		axes: [
			axis(theme, { size: 30, incrs: STEPS, space: 95,
				values: (u, splits) => splits.map((at) => relative(at, splits.length > 1 ? splits[1] - splits[0] : 1)) }),
			axis(theme, { size: 90, values: (u, splits) => splits.map((value) => number(value)) }),
		],
		series: [{}, { paths: uPlot.paths.stepped({ align: 1 }), stroke, fill, width: 1.5, 
			points: { show: times.length < 60 || values.includes(null) } }], // one between two gaps is no line
		hooks: {
			setCursor: [(u) => hovered(u.cursor.left >= 0 ? u.cursor.idx : null)],
			setSelect: [(u) => u.select.width > 5 && selected(u.posToVal(u.select.left, 'x'),
				u.posToVal(u.select.left + u.select.width, 'x'))],
		},
	}, [times, values], place);
	let down = 0;
	plot.over.addEventListener('mousedown', (event) => { down = event.clientX; });
	plot.over.addEventListener('click', (event) => {
		if (Math.abs(event.clientX - down) < 5 && plot.cursor.idx !== null && plot.cursor.idx !== undefined)
			clicked(plot.cursor.idx);
	});
	return plot;
}
