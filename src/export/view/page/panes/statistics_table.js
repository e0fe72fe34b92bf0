// SPDX-License-Identifier: MIT
// statistics_table.js - statistics of an area as tables that sort by any column.

import { button, element } from '../dom.js';
import { count, duration, number } from '../data/format.js';

const ROWS_MAX = 500;

const SLICE_COLUMNS = [
	['text', 'Name', String, 'name'],
	['count', 'Count', count, 'slices that are in the area, or partly in it'],
	['total', 'Total', duration, 'time inside the area'],
	['self', 'Self', duration, 'time inside the area, without the slices inside them'],
];
const WHOLE_COLUMNS = [
	['text', 'Name', String, 'name'],
	['known', 'Count', count, 'slices whose whole length is known'],
	['whole', 'Total', duration, 'time of whole slices'],
	['avg', 'Average', duration, 'of whole slices'],
	['min', 'Min', duration, 'of whole slices'],
	['max', 'Max', duration, 'of whole slices'],
];
const POINT_COLUMNS = [
	['text', 'Points', String, 'name'],
	['points', 'Count', count, 'in the area'],
];
const COUNTER_COLUMNS = [
	['name', 'Counter', String, 'name'],
	['values', 'Values', count, 'in the area'],
	['first', 'First', number, 'value'],
	['last', 'Last', number, 'value'],
	['min', 'Min', number, 'value'],
	['max', 'Max', number, 'value'],
];

/* What is cut at the area's edges and what is not never stand in one table. */
const TABLES = [
	['slices', 'Slices in the area', 'Time inside the area', SLICE_COLUMNS],
	['whole', 'Whole slices', 'Whole slices, also where they reach beyond the area', WHOLE_COLUMNS],
	['points', 'Points in the area', '', POINT_COLUMNS],
	['counters', 'Counters in the area', '', COUNTER_COLUMNS],
];
const ALL = { slices: 'In the recording', whole: 'Slices whose whole length is known' };

export class StatisticsTable {
	constructor(app) {
		this.app = app;
		this.order = { slices: ['total', -1], whole: ['whole', -1], points: ['points', -1], counters: ['name', 1] };
	}

	/* found: of statistics(); all: of the whole recording, not of an area */
	show(parent, found, all = false) {
		const tables = TABLES.filter(([kind]) => found[kind].length).map(([kind, title, about, columns]) =>
			this.#table(kind, title, all ? ALL[kind] ?? about : about, columns, found));
		parent.append(element('div', { class: 'statistics' }, ...tables.length ? tables : ['Nothing was recorded there.']));
	}

	#table(kind, title, about, columns, found) {
		const [by, way] = this.order[kind];
		const rows = found[kind].sort((a, b) => way * (typeof a[by] === 'string' ? a[by].localeCompare(b[by]) : a[by] - b[by]));
		const head = columns.map(([key, name, format, hint], i) => element('th', { scope: 'col',
			'aria-sort': key !== by ? 'none' : way > 0 ? 'ascending' : 'descending' }, button(name, () => {
			this.order[kind] = [key, by === key ? -way : format === String ? 1 : -1];
			const sorted = this.#table(kind, title, about, columns, found);
			table.replaceWith(sorted);
			sorted.querySelectorAll('button')[i].focus();
		}, { title: `${hint}; click to sort` })));
		const lines = rows.slice(0, ROWS_MAX).map((row) => element('tr', {},
			...columns.map(([key, , format]) => element('td', {}, format(row[key])))));
		if (kind !== 'counters')
			lines.forEach((line, i) => line.firstChild.prepend(this.#swatch(rows[i].name)));
		if (rows.length > ROWS_MAX)
			lines.push(element('tr', {}, element('td', { colSpan: columns.length }, `… and ${count(rows.length - ROWS_MAX)} more names`)));
		const table = element('table', { 'aria-label': title }, ...about ? [element('caption', {}, about)] : [],
			element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...lines));
		return table;
	}

	#swatch(name) {
		const swatch = element('span', { class: 'swatch' });
		swatch.style.background = this.app.theme.fill(name);
		return swatch;
	}
}
