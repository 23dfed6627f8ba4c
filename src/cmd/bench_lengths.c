#include "cmd/bench_lengths.h"

#include <math.h>
#include <string.h>

#include "cmd/bench_model.h"
#include "util/threads.h"

enum attn_status bench_kinds_option(struct bench_lengths *b, const struct options *o, struct attn_error *err)
{
	for (const char *at = o->value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (b->kind_count == BENCH_KINDS ||
		    !bench_kind_parse(&b->kinds[b->kind_count++], at, strcspn(at, ",")))
			return option_fail(o,
					   "at most 8 of 'full', 'causal', 'window:L', 'linear' and "
					   "'causal-linear', with commas between them",
					   err);
	return ATTN_OK;
}

/* What one length of a curve is made of. */
struct bench_case {
	const struct bench_lengths *lengths;
	struct bench_shape shape;
	const struct bench_kind *kind;
	enum bench_mode mode;
	struct bench_meter *meter;
	struct growth *growth;
};

static struct growth_curve *add_curve(struct growth *g, const char *kind, const char *mode)
{
	struct growth_curve *curve = &g->curves[g->count++];
	*curve = (struct growth_curve){.mode = mode};
	snprintf(curve->kind, sizeof curve->kind, "%s", kind);
	return curve;
}

static void take_result(struct growth_point *point, const struct bench_result *result)
{
	point->milliseconds = result->milliseconds;
	point->gflops = result->gflops;
	if (result->peak > 0)
		point->share = result->gflops / result->peak;
}

static enum attn_status run_work(void *work, struct attn_error *err)
{
	return bench_work_run(work, err);
}

static enum attn_status measure_work(struct bench_case *s, struct bench_work *work,
				     struct growth_point *point, struct attn_error *err)
{
	struct bench_result result;
	struct bench_item item = {.operations = 2 * point->multiply_adds, .run = run_work, .work = work};
	TRY(bench_work_start(work, err));
	TRY(bench_measure(s->meter, &item, &result, err));
	take_result(point, &result);
	return ATTN_OK;
}

static enum attn_status cost_of_shape(struct bench_case *s, struct growth_point *point,
				      struct attn_error *err)
{
	struct bench_work work;
	s->shape.tokens = point->length;
	enum attn_status status = bench_work_plan(&work, &s->shape, s->mode, s->kind, err);
	if (status == ATTN_OK) {
		point->multiply_adds = bench_work_multiply_adds(&work);
		point->bytes = bench_work_bytes(&work);
	}
	if (status == ATTN_OK && !s->lengths->dry_run)
		status = measure_work(s, &work, point, err);
	bench_work_release(&work);
	return status;
}

static enum attn_status run_model(void *work, struct attn_error *err)
{
	return bench_model_run(work, err);
}

static enum attn_status measure_model(struct bench_case *s, struct bench_model *model,
				      struct growth_point *point, struct attn_error *err)
{
	struct growth_curve *curve = &s->growth->curves[s->growth->count - 1];
	const struct architecture *a = &model->model->a;
	struct bench_item item = {.run = run_model, .work = model};
	struct bench_result result;
	struct plan_cost cost;
	TRY(bench_model_cost(model, &cost, err));
	point->multiply_adds = cost.projections + cost.attention + cost.output;
	point->bytes = (double)cost.projected + (double)cost.workspace * (double)threads_count();
	snprintf(curve->kind, sizeof curve->kind, "%s", a->family->causal ? "causal" : "full");
	snprintf(curve->shape, sizeof curve->shape, "%zux%zux%zu", a->layers, a->heads, a->head_size);
	if (s->lengths->dry_run)
		return ATTN_OK;
	item.operations = 2 * point->multiply_adds;
	TRY(bench_measure(s->meter, &item, &result, err));
	take_result(point, &result);
	return ATTN_OK;
}

static enum attn_status cost_of_model(struct bench_case *s, struct growth_point *point,
				      struct attn_error *err)
{
	struct bench_model model;
	enum attn_status status = bench_model_init(&model, s->lengths->model, point->length, false, err);
	if (status == ATTN_OK)
		status = measure_model(s, &model, point, err);
	bench_model_release(&model);
	return status;
}

/* All lengths of the last curve. */
static enum attn_status run_curve(struct bench_case *s, FILE *out, struct attn_error *err)
{
	struct growth_curve *curve = &s->growth->curves[s->growth->count - 1];
	for (size_t i = 0; i < s->lengths->count; i++) {
		struct growth_point *point = &curve->points[curve->count];
		*point = (struct growth_point){
		    .length = s->lengths->lengths[i], .milliseconds = NAN, .gflops = NAN, .share = NAN};
		TRY(s->lengths->model ? cost_of_model(s, point, err) : cost_of_shape(s, point, err));
		curve->count++;
		growth_print_point(s->growth, out);
	}
	growth_print_exponents(s->growth, out);
	return ATTN_OK;
}

static enum attn_status run_shapes(struct bench_case *s, FILE *out, struct attn_error *err)
{
	const struct bench_lengths *b = s->lengths;
	for (size_t i = 0; i < b->shape_count; i++) {
		for (size_t k = 0; k < b->kind_count; k++) {
			for (int m = 0; m < BENCH_COUNT; m++) {
				if (!b->modes[m])
					continue;
				if (s->growth->count == GROWTH_CURVES)
					return attn_fail(err, ATTN_USAGE,
							 "shapes, kinds and modes make more than %d curves",
							 GROWTH_CURVES);
				s->shape = b->shapes[i];
				s->kind = &b->kinds[k];
				s->mode = (enum bench_mode)m;
				struct growth_curve *curve =
				    add_curve(s->growth, s->kind->name, bench_mode_names[m]);
				snprintf(curve->shape, sizeof curve->shape, "%zux%zu", s->shape.heads,
					 s->shape.head_size);
				TRY(run_curve(s, out, err));
			}
		}
	}
	return ATTN_OK;
}

enum attn_status bench_lengths_run(const struct bench_lengths *b, struct bench_meter *meter, struct growth *g,
				   FILE *out, struct attn_error *err)
{
	struct bench_case s = {.lengths = b, .meter = meter, .growth = g};
	g->measured = !b->dry_run;
	growth_begin(g, out);
	if (b->model) {
		add_curve(g, "", "forward");
		TRY(run_curve(&s, out, err));
	} else {
		TRY(run_shapes(&s, out, err));
	}
	growth_end(g, b->dry_run ? NAN : bench_peak(meter), out);
	return ATTN_OK;
}
