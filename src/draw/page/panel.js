/* The panel at the side: the scale, and the ranking of a token, or of the head's pairs. */

const RANKED = 14;
const pairCache = new WeakMap();

/* The pairs of a head with the largest magnitudes. */
function strongestPairs(weights) {
	let found = pairCache.get(weights);
	if (found)
		return found;
	found = [];
	for (let q = 0; q < meta.queries; q++) {
		if (found.length === RANKED && weights.largest[q] <= Math.abs(found[RANKED - 1].w))
			continue;
		weights.row(q, (k, w) => {
			if (w === 0 || (found.length === RANKED && Math.abs(w) <= Math.abs(found[RANKED - 1].w)))
				return;
			let at = found.length;
			while (at > 0 && Math.abs(found[at - 1].w) < Math.abs(w))
				at--;
			found.splice(at, 0, {q, k, w});
			found.length = Math.min(found.length, RANKED);
		});
	}
	pairCache.set(weights, found);
	return found;
}

const panel = {
	items: [],

	start() {
		for (let i = 0; i < RANKED; i++) {
			const item = document.createElement('li'), button = document.createElement('button');
			const word = document.createElement('span'), weight = document.createElement('span'), bar = document.createElement('span');
			word.className = 'word';
			bar.className = 'bar';
			button.append(word, weight, bar);
			item.append(button);
			$('ranking').append(item);
			const entry = {item, word, weight, bar, go: null};
			button.addEventListener('click', () => entry.go && entry.go());
			this.items.push(entry);
		}
		$('clear').addEventListener('click', clearChoice);
	},

	/* `words` are one token, or the two of a pair: each keeps to its own direction. */
	set(entry, words, index, weight, parts, go) {
		const number = document.createElement('small');
		const shown = words.map((text) => {
			const word = document.createElement('bdi');
			word.textContent = text.length > 300 ? `${text.slice(0, 300)}…` : text;
			return word;
		});
		if (shown.length > 1)
			shown.splice(1, 0, ' → ');
		number.textContent = index;
		entry.word.replaceChildren(...shown, ' ', number);
		entry.weight.textContent = formatted(weight);
		entry.bar.replaceChildren(...parts.map(([colour, share]) => {
			const part = document.createElement('i');
			part.style.background = colour;
			part.style.width = `${(100 * share).toFixed(2)}%`;
			return part;
		}));
		entry.go = go;
		entry.item.hidden = false;
	},

	ranking(token) {
		const found = weightsOfToken(token), to = other(token.side);
		if (!found)
			return 0;
		const all = [...found.values()].filter((item) => item.w !== 0);
		all.sort((a, b) => b.w - a.w || a.i - b.i);
		const top = Math.max(...state.heads.map(scaleTop));
		all.slice(0, RANKED).forEach((item, n) => {
			const parts = [...item.parts].map((w, h) => [hueOf(h, w), Math.min(Math.abs(w) / top / item.parts.length, 1)]);
			this.set(this.items[n], [tokenText(to, item.i)], meta.hasTokens ? item.i : '', item.w, parts, () => this.go(token, to, item.i));
		});
		const what = token.side === 'q' ? (all.length === 1 ? 'key' : 'keys') : (all.length === 1 ? 'query' : 'queries');
		const kept = meta.top && token.side === 'q' ? ' kept' : '';
		$('panel-note').textContent = `${token.side === 'q' ? 'attends to' : 'is attended by'} ${all.length} ${what}${kept}` +
			(all.length > RANKED ? `; the first ${RANKED}` : '') + (state.heads.length > 1 ? `; mean of ${state.heads.length} heads` : '');
		return Math.min(all.length, RANKED);
	},

	go(token, to, i) {
		if (state.view === 'matrix') {
			state.cell = token.side === 'q' ? {q: token.i, k: i} : {q: i, k: token.i};
			matrixView.reveal(state.cell.q, state.cell.k);
			pin({side: 'q', i: state.cell.q}, false);
			return;
		}
		pin({side: to, i}, true);
	},

	pairs() {
		const weights = weightsOf(state.heads[0]);
		if (!weights)
			return 0;
		const pairs = strongestPairs(weights), top = scaleTop(state.heads[0]);
		pairs.forEach(({q, k, w}, n) => this.set(this.items[n], [tokenText('q', q), tokenText('k', k)],
			meta.hasTokens ? `${q} → ${k}` : '', w, [[hueOf(0, w), Math.min(Math.abs(w) / top, 1)]], () => {
				state.cell = {q, k};
				pin({side: 'q', i: q}, true);
			}));
		$('panel-note').textContent = state.heads.length > 1 ? `query → key, of ${headTitle(state.heads[0])}` : 'query → key';
		return pairs.length;
	},

	draw() {
		const token = active();
		const title = token ? `${sideName(token.side)} ${tokenLabel(token.side, token.i)}` : 'Strongest pairs';
		$('panel-title').textContent = title;
		const used = token ? this.ranking(token) : this.pairs();
		for (let i = used; i < RANKED; i++)
			this.items[i].item.hidden = true;
		$('clear').hidden = !state.pinned && !state.cell;
		this.legend();
	},

	legend() {
		const canvas = $('legend'), {w, h, ratio} = fitCanvas(canvas), c = canvas.getContext('2d');
		const top = scaleTop(state.heads[0]), low = meta.signed ? -top : 0, wide = w - 70;
		fillRamp();
		const key = [w, h, ratio, top, rampKey, state.transform, state.scale].join(' ');
		if (key === this.legendKey)
			return;
		this.legendKey = key;
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.clearRect(0, 0, w, h);
		for (let x = 0; x < wide; x++) {
			c.fillStyle = rampCss(Math.round(x / (wide - 1) * (RAMP - 1)));
			c.fillRect(x, 2, Math.min(1.5, wide - x), 11);
		}
		const surface = new CanvasSurface(c);
		surface.frame(0.5, 2.5, wide - 1, 10, lineColour());
		const middle = meta.signed ? 0 : (state.transform === 'sqrt' ? 0.25 : 0.5) * top;
		const number = (v) => (v === 0 ? '0' : v.toFixed(Math.abs(v) < 0.0995 ? 3 : 2).replace('-', '−'));
		[[low, 0, 'left'], [middle, wide / 2, 'center'], [top, wide, 'right']].forEach(([v, x, align]) =>
			surface.text(number(v), x, 25, {size: 12, align, colour: mutedColour()}));
		surface.hatch(w - 50, 2, 11, 11);
		surface.text('masked', w - 50, 25, {size: 12, colour: mutedColour()});
		const what = meta.difference ? 'difference' : 'weight';
		const scales = {all: `up to the largest ${what} of all heads`, head: `up to this head’s largest ${what}`, one: 'from 0 to 1'};
		$('legend-text').textContent = `${scales[state.scale]}${state.transform === 'sqrt' ? ', square root' : ''}`;
	},
};
