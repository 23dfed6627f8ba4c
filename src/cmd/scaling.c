/* What scaling does: two spreads of every head, of the same rows. */
#include "cmd/scaling.h"

#include <stdlib.h>

#include "cmd/progress.h"

void scaling_release(struct scaling *s)
{
	free(s->lines);
	*s = (struct scaling){0};
}

/* What products of a head are multiplied by. */
static double scale_of(const struct inputs *in, size_t layer, size_t head)
{
	const struct attention *a = in->subject.attention;
	if (!a)
		return architecture_scale(&in->model.model->a, layer);
	return attention_is_scaled(a) ? score_scale(&a->score, head) : 1;
}

/* Whether any product is scaled. */
static bool is_scaled(const struct inputs *in)
{
	const struct attention *a = in->subject.attention;
	return a ? attention_is_scaled(a)
		 : in->model.model->a.scale != 1 || in->model.model->a.scale_by_layer;
}

static enum attn_status stream(struct spread_consumer *scaled, struct spread_consumer *unscaled,
			       struct inputs *in, const struct selection *selection,
			       const struct command *self, struct attn_error *err)
{
	const struct attention *a = in->subject.attention;
	const struct rows_selection rows = selection_rows(selection);
	struct row_consumer *consumers[] = {&scaled->consumer, &unscaled->consumer};
	bool two = is_scaled(in), rest = a && a->normalization.sinks;
	const struct rows_want want = {.weights = true,
				       .scores = 1u << SCORES_RAW | (two ? 1u << SCORES_PRODUCT : 0),
				       .unscaled_weights = two};
	TRY(inputs_plan(in, &rows, want, err));
	TRY(spread_consumer_init(scaled, &in->info->shape, SCORES_RAW, rest, err));
	TRY(spread_consumer_init(unscaled, &in->info->shape, SCORES_PRODUCT, rest, err));
	return progress_stream(self, in->rows.source, &rows, consumers, two ? 2 : 1, err);
}

static void add_line(struct scaling *s, const struct inputs *in, const struct spread_consumer *scaled,
		     const struct spread_consumer *unscaled, const size_t at[3])
{
	const struct attention *a = in->subject.attention;
	struct scaling_line *line = &s->lines[s->count++];
	*line = (struct scaling_line){
	    .batch = at[0],
	    .layer = at[1],
	    .head = at[2],
	    .size = a ? a->head_size : in->model.model->a.head_size,
	    .scale = scale_of(in, at[1], at[2]),
	    .softmax = !a || a->normalization.normalizer == &normalizer_softmax,
	    .scaled = spread_of(scaled, at[0], at[1], at[2]),
	};
	line->unscaled = is_scaled(in) ? spread_of(unscaled, at[0], at[1], at[2]) : line->scaled;
}

static enum attn_status add_lines(struct scaling *s, const struct inputs *in,
				  const struct selection *selection, const struct spread_consumer *scaled,
				  const struct spread_consumer *unscaled, struct attn_error *err)
{
	const struct rows_shape *shape = &in->info->shape;
	size_t at[3], most = s->count + shape->batch * shape->layers * shape->heads; /* sums are as many */
	struct scaling_line *lines = reallocarray(s->lines, most, sizeof *lines);
	if (!lines)
		return attn_fail_memory(err);
	s->lines = lines;
	for (at[1] = 0; at[1] < shape->layers; at[1]++)
		for (at[0] = 0; at[0] < shape->batch; at[0]++)
			for (at[2] = 0; at[2] < shape->heads; at[2]++)
				if (rows_chosen(selection->layers, at[1]) &&
				    rows_chosen(selection->batch, at[0]) &&
				    rows_chosen(selection->heads, at[2]))
					add_line(s, in, scaled, unscaled, at);
	return ATTN_OK;
}

bool scaling_changes(const struct scaling *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->lines[i].scale != 1)
			return true;
	return false;
}

enum attn_status scaling_add(struct scaling *s, struct inputs *in, const struct selection *selection,
			     const struct command *self, struct attn_error *err)
{
	struct spread_consumer scaled = {0}, unscaled = {0};
	if (!in->subject.attention && !in->model.model)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is a stored result: '--scaling' needs the input it was made from, for "
				 "its scores",
				 in->operands[0]);
	s->has_batch |= in->info->has_batch;
	enum attn_status status = stream(&scaled, &unscaled, in, selection, self, err);
	if (status == ATTN_OK)
		status = add_lines(s, in, selection, &scaled, &unscaled, err);
	spread_consumer_release(&scaled);
	spread_consumer_release(&unscaled);
	return status;
}
