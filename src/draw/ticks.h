/* The numbers beside a colour bar. */
#ifndef ATTN_DRAW_TICKS_H
#define ATTN_DRAW_TICKS_H

#include <stddef.h>

enum {
	TICKS_MAX = 12
};

struct tick {
	double value;
	char text[24];
};

/* Fill ticks[TICKS_MAX] for a bar from 0 to `top` (above 0) that is `length`
 * pixels long: 0, round numbers between that are at least `least` pixels apart,
 * and `top` itself, so that the scale can be read off.  Returns how many. */
size_t ticks_make(double top, int length, int least, struct tick *ticks);

#endif
