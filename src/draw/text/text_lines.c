/* Texts for vector formats, which keep them as text: what Pango laid out, line
 * by line and font by font. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/text/text_internal.h"
#include "draw/text/text_show.h"
#include "util/memory.h"

static char *family_of(const struct pango_functions *p, PangoFont *font)
{
	PangoFontDescription *description = font ? p->pango_font_describe(font) : NULL;
	const char *family = description ? p->pango_font_description_get_family(description) : NULL;
	char *copy = family ? strdup(family) : NULL;
	if (description)
		p->pango_font_description_free(description);
	return copy;
}

const char *text_used_family(struct text_engine *t)
{
	const struct pango_functions *p = t->pango;
	if (t->used)
		return t->used;
	text_start(t, 12);
	t->laid_out = NULL;
	p->pango_layout_set_width(t->fine, -1);
	p->pango_layout_set_text(t->fine, "x", 1);
	const PangoLayoutLine *line = p->pango_layout_get_line_readonly(t->fine, 0);
	if (line && line->runs)
		t->used = family_of(p, ((PangoGlyphItem *)line->runs->data)->item->analysis.font);
	return t->used;
}

const struct pango_functions *text_pango(const struct text_engine *t)
{
	return t->pango;
}

/* A piece of a line in one font. */
struct piece {
	int offset, length; /* bytes of what is shown */
	bool ellipsis;      /* stands for those bytes */
	char *family;
};

static int by_offset(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void pieces_free(struct piece *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(pieces[i].family);
	free(pieces);
}

/* The runs of a line in the order of reading; NULL without memory. */
static struct piece *line_pieces(const struct pango_functions *p, const PangoLayoutLine *line, size_t *count)
{
	size_t runs = 0;
	for (GSList *run = line->runs; run; run = run->next)
		runs++;
	struct piece *pieces = array_alloc(runs + 1, sizeof *pieces);
	*count = 0;
	if (!pieces)
		return NULL;
	for (GSList *run = line->runs; run; run = run->next) {
		const PangoItem *item = ((PangoGlyphItem *)run->data)->item;
		pieces[(*count)++] = (struct piece){
		    item->offset, item->length, (item->analysis.flags & PANGO_ANALYSIS_FLAG_IS_ELLIPSIS) != 0,
		    family_of(p, item->analysis.font)};
	}
	qsort(pieces, runs, sizeof *pieces, by_offset);
	return pieces;
}

static bool same_family(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Join neighbours of one font.  A `wrapped` line ends without the spaces at which
 * it was broken. */
static size_t make_spans(const char *shown, const struct piece *pieces, size_t count, bool wrapped,
			 struct text_span *spans)
{
	static const char ellipsis[] = "\u2026";
	size_t made = 0;
	for (size_t i = 0; i < count; i++) {
		struct text_span *last = made ? &spans[made - 1] : NULL;
		struct text_span span = {pieces[i].family, shown + pieces[i].offset,
					 (size_t)pieces[i].length};
		if (pieces[i].ellipsis)
			span = (struct text_span){pieces[i].family, ellipsis, sizeof ellipsis - 1};
		if (last && last->text + last->length == span.text && same_family(last->family, span.family))
			last->length += span.length;
		else
			spans[made++] = span;
	}
	if (made == 0)
		return 0;
	struct text_span *last = &spans[made - 1];
	while (wrapped && last->length > 1 && last->text[last->length - 1] == ' ')
		last->length--;
	return made;
}

/* Call `each` for one line; false without memory. */
static bool pass_line(const struct text_engine *t, const struct entry *e, PangoLayoutIter *iter, double unit,
		      double first, void (*each)(void *context, const struct text_line *line), void *context)
{
	const struct pango_functions *p = t->pango;
	const PangoLayoutLine *line = p->pango_layout_iter_get_line_readonly(iter);
	PangoRectangle logical;
	p->pango_layout_iter_get_line_extents(iter, NULL, &logical);
	size_t count = 0;
	struct piece *pieces = line_pieces(p, line, &count);
	struct text_span *spans = array_alloc(count + 1, sizeof *spans);
	bool good = pieces && spans;
	if (good && count > 0) {
		struct text_line passed = {
		    .x = (int)lround(logical.x * unit + e->x),
		    .y = (int)lround(p->pango_layout_iter_get_baseline(iter) * unit - first),
		    .width = (int)lround(logical.width * unit),
		    .right_to_left = line->resolved_dir == PANGO_DIRECTION_RTL,
		    .spans = spans,
		    .count =
			make_spans(p->pango_layout_get_text(t->layout), pieces, count, e->style.wrap, spans),
		};
		each(context, &passed);
	}
	pieces_free(pieces, count);
	free(spans);
	return good;
}

void text_lines(struct text_engine *t, const char *text, struct text_style style,
		void (*each)(void *context, const struct text_line *line), void *context)
{
	const struct pango_functions *p = t->pango;
	const struct entry *e = text_laid_out(t, text, style);
	if (!e)
		return;
	double unit = text_scale(t, e) / PANGO_SCALE;
	double first = p->pango_layout_get_baseline(t->layout) * unit;
	PangoLayoutIter *iter = p->pango_layout_get_iter(t->layout);
	do {
		if (!pass_line(t, e, iter, unit, first, each, context))
			attn_fail_memory(&t->error);
	} while (p->pango_layout_iter_next_line(iter));
	p->pango_layout_iter_free(iter);
}

void text_show(struct text_engine *t, cairo_t *cr, const char *text, struct text_style style, double x,
	       double y, enum text_direction direction)
{
	const struct pango_functions *p = t->pango;
	const struct entry *e = text_laid_out(t, text, style);
	if (!e)
		return;
	p->cairo_save(cr);
	p->cairo_translate(cr, x, y);
	if (direction == TEXT_UPWARDS)
		p->cairo_rotate(cr, -acos(0.0));
	p->cairo_translate(cr, e->x, e->y - e->box.above);
	p->cairo_scale(cr, text_scale(t, e), text_scale(t, e));
	p->pango_cairo_show_layout(cr, t->layout);
	p->cairo_restore(cr);
}
