/* The colours of terminals. */
#ifndef ATTN_DRAW_TERMINAL_TERMINAL_COLOURS_H
#define ATTN_DRAW_TERMINAL_TERMINAL_COLOURS_H

#include <stdbool.h>

#include "draw/image/colour.h"

enum terminal_colours {
	TERMINAL_PLAIN, /* characters only, no escapes */
	TERMINAL_256,
	TERMINAL_TRUE /* 24 bits */
};

/* What may be written where `tty` says whether it is a terminal, and the others are
 * the environment's NO_COLOR, COLORTERM and TERM, or NULL.  NO_COLOR counts unless it
 * is empty (https://no-color.org). */
enum terminal_colours terminal_colours(bool tty, const char *no_color, const char *colorterm,
				       const char *term);

/* The entry of the 256-colour palette that is nearest: of the cube 16 to 231 or the
 * greys 232 to 255. */
unsigned int terminal_palette(struct rgb colour);

#endif
