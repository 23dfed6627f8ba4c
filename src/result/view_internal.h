/* What views have in common. */
#ifndef ATTN_RESULT_VIEW_INTERNAL_H
#define ATTN_RESULT_VIEW_INTERNAL_H

#include "result/view.h"

/* A worker's rows. */
struct view_worker {
	float *weights;       /* (ROWS_BLOCK, keys) */
	unsigned char *cells; /* (ROWS_BLOCK, keys) */
	double *sums;         /* (keys) */
};

/* A view begins with this, so that its source is cast to it. */
struct view_base {
	struct row_source source;
	struct row_source *inner;    /* owned once the view is open */
	struct view_worker *workers; /* threads_count(), owned */
	size_t worker_count;
};

/* The memory of workers, for the keys of the source's shape; false: none left. */
bool view_base_workers(struct view_base *base);

/* Free what the base owns, the inner source too. */
void view_base_release(struct view_base *base);

/* The source's start: the inner source has what there is to do, a view's own memory is
 * small. */
enum attn_status view_base_start(struct row_source *source, struct attn_error *err);

/* The source's begin_layer where the inner source has one: a view of the same layers. */
enum attn_status view_base_begin_layer(struct row_source *source, size_t layer, struct attn_error *err);

/* The end of opening a view: *view has its source; where it is not `ready` it is freed, the
 * inner source is the caller's again, and no memory is left. */
enum attn_status view_base_finish(struct view_base *base, bool ready, struct named_rows *view,
				  struct attn_error *err);

/* Rows of a block with cells that attend to no key. */
size_t view_count_masked(const struct row_block *block);

/* All of `from` that a view of queries and keys leaves alone: what is not about these. */
bool view_info_init(struct rows_info *info, const struct rows_info *from);

/* And the labels, for a view of the same queries and keys. */
bool view_info_copy(struct rows_info *info, const struct rows_info *from);

#endif
