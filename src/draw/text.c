#include "draw/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "draw/pango.h"
#include "util/checked.h"

enum {
	CACHE_BYTES = 16 * 1024 * 1024, /* of rasters, when trimmed */
	CACHE_ENTRIES = 32768,
	MAX_INK = 16384, /* pixels a side of one text: more is cut */
	BLEED = 2        /* pixels around the box: hinting moves ink by one */
};

struct entry {
	char *text; /* as given */
	struct text_style style;
	uint64_t hash;
	struct text_box box;
	double x, y;             /* where the layout's origin falls inside the box */
	unsigned char *coverage; /* the box with BLEED on all sides, once painted */
	uint32_t *colours;       /* the same as premultiplied ARGB: text with colour glyphs */
};

struct text_engine {
	const struct pango_functions *pango; /* NULL until the first text */
	PangoFontMap *map;
	PangoContext *context;
	PangoLayout *layout;
	PangoFontDescription *font;
	struct text_style current; /* what the layout is set to */
	const struct entry *laid_out;

	struct entry **entries; /* (count) */
	size_t count, capacity;
	size_t *slots; /* (slot_count): index + 1 of an entry, 0 = free */
	size_t slot_count;
	size_t bytes; /* of rasters */

	struct buffer shown; /* scratch */
	char *missing;
	struct attn_error error;
};

enum attn_status text_engine_new(struct text_engine **engine, struct attn_error *err)
{
	*engine = calloc(1, sizeof **engine);
	return *engine ? ATTN_OK : attn_fail_memory(err);
}

static void entry_free(struct entry *e)
{
	if (!e)
		return;
	free(e->text);
	free(e->coverage);
	free(e->colours);
	free(e);
}

static void cache_drop(struct text_engine *t)
{
	for (size_t i = 0; i < t->count; i++)
		entry_free(t->entries[i]);
	free(t->entries);
	free(t->slots);
	t->entries = NULL;
	t->slots = NULL;
	t->count = t->capacity = t->slot_count = t->bytes = 0;
	t->laid_out = NULL;
}

void text_engine_free(struct text_engine *t)
{
	if (!t)
		return;
	cache_drop(t);
	if (t->font)
		t->pango->pango_font_description_free(t->font);
	if (t->layout)
		t->pango->g_object_unref(t->layout);
	if (t->context)
		t->pango->g_object_unref(t->context);
	if (t->map)
		t->pango->g_object_unref(t->map);
	buffer_release(&t->shown);
	free(t->missing);
	free(t);
}

void text_engine_trim(struct text_engine *t)
{
	if (t->bytes > CACHE_BYTES || t->count > CACHE_ENTRIES)
		cache_drop(t);
}

enum attn_status text_engine_status(const struct text_engine *t, struct attn_error *err)
{
	if (t->error.status == ATTN_OK)
		return ATTN_OK;
	return attn_fail(err, t->error.status, "%s", t->error.message);
}

const char *text_missing_glyphs(const struct text_engine *t)
{
	return t->missing;
}

/* The same pixels on every machine with the same fonts: grey, slightly hinted,
 * not placed by the desktop's settings. */
static void set_rendering(const struct pango_functions *p, PangoContext *context)
{
	cairo_font_options_t *options = p->cairo_font_options_create();

	p->cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	p->cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
	p->cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	p->pango_cairo_context_set_font_options(context, options);
	p->cairo_font_options_destroy(options);
}

/* Load Pango, once.  False, with t->error filled, when it cannot. */
static bool engine_start(struct text_engine *t)
{
	const struct pango_functions *p;

	if (t->error.status != ATTN_OK)
		return false;
	if (t->pango)
		return true;
	if (pango_load(&p, &t->error) != ATTN_OK)
		return false;
	t->pango = p;
	t->map = p->pango_cairo_font_map_new();
	t->context = p->pango_font_map_create_context(t->map);
	set_rendering(p, t->context);
	t->layout = p->pango_layout_new(t->context);
	t->font = p->pango_font_description_new();
	p->pango_font_description_set_family(t->font, "Sans");
	return true;
}

static uint64_t hash_of(const char *text, struct text_style style)
{
	uint64_t hash = 1469598103934665603u;
	const uint64_t key[] = {(uint64_t)style.size, (uint64_t)style.max_width,
				(uint64_t)style.bold * 2 + (uint64_t)style.wrap};

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	for (size_t i = 0; i < sizeof key / sizeof key[0]; i++)
		hash = (hash ^ key[i]) * 1099511628211u;
	return hash ^ hash >> 29;
}

static bool same_style(struct text_style a, struct text_style b)
{
	return a.size == b.size && a.bold == b.bold && a.max_width == b.max_width && a.wrap == b.wrap;
}

/* Find the slot of a text: that of its entry, or a free one. */
static size_t find_slot(const struct text_engine *t, const char *text, struct text_style style, uint64_t hash)
{
	size_t slot = (size_t)hash & (t->slot_count - 1);

	for (; t->slots[slot] != 0; slot = (slot + 1) & (t->slot_count - 1)) {
		const struct entry *e = t->entries[t->slots[slot] - 1];

		if (e->hash == hash && same_style(e->style, style) && strcmp(e->text, text) == 0)
			break;
	}
	return slot;
}

/* Room for one more entry: slots stay at most half full. */
static bool cache_grow(struct text_engine *t)
{
	size_t capacity = t->capacity ? 2 * t->capacity : 256;
	struct entry **entries;
	size_t *slots;

	if (t->count < t->capacity)
		return true;
	entries = realloc(t->entries, capacity * sizeof(struct entry *));
	if (!entries)
		return false;
	t->entries = entries;
	slots = array_alloc(2 * capacity, sizeof *slots);
	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->slot_count = 2 * capacity;
	t->capacity = capacity;
	for (size_t i = 0; i < t->count; i++) {
		const struct entry *e = t->entries[i];

		t->slots[find_slot(t, e->text, e->style, e->hash)] = i + 1;
	}
	return true;
}

/* Set the layout to a text, as it can be seen.  False without memory. */
static bool lay_out(struct text_engine *t, const struct entry *e)
{
	const struct pango_functions *p = t->pango;
	struct text_style style = e->style;

	if (t->laid_out == e)
		return true;
	t->laid_out = NULL;
	buffer_clear(&t->shown);
	text_visible(&t->shown, e->text);
	if (t->shown.failed)
		return false;
	if (style.size != t->current.size || style.bold != t->current.bold) {
		p->pango_font_description_set_absolute_size(t->font, (double)style.size * PANGO_SCALE);
		p->pango_font_description_set_weight(t->font,
						     style.bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
		p->pango_layout_set_font_description(t->layout, t->font);
	}
	t->current = style;
	p->pango_layout_set_width(t->layout, style.max_width > 0 ? style.max_width * PANGO_SCALE : -1);
	p->pango_layout_set_wrap(t->layout, PANGO_WRAP_WORD_CHAR);
	p->pango_layout_set_ellipsize(t->layout, style.wrap ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END);
	p->pango_layout_set_text(t->layout, t->shown.data, (int)t->shown.length);
	t->laid_out = e;
	return true;
}

static int floor_pixels(int units)
{
	return units >= 0 ? units / PANGO_SCALE : -((-units + PANGO_SCALE - 1) / PANGO_SCALE);
}

static int ceil_pixels(int units)
{
	return -floor_pixels(-units);
}

static int clamp_ink(int pixels)
{
	return pixels < 0 ? 0 : pixels > MAX_INK ? MAX_INK : pixels;
}

static void measure(struct text_engine *t, struct entry *e)
{
	const struct pango_functions *p = t->pango;
	PangoRectangle ink, logical;
	int baseline, left, right;

	p->pango_layout_get_extents(t->layout, &ink, &logical);
	baseline = p->pango_layout_get_baseline(t->layout);
	left = logical.x;
	right = logical.x + logical.width;
	if (ink.width > 0) {
		left = ink.x < left ? ink.x : left;
		right = ink.x + ink.width > right ? ink.x + ink.width : right;
		e->box.above = clamp_ink(ceil_pixels(baseline - ink.y) + 1);
		e->box.below = clamp_ink(ceil_pixels(ink.y + ink.height - baseline));
	}
	left = floor_pixels(left);
	e->box.width = clamp_ink(ceil_pixels(right) - left);
	e->x = -left;
	e->y = e->box.above - (double)baseline / PANGO_SCALE;
	if (!t->missing && p->pango_layout_get_unknown_glyphs_count(t->layout) > 0)
		t->missing = strdup(e->text);
}

/* The entry of a text, measured; NULL on failure, which t->error then tells. */
static struct entry *lookup(struct text_engine *t, const char *text, struct text_style style)
{
	uint64_t hash = hash_of(text, style);
	struct entry *e = NULL;
	size_t slot;

	if (!engine_start(t))
		return NULL;
	if (!cache_grow(t))
		goto no_memory;
	slot = find_slot(t, text, style, hash);
	if (t->slots[slot] != 0)
		return t->entries[t->slots[slot] - 1];
	e = calloc(1, sizeof *e);
	if (!e || !(e->text = strdup(text)))
		goto no_memory;
	e->style = style;
	e->hash = hash;
	if (!lay_out(t, e))
		goto no_memory;
	measure(t, e);
	t->entries[t->count++] = e;
	t->slots[slot] = t->count;
	return e;

no_memory:
	if (t->laid_out == e)
		t->laid_out = NULL;
	entry_free(e);
	attn_fail_memory(&t->error);
	return NULL;
}

struct text_box text_measure(struct text_engine *t, const char *text, struct text_style style)
{
	const struct text_box nothing = {0, 0, 0};
	const struct entry *e = lookup(t, text, style);

	return e ? e->box : nothing;
}

/* Keep the surface's pixels: as coverage, unless some glyph has colours. */
static bool keep_pixels(struct entry *e, const unsigned char *data, size_t stride, size_t width,
			size_t height)
{
	bool coloured = false;

	e->coverage = array_alloc(width, height);
	e->colours = array_alloc(width * height, sizeof *e->colours);
	if (!e->coverage || !e->colours)
		return false;
	for (size_t y = 0; y < height; y++) {
		memcpy(e->colours + y * width, data + y * stride, width * sizeof *e->colours);
		for (size_t x = 0; x < width; x++) {
			uint32_t pixel = e->colours[y * width + x];

			coloured |= (pixel & 0xffffff) != 0;
			e->coverage[y * width + x] = (unsigned char)(pixel >> 24);
		}
	}
	if (!coloured) {
		free(e->colours);
		e->colours = NULL;
	}
	return true;
}

static bool rasterise(struct text_engine *t, struct entry *e)
{
	const struct pango_functions *p = t->pango;
	int width = e->box.width + 2 * BLEED, height = e->box.above + e->box.below + 2 * BLEED;
	cairo_surface_t *surface;
	cairo_t *cr;
	bool good;

	if (e->coverage || e->box.width == 0 || e->box.above + e->box.below == 0)
		return true;
	if (!lay_out(t, e))
		return false;
	surface = p->cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
	cr = p->cairo_create(surface);
	p->cairo_move_to(cr, e->x + BLEED, e->y + BLEED);
	p->pango_cairo_show_layout(cr, t->layout);
	p->cairo_surface_flush(surface);
	good = p->cairo_status(cr) == CAIRO_STATUS_SUCCESS &&
	       keep_pixels(e, p->cairo_image_surface_get_data(surface),
			   (size_t)p->cairo_image_surface_get_stride(surface), (size_t)width, (size_t)height);
	p->cairo_destroy(cr);
	p->cairo_surface_destroy(surface);
	t->bytes += (size_t)width * (size_t)height;
	return good;
}

/* Greys on white keep to 16 levels: no eye tells them apart, and a picture then
 * has few enough colours for a palette. */
static unsigned char blend(unsigned char under, unsigned int over, unsigned int alpha, bool snap)
{
	unsigned int value = (under * (255 - alpha) + over * alpha + 127) / 255;

	return (unsigned char)(snap ? (value + 8) / 17 * 17 : value);
}

static void paint_pixel(unsigned char *pixel, const struct entry *e, size_t at, struct rgb colour)
{
	unsigned int alpha = e->coverage[at];
	bool white = pixel[0] == 255 && pixel[1] == 255 && pixel[2] == 255;

	if (alpha == 0)
		return;
	if (e->colours) { /* premultiplied: alpha has been applied */
		uint32_t over = e->colours[at];

		pixel[0] = (unsigned char)(pixel[0] * (255 - alpha) / 255 + (over >> 16 & 0xff));
		pixel[1] = (unsigned char)(pixel[1] * (255 - alpha) / 255 + (over >> 8 & 0xff));
		pixel[2] = (unsigned char)(pixel[2] * (255 - alpha) / 255 + (over & 0xff));
		return;
	}
	pixel[0] = blend(pixel[0], colour.r, alpha, white);
	pixel[1] = blend(pixel[1], colour.g, alpha, white);
	pixel[2] = blend(pixel[2], colour.b, alpha, white);
}

void text_paint(struct text_engine *t, struct image *image, const char *text, struct text_style style, int x,
		int y, bool turned, struct rgb colour)
{
	struct entry *e = lookup(t, text, style);
	size_t at = 0;

	if (!e)
		return;
	if (!rasterise(t, e)) {
		attn_fail_memory(&t->error);
		return;
	}
	if (!e->coverage)
		return;
	for (int row = -BLEED; row < e->box.above + e->box.below + BLEED; row++) {
		for (int col = -BLEED; col < e->box.width + BLEED; col++, at++) {
			int px = turned ? x + row - e->box.above : x + col;
			int py = turned ? y - 1 - col : y + row - e->box.above;

			if (px < 0 || py < 0 || (size_t)px >= image->width || (size_t)py >= image->height)
				continue;
			paint_pixel(image->pixels + ((size_t)py * image->width + (size_t)px) * 3, e, at,
				    colour);
		}
	}
}
