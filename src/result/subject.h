/* What rows are of: whatever a command was given, opened, as writers of results and
 * consumers of rows need to know it.
 */
#ifndef ATTN_RESULT_SUBJECT_H
#define ATTN_RESULT_SUBJECT_H

#include "attention/attention.h"
#include "attention/masking.h"
#include "input/bundle.h"
#include "tokens/rows_info.h"

/* Nothing is owned. */
struct subject {
	const struct bundle *settings;     /* what was given, of which a result keeps the settings */
	const struct attention *attention; /* what the rows are computed from; NULL: they are read */
	const struct rows_info *info;      /* of the rows that are shown */
	const struct rows_info *whole;     /* of all rows, which a context is of: `info`, unless that is a
					    * view */
	bool same_rows;                    /* a view of all rows and keys, whose colours alone differ */
	const struct masking *masking;     /* of all rows */
	const struct output_layer *output; /* what a context becomes */
};

/* Whether rows are shown in part or joined. */
static inline bool subject_is_view(const struct subject *s)
{
	return s->info != s->whole;
}

/* Whether `masking` says what of the rows is masked: not of other queries and keys, or of some
 * heads where it differs by head.  Then that goes with their cells alone. */
static inline bool subject_keeps_masking(const struct subject *s)
{
	bool by_head = s->masking->blocks || (s->masking->mask && s->masking->mask_shape[1] > 1);
	return !subject_is_view(s) || s->same_rows || (!s->info->other_keys && !by_head);
}

/* Numbers of a row of the output; 0: there is none. */
static inline size_t subject_output_size(const struct subject *s)
{
	return s->output->wo.data ? s->output->wo.cols : 0;
}

/* The lambdas of weights that are computed, or of those that were stored with some: (*count),
 * owned by the caller; NULL where there are none. */
enum attn_status subject_lambda(const struct subject *s, float **out, size_t *count, struct attn_error *err);

#endif
