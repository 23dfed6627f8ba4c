/* Colours of weights and heads, in both themes. */

const hues = {
	light: ['#1e60ad', '#c2410c', '#15803d', '#a21caf', '#946200', '#0e7490', '#be123c', '#4d7c0f', '#6d28d9', '#525b66'],
	dark: ['#8fbdea', '#fb923c', '#4ade80', '#e879f9', '#facc15', '#22d3ee', '#fb7185', '#a3e635', '#b79cff', '#cbd5e1'],
};
/* Below 0, 0, above: where weights are signed. */
const diverging = {
	light: ['#0b3472', '#2c70bc', '#9ac1e5', '#ffffff', '#f2b39b', '#c4492f', '#6e1212'],
	dark: ['#cfe6ff', '#80b2e0', '#2b5d93', '#161d26', '#8f4330', '#e88a6c', '#ffd9cc'],
};
const RAMP = 512;
let ramp = new Uint32Array(RAMP), rampKey = '';

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const css = ([r, g, b], alpha = 1) => `rgba(${Math.round(r)},${Math.round(g)},${Math.round(b)},${alpha.toFixed(3)})`;
const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const themeName = () => (isDark() ? 'dark' : 'light');

function between(anchors, share) {
	const at = share * (anchors.length - 1), low = Math.min(Math.floor(at), anchors.length - 2);
	return anchors[low].map((c, i) => c + (anchors[low + 1][i] - c) * (at - low));
}

function anchorsNow() {
	if (meta.signed)
		return diverging[themeName()].map(rgb);
	const anchors = meta.maps[state.map].map(rgb);
	/* On a dark ground a map that begins at paper's white begins at its other end. */
	if (isDark() && light(anchors[0]) > light(anchors[anchors.length - 1]))
		anchors.reverse();
	return anchors;
}

/* Fill the ramp: from 0 to the top of the scale, or from its negative. */
function fillRamp() {
	const key = `${state.map} ${themeName()}`;
	if (key === rampKey)
		return;
	const anchors = anchorsNow();
	rampKey = key;
	ramp = Uint32Array.from({length: RAMP}, (_, i) => {
		const [r, g, b] = between(anchors, i / (RAMP - 1)).map(Math.round);
		return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
	});
}

function rampIndex(weight, top) {
	const share = shareOf(weight, top);
	return Math.round(meta.signed ? (RAMP - 1) / 2 * (1 + (weight < 0 ? -share : share)) : (RAMP - 1) * share);
}

const rampCss = (i) => css([ramp[i] & 255, ramp[i] >> 8 & 255, ramp[i] >> 16 & 255]);

/* The colour of the h-th chosen head; a signed weight alone has that of its sign. */
function hueOf(h, weight = 1) {
	if (state.heads.length === 1 && meta.signed)
		return diverging[themeName()][weight < 0 ? 1 : 5];
	return hues[themeName()][h % hues.light.length];
}

const themed = (lightColour, darkColour) => (isDark() ? darkColour : lightColour);
const maskedColours = () => [themed('#e3e3e1', '#2b3036'), themed('#bdbdba', '#464d56')];
const textColour = () => themed('#18202b', '#e4eaf1');
const mutedColour = () => themed('#586472', '#9dabb9');
const groundColour = () => themed('#fbfbf9', '#0f141b');
const lineColour = () => themed('#dfe3e8', '#2a3441');
const markColour = () => themed('#ffe9a8', '#54430f');
const accentColour = () => hues[themeName()][0];
