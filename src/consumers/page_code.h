/* Weights in few bits: how the page of attn view keeps them.
 *
 * A weight w of a row whose largest magnitude is m becomes the level l in
 * [0, L] whose (l / L)^2 is nearest to |w| / m, so that small weights keep their
 * proportion.  A code of 8 or 16 bits is
 *
 *   0              masked
 *   1 + l          a weight; L = 2^bits - 2
 *   C + l, C - l   where weights are signed; C = 2^(bits - 1), L = C - 1
 *
 * A weight that is not 0 has a level of at least 1.  The largest error is half of
 * the last step, m (2 L - 1) / (2 L^2): 0.40 % of m with 8 bits, 0.79 % signed,
 * and 0.0016 % and 0.0031 % with 16.
 */
#ifndef ATTN_CONSUMERS_PAGE_CODE_H
#define ATTN_CONSUMERS_PAGE_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"
#include "util/buffer.h"
#include "util/error.h"

enum {
	PAGE_WHOLE_KEYS = 1024,      /* up to here all keys are kept */
	PAGE_TOP_KEYS = 64,          /* beyond, so many of each query, where there is room */
	PAGE_LEAST_KEYS = 8,         /* and never fewer */
	PAGE_FINE_CELLS = 1 << 20,   /* up to so many weights in all, 16 bits each */
	PAGE_MOST_CELLS = 256 << 20, /* what a browser still opens */
	PAGE_MOST_KEPT = 64 << 20,   /* the same where only the top keys are kept: 5 bytes each */
};

/* How the weights of a page are kept. */
struct page_coding {
	size_t bits;         /* 8 or 16 */
	size_t top;          /* keys kept of each query; 0: all */
	bool signed_weights; /* some may be below 0 */
};

/* Choose for `heads` heads (over layers and batch items).  ATTN_USAGE where that is too
 * much for a page. */
enum attn_status page_coding_choose(struct page_coding *coding, const struct rows_shape *shape, size_t heads,
				    struct attn_error *err);

/* L of the comment above. */
size_t page_levels(const struct page_coding *coding);

/* The code of a weight that is not masked, `largest` being m. */
size_t page_code(const struct page_coding *coding, float weight, float largest);

/* The largest error of a weight, as a share of m. */
double page_error(const struct page_coding *coding);

/* Append a row as bytes, little-endian: m as a float32; then, where all keys are
 * kept, the code of each.  Else, as uint32, the first key that is cells, one more
 * than the last, how many are, and how many are kept; their indices, ascending, as
 * uint32; and their codes.  Weights of 0 are not kept. */
void page_add_row(struct buffer *bytes, const struct page_coding *coding, const float *weights,
		  const unsigned char *cells, size_t keys);

#endif
