/* From the page's text to weights: base64, inflate (RFC 1950 and 1951), rows. */

function bytesOf(base64) {
	const text = atob(base64), bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	if (typeof DecompressionStream !== 'function')
		return inflatePlain(bytes);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Canonical Huffman codes, decoded bit by bit: counts of each length, and symbols in order. */
function huffman(lengths) {
	const count = new Uint16Array(16), offset = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
	for (const l of lengths)
		count[l]++;
	count[0] = 0;
	for (let i = 1; i < 16; i++)
		offset[i] = offset[i - 1] + count[i - 1];
	lengths.forEach((l, symbol) => {
		if (l)
			symbols[offset[l]++] = symbol;
	});
	return {count, symbols};
}

/* For browsers without DecompressionStream. */
function inflatePlain(data) {
	const lengthBase = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
		163, 195, 227, 258];
	const lengthExtra = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
	const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
	let out = new Uint8Array(1 << 16), used = 0, at = 2, held = 0, have = 0; /* behind zlib's two bytes */
	const bits = (n) => {
		while (have < n) {
			if (at >= data.length)
				throw new Error('the data end too soon');
			held |= data[at++] << have;
			have += 8;
		}
		const value = held & ((1 << n) - 1);
		held >>>= n;
		have -= n;
		return value;
	};
	const symbol = (h) => {
		let code = 0, first = 0, index = 0;
		for (let length = 1; length < 16; length++) {
			code |= bits(1);
			if (code - first < h.count[length])
				return h.symbols[index + code - first];
			index += h.count[length];
			first = (first + h.count[length]) << 1;
			code <<= 1;
		}
		throw new Error('a code is not in the table');
	};
	const room = (n) => {
		while (used + n > out.length) {
			const larger = new Uint8Array(out.length * 2);
			larger.set(out);
			out = larger;
		}
	};
	const tables = () => {
		const literals = bits(5) + 257, distances = bits(5) + 1, codes = bits(4) + 4, lengths = new Array(19).fill(0);
		for (let i = 0; i < codes; i++)
			lengths[order[i]] = bits(3);
		const h = huffman(lengths), all = [];
		while (all.length < literals + distances) {
			const s = symbol(h);
			const times = s < 16 ? 1 : s === 16 ? 3 + bits(2) : s === 17 ? 3 + bits(3) : 11 + bits(7);
			const value = s < 16 ? s : s === 16 ? all[all.length - 1] : 0;
			for (let i = 0; i < times; i++)
				all.push(value);
		}
		return [huffman(all.slice(0, literals)), huffman(all.slice(literals))];
	};
	const fixed = () => {
		const lengths = Array.from({length: 288}, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8));
		return [huffman(lengths), huffman(new Array(30).fill(5))];
	};
	for (let last = 0; !last;) {
		last = bits(1);
		const type = bits(2);
		if (type === 0) {
			have = held = 0;
			const length = data[at] | data[at + 1] << 8;
			room(length);
			out.set(data.subarray(at + 4, at + 4 + length), used);
			at += 4 + length;
			used += length;
			continue;
		}
		const [literal, distance] = type === 1 ? fixed() : tables();
		for (let s = symbol(literal); s !== 256; s = symbol(literal)) {
			room(258);
			if (s < 256) {
				out[used++] = s;
				continue;
			}
			const length = lengthBase[s - 257] + bits(lengthExtra[s - 257]), d = symbol(distance);
			const extra = d < 2 ? 0 : (d >> 1) - 1;
			const back = d < 2 ? d + 1 : ((2 + (d & 1)) << extra) + 1 + bits(extra);
			for (let i = 0; i < length; i++, used++)
				out[used] = out[used - back];
		}
	}
	return out.subarray(0, used);
}

/* The share of a row's largest magnitude that each code stands for; NaN is masked. */
function codeTable() {
	const table = new Float32Array(2 ** meta.bits), zero = meta.signed ? meta.levels + 1 : 1;
	for (let code = 0; code < table.length; code++) {
		const level = (code - zero) / meta.levels;
		table[code] = level * Math.abs(level);
	}
	table[0] = NaN;
	return table;
}

/* The weights of one head.  All keys: codes (queries, keys).  The top keys: those of query q are
 * keys[start[q]...start[q + 1]), ascending, with their codes; [first, end) is what it sees. */
class Weights {
	constructor(bytes) {
		const n = meta.queries, m = meta.keys, wide = meta.bits / 8;
		const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		const code = wide === 1 ? (at) => bytes[at] : (at) => view.getUint16(at, true);
		const Codes = wide === 1 ? Uint8Array : Uint16Array;
		this.largest = new Float32Array(n);
		if (!meta.top) {
			this.codes = new Codes(n * m);
			for (let q = 0, at = 0; q < n; q++, at += 4 + m * wide) {
				this.largest[q] = view.getFloat32(at, true);
				if (wide === 1)
					this.codes.set(bytes.subarray(at + 4, at + 4 + m), q * m);
				else
					for (let k = 0; k < m; k++)
						this.codes[q * m + k] = code(at + 4 + 2 * k);
			}
			this.size = this.codes.byteLength;
			return;
		}
		this.codes = new Codes(n * meta.top);
		this.keys = new Uint32Array(n * meta.top);
		[this.first, this.end, this.seen] = [0, 0, 0].map(() => new Uint32Array(n));
		this.start = new Uint32Array(n + 1);
		for (let q = 0, at = 0, used = 0; q < n; q++) {
			const count = view.getUint32(at + 16, true);
			this.largest[q] = view.getFloat32(at, true);
			[this.first, this.end, this.seen].forEach((a, i) => { a[q] = view.getUint32(at + 4 + 4 * i, true); });
			at += 20;
			for (let i = 0; i < count; i++) {
				this.keys[used + i] = view.getUint32(at + 4 * i, true);
				this.codes[used + i] = code(at + 4 * count + wide * i);
			}
			at += (4 + wide) * count;
			used += count;
			this.start[q + 1] = used;
		}
		this.size = this.codes.byteLength + this.keys.byteLength;
	}

	/* The weight; NaN where it is masked, null where it was not kept. */
	at(q, k) {
		if (!meta.top)
			return this.largest[q] * shares[this.codes[q * meta.keys + k]];
		let low = this.start[q], high = this.start[q + 1];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.keys[middle] < k)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < this.start[q + 1] && this.keys[low] === k)
			return this.largest[q] * shares[this.codes[low]];
		if (k < this.first[q] || k >= this.end[q])
			return NaN;
		return this.kept(q) < this.seen[q] && this.kept(q) === meta.top ? null : 0;
	}

	/* How many keys of a query are kept. */
	kept(q) {
		return this.start[q + 1] - this.start[q];
	}

	/* Call f(k, weight) for the keys of a query that are kept and not masked. */
	row(q, f) {
		const m = meta.keys, top = this.largest[q];
		if (meta.top) {
			for (let i = this.start[q]; i < this.start[q + 1]; i++)
				f(this.keys[i], top * shares[this.codes[i]]);
			return;
		}
		for (let k = 0; k < m; k++) {
			const code = this.codes[q * m + k];
			if (code)
				f(k, top * shares[code]);
		}
	}

	/* The same for the queries of a key. */
	column(k, f) {
		if (!meta.top) {
			for (let q = 0; q < meta.queries; q++) {
				const code = this.codes[q * meta.keys + k];
				if (code)
					f(q, this.largest[q] * shares[code]);
			}
			return;
		}
		for (let q = 0; q < meta.queries; q++) {
			const w = this.at(q, k);
			if (w !== null && !Number.isNaN(w) && w !== 0)
				f(q, w);
		}
	}
}
