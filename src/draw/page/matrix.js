/* The view of the matrix: queries down, keys across. */

const MOST_PIXELS = 4e6; /* of an image of all cells; beyond, only what is in sight */
const LARGEST_CELL = 96;

/* An image of queries [q0, q1) and keys [k0, k1), both multiples of `factor`: each pixel the weight
 * of largest magnitude among factor x factor cells; masked cells are transparent. */
function cellsImage(weights, factor, q0, q1, k0, k1, top) {
	const w = Math.ceil((k1 - k0) / factor), h = Math.ceil((q1 - q0) / factor);
	const canvas = document.createElement('canvas'), best = new Float32Array(w);
	canvas.width = Math.max(w, 1);
	canvas.height = Math.max(h, 1);
	const context = canvas.getContext('2d'), image = context.createImageData(canvas.width, canvas.height);
	const pixels = new Uint32Array(image.data.buffer);
	fillRamp();
	for (let y = 0; y < h; y++) {
		best.fill(NaN);
		for (let q = q0 + y * factor; q < Math.min(q0 + (y + 1) * factor, q1); q++) {
			if (meta.top)
				for (let k = Math.max(weights.first[q], k0); k < Math.min(weights.end[q], k1); k = (Math.floor(k / factor) + 1) * factor) {
					const x = Math.floor((k - k0) / factor);
					if (Number.isNaN(best[x]))
						best[x] = 0;
				}
			weights.row(q, (k, weight) => {
				if (k < k0 || k >= k1)
					return;
				const x = factor === 1 ? k - k0 : Math.floor((k - k0) / factor);
				if (!(Math.abs(weight) <= Math.abs(best[x])))
					best[x] = weight;
			});
		}
		for (let x = 0; x < w; x++)
			if (!Number.isNaN(best[x]))
				pixels[y * w + x] = ramp[rampIndex(best[x], top)];
	}
	context.putImageData(image, 0, 0);
	return canvas;
}

const matrixView = {
	image: null, imageKey: '', base: document.createElement('canvas'), baseKey: '', over: null, pointers: new Map(), moved: 0,

	start() {
		const canvas = this.canvas = $('matrix');
		canvas.addEventListener('wheel', (event) => {
			event.preventDefault();
			const box = canvas.getBoundingClientRect(), lines = event.deltaMode === 1 ? 20 : 1;
			this.zoomAt(Math.exp(-clamp(event.deltaY * lines, -300, 300) * 0.0018), event.clientX - box.left, event.clientY - box.top);
		}, {passive: false});
		canvas.addEventListener('pointerdown', (event) => this.down(event));
		canvas.addEventListener('pointermove', (event) => this.move(event));
		for (const type of ['pointerup', 'pointercancel'])
			canvas.addEventListener(type, (event) => this.up(event));
		canvas.addEventListener('pointerleave', () => this.setOver(null));
		$('zoom-in').addEventListener('click', () => this.zoomAt(1.5));
		$('zoom-out').addEventListener('click', () => this.zoomAt(1 / 1.5));
		$('zoom-fit').addEventListener('click', () => this.fit());
	},

	show() {
		this.resize();
	},

	/* Margins hold the longest label, as far as there is room. */
	resize() {
		this.size = fitCanvas(this.canvas);
		measuring.font = `12px ${FONT}`;
		const longest = (side, limit) => {
			let width = 12;
			for (let i = 0; i < tokens[side].length && width < limit; i += Math.ceil(tokens[side].length / 2000))
				width = Math.max(width, measuring.measureText(tokens[side][i].slice(0, 60)).width);
			return Math.ceil(Math.min(width, limit));
		};
		this.left = longest('q', Math.min(150, this.size.w * 0.28)) + 22;
		this.topEdge = longest('k', Math.min(130, this.size.h * 0.28)) + 36;
		this.shiftBy(0, 0);
	},

	inner() {
		return {w: Math.max(this.size.w - this.left - 16, 10), h: Math.max(this.size.h - this.topEdge - 16, 10)};
	},

	fitted() {
		const {w, h} = this.inner();
		return Math.min(w / meta.keys, h / meta.queries, 44);
	},

	cell() {
		return state.zoom || this.fitted();
	},

	fit() {
		state.zoom = state.x = state.y = 0;
		changed();
	},

	zoomAt(factor, px = this.left + this.inner().w / 2, py = this.topEdge + this.inner().h / 2) {
		const z = this.cell(), next = clamp(z * factor, this.fitted(), LARGEST_CELL);
		const x = Math.max(px - this.left, 0), y = Math.max(py - this.topEdge, 0);
		state.x += x / z - x / next;
		state.y += y / z - y / next;
		state.zoom = next <= this.fitted() * 1.001 ? 0 : next;
		this.shiftBy(0, 0);
		changed();
	},

	/* Move by cells, and stay on the matrix. */
	shiftBy(dx, dy) {
		const z = this.cell(), {w, h} = this.inner();
		state.x = clamp(state.x + dx, 0, Math.max(meta.keys - w / z, 0));
		state.y = clamp(state.y + dy, 0, Math.max(meta.queries - h / z, 0));
	},

	reveal(q, k) {
		const z = this.cell(), {w, h} = this.inner();
		if (k >= 0 && (k < state.x || k + 1 > state.x + w / z))
			state.x = k - w / z / 2;
		if (q >= 0 && (q < state.y || q + 1 > state.y + h / z))
			state.y = q - h / z / 2;
		this.shiftBy(0, 0);
	},

	cellAt(event) {
		const box = this.canvas.getBoundingClientRect(), z = this.cell();
		const k = Math.floor((event.clientX - box.left - this.left) / z + state.x);
		const q = Math.floor((event.clientY - box.top - this.topEdge) / z + state.y);
		const inside = event.clientX - box.left >= this.left && event.clientY - box.top >= this.topEdge;
		return inside && q >= 0 && k >= 0 && q < meta.queries && k < meta.keys ? {q, k} : null;
	},

	down(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
		if (this.pointers.size === 1)
			this.moved = 0;
	},

	move(event) {
		const before = this.pointers.get(event.pointerId);
		if (!before) {
			this.at = [event.clientX, event.clientY];
			this.setOver(this.cellAt(event), event);
			return;
		}
		const spread = () => {
			const [a, b] = [...this.pointers.values()];
			return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
		};
		const old = this.pointers.size === 2 ? spread() : 0, z = this.cell(), share = 1 / this.pointers.size;
		const dx = event.clientX - before[0], dy = event.clientY - before[1];
		this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
		this.moved += Math.abs(dx) + Math.abs(dy);
		if (this.moved < 5)
			return;
		this.shiftBy(-dx * share / z, -dy * share / z);
		if (old) {
			const [a, b] = [...this.pointers.values()], box = this.canvas.getBoundingClientRect();
			this.zoomAt(spread() / old, (a[0] + b[0]) / 2 - box.left, (a[1] + b[1]) / 2 - box.top);
		}
		this.setOver(null);
		changed();
	},

	up(event) {
		const tapped = this.pointers.size === 1 && this.moved < 5 && event.type === 'pointerup';
		this.pointers.delete(event.pointerId);
		if (!tapped)
			return;
		const cell = this.cellAt(event), same = cell && state.cell && state.cell.q === cell.q && state.cell.k === cell.k;
		state.cell = same ? null : cell;
		pin(state.cell ? {side: 'q', i: cell.q} : null, false);
		if (event.pointerType !== 'mouse')
			this.setOver(state.cell, event);
	},

	setOver(cell, event) {
		if (!cell && !this.over)
			return;
		this.over = cell;
		if (event)
			this.at = [event.clientX, event.clientY];
		setHover(cell ? {side: 'q', i: cell.q} : null);
	},

	/* What a cell says. */
	readout({q, k}) {
		const weights = weightsOf(state.heads[0]);
		if (!weights)
			return '';
		const w = weights.at(q, k), lines = [`query ${tokenLabel('q', q)}`, `key ${tokenLabel('k', k)}`];
		if (w === null)
			lines.push('not among the kept keys');
		else if (Number.isNaN(w))
			lines.push('masked');
		else if (meta.difference)
			lines.push(`A − B ${formatted(w)}`);
		else {
			let rank = 1, count = 0;
			weights.row(q, (i, other) => {
				count++;
				rank += other > w;
			});
			const seen = meta.top ? weights.seen[q] : count;
			lines.push(`weight ${formatted(w)}, rank ${rank} of ${seen}${seen < meta.keys ? ' visible' : ''}`);
		}
		return lines.join('\n');
	},

	showTip() {
		const tip = $('tip'), text = this.over ? this.readout(this.over) : '';
		tip.hidden = !text;
		if (!text)
			return;
		const box = this.canvas.getBoundingClientRect();
		tip.textContent = text;
		const x = this.at[0] - box.left, y = this.at[1] - box.top;
		const left = x + 18 + tip.offsetWidth > this.size.w ? x - 14 - tip.offsetWidth : x + 18;
		const top = y + 18 + tip.offsetHeight > this.size.h ? y - 14 - tip.offsetHeight : y + 18;
		tip.style.transform = `translate(${Math.max(left, 2)}px, ${Math.max(top, 2)}px)`;
	},

	/* The image of what is in sight, and where it lies: in cells. */
	imageNow(weights) {
		const z = this.cell(), factor = Math.max(Math.ceil(1 / (z * this.size.ratio) - 1e-6), 1), {w, h} = this.inner();
		const whole = Math.ceil(meta.queries / factor) * Math.ceil(meta.keys / factor) <= MOST_PIXELS;
		const snap = (v, count) => clamp(Math.floor(v / factor) * factor, 0, count);
		const [q0, k0] = whole ? [0, 0] : [snap(state.y, meta.queries), snap(state.x, meta.keys)];
		const q1 = whole ? meta.queries : Math.min(snap(state.y + h / z, meta.queries) + 2 * factor, meta.queries);
		const k1 = whole ? meta.keys : Math.min(snap(state.x + w / z, meta.keys) + 2 * factor, meta.keys);
		const top = scaleTop(state.heads[0]);
		fillRamp();
		const key = [idOf(state.heads[0]), factor, q0, q1, k0, k1, top, state.transform, rampKey].join(' ');
		if (key !== this.imageKey) {
			this.image = {canvas: cellsImage(weights, factor, q0, q1, k0, k1, top), factor, q0, k0};
			this.imageKey = key;
		}
		return this.image;
	},

	/* Where cells are, in pixels. */
	plan() {
		const z = this.cell(), {w, h} = this.inner();
		return {
			z, w, h, right: Math.min(w, (meta.keys - state.x) * z), bottom: Math.min(h, (meta.queries - state.y) * z),
			X: (k) => this.left + (k - state.x) * z, Y: (q) => this.topEdge + (q - state.y) * z,
		};
	},

	paintCells(surface, weights) {
		const {z, w, h, right, bottom, X, Y} = this.plan();
		surface.rect(0, 0, this.size.w, this.size.h, groundColour());
		surface.clipped(this.left, this.topEdge, right, bottom, () => {
			surface.hatch(this.left, this.topEdge, right, bottom);
			const image = this.imageNow(weights), f = image.factor;
			const k0 = Math.max(Math.floor((state.x - image.k0) / f), 0), q0 = Math.max(Math.floor((state.y - image.q0) / f), 0);
			const cut = document.createElement('canvas');
			cut.width = clamp(Math.ceil(w / z / f) + 2, 1, Math.max(image.canvas.width - k0, 1));
			cut.height = clamp(Math.ceil(h / z / f) + 2, 1, Math.max(image.canvas.height - q0, 1));
			cut.getContext('2d').drawImage(image.canvas, -k0, -q0);
			surface.image(cut, X(image.k0 + k0 * f), Y(image.q0 + q0 * f), cut.width * f * z, cut.height * f * z);
			if (z >= 34)
				this.paintNumbers(surface, weights, X, Y, z);
		});
		surface.frame(this.left - 0.5, this.topEdge - 0.5, right + 1, bottom + 1, lineColour());
	},

	paintRest(surface) {
		const {z, right, bottom, X, Y} = this.plan();
		surface.clipped(this.left, this.topEdge, right, bottom, () => this.paintMarks(surface, X, Y, z, right, bottom));
		this.paintLabels(surface, X, Y, z, right, bottom);
	},

	paintNumbers(surface, weights, X, Y, z) {
		const {w, h} = this.inner(), top = scaleTop(state.heads[0]);
		for (let q = Math.floor(state.y); q < Math.min(state.y + h / z, meta.queries); q++)
			weights.row(q, (k, weight) => {
				if (k + 1 < state.x || k > state.x + w / z)
					return;
				const c = ramp[rampIndex(weight, top)], dark = light([c & 255, c >> 8 & 255, c >> 16 & 255]) < 128;
				surface.text(weight.toFixed(2), X(k + 0.5), Y(q + 0.5), {size: 11, align: 'center', colour: dark ? '#fff' : '#111'});
			});
	},

	paintMarks(surface, X, Y, z, right, bottom) {
		const token = active(), cell = this.over || state.cell, accent = themed('#c2410c', '#fb923c');
		const pad = z < 3 ? 2 : 0.5;
		if (token && token.side === 'q')
			surface.frame(this.left + 0.5, Y(token.i) - pad, right - 1, z + 2 * pad, accent);
		if (token && token.side === 'k')
			surface.frame(X(token.i) - pad, this.topEdge + 0.5, z + 2 * pad, bottom - 1, accent);
		if (cell)
			surface.frame(X(cell.k) - pad, Y(cell.q) - pad, z + 2 * pad, z + 2 * pad, accent);
	},

	/* Labels at even steps, so that none overlap; those of places found and of the active token
	 * always, in front of the others. */
	paintLabels(surface, X, Y, z, right, bottom) {
		const token = active(), cell = this.over || state.cell, step = Math.max(Math.ceil(14 / z), 1);
		const marked = (side, i) => (token && token.side === side && token.i === i) || (cell && cell[side] === i);
		const label = (side, i, strong) => {
			const mark = state.find && isFound(side, i), limit = (side === 'q' ? this.left : this.topEdge - 16) - 18;
			const style = {size: 12, limit, weight: strong ? 600 : 400, colour: textColour()};
			if (side === 'q') {
				const y = Y(i + 0.5);
				if (mark || strong)
					surface.rect(4, y - 7, this.left - 8, 14, mark ? markColour() : groundColour());
				surface.text(tokenText('q', i), this.left - 8, y, {...style, align: 'right'});
			} else {
				const x = X(i + 0.5);
				if (mark || strong)
					surface.rect(x - 7, 20, 14, this.topEdge - 24, mark ? markColour() : groundColour());
				surface.text(tokenText('k', i), x, this.topEdge - 8, {...style, turned: true});
			}
		};
		for (const side of ['q', 'k']) {
			const start = side === 'q' ? state.y : state.x, length = (side === 'q' ? bottom : right) / z;
			const first = Math.ceil(Math.max(start - 0.5, 0) / step) * step, last = Math.min(start + length - 0.5, tokens[side].length - 1);
			const strong = [];
			for (let i = Math.ceil(Math.max(start - 0.5, 0)); i <= last; i++)
				if (marked(side, i) || (state.find && isFound(side, i)))
					strong.push(i);
			for (let i = first; i <= last; i += step)
				if (!strong.some((s) => Math.abs(s - i) * z < 14))
					label(side, i, false);
			let before = -Infinity;
			for (const i of strong)
				if ((i - before) * z >= 14 || marked(side, i)) {
					label(side, i, marked(side, i));
					before = i;
				}
		}
		surface.text('key', this.left, 10, {size: 12, colour: mutedColour()});
		surface.text('query', this.left - 8, this.topEdge - 16, {size: 12, colour: mutedColour(), align: 'right'});
	},

	/* Cells are painted when they change; a pointer that moves over them changes only what lies above. */
	draw() {
		const context = this.canvas.getContext('2d'), {ratio, w, h} = this.size, weights = weightsOf(state.heads[0]);
		context.setTransform(1, 0, 0, 1, 0, 0);
		if (!weights) {
			context.clearRect(0, 0, this.canvas.width, this.canvas.height);
			return;
		}
		this.imageNow(weights);
		const key = [this.imageKey, state.x, state.y, this.cell(), w, h, ratio, this.left, this.topEdge].join(' ');
		if (key !== this.baseKey) {
			this.base.width = this.canvas.width;
			this.base.height = this.canvas.height;
			const under = this.base.getContext('2d');
			under.setTransform(ratio, 0, 0, ratio, 0, 0);
			this.paintCells(new CanvasSurface(under), weights);
			this.baseKey = key;
		}
		context.drawImage(this.base, 0, 0);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.paintRest(new CanvasSurface(context));
		this.showTip();
	},

	picture(make) {
		const surface = make(this.size.w, this.size.h + 30);
		const weights = weightsOf(state.heads[0]);
		if (weights)
			this.paintCells(surface, weights);
		this.paintRest(surface);
		surface.rect(0, this.size.h, this.size.w, 30, groundColour());
		surface.text(`${meta.title}: ${placeText()}; ${scaleText(state.heads[0])}`, 12, this.size.h + 12, {size: 13, limit: this.size.w - 24});
		return surface;
	},
};
