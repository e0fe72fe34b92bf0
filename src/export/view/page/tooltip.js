// SPDX-License-Identifier: MIT
// tooltip.js - what is under the pointer, in a few words beside it.

import { element } from './dom.js';
import { count, duration, number } from './data/format.js';
import { placeOf } from './timeline/hit.js';

const LOSSES_MAX = 3;
const TEXT_MAX = 160;

export class Tooltip {
	constructor(parent, model) {
		this.model = model;
		// The live region says it.
		this.element = element('div', { class: 'tooltip', 'aria-hidden': 'true', hidden: true });
		parent.append(this.element);
	}

	hide() {
		this.element.hidden = true;
	}

	#line(className, text) {
		this.element.append(element('div', { class: className }, text));
	}

	#item(item) {
		const { model } = this;
		const { name, text: fields } = placeOf(model, item);
		this.#line('name', model.name(name));
		if ('value' in item) {
			this.#line('figure', number(model.values.value[item.value]));
			return;
		}
		if ('slice' in item) {
			const { duration: durations, self, kind } = model.slices;
			const row = item.slice;
			const own = self[row] < durations[row] && kind[row] < 2 ? `, self ${duration(self[row])}` : '';
			this.#line('figure', `${duration(durations[row])}${own}`);
		} else {
			this.#line('dim', 'point');
		}
		const text = model.text(fields);
		if (text)
			this.#line('dim text', text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text);
	}

	/* x, y: in the parent. losses: rows of losses there; omitted: of what is not in the page, or -1. */
	show(item, losses, omitted, x, y) {
		if (!item && !losses.length && omitted < 0) {
			this.hide();
			return;
		}
		this.element.textContent = '';
		if (item)
			this.#item(item);
		for (const i of losses.slice(0, LOSSES_MAX)) {
			const { count: lost, cause, cpu } = this.model.losses;
			const where = cpu[i] >= 0 ? `, CPU ${cpu[i]}` : '';
			this.#line('loss', `${count(lost[i])} lost: ${this.model.name(cause[i])}${where}`);
		}
		if (omitted >= 0) {
			const { begin, end, count: left } = this.model.omitted;
			this.#line('dim', `${count(left[omitted])} more within ${duration(end[omitted] - begin[omitted])} here: not shown`);
		}
		this.element.hidden = false;
		const parent = this.element.parentElement;
		const { offsetWidth: width, offsetHeight: height } = this.element;
		const left = x + 14 + width > parent.clientWidth ? Math.max(4, x - width - 10) : x + 14;
		const top = y + 16 + height > parent.clientHeight ? Math.max(4, y - height - 10) : y + 16;
		this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
	}
}
