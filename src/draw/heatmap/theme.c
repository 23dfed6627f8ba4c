/* The two themes. */
#include "draw/heatmap/theme.h"

#include <stddef.h>
#include <string.h>

static const struct theme themes[] = {
    {
	.name = "light",
	.kind = BACKGROUND_LIGHT,
	.background = {0xff, 0xff, 0xff},
	.ink = {0x11, 0x11, 0x11},
	.soft_ink = {0x55, 0x55, 0x55},
	.frame = {0x66, 0x66, 0x66},
	.line = {0xdd, 0xdd, 0xdd},
	.accent = {0xe0, 0x5a, 0x10},
	.masked = {0xdd, 0xdd, 0xdd},
	.masked_line = {0xbb, 0xbb, 0xbb},
    },
    {
	.name = "dark",
	.kind = BACKGROUND_DARK,
	.background = {0x11, 0x11, 0x11},
	.ink = {0xee, 0xee, 0xee},
	.soft_ink = {0xaa, 0xaa, 0xaa},
	.frame = {0x88, 0x88, 0x88},
	.line = {0x2e, 0x2e, 0x2e},
	.accent = {0xff, 0x8c, 0x42},
	.masked = {0x33, 0x33, 0x33},
	.masked_line = {0x55, 0x55, 0x55},
    },
};

const struct theme *theme_find(const char *name)
{
	for (size_t i = 0; i < sizeof themes / sizeof *themes; i++)
		if (strcmp(themes[i].name, name) == 0)
			return &themes[i];
	return NULL;
}

const struct theme *theme_default(void)
{
	return &themes[0];
}
