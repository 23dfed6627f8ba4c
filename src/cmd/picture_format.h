/* The format of a picture: --format, and the ending of its name. */
#ifndef ATTN_CMD_PICTURE_FORMAT_H
#define ATTN_CMD_PICTURE_FORMAT_H

#include "cmd/options.h"
#include "draw/canvas/canvas_write.h"

/* Take --format: *given becomes its value. */
enum attn_status picture_format_option(const struct options *o, const char **given,
				       enum canvas_format *format, struct attn_error *err);

/* The ending of `path` is the format, where it has one: another, or another than was given (NULL: none
 * was), is ATTN_USAGE, since the file would be taken for something else. */
enum attn_status picture_format_check(const char *path, const char *given, enum canvas_format *format,
				      struct attn_error *err);

/* What stands behind the last point of a path's name; NULL: nothing. */
const char *path_ending(const char *path);

/* Whether that is a web page's. */
bool ending_is_page(const char *ending);

#endif
