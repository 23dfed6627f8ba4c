/* Colours: sRGB in 8 bits a channel, tables of them, and their contrast. */
#ifndef ATTN_DRAW_IMAGE_COLOUR_H
#define ATTN_DRAW_IMAGE_COLOUR_H

#include <stddef.h>

struct rgb {
	unsigned char r, g, b; /* sRGB */
};

enum background_kind {
	BACKGROUND_LIGHT,
	BACKGROUND_DARK
};

/* Which of a table's `entries` colours a share of the scale has: beyond [0, 1] that of the
 * nearer end, and NaN that of 0. */
size_t colour_entry(double share, size_t entries);

/* WCAG 2 contrast ratio of two colours: 1 to 21. */
double colour_contrast(struct rgb a, struct rgb b);

/* Black or white, whichever reads better on `background`: the WCAG 2 contrast is then at
 * least 4.5. */
struct rgb colour_text_on(struct rgb background);

#endif
