#include "attention/plan.h"

#include <stdint.h>
#include <stdlib.h>

#include "attention/engine_internal.h"
#include "attention/latent.h"
#include "util/memory.h"

/* --- heads ------------------------------------------------------------------------ */

static enum attn_status head_set_init(struct head_set *set, size_t all, struct attn_error *err)
{
	*set = (struct head_set){.all = all};
	set->heads = array_alloc(all, sizeof *set->heads);
	set->slots = array_alloc(all, sizeof *set->slots);
	if (!set->heads || !set->slots)
		return attn_fail_memory(err);
	for (size_t h = 0; h < all; h++)
		set->slots[h] = SIZE_MAX;
	return ATTN_OK;
}

/* A head may be added twice; those of a map are in ascending order. */
static void head_set_add(struct head_set *set, size_t head)
{
	if (set->slots[head] != SIZE_MAX)
		return;
	set->slots[head] = set->count;
	set->heads[set->count++] = head;
}

static void head_set_release(struct head_set *set)
{
	free(set->heads);
	free(set->slots);
	*set = (struct head_set){0};
}

size_t head_set_run(const struct head_set *set, size_t slot)
{
	size_t count = 1;
	while (slot + count < set->count && set->heads[slot + count] == set->heads[slot] + count)
		count++;
	return count;
}

/* A norm over the whole width of Q or K takes all heads. */
static void choose_whole(struct head_set *set, const struct vector_norm *norm, size_t heads)
{
	for (size_t h = 0; h < heads && norm->kind != VECTOR_NORM_NONE && norm->whole; h++)
		head_set_add(set, h);
}

static enum attn_status choose_heads(struct plan *plan, const bool *chosen, struct attn_error *err)
{
	const struct attention *a = plan->attention;
	TRY(head_set_init(&plan->queries, query_heads(a), err));
	TRY(head_set_init(&plan->keys, key_heads(a), err));
	TRY(head_set_init(&plan->values, a->kv_heads, err));
	choose_whole(&plan->queries, &a->q_norm, query_heads(a));
	choose_whole(&plan->keys, &a->k_norm, key_heads(a));
	for (size_t h = 0; h < a->heads; h++) {
		if (!rows_chosen(chosen, h))
			continue;
		plan->maps += a->maps;
		head_set_add(&plan->values, value_head_of(a, h));
		for (size_t map = 0; map < a->maps; map++)
			head_set_add(&plan->queries, query_head_of(a, h, map));
	}
	for (size_t v = 0; v < plan->values.count; v++)
		for (size_t map = 0; map < a->maps; map++)
			head_set_add(&plan->keys, key_head_of_value(a, plan->values.heads[v], map));
	return ATTN_OK;
}

/* --- cost --------------------------------------------------------------------------- */

/* Pairs of a query and a key that it attends to, as far as causal and lengths tell. */
static double count_pairs(const struct attention *a)
{
	double pairs = 0;
	for (size_t b = 0; b < a->batch; b++)
		for (size_t query = 0; query < a->queries; query++)
			pairs += (double)(masking_count(&a->masking, b, query) + a->masking.appended_keys);
	return pairs;
}

/* Multiply-adds of the matrices of a score function. */
static double score_cost(const struct plan *plan)
{
	const struct attention *a = plan->attention;
	double queries = (double)(a->batch * plan->queries.count) * (double)a->queries;
	double keys = (double)a->batch * (double)plan->shape.keys *
		      (double)(a->score.u.head_stride ? plan->queries.count : plan->keys.count);
	return queries * (double)a->score.w.rows * (double)a->score.w.cols +
	       keys * (double)a->score.u.rows * (double)a->score.u.cols;
}

/* Multiply-adds of x W for the chosen heads' columns. */
static double projection_cost(const struct plan *plan)
{
	const struct attention *a = plan->attention;
	double rows = (double)a->batch * (double)a->queries, sources = (double)a->batch * (double)a->keys.own;
	if (a->latent.down_kv.data)
		return latent_cost(plan);
	if (!a->projected)
		return 0;
	double cost = rows * (double)a->wq.rows * (double)(plan->queries.count * a->head_size) +
		      sources * (double)a->wk.rows * (double)(plan->keys.count * a->key_size);
	if (plan->want.values)
		cost += sources * (double)a->wv.rows * (double)(plan->values.count * a->value_size);
	return cost;
}

/* Linear attention takes each key once, and each query once and with the keys of a step. */
static void add_linear_cost(struct plan *plan, size_t states, size_t step)
{
	const struct attention *a = plan->attention;
	double size = (double)a->score.inner * (double)(a->value_size + 1);
	double heads = (double)(a->batch * plan->maps);
	plan->cost.attention = heads * size * ((double)a->queries + (double)plan->shape.keys) +
			       heads * (double)a->queries * (double)(plan->shape.keys > step ? step / 2 : 0) *
				   (double)(a->score.inner + a->value_size);
	plan->cost.projected +=
	    (size_t)((double)(a->batch * plan->keys.count * states) * size * (double)sizeof(float));
}

static void find_cost(struct plan *plan)
{
	const struct attention *a = plan->attention;
	struct plan_cost *cost = &plan->cost;
	bool tiles = plan_by_tiles(plan);
	size_t step, states = tiles ? engine_linear_states(plan, &step) : 0;
	cost->projections = projection_cost(plan) + score_cost(plan);
	cost->attention = (double)plan->maps * count_pairs(a) *
			  (double)(a->score.inner + (plan->want.context ? a->value_size : 0));
	cost->projected = engine_prepared_bytes(plan);
	if (states > 0)
		add_linear_cost(plan, states, step);
	if (plan->want.context)
		cost->output = (double)a->batch * (double)a->queries * (double)a->output.wo.rows *
			       (double)a->output.wo.cols;
	cost->workspace = workspace_bytes(plan, tiles ? BY_TILES : BY_REFERENCE);
}

bool plan_by_tiles(const struct plan *plan)
{
	return kernels_best() && !plan->want.scores && !plan->want.unscaled_weights && !plan->want.shares;
}

/* --- the plan ----------------------------------------------------------------------- */

enum attn_status plan_init(struct plan *plan, const struct attention *attention,
			   const struct rows_selection *selection, struct rows_want want,
			   struct attn_error *err)
{
	*plan = (struct plan){.attention = attention, .want = want, .shape = attention_shape(attention)};
	plan->want.context &= attention->has_values;
	plan->want.shares &= plan->want.context;
	plan->want.values = (plan->want.values && attention->has_values) || plan->want.context;
	if (is_differential(attention) && (want.scores || want.unscaled_weights || want.shares))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'lambda' makes two maps a head, each with scores of its own, expected "
				 "scores to be asked for without it");
	enum attn_status status = choose_heads(plan, selection ? selection->heads : NULL, err);
	if (status == ATTN_OK)
		find_cost(plan);
	else
		plan_release(plan);
	return status;
}

void plan_release(struct plan *plan)
{
	head_set_release(&plan->queries);
	head_set_release(&plan->keys);
	head_set_release(&plan->values);
	*plan = (struct plan){0};
}
