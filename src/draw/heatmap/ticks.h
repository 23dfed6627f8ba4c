/* The numbers beside a colour bar. */
#ifndef ATTN_DRAW_HEATMAP_TICKS_H
#define ATTN_DRAW_HEATMAP_TICKS_H

#include <stddef.h>

#include "draw/heatmap/scale.h"

enum {
	TICKS_MAX = 24
};

struct tick {
	double value;
	double share;  /* where on the bar: scale_share(value) */
	char text[24]; /* UTF-8: a minus sign is U+2212 */
};

/* Fill ticks[TICKS_MAX], upwards, for a bar of this scale that is `length` pixels
 * long: both ends (and 0 in the middle of a diverging scale), so that the scale
 * can be read off, and round numbers between that are at least `least` pixels
 * apart: even steps on a linear scale, else powers of ten and, where there is
 * room, 5 and 2 times these.  Returns how many. */
size_t ticks_make(const struct scale *scale, int length, int least, struct tick *ticks);

/* The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `least`, and the decimals that
 * it needs. */
double tick_step(double least, int *decimals);

/* A number as they have it: as few digits as it needs, at most `digits`, "1e-5". */
void tick_number(double value, int digits, char text[24]);

#endif
