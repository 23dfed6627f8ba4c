#include "attention/by_kernels.h"

#include <stdlib.h>

struct by_kernels {
	struct row_source source;
	struct row_source *inner; /* owned */
	const struct kernels *set;
};

static size_t by_query_work(const struct row_source *source, size_t batch, size_t query)
{
	const struct row_source *inner = ((const struct by_kernels *)source)->inner;
	return inner->query_work(inner, batch, query);
}

static enum attn_status by_start(struct row_source *source, struct attn_error *err)
{
	struct by_kernels *k = (struct by_kernels *)source;
	const struct kernels *before = kernels_swap(k->set);
	enum attn_status status = k->inner->start(k->inner, err);
	kernels_swap(before);
	return status;
}

static enum attn_status by_begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	struct by_kernels *k = (struct by_kernels *)source;
	const struct kernels *before = kernels_swap(k->set);
	enum attn_status status = k->inner->begin_layer(k->inner, layer, err);
	kernels_swap(before);
	return status;
}

static enum attn_status by_read(struct row_source *source, size_t worker, struct row_block *block,
				struct attn_error *err)
{
	struct row_source *inner = ((struct by_kernels *)source)->inner;
	return inner->read(inner, worker, block, err);
}

static enum attn_status by_value_norms(struct row_source *source, size_t batch, size_t head, float *norms,
				       struct attn_error *err)
{
	struct row_source *inner = ((struct by_kernels *)source)->inner;
	return inner->value_norms(inner, batch, head, norms, err);
}

static bool by_remark(struct row_source *source, char *text, size_t size)
{
	struct row_source *inner = ((struct by_kernels *)source)->inner;
	return inner->remark(inner, text, size);
}

static void by_free(struct row_source *source)
{
	struct by_kernels *k = (struct by_kernels *)source;
	if (k->inner->free)
		k->inner->free(k->inner);
	free(k);
}

enum attn_status rows_by_kernels(struct row_source **source, const struct kernels *set,
				 struct attn_error *err)
{
	struct row_source *inner = *source;
	struct by_kernels *k = calloc(1, sizeof *k);
	if (!k)
		return attn_fail_memory(err);
	k->inner = inner;
	k->set = set;
	k->source = *inner;
	k->source.query_work = inner->query_work ? by_query_work : NULL;
	k->source.start = inner->start ? by_start : NULL;
	k->source.begin_layer = inner->begin_layer ? by_begin_layer : NULL;
	k->source.read = by_read;
	k->source.value_norms = inner->value_norms ? by_value_norms : NULL;
	k->source.remark = inner->remark ? by_remark : NULL;
	k->source.free = by_free;
	*source = &k->source;
	return ATTN_OK;
}
