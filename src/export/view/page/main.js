// SPDX-License-Identifier: MIT
// main.js - opens the recording and puts up the shell: tabs, search box, theme, notices, help.

import './style.css';
import { App } from './app.js';
import { Comparison } from './data/compare.js';
import { loadModel } from './data/data.js';
import { button, element, onKeys } from './dom.js';
import { FlamePane } from './panes/flame.js';
import { makeHelp } from './help.js';
import { HistogramsPane } from './panes/histograms.js';
import { showNotices } from './notices.js';
import { SearchBox } from './search_box.js';
import { TablePane } from './panes/table.js';
import { TimelinePane } from './timeline/timeline.js';

const SIDES = { before: 'Before', after: 'After' };

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
		onKeys(list, () => this.#keys());
		app.showPane = (name) => this.show(name);
	}

	#makeTab(list, name, title, make) {
		const tab = button(title, () => this.show(name), { id: `tab-${name}`, role: 'tab', 'aria-controls': `pane-${name}` });
		const panel = element('section', { id: `pane-${name}`, class: `pane pane-${name}`, role: 'tabpanel',
			'aria-labelledby': tab.id });
		list.append(tab);
		this.doc.getElementById('panes').append(panel);
		return { tab, element: panel, make, pane: null };
	}

	#keys() {
		const names = PANES.map(([name]) => name);
		const at = names.indexOf(this.current);
		const go = (to) => () => {
			const name = names[(to + names.length) % names.length];
			this.show(name);
			this.panes.get(name).tab.focus();
		};
		return { ArrowLeft: go(at - 1), ArrowRight: go(at + 1), Home: go(0), End: go(names.length - 1) };
	}

	/* To the pane that is shown. */
	focus() {
		const { pane } = this.panes.get(this.current);
		if (pane.focus)
			pane.focus();
		else
			this.doc.getElementById('panes').focus();
	}

	show(name) {
		if (name === this.current)
			return;
		this.panes.get(this.current)?.pane.hide();
		this.current = name;
		for (const [each, { tab, element: place }] of this.panes) {
			place.hidden = each !== name;
			tab.setAttribute('aria-selected', String(each === name));
			tab.tabIndex = each === name ? 0 : -1;
		}
		const entry = this.panes.get(name);
		entry.pane ??= new entry.make(entry.element, this.model, this.app);
		entry.pane.show();
	}
}

/* Keys that hold in every pane, and the timeline's; those of other panes are on their elements. */
function globalKeys(doc, app, box, help) {
	onKeys(doc, (event) => {
		if (help.open)
			return { '?': () => help.close() };
		const typing = event.target instanceof Element && event.target.matches('input[type=search], select');
		return typing ? null : { '/': () => box.focus(), '?': () => help.showModal(), ...app.keys(event) };
	});
}

/* What the page shows: the recording, or with --diff one of two, as the address's "#before" or "#after" says. */
async function loadAll(doc) {
	const before = await loadModel(doc);
	if (!doc.getElementById('hodo-after'))
		return { model: before, comparison: null };
	const after = await loadModel(doc, 'hodo-after', 'hodo-after-text');
	const model = doc.location.hash === '#before' ? before : after;
	globalThis.addEventListener('hashchange', () => doc.location.reload());
	return { model, comparison: new Comparison(before, after, model) };
}

/* Which of two recordings the timeline and the events are of. */
function showSides(doc, comparison) {
	const links = comparison.links.map(({ side, title, href, current }) => element('a', { href, title,
		'aria-current': String(current) }, SIDES[side]));
	doc.getElementById('title').after(element('nav', { class: 'sides', 'aria-label': 'Recording that is shown' }, ...links));
}

async function open(doc) {
	const { model, comparison } = await loadAll(doc);
	const app = new App(model, doc, comparison);
	const title = comparison ? `${comparison.before.title} → ${comparison.after.title}` : model.title;
	doc.title = `${title} – hodo view`;
	doc.getElementById('title').textContent = title;
	doc.getElementById('title').title = comparison ? `${comparison.before.dir} → ${comparison.after.dir}` : model.dir;
	if (comparison)
		showSides(doc, comparison);
	const shell = new Shell(doc, model, app);
	const help = makeHelp(doc);
	const box = new SearchBox(doc, app, () => shell.focus());
	doc.getElementById('theme').addEventListener('click', () => app.theme.toggle());
	doc.getElementById('help').addEventListener('click', () => help.showModal());
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
