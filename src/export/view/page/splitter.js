// SPDX-License-Identifier: MIT
// splitter.js - the line between the tracks and the details: dragged, or moved by arrow keys.

import { element, onDrag, onKeys } from './dom.js';

const STEP_PX = 24;
const LEAST_PX = 44;

/* To be put above what it sets the height of. */
export function splitter(label, below) {
	const line = element('div', { class: 'splitter', tabIndex: 0, role: 'separator', 'aria-orientation': 'horizontal',
		'aria-label': label, 'aria-valuemin': '0', 'aria-valuemax': '100', 'aria-valuenow': '25' });
	const set = (height) => {
		const all = line.parentElement.clientHeight;
		const bounded = Math.max(LEAST_PX, Math.min(all - 160, height));
		below.style.height = `${bounded}px`;
		line.setAttribute('aria-valuenow', String(Math.round((100 * bounded) / all)));
	};
	onDrag(line, ({ clientY }) => {
		const bottom = below.offsetHeight + clientY;
		return (event) => set(bottom - event.clientY);
	});
	onKeys(line, () => ({ ArrowUp: () => set(below.offsetHeight + STEP_PX), ArrowDown: () => set(below.offsetHeight - STEP_PX) }));
	return line;
}
