// SPDX-License-Identifier: MIT
// details.js - the panel below the tracks: the chosen slice, point or value, and the statistics of the selected area.

import { flowOf } from '../timeline/arrows.js';
import { flagsOf, kindOf, processName, sourceOf } from './describe.js';
import { button, element } from '../dom.js';
import { clock, count, day, duration, exactDuration, number, plural, relative } from '../data/format.js';
import { sumOf } from '../data/critical_path.js';
import { placeOf } from '../timeline/hit.js';
import { percent } from './pane_tools.js';
import { colorOf, pathOf } from '../timeline/path_lines.js';
import { ranking } from '../data/ranking.js';
import { statistics } from '../data/statistics.js';
import { StatisticsTable } from './statistics_table.js';
import { WHYS } from './threads.js';

const HINT = 'Click a slice for its details, drag for the statistics of an area. ? lists the keys.';
const SLICES_MAX = 1e6; // of a recording whose statistics are shown without being asked for

const ANCESTORS_MAX = 40;
const STEPS_MAX = 100; // of a critical path, which are listed

/* A button of the panel. */
const tool = (text, title, act, more = '') => button(text, act, { class: more, title });

export class Details {
	/* timeline has: pick(item), focusChosen(), mark(), walk */
	constructor(place, model, app, timeline) {
		Object.assign(this, { element: place, model, app, timeline });
		this.title = element('h2', { class: 'panel-title' });
		this.tools = element('div', { class: 'tools' });
		// It scrolls: so it is a tab stop.
		this.body = element('div', { class: 'panel-body', tabIndex: 0, role: 'group', 'aria-label': 'Details' });
		this.choice = element('div', { class: 'choice', role: 'group', 'aria-label': 'What the panel shows' });
		place.append(element('header', { class: 'panel-head' }, this.choice, this.title, this.tools), this.body);
		this.showing = null; // 'item' | 'area'
		this.cost = 0; // of showing it the last time, in ms
		this.table = new StatisticsTable(app);
		app.on('item', () => this.#changed('item'));
		app.on('selection', () => this.#changed('area'));
		this.#show();
	}

	get hasArea() {
		const { from, tracks } = this.app.selection;
		return from !== null || tracks !== null;
	}

	#changed(what) {
		const has = { item: this.app.item !== null, area: this.hasArea };
		this.showing = has[what] ? what : has.item ? 'item' : has.area ? 'area' : null;
		// A drag reports every move: no more than a fifth of the time is spent here.
		if (this.timer === undefined)
			this.timer = setTimeout(() => {
				this.timer = undefined;
				const begin = performance.now();
				this.#show();
				this.cost = performance.now() - begin;
			}, this.showing === 'area' ? Math.max(10, this.cost * 4) : 10);
	}

	#show() {
		this.body.textContent = '';
		this.tools.textContent = '';
		this.choice.textContent = '';
		this.element.classList.toggle('empty', this.showing === null);
		if (this.app.item && this.hasArea)
			for (const [what, text] of [['item', 'Chosen'], ['area', 'Area']]) {
				this.choice.append(button(text, () => {
					this.showing = what;
					this.#show();
				}, { 'aria-pressed': String(this.showing === what) }));
			}
		if (this.showing === 'item')
			this.#showItem(this.app.item);
		else if (this.showing === 'area')
			this.#showArea();
		else
			this.#showAll();
	}

	/* Nothing is chosen: what is in the recording, once there is time for it. */
	#showAll() {
		const { model, body } = this;
		this.title.textContent = HINT;
		const show = () => {
			this.all ??= statistics(model, { from: null, to: null, tracks: null });
			if (this.showing === null)
				this.table.show(body, this.all, true);
		};
		if (this.all)
			show();
		else if (model.slices.n <= SLICES_MAX)
			(globalThis.requestIdleCallback ?? setTimeout)(show);
	}

	#row(list, name, ...values) {
		list.append(element('dt', {}, name), element('dd', {}, ...values));
	}

	#showItem(item) {
		const { model, timeline } = this;
		this.title.textContent = model.name(placeOf(model, item).name);
		this.tools.append(tool('‹', 'The one before of this name ([)', () => this.#pickSame(-1)),
			tool('›', 'The next of this name (])', () => this.#pickSame(1)),
			tool('Zoom', 'Zoom to it (F)', () => timeline.focusChosen()),
			tool('Mark', 'Mark it (M)', () => timeline.mark()));
		const list = element('dl', { class: 'facts' });
		if ('slice' in item)
			this.#sliceFacts(list, item.slice);
		else
			this.#pointFacts(list, item);
		this.body.append(list);
		this.#fields(placeOf(model, item).text);
		if ('slice' in item)
			this.#ancestors(item.slice);
		this.#path(item);
	}

	#pickSame(by) {
		const next = this.app.item && this.timeline.walk.sameName(this.app.item, by);
		if (next)
			this.timeline.pick(next);
	}

	#when(list, name, ns) {
		const { model } = this;
		this.#row(list, name, `${day(model.beginNs, ns)} ${clock(model.beginNs, ns)}`,
			element('span', { class: 'dim' }, `  ${relative(ns, 1)}`));
	}

	#where(list, track) {
		const label = { thread: 'Thread', async: 'Track', counter: 'Counter', cpu: 'CPU' }[track.kind];
		this.#row(list, label, track.title);
		if (track.process >= 0)
			this.#row(list, 'Process', processName(this.model, track));
	}

	#sliceFacts(list, row) {
		const { model } = this;
		const { begin, duration: durations, self, kind, depth, id, track } = model.slices;
		this.#row(list, 'Duration', element('strong', {}, exactDuration(durations[row])));
		if (kind[row] < 2)
			this.#row(list, 'Self', exactDuration(self[row]), element('span', { class: 'dim' },
				durations[row] > 0 ? `  ${((self[row] / durations[row]) * 100).toFixed(1)} %` : ''));
		this.#when(list, 'Begin', begin[row]);
		this.#when(list, 'End', begin[row] + durations[row]);
		this.#where(list, model.tracks[track[row]]);
		this.#row(list, 'Kind', `${kindOf(model, row)}${kind[row] < 2 ? `, level ${depth[row] + 1}` : ''}`);
		if (kind[row] === 2 && id[row]) // a text is among the fields
			this.#row(list, 'Id', number(id[row]));
		this.#ends(list, row);
		if (kind[row] === 3) {
			this.#thread(list, id[row], begin[row]);
			this.#wait(list, row);
		}
		this.#rank(list, row);
		for (const text of flagsOf(model, row))
			this.#row(list, 'Note', text);
	}

	/* Among the slices of its name, with a way to the longest. */
	#rank(list, row) {
		const found = ranking(this.model, row);
		if (!found || found.count < 2)
			return;
		const place = found.longer ? `${plural(found.longer, 'longer one')} among` : 'The longest of';
		const text = `${place} ${count(found.count)} of this name${this.model.thinned ? ' that are shown' : ''}; ` +
			`average ${duration(found.average)}  `;
		const values = [text];
		if (found.longer) {
			values.push(tool('the longest', 'Choose the longest of this name',
				() => this.timeline.pick({ slice: found.longest }), 'link'));
		}
		this.#row(list, 'Rank', ...values);
	}

	/* How a thread waited before it ran, and who woke it. */
	#wait(list, row) {
		const { threads } = this.model;
		const wait = threads?.waitBefore(row);
		if (!wait)
			return;
		const known = !Number.isNaN(wait.woken);
		this.#row(list, 'Waited', `${duration(wait.to - wait.from)}, ${WHYS[wait.why]}`,
			...known && wait.woken > wait.from ? [`; ${duration(wait.to - wait.woken)} of it for a CPU`] : []);
		const at = wait.waker ? threads.runAt(wait.waker, wait.woken) : -1;
		if (wait.waker)
			this.#row(list, 'Woken by', at < 0 ? threads.name(wait.waker) : tool(threads.name(wait.waker), 'Choose what woke it',
				() => this.timeline.pick({ slice: at }), 'link'));
	}

	/* What a slice's time was spent on: by whom and how, and the steps in order. */
	#path(item) {
		const { model } = this;
		const path = pathOf(model, item);
		if (!path)
			return;
		const all = path.segments.at(-1).to - path.segments[0].from;
		const line = ({ thread, what }, text, at) => {
			const swatch = element('span', { class: 'swatch' });
			swatch.style.background = colorOf(this.app.theme, what);
			const run = at === undefined ? -1 : model.threads.runAt(thread, at);
			const name = model.threads.name(thread);
			return element('li', {}, swatch, run < 0 ? name : tool(name, 'Choose what it did then',
				() => this.timeline.pick({ slice: run }), 'link'), ` ${what} `, element('span', { class: 'dim' }, text));
		};
		const sums = sumOf(path.segments).map((sum) => line(sum, `${duration(sum.ns)}, ${percent(sum.ns, all)}`));
		const steps = path.segments.slice(-STEPS_MAX).map((step) => line(step, duration(step.to - step.from), step.from));
		const left = path.segments.length - steps.length;
		const { totals } = model;
		const missing = totals.shown_waits < totals.waits;
		const note = path.cut || left ? [element('li', { class: 'dim' }, `the last ${plural(steps.length, 'step')}`)] : [];
		this.body.append(
			element('div', { class: 'path' }, element('h3', {}, 'Critical path'), element('ol', {}, ...sums),
				...missing ? [element('p', { class: 'lost' }, 'Short waits are not all in this page.')] : []),
			element('div', { class: 'path' }, element('h3', {}, 'Its steps'), element('ol', {}, ...note, ...steps)));
	}

	/* The threads that a span across threads began and ended on. */
	#ends(list, row) {
		const { flows, slices, tracks } = this.model;
		const i = flowOf(this.model, row);
		if (i < 0)
			return;
		for (const [label, track, time] of [['Began on', flows.from[i], slices.begin[row]],
			['Ended on', flows.to[i], slices.begin[row] + slices.duration[row]]]) {
			const there = this.timeline.walk.first(tracks[track], time, true);
			this.#row(list, label, there ? tool(tracks[track].longTitle, 'Choose what it did then', () => this.timeline.pick(there), 'link')
				: tracks[track].longTitle);
		}
	}

	/* What ran: with a way to its track, if it has one. */
	#thread(list, tid, time) {
		const track = this.model.tracks.find((t) => t.kind === 'thread' && t.tid === tid);
		const there = track && this.timeline.walk.first(track, time);
		if (!there) {
			this.#row(list, 'Thread', String(tid));
			return;
		}
		this.#row(list, 'Thread', tool(track.title, 'Choose what it did then', () => this.timeline.pick(there), 'link'));
	}

	#pointFacts(list, item) {
		const { model } = this;
		const { from, track } = placeOf(model, item);
		if ('value' in item)
			this.#row(list, 'Value', element('strong', {}, number(model.values.value[item.value])));
		this.#when(list, 'Time', from);
		this.#where(list, model.tracks[track]);
	}

	#fields(row) {
		const { model } = this;
		if (row < 0)
			return;
		const text = element('pre', {}, 'taking the fields apart…');
		const place = element('div', { class: 'fields' }, element('h3', {}, 'Fields'), text);
		this.body.append(place);
		model.loadText().then(() => {
			text.textContent = model.text(row);
			const source = sourceOf(text.textContent);
			if (source)
				place.append(element('p', { class: 'dim' }, `Source: ${source}`));
		}, (error) => { text.textContent = `The fields cannot be shown: ${error.message}`; });
	}

	#ancestors(row) {
		const { model } = this;
		const chain = [];
		for (let at = model.parent(row); at >= 0 && chain.length < ANCESTORS_MAX; at = model.parent(at))
			chain.push(at);
		if (!chain.length)
			return;
		const entry = (at) => element('li', {},
			tool(model.name(model.slices.name[at]), 'Choose it', () => this.timeline.pick({ slice: at }), 'link'),
			element('span', { class: 'dim' }, ` ${duration(model.slices.duration[at])}`));
		const place = element('div', { class: 'ancestors' }, element('h3', {}, 'Inside of'),
			element('ol', {}, ...chain.map(entry)));
		this.body.append(place);
	}

	#showArea() {
		const found = statistics(this.model, this.app.selection);
		const all = this.app.selection.tracks === null;
		this.title.textContent = `${duration(found.duration)} on ${all ? 'all tracks' : plural(found.tracks, 'track')}`;
		this.tools.append(tool('Zoom', 'Zoom to the area (F)', () => this.timeline.focusArea()),
			tool('Mark', 'Mark it (M)', () => this.timeline.mark()),
			...[['flame', 'Flame graph'], ['histograms', 'Histograms'], ['table', 'Events']].map(([pane, text]) =>
				tool(text, `${text} of the area`, () => this.app.showPane(pane))),
			tool('Clear', 'Select nothing (Esc)', () => this.app.select({})));
		const summary = element('p', { class: 'summary' }, `${relative(found.from, 1)} to ${relative(found.to, 1)}, ` +
			`${clock(this.model.beginNs, found.from)} to ${clock(this.model.beginNs, found.to)}`);
		this.body.append(summary);
		const warn = (text) => this.body.append(element('p', { class: 'lost' }, text));
		if (found.lost > 0)
			warn(`${plural(found.lost, 'event')} lost there: figures are at least these.`);
		if (found.coarse)
			warn('Not everything is shown of these tracks: counts are of what is.');
		this.table.show(this.body, found);
	}
}
