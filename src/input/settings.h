/* Settings of a bundle as values.  Each reader leaves *out alone where the
 * setting is missing, and is ATTN_BAD_INPUT (ATTN_USAGE for one from the command
 * line) with the found and the accepted form where it is malformed. */
#ifndef ATTN_INPUT_SETTINGS_H
#define ATTN_INPUT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "input/bundle.h"

/* A whole number from `least` up. */
enum attn_status setting_count(const struct bundle *b, const char *name, size_t least, size_t *out,
			       struct attn_error *err);
/* true, false, 1 or 0. */
enum attn_status setting_bool(const struct bundle *b, const char *name, bool *out, struct attn_error *err);
/* A finite number. */
enum attn_status setting_number(const struct bundle *b, const char *name, double *out,
				struct attn_error *err);

/* The setting "axes", checked: whether layers and batch items stand before the heads
 * of stored weights.  *given tells whether it is set at all. */
enum attn_status setting_axes(const struct bundle *b, bool *layer, bool *batch, bool *given,
			      struct attn_error *err);

/* ATTN_USAGE or ATTN_BAD_INPUT: "'causal' is 'maybe' in 'x.json', expected ...". */
enum attn_status setting_fail(const struct setting *s, const char *expected, struct attn_error *err);

/* Strict numbers: the whole of `text`, in range, finite. */
bool parse_count(const char *text, size_t *out);
bool parse_number(const char *text, double *out);
bool parse_bool(const char *text, bool *out);

#endif
