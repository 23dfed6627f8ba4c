/* The page of attn view in a real browser: what it shows, how it is used, and that it asks for
 * nothing and lets nothing in.
 *
 *   node page.js DIRECTORY      with animal.html, cross.html, evil.html, long.html, masked.html
 *
 * Needs playwright-core and /usr/bin/chromium.  Prints failures and a last line of counts.
 */
'use strict';
const {chromium} = require('playwright-core');
const fs = require('fs');

const directory = process.argv[2];
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync'];
let browser, passed = 0, failed = 0;

function is(what, found, expected) {
	if (JSON.stringify(found) === JSON.stringify(expected)) {
		passed++;
		return;
	}
	failed++;
	console.log(`FAIL: ${what}: ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
}

function ok(what, condition) {
	is(what, Boolean(condition), true);
}

/* Open a page, hand it to `test`, and see that it complained of nothing and asked for nothing. */
async function visit(name, hash, test, options = {}) {
	const context = await browser.newContext({viewport: {width: 1280, height: 800}, ...options});
	const page = await context.newPage(), heard = [], asked = [];
	page.on('console', (m) => heard.push(m.text()));
	page.on('pageerror', (e) => heard.push(String(e)));
	page.on('dialog', (d) => { heard.push(`dialog ${d.message()}`); d.dismiss(); });
	page.on('request', (r) => asked.push(r.url()));
	if (options.before)
		await page.addInitScript(options.before);
	const url = `file://${directory}/${name}.html`;
	await page.goto(url + (hash ? `#${hash}` : ''));
	await page.waitForFunction(() => performance.getEntriesByName('weights drawn').length > 0);
	try {
		await test(page);
	} catch (error) {
		failed++;
		console.log(`FAIL: ${name} ${hash}: ${error.stack}`);
	}
	is(`${name}: console`, heard.filter((m) => !(options.refused && m.includes(options.refused))), []);
	is(`${name}: requests`, asked.filter((u) => !u.startsWith(url) && !u.startsWith('blob:') && !u.startsWith('data:')), []);
	await context.close();
}

const text = (page, selector) => page.textContent(selector);
const fragment = async (page) => {
	await page.waitForTimeout(350);
	return page.evaluate(() => location.hash);
};
const ranking = (page) => page.$$eval('#ranking li:not([hidden])', (items) => items.map((item) =>
	`${item.querySelector('.word').textContent}|${item.querySelector('.word').nextSibling.textContent}`));
const settle = (page) => page.evaluate(() => new Promise((go) => {
	requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go, 30)));
}));

/* What `attn inspect token it --head 3` prints of the sample. */
const IT = ['animal 1|0.171', '. 13|0.144', 'it 9|0.128', 'The 0|0.099', 'didn 2|0.090'];

async function tokensView(page) {
	is('tokens in order', (await page.$$eval('#q-list .token b', (all) => all.map((b) => b.textContent))).slice(0, 3),
		['The', 'animal', 'didn']);
	await page.hover('#q-list #q-9');
	await settle(page);
	is('hover ranks keys', (await ranking(page)).slice(0, 5), IT);
	is('weights beside keys', await text(page, '#k-1 small'), '0.171');
	await page.mouse.move(600, 750);
	await settle(page);
	is('no hover, no token', await text(page, '#panel-title'), 'Strongest pairs');
	await page.click('#q-list #q-9');
	await page.mouse.move(600, 750);
	await settle(page);
	is('a click stays', (await ranking(page)).slice(0, 5), IT);
	is('chosen for all', await page.getAttribute('#q-9', 'aria-selected'), 'true');
	ok('a permalink', /head=3&query=9/.test(await fragment(page)));
	await page.reload();
	await page.waitForFunction(() => performance.getEntriesByName('weights drawn').length > 0);
	await settle(page);
	is('a reload restores', (await ranking(page)).slice(0, 5), IT);
	await page.click('#k-list #k-1');
	await settle(page);
	ok('who attends to a key', /^is attended by 14 queries/.test(await text(page, '#panel-note')));
	await page.keyboard.press('Escape');
	await settle(page);
	is('Esc clears', await text(page, '#panel-title'), 'Strongest pairs');
}

async function keyboard(page) {
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	await settle(page);
	ok('down twice is the second token', /animal/.test(await text(page, '#panel-title')));
	await page.keyboard.press('ArrowRight');
	is('right is the next head', await page.$eval('#heads [aria-pressed=true]', (b) => b.textContent), '1');
	await page.keyboard.press('[');
	is('[ is the one before', await page.$eval('#heads [aria-pressed=true]', (b) => b.textContent), '0');
	await page.keyboard.press('t');
	await settle(page);
	ok('t goes to the key', /^key /.test(await text(page, '#panel-title')));
	is('and moves the focus', await page.evaluate(() => document.activeElement.id), 'k-list');
	await page.keyboard.press('?');
	ok('? shows the keys', await page.$eval('#keys-dialog', (d) => d.open));
	await page.keyboard.press('Escape');
	ok('Esc closes them', !(await page.$eval('#keys-dialog', (d) => d.open)));
	await page.keyboard.press('/');
	is('/ is the search', await page.evaluate(() => document.activeElement.id), 'search');
	await page.keyboard.type('the');
	await settle(page);
	is('places', await text(page, '#found'), '1 of 2');
	is('marks on both sides', await page.$$eval('.token.found', (all) => all.map((t) => t.id)), ['q-0', 'q-6', 'k-0', 'k-6']);
	await page.keyboard.press('Enter');
	await settle(page);
	is('the next place', await text(page, '#panel-title'), 'query \u2068the\u2069 (6)');
	await page.keyboard.press('Escape');
	await settle(page);
	is('Esc ends the search', await page.$$eval('.token.found', (all) => all.length), 0);
	await page.keyboard.press('2');
	ok('2 is the matrix', await page.isVisible('#matrix'));
	await page.focus('#matrix');
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('ArrowDown');
	await settle(page);
	ok('a cell is said', /query .*animal.*key .*animal.*weight 0\.\d+, rank \d+ of 14/.test(await text(page, '#live')));
	for (let i = 0, seen = new Set(); i < 40 && !seen.has('about'); i++) {
		await page.keyboard.press('Tab');
		seen.add(await page.evaluate(() => document.activeElement.id));
		if (i === 0)
			ok('focus is seen', await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== 'none'));
	}
}

async function several(page) {
	await page.click('#heads button:nth-child(1)');
	await page.click('#heads button:nth-child(3)', {modifiers: ['Shift']});
	await page.hover('#q-list #q-9');
	await settle(page);
	ok('a mean of two heads', /mean of 2 heads/.test(await text(page, '#panel-note')));
	is('two parts a bar', await page.$eval('#ranking .bar', (b) => b.children.length), 2);
	ok('both in the permalink', /head=0,2/.test(await fragment(page)));
	await page.click('#several');
	is('back to one', await page.$$eval('#heads [aria-pressed=true]', (all) => all.length), 1);
}

async function matrix(page) {
	const box = await (await page.$('#matrix')).boundingBox();
	await page.mouse.move(box.x + 200, box.y + 300);
	await settle(page);
	const tip = await text(page, '#tip');
	ok('hover reads out', /^query .*\nkey .*\nweight 0\.\d{3}, rank \d+ of 14$/.test(tip));
	const before = await fragment(page);
	await page.mouse.wheel(0, -400);
	await page.mouse.wheel(0, -400);
	const zoomed = await fragment(page);
	ok('the wheel zooms', /zoom=/.test(zoomed) && !/zoom=/.test(before));
	is('about the pointer', (await text(page, '#tip')).split('\n').slice(0, 2), tip.split('\n').slice(0, 2));
	await page.mouse.down();
	await page.mouse.move(box.x + 120, box.y + 220, {steps: 4});
	await page.mouse.up();
	const moved = await fragment(page);
	ok('a drag moves', moved !== zoomed && /zoom=/.test(moved));
	await page.reload();
	is('the zoom is kept', await fragment(page), moved);
	await page.click('#zoom-fit');
	ok('fit', !/zoom=/.test(await fragment(page)));
	await page.click('#zoom-in');
	ok('a button zooms', /zoom=/.test(await fragment(page)));
	await page.keyboard.press('0');
	ok('0 fits', !/zoom=/.test(await fragment(page)));
	await page.mouse.click(box.x + 200, box.y + 300);
	ok('a click keeps the cell', /cell=\d+,\d+/.test(await fragment(page)));
}

async function pinch(page) {
	await page.evaluate(() => {
		const canvas = document.getElementById('matrix'), box = canvas.getBoundingClientRect();
		canvas.setPointerCapture = () => {};
		const send = (type, id, x, y) => canvas.dispatchEvent(new PointerEvent(type,
			{pointerId: id, pointerType: 'touch', clientX: box.x + x, clientY: box.y + y, bubbles: true}));
		send('pointerdown', 1, 150, 150);
		send('pointerdown', 2, 180, 180);
		for (let i = 1; i <= 8; i++) {
			send('pointermove', 1, 150 - 6 * i, 150 - 6 * i);
			send('pointermove', 2, 180 + 6 * i, 180 + 6 * i);
		}
		send('pointerup', 1, 100, 100);
		send('pointerup', 2, 230, 230);
	});
	ok('a pinch zooms', /zoom=/.test(await fragment(page)));
	ok('no sideways scroll', await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	await page.tap('#tab-heads');
	await page.tap('#q-list #q-9');
	await settle(page);
	ok('a tap chooses', /it/.test(await text(page, '#panel-title')));
}

async function grid(page) {
	await page.waitForFunction(() => [...document.querySelectorAll('.thumb canvas')].every((c) => c.width === 14));
	is('a thumbnail each', await page.$$eval('.thumb', (all) => all.map((b) => b.getAttribute('aria-label'))),
		[0, 1, 2, 3].map((h) => `layer 1 head ${h}`));
	await page.focus('.thumb');
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('Enter');
	ok('to the head', /view=matrix&head=1/.test(await fragment(page)));
}

async function exports(page) {
	for (const view of ['heads', 'matrix', 'grid']) {
		await page.click(`#tab-${view}`);
		await page.waitForTimeout(300);
		const save = async (button) => {
			const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
			return [download.suggestedFilename(), fs.readFileSync(await download.path())];
		};
		const [name, svg] = await save('#export-svg'), [, png] = await save('#export-png');
		ok(`${view}: a name`, /animal.*\.svg$/.test(name));
		ok(`${view}: SVG`, String(svg).startsWith('<svg ') && String(svg).trimEnd().endsWith('</svg>'));
		is(`${view}: SVG parses`, await page.evaluate((source) =>
			new DOMParser().parseFromString(source, 'image/svg+xml').querySelectorAll('parsererror').length, String(svg)), 0);
		ok(`${view}: PNG`, png.subarray(0, 8).equals(Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])) && png.length > 3000);
		if (view === 'heads')
			ok('its tokens and lines', String(svg).includes('>animal</text>') && String(svg).includes('<path d="M'));
	}
}

/* WCAG 2 contrast of all visible text on its ground. */
async function contrast(page) {
	const worst = await page.evaluate(() => {
		const parse = (c) => (c.match(/[\d.]+/g) || []).map(Number);
		const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
			.map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
			.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const ground = (element) => {
			for (let e = element; e; e = e.parentElement) {
				const c = parse(getComputedStyle(e).backgroundColor);
				if (c.length === 3 || c[3] === 1)
					return c;
			}
			return [255, 255, 255];
		};
		let low = [99, ''];
		for (const e of document.querySelectorAll('body *:not(script, noscript, option, canvas)')) {
			const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
			if (!own || !e.checkVisibility() || e.disabled)
				continue;
			const [a, b] = [luminance(parse(getComputedStyle(e).color)), luminance(ground(e))].sort((x, y) => y - x);
			if ((a + 0.05) / (b + 0.05) < low[0])
				low = [(a + 0.05) / (b + 0.05), `${e.tagName} ${e.className} ${e.textContent.slice(0, 20)}`];
		}
		return low;
	});
	ok(`contrast of ${worst[1]}: ${worst[0].toFixed(2)}`, worst[0] >= 4.5);
}

async function evil(page) {
	const given = JSON.parse(fs.readFileSync(`${directory}/evil-shown.json`, 'utf8'));
	is('tokens as they are', await page.$$eval('#q-list .token b', (all) => all.map((b) => b.textContent)), given);
	is('no element of theirs', await page.$$eval('img, iframe, object', (all) => all.length), 0);
	is('no script of theirs', await page.$$eval('script:not([type])', (all) => all.length), 1);
	await page.click('#about');
	ok('the size is told', /\d+ kB, made by attn/.test(await text(page, '#about-text')));
	const refused = await page.evaluate(() => {
		const script = document.createElement('script');
		script.textContent = 'window.entered = 1';
		document.body.append(script);
		return window.entered === undefined;
	}).catch(() => true);
	ok('no other script runs', refused);
}

async function main() {
	browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: flags});
	await visit('animal', 'head=3', tokensView);
	await visit('animal', '', keyboard);
	await visit('animal', '', several);
	await visit('animal', 'view=matrix&head=3', matrix);
	await visit('animal', 'view=matrix', pinch, {viewport: {width: 390, height: 780}, hasTouch: true, isMobile: true});
	await visit('animal', 'view=grid', grid);
	await visit('animal', 'head=3&query=9', exports);
	for (const colorScheme of ['light', 'dark'])
		await visit('animal', 'head=3&query=9', async (page) => {
			is(`follows ${colorScheme}`, await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
			await contrast(page);
			await page.click('#theme');
			await settle(page);
			ok('the button turns it', await page.evaluate((was) => document.documentElement.dataset.theme !== was, colorScheme));
			await contrast(page);
		}, {colorScheme});
	await visit('animal', 'head=3&query=9', async (page) => {
		await settle(page);
		is('without DecompressionStream', (await ranking(page)).slice(0, 5), IT);
	}, {before: () => { delete window.DecompressionStream; }});
	await visit('animal', 'head=99&query=-1&zoom=x,y,z&view=no&cell=1e9,0', async (page) => {
		is('a bad permalink is the beginning', await page.$eval('#heads [aria-pressed=true]', (b) => b.textContent), '0');
	});
	await visit('cross', '', async (page) => {
		is('other keys than queries', [await text(page, '#q-list b'), await text(page, '#k-list b')], ['Le', 'The']);
		is('they are called so', await text(page, '#k-title'), 'key (source)');
	});
	await visit('masked', 'query=0', async (page) => {
		await settle(page);
		is('masked keys are none', await ranking(page), ['the 0|1.000']);
		await page.keyboard.press('2');
		await page.focus('#matrix');
		await page.keyboard.press('ArrowRight');
		await settle(page);
		ok('masked is said', /masked$/.test(await text(page, '#live')));
	});
	await visit('long', 'query=1500', async (page) => {
		await settle(page);
		ok('top keys are noted', /64 keys/.test(await text(page, '#note')));
		ok('a far token is in sight', await page.isVisible('#q-1500'));
		ok('few elements', await page.$$eval('.token', (all) => all.length < 150));
		await page.keyboard.press('2');
		await settle(page);
	});
	await visit('evil', '', evil, {refused: 'Executing inline script violates'});
	await browser.close();
	console.log(`${passed} passed, ${failed} failed`);
	process.exit(failed ? 1 : 0);
}

main().catch((error) => {
	console.log(`FAIL: ${error.stack}`);
	process.exit(1);
});
