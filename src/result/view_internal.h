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

struct view_workers {
	struct view_worker *items; /* owned */
	size_t count;
};

bool view_workers_init(struct view_workers *workers, size_t keys);
void view_workers_release(struct view_workers *workers);

/* All of `from` that a view leaves alone: what is not about queries and keys. */
bool view_info_init(struct rows_info *info, const struct rows_info *from);

#endif
