// SPDX-License-Identifier: MIT
// table.js - a place to be filled.

export class TablePane {
	constructor(element) {
		this.element = element;
	}

	show() {}

	hide() {}

	selectionChanged() {}

	themeChanged() {}
}
