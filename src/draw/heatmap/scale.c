/* Values and their shares of a scale. */
#include "draw/heatmap/scale.h"

#include <math.h>

struct scale scale_make(double high, double smallest, enum scale_transform transform)
{
	struct scale s = {.high = high, .transform = transform};
	if (transform == SCALE_LOG)
		s.low = fmax(fmin(smallest > 0 ? smallest : 0, high / 2), high / SCALE_LOG_RANGE);
	return s;
}

struct scale scale_make_diverging(double high, enum scale_transform transform)
{
	return (struct scale){-high, high, transform, .diverging = true};
}

/* One direction of a scale: its own ends, or 0 (log: the least magnitude) and
 * the end of a diverging one. */
static double bottom(const struct scale *s)
{
	if (!s->diverging)
		return s->low;
	return s->transform == SCALE_LOG ? s->high / SCALE_LOG_RANGE : 0;
}

static double share_upward(const struct scale *s, double value)
{
	double low = bottom(s);
	if (!(value > low)) /* NaN too */
		return 0;
	if (value >= s->high)
		return 1;
	if (s->transform == SCALE_LOG)
		return log(value / low) / log(s->high / low);
	double x = (value - low) / (s->high - low);
	return s->transform == SCALE_SQRT ? sqrt(x) : x;
}

static double value_upward(const struct scale *s, double share)
{
	double low = bottom(s);
	if (share >= 1)
		return s->high;
	if (s->transform == SCALE_LOG)
		return low * pow(s->high / low, share);
	return low + (s->high - low) * (s->transform == SCALE_SQRT ? share * share : share);
}

double scale_share(const struct scale *s, double value)
{
	if (!s->diverging)
		return share_upward(s, value);
	return value < 0 ? 0.5 - share_upward(s, -value) / 2 : 0.5 + share_upward(s, value) / 2;
}

double scale_value(const struct scale *s, double share)
{
	if (!(share > 0))
		share = 0;
	if (!s->diverging)
		return value_upward(s, share);
	if (share == 0.5)
		return 0;
	return share < 0.5 ? -value_upward(s, 1 - 2 * share) : value_upward(s, 2 * share - 1);
}
