// SPDX-License-Identifier: MIT
// flame.js - a place to be filled.

export class FlamePane {
	constructor(element) {
		this.element = element;
	}

	show() {}

	hide() {}

	selectionChanged() {}

	themeChanged() {}
}
