/* The pairs of 'attn inspect pairs': from an operand, a table or dependency trees to tokens. */
#ifndef ATTN_CMD_PAIRS_LIST_H
#define ATTN_CMD_PAIRS_LIST_H

#include "cmd/inputs.h"
#include "consumers/pairs.h"

/* As given: one of the first three. */
struct pairs_request {
	const char *list, *file, *conllu;
	const char *relation; /* only of this one; or NULL */
	bool reverse;
};

struct pairs_list {
	struct pair *items; /* owned */
	size_t count, room;
	struct string_list relations; /* the name of each group; empty: there is one without a name */
};

/* Find the pairs among the tokens that `in` shows.  ATTN_NO_MATCH: a text is not there; ATTN_BAD_INPUT: a
 * file is not what it should be. */
enum attn_status pairs_list_open(struct pairs_list *list, const struct pairs_request *request,
				 const struct inputs *in, struct attn_error *err);
void pairs_list_release(struct pairs_list *list); /* safe on a zeroed one */

#endif
