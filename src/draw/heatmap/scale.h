/* Colour scales: from a value to a share of the colour map, and back.
 *
 * A plain scale goes from `low` (share 0) to `high` (share 1); a diverging one
 * from -high over 0 (share 1/2) to high, each half as a plain one from 0, so
 * that equal magnitudes are equally far from the middle.
 *
 * With x = (value - low) / (high - low):
 *   linear  share = x
 *   sqrt    share = sqrt(x): area as value, which opens up small values
 *   log     share = ln(value / low) / ln(high / low), low > 0
 * On a diverging scale log begins at high / SCALE_LOG_RANGE to both sides.
 */
#ifndef ATTN_DRAW_HEATMAP_SCALE_H
#define ATTN_DRAW_HEATMAP_SCALE_H

#include <stdbool.h>

/* How far a logarithmic scale reaches down at most: four decades. */
#define SCALE_LOG_RANGE 1e4

enum scale_transform {
	SCALE_LINEAR,
	SCALE_SQRT,
	SCALE_LOG
};

struct scale {
	double low, high; /* low < high; above 0 for a plain logarithmic scale */
	enum scale_transform transform;
	bool diverging; /* low is -high */
};

/* A plain scale that ends at `high` (above 0).  It begins at 0, or where it is logarithmic at
 * the smallest value above 0 that there is, `smallest`: but no lower than
 * high / SCALE_LOG_RANGE and at least a factor of 2 below high. */
struct scale scale_make(double high, double smallest, enum scale_transform transform);

/* A diverging scale from -high to `high` (above 0). */
struct scale scale_make_diverging(double high, enum scale_transform transform);

/* The share of a value: 0 to 1; what is beyond an end has the share of the end,
 * and NaN that of 0. */
double scale_share(const struct scale *s, double value);

/* The value that has this share (0 to 1): the inverse.  The middle of a diverging
 * logarithmic scale is 0. */
double scale_value(const struct scale *s, double share);

#endif
