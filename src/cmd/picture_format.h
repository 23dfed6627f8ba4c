/* Formats of pictures, by the ending of a file's name. */
#ifndef ATTN_CMD_PICTURE_FORMAT_H
#define ATTN_CMD_PICTURE_FORMAT_H

#include <stdbool.h>

#include "draw/heatmap/heatmap.h"

/* What stands behind the last point of a path's name; NULL: nothing. */
const char *path_ending(const char *path);

/* A format by its name, "png", in either case; false when there is none. */
bool picture_format_find(const char *name, enum heatmap_format *out);
const char *picture_format_name(enum heatmap_format format);

/* Whether an ending is a web page's. */
bool ending_is_page(const char *ending);

#endif
