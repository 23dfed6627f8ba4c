/* The table of attn bench: a line for each shape and mode, or of a model. */
#include "cmd/bench_shapes.h"

#include "cmd/bench_model.h"
#include "kernels/kernels.h"
#include "util/threads.h"

static void print_result(FILE *out, const struct bench_shapes *b, const struct bench_item *item,
			 const struct bench_result *r, bool first)
{
	const char *kernel = kernels_name(kernels_best()), *causal = item->causal ? "true" : "false";
	char share[32] = "-";
	if (r->peak > 0)
		snprintf(share, sizeof share, "%.3f", r->gflops / r->peak);
	if (b->format == TABLE_JSON) {
		fprintf(out,
			"%s\n  {\"shape\": \"%s\", \"mode\": \"%s\", \"causal\": %s, \"threads\": %zu, "
			"\"kernel\": \"%s\", "
			"\"ms\": %.6g, \"gflops\": %.6g, \"share\": %s}",
			first ? "" : ",", item->shape, item->mode, causal, threads_count(), kernel,
			r->milliseconds, r->gflops, r->peak > 0 ? share : "null");
	} else if (b->format == TABLE_TSV) {
		fprintf(out, "%s\t%s\t%s\t%zu\t%s\t%.6g\t%.6g\t%s\n", item->shape, item->mode, causal,
			threads_count(), kernel, r->milliseconds, r->gflops, share);
	} else {
		fprintf(out, "%-16s %-10s %-7s %10.4f ms %9.1f GFLOP/s  %s of the peak\n", item->shape,
			item->mode, item->causal ? "causal" : "", r->milliseconds, r->gflops, share);
	}
	fflush(out);
}

static enum attn_status bench_item(FILE *out, const struct bench_shapes *b, const struct bench_item *item,
				   bool first, struct attn_error *err)
{
	struct bench_result result;
	TRY(bench_measure(b->meter, item, &result, err));
	print_result(out, b, item, &result, first);
	return ATTN_OK;
}

static enum attn_status run_shape(void *work, struct attn_error *err)
{
	return bench_work_run(work, err);
}

static enum attn_status bench_shape(FILE *out, const struct bench_shapes *b, const struct bench_shape *s,
				    enum bench_mode mode, bool first, struct attn_error *err)
{
	const struct bench_kind kind = {.causal = b->causal};
	struct bench_work work;
	struct bench_item item = {.mode = bench_mode_names[mode],
				  .causal = b->causal,
				  .operations = bench_operations(s, mode, b->causal),
				  .run = run_shape,
				  .work = &work};
	snprintf(item.shape, sizeof item.shape, "%zux%zux%zu", s->heads, s->tokens, s->head_size);
	enum attn_status status = bench_work_plan(&work, s, mode, &kind, err);
	if (status == ATTN_OK)
		status = bench_work_start(&work, err);
	if (status == ATTN_OK)
		status = bench_item(out, b, &item, first, err);
	bench_work_release(&work);
	return status;
}

static enum attn_status run_model(void *work, struct attn_error *err)
{
	return bench_model_run(work, err);
}

static enum attn_status bench_pass(FILE *out, const struct bench_shapes *b, bool weights,
				   struct attn_error *err)
{
	struct bench_model model;
	struct plan_cost cost;
	struct bench_item item = {.mode = weights ? "weights" : "forward", .run = run_model, .work = &model};
	enum attn_status status =
	    bench_model_init(&model, b->model, b->tokens ? b->tokens : 512, weights, err);
	if (status == ATTN_OK)
		status = bench_model_cost(&model, &cost, err);
	if (status == ATTN_OK) {
		const struct architecture *a = &model.model->a;
		item.causal = a->family->causal;
		item.operations = 2 * (cost.projections + cost.attention + cost.output);
		snprintf(item.shape, sizeof item.shape, "%zux%zux%zux%zu", a->layers, a->heads,
			 model.text.count, a->head_size);
		status = bench_item(out, b, &item, !weights, err);
	}
	bench_model_release(&model);
	return status;
}

static enum attn_status bench_all(FILE *out, const struct bench_shapes *b, struct attn_error *err)
{
	bool first = true;
	if (b->model)
		TRY(bench_pass(out, b, false, err));
	if (b->model)
		return bench_pass(out, b, true, err);
	for (size_t i = 0; i < b->count; i++)
		for (int m = 0; m < BENCH_COUNT; m++) {
			if (!b->modes[m])
				continue;
			TRY(bench_shape(out, b, &b->shapes[i], (enum bench_mode)m, first, err));
			first = false;
		}
	return ATTN_OK;
}

enum attn_status bench_shapes_run(const struct bench_shapes *b, FILE *out, struct attn_error *err)
{
	if (b->format == TABLE_TSV)
		fputs("shape\tmode\tcausal\tthreads\tkernel\tms\tgflops\tshare\n", out);
	else if (b->format == TABLE_JSON)
		fputs("{\"results\": [", out);
	TRY(bench_all(out, b, err));
	double peak = bench_peak(b->meter);
	if (b->format == TABLE_JSON)
		fprintf(out, "\n], \"peak_gflops\": %.6g}\n", peak);
	else if (b->format == TABLE_TEXT && peak > 0)
		fprintf(out, "multiply-add peak %.1f GFLOP/s with %zu thread%s\n", peak, threads_count(),
			threads_count() > 1 ? "s" : "");
	return ATTN_OK;
}
