// SPDX-License-Identifier: MIT
// splitter.js - the line between the tracks and the details: dragged, or moved by arrow keys.

import { element } from './dom.js';

const STEP_PX = 24;
const LEAST_PX = 44;

export class Splitter {
	constructor(parent, label) {
		this.parent = parent;
		this.element = element('div', { class: 'splitter', tabIndex: 0, role: 'separator', 'aria-orientation': 'horizontal',
			'aria-label': label, 'aria-valuemin': '0', 'aria-valuemax': '100' });
		parent.append(this.element);
		this.drag = null;
		this.element.addEventListener('pointerdown', (event) => {
			this.element.setPointerCapture(event.pointerId);
			this.drag = { y: event.clientY, height: this.below.offsetHeight };
		});
		this.element.addEventListener('pointermove', (event) => {
			if (this.drag)
				this.#set(this.drag.height + this.drag.y - event.clientY);
		});
		for (const end of ['pointerup', 'pointercancel'])
			this.element.addEventListener(end, () => { this.drag = null; });
		this.element.addEventListener('keydown', (event) => this.#key(event));
	}

	attach(below) {
		this.below = below;
		this.element.setAttribute('aria-valuenow', '25');
	}

	#key(event) {
		const by = { ArrowUp: STEP_PX, ArrowDown: -STEP_PX }[event.key];
		if (!by)
			return;
		event.preventDefault();
		this.#set(this.below.offsetHeight + by);
	}

	#set(height) {
		const all = this.parent.clientHeight;
		const bounded = Math.max(LEAST_PX, Math.min(all - 160, height));
		this.below.style.height = `${bounded}px`;
		this.element.setAttribute('aria-valuenow', String(Math.round((100 * bounded) / all)));
	}
}
