/* Controls, keys, search, export: what joins the views. */

const views = {heads: headsView, matrix: matrixView, grid: gridView};
const foundSets = {q: new Set(), k: new Set()};
const isFound = (side, i) => foundSets[side].has(i);

let drawn = false;

function draw() {
	if (document.documentElement.dataset.theme !== themeName())
		document.documentElement.dataset.theme = themeName();
	views[state.view].draw();
	panel.draw();
	if (!drawn && cache.has(idOf(state.heads[0]))) {
		drawn = true;
		performance.mark('weights drawn');
	}
	loadNeighbours();
}

function setHover(token) {
	const same = token && state.hover ? token.side === state.hover.side && token.i === state.hover.i : token === state.hover;
	if (same && state.view !== 'matrix')
		return;
	state.hover = token;
	invalidate();
}

/* Choose a token, or none; `show` brings it into sight. */
function pin(token, show = true) {
	state.pinned = token;
	state.hover = null;
	if (token && show) {
		if (state.view === 'heads')
			headsView[token.side].reveal(token.i);
		else if (state.view === 'matrix')
			matrixView.reveal(token.side === 'q' ? token.i : -1, token.side === 'k' ? token.i : -1);
	}
	if (token)
		say(`${sideName(token.side)} ${tokenLabel(token.side, token.i)}: ${strongestText(token)}`);
	changed();
}

function strongestText(token) {
	const found = weightsOfToken(token);
	let best = null;
	for (const item of found ? found.values() : [])
		if (!best || item.w > best.w)
			best = item;
	return best ? `most ${token.side === 'q' ? 'to' : 'from'} ${tokenLabel(other(token.side), best.i)}, ${formatted(best.w)}` : 'masked';
}

function clearChoice() {
	state.pinned = state.hover = state.cell = null;
	matrixView.over = null;
	changed();
}

/* --- controls --- */

function setView(view) {
	state.view = view;
	state.hover = null;
	showView();
	changed();
}

function showView() {
	for (const name of Object.keys(views)) {
		$(`view-${name}`).hidden = name !== state.view;
		const tab = $(`tab-${name}`);
		tab.setAttribute('aria-selected', name === state.view);
		tab.tabIndex = name === state.view ? 0 : -1;
	}
	$('main').setAttribute('aria-labelledby', `tab-${state.view}`);
	document.documentElement.dataset.theme = themeName();
	views[state.view].show();
}

function setHeads(heads) {
	state.heads = heads;
	showControls();
	say(placeText());
	changed();
}

function chooseHead(head, add) {
	if (!add)
		return setHeads([head]);
	const rest = state.heads.filter((h) => h !== head);
	return setHeads(rest.length === state.heads.length ? [...rest, head] : rest.length ? rest : [head]);
}

function stepHead(step) {
	const count = meta.heads.length;
	setHeads([(state.heads[0] + step + count) % count]);
}

function stepLayer(step) {
	state.layer = clamp(state.layer + step, 0, meta.layers.length - 1);
	showControls();
	say(placeText());
	changed();
}

function showControls() {
	for (const button of $('heads').children) {
		const h = state.heads.indexOf(Number(button.dataset.head));
		button.setAttribute('aria-pressed', h >= 0);
		button.style.setProperty('--hue', h >= 0 ? hueOf(h) : 'transparent');
		button.tabIndex = h === 0 ? 0 : -1;
		if (h === 0) { /* scroll the row of heads alone */
			const row = $('heads'), x = button.offsetLeft - row.offsetLeft;
			if (x < row.scrollLeft || x + button.offsetWidth > row.scrollLeft + row.clientWidth)
				row.scrollLeft = x - row.clientWidth / 2;
		}
	}
	$('several').setAttribute('aria-pressed', state.several || state.heads.length > 1);
	for (const key of ['batch', 'layer', 'scale', 'transform', 'map'])
		$(key).value = state[key];
	if ($('search').value !== state.find)
		$('search').value = state.find;
}

function fillSelect(id, names) {
	$(id).replaceChildren(...names.map((name, i) => new Option(name, i)));
	$(`${id}-label`).hidden = names.length < 2;
}

function startControls() {
	$('title').textContent = meta.title;
	$('q-title').textContent = meta.cross ? 'query' : 'query';
	$('k-title').textContent = meta.cross ? 'key (source)' : 'key';
	fillSelect('batch', meta.batches);
	fillSelect('layer', meta.layers.map((l) => l[1]));
	$('map').replaceChildren(...Object.keys(meta.maps).map((name) => new Option(name, name)));
	$('map-label').hidden = meta.signed;
	meta.heads.forEach((_, h) => {
		const button = document.createElement('button');
		button.textContent = headName(h);
		button.title = headTitle(h);
		button.dataset.head = h;
		$('heads').append(button);
	});
	$('several').hidden = meta.heads.length < 2;
	$('heads').addEventListener('click', (event) => {
		if (event.target.dataset.head)
			chooseHead(Number(event.target.dataset.head), state.several || event.shiftKey || event.ctrlKey || event.metaKey);
	});
	$('several').addEventListener('click', () => {
		state.several = !state.several && state.heads.length === 1;
		setHeads(state.several ? state.heads : state.heads.slice(0, 1));
	});
	for (const key of ['batch', 'layer', 'scale', 'transform', 'map'])
		$(key).addEventListener('change', () => {
			state[key] = key === 'batch' || key === 'layer' ? Number($(key).value) : $(key).value;
			changed();
		});
	for (const name of Object.keys(views))
		$(`tab-${name}`).addEventListener('click', () => setView(name));
	$('theme').addEventListener('click', () => {
		state.theme = isDark() ? 'light' : 'dark';
		showControls();
		changed();
	});
	darkQuery.addEventListener('change', invalidate);
	for (const name of ['keys', 'about'])
		$(name === 'keys' ? 'help' : name).addEventListener('click', () => $(`${name}-dialog`).showModal());
	$('export-svg').addEventListener('click', exportSvg);
	$('export-png').addEventListener('click', exportPng);
}

/* --- search --- */

function find(text, jump) {
	const needle = text.toLowerCase();
	state.find = text;
	state.places = [];
	state.place = -1;
	for (const side of ['q', 'k']) {
		foundSets[side].clear();
		if (!needle)
			continue;
		for (let i = 0; i < tokens[side].length; i++) {
			if (!tokens[side][i].toLowerCase().includes(needle) && !rawTokens[side][i].toLowerCase().includes(needle))
				continue;
			foundSets[side].add(i);
			if (side === 'q' || meta.keyTokens)
				state.places.push({side, i});
		}
	}
	if (jump && state.places.length)
		jumpBy(1);
	showFound();
	changed();
}

function jumpBy(step) {
	const count = state.places.length;
	if (!count)
		return;
	state.place = state.place < 0 ? (step > 0 ? 0 : count - 1) : (state.place + step + count) % count;
	if (state.view === 'grid')
		setView('heads');
	pin(state.places[state.place]);
	showFound();
}

function showFound() {
	const count = state.places.length;
	$('found').textContent = !state.find ? '' : state.place < 0 ? String(count) : `${state.place + 1} of ${count}`;
	$('previous').disabled = $('next').disabled = !count;
}

function startSearch() {
	$('search').addEventListener('input', () => find($('search').value, true));
	$('search').addEventListener('keydown', (event) => {
		if (event.key === 'Enter')
			jumpBy(event.shiftKey ? -1 : 1);
		else if (event.key === 'Escape') {
			find('', false);
			$('search').value = '';
			$('search').blur();
			clearChoice();
		}
		event.stopPropagation();
	});
	$('previous').addEventListener('click', () => jumpBy(-1));
	$('next').addEventListener('click', () => jumpBy(1));
}

/* --- keys --- */

function stepToken(step) {
	const token = state.pinned || {side: 'q', i: step > 0 ? -1 : 0};
	const count = token.side === 'q' ? meta.queries : meta.keys;
	pin({side: token.side, i: clamp(token.i + step, 0, count - 1)});
}

function stepCell(dq, dk) {
	const cell = state.cell || {q: state.pinned && state.pinned.side === 'q' ? state.pinned.i : 0, k: 0};
	state.cell = {q: clamp(cell.q + dq, 0, meta.queries - 1), k: clamp(cell.k + dk, 0, meta.keys - 1)};
	matrixView.over = null;
	matrixView.reveal(state.cell.q, state.cell.k);
	pin({side: 'q', i: state.cell.q}, false);
	say(matrixView.readout(state.cell).replace(/\n/g, ', '));
}

function swapSide() {
	const token = state.pinned || {side: 'k', i: 0}, side = other(token.side);
	pin({side, i: Math.min(token.i, (side === 'q' ? meta.queries : meta.keys) - 1)});
	if (state.view === 'heads')
		$(`${side}-list`).focus();
}

const keys = {
	'ArrowUp': () => stepToken(-1), 'ArrowDown': () => stepToken(1),
	'ArrowLeft': () => stepHead(-1), 'ArrowRight': () => stepHead(1),
	'[': () => stepHead(-1), ']': () => stepHead(1), '{': () => stepLayer(-1), '}': () => stepLayer(1),
	't': swapSide, '1': () => setView('heads'), '2': () => setView('matrix'), '3': () => setView('grid'),
	'+': () => matrixView.zoomAt(1.5), '=': () => matrixView.zoomAt(1.5), '-': () => matrixView.zoomAt(1 / 1.5),
	'0': () => matrixView.fit(),
	'/': () => { $('search').focus(); $('search').select(); },
	'?': () => $('keys-dialog').showModal(), 'Escape': clearChoice,
};
const cellKeys = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

function pressed(event) {
	const target = event.target, open = document.querySelector('dialog[open]');
	if (event.ctrlKey || event.altKey || event.metaKey || open || target.matches('select, input'))
		return;
	if (target.matches('[role=tab]') && /^Arrow(Left|Right)$/.test(event.key)) {
		const names = Object.keys(views), at = names.indexOf(state.view) + (event.key === 'ArrowRight' ? 1 : -1);
		setView(names[(at + names.length) % names.length]);
		$(`tab-${state.view}`).focus();
	} else if (target.parentElement === $('heads') && event.key.startsWith('Arrow')) {
		stepHead(/Right|Down/.test(event.key) ? 1 : -1);
		$('heads').children[state.heads[0]].focus();
	} else if (target === matrixView.canvas && cellKeys[event.key])
		stepCell(...cellKeys[event.key]);
	else if (keys[event.key] && !('+-=0'.includes(event.key) && state.view !== 'matrix'))
		keys[event.key]();
	else
		return;
	event.preventDefault();
}

/* --- export --- */

function saveFile(blob, ending) {
	const link = document.createElement('a'), name = `${meta.title} ${placeText()} ${state.view}`;
	link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '')}.${ending}`;
	link.href = URL.createObjectURL(blob);
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function exportSvg() {
	const surface = views[state.view].picture((w, h) => new SvgSurface(Math.ceil(w), Math.ceil(h)));
	saveFile(new Blob([surface.toString()], {type: 'image/svg+xml'}), 'svg');
}

function exportPng() {
	const canvas = document.createElement('canvas');
	views[state.view].picture((w, h) => {
		canvas.width = Math.ceil(w * 2);
		canvas.height = Math.ceil(h * 2);
		const context = canvas.getContext('2d');
		context.scale(2, 2);
		return new CanvasSurface(context);
	});
	canvas.toBlob((blob) => saveFile(blob, 'png'), 'image/png');
}

/* --- about --- */

function fillAbout() {
	const end = $('end'), bytes = end ? JSON.parse(end.textContent).bytes : 0, list = document.createElement('dl');
	const size = bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
	const digits = 10 ** (1 - Math.floor(Math.log10(100 * meta.error)));
	const error = `${Number((Math.ceil(100 * meta.error * digits) / digits).toPrecision(2))} %`; /* rounded up */
	const rows = [
		['Inputs', meta.inputs.join(', ')],
		['Size', `${meta.layers.length} × ${meta.batches.length} × ${meta.heads.length} × ${meta.queries} × ${meta.keys} (layers, batch items, heads, queries, keys)`],
		['Weights', `${meta.bits} bits each, on a square-root scale: at most ${error} of the query’s largest weight from the exact one` +
			(meta.top ? `; of each query the ${meta.top} keys with the largest weights` : '')],
		['This page', `${size}, made by ${meta.program}; it needs no network and sends nothing`],
	];
	for (const [name, value] of rows) {
		const term = document.createElement('dt'), text = document.createElement('dd');
		term.textContent = name;
		text.textContent = value;
		list.append(term, text);
	}
	const word = document.createElement('p');
	word.textContent = meta.difference
		? 'Rows are queries, columns are keys, and each number is the weight of A less that of B, in one head of one layer.'
		: 'Rows are queries, columns are keys: a weight says how much a query takes from a key, in one head of one layer. ' +
			'It is not an explanation of what a model decided.';
	$('about-text').replaceChildren(list, word);
}

/* --- the beginning --- */

function applyAddress() {
	restore();
	find(state.find, false);
	showControls();
	showView();
	if (state.pinned && state.view === 'heads' && !state.top)
		headsView[state.pinned.side].reveal(state.pinned.i);
	invalidate();
}

function resized() {
	views[state.view].resize();
	changed();
}

function allHere() {
	complete = true;
	findSharedLargest();
	fillAbout();
	if (!$('end'))
		note('This page is incomplete: its file was cut off.');
	else if (meta.top)
		note(`${meta.queries} × ${meta.keys} weights are many: of each query the page keeps the ${meta.top} keys with the largest weights.`);
	resized();
}

function start() {
	document.documentElement.dataset.theme = themeName();
	findSharedLargest();
	startControls();
	startSearch();
	panel.start();
	for (const view of Object.values(views))
		view.start();
	applyAddress();
	new ResizeObserver(resized).observe($('main'));
	addEventListener('hashchange', applyAddress);
	document.addEventListener('keydown', pressed);
	document.addEventListener('DOMContentLoaded', allHere);
}

start();
