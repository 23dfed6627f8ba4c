#include "cmd/figure_format.h"

#include <string.h>
#include <strings.h>

static const char *const formats[] = {[HEATMAP_PNG] = "png", [HEATMAP_SVG] = "svg", [HEATMAP_PDF] = "pdf"};

bool figure_format_find(const char *name, enum heatmap_format *out)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		if (strcasecmp(name, formats[i]) == 0) {
			*out = (enum heatmap_format)i;
			return true;
		}
	}
	return false;
}

enum attn_status figure_format_check(const char *path, bool given, enum heatmap_format *format,
				     struct attn_error *err)
{
	enum heatmap_format ending;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	if (!dot || dot == name)
		return ATTN_OK;
	if (!figure_format_find(dot + 1, &ending))
		return attn_fail(err, ATTN_USAGE, "'%s' ends in '%s', expected .png, .svg or .pdf", path,
				 dot);
	if (given && ending != *format)
		return attn_fail(err, ATTN_USAGE, "'%s' ends in '%s', expected .%s as --format says", path,
				 dot, formats[*format]);
	*format = ending;
	return ATTN_OK;
}
