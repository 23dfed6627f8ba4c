#include "attention/plan.h"
#include "consumers/context.h"
#include "model/forward.h"

/* Keys and values for what follows, where a cache keeps them. */
static void keep_vectors(struct forward *f, const struct row_source *engine)
{
	if (f->cache && !f->crossing)
		kv_cache_take(f->cache, engine, f->layer, f->text.first, f->text.count);
	else if (f->cache && !f->cache->crossed)
		kv_cache_take_crossing(f->cache, engine, f->layer);
}

static enum attn_status compute(struct forward *f, const struct attention *attention, struct attn_error *err)
{
	static const struct rows_want want = {.context = true};
	struct plan plan;
	struct row_source *engine = NULL;
	struct context_consumer contexts;
	struct row_consumer *consumers[] = {&contexts.consumer};
	TRY(plan_init(&plan, attention, NULL, want, err));
	enum attn_status status = plan_run(&plan, &engine, err);
	if (status == ATTN_OK) {
		context_consumer_into(&contexts, &engine->shape, f->model->a.head_size, f->context);
		status = rows_stream(engine, NULL, consumers, 1, err);
		if (status == ATTN_OK)
			keep_vectors(f, engine);
		engine->free(engine);
	}
	plan_release(&plan);
	return status;
}

enum attn_status forward_attend(struct forward *f, struct attn_error *err)
{
	struct attention attention;
	TRY(forward_norm(f, err));
	enum attn_status status = forward_attention(f, f->layer, f->crossing, &attention, err);
	if (status == ATTN_OK)
		status = compute(f, &attention, err);
	attention_release(&attention);
	return status;
}
