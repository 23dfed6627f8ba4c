/* The text engine: fonts, and a cache of texts that are laid out and measured once. */
#include "draw/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/text/text_internal.h"
#include "util/memory.h"

enum {
	CACHE_BYTES = 16 * 1024 * 1024, /* of rasters, when trimmed */
	CACHE_ENTRIES = 8192,
	MAX_INK = 1 << 21, /* a side of one text: more is cut */
	VECTOR_SIZE = 64   /* of the font that text in fractions of pixels is laid out in */
};

/* A new font map reads the system's font configuration in a thread of its own,
 * so the sooner it is made the better. */
enum attn_status text_engine_new(struct text_engine **engine, struct attn_error *err)
{
	*engine = NULL;
	const struct pango_functions *pango;
	enum attn_status status = pango_load(&pango, err);
	if (status != ATTN_OK)
		return status;
	*engine = calloc(1, sizeof **engine);
	if (!*engine)
		return attn_fail_memory(err);
	(*engine)->pango = pango;
	(*engine)->map = pango->pango_cairo_font_map_new();
	(*engine)->family = strdup("Sans");
	if ((*engine)->family)
		return ATTN_OK;
	text_engine_free(*engine);
	*engine = NULL;
	return attn_fail_memory(err);
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

static void layouts_drop(struct text_engine *t)
{
	cache_drop(t);
	if (t->even)
		t->pango->g_object_unref(t->even);
	if (t->fine)
		t->pango->g_object_unref(t->fine);
	free(t->used);
	t->even = t->fine = t->layout = NULL;
	t->used = NULL;
	t->size = 0;
}

enum attn_status text_engine_set(struct text_engine *t, const char *family, enum text_output output,
				 struct attn_error *err)
{
	family = family ? family : "Sans";
	if (t->output == output && strcmp(t->family, family) == 0)
		return ATTN_OK;
	char *copy = strdup(family);
	if (!copy)
		return attn_fail_memory(err);
	layouts_drop(t);
	free(t->family);
	t->family = copy;
	t->output = output;
	return ATTN_OK;
}

void text_engine_free(struct text_engine *t)
{
	if (!t)
		return;
	layouts_drop(t);
	free(t->family);
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

const char *text_missing_glyphs(const struct text_engine *t, uint32_t *code)
{
	if (code)
		*code = t->missing_code;
	return t->missing;
}

/* Where glyphs may begin. */
enum glyph_places {
	WHOLE_PIXELS,
	ANYWHERE
};

/* A layout whose pixels are the same on every machine with the same fonts: grey,
 * slightly hinted, whatever the desktop's settings say. */
static PangoLayout *layout_new(const struct text_engine *t, enum glyph_places places)
{
	const struct pango_functions *p = t->pango;
	cairo_font_options_t *options = p->cairo_font_options_create();
	PangoContext *context = p->pango_font_map_create_context(t->map);
	PangoFontDescription *font = p->pango_font_description_new();
	p->cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	p->cairo_font_options_set_hint_style(options, t->output == TEXT_VECTOR ? CAIRO_HINT_STYLE_NONE
									       : CAIRO_HINT_STYLE_SLIGHT);
	p->cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	p->pango_cairo_context_set_font_options(context, options);
	p->pango_context_set_round_glyph_positions(context, places == WHOLE_PIXELS);
	PangoLayout *layout = p->pango_layout_new(context);
	p->pango_font_description_set_family(font, t->family);
	p->pango_font_description_set_absolute_size(font, (double)t->size * PANGO_SCALE);
	p->pango_layout_set_font_description(layout, font);
	p->pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
	p->pango_font_description_free(font);
	p->g_object_unref(context);
	p->cairo_font_options_destroy(options);
	return layout;
}

void text_start(struct text_engine *t, int size)
{
	if (t->size > 0)
		return;
	t->size = t->output == TEXT_VECTOR ? VECTOR_SIZE : size > 0 ? size : 1;
	t->even = layout_new(t, t->output == TEXT_VECTOR ? ANYWHERE : WHOLE_PIXELS);
	t->fine = layout_new(t, ANYWHERE);
}

static uint64_t hash_of(const char *text, struct text_style style)
{
	uint64_t hash = 1469598103934665603u;
	const uint64_t key[] = {(uint64_t)style.size, (uint64_t)style.max_width, (uint64_t)style.wrap};
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	for (size_t i = 0; i < sizeof key / sizeof *key; i++)
		hash = (hash ^ key[i]) * 1099511628211u;
	return hash ^ hash >> 29;
}

static bool same_style(struct text_style a, struct text_style b)
{
	return a.size == b.size && a.max_width == b.max_width && a.wrap == b.wrap;
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
	if (t->count < t->capacity)
		return true;
	struct entry **entries = realloc(t->entries, capacity * sizeof(struct entry *));
	if (!entries)
		return false;
	t->entries = entries;
	size_t *slots = array_alloc(2 * capacity, sizeof *slots);
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

double text_scale(const struct text_engine *t, const struct entry *e)
{
	return (double)e->style.size / t->size;
}

bool text_lay_out(struct text_engine *t, const struct entry *e)
{
	const struct pango_functions *p = t->pango;
	struct text_style style = e->style;
	double width = (double)style.max_width * PANGO_SCALE / text_scale(t, e);
	if (t->laid_out == e)
		return true;
	t->laid_out = NULL;
	buffer_clear(&t->shown);
	text_visible(&t->shown, e->text);
	if (t->shown.failed)
		return false;
	t->layout = style.size == t->size ? t->even : t->fine;
	p->pango_layout_set_width(t->layout, style.max_width > 0 ? (int)fmin(width, 1e9) : -1);
	p->pango_layout_set_ellipsize(t->layout, style.wrap ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END);
	p->pango_layout_set_text(t->layout, t->shown.data, (int)t->shown.length);
	t->laid_out = e;
	return true;
}

static int clamp_ink(double pixels)
{
	return pixels < 0 ? 0 : pixels > MAX_INK ? MAX_INK : (int)pixels;
}

/* The first character of the layout that no font has; 0 when all are there. */
static uint32_t first_missing(const struct text_engine *t)
{
	const struct pango_functions *p = t->pango;
	for (int i = 0; i < p->pango_layout_get_line_count(t->layout); i++) {
		const PangoLayoutLine *line = p->pango_layout_get_line_readonly(t->layout, i);
		for (GSList *run = line->runs; run; run = run->next) {
			const PangoGlyphString *glyphs = ((PangoGlyphItem *)run->data)->glyphs;
			for (int k = 0; k < glyphs->num_glyphs; k++)
				if (glyphs->glyphs[k].glyph & PANGO_GLYPH_UNKNOWN_FLAG &&
				    glyphs->glyphs[k].glyph != PANGO_GLYPH_EMPTY)
					return glyphs->glyphs[k].glyph & ~PANGO_GLYPH_UNKNOWN_FLAG;
		}
	}
	return 0;
}

static void measure(struct text_engine *t, struct entry *e)
{
	const struct pango_functions *p = t->pango;
	double unit = text_scale(t, e) / PANGO_SCALE;
	PangoRectangle ink, logical;
	p->pango_layout_get_extents(t->layout, &ink, &logical);
	double baseline = p->pango_layout_get_baseline(t->layout) * unit;
	double left = logical.x * unit;
	double right = (logical.x + logical.width) * unit;
	if (ink.width > 0) {
		left = fmin(left, ink.x * unit);
		right = fmax(right, (ink.x + ink.width) * unit);
		e->box.above = clamp_ink(ceil(baseline - ink.y * unit) + 1);
		e->box.below = clamp_ink(ceil((ink.y + ink.height) * unit - baseline));
	}
	left = floor(left);
	e->box.width = clamp_ink(ceil(right) - left);
	e->x = -left;
	e->y = e->box.above - baseline;
	if (!t->missing && p->pango_layout_get_unknown_glyphs_count(t->layout) > 0) {
		t->missing = strdup(e->text);
		t->missing_code = first_missing(t);
	}
}

struct entry *text_lookup(struct text_engine *t, const char *text, struct text_style style)
{
	uint64_t hash = hash_of(text, style);
	struct entry *e = NULL;
	if (t->error.status != ATTN_OK)
		return NULL;
	text_start(t, style.size);
	if (!cache_grow(t))
		goto no_memory;
	size_t slot = find_slot(t, text, style, hash);
	if (t->slots[slot] != 0)
		return t->entries[t->slots[slot] - 1];
	e = calloc(1, sizeof *e);
	if (!e || !(e->text = strdup(text)))
		goto no_memory;
	e->style = style;
	e->hash = hash;
	if (!text_lay_out(t, e))
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

const struct entry *text_laid_out(struct text_engine *t, const char *text, struct text_style style)
{
	const struct entry *e = text_lookup(t, text, style);
	if (!e || text_lay_out(t, e))
		return e;
	attn_fail_memory(&t->error);
	return NULL;
}

struct text_box text_measure(struct text_engine *t, const char *text, struct text_style style)
{
	const struct text_box nothing = {0, 0, 0};
	const struct entry *e = text_lookup(t, text, style);
	return e ? e->box : nothing;
}
