#include "model/experts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/project.h"
#include "util/memory.h"

/* Who takes whom. */
struct routing {
	float *scores;  /* (tokens, experts) */
	size_t *chosen; /* (tokens, token_experts) */
	double *shares; /* likewise */
	float *rows;    /* (tokens, width): those of an expert's tokens */
	float *results; /* likewise */
	size_t *tokens; /* (tokens): an expert's */
	double *share;  /* (tokens): theirs in it */
};

static bool routing_allocate(struct routing *r, size_t tokens, const struct architecture *a)
{
	r->scores = floats_alloc4(tokens, a->experts, 1, 1);
	r->chosen = array_alloc(tokens, a->token_experts * sizeof *r->chosen);
	r->shares = array_alloc(tokens, a->token_experts * sizeof *r->shares);
	r->rows = floats_alloc4(tokens, a->width, 1, 1);
	r->results = floats_alloc4(tokens, a->width, 1, 1);
	r->tokens = array_alloc(tokens, sizeof *r->tokens);
	r->share = array_alloc(tokens, sizeof *r->share);
	return r->scores && r->chosen && r->shares && r->rows && r->results && r->tokens && r->share;
}

static void routing_release(struct routing *r)
{
	free(r->scores);
	free(r->chosen);
	free(r->shares);
	free(r->rows);
	free(r->results);
	free(r->tokens);
	free(r->share);
}

/* The experts of a token, whose scores are lost, and their shares. */
static void choose(const struct architecture *a, float *scores, size_t *chosen, double *shares)
{
	double highest = -INFINITY, all = 0, some = 0;
	for (size_t e = 0; e < a->experts; e++)
		highest = fmax(highest, (double)scores[e]);
	for (size_t e = 0; e < a->experts; e++)
		all += exp((double)scores[e] - highest);
	for (size_t i = 0; i < a->token_experts; i++) {
		size_t best = 0;
		for (size_t e = 1; e < a->experts; e++)
			best = scores[e] > scores[best] ? e : best;
		chosen[i] = best;
		shares[i] = exp((double)scores[best] - highest) / all;
		some += shares[i];
		scores[best] = -INFINITY;
	}
	for (size_t i = 0; i < a->token_experts && a->normalised_experts; i++)
		shares[i] /= some;
}

/* Gather the rows of an expert's tokens; returns how many. */
static size_t gather(struct routing *r, const struct architecture *a, size_t tokens, size_t expert,
		     const float *in)
{
	size_t count = 0;
	for (size_t t = 0; t < tokens; t++)
		for (size_t i = 0; i < a->token_experts; i++) {
			if (r->chosen[t * a->token_experts + i] != expert)
				continue;
			memcpy(r->rows + count * a->width, in + t * a->width, a->width * sizeof *in);
			r->share[count] = r->shares[t * a->token_experts + i];
			r->tokens[count++] = t;
		}
	return count;
}

static enum attn_status run_expert(struct forward *f, const struct expert *e, struct routing *r, size_t count,
				   float *out, struct attn_error *err)
{
	const struct architecture *a = &f->model->a;
	const struct projection_end inside = {.activation = a->activation, .gate = &e->gate.w};
	TRY(project_rows(f->kernels, r->rows, a->width, count, &e->up.w, NULL, &inside, f->inner,
			 a->expert_inner, "hidden states of an expert", err));
	TRY(project_rows(f->kernels, f->inner, a->expert_inner, count, &e->down.w, NULL, NULL, r->results,
			 a->width, "hidden states of an expert", err));
	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < a->width; c++) {
			float *to = &out[r->tokens[i] * a->width + c];
			*to = (float)((double)*to + r->share[i] * (double)r->results[i * a->width + c]);
		}
	return ATTN_OK;
}

static enum attn_status run_all(struct forward *f, const struct layer *layer, struct routing *r,
				const float *in, float *out, struct attn_error *err)
{
	const struct architecture *a = &f->model->a;
	size_t tokens = f->text.count;
	TRY(project_rows(f->kernels, in, a->width, tokens, &layer->router.w, NULL, NULL, r->scores,
			 a->experts, "scores of experts", err));
	for (size_t t = 0; t < tokens; t++)
		choose(a, r->scores + t * a->experts, r->chosen + t * a->token_experts,
		       r->shares + t * a->token_experts);
	for (size_t e = 0; e < a->experts; e++) {
		size_t count = gather(r, a, tokens, e, in);
		if (count > 0)
			TRY(run_expert(f, &layer->experts[e], r, count, out, err));
	}
	return ATTN_OK;
}

enum attn_status experts_add(struct forward *f, const struct layer *layer, const float *in, float *out,
			     struct attn_error *err)
{
	struct routing r = {0};
	enum attn_status status = routing_allocate(&r, f->text.count, &f->model->a)
				      ? run_all(f, layer, &r, in, out, err)
				      : attn_fail_memory(err);
	routing_release(&r);
	return status;
}
