// SPDX-License-Identifier: MIT
// compare.js - two recordings on one page: which of them is before, and what has changed from it. They know each other's
// names by their texts alone: numbers are a recording's own.

import { distributions } from '../panes/distributions.js';
import { count, duration } from './format.js';

export class Comparison {
	/* shown: the one of both that the page shows */
	constructor(before, after, shown) {
		Object.assign(this, { before, after, shown });
		this.sides = { before, after };
	}

	/* 'before' | 'after', and the other one. */
	sideOf(model) {
		return model === this.after ? 'after' : 'before';
	}

	otherThan(side) {
		return side === 'after' ? 'before' : 'after';
	}

	/* {title, href: shows the other one} of each. */
	get links() {
		return Object.entries(this.sides).map(([side, model]) => ({ side, title: model.title, href: `#${side}`, current: model === this.shown }));
	}

	/* [{label, name, kind, before, after: of distributions(), or null}], over all of both recordings. */
	distributions() {
		this.pairs ??= [...Object.entries(this.sides).reduce((pairs, [side, model]) => {
			for (const found of distributions(model, null)) {
				const key = `${found.kind} ${model.name(found.name)}`;
				if (!pairs.has(key))
					pairs.set(key, { label: model.name(found.name), kind: found.kind, before: null, after: null });
				pairs.get(key)[side] = found;
			}
			return pairs;
		}, new Map()).values()];
		return this.pairs;
	}
}

/*
 * What nodes of a tree are in the other recording: {total, self, count}, by node; 0: nothing is there. Both trees are of
 * callPaths() or inverse(), without tracks.
 */
export function matchPaths(model, tree, otherModel, otherTree) {
	const names = new Map(model.strings.map((text, name) => [text, name]));
	const node = new Int32Array(otherTree.n).fill(-1);
	const found = { total: new Float64Array(tree.n), self: new Float64Array(tree.n), count: new Float64Array(tree.n) };
	node[0] = 0;
	for (let id = 0; id < otherTree.n; id++) {
		if (id > 0) {
			const parent = node[otherTree.parent[id]];
			const name = names.get(otherModel.strings[otherTree.name[id]]);
			node[id] = parent < 0 || name === undefined ? -1 : tree.find(parent, name);
		}
		if (node[id] >= 0)
			for (const what of ['total', 'self', 'count'])
				found[what][node[id]] = otherTree[what][id];
	}
	return found;
}

/* From before to after, as text: "+12.3 %", "new", "gone", "". */
export function changeOf(before, after) {
	if (!(before > 0) || !(after > 0))
		return after > 0 ? 'new' : before > 0 ? 'gone' : '';
	const part = 100 * (after / before - 1);
	const size = Math.abs(part);
	if (size < 0.05)
		return '±0 %';
	const sign = part < 0 ? '−' : '+';
	return `${sign}${size >= 1000 ? count(size) : size.toFixed(size >= 99.95 ? 0 : 1)} %`;
}

/* "+1.2 ms" */
export function differenceOf(before, after) {
	return `${after < before ? '−' : '+'}${duration(Math.abs(after - before))}`;
}
