/* A bundle checked and understood: which attention, which shapes, which options.
 * All validation ends here; what comes after may trust it.
 */
#ifndef ATTN_INPUT_PROBLEM_H
#define ATTN_INPUT_PROBLEM_H

#include "attention/attention.h"
#include "input/bundle.h"
#include "tokens/rows_info.h"
#include "util/memory.h"

struct problem {
	struct attention attention;
	struct rows_info info;    /* what its rows are called */
	struct string_list notes; /* what the user should hear about */

	struct float_pool floats; /* converted tensors */
};

/* Understand the bundle, which must outlive the problem: tensors that are float32
 * and row-major already are used where they are.  ATTN_BAD_INPUT (or ATTN_USAGE
 * for an option) that names tensor, found and expected. */
enum attn_status problem_init(struct problem *p, const struct bundle *b, struct attn_error *err);
void problem_release(struct problem *p);

#endif
