// SPDX-License-Identifier: MIT
// ranking.js - how a slice stands among those of its name: is it an outlier?

import { SLICE_CONTINUED, SLICE_NO_EXIT, SLICE_OPEN, SLICE_SPLIT } from './data.js';

const UNKNOWN = SLICE_OPEN | SLICE_NO_EXIT | SLICE_SPLIT | SLICE_CONTINUED;

/* {count, longer: how many took longer, average, longest: its row}, of those whose length is known. null: its is not. */
export function ranking(model, row) {
	const { n, name, kind, flags, duration } = model.slices;
	if (flags[row] & UNKNOWN)
		return null;
	const found = { count: 0, longer: 0, average: 0, longest: row };
	let sum = 0;
	for (let i = 0; i < n; i++) {
		if (name[i] !== name[row] || kind[i] !== kind[row] || flags[i] & UNKNOWN)
			continue;
		found.count++;
		sum += duration[i];
		if (duration[i] > duration[row])
			found.longer++;
		if (duration[i] > duration[found.longest])
			found.longest = i;
	}
	found.average = sum / found.count;
	return found;
}
