/* The table of attn inspect effects: what each head does, or the curve of taking them out. */
#ifndef ATTN_CMD_EFFECTS_H
#define ATTN_CMD_EFFECTS_H

#include "cmd/inputs.h"
#include "cmd/plots.h"
#include "cmd/ranking_output.h"
#include "cmd/table.h"
#include "model/effects.h"

enum effect_figure {
	EFFECT_HIDDEN,
	EFFECT_DIVERGENCE,
	EFFECT_LOGIT,
	EFFECT_PROBABILITY,
	EFFECT_PROBABILITY_CHANGE,
	EFFECT_LOSS,
	EFFECT_LOSS_CHANGE,
	EFFECT_CONTEXT, /* of an input, which has no layers behind: shares of all heads' */
	EFFECT_OUTPUT,
	EFFECT_FIGURES
};

struct effect_line {
	size_t step, left; /* of a curve: heads taken out, and left */
	size_t batch, layer, head;
	bool whole; /* nothing is taken out: no head */
	double figures[EFFECT_FIGURES];
};

struct effects {
	const struct rows_info *info;
	bool curve;
	struct effect_line *lines; /* owned */
	size_t count, room;
};

/* Append a line.  ATTN_FAILED: no memory. */
enum attn_status effects_add(struct effects *e, const struct effect_line *line, struct attn_error *err);
void effects_release(struct effects *e); /* safe on zeroed ones */

/* What orders heads: the divergence, or without predictions the change of states, or the output's or
 * context's share. */
double effect_size(const struct effect_line *line);

/* The figures of an effect, against the whole. */
void effect_figures(const struct effect *effect, const struct effect *whole, double figures[EFFECT_FIGURES]);

enum attn_status effects_columns(struct table_columns *t, const struct effects *e, bool model,
				 const char *list, struct attn_error *err);
enum attn_status effects_write(const struct effects *e, const struct table_columns *columns,
			       enum table_format format, const struct command *self, struct attn_error *err);

/* The curve as a plot: a panel for each figure that there is. */
enum attn_status effects_plot(const struct effects *e, struct plot_request *plot, const struct command *self,
			      struct attn_error *err);

#endif
