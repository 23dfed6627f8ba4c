/* What pictures are painted on: a canvas, or the text of an SVG file. */

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

class CanvasSurface {
	constructor(context) {
		this.context = context;
	}

	rect(x, y, w, h, fill) {
		this.context.fillStyle = fill;
		this.context.fillRect(x, y, w, h);
	}

	frame(x, y, w, h, stroke) {
		this.context.strokeStyle = stroke;
		this.context.lineWidth = 1;
		this.context.strokeRect(x, y, w, h);
	}

	/* Curves [x1, y1, x2, y2, ...] that leave and arrive level. */
	curves(points, colour, alpha, width) {
		const c = this.context;
		c.globalAlpha = alpha;
		c.strokeStyle = colour;
		c.lineWidth = width;
		c.beginPath();
		for (let i = 0; i < points.length; i += 4) {
			const [x1, y1, x2, y2] = [points[i], points[i + 1], points[i + 2], points[i + 3]], middle = (x1 + x2) / 2;
			c.moveTo(x1, y1);
			c.bezierCurveTo(middle, y1, middle, y2, x2, y2);
		}
		c.stroke();
		c.globalAlpha = 1;
	}

	text(text, x, y, {size = 13, colour = textColour(), align = 'left', turned = false, weight = 400, limit = Infinity} = {}) {
		const c = this.context;
		c.font = `${weight} ${size}px ${FONT}`;
		c.fillStyle = colour;
		c.textAlign = align;
		c.textBaseline = 'middle';
		const shown = shortened(c, text, limit);
		c.save();
		c.translate(x, y);
		if (turned)
			c.rotate(-Math.PI / 2);
		c.fillText(shown, 0, 0);
		c.restore();
	}

	image(canvas, x, y, w, h) {
		this.context.imageSmoothingEnabled = false;
		this.context.drawImage(canvas, x, y, w, h);
	}

	/* Draw inside a rectangle alone. */
	clipped(x, y, w, h, paint) {
		const c = this.context;
		c.save();
		c.beginPath();
		c.rect(x, y, w, h);
		c.clip();
		paint();
		c.restore();
	}

	hatch(x, y, w, h) {
		const c = this.context, tile = document.createElement('canvas'), [ground, line] = maskedColours();
		tile.width = tile.height = 6;
		const t = tile.getContext('2d');
		t.fillStyle = ground;
		t.fillRect(0, 0, 6, 6);
		t.strokeStyle = line;
		t.beginPath();
		for (const d of [-6, 0, 6]) {
			t.moveTo(d - 1, 7);
			t.lineTo(d + 7, -1);
		}
		t.stroke();
		c.fillStyle = c.createPattern(tile, 'repeat');
		c.fillRect(x, y, w, h);
	}
}

const measuring = document.createElement('canvas').getContext('2d');
const shortTexts = new Map();

/* A text with an ellipsis where it is wider than `limit`. */
function shortened(context, text, limit) {
	const key = `${context.font} ${limit} ${text}`;
	if (limit === Infinity)
		return text;
	if (shortTexts.has(key))
		return shortTexts.get(key);
	const letters = Array.from(text.length > 400 ? text.slice(0, 400) : text);
	let low = 0, high = letters.length;
	if (text.length <= 400 && context.measureText(text).width <= limit)
		low = high;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (context.measureText(`${letters.slice(0, middle).join('')}…`).width <= limit)
			low = middle;
		else
			high = middle - 1;
	}
	const shown = low === letters.length && text.length <= 400 ? text : `${letters.slice(0, low).join('')}…`;
	if (shortTexts.size > 5000)
		shortTexts.clear();
	shortTexts.set(key, shown);
	return shown;
}

class SvgSurface {
	constructor(width, height) {
		this.size = [width, height];
		this.parts = [];
		this.clips = 0;
	}

	add(name, attributes, inner = '') {
		const clean = (text) => String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
			.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
		const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${clean(value)}"`).join('');
		this.parts.push(`<${name}${list}>${clean(inner)}</${name}>`);
	}

	rect(x, y, width, height, fill) {
		this.add('rect', {x, y, width, height, fill});
	}

	frame(x, y, width, height, stroke) {
		this.add('rect', {x, y, width, height, fill: 'none', stroke});
	}

	curves(points, stroke, alpha, width) {
		const n = (v) => Number(v.toFixed(2)), d = [];
		for (let i = 0; i < points.length; i += 4) {
			const [x1, y1, x2, y2] = [points[i], points[i + 1], points[i + 2], points[i + 3]].map(n), middle = n((x1 + x2) / 2);
			d.push(`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`);
		}
		this.add('path', {d: d.join(''), fill: 'none', stroke, 'stroke-opacity': n(alpha), 'stroke-width': width});
	}

	text(text, x, y, {size = 13, colour = textColour(), align = 'left', turned = false, weight = 400, limit = Infinity} = {}) {
		measuring.font = `${weight} ${size}px ${FONT}`;
		const at = turned ? {transform: `translate(${x} ${y}) rotate(-90)`} : {x, y};
		this.add('text', {...at, 'font-size': size, 'font-weight': weight, fill: colour, 'dominant-baseline': 'central',
			'text-anchor': {left: 'start', right: 'end', center: 'middle'}[align]}, shortened(measuring, text, limit));
	}

	/* Cells as rectangles, which nothing smooths, while they are few; else an image of large pixels. */
	image(canvas, x, y, width, height) {
		const w = canvas.width, h = canvas.height;
		if (w * h > 40000) {
			const large = document.createElement('canvas'), by = Math.max(Math.ceil(2 * width / w), 1);
			large.width = w * by;
			large.height = h * by;
			new CanvasSurface(large.getContext('2d')).image(canvas, 0, 0, w * by, h * by);
			this.add('image', {x, y, width, height, href: large.toDataURL(), 'image-rendering': 'pixelated',
				preserveAspectRatio: 'none'});
			return;
		}
		const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, w, h).data.buffer);
		const n = (v) => Number(v.toFixed(3));
		this.parts.push('<g shape-rendering="crispEdges">');
		for (let i = 0; i < w * h; i++)
			if (pixels[i] >>> 24)
				this.rect(n(x + i % w * width / w), n(y + Math.floor(i / w) * height / h), n(width / w), n(height / h),
					`#${[0, 8, 16].map((s) => (pixels[i] >> s & 255).toString(16).padStart(2, '0')).join('')}`);
		this.parts.push('</g>');
	}

	clipped(x, y, width, height, paint) {
		const id = `clip${this.clips++}`;
		this.parts.push(`<clipPath id="${id}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath>` +
			`<g clip-path="url(#${id})">`);
		paint();
		this.parts.push('</g>');
	}

	hatch(x, y, width, height) {
		const [ground, line] = maskedColours();
		this.parts.push('<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse">' +
			`<rect width="6" height="6" fill="${ground}"/><path d="M-1 7L7 -1M-7 7L7 -7M-1 13L13 -1" stroke="${line}"/></pattern>`);
		this.add('rect', {x, y, width, height, fill: 'url(#hatch)'});
	}

	toString() {
		const [w, h] = this.size;
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" ` +
			`font-family='${FONT}'>\n${this.parts.join('\n')}\n</svg>\n`;
	}
}

/* Make a canvas as large as its box, in the screen's own pixels. */
function fitCanvas(canvas) {
	const ratio = Math.min(devicePixelRatio || 1, 3), w = canvas.clientWidth, h = canvas.clientHeight;
	if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
		canvas.width = Math.round(w * ratio);
		canvas.height = Math.round(h * ratio);
	}
	return {w, h, ratio};
}
