/* The colours of terminals: how many, and which of 256 is nearest. */
#include "draw/terminal/terminal_colours.h"

#include <string.h>

#include "util/minmax.h"

enum terminal_colours terminal_colours(bool tty, const char *no_color, const char *colorterm,
				       const char *term)
{
	if (!tty || (no_color && *no_color) || !term || !*term || strcmp(term, "dumb") == 0)
		return TERMINAL_PLAIN;
	if (colorterm && (strcmp(colorterm, "truecolor") == 0 || strcmp(colorterm, "24bit") == 0))
		return TERMINAL_TRUE;
	return strstr(term, "256color") ? TERMINAL_256 : TERMINAL_PLAIN;
}

unsigned int terminal_palette(struct rgb colour)
{
	static const int steps[] = {0, 95, 135, 175, 215, 255};
	const int want[] = {colour.r, colour.g, colour.b};
	int cube[3], grey = (want[0] + want[1] + want[2]) / 3, level = 0;
	int cube_error = 0, grey_error = 0;
	for (int i = 0; i < 3; i++) {
		cube[i] = 0;
		for (int k = 1; k < 6; k++)
			if ((steps[k] - want[i]) * (steps[k] - want[i]) <
			    (steps[cube[i]] - want[i]) * (steps[cube[i]] - want[i]))
				cube[i] = k;
		cube_error += (steps[cube[i]] - want[i]) * (steps[cube[i]] - want[i]);
	}
	level = int_max(0, int_min(23, (grey - 8 + 5) / 10));
	for (int i = 0; i < 3; i++)
		grey_error += (8 + 10 * level - want[i]) * (8 + 10 * level - want[i]);
	return (unsigned int)(grey_error < cube_error ? 232 + level
						      : 16 + 36 * cube[0] + 6 * cube[1] + cube[2]);
}
