/* Settings of a bundle as values.  Each reader uses the setting (given.h), leaves *out alone
 * where it is missing, and is ATTN_BAD_INPUT (ATTN_USAGE for one from the command
 * line) with the found and the accepted form where it is malformed. */
#ifndef ATTN_INPUT_SETTINGS_H
#define ATTN_INPUT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "input/bundle.h"

/* A whole number from `least` up. */
enum attn_status setting_count(const struct bundle *b, enum role_id role, size_t least, size_t *out,
			       struct attn_error *err);
/* true, false, 1 or 0. */
enum attn_status setting_bool(const struct bundle *b, enum role_id role, bool *out, struct attn_error *err);
/* A finite number. */
enum attn_status setting_number(const struct bundle *b, enum role_id role, double *out,
				struct attn_error *err);

/* Which word of its form a KIND_CHOICE setting is, from 0. */
enum attn_status setting_choice(const struct bundle *b, enum role_id role, size_t *out,
				struct attn_error *err);

/* The setting "axes", checked: whether layers and batch items stand before the heads
 * of stored weights.  *set tells whether it is set at all. */
enum attn_status setting_axes(const struct bundle *b, bool *layer, bool *batch, bool *set,
			      struct attn_error *err);

/* ATTN_USAGE or ATTN_BAD_INPUT: "'causal' is 'maybe' in 'x.json', expected ...". */
enum attn_status setting_fail(const struct setting *s, const char *expected, struct attn_error *err);

#endif
