/* Colour maps as a list, and as strips of colour on a terminal. */
#include "cmd/colormaps.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw/heatmap/colormap.h"

enum {
	STEPS = 32
};

/* NO_COLOR: https://no-color.org, set and not empty. */
static bool has_true_colour(void)
{
	const char *no_colour = getenv("NO_COLOR"), *depth = getenv("COLORTERM");
	if (!isatty(STDOUT_FILENO) || (no_colour && *no_colour))
		return false;
	return depth && (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0);
}

static void add_strip(struct buffer *text, const struct colormap *map)
{
	struct rgb table[STEPS];
	if (colormap_diverging(map))
		colormap_fill_diverging(map, BACKGROUND_LIGHT, table, STEPS);
	else
		colormap_fill(map, BACKGROUND_LIGHT, table, STEPS);
	for (size_t i = 0; i < STEPS; i++)
		buffer_printf(text, "\033[48;2;%d;%d;%dm ", table[i].r, table[i].g, table[i].b);
	buffer_add_string(text, "\033[0m");
}

enum attn_status colormaps_print(const struct command *self, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	bool colour = has_true_colour();
	for (size_t i = 0; i < colormap_count(); i++) {
		const char *name = colormap_name(i), *summary = colormap_summary(i);
		if (colour) {
			buffer_printf(&text, "%-12s  ", name);
			add_strip(&text, colormap_find(name));
			buffer_printf(&text, "  %s\n", summary);
		} else {
			buffer_printf(&text, "%s\t%s\n", name, summary);
		}
	}
	enum attn_status status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}
