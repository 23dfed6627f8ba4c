/* attn inspect heads --scaling: what dividing scores by sqrt(d) does, head by head. */
#ifndef ATTN_CMD_SCALING_H
#define ATTN_CMD_SCALING_H

#include "cmd/inputs.h"
#include "cmd/plots.h"
#include "cmd/ranking_output.h"
#include "cmd/table.h"
#include "consumers/spread.h"

/* One head, as it computes its weights, and as it would if products of Q and K were not scaled:
 * softcap, biases, masks and the normaliser are the same in both. */
struct scaling_line {
	size_t batch, layer, head; /* as the table has them */
	size_t size;               /* d: the variance of q.k where q and k are of unit variance */
	double scale;              /* what a product is multiplied by */
	bool softmax;              /* and not another normaliser, whose gradient is another */
	struct spread scaled, unscaled;
};

struct scaling {
	struct scaling_line *lines; /* owned */
	size_t count;
	bool has_batch;
	const struct rows_info *info; /* names of heads and layers; NULL: there are none */
};

/* Stream all rows of the selected heads and append a line for each.  ATTN_USAGE for a stored result,
 * which has no scores. */
enum attn_status scaling_add(struct scaling *s, struct inputs *in, const struct selection *selection,
			     const struct command *self, struct attn_error *err);
void scaling_release(struct scaling *s); /* safe on a zeroed one */

enum {
	SCALING_SIZES = 64, /* of --sizes, at most */
	SCALING_SIZE_MOST = 16384,
	SCALING_TOKENS = 128, /* where --tokens does not say it */
	SCALING_TOKENS_MOST = 4096
};

/* Whether any head is scaled. */
bool scaling_changes(const struct scaling *s);

/* Append a line for each of some head sizes, of one head with random Q and K of `tokens` tokens, whose
 * numbers are independent, with mean 0 and variance 1.  `settings` are those of the command line. */
struct scaling_sizes {
	size_t sizes[SCALING_SIZES], count, tokens;
};
enum attn_status scaling_add_sizes(struct scaling *s, const struct scaling_sizes *sizes,
				   const struct bundle *settings, const struct command *self,
				   struct attn_error *err);

/* What figures of heads there are, with and without the scale.  NAN where there is nothing to say. */
enum scaling_figure {
	SCALING_VARIANCE,
	SCALING_ENTROPY, /* bits */
	SCALING_LARGEST,
	SCALING_GRADIENT,
	SCALING_JACOBIAN,
	SCALING_FIGURES
};
double scaling_value(const struct scaling_line *line, enum scaling_figure figure, bool unscaled);

/* The columns, of which `list` (NULL: all) are chosen: ATTN_USAGE as table_choose. */
enum attn_status scaling_columns(struct table_columns *t, bool has_batch, const char *list,
				 struct attn_error *err);

/* A line for each head on standard output; `format` is settled. */
enum attn_status scaling_write(const struct scaling *s, const struct table_columns *columns,
			       enum table_format format, const struct command *self, struct attn_error *err);

/* Draw the figures by size, where some are given, else by layer or head. */
enum attn_status scaling_draw(const struct scaling *s, const struct scaling_sizes *sizes,
			      struct plot_request *plot, const struct command *self, struct attn_error *err);

#endif
