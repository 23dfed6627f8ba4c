/* For the parts of the forward pass. */
#ifndef ATTN_MODEL_FORWARD_INTERNAL_H
#define ATTN_MODEL_FORWARD_INTERNAL_H

#include "model/forward.h"

/* The norm of a layer's attention, to itself or crossing. */
const struct norm *forward_attention_norm(const struct forward *f, size_t layer, bool crossing);

/* What that attention reads: x, or the norm of it, f->normed. */
const float *forward_attention_input(const struct forward *f, size_t layer, bool crossing);

#endif
