/* The colours of a figure beside those of its cells. */
#ifndef ATTN_DRAW_CANVAS_THEME_H
#define ATTN_DRAW_CANVAS_THEME_H

#include "draw/image/colour.h"

struct theme {
	const char *name;
	enum background_kind kind;
	struct rgb background;
	struct rgb ink;                 /* titles and labels */
	struct rgb soft_ink;            /* notes */
	struct rgb frame;               /* frames and ticks */
	struct rgb line;                /* between cells */
	struct rgb accent;              /* lines over cells */
	struct rgb masked, masked_line; /* masked cells, and the diagonal lines over them */
};

/* The theme called `name`, or NULL when there is none: "light" or "dark". */
const struct theme *theme_find(const char *name);

const struct theme *theme_default(void); /* light */

#endif
