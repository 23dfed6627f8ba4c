/* Lengths with a unit, such as 84 mm. */
#ifndef ATTN_DRAW_CANVAS_LENGTH_H
#define ATTN_DRAW_CANVAS_LENGTH_H

#include <stdbool.h>

enum length_unit {
	LENGTH_PX, /* 96 an inch, as everywhere on the web */
	LENGTH_PT, /* 72 an inch */
	LENGTH_MM,
	LENGTH_CM,
	LENGTH_IN
};

struct length {
	double value; /* 0: none */
	enum length_unit unit;
};

/* "3.3in", "84mm", "8.4cm", "240pt", "320px".  False when it is nothing like that,
 * or not above 0. */
bool length_parse(const char *text, struct length *out);

const char *length_unit_name(enum length_unit unit);

/* How many of a unit a pixel at 96 dpi is. */
double length_per_pixel(enum length_unit unit);

static inline double length_pixels(struct length length)
{
	return length.value / length_per_pixel(length.unit);
}

#endif
