#include "cmd/picture_format.h"

#include <string.h>
#include <strings.h>

static const char *const formats[] = {[CANVAS_PNG] = "png", [CANVAS_SVG] = "svg", [CANVAS_PDF] = "pdf"};

const char *path_ending(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	return dot && dot != name ? dot + 1 : NULL;
}

bool ending_is_page(const char *ending)
{
	return strcasecmp(ending, "html") == 0 || strcasecmp(ending, "htm") == 0;
}

/* Find a format by its name; false when there is none. */
static bool find_format(const char *name, enum canvas_format *out)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		if (strcasecmp(name, formats[i]) == 0) {
			*out = (enum canvas_format)i;
			return true;
		}
	}
	return false;
}

enum attn_status picture_format_option(const struct options *o, const char **given,
				       enum canvas_format *format, struct attn_error *err)
{
	TRY(option_once(o, given, err));
	return find_format(o->value, format) ? ATTN_OK : option_fail(o, "'png', 'svg' or 'pdf'", err);
}

enum attn_status picture_format_check(const char *path, const char *given, enum canvas_format *format,
				      struct attn_error *err)
{
	enum canvas_format ending;
	const char *found = path_ending(path);
	if (!found)
		return ATTN_OK;
	if (!find_format(found, &ending))
		return attn_fail(err, ATTN_USAGE, "'%s' ends in '.%s', expected .png, .svg or .pdf", path,
				 found);
	if (given && ending != *format)
		return attn_fail(err, ATTN_USAGE, "'%s' ends in '.%s', expected .%s as --format says", path,
				 found, formats[*format]);
	*format = ending;
	return ATTN_OK;
}
