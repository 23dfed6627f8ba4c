/* attn align --gold: how links compare with those of a gold standard. */
#ifndef ATTN_CMD_ALIGN_SCORES_H
#define ATTN_CMD_ALIGN_SCORES_H

#include "cmd/align_input.h"
#include "cmd/table_writer.h"
#include "files/pharaoh.h"

/* What a line of scores is of: a head, a sentence, or all. */
struct score_line {
	size_t layer, head, sentence; /* as users know them */
	bool total;                   /* of all sentences, below those of each */
	struct link_counts counts;
};

struct align_scores {
	const char *path;   /* of the gold standard; NULL: none */
	size_t first;       /* the number of its first word */
	bool reversed;      /* target words come first */
	bool each, by_head; /* lines of each sentence; of each head */
	struct gold gold;
	struct score_line *lines; /* owned */
	size_t count, room;
	struct rows_shape shape; /* of the first input */
	struct table_writer table;
};

/* Read the gold standard.  The table has columns, of which `list` (NULL: all) are chosen. */
enum attn_status align_scores_begin(struct align_scores *s, const char *list, struct attn_error *err);

/* Compare the links of a batch item, which is sentence `sentence` from 0.  ATTN_BAD_INPUT where the gold
 * standard has no such sentence, or a link beyond its words, or where the input has other heads than the
 * one before and these are scored. */
enum attn_status align_scores_add(struct align_scores *s, const struct align_input *input, size_t sentence,
				  size_t batch, struct attn_error *err);

/* The links of the gold standard for that sentence, or the same errors. */
enum attn_status align_scores_gold(const struct align_scores *s, const struct align_input *input,
				   size_t sentence, const struct link_list **out, struct attn_error *err);

/* After the last of `sentences`: ATTN_BAD_INPUT where the gold standard has more. */
enum attn_status align_scores_write(struct align_scores *s, size_t sentences, const struct command *self,
				    struct attn_error *err);
void align_scores_release(struct align_scores *s); /* safe on a zeroed one */

#endif
