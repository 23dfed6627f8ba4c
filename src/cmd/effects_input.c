#include "cmd/effects_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/progress.h"
#include "consumers/context.h"
#include "util/memory.h"

static double length_of(const float *x, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += (double)x[i] * (double)x[i];
	return sqrt(sum);
}

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : part > 0 ? (double)INFINITY : 0;
}

/* Contexts of all heads, and memory for those of one alone. */
struct parts {
	const struct attention *attention;
	const float *contexts; /* (queries, H e) of a batch item */
	float *alone;          /* (queries, H e), 0 but for one head */
	float *output;         /* (queries, columns of wo); NULL: there is no output */
	size_t queries, width, size;
	double context, whole_output; /* lengths */
};

/* The output without its bias, which is no head's. */
static enum attn_status project(const struct parts *p, const float *contexts, struct attn_error *err)
{
	struct output_layer layer = p->attention->output;
	layer.bo = NULL;
	return output_layer_project(&layer, contexts, p->queries, p->output, err);
}

static enum attn_status measure_whole(struct parts *p, struct attn_error *err)
{
	const struct output_layer *layer = &p->attention->output;
	p->context = length_of(p->contexts, p->queries * p->width);
	if (!p->output)
		return ATTN_OK;
	TRY(output_layer_project(layer, p->contexts, p->queries, p->output, err));
	p->whole_output = length_of(p->output, p->queries * layer->wo.cols);
	return ATTN_OK;
}

static enum attn_status measure_head(struct parts *p, size_t head, struct effect_line *line,
				     struct attn_error *err)
{
	for (size_t i = 0; i < p->queries; i++)
		memcpy(p->alone + i * p->width + head * p->size, p->contexts + i * p->width + head * p->size,
		       p->size * sizeof *p->alone);
	line->figures[EFFECT_CONTEXT] = share_of(length_of(p->alone, p->queries * p->width), p->context);
	enum attn_status status = p->output ? project(p, p->alone, err) : ATTN_OK;
	if (p->output && status == ATTN_OK)
		line->figures[EFFECT_OUTPUT] = share_of(
		    length_of(p->output, p->queries * p->attention->output.wo.cols), p->whole_output);
	for (size_t i = 0; i < p->queries; i++)
		memset(p->alone + i * p->width + head * p->size, 0, p->size * sizeof *p->alone);
	return status;
}

static enum attn_status add_heads(struct effects *e, struct parts *p, const float *all,
				  const struct rows_shape *shape, const struct selection *selected,
				  struct attn_error *err)
{
	for (size_t b = 0; b < shape->batch; b++) {
		p->contexts = all + b * p->queries * p->width;
		if (!rows_chosen(selected->batch, b))
			continue;
		TRY(measure_whole(p, err));
		for (size_t h = 0; h < shape->heads; h++) {
			struct effect_line line = {.batch = b, .head = h};
			for (size_t i = 0; i < EFFECT_FIGURES; i++)
				line.figures[i] = (double)NAN;
			if (!rows_chosen(selected->heads, h))
				continue;
			TRY(measure_head(p, h, &line, err));
			TRY(effects_add(e, &line, err));
		}
	}
	return ATTN_OK;
}

static enum attn_status allocate(struct parts *p, struct attn_error *err)
{
	size_t columns = p->attention->output.wo.data ? p->attention->output.wo.cols : 0;
	p->alone = array_alloc(p->queries * p->width, sizeof *p->alone);
	if (columns > 0)
		p->output = floats_alloc4(p->queries, columns, 1, 1);
	return p->alone && (columns == 0 || p->output) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status effects_of_input(struct effects *e, struct inputs *in, const struct selection *selected,
				  const struct command *self, struct attn_error *err)
{
	const struct attention *a = in->subject.attention;
	const struct rows_shape shape = in->info->shape;
	struct context_consumer contexts = {0};
	struct row_consumer *consumers[] = {&contexts.consumer};
	if (!a)
		return attn_fail(err, ATTN_USAGE,
				 "a stored result has weights alone: give the input it was made "
				 "from");
	if (!a->has_values)
		return attn_fail(err, ATTN_USAGE, "there are no values, of which heads make their contexts");
	struct parts p = {.attention = a,
			  .queries = shape.queries,
			  .width = shape.heads * a->value_size,
			  .size = a->value_size};
	TRY(inputs_plan(in, NULL, (struct rows_want){.context = true}, err));
	enum attn_status status = context_consumer_init(&contexts, &shape, a->value_size, err);
	if (status == ATTN_OK)
		status = progress_stream(self, in->rows.source, NULL, consumers, 1, err);
	if (status == ATTN_OK)
		status = allocate(&p, err);
	if (status == ATTN_OK)
		status = add_heads(e, &p, contexts.context, &shape, selected, err);
	free(p.alone);
	free(p.output);
	context_consumer_release(&contexts);
	return status;
}
