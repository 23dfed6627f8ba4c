/* Text in any script, on pixels and in vector formats: measured and rasterised once, then
 * reused.  Pango shapes it and orders right-to-left runs, Cairo paints it.
 *
 * What cannot be seen is made visible: an empty string as "", spaces alone as
 * U+2423, line ends, tabs and other control characters as symbols or numbers.
 */
#ifndef ATTN_DRAW_TEXT_TEXT_H
#define ATTN_DRAW_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "draw/image/image.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/minmax.h"

/* Where a text's pixels lie, from its origin: the left end of the baseline of
 * its first line. */
struct text_box {
	int width; /* pixels: its advance, or its ink where that is wider */
	int above; /* rows above the baseline */
	int below; /* rows from the baseline down */
};

/* The box that holds either. */
static inline struct text_box text_box_max(struct text_box a, struct text_box b)
{
	return (struct text_box){int_max(a.width, b.width), int_max(a.above, b.above),
				 int_max(a.below, b.below)};
}

struct text_style {
	int size;      /* em, in pixels */
	int max_width; /* pixels; 0 = no limit */
	bool wrap;     /* break lines at max_width; else shorten with an ellipsis */
};

struct text_engine;

/* Loads Pango: ATTN_FAILED, and what to install, when it is not there. */
enum attn_status text_engine_new(struct text_engine **engine, struct attn_error *err);
void text_engine_free(struct text_engine *engine); /* NULL is fine */

/* What texts are drawn on. */
enum text_output {
	TEXT_PIXELS,
	TEXT_VECTOR /* lengths are much finer than pixels: nothing is hinted */
};

/* Draw with another font from now on: `family` as Fontconfig knows it (NULL: "Sans").
 * ATTN_FAILED without memory. */
enum attn_status text_engine_set(struct text_engine *engine, const char *family, enum text_output output,
				 struct attn_error *err);

/* The family that Pango takes for Latin text, owned by the engine; NULL without
 * memory.  It is not the one asked for where that is not installed. */
const char *text_used_family(struct text_engine *engine);

/* Forget cached texts if they have grown large: boxes stay valid. */
void text_engine_trim(struct text_engine *engine);

/* Measure `text` (UTF-8; other bytes are shown as numbers).  A failure gives an
 * empty box and is kept for text_engine_status. */
struct text_box text_measure(struct text_engine *engine, const char *text, struct text_style style);

/* Which way a text runs from the left end of its baseline: to the right, or rotated by 90
 * degrees counter-clockwise about that point. */
enum text_direction {
	TEXT_HORIZONTAL,
	TEXT_UPWARDS
};

/* Paint with the left end of the first baseline at (x, y).  Parts outside the picture are
 * left out. */
void text_paint(struct text_engine *engine, struct image *image, const char *text, struct text_style style,
		int x, int y, enum text_direction direction, struct rgb colour);

/* The first failure of measuring or painting, or ATTN_OK. */
enum attn_status text_engine_status(const struct text_engine *engine, struct attn_error *err);

/* The first text with characters that no font has, or NULL; `code`, unless NULL,
 * gets the first of them. */
const char *text_missing_glyphs(const struct text_engine *engine, uint32_t *code);

/* A text as vector formats have it: lines of spans in the order of reading, each
 * in one font. */
struct text_span {
	const char *family; /* of its font; NULL where unknown */
	const char *text;   /* UTF-8, not terminated */
	size_t length;      /* bytes */
};

struct text_line {
	int x, y;  /* left end of its baseline, from the text's origin */
	int width; /* without spaces at its end */
	bool right_to_left;
	const struct text_span *spans;
	size_t count;
};

/* Call `each` for every line of a text, laid out as text_paint would paint it.  What a line
 * points to is valid during that call. */
void text_lines(struct text_engine *engine, const char *text, struct text_style style,
		void (*each)(void *context, const struct text_line *line), void *context);

/* Append `text` to `out`, with what cannot be seen made visible. */
void text_visible(struct buffer *out, const char *text);

#endif
