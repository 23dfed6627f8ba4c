/* Which axes stored weights have, in which order: the setting "axes". */
#ifndef ATTN_INPUT_AXES_H
#define ATTN_INPUT_AXES_H

#include "input/bundle.h"

enum axis_name {
	AXIS_LAYER,
	AXIS_BATCH,
	AXIS_HEAD,
	AXIS_QUERY,
	AXIS_KEY,
	AXIS_NAMES
};

struct axis_list {
	enum axis_name names[AXIS_NAMES]; /* each at most once; queries and keys last if not named */
	size_t count;
	const struct setting *setting; /* NULL: not given, and the list is empty */
};

/* Read the setting: names with commas between. */
enum attn_status axis_list_read(const struct bundle *b, struct axis_list *list, struct attn_error *err);

/* Whether the list has the name. */
bool axis_list_has(const struct axis_list *list, enum axis_name name);

/* Fit the list to weights of `rank`: without the setting, as rank tells; one that names no head
 * gets it before queries and keys, if rank has one axis more; otherwise there is none, and the
 * weights are averages over heads.  False where rank is another. */
bool axis_list_fit(struct axis_list *list, int rank);

#endif
