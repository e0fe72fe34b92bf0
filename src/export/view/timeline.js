// SPDX-License-Identifier: MIT
// timeline.js - the pane of tracks.

export class TimelinePane {
	constructor(element, model, app) {
		Object.assign(this, { element, model, app });
	}

	show() {}

	hide() {}
}
