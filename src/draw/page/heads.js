/* The view of tokens: queries left, keys right, lines as strong as the weights between them. */

const LINES = 4000;      /* drawn at a time, the strongest */
const EDGES = 30000;     /* kept of a head, the strongest */
const LEVELS = 24;       /* of strength */
const FAINTEST = 1 / 40; /* share of the scale from which a line is seen */

/* The strongest weights of a head by level, strongest first: [[q, k, q, k, ...], ...]. */
const edgeCache = new WeakMap();
const strengthOf = (weight, top) => Math.min(Math.abs(weight) / top, 1); /* linear under any scale */

function edgesOf(weights, top) {
	const key = top, known = edgeCache.get(weights);
	if (known && known.key === key)
		return known;
	const levels = Array.from({length: LEVELS}, () => []), below = Array.from({length: LEVELS}, () => []);
	for (let q = 0; q < meta.queries; q++) {
		if (strengthOf(weights.largest[q], top) < FAINTEST)
			continue;
		weights.row(q, (k, w) => {
			const share = strengthOf(w, top);
			if (share >= FAINTEST)
				(w < 0 ? below : levels)[Math.min(Math.floor(share * LEVELS), LEVELS - 1)].push(q, k);
		});
	}
	let count = 0;
	const found = {key, levels, below, cut: false};
	for (let l = LEVELS - 1; l >= 0; l--) {
		count += (levels[l].length + below[l].length) / 2;
		if (count > EDGES && l < LEVELS - 1) {
			found.cut = found.cut || levels[l].length + below[l].length > 0;
			levels[l] = [];
			below[l] = [];
		}
	}
	edgeCache.set(weights, found);
	return found;
}

/* A column of tokens: only those in sight have elements. */
class TokenList {
	constructor(side) {
		this.side = side;
		this.element = $(`${side}-list`);
		this.inner = this.element.firstElementChild;
		this.rows = new Map();
		this.top = 0;
		this.height = 0;
		this.count = side === 'q' ? meta.queries : meta.keys;
		this.rowHeight = 0;
		this.element.addEventListener('scroll', () => this.scrolled());
		this.element.addEventListener('pointermove', (event) => event.pointerType !== 'touch' && this.over(event));
		this.element.addEventListener('pointerleave', () => setHover(null));
		this.element.addEventListener('click', (event) => this.clicked(event));
		this.element.addEventListener('focus', () => this.focused());
	}

	/* Few tokens stand further apart, as far as there is room. */
	resize() {
		this.height = this.element.clientHeight;
		const height = clamp(Math.floor(this.height / Math.max(meta.queries, meta.keys)), 22, 34);
		if (height === this.rowHeight)
			return;
		this.rowHeight = height;
		this.inner.style.height = `${this.count * height}px`;
		this.inner.replaceChildren();
		this.rows.clear();
	}

	scrolled() {
		this.top = this.element.scrollTop;
		if (this.side === 'q')
			state.top = this.top;
		if (headsView.linked) {
			const list = headsView[other(this.side)];
			if (Math.abs(list.top - this.top) > 1) {
				list.element.scrollTop = this.top;
				list.top = list.element.scrollTop;
			}
		}
		changed();
	}

	indexOf(event) {
		const row = event.target.closest('.token');
		return row ? Number(row.dataset.i) : -1;
	}

	over(event) {
		const i = this.indexOf(event);
		setHover(i < 0 ? null : {side: this.side, i});
	}

	clicked(event) {
		const i = this.indexOf(event), same = state.pinned && state.pinned.side === this.side && state.pinned.i === i;
		if (i >= 0)
			pin(same ? null : {side: this.side, i});
		if (same)
			setHover(null);
	}

	/* By keyboard, a list without a chosen token begins with the first in sight. */
	focused() {
		if (this.element.matches(':focus-visible') && !state.pinned)
			pin({side: this.side, i: clamp(Math.ceil(this.top / this.rowHeight), 0, this.count - 1)});
	}

	reveal(i) {
		const y = i * this.rowHeight;
		if (y < this.top || y + this.rowHeight > this.top + this.height)
			this.scrollTo(y - this.height / 2);
	}

	scrollTo(y) {
		this.element.scrollTop = y;
		this.top = this.element.scrollTop;
	}

	makeRow(i) {
		const row = document.createElement('div'), word = document.createElement('b'), number = document.createElement('small');
		row.id = `${this.side}-${i}`;
		row.dataset.i = i;
		row.setAttribute('role', 'option');
		row.setAttribute('aria-setsize', this.count);
		row.setAttribute('aria-posinset', i + 1);
		row.style.top = `${i * this.rowHeight}px`;
		row.style.height = row.style.lineHeight = `${this.rowHeight}px`;
		word.dir = 'auto';
		word.textContent = tokenText(this.side, i);
		row.title = rawTokens[this.side][i].slice(0, 500);
		row.append(word, number);
		this.inner.append(row);
		return row;
	}

	render(found) {
		const first = Math.max(Math.floor(this.top / this.rowHeight) - 3, 0);
		const end = Math.min(Math.ceil((this.top + this.height) / this.rowHeight) + 3, this.count);
		for (const [i, row] of this.rows)
			if (i < first || i >= end) {
				row.remove();
				this.rows.delete(i);
			}
		for (let i = first; i < end; i++) {
			if (!this.rows.has(i))
				this.rows.set(i, this.makeRow(i));
			this.dress(this.rows.get(i), i, found);
		}
		const pinned = state.pinned && state.pinned.side === this.side ? state.pinned.i : -1;
		if (pinned >= first && pinned < end)
			this.element.setAttribute('aria-activedescendant', `${this.side}-${pinned}`);
		else
			this.element.removeAttribute('aria-activedescendant');
	}

	/* Classes, number and colour of a row; `found` are the weights of the active token. */
	dress(row, i, found) {
		const token = active(), own = token && token.side === this.side && token.i === i;
		const weighed = found && token.side !== this.side ? found.get(i) || null : undefined;
		const classes = ['token'];
		if (own)
			classes.push('chosen');
		if (state.find && isFound(this.side, i))
			classes.push('found');
		if (weighed)
			classes.push('weighed');
		else if (weighed === null || (token && token.side === this.side && !own))
			classes.push('faint');
		const name = classes.join(' '), number = weighed ? formatted(weighed.w) : String(i);
		const colour = weighed ? headsView.tint(weighed) : '';
		if (row.className !== name)
			row.className = name;
		if (row.lastChild.textContent !== number)
			row.lastChild.textContent = number;
		if (row.dataset.tint !== colour)
			row.style.background = row.dataset.tint = colour;
		row.setAttribute('aria-selected', Boolean(own));
	}
}

const headsView = {
	start() {
		this.canvas = $('lines');
		this.q = new TokenList('q');
		this.k = new TokenList('k');
		this.linked = !meta.cross && meta.queries === meta.keys;
		this.canvas.addEventListener('wheel', (event) => {
			this.q.element.scrollTop += event.deltaY;
			if (!this.linked)
				this.k.element.scrollTop += event.deltaY;
		}, {passive: true});
	},

	show() {
		this.resize();
		this.q.scrollTo(state.top);
		if (this.linked)
			this.k.scrollTo(state.top);
	},

	resize() {
		for (const list of [this.q, this.k])
			list.resize();
		this.offset = this.q.element.offsetTop - this.canvas.offsetTop;
		this.size = fitCanvas(this.canvas);
	},

	/* A key's ground: the share of each chosen head in its colour, side by side. */
	tint(item) {
		const step = 100 / item.parts.length, stops = [];
		item.parts.forEach((w, h) => {
			const colour = css(rgb(hueOf(h, w)), 0.5 * shareOf(w, scaleTop(state.heads[h])));
			stops.push(`${colour} ${(h * step).toFixed(2)}% ${((h + 1) * step).toFixed(2)}%`);
		});
		return `linear-gradient(90deg, ${stops.join(', ')})`;
	},

	/* Lines by colour and level, strongest first, of those that cross the sight. */
	collect(found) {
		const token = active(), height = this.q.height, groups = [];
		const y = (list, i) => (i + 0.5) * list.rowHeight - list.top;
		const put = (points, q, k) => {
			const a = y(this.q, q), b = y(this.k, k);
			if (!((a < 0 && b < 0) || (a > height && b > height)))
				points.push(0, a + this.offset, this.size.w, b + this.offset);
		};
		state.heads.forEach((head, h) => {
			const top = scaleTop(head);
			if (token && found) {
				const largest = Math.max(0, ...[...found.values()].map((item) => Math.abs(item.parts[h])));
				for (const item of found.values()) {
					const w = item.parts[h], share = strengthOf(w, top);
					if (share < FAINTEST / 4 && Math.abs(w) < largest / 4)
						continue;
					const points = [];
					put(points, token.side === 'q' ? token.i : item.i, token.side === 'q' ? item.i : token.i);
					groups.push({colour: hueOf(h, w), level: share * LEVELS, points});
				}
				return;
			}
			const weights = weightsOf(head);
			if (!weights || token)
				return;
			const edges = edgesOf(weights, top);
			for (const [levels, sign] of [[edges.levels, 1], [edges.below, -1]])
				levels.forEach((pairs, level) => {
					const points = [];
					for (let i = 0; i < pairs.length; i += 2)
						put(points, pairs[i], pairs[i + 1]);
					groups.push({colour: hueOf(h, sign), level: level + 0.5, points});
				});
		});
		groups.sort((a, b) => b.level - a.level);
		let lines = 0;
		this.left = 0;
		return groups.filter((group) => {
			const own = group.points.length / 4, fits = lines === 0 || lines + own <= LINES;
			if (!fits && lines < LINES) {
				group.points.length = 4 * (LINES - lines);
				this.left += own - (LINES - lines);
				lines = LINES;
				return true;
			}
			lines += fits ? own : 0;
			this.left += fits ? 0 : own;
			return fits && own > 0;
		}).reverse();
	},

	/* A token by itself may show weak lines, too: they overlap nothing. */
	stroke(surface, group, alone) {
		const share = group.level / LEVELS, strength = alone ? 0.12 + 0.88 * Math.sqrt(share) : 0.08 + 0.92 * share;
		surface.curves(group.points, group.colour, Math.min(strength, 1), alone ? 1 + 3.5 * share : 1 + 2 * share);
	},

	paint(surface, found) {
		for (const group of this.collect(found))
			this.stroke(surface, group, Boolean(active()));
	},

	draw() {
		const token = active(), found = token ? weightsOfToken(token) : null, context = this.canvas.getContext('2d');
		this.q.render(found);
		this.k.render(found);
		context.setTransform(this.size.ratio, 0, 0, this.size.ratio, 0, 0);
		context.clearRect(0, 0, this.size.w, this.size.h);
		const surface = new CanvasSurface(context);
		surface.clipped(0, this.offset, this.size.w, this.q.height, () => this.paint(surface, found));
	},

	/* The tokens and lines in sight, as a picture. */
	picture(make) {
		const token = active(), found = token ? weightsOfToken(token) : null;
		const gap = this.size.w, columns = 150, pad = 20, head = 62;
		const rows = Math.max(this.q.count * this.q.rowHeight, this.k.count * this.k.rowHeight);
		const height = Math.min(this.q.height, rows), w = 2 * columns + gap + 2 * pad, h = height + head + pad;
		const surface = make(w, h);
		surface.rect(0, 0, w, h, groundColour());
		surface.text(`${meta.title}: ${placeText()}`, pad, 20, {size: 14, weight: 600, limit: w - 2 * pad});
		surface.text('query', pad + columns - 8, 46, {colour: mutedColour(), align: 'right'});
		surface.text('key', pad + columns + gap + 8, 46, {colour: mutedColour()});
		surface.clipped(0, head, w, height, () => {
			for (const list of [this.q, this.k])
				for (let i = 0; i < list.count; i++) {
					const y = (i + 0.5) * list.rowHeight - list.top + head;
					if (y < head - list.rowHeight || y > h)
						continue;
					const left = list === this.q, x = left ? pad + columns - 8 : pad + columns + gap + 8;
					const item = found && token.side !== list.side ? found.get(i) : null;
					const own = token && token.side === list.side && token.i === i;
					surface.text(tokenText(list.side, i), x, y, {align: left ? 'right' : 'left', limit: columns - 50,
						weight: own ? 600 : 400});
					if (item)
						surface.text(formatted(item.w), left ? pad : w - pad, y, {size: 11, align: left ? 'left' : 'right',
							colour: mutedColour()});
				}
			const offset = this.offset;
			this.offset = head;
			for (const group of this.collect(found)) {
				group.points = group.points.map((v, i) => (i % 2 ? v : v + pad + columns));
				this.stroke(surface, group, Boolean(token));
			}
			this.offset = offset;
		});
		return surface;
	},
};
