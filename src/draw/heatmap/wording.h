/* How figures word things, whether they are pictures, text for a terminal or overlays. */
#ifndef ATTN_DRAW_HEATMAP_WORDING_H
#define ATTN_DRAW_HEATMAP_WORDING_H

#include <stddef.h>

#include "util/buffer.h"

/* Append a note, behind "; " if it is not the first; NULL and "" are none. */
void note_add(struct buffer *notes, const char *text);

/* What cells show: "weight", "score" or the name of a statistic; several of them; and what
 * hatched cells are: "masked", or "none". */
struct heatmap_figure;
const char *value_name(const struct heatmap_figure *figure);
const char *value_names(const struct heatmap_figure *figure);
const char *hatched_name(const struct heatmap_figure *figure);

const char *ordinal_ending(size_t n); /* "st", "nd", "rd" or "th" */

enum {
	CELL_NUMBER_SIZE = 12 /* bytes: ".17", "1.00", "1e+05", with a minus sign */
};

/* A cell's value with two decimals: ".17", "1.00"; from 10 up with none. */
void cell_number(float value, char text[CELL_NUMBER_SIZE]);

#endif
