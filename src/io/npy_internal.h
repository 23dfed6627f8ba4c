/* The npy reader as the npz reader uses it. */
#ifndef ATTN_IO_NPY_INTERNAL_H
#define ATTN_IO_NPY_INTERNAL_H

#include <stddef.h>

#include "core/tensor.h"
#include "util/error.h"

/* Read one npy file from data[length] into *t, called `name`.  The tensor points
 * into `data` unless t->owned is set.  On failure *t is empty, and the message
 * does not say the name. */
enum attn_status npy_read(const unsigned char *data, size_t length, const char *name, const char *origin,
			  struct tensor *t, struct attn_error *err);

#endif
