/* Colours, and how well one reads on another. */
#include "draw/image/colour.h"

#include <math.h>

size_t colour_entry(double share, size_t entries)
{
	if (!(share > 0)) /* NaN too */
		return 0;
	if (share >= 1.0)
		return entries - 1;
	return (size_t)(share * (double)(entries - 1) + 0.5);
}

static double linear(unsigned char channel)
{
	double c = channel / 255.0;
	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(struct rgb c)
{
	return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

double colour_contrast(struct rgb a, struct rgb b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
	return x > y ? x / y : y / x;
}

struct rgb colour_text_on(struct rgb background)
{
	const struct rgb black = {0, 0, 0}, white = {255, 255, 255};
	return colour_contrast(background, black) >= colour_contrast(background, white) ? black : white;
}
