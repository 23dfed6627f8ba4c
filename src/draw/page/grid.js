/* The view of all heads: a thumbnail each, layers down. */

const gridView = {
	start() {
		this.element = $('view-grid');
		this.thumbs = [];
		this.waiting = new Set();
		this.busy = false;
		this.watcher = new IntersectionObserver((entries) => {
			for (const entry of entries)
				this.waiting[entry.isIntersecting ? 'add' : 'delete'](entry.target.thumb);
			this.paintNext();
		}, {root: this.element, rootMargin: '150px'});
		this.build();
		this.element.addEventListener('keydown', (event) => this.key(event));
	},

	/* Rows are layers; with one layer the heads wrap. */
	build() {
		const table = document.createElement('table'), single = meta.layers.length === 1;
		const columns = single ? Math.min(meta.heads.length, meta.heads.length > 12 ? 8 : 6) : meta.heads.length;
		const cell = (row, tag, text, scope) => {
			const made = document.createElement(tag);
			made.textContent = text;
			if (scope)
				made.scope = scope;
			row.append(made);
			return made;
		};
		if (!single) {
			const row = table.createTHead().insertRow();
			cell(row, 'th', '');
			meta.heads.forEach((_, h) => { cell(row, 'th', headName(h), 'col').title = headName(h); });
		}
		const body = table.createTBody();
		for (let layer = 0; layer < meta.layers.length; layer++) {
			let row = body.insertRow();
			if (!single)
				cell(row, 'th', layerTitle(layer), 'row');
			for (let head = 0; head < meta.heads.length; head++) {
				if (single && head && head % columns === 0)
					row = body.insertRow();
				const place = cell(row, 'td', '');
				place.append(this.thumb(layer, head));
				if (single)
					cell(place, 'small', headTitle(head)).className = 'caption';
			}
		}
		this.columns = columns;
		this.element.append(table);
	},

	thumb(layer, head) {
		const button = document.createElement('button'), canvas = document.createElement('canvas');
		const thumb = {layer, head, button, canvas, key: ''};
		button.className = 'thumb';
		button.thumb = thumb;
		button.append(canvas);
		const name = (meta.layers.length > 1 || meta.layerKnown ? `${layerTitle(layer)} ` : '') + headTitle(head);
		button.setAttribute('aria-label', name);
		button.title = name;
		button.addEventListener('click', () => {
			state.layer = layer;
			state.heads = [head];
			state.several = false;
			setView('matrix');
		});
		this.thumbs.push(thumb);
		return button;
	},

	key(event) {
		const at = this.thumbs.findIndex((t) => t.button === document.activeElement);
		const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns}[event.key];
		if (at < 0 || !step)
			return;
		event.preventDefault();
		event.stopPropagation();
		const next = this.thumbs[at + step];
		if (next)
			next.button.focus();
	},

	show() {
		this.resize();
		for (const thumb of this.thumbs)
			this.watcher.observe(thumb.button);
	},

	resize() {
		const room = (this.element.clientWidth - 100) / this.columns - 12;
		const side = clamp(Math.floor(room), 44, meta.layers.length === 1 ? 150 : 120), longer = Math.max(meta.queries, meta.keys);
		for (const {canvas} of this.thumbs) {
			canvas.style.width = `${Math.max(side * meta.keys / longer, 12)}px`;
			canvas.style.height = `${Math.max(side * meta.queries / longer, 12)}px`;
		}
		this.side = side;
	},

	/* One at a time, so that the page stays awake. */
	async paintNext() {
		if (this.busy)
			return;
		this.busy = true;
		for (const thumb of this.waiting) {
			if (state.view !== 'grid')
				break;
			await this.paintThumb(thumb).catch((error) => note(`Weights could not be read: ${error.message}.`));
			await new Promise((go) => { requestAnimationFrame(go); });
		}
		this.busy = false;
	},

	async paintThumb(thumb) {
		const id = weightsId(thumb.layer, state.batch, thumb.head);
		fillRamp();
		const top = state.scale === 'one' ? 1 : state.scale === 'head' ? elementLargest(id) || 1 : sharedLargest || 1;
		const key = `${id} ${rampKey} ${top} ${state.transform} ${this.side}`;
		if (key === thumb.key)
			return;
		const weights = cache.get(id) || await loadOnce(id);
		const factor = Math.max(Math.ceil(Math.max(meta.queries, meta.keys) / (this.side * Math.min(devicePixelRatio, 2))), 1);
		const image = cellsImage(weights, factor, 0, meta.queries, 0, meta.keys, top);
		thumb.canvas.width = image.width;
		thumb.canvas.height = image.height;
		thumb.canvas.getContext('2d').drawImage(image, 0, 0);
		thumb.canvas.style.background = maskedColours()[0];
		thumb.key = key;
	},

	draw() {
		for (const thumb of this.thumbs)
			thumb.button.setAttribute('aria-current', thumb.layer === state.layer && state.heads.includes(thumb.head));
		this.paintNext();
	},

	/* All thumbnails that are painted. */
	picture(make) {
		const side = this.side, pad = 10, columns = this.columns, rows = Math.ceil(this.thumbs.length / columns);
		const left = meta.layers.length > 1 ? 80 : pad, step = side + pad, line = meta.layers.length > 1 ? step : step + 16;
		const surface = make(left + columns * step + pad, 70 + rows * line);
		surface.rect(0, 0, left + columns * step + pad, 70 + rows * line, groundColour());
		surface.text(state.scale === 'head' ? `${meta.title}; each head has its own scale` : `${meta.title}; ${scaleText(state.heads[0])}`, pad, 22, {size: 14, weight: 600, limit: left + columns * step});
		this.thumbs.forEach(({canvas, layer, head}, i) => {
			const x = left + i % columns * step, y = 60 + Math.floor(i / columns) * line, longer = Math.max(meta.queries, meta.keys);
			const w = side * meta.keys / longer, h = side * meta.queries / longer;
			surface.rect(x, y, w, h, maskedColours()[0]);
			surface.image(canvas, x, y, w, h);
			surface.frame(x, y, w, h, lineColour());
			if (meta.layers.length === 1)
				surface.text(headTitle(head), x, y + h + 9, {size: 11, colour: mutedColour(), limit: side});
			else if (i < columns)
				surface.text(headName(head), x, 48, {size: 11, colour: mutedColour(), limit: side});
			if (meta.layers.length > 1 && i % columns === 0)
				surface.text(layerTitle(layer), pad, y + h / 2, {size: 11, colour: mutedColour()});
		});
		return surface;
	},
};
