// SPDX-License-Identifier: MIT
// details.js - the panel below the tracks: the chosen slice, point or value, and the statistics of the selected area.

import { flagsOf, kindOf, nameOf, processName, sourceOf, trackName } from './describe.js';
import { clock, count, day, duration, exactDuration, number, plural, relative } from './format.js';
import { ranking } from './ranking.js';
import { statistics } from './statistics.js';
import { StatisticsTable } from './statistics_table.js';

const ANCESTORS_MAX = 40;

function make(doc, tag, className, text) {
	const element = doc.createElement(tag);
	if (className)
		element.className = className;
	if (text !== undefined)
		element.textContent = text;
	return element;
}

function button(doc, text, title, act) {
	const element = make(doc, 'button', 'plain', text);
	element.type = 'button';
	element.title = title;
	element.addEventListener('click', act);
	return element;
}

export class Details {
	/* timeline has: pick(item), focusChosen(), mark(), walk */
	constructor(element, model, app, timeline) {
		Object.assign(this, { element, model, app, timeline, doc: element.ownerDocument });
		this.title = make(this.doc, 'h2', 'panel-title');
		this.tools = make(this.doc, 'div', 'tools');
		this.body = make(this.doc, 'div', 'panel-body');
		this.body.tabIndex = 0; // it scrolls
		this.body.setAttribute('role', 'group');
		this.body.setAttribute('aria-label', 'Details');
		const head = make(this.doc, 'header', 'panel-head');
		this.choice = make(this.doc, 'div', 'choice');
		this.choice.setAttribute('role', 'group');
		this.choice.setAttribute('aria-label', 'What the panel shows');
		head.append(this.choice, this.title, this.tools);
		element.append(head, this.body);
		this.showing = null; // 'item' | 'area'
		this.cost = 0; // of showing it the last time, in ms
		this.table = new StatisticsTable(this.doc, model, app);
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
		// A drag tells with every move: no more than a fifth of the time is spent here.
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
				const tab = button(this.doc, text, '', () => {
					this.showing = what;
					this.#show();
				});
				tab.setAttribute('aria-pressed', String(this.showing === what));
				this.choice.append(tab);
			}
		if (this.showing === 'item')
			this.#showItem(this.app.item);
		else if (this.showing === 'area')
			this.#showArea();
		else
			this.title.textContent = 'Click a slice for its details, drag for the statistics of an area. ? tells keys.';
	}

	#row(list, name, ...values) {
		const term = make(this.doc, 'dt', '', name);
		const description = make(this.doc, 'dd');
		description.append(...values);
		list.append(term, description);
		return description;
	}

	#showItem(item) {
		const { model, timeline } = this;
		this.title.textContent = nameOf(model, item) || '(no name)';
		this.tools.append(button(this.doc, '‹', 'The one before of this name ([)', () => this.#pickSame(-1)),
			button(this.doc, '›', 'The next of this name (])', () => this.#pickSame(1)),
			button(this.doc, 'Zoom', 'Zoom to it (F)', () => timeline.focusChosen()),
			button(this.doc, 'Mark', 'Mark it (M)', () => timeline.mark()));
		const list = make(this.doc, 'dl', 'facts');
		if ('slice' in item)
			this.#sliceFacts(list, item.slice);
		else
			this.#pointFacts(list, item);
		this.body.append(list);
		if (!('value' in item))
			this.#fields(item);
		if ('slice' in item)
			this.#ancestors(item.slice);
	}

	#pickSame(by) {
		const next = this.app.item && this.timeline.walk.sameName(this.app.item, by);
		if (next)
			this.timeline.pick(next);
	}

	#when(list, name, ns) {
		const { model } = this;
		this.#row(list, name, `${day(model.beginNs, ns)} ${clock(model.beginNs, ns)}`,
			make(this.doc, 'span', 'dim', `  ${relative(ns, 1)}`));
	}

	#where(list, track) {
		const label = { thread: 'Thread', async: 'Track', counter: 'Counter', cpu: 'CPU' }[track.kind];
		this.#row(list, label, trackName(track));
		if (track.process >= 0)
			this.#row(list, 'Process', processName(this.model, track));
	}

	#sliceFacts(list, row) {
		const { model } = this;
		const { begin, duration: durations, self, kind, depth, id, track } = model.slices;
		this.#row(list, 'Duration', make(this.doc, 'strong', '', exactDuration(durations[row])));
		if (kind[row] < 2)
			this.#row(list, 'Self', exactDuration(self[row]), make(this.doc, 'span', 'dim',
				durations[row] > 0 ? `  ${((self[row] / durations[row]) * 100).toFixed(1)} %` : ''));
		this.#when(list, 'Begin', begin[row]);
		this.#when(list, 'End', begin[row] + durations[row]);
		this.#where(list, model.tracks[track[row]]);
		this.#row(list, 'Kind', `${kindOf(model, { slice: row })}${kind[row] < 2 ? `, level ${depth[row] + 1}` : ''}`);
		if (kind[row] === 2)
			this.#row(list, 'Id', number(id[row]));
		if (kind[row] === 3)
			this.#thread(list, id[row], begin[row]);
		this.#rank(list, row);
		for (const text of flagsOf(model, { slice: row }))
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
			const link = button(this.doc, 'the longest', 'Choose the longest of this name',
				() => this.timeline.pick({ slice: found.longest }));
			link.classList.add('link');
			values.push(link);
		}
		this.#row(list, 'Rank', ...values);
	}

	/* What ran: with a way to its track, if it has one. */
	#thread(list, tid, time) {
		const track = this.model.tracks.find((t) => t.kind === 'thread' && t.tid === tid);
		const there = track && this.timeline.walk.first(track, time);
		if (!there) {
			this.#row(list, 'Thread', String(tid));
			return;
		}
		const link = button(this.doc, trackName(track), 'Choose what it did then', () => this.timeline.pick(there));
		link.classList.add('link');
		this.#row(list, 'Thread', link);
	}

	#pointFacts(list, item) {
		const { model } = this;
		const table = 'instant' in item ? model.instants : model.values;
		const row = item.instant ?? item.value;
		if ('value' in item)
			this.#row(list, 'Value', make(this.doc, 'strong', '', number(model.values.value[row])));
		this.#when(list, 'Time', table.time[row]);
		this.#where(list, model.tracks[table.track[row]]);
	}

	#fields(item) {
		const { model } = this;
		const row = 'slice' in item ? model.slices.text[item.slice] : model.instants.text[item.instant];
		if (row < 0)
			return;
		const place = make(this.doc, 'div', 'fields');
		const heading = make(this.doc, 'h3', '', 'Fields');
		const text = make(this.doc, 'pre', '', model.text(row) ?? 'taking the fields apart…');
		place.append(heading, text);
		this.body.append(place);
		const source = () => {
			const found = sourceOf(model.text(row) ?? '');
			if (found)
				place.append(make(this.doc, 'p', 'dim', `Source: ${found}`));
		};
		if (model.text(row) === null)
			model.loadText().then(() => {
				text.textContent = model.text(row);
				source();
			}, (error) => { text.textContent = `The fields cannot be shown: ${error.message}`; });
		else
			source();
	}

	#ancestors(row) {
		const { model } = this;
		const chain = [];
		for (let at = model.parent(row); at >= 0 && chain.length < ANCESTORS_MAX; at = model.parent(at))
			chain.push(at);
		if (!chain.length)
			return;
		const place = make(this.doc, 'div', 'ancestors');
		place.append(make(this.doc, 'h3', '', 'Inside of'));
		const list = make(this.doc, 'ol');
		for (const at of chain) {
			const entry = make(this.doc, 'li');
			const link = button(this.doc, model.name(model.slices.name[at]) || '(no name)', 'Choose it',
				() => this.timeline.pick({ slice: at }));
			link.classList.add('link');
			entry.append(link, make(this.doc, 'span', 'dim', ` ${duration(model.slices.duration[at])}`));
			list.append(entry);
		}
		place.append(list);
		this.body.append(place);
	}

	#showArea() {
		const found = statistics(this.model, this.app.selection);
		this.title.textContent = `${duration(found.duration)} on ${plural(found.tracks, 'track')}`;
		this.tools.append(button(this.doc, 'Zoom', 'Zoom to the area (F)', () => this.timeline.focusArea()),
			button(this.doc, 'Mark', 'Mark it (M)', () => this.timeline.mark()),
			...[['flame', 'Flame graph'], ['histograms', 'Histograms'], ['table', 'Events']].map(([pane, text]) =>
				button(this.doc, text, `${text} of the area`, () => this.app.showPane(pane))),
			button(this.doc, 'Clear', 'Select nothing (Esc)', () => this.app.select({})));
		const summary = make(this.doc, 'p', 'summary', `${relative(found.from, 1)} to ${relative(found.to, 1)}, ` +
			`${clock(this.model.beginNs, found.from)} to ${clock(this.model.beginNs, found.to)}`);
		this.body.append(summary);
		const warn = (text) => this.body.append(make(this.doc, 'p', 'lost', text));
		if (found.lost > 0)
			warn(`${plural(found.lost, 'event')} lost there: figures are at least these.`);
		if (found.coarse)
			warn('Not everything is shown of these tracks: counts are of what is.');
		this.table.show(this.body, found);
	}
}
