// SPDX-License-Identifier: MIT
// gestures.js - pointer, wheel and fingers on the tracks and the ruler, as intents of the timeline.

const CLICK_PX = 4;
const WHEEL_LINE_PX = 18;

/*
 * timeline has: view, scroll, scrollable; hover(x, y), leave(), pointerAt(x, y) while something is dragged; click(x, y,
 * event), doubleClick(x, y); area(from, to, y0, y1, done) with times and heights in all tracks; selectionEdge(x):
 * 'from' | 'to' | null; moveEdge(edge, time, done); scrollBy(y).
 */
export class Gestures {
	constructor(element, timeline) {
		this.element = element;
		this.timeline = timeline;
		this.pointers = new Map();
		this.drag = null;
		this.pinch = null;
		element.addEventListener('pointerdown', (event) => this.#down(event));
		element.addEventListener('pointermove', (event) => this.#move(event));
		element.addEventListener('pointerup', (event) => this.#up(event));
		element.addEventListener('pointercancel', (event) => this.#cancel(event));
		element.addEventListener('pointerleave', () => { if (!this.drag) timeline.leave(); });
		element.addEventListener('dblclick', (event) => timeline.doubleClick(event.offsetX, event.offsetY));
		element.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
		element.addEventListener('auxclick', (event) => event.preventDefault());
	}

	#place(event) {
		const box = this.element.getBoundingClientRect();
		return { x: event.clientX - box.left, y: event.clientY - box.top };
	}

	#wheel(event) {
		const { view } = this.timeline;
		const unit = event.deltaMode === 1 ? WHEEL_LINE_PX : event.deltaMode === 2 ? 400 : 1;
		const { x } = this.#place(event);
		if (event.ctrlKey || event.metaKey) {
			event.preventDefault(); // a pinch on a touch pad comes as this
			const size = Math.max(-60, Math.min(60, event.deltaY * unit));
			view.zoom(view.time(x), Math.exp(size * (Math.abs(event.deltaY) < 30 ? 0.01 : 0.004)), false);
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			view.pan((event.deltaX || event.deltaY) * unit * view.nsPerPx, false);
		} else if (this.timeline.scrollable) {
			this.timeline.leave();
		} else {
			event.preventDefault();
			view.zoom(view.time(x), Math.exp(event.deltaY * unit * 0.0025), false);
		}
	}

	#down(event) {
		const place = this.#place(event);
		this.pointers.set(event.pointerId, place);
		if (this.pointers.size === 2) {
			this.#startPinch();
			return;
		}
		if (event.button > 1)
			return;
		this.element.setPointerCapture(event.pointerId);
		const pans = event.button === 1 || event.shiftKey || event.pointerType === 'touch';
		const edge = pans ? null : this.timeline.selectionEdge(place.x);
		this.drag = { start: place, last: place, moved: false, kind: pans ? 'pan' : edge ? 'edge' : 'area', edge,
			time: this.timeline.view.time(place.x), scroll: this.timeline.scroll };
		if (event.button === 1)
			event.preventDefault();
	}

	#move(event) {
		const place = this.#place(event);
		if (this.pointers.has(event.pointerId))
			this.pointers.set(event.pointerId, place);
		if (this.pinch) {
			this.#movePinch();
			return;
		}
		const { drag, timeline } = this;
		if (!drag) {
			timeline.hover(place.x, place.y);
			this.element.style.cursor = timeline.selectionEdge(place.x) ? 'ew-resize' : '';
			return;
		}
		if (!drag.moved && Math.hypot(place.x - drag.start.x, place.y - drag.start.y) < CLICK_PX)
			return;
		drag.moved = true;
		this.#dragTo(place, false);
	}

	#dragTo(place, done) {
		const { drag, timeline } = this;
		const { view } = timeline;
		timeline.pointerAt(place.x, place.y);
		if (drag.kind === 'pan') {
			view.pan((drag.last.x - place.x) * view.nsPerPx, false);
			timeline.scrollBy(drag.last.y - place.y);
			this.element.style.cursor = 'grabbing';
		} else if (drag.kind === 'edge') {
			timeline.moveEdge(drag.edge, view.time(place.x), done);
		} else {
			timeline.area(drag.time, view.time(place.x), drag.start.y + drag.scroll, place.y + timeline.scroll, done);
		}
		drag.last = place;
	}

	#up(event) {
		this.pointers.delete(event.pointerId);
		if (this.pinch) {
			if (this.pointers.size < 2)
				this.pinch = null;
			return;
		}
		const { drag } = this;
		if (!drag)
			return;
		const place = this.#place(event);
		if (drag.moved)
			this.#dragTo(place, true);
		else if (event.button === 0)
			this.timeline.click(place.x, place.y, event);
		this.element.style.cursor = '';
		this.drag = null;
	}

	#cancel(event) {
		this.pointers.delete(event.pointerId);
		this.drag = null;
		this.pinch = null;
	}

	#startPinch() {
		const [a, b] = [...this.pointers.values()];
		const { view } = this.timeline;
		this.drag = null;
		this.pinch = { times: [view.time(a.x), view.time(b.x)] };
	}

	/* Each finger holds its time. */
	#movePinch() {
		const [a, b] = [...this.pointers.values()];
		if (!b || Math.abs(a.x - b.x) < 8)
			return;
		const { view } = this.timeline;
		const [ta, tb] = this.pinch.times;
		const nsPerPx = (tb - ta) / (b.x - a.x);
		if (!(nsPerPx > 0))
			return;
		const from = ta - a.x * nsPerPx;
		view.set(from, from + nsPerPx * view.width);
	}
}
