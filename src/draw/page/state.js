/* What the page holds, what it shows, and the permalink that says so. */

const $ = (id) => document.getElementById(id);
const meta = JSON.parse($('meta').textContent);
const shares = codeTable();
const tokens = {q: meta.queryTokens, k: meta.keyTokens || meta.queryTokens};
const rawTokens = {q: meta.queryRaw || tokens.q, k: meta.keyRaw || (meta.keyTokens ? tokens.k : meta.queryRaw || tokens.q)};
const other = (side) => (side === 'q' ? 'k' : 'q');
const sideName = (side) => (side === 'q' ? 'query' : 'key');

/* Rows of many keys have small weights, which a linear scale would leave pale. */
const usualTransform = meta.keys > 64 ? 'sqrt' : 'linear';

/* Places in the lists of meta; tokens are {side, i}. */
const state = {
	view: 'heads', batch: 0, layer: 0, heads: [0], several: false,
	scale: 'all', transform: '', map: 'ink', theme: '',
	pinned: null, hover: null, cell: null,
	find: '', places: [], place: -1,
	zoom: 0, x: 0, y: 0, /* of the matrix: pixels a cell (0: it fits), cells at the left and top edge */
	top: 0, /* pixels that the queries are scrolled by */
};

const darkQuery = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (state.theme ? state.theme === 'dark' : darkQuery.matches);

function headName(h) {
	const [number, name] = meta.heads[h];
	if (meta.joinedHeads)
		return name;
	return name && name !== String(number) ? `${number} ${name}` : String(number);
}

const headTitle = (h) => (meta.joinedHeads ? headName(h) : `head ${headName(h)}`);

/* "layer 3", or what several are joined to: "mean of 12 layers". */
function layerTitle(l) {
	const name = meta.layers[l][1];
	return typeof name === 'string' ? name : `layer ${name}`;
}

function placeText() {
	const heads = state.heads.length === 1 ? headTitle(state.heads[0])
		: `heads ${state.heads.map((h) => meta.heads[h][0]).join(', ')}`;
	return (meta.hasBatch ? `batch ${meta.batches[state.batch]}, ` : '') +
		(meta.layerKnown ? `${layerTitle(state.layer)}, ` : '') + heads;
}

/* The scale, for pictures that leave the page. */
function scaleText(head) {
	const top = scaleTop(head), low = meta.signed ? `−${formatted(top)}` : '0';
	return `colours from ${low} to ${formatted(top)}${state.transform === 'sqrt' ? ', square root' : ''}`;
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/* --- weights, as they are asked for --- */

const CACHE_BYTES = 96e6;
const cache = new Map(), loading = new Map();
let complete = false, sharedLargest = 0;

const weightsId = (layer, batch, head) => `w-${meta.layers[layer][0]}-${meta.batches[batch]}-${meta.heads[head][0]}`;
const idOf = (head) => weightsId(state.layer, state.batch, head);
const elementLargest = (id) => Number(($(id) || {dataset: {max: 0}}).dataset.max);

/* An element is whole once something follows it. */
function wholeElement(id) {
	const element = $(id);
	return element && (complete || element.nextElementSibling) ? element : null;
}

async function load(id) {
	let element = wholeElement(id);
	while (!element) {
		if (complete)
			throw new Error('the page is incomplete');
		await new Promise((go) => { setTimeout(go, 10); });
		element = wholeElement(id);
	}
	if (!complete)
		findSharedLargest(); /* of those that are here */
	const weights = new Weights(await inflate(bytesOf(element.textContent)));
	cache.set(id, weights);
	let bytes = 0;
	for (const [key, w] of [...cache].reverse()) {
		bytes += w.size;
		if (bytes > CACHE_BYTES && key !== id)
			cache.delete(key);
	}
	return weights;
}

function loadOnce(id) {
	if (!loading.has(id)) {
		const promise = load(id).finally(() => loading.delete(id));
		loading.set(id, promise);
	}
	return loading.get(id);
}

/* The weights of a head if they are there; else null, and the page is drawn again when they are. */
function weightsOf(head) {
	const id = idOf(head), found = cache.get(id);
	if (found) {
		cache.delete(id); /* to the end: the last used */
		cache.set(id, found);
		return found;
	}
	loadOnce(id).then(() => invalidate(), (error) => note(`Weights could not be read: ${error.message}.`));
	return null;
}

/* The next head, so that it is there when it is wanted. */
function loadNeighbours() {
	if (state.heads.length !== 1 || !complete)
		return;
	for (const step of [1, -1]) {
		const head = state.heads[0] + step;
		if (head >= 0 && head < meta.heads.length && !cache.has(idOf(head)))
			loadOnce(idOf(head)).catch(() => {});
	}
}

/* --- the scale --- */

function findSharedLargest() {
	sharedLargest = 0;
	for (const element of document.querySelectorAll('script[data-max]'))
		sharedLargest = Math.max(sharedLargest, Number(element.dataset.max));
}

function scaleTop(head) {
	const own = state.scale === 'one' ? 1 : state.scale === 'head' ? elementLargest(idOf(head)) : sharedLargest;
	return own > 0 ? own : 1;
}

/* From a magnitude to a share of the scale. */
function shareOf(weight, top) {
	const share = Math.min(Math.abs(weight) / top, 1);
	return state.transform === 'sqrt' ? Math.sqrt(share) : share;
}

function formatted(weight) {
	const size = Math.abs(weight);
	if (size === 0)
		return '0';
	const text = size >= 0.00995 ? size.toFixed(3) : size >= 0.0000995 ? Number(size.toPrecision(2)).toFixed(size < 0.000995 ? 5 : 4) : size.toExponential(1);
	return (weight < 0 ? '−' : '') + text;
}

/* The weights of a token, averaged over the chosen heads: [{i, w, parts}], masked ones NaN; null
 * while they are not there. */
function weightsOfToken(token) {
	const heads = state.heads.map(weightsOf);
	if (heads.includes(null))
		return null;
	const found = new Map();
	heads.forEach((weights, h) => {
		weights[token.side === 'q' ? 'row' : 'column'](token.i, (i, w) => {
			let item = found.get(i);
			if (!item)
				found.set(i, item = {i, w: 0, parts: new Float32Array(heads.length)});
			item.w += w / heads.length;
			item.parts[h] = w;
		});
	});
	return found;
}

/* --- the permalink --- */

function fragment() {
	const f = new URLSearchParams();
	f.set('view', state.view);
	if (meta.batches.length > 1)
		f.set('batch', meta.batches[state.batch]);
	if (meta.layers.length > 1)
		f.set('layer', meta.layers[state.layer][1]);
	f.set('head', state.heads.map((h) => meta.heads[h][0]).join(','));
	for (const [key, usual] of [['scale', 'all'], ['transform', usualTransform], ['map', 'ink'], ['theme', ''], ['find', '']])
		if (state[key] !== usual)
			f.set(key, state[key]);
	if (state.pinned)
		f.set(sideName(state.pinned.side), state.pinned.i);
	if (state.cell)
		f.set('cell', `${state.cell.q},${state.cell.k}`);
	if (state.zoom)
		f.set('zoom', [state.zoom, state.x, state.y].map((v) => Number(v.toFixed(2))).join(','));
	if (state.top)
		f.set('top', Math.round(state.top));
	return f.toString().replace(/%2C/g, ',');
}

function restore() {
	const f = new URLSearchParams(location.hash.slice(1));
	const pick = (key, list, read) => {
		const at = list.findIndex((item) => String(read(item)) === f.get(key));
		return Math.max(at, 0);
	};
	const oneOf = (key, list, usual) => (list.includes(f.get(key)) ? f.get(key) : usual);
	const index = (text, count) => {
		const i = /^\d+$/.test(text || '') ? Number(text) : -1;
		return i >= 0 && i < count ? i : -1;
	};
	state.view = oneOf('view', ['heads', 'matrix', 'grid'], 'heads');
	state.batch = pick('batch', meta.batches, (b) => b);
	state.layer = pick('layer', meta.layers, (l) => l[1]);
	const heads = (f.get('head') || '').split(',').map((n) => meta.heads.findIndex((h) => String(h[0]) === n));
	state.heads = [...new Set(heads.filter((h) => h >= 0))];
	if (!state.heads.length)
		state.heads = [0];
	state.several = state.heads.length > 1;
	state.scale = oneOf('scale', ['all', 'head', 'one'], 'all');
	state.transform = oneOf('transform', ['linear', 'sqrt'], usualTransform);
	state.map = oneOf('map', Object.keys(meta.maps), 'ink');
	state.theme = oneOf('theme', ['light', 'dark'], '');
	const q = index(f.get('query'), meta.queries), k = index(f.get('key'), meta.keys);
	state.pinned = q >= 0 ? {side: 'q', i: q} : k >= 0 ? {side: 'k', i: k} : null;
	const [cellQ, cellK] = (f.get('cell') || '').split(',');
	state.cell = index(cellQ, meta.queries) >= 0 && index(cellK, meta.keys) >= 0 ? {q: Number(cellQ), k: Number(cellK)} : null;
	const zoom = (f.get('zoom') || '').split(',').map(Number);
	const given = zoom.length === 3 && zoom.every(Number.isFinite) && zoom[0] > 0;
	[state.zoom, state.x, state.y] = given ? [clamp(zoom[0], 1e-3, 96), zoom[1], zoom[2]] : [0, 0, 0];
	state.top = Math.max(Number(f.get('top')) || 0, 0);
	state.find = (f.get('find') || '').slice(0, 1000);
}

let saving = 0;

/* Browsers refuse many changes of the address in a short time. */
function save() {
	clearTimeout(saving);
	saving = setTimeout(() => {
		if (`#${fragment()}` !== location.hash)
			history.replaceState(null, '', `#${fragment()}`);
	}, 250);
}

/* --- drawing, once a frame --- */

let frame = 0;

function invalidate() {
	if (!frame)
		frame = requestAnimationFrame(() => {
			frame = 0;
			draw();
		});
}

/* After a change of what is shown: draw, and put it into the address. */
function changed() {
	invalidate();
	save();
}

function note(text) {
	$('note').textContent = text;
	$('note').hidden = !text;
}

function say(text) {
	if ($('live').textContent !== text)
		$('live').textContent = text;
}

/* The token that is looked at: under the pointer, else the chosen one. */
const active = () => state.hover || state.pinned;
const tokenText = (side, i) => tokens[side][i];
/* Isolated, so that a word written from right to left moves nothing around it. */
const isolated = (text) => `\u2068${text}\u2069`;
const tokenLabel = (side, i) => (meta.hasTokens ? `${isolated(tokenText(side, i).slice(0, 200))} (${i})` : String(i));
