/* The formats of pictures, by name and by the endings of files. */
#ifndef ATTN_CMD_FIGURE_FORMAT_H
#define ATTN_CMD_FIGURE_FORMAT_H

#include <stdbool.h>

#include "draw/heatmap/heatmap.h"

/* Find a format by its name, "png"; false when there is none. */
bool figure_format_find(const char *name, enum heatmap_format *out);

/* The name's ending is the format: one under another ending would be taken for something else.  Set
 * *format to it; where `given`, ATTN_USAGE unless it is that. */
enum attn_status figure_format_check(const char *path, bool given, enum heatmap_format *format,
				     struct attn_error *err);

#endif
