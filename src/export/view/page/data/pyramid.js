// SPDX-License-Identifier: MIT
// pyramid.js - least and greatest of any stretch of an array without going through it. What is no number is left out; where
// there is nothing else, min is above max.

const FACTOR = 16;

export class Pyramid {
	constructor(values) {
		this.levels = [{ min: values, max: values }];
		let below = this.levels[0];
		while (below.min.length > FACTOR) {
			const n = Math.ceil(below.min.length / FACTOR);
			const level = { min: new Float64Array(n).fill(Infinity), max: new Float64Array(n).fill(-Infinity) };
			for (let i = 0; i < below.min.length; i++) {
				const at = (i / FACTOR) | 0;
				if (below.min[i] < level.min[at])
					level.min[at] = below.min[i];
				if (below.max[i] > level.max[at])
					level.max[at] = below.max[i];
			}
			this.levels.push(level);
			below = level;
		}
		this.min = Infinity;
		this.max = -Infinity;
	}

	/* Sets min and max to those of [from, to). */
	look(from, to) {
		this.min = Infinity;
		this.max = -Infinity;
		let level = 0;
		while (from < to) {
			const { min, max } = this.levels[level];
			const last = level === this.levels.length - 1;
			while (from < to && (last || from % FACTOR !== 0)) {
				this.#take(min[from], max[from]);
				from++;
			}
			while (to > from && to % FACTOR !== 0) {
				to--;
				this.#take(min[to], max[to]);
			}
			from /= FACTOR;
			to /= FACTOR;
			level++;
		}
	}

	#take(min, max) {
		if (min < this.min)
			this.min = min;
		if (max > this.max)
			this.max = max;
	}
}
