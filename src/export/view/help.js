// SPDX-License-Identifier: MIT
// help.js - the overlay that tells keys and gestures.

const SECTIONS = [
	['Move', [
		[['W', 'S'], 'zoom in, out'],
		[['A', 'D'], 'earlier, later'],
		[['Ctrl', 'wheel'], 'zoom at the pointer; two fingers do too'],
		[['Shift', 'wheel'], 'earlier, later'],
		[['Shift', 'drag'], 'move the view; so does the middle button'],
		[['F'], 'zoom to the chosen slice, or to the selected area'],
		[['0'], 'all of the recording'],
	]],
	['Choose', [
		[['click'], 'a slice, point or value: its details'],
		[['←', '→'], 'the one before, after on its row'],
		[['↑', '↓'], 'its parent, its child; then the next track'],
		[['Home', 'End'], 'first, last of its row'],
		[['[', ']'], 'the one before, after of the same name; , and . too'],
		[['Esc'], 'nothing'],
	]],
	['Select and measure', [
		[['drag'], 'an area: statistics of what is in it'],
		[['Shift', '← →'], 'the same by keys: from slice to slice'],
		[['M'], 'mark the chosen slice or the area; again: remove the mark'],
		[['double click'], 'select the time of a slice on its track'],
	]],
	['Find', [
		[['/'], 'search names and fields'],
		[['Enter'], 'next match'],
		[['Shift', 'Enter'], 'the match before'],
		[['?'], 'this help'],
	]],
	['In the other views', [
		[['←', '→', '↑', '↓'], 'along the flame graph, a histogram, a table'],
		[['Enter'], 'flame graph: zoom in; table: show in the timeline'],
		[['Esc'], 'flame graph: zoom out; histogram: no bucket'],
		[['T'], 'flame graph: the longest in the timeline'],
	]],
];

function makeSection(doc, title, rows) {
	const section = doc.createElement('section');
	const heading = doc.createElement('h3');
	heading.textContent = title;
	const list = doc.createElement('dl');
	for (const [keys, text] of rows) {
		const term = doc.createElement('dt');
		for (const key of keys) {
			const kbd = doc.createElement('kbd');
			kbd.textContent = key;
			term.append(kbd, ' ');
		}
		const description = doc.createElement('dd');
		description.textContent = text;
		list.append(term, description);
	}
	section.append(heading, list);
	return section;
}

export class Help {
	constructor(doc) {
		this.doc = doc;
		this.dialog = doc.createElement('dialog');
		this.dialog.className = 'help';
		this.dialog.setAttribute('aria-labelledby', 'help-title');
		const title = doc.createElement('h2');
		title.id = 'help-title';
		title.textContent = 'Keys and gestures';
		const close = doc.createElement('button');
		close.type = 'button';
		close.className = 'icon close';
		close.setAttribute('aria-label', 'Close');
		close.textContent = '×';
		close.addEventListener('click', () => this.hide());
		const columns = doc.createElement('div');
		columns.className = 'columns';
		columns.append(...SECTIONS.map(([name, rows]) => makeSection(doc, name, rows)));
		this.dialog.append(close, title, columns);
		const licences = doc.getElementById('hodo-licences');
		if (licences) {
			const details = doc.createElement('details');
			const summary = doc.createElement('summary');
			summary.textContent = 'Licences of what this page is made with';
			const text = doc.createElement('pre');
			text.textContent = licences.textContent.trim();
			details.append(summary, text);
			this.dialog.append(details);
		}
		this.dialog.addEventListener('click', (event) => {
			if (event.target === this.dialog)
				this.hide(); // beside it
		});
		doc.body.append(this.dialog);
	}

	get open() {
		return this.dialog.open;
	}

	toggle() {
		if (this.open)
			this.hide();
		else
			this.dialog.showModal();
	}

	hide() {
		this.dialog.close();
	}
}
