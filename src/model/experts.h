/* Feed-forward layers of which each token takes some. */
#ifndef ATTN_MODEL_EXPERTS_H
#define ATTN_MODEL_EXPERTS_H

#include "model/forward.h"

/* out (tokens, width) += the sum over a token's experts of their share times expert(in (tokens, width)):
 * those with the highest softmax(in router), of equals the first (Shazeer et al. 2017; Jiang et al.
 * 2024, "Mixtral of Experts", section 2.1).  f->inner is overwritten. */
enum attn_status experts_add(struct forward *f, const struct layer *layer, const float *in, float *out,
			     struct attn_error *err);

#endif
