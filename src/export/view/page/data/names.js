// SPDX-License-Identifier: MIT
// names.js - names that do not fit are shortened from the left: what a provider's events or a namespace's functions have in
// common says less than what they do not.

const QUALIFIER = /^(?:[^\s:<>()"]+:{1,2})(?=[^\s:])/; // "kv:" of "kv:request", "std::" of "std::sort"

/* The name without its provider or outermost namespace; '': it has none. */
export function withoutQualifier(text) {
	const found = QUALIFIER.exec(text);
	return found ? text.slice(found[0].length) : '';
}

/*
 * The text, or as much of it as fits into room; '' if nothing of use does. widthOf(text). First qualifiers go, one by one and
 * without a sign, as there is no room for one; of what is left the start stays, with an ellipsis.
 */
export function shortened(text, room, widthOf) {
	if (widthOf(text) <= room)
		return text;
	let rest = text;
	for (let next = withoutQualifier(rest); next; next = withoutQualifier(rest)) {
		rest = next;
		if (widthOf(rest) <= room)
			return rest;
	}
	const n = Math.floor((rest.length * (room - widthOf('…'))) / widthOf(rest));
	if (n < 2)
		return '';
	const cut = rest.charCodeAt(n - 1);
	return `${rest.slice(0, cut >= 0xd800 && cut < 0xdc00 ? n - 1 : n)}…`;
}
