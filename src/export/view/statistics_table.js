// SPDX-License-Identifier: MIT
// statistics_table.js - statistics of an area as tables that sort by any column.

import { button, element } from './dom.js';
import { count, duration, number } from './format.js';

const ROWS_MAX = 500;

const SLICE_COLUMNS = [
	['text', 'Name', (v) => v || '(no name)', 'name'],
	['count', 'Count', count, 'of slices in the area, or partly in it'],
	['total', 'Total', duration, 'time inside of the area'],
	['self', 'Self', duration, 'time inside of the area, without slices inside of them'],
	['avg', 'Average', duration, 'of whole slices'],
	['min', 'Least', duration, 'of whole slices'],
	['max', 'Greatest', duration, 'of whole slices'],
];
const POINT_COLUMNS = [
	['text', 'Points', (v) => v || '(no name)', 'name'],
	['count', 'Count', count, 'in the area'],
];
const COUNTER_COLUMNS = [
	['name', 'Counter', (v) => v, 'name'],
	['values', 'Values', count, 'in the area'],
	['first', 'First', number, 'value'],
	['last', 'Last', number, 'value'],
	['min', 'Least', number, 'value'],
	['max', 'Greatest', number, 'value'],
];

export class StatisticsTable {
	constructor(model, app) {
		Object.assign(this, { model, app });
		this.order = { slices: ['total', -1], points: ['count', -1], counters: ['name', 1] };
	}

	/* found: of statistics() */
	show(parent, found) {
		const tables = element('div', { class: 'statistics' });
		parent.append(tables);
		for (const [kind, columns, title] of [['slices', SLICE_COLUMNS, 'Slices in the area'],
			['points', POINT_COLUMNS, 'Points in the area'], ['counters', COUNTER_COLUMNS, 'Counters in the area']])
			if (found[kind].length)
				this.#table(tables, kind, columns, title, found[kind]);
		if (!tables.childElementCount)
			tables.textContent = 'Nothing was recorded there.';
	}

	#table(parent, kind, columns, title, rows) {
		const table = element('table', { 'aria-label': title });
		const head = table.createTHead().insertRow();
		const body = table.createTBody();
		for (const [key, name, , hint] of columns)
			head.append(this.#header(kind, key, name, hint, () => this.#fill(table, head, body, kind, columns, rows)));
		parent.append(table);
		this.#fill(table, head, body, kind, columns, rows);
	}

	#header(kind, key, name, hint, fill) {
		const cell = element('th', { scope: 'col' }, button(name, () => {
			const [by, way] = this.order[kind];
			this.order[kind] = [key, by === key ? -way : key === 'text' || key === 'name' ? 1 : -1];
			fill();
		}, { title: `${hint}; click to sort` }));
		cell.dataset.key = key;
		return cell;
	}

	#fill(table, head, body, kind, columns, rows) {
		const [by, way] = this.order[kind];
		for (const cell of head.cells)
			cell.setAttribute('aria-sort', cell.dataset.key !== by ? 'none' : way > 0 ? 'ascending' : 'descending');
		rows.sort((a, b) => way * (typeof a[by] === 'string' ? a[by].localeCompare(b[by]) : a[by] - b[by]));
		body.textContent = '';
		for (const row of rows.slice(0, ROWS_MAX)) {
			const line = body.insertRow();
			columns.forEach(([key, , format], i) => {
				const cell = line.insertCell();
				if (i === 0 && row.name !== undefined && kind !== 'counters')
					cell.append(this.#swatch(row.name));
				cell.append(format(row[key]));
			});
		}
		if (rows.length > ROWS_MAX) {
			const cell = body.insertRow().insertCell();
			cell.colSpan = columns.length;
			cell.textContent = `… and ${count(rows.length - ROWS_MAX)} more names`;
		}
	}

	#swatch(name) {
		const swatch = element('span', { class: 'swatch' });
		swatch.style.background = this.app.theme.fill(name);
		return swatch;
	}
}
