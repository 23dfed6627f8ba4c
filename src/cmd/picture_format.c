#include "cmd/picture_format.h"

#include <string.h>
#include <strings.h>

static const char *const formats[] = {[HEATMAP_PNG] = "png", [HEATMAP_SVG] = "svg", [HEATMAP_PDF] = "pdf"};

const char *path_ending(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	return dot && dot != name ? dot + 1 : NULL;
}

bool picture_format_find(const char *name, enum heatmap_format *out)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		if (strcasecmp(name, formats[i]) == 0) {
			*out = (enum heatmap_format)i;
			return true;
		}
	}
	return false;
}

const char *picture_format_name(enum heatmap_format format)
{
	return formats[format];
}

bool ending_is_page(const char *ending)
{
	return strcasecmp(ending, "html") == 0 || strcasecmp(ending, "htm") == 0;
}
