/* What was given and had no effect. */
#ifndef ATTN_INPUT_UNUSED_H
#define ATTN_INPUT_UNUSED_H

#include "input/bundle.h"

/* What is no role: an error when it looks like a misspelt one, else, for tensors, a note, since
 * checkpoints hold much else; texts and metadata of others are nobody's concern.  `notes` is
 * the caller's; ATTN_BAD_INPUT names file, name and what was probably meant. */
enum attn_status unknown_check(const struct bundle *b, struct string_list *notes, struct attn_error *err);

/* After binding: whatever has a role and was not used (given.h) is an error that says what it
 * has no effect without, ATTN_USAGE for an option and ATTN_BAD_INPUT for what a file holds.
 * What a file merely holds more than is asked for is a note in `notes`: results beside an
 * input, and what an option turned off.  A setting that is false asks for nothing, and what
 * attn wrote about its results may stay. */
enum attn_status unused_check(const struct bundle *b, struct string_list *notes, struct attn_error *err);

/* The same after binding stored weights, which are what was computed: options may not change
 * it, and whatever else would is an input.  What a file has for each head (temperature) it may
 * keep beside its weights: a note. */
enum attn_status unused_check_stored(const struct bundle *b, struct string_list *notes,
				     struct attn_error *err);

#endif
