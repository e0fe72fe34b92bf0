// SPDX-License-Identifier: MIT
// main.js - opens the recording and puts up the shell: tabs, search box, theme, notices, help.

import './style.css';
import { App } from './app.js';
import { loadModel } from './data.js';
import { button, element } from './dom.js';
import { FlamePane } from './flame.js';
import { Help } from './help.js';
import { HistogramsPane } from './histograms.js';
import { showNotices } from './notices.js';
import { SearchBox } from './search_box.js';
import { TablePane } from './table.js';
import { TimelinePane } from './timeline.js';

const PANES = [
	['timeline', 'Timeline', TimelinePane],
	['flame', 'Flame graph', FlamePane],
	['histograms', 'Histograms', HistogramsPane],
	['table', 'Events', TablePane],
];

/* Tabs as WAI-ARIA has them: one tab stop, arrows go between them. A pane is made when it is first shown. */
class Shell {
	constructor(doc, model, app) {
		this.doc = doc;
		this.model = model;
		this.app = app;
		this.panes = new Map();
		this.current = null;
		const list = doc.getElementById('tabs');
		for (const [name, title, make] of PANES)
			this.panes.set(name, this.#makeTab(list, name, title, make));
		list.addEventListener('keydown', (event) => this.#key(event));
		app.showPane = (name) => this.show(name);
		app.on('selection', (selection) => this.#each((pane) => pane.selectionChanged?.(selection)));
		app.on('theme', () => this.#each((pane) => pane.themeChanged?.()));
	}

	#makeTab(list, name, title, make) {
		const tab = button(title, () => this.show(name), { id: `tab-${name}`, role: 'tab', 'aria-controls': `pane-${name}`,
			'aria-selected': 'false', tabIndex: -1 });
		const panel = element('section', { id: `pane-${name}`, class: `pane pane-${name}`, role: 'tabpanel',
			'aria-labelledby': tab.id, hidden: true });
		list.append(tab);
		this.doc.getElementById('panes').append(panel);
		return { tab, element: panel, make, pane: null };
	}

	#each(use) {
		for (const { pane } of this.panes.values())
			if (pane)
				use(pane);
	}

	#key(event) {
		const names = PANES.map(([name]) => name);
		const at = names.indexOf(this.current);
		const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
		if (to === undefined)
			return;
		event.preventDefault();
		const name = names[(to + names.length) % names.length];
		this.show(name);
		this.panes.get(name).tab.focus();
	}

	show(name) {
		if (name === this.current)
			return;
		const previous = this.panes.get(this.current);
		if (previous) {
			previous.pane.hide?.();
			previous.element.hidden = true;
			previous.tab.setAttribute('aria-selected', 'false');
			previous.tab.tabIndex = -1;
		}
		this.current = name;
		const entry = this.panes.get(name);
		entry.element.hidden = false;
		entry.tab.setAttribute('aria-selected', 'true');
		entry.tab.tabIndex = 0;
		entry.pane ??= new entry.make(entry.element, this.model, this.app);
		entry.pane.show?.();
	}
}

function typing(target) {
	return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}

/* Keys that hold in every pane; those of a pane are the pane's. */
function globalKeys(doc, app, box, help) {
	doc.addEventListener('keydown', (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
			return;
		if (event.key === 'Escape' && help.open) {
			help.hide();
		} else if (typing(event.target)) {
			return;
		} else if (event.key === '/') {
			box.focus();
		} else if (event.key === '?') {
			help.toggle();
		} else {
			app.emit('key', event);
			return;
		}
		event.preventDefault();
	});
}

async function open(doc) {
	const model = await loadModel(doc);
	const app = new App(model, doc);
	doc.title = `${model.title} – hodo view`;
	doc.getElementById('title').textContent = model.title;
	doc.getElementById('title').title = model.dir;
	const shell = new Shell(doc, model, app);
	const help = new Help(doc);
	const box = new SearchBox(doc, app);
	doc.getElementById('theme').addEventListener('click', () => app.theme.toggle());
	doc.getElementById('help').addEventListener('click', () => help.toggle());
	globalKeys(doc, app, box, help);
	showNotices(doc.getElementById('notices'), model, app);
	doc.getElementById('opening').remove();
	shell.show('timeline');
	doc.documentElement.dataset.ready = 'true';
	globalThis.hodo = { app, model }; // for the console, and for tests
}

open(document).catch((error) => {
	const place = document.getElementById('opening');
	place.textContent = `The recording cannot be shown: ${error.message}.`;
	place.classList.add('failed');
	document.documentElement.dataset.ready = 'failed';
	throw error;
});
