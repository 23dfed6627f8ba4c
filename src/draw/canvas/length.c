/* Units of length, and reading a length with one. */
#include "draw/canvas/length.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double per_pixel;
} units[] = {
    [LENGTH_PX] = {"px", 1.0},         [LENGTH_PT] = {"pt", 72.0 / 96.0}, [LENGTH_MM] = {"mm", 25.4 / 96.0},
    [LENGTH_CM] = {"cm", 2.54 / 96.0}, [LENGTH_IN] = {"in", 1.0 / 96.0},
};

bool length_parse(const char *text, struct length *out)
{
	size_t digits = strspn(text, "0123456789.");
	if (digits == 0 || digits > 20)
		return false;
	char *end;
	double value = strtod(text, &end);
	if (end != text + digits || !(value > 0) || !isfinite(value))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(end, units[i].name) == 0) {
			*out = (struct length){value, (enum length_unit)i};
			return true;
		}
	}
	return false;
}

const char *length_unit_name(enum length_unit unit)
{
	return units[unit].name;
}

double length_per_pixel(enum length_unit unit)
{
	return units[unit].per_pixel;
}
