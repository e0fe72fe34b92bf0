// SPDX-License-Identifier: MIT
// histograms.js - a place to be filled.

export class HistogramsPane {
	constructor(element) {
		this.element = element;
	}

	show() {}

	hide() {}

	selectionChanged() {}

	themeChanged() {}
}
