// SPDX-License-Identifier: MIT
// view.js - which stretch of time is seen, and where in it things stand.

const SPAN_MIN_NS = 20;
const SETTLE_MS = 55; // time in which a move comes 63 % of its way

export class View {
	constructor(durationNs, moved) {
		this.durationNs = durationNs;
		this.moved = moved;
		this.width = 1;
		this.from = 0;
		this.to = durationNs;
		this.target = null;
		this.smooth = true;
		this.showAll(false);
	}

	get span() {
		return this.to - this.from;
	}

	get nsPerPx() {
		return this.span / this.width;
	}

	x(time) {
		return ((time - this.from) / this.span) * this.width;
	}

	time(x) {
		return this.from + (x / this.width) * this.span;
	}

	/* Where the view is, or is on its way to. */
	get goal() {
		return this.target ?? this;
	}

	/* Some of the recording is always in sight; a little room is left beside it. */
	#bounded(from, to) {
		const all = this.durationNs;
		const span = Math.min(Math.max(to - from, SPAN_MIN_NS), all * 1.04);
		const slack = Math.max(0, Math.min(span * 0.15, all * 1.04 - span));
		const least = Math.min(0, all - span) - slack;
		const most = Math.max(0, all - span) + slack;
		const begin = Math.min(Math.max((from + to - span) / 2, least), most);
		return { from: begin, to: begin + span };
	}

	set(from, to, animate = false) {
		const bounded = this.#bounded(from, to);
		if (animate && this.smooth) {
			this.target = bounded;
		} else {
			this.target = null;
			this.from = bounded.from;
			this.to = bounded.to;
		}
		this.moved();
	}

	showAll(animate = true) {
		const margin = this.durationNs * 0.01;
		this.set(-margin, this.durationNs + margin, animate);
	}

	/* factor < 1: in. time stays where it is. */
	zoom(time, factor, animate) {
		const { from, to } = this.goal;
		this.set(time - (time - from) * factor, time + (to - time) * factor, animate);
	}

	pan(ns, animate) {
		const { from, to } = this.goal;
		this.set(from + ns, to + ns, animate);
	}

	/* Brings from … to into sight with some room around; moves no more than it must when it is large enough there. */
	reveal(from, to) {
		const { goal } = this;
		if (to - from > goal.to - goal.from)
			this.around(from, to);
		else if (from < goal.from || to > goal.to)
			this.pan((from + to - goal.from - goal.to) / 2, true);
	}

	around(from, to) {
		const room = Math.max((to - from) * 0.15, 30);
		this.set(from - room, to + room, true);
	}

	/* One frame nearer to the target. True: there is more to come. */
	advance(ms) {
		if (!this.target)
			return false;
		const part = 1 - Math.exp(-ms / SETTLE_MS);
		const { from, to } = this.target;
		this.from += (from - this.from) * part;
		this.to += (to - this.to) * part;
		const near = (to - from) * 0.002;
		if (Math.abs(from - this.from) < near && Math.abs(to - this.to) < near) {
			this.from = from;
			this.to = to;
			this.target = null;
		}
		return true;
	}
}
