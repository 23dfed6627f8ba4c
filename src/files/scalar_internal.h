/* Settings that a file holds as tensors. */
#ifndef ATTN_FILES_SCALAR_INTERNAL_H
#define ATTN_FILES_SCALAR_INTERNAL_H

#include "input/bundle.h"

/* npz and safetensors have no place for a number of their own, so people save
 * num_heads=8 or causal=True as a tensor of one element (and layout='out,in' as a
 * text of one), or the two numbers of a window.  Turn those into settings, "4,0".  ATTN_BAD_INPUT when
 * one has another number of elements; but where only a `part` of the file is wanted, that is a
 * tensor, and a text stays a text. */
enum attn_status scalars_to_settings(struct bundle *b, bool part, struct attn_error *err);

#endif
