/* Python's pickles, which are refused: reading one runs what it says. */
#ifndef ATTN_FILES_PICKLE_INTERNAL_H
#define ATTN_FILES_PICKLE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* Whether data[length] starts as a pickle of protocol 2 to 5 does. */
bool is_pickle(const unsigned char *data, size_t length);

/* The error for a PyTorch checkpoint, `path`, with the command that converts it. */
enum attn_status checkpoint_fail(const char *path, struct attn_error *err);

#endif
