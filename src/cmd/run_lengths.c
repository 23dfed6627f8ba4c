#include "cmd/run_lengths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/threads.h"

struct printer {
	const struct run_options *r;
	const struct inputs *in;
	struct rows_want want;
	struct growth growth;
};

/* What the problem has that is as long as its input, or NULL. */
static const char *own_length(const struct attention *a)
{
	const struct masking *m = &a->masking;
	return a->cross                               ? "cross-attention"
	       : m->mask || m->bias                   ? "'mask'"
	       : m->padding                           ? "'key_padding'"
	       : m->lengths                           ? "'kv_lengths'"
	       : m->query_segments || m->key_segments ? "segments"
	       : m->blocks                            ? "'blocks'"
						      : NULL;
}

static enum attn_status check(const struct inputs *in, struct attn_error *err)
{
	const struct attention *a = in->subject.attention;
	if (a && in->model.model)
		return attn_fail(err, ATTN_USAGE,
				 "'--lengths' is of a whole model, expected no output of one layer");
	if (!a && !in->model.model)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--lengths' asks what computing costs, and of a stored result nothing is computed");
	if (!a && in->model.model->encoder)
		return attn_fail(err, ATTN_USAGE,
				 "'--lengths' is of one text, and this is of a decoder and its encoder: give "
				 "'--attention encoder'");
	const char *own = a ? own_length(a) : NULL;
	return own ? attn_fail(err, ATTN_USAGE,
			       "'--lengths' and %s cannot be combined: that has a length of its own", own)
		   : ATTN_OK;
}

static const char *kind_of(const struct attention *a)
{
	const struct masking *m = &a->masking;
	bool linear = a->normalization.normalizer == &normalizer_linear;
	if (m->left_bound || (m->right_bound && !m->causal))
		return linear ? "window-linear" : "window";
	if (m->causal)
		return linear ? "causal-linear" : "causal";
	return linear ? "linear" : "full";
}

/* Bytes of numbers that a token has, in batch items together: its vectors as they are given, and its
 * context. */
static double token_bytes(const struct attention *a, struct rows_want want)
{
	double numbers = a->projected
			     ? (double)a->embeddings.cols
			     : (double)a->heads * (double)a->maps * (double)a->head_size +
				   (double)a->kv_heads * ((double)a->maps * (double)a->key_size +
							  (double)(a->has_values ? a->value_size : 0));
	if (want.context && a->has_values)
		numbers += (double)a->heads * (double)a->value_size;
	return numbers * (double)a->batch * sizeof(float);
}

static void take_cost(struct growth_point *point, const struct plan_cost *cost)
{
	point->multiply_adds = cost->projections + cost->attention + cost->output;
	point->bytes = (double)cost->projected + (double)cost->workspace * (double)threads_count();
}

/* The same attention over so many tokens, for a plan alone: what it points to is not as long. */
static enum attn_status plan_problem(const struct printer *p, struct growth_point *point,
				     struct attn_error *err)
{
	struct attention a = *p->in->subject.attention; /* owns nothing */
	struct plan plan;
	a.queries = a.keys.own = a.masking.queries = point->length;
	a.masking.plain_keys = a.keys.past + point->length;
	TRY(plan_init(&plan, &a, NULL, p->want, err));
	if (!p->r->everything && !p->r->output) /* as the cost of the input has it */
		plan.cost.output = 0;
	take_cost(point, &plan.cost);
	point->bytes += (double)point->length * token_bytes(&a, p->want);
	plan_release(&plan);
	return ATTN_OK;
}

/* Which tokens they are costs nothing. */
static enum attn_status plan_model(const struct printer *p, struct growth_point *point,
				   struct attn_error *err)
{
	const struct model_input *m = &p->in->model;
	const struct model_want all = {
	    .rows = p->want, .hidden = m->hidden, .logits = m->logits, .last_logits = m->last_logits};
	struct text_ids text = {.count = point->length};
	struct row_source *source;
	struct plan_cost cost;
	size_t *ids = array_alloc(point->length, sizeof *ids);
	if (!ids)
		return attn_fail_memory(err);
	text.ids = ids;
	enum attn_status status = model_rows_new(&source, m->model, &text, &all, err);
	if (status == ATTN_OK) {
		status = model_rows_cost(source, &cost, err);
		source->free(source);
	}
	if (status == ATTN_OK)
		take_cost(point, &cost);
	free(ids);
	return status;
}

static void name_curve(struct growth_curve *curve, const struct inputs *in)
{
	const struct attention *a = in->subject.attention;
	const struct architecture *m = a ? NULL : &in->model.model->a;
	if (a)
		snprintf(curve->shape, sizeof curve->shape, "%zux%zu", a->heads, a->head_size);
	else
		snprintf(curve->shape, sizeof curve->shape, "%zux%zux%zu", m->layers, m->heads, m->head_size);
	snprintf(curve->kind, sizeof curve->kind, "%s",
		 a                   ? kind_of(a)
		 : m->family->causal ? "causal"
				     : "full");
	curve->mode = "run";
}

static enum attn_status print(FILE *out, void *context, struct attn_error *err)
{
	struct printer *p = context;
	struct growth_curve *curve = &p->growth.curves[p->growth.count++];
	name_curve(curve, p->in);
	growth_begin(&p->growth, out);
	for (size_t i = 0; i < p->r->length_count; i++) {
		struct growth_point *point = &curve->points[i];
		*point = (struct growth_point){
		    .length = p->r->lengths[i], .milliseconds = NAN, .gflops = NAN, .share = NAN};
		TRY(p->in->subject.attention ? plan_problem(p, point, err) : plan_model(p, point, err));
		curve->count++;
		growth_print_point(&p->growth, out);
	}
	growth_print_exponents(&p->growth, out);
	growth_end(&p->growth, NAN, out);
	return ATTN_OK;
}

enum attn_status run_lengths(const struct run_options *r, const struct inputs *in, struct rows_want want,
			     const struct command *self, struct attn_error *err)
{
	struct plot_request plot = {.path = r->plot, .figure = r->figure};
	TRY(check(in, err));
	struct printer *p = calloc(1, sizeof *p);
	if (!p)
		return attn_fail_memory(err);
	p->r = r;
	p->in = in;
	p->want = want;
	p->growth.format = table_format_settle(r->table_format);
	enum attn_status status = plot_open(&plot, err);
	if (status == ATTN_OK && r->plot)
		status = inputs_spare(in, r->plot, err);
	if (status == ATTN_OK)
		status =
		    plot_replaces_table(&plot) ? print(NULL, p, err) : write_file(self, "-", print, p, err);
	if (status == ATTN_OK && r->plot)
		status = growth_draw(&p->growth, &plot, self, err);
	plot_release(&plot);
	free(p);
	return status;
}
