/* The text engine from inside: shared by text.c, text_paint.c and text_lines.c. */
#ifndef ATTN_DRAW_TEXT_TEXT_INTERNAL_H
#define ATTN_DRAW_TEXT_TEXT_INTERNAL_H

#include <stdint.h>

#include "draw/text/pango.h"
#include "draw/text/text.h"

enum {
	BLEED = 2 /* pixels around a box: hinting moves ink by one */
};

struct entry {
	char *text; /* as given */
	struct text_style style;
	uint64_t hash;
	struct text_box box;
	size_t width, height;    /* of the pixels below */
	double x, y;             /* where the layout's origin falls inside the box */
	unsigned char *coverage; /* the box with BLEED on all sides, once painted */
	uint32_t *colours;       /* the same as premultiplied ARGB: text with colour glyphs */
};

struct text_engine {
	const struct pango_functions *pango;
	PangoFontMap *map;
	char *family; /* as asked for */
	char *used;   /* what Pango took for it; NULL until text_used_family */
	enum text_output output;

	/* One font serves all sizes, since each new one would cost Pango up to
	 * 5 ms of searching: text of another size is laid out in this one and
	 * scaled.  `even` places glyphs at whole pixels, for the font's own size;
	 * `fine` does not. */
	PangoLayout *even, *fine;
	int size; /* of the font: that of the first text; 0 until then */

	PangoLayout *layout; /* the one that is laid out now */
	const struct entry *laid_out;

	struct entry **entries; /* (count) */
	size_t count, capacity;
	size_t *slots; /* (slot_count): index + 1 of an entry, 0 = free */
	size_t slot_count;
	size_t bytes; /* of rasters */

	struct buffer shown; /* scratch */
	char *missing;
	uint32_t missing_code;
	struct attn_error error;
};

/* Find the font and make the layouts, if there are none yet, for a first text of `size`. */
void text_start(struct text_engine *t, int size);

/* The entry of a text, measured; NULL on failure, which t->error then tells. */
struct entry *text_lookup(struct text_engine *t, const char *text, struct text_style style);

/* Set t->layout to an entry's text, made visible.  False without memory. */
bool text_lay_out(struct text_engine *t, const struct entry *e);

/* The same for a text that is looked up first; NULL on failure, which t->error then tells. */
const struct entry *text_laid_out(struct text_engine *t, const char *text, struct text_style style);

/* What the layout's lengths are multiplied by: 1 at the font's own size. */
double text_scale(const struct text_engine *t, const struct entry *e);

#endif
