/* Reading pictures that users give. */
#ifndef ATTN_CMD_PICTURE_H
#define ATTN_CMD_PICTURE_H

#include "draw/image/image.h"

/* A PNG or JPEG file, '-' for standard input, into *image, released by the caller. */
enum attn_status picture_read(struct image *image, const char *path, struct attn_error *err);

#endif
