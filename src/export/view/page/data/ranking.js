// SPDX-License-Identifier: MIT
// ranking.js - how a slice stands among those of its name: is it an outlier?

import { wholeDurations } from '../panes/distributions.js';

/* {count, longer: how many took longer, average, longest: its row}, of those whose length is known. null: its is not. */
export function ranking(model, row) {
	const { n, name, kind } = model.slices;
	const whole = wholeDurations(model);
	if (Number.isNaN(whole[row]))
		return null;
	const found = { count: 0, longer: 0, average: 0, longest: row };
	for (let i = 0; i < n; i++) {
		if (name[i] !== name[row] || kind[i] !== kind[row] || Number.isNaN(whole[i]))
			continue;
		found.count++;
		found.average += (whole[i] - found.average) / found.count;
		if (whole[i] > whole[row])
			found.longer++;
		if (whole[i] > whole[found.longest])
			found.longest = i;
	}
	return found;
}
