// SPDX-License-Identifier: MIT
// dom.js - elements whose texts are texts. Whatever comes from the recording goes through element() or textContent: it is
// never parsed as HTML.

/* An element with properties and children; texts become text nodes. Names with a "-", and role, are attributes. */
export function element(tag, properties = {}, ...children) {
	const made = document.createElement(tag);
	for (const [key, value] of Object.entries(properties)) {
		if (key.startsWith('on'))
			made.addEventListener(key.slice(2), value);
		else if (key.includes('-') || key === 'role')
			made.setAttribute(key, value);
		else if (key === 'class')
			made.className = value;
		else
			made[key] = value;
	}
	made.append(...children);
	return made;
}

/* A button. properties: as those of element(). */
export function button(text, act, properties = {}) {
	return element('button', { type: 'button', onclick: act, ...properties }, text);
}

/* Follows the pointer from a press to its release. begin(event) gives what is called when it moves. */
export function onDrag(target, begin) {
	let move = null;
	target.addEventListener('pointerdown', (event) => {
		if (event.button !== 0)
			return;
		target.setPointerCapture(event.pointerId);
		move = begin(event);
	});
	target.addEventListener('pointermove', (event) => move?.(event));
	target.addEventListener('lostpointercapture', () => { move = null; });
}

/* actions(event): what is done, by key; letters are small ones. */
export function onKeys(target, actions) {
	target.addEventListener('keydown', (event) => {
		if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented)
			return;
		const act = actions(event)?.[event.key.length === 1 ? event.key.toLowerCase() : event.key];
		if (!act)
			return;
		event.preventDefault();
		event.stopPropagation();
		act();
	});
}
