/* attn inspect token --steps: the arithmetic of a query, key by key. */
#ifndef ATTN_CMD_STEPS_H
#define ATTN_CMD_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/inputs.h"
#include "cmd/ranking_output.h"
#include "consumers/gather.h"
#include "consumers/spread.h"

/* What is computed of a key, in this order.  The first four are the stages of
 * gather. */
enum step {
	STEP_PRODUCT = SCORES_PRODUCT, /* q.k, or another score, before it is scaled */
	STEP_SCALED = SCORES_RAW,
	STEP_CAPPED = SCORES_CAPPED, /* with a softcap only */
	STEP_MASKED = SCORES_MASKED, /* with bias and mask; -inf where masked */
	STEP_EXP,                    /* exp(score - the highest), with softmax only */
	STEP_WEIGHT,
	STEP_SHARE, /* of the context's length: w v.c / |c|^2; with values only */
	STEP_COUNT
};

extern const char *const step_names[STEP_COUNT]; /* "scaled" */

/* Statistics of the scores of a head. */
struct step_terms {
	const char *score;         /* "q.k"; "score" where that is another function */
	const char *formula;       /* what that is, as a line of text; NULL: a product */
	size_t size;               /* d, where the default scale is 1/sqrt(d) */
	double scale, temperature; /* scaled is scale / temperature * score */
	double softcap;            /* 0: none */
	size_t top_k;              /* 0: all keys */
	const char *normalizer;    /* how a weight is made of "%s"; NULL: softmax */
	double sink;               /* a logit in the softmax; -INFINITY: none */
};

struct step_terms step_terms_of(const struct attention *a, size_t head);

#define STEP_SINK "<sink>" /* the token of its line */

struct steps {
	const struct inputs *in; /* opened, not a stored result; no plan is needed */
	const struct selection *selection;
	const bool *places; /* (queries): of which to tell the steps */
	size_t top;         /* so many keys of each, heaviest first; SIZE_MAX: all, in order */

	bool full; /* from x W_Q on: with the vectors, too */

	/* Filled by steps_compute: */
	struct plan plan;
	struct row_source *source; /* owned, has Q and K */
	struct gather rows;
	struct spread_consumer scaled, product; /* how spread out attention is, and would be unscaled */
	bool unscaled;                          /* scaling changes something, so that `product` is filled */
	bool changed;                           /* bias or mask change a score that is shown */
};

/* One line of a table; a number that has no place there is NAN. */
struct step_line {
	size_t key; /* SIZE_MAX: none, so the sink, or a sum */
	double values[STEP_COUNT];
};

/* The table of one query in one head. */
struct step_table {
	size_t batch, head, query, row; /* row: of steps->rows */
	struct step_line *lines;        /* (keys): in the order asked for */
	size_t count;                   /* lines to show; those behind are `others` */
	struct step_line others, sink, sum;
	bool has_sink;
	struct step_terms terms;
	double highest;        /* the score that is subtracted; -INFINITY where every key is masked */
	double context_square; /* |c|^2 */
};

/* Compute all of the above.  ATTN_BAD_INPUT when a score overflows float32. */
enum attn_status steps_compute(struct steps *s, const struct command *self, struct attn_error *err);
void steps_release(struct steps *s); /* safe on a zeroed one */

/* Make the table of a chosen query; table->lines has room for all keys. */
void steps_table(const struct steps *s, size_t batch, size_t head, size_t slot, size_t query,
		 struct step_table *table);

/* The numbers of a vector, of which `data` is another's; NULL data: there is none. */
struct step_vector {
	const float *data;
	size_t size;
};

/* The embedding that a table's query is projected from (none for precomputed Q), and q and k as
 * they enter the score. */
struct step_vector steps_x(const struct steps *s, const struct step_table *table);
struct step_vector steps_q(const struct steps *s, const struct step_table *table);
struct step_vector steps_k(const struct steps *s, const struct step_table *table, size_t key);

/* These as a table of text, with what made them. */
void steps_text_vectors(const struct steps *s, const struct step_table *table, struct buffer *text);

/* The columns of the table, with vectors where `full`, of which `list` (NULL: all) are chosen: ATTN_USAGE as
 * table_choose. */
enum attn_status steps_columns(struct table_columns *t, const struct rows_info *info, bool full,
			       const char *list, struct attn_error *err);

/* On standard output. */
enum attn_status steps_write(const struct steps *s, const struct command *self, enum table_format format,
			     const struct table_columns *columns, struct attn_error *err);

/* The text form: a table, and what is said of a head below its tables. */
void steps_text_table(const struct steps *s, const struct step_table *table, struct buffer *text);
void steps_text_summary(const struct steps *s, size_t batch, size_t head, struct buffer *text);

#endif
