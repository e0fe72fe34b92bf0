// SPDX-License-Identifier: MIT
// histograms.js - the pane "Histograms": how long slices of each name took, and counters over time.

import { SLICE_RUNNING } from '../data/data.js';
import { Distribution, bucketBegin, bucketOf, distributions, figuresOf, heightsOf, thinValues } from './distributions.js';
import { changeOf } from '../data/compare.js';
import { element, onKeys } from '../dom.js';
import { clock, count, duration, number, plural, relative } from '../data/format.js';
import { percent, segmented } from './pane_tools.js';
import { counterPlot, histogramPlot } from '../timeline/plots.js';
import { firstAbove } from '../timeline/rows.js';
import { SidePane, nameFilter } from './side_pane.js';
import { VirtualGrid } from './virtual_grid.js';

const QUANTILES = [['p50', 0.5], ['p90', 0.9], ['p99', 0.99], ['p99.9', 0.999]];
const PLOT_HEIGHT = 260;
const SEEN_THROUGH = '38'; // behind a colour: how much of it, in hexadecimal

const SLICE_COLUMNS = [
	{ id: 'label', title: 'Name', width: 'minmax(9em, 1fr)', sort: true },
	{ id: 'n', title: 'Count', width: '5em', sort: true, number: true },
	{ id: 'total', title: 'Total', width: '5.2em', sort: true, number: true },
	{ id: 'p50', title: 'p50', width: '5.2em', sort: true, number: true },
	{ id: 'p99', title: 'p99', width: '5.2em', sort: true, number: true },
	{ id: 'max', title: 'Max', width: '5.2em', sort: true, number: true },
];
/* Of two recordings: counts and times of the one that is shown, and what changed from before to after. */
const CHANGE_COLUMNS = [
	{ id: 'label', title: 'Name', width: 'minmax(9em, 1fr)', sort: true },
	{ id: 'n', title: 'Count', width: '5em', sort: true, number: true },
	{ id: 'total', title: 'Total', width: '5.2em', sort: true, number: true },
	{ id: 'p50Change', title: 'p50 ±', width: '5.2em', sort: true, number: true },
	{ id: 'p99', title: 'p99', width: '5.2em', sort: true, number: true },
	{ id: 'p99Change', title: 'p99 ±', width: '5.2em', sort: true, number: true },
];
const COUNTER_COLUMNS = [
	{ id: 'label', title: 'Counter', width: 'minmax(9em, 1fr)', sort: true },
	{ id: 'n', title: 'Values', width: '6em', sort: true, number: true },
	{ id: 'min', title: 'Min', width: '7em', sort: true, number: true },
	{ id: 'max', title: 'Max', width: '7em', sort: true, number: true },
	{ id: 'last', title: 'Last', width: '7em', sort: true, number: true },
];

/* An order of all that a figure may be: infinities are as large as themselves, and what is no number is above all. */
function compare(a, b) {
	if (a === b)
		return 0;
	return a < b || Number.isNaN(b) ? (Number.isNaN(a) ? 0 : -1) : 1;
}

/* A list of groups with a filter; one is chosen. */
class Names {
	constructor(label, columns, format, by, chosen) {
		this.groups = [];
		this.shown = [];
		this.order = by;
		const text = (group, id) => (id === 'label' ? group.label : id === 'n' ? count(group.n) : format(group[id], id, group));
		this.grid = new VirtualGrid({ label, columns, minWidth: 500, cell: (i, id) => text(this.shown[i], id),
			choose: (i) => chosen(this.shown[i]),
			sort: (id, descending) => {
				this.order = { id, descending };
				this.arrange();
			} });
		this.grid.showSort(by.id, by.descending);
	}

	/* wanted(group): whether it passes the filter. */
	arrange(wanted = this.wanted) {
		this.wanted = wanted;
		const current = this.shown[this.grid.active];
		const { id, descending } = this.order;
		this.shown = this.groups.filter(wanted).sort((a, b) => compare(a[id], b[id]) * (descending ? -1 : 1));
		this.grid.setRows(this.shown.length, { active: this.shown.indexOf(current) });
	}

	select(group) {
		this.grid.setActive(this.shown.indexOf(group));
	}
}

/* [[name, number]…] of a distribution. */
function numbersOf(group) {
	return [['Count', group.n], ['Total', group.total], ['Average', group.mean], ['Min', group.min],
		...QUANTILES.map(([name, q]) => [name, group.at(q)]), ['Max', group.max]];
}

/* [[name, text]…] of a distribution; percentiles of buckets are about right. */
function figuresOfOne(group) {
	return numbersOf(group).map(([name, value]) => [name, name === 'Count' ? count(value)
		: `${group.all && name.startsWith('p') ? '≈ ' : ''}${duration(value)}`]);
}

export class HistogramsPane extends SidePane {
	constructor(place, model, app) {
		super(place, model, app, 'histograms');
		this.mode = 'slices';
		this.logCounts = false;
		this.state = { bucket: null };
		this.chosen = { slices: null, counters: null };
		this.filter = '';
		this.#build();
		app.on('matches', () => this.shown && this.#arrange());
		this.watch(this.plotPlace);
	}

	show() {
		super.show();
		this.#follow();
	}

	again() {
		this.#arrange();
	}

	#build() {
		this.modes = segmented('What', [['slices', 'Durations'], ['counters', 'Counters']], 'slices', (to) => this.#setMode(to));
		this.modes.element.hidden = !this.model.tracks.some((track) => track.kind === 'counter');
		const filter = nameFilter((text) => {
			this.filter = text;
			this.#arrange();
		});
		this.scale = segmented('Scale of counts', [[false, 'Linear'], [true, 'Logarithmic']], false, (to) => {
			this.logCounts = to;
			this.draw();
		});
		const chosen = (group) => this.#choose(group);
		this.names = {
			slices: new Names('Names and how long they took', this.app.comparison ? CHANGE_COLUMNS : SLICE_COLUMNS,
				(figure, id, group) => (id.endsWith('Change') ? changeOf(...Object.values(group.figures[id])) : duration(figure)),
				{ id: 'total', descending: true }, chosen),
			counters: new Names('Counters', COUNTER_COLUMNS, number, { id: 'label', descending: false }, chosen),
		};
		this.title = element('h2', { class: 'histogram-title' });
		this.plotPlace = element('div', { class: 'histogram-plot' });
		this.slider = element('input', { type: 'range', min: 0, class: 'histogram-slider', oninput: () => this.#slide() });
		onKeys(this.slider, () => this.#keys());
		this.hover = element('p', { class: 'histogram-hover' });
		this.figures = element('table', { class: 'histogram-figures' });
		this.listTitle = element('h3', { class: 'histogram-title' });
		this.list = new VirtualGrid({ label: 'Slices, the slowest first', minWidth: 520,
			columns: [
				{ id: 'duration', title: 'Duration', width: '7em', number: true },
				{ id: 'time', title: 'Begin', width: '11.5em' },
				{ id: 'track', title: 'Thread, CPU', width: 'minmax(8em, 16em)' },
				{ id: 'text', title: 'Fields', width: 'minmax(6em, 1fr)' },
			],
			cell: (index, id) => this.#sliceText(this.#listRow(index), id),
			choose: (index) => this.app.choose({ slice: this.#listRow(index) }),
			activate: (index) => this.app.focus({ slice: this.#listRow(index) }) });
		this.detail = element('div', { class: 'histogram-detail' }, element('div', { class: 'histogram-head' }, this.title,
			this.scale.element), this.slider, this.plotPlace, this.hover, this.figures, this.listTitle, this.list.element);
		this.empty = element('p', { class: 'pane-empty' });
		this.place.append(
			this.bar('Histograms', this.modes.element, filter, this.scope.element), this.note,
			element('div', { class: 'histogram-halves' }, element('div', { class: 'histogram-names' },
				this.names.slices.grid.element, this.names.counters.grid.element), this.detail, this.empty));
	}

	#setMode(mode) {
		this.mode = mode;
		this.modes.set(mode);
		this.#arrange();
	}

	get #current() {
		return this.chosen[this.mode];
	}

	make() {
		const { range } = this.scope;
		const { comparison } = this.app;
		const groups = comparison ? comparison.distributions().map((pair) => this.#compared(pair)) : distributions(this.model, range);
		for (const group of groups) {
			group.p50 = group.at(0.5);
			group.p99 = group.at(0.99);
			group.label = (group.pair?.label ?? this.model.name(group.name)) + (group.kind === SLICE_RUNNING ? ', on CPU' : '');
		}
		this.names.slices.groups = groups;
		this.names.counters.groups = this.#counters(range);
		const before = this.chosen;
		this.chosen = {
			slices: groups.find((g) => g.name === before.slices?.name && g.kind === before.slices?.kind) ?? null,
			counters: this.names.counters.groups.find((g) => g.track === before.counters?.track) ?? null,
		};
		this.stale = false;
		if (!groups.length && this.names.counters.groups.length && this.mode === 'slices')
			this.mode = 'counters';
		this.modes.set(this.mode);
		this.#notes(range);
		this.#arrange();
	}

	/* What stands for a name in both recordings: its distribution in the one that is shown, or in the other if it is not there. */
	#compared(pair) {
		const { comparison } = this.app;
		const side = comparison.sideOf(this.model);
		const group = pair[side] ?? pair[comparison.otherThan(side)];
		group.pair = pair;
		group.foreign = !pair[side];
		group.figures = {};
		for (const [id, q] of [['p50Change', 0.5], ['p99Change', 0.99]]) {
			group.figures[id] = { before: pair.before?.at(q), after: pair.after?.at(q) };
			group[id] = group.figures[id].after / group.figures[id].before - 1; // NaN: it is in one alone
		}
		return group;
	}

	#notes(range) {
		if (this.app.comparison) {
			this.showNotes(['Both recordings are compared as a whole.']);
			return;
		}
		this.showNotes(!this.model.thinned ? []
			: range?.timed ? ['Not every slice is in this page: within a stretch of time only those are counted that are.']
				: ['Not every slice is in this page; counts and sums are of all, percentiles are right to an eighth.']);
	}

	#counters(range) {
		const { values, tracks } = this.model;
		const found = [];
		for (const track of tracks) {
			if (track.kind !== 'counter' || (range && !range.tracks[track.index]))
				continue;
			const { from, to } = range ?? { from: -Infinity, to: Infinity };
			// The last one before the stretch holds at its start.
			const first = Math.max(track.values[0], firstAbove(values.time, from, ...track.values) - 1);
			const end = firstAbove(values.time, to, ...track.values);
			if (first >= end)
				continue;
			found.push({ name: track.nameId, label: track.longTitle, track: track.index, first, end, n: end - first, last: values.value[end - 1],
				...figuresOf(values.value, first, end) });
		}
		return found;
	}

	#arrange() {
		const { matches } = this.app;
		const wanted = ({ label }) => [matches.text, this.filter].every((text) => label.toLowerCase().includes(text));
		for (const mode of ['slices', 'counters'])
			this.names[mode].grid.element.hidden = mode !== this.mode;
		this.scope.element.hidden = this.app.comparison !== null && this.mode === 'slices';
		const names = this.names[this.mode];
		names.arrange(wanted);
		this.#select(names.shown.includes(this.#current) ? this.#current : names.shown[0] ?? null);
		const none = this.mode === 'slices' ? 'No slice of which it is known how long it took' : 'No counter';
		this.empty.textContent = names.groups.length ? 'No name matches.' : `${none} is here.`;
	}

	/* Chosen by the list itself: it has it as its active row already. */
	#choose(group) {
		this.state.bucket = group === this.#current ? this.state.bucket : null;
		this.chosen[this.mode] = group;
		this.detail.hidden = group === null;
		this.empty.hidden = group !== null;
		if (group)
			this.draw();
	}

	#select(group) {
		this.names[this.mode].select(group);
		this.#choose(group);
	}

	/* A slice that was chosen elsewhere. */
	#follow() {
		const row = this.app.item?.slice;
		if (row === undefined || row === this.followed)
			return;
		this.followed = row;
		const { slices } = this.model;
		const group = this.names.slices.shown.find((g) => !g.foreign && g.name === slices.name[row] && g.kind === slices.kind[row]);
		if (group && group !== this.chosen.slices) {
			this.#setMode('slices');
			this.#select(group);
		}
	}

	draw() {
		const group = this.#current;
		const width = Math.floor(this.plotPlace.clientWidth);
		if (!group || !width)
			return;
		this.plot?.destroy();
		this.width = width;
		this.title.textContent = group.label;
		const durations = group instanceof Distribution;
		for (const each of [this.scale.element, this.listTitle, this.list.element])
			each.hidden = !durations;
		if (durations)
			this.#drawHistogram(group, width);
		else
			this.#drawCounter(group, width);
	}

	#drawHistogram(group, width) {
		const { theme } = this.app;
		const quantiles = QUANTILES.map(([name, q]) => [name, group.at(q)]);
		const marks = group.pair ? this.#sides(group).flatMap(([side, one]) =>
			[['p50', one.at(0.5)], ['p99', one.at(0.99)]].map(([name, ns]) => [`${name} ${side}`, ns])) : [...quantiles, ['Max', group.max]];
		this.buckets = group.buckets();
		this.plot = histogramPlot(this.plotPlace, theme, { layers: this.#layers(group), marks, logCounts: this.logCounts,
			state: this.state, width, height: PLOT_HEIGHT,
			hovered: (bucket) => this.#describeBucket(bucket ?? this.state.bucket), clicked: (bucket) => this.#setBucket(bucket) });
		if (group.pair)
			this.#setChanges(group.pair);
		else
			this.#setFigures(figuresOfOne(group));
		this.slider.ariaLabel = `Histogram of ${group.label}, left and right go along it`;
		this.slider.max = this.buckets.length - 1;
		this.#showBucket();
	}

	#sides({ pair }) {
		return Object.keys(this.app.comparison.sides).filter((side) => pair[side]).map((side) => [side, pair[side]]);
	}

	/* What is drawn: the distribution itself, or those of both recordings over each other. */
	#layers(group) {
		const { theme } = this.app;
		if (!group.pair)
			return [{ buckets: this.buckets, fill: theme.fill(group.name), stroke: theme.stroke(group.name) }];
		const color = { before: theme.match, after: theme.accent };
		return this.#sides(group).map(([side, one]) => ({ buckets: one.buckets(), stroke: color[side], fill: `${color[side]}${SEEN_THROUGH}` }));
	}

	#setFigures(figures) {
		this.figures.replaceChildren(
			element('thead', {}, element('tr', {}, ...figures.map(([name]) => element('th', { scope: 'col' }, name)))),
			element('tbody', {}, element('tr', {}, ...figures.map(([, value]) => element('td', {}, value)))));
	}

	/* Before, after and the change, one below the other. */
	#setChanges({ before, after }) {
		const of = (one) => new Map(one ? figuresOfOne(one) : []);
		const numbers = (one) => new Map(one ? numbersOf(one) : []);
		const columns = [...of(after ?? before).keys()];
		const changes = new Map(columns.map((name) => [name, changeOf(numbers(before).get(name), numbers(after).get(name))]));
		const row = (side, values) => element('tr', { class: `side-${side.toLowerCase()}` }, element('th', { scope: 'row' }, side),
			...columns.map((name) => element('td', {}, values.get(name) ?? '–')));
		this.figures.replaceChildren(
			element('thead', {}, element('tr', {}, element('td', {}), ...columns.map((name) => element('th', { scope: 'col' }, name)))),
			element('tbody', {}, row('Before', of(before)), row('After', of(after)), row('Change', changes)));
	}

	#setBucket(bucket) {
		if (!this.buckets.some(([b]) => b === bucket))
			bucket = null;
		this.state.bucket = bucket;
		this.plot.redraw(false, true);
		this.#showBucket();
	}

	#bucketText(bucket) {
		const n = this.buckets.find(([b]) => b === bucket)?.[1] ?? 0;
		return `${duration(bucketBegin(bucket))} to ${duration(bucketBegin(bucket + 1))}: ${count(n)}, ` +
			`${percent(n, this.#current.n) || '0 %'}`;
	}

	#describeBucket(bucket) {
		this.hover.textContent = bucket === null ? 'A click on the histogram lists those that took as long.' : this.#bucketText(bucket);
	}

	/* The slices of the chosen bucket, or all; the slowest is the active one. */
	#showBucket() {
		const group = this.#current;
		const { bucket } = this.state;
		// Slices of the other recording are not in the list: the page shows one of both.
		[this.listFirst, this.listEnd] = group.foreign ? [0, 0] : group.span(bucket);
		const n = this.listEnd - this.listFirst;
		const of = bucket === null ? group.n : this.buckets.find(([b]) => b === bucket)[1];
		const here = n < of ? `${count(n)} of ${plural(of, 'slice')} are in this page` : plural(n, 'slice');
		this.listTitle.textContent = `${bucket === null ? 'Slowest first' : 'In the chosen bucket, slowest first'}: ${here}`;
		this.list.setRows(n, { active: 0 });
		this.#describeBucket(bucket);
		const from = bucket ?? bucketOf(group.p50);
		this.slider.value = this.buckets.findIndex(([b]) => b >= from);
		this.slider.ariaValueText = bucket === null ? 'no bucket is chosen' : this.#bucketText(bucket);
		this.model.loadText().then(() => this.list.refresh(), () => {});
	}

	#listRow(index) {
		return this.#current.rows[this.listEnd - 1 - index];
	}

	#sliceText(row, id) {
		const { slices } = this.model;
		if (id === 'duration')
			return duration(slices.duration[row]);
		if (id === 'time')
			return clock(this.model.beginNs, slices.begin[row]);
		return id === 'track' ? this.model.tracks[slices.track[row]].longTitle : this.model.text(slices.text[row]) ?? '…';
	}

	#drawCounter(group, width) {
		const { model, app } = this;
		const { range } = this.scope;
		const [from, to] = range?.timed ? [range.from, range.to] : [0, model.durationNs];
		this.points = thinValues(model.values, [group.first, group.end], from, to, width);
		this.heights = heightsOf(this.points.values);
		this.plot = counterPlot(this.plotPlace, app.theme, { times: this.points.times, values: this.heights, from, to, stroke: app.theme.stroke(group.name),
			fill: app.theme.faint, width, height: PLOT_HEIGHT + 120, hovered: (i) => this.#describePoint(i),
			clicked: (i) => app.focus({ time: this.points.times[i] }),
			selected: (begin, end) => app.select({ from: begin, to: end, tracks: app.selection.tracks }) });
		this.#setFigures([['Values', count(group.n)], ['Min', number(group.min)], ['Average', number(group.mean)],
			['Max', number(group.max)], ['First', number(model.values.value[group.first])], ['Last', number(group.last)]]);
		this.slider.ariaLabel = `${group.label} over time, left and right go along it`;
		this.slider.max = this.points.times.length - 1;
		this.slider.value = 0;
		this.#describePoint(null);
	}

	#describePoint(index) {
		this.hover.textContent = index === null ? 'A click goes there in the timeline; drawing over a stretch selects it.'
			: `${relative(this.points.times[index], 1e3)}: ${number(this.points.values[index])}`;
	}

	#keys() {
		if (this.#current instanceof Distribution)
			return { Escape: () => this.#setBucket(null), Enter: () => this.list.element.focus() };
		return { Enter: () => this.app.focus({ time: this.points.times[this.slider.value] }) };
	}

	#slide() {
		const at = Number(this.slider.value);
		if (this.#current instanceof Distribution) {
			this.#setBucket(this.buckets[at][0]);
			return;
		}
		this.plot.setCursor({ left: this.plot.valToPos(this.points.times[at], 'x'),
			top: this.plot.valToPos(this.heights[at] ?? 0, 'y') });
		this.#describePoint(at);
		this.slider.ariaValueText = this.hover.textContent;
	}
}
