/* attn align: from an input to the links of its words. */
#ifndef ATTN_CMD_ALIGN_INPUT_H
#define ATTN_CMD_ALIGN_INPUT_H

#include "cmd/view_options.h"
#include "consumers/alignment.h"

/* Tokens that a user names, and which of them have been met. */
struct named_tokens {
	struct string_list names;
	bool *met; /* (names), owned; NULL before the first input */
};

/* Which token a row of a decoder is of. */
enum align_rows {
	ROWS_GUESSED, /* that which it writes, where the first one read is a mark, else as labelled */
	ROWS_WRITTEN,
	ROWS_READ
};

/* What is linked and how, as given. */
struct align_request {
	struct alignment_options links; /* the method and its numbers */
	bool tokens;                    /* --no-words */
	bool keep_special, by_head;
	enum align_rows rows;
	struct named_tokens special, nulls;
	struct selection_options selection;
	struct view_request view;
};

void align_request_release(struct align_request *r);

/* An input, of one sentence or a batch of them. */
struct align_input {
	struct inputs in;
	struct selection selected;
	struct alignment_options links;
	bool *queries, *keys, *nulls; /* owned: what may be linked, and means that there is no link */
	size_t *targets, *sources;    /* (queries), (keys), owned: the number of each word, of those that may
				       * be linked */
	size_t target_count, source_count;
	struct alignment alignment;
	bool defaulted; /* the last of several layers was chosen here, not by the user */
	bool shifted;   /* and so was that rows are of what they write */
};

/* Open what operands or the model of `given` say, which has options and settings alone, and choose
 * heads and words.  Nothing is computed. */
enum attn_status align_input_open(struct align_input *a, struct align_request *request,
				  const struct inputs *given, const struct command *self, int argc,
				  char **argv, struct attn_error *err);
void align_input_release(struct align_input *a); /* safe on a zeroed one */

/* Stream the rows. */
enum attn_status align_input_stream(struct align_input *a, const struct command *self,
				    struct attn_error *err);

/* After that: the links of a batch item by one head (0 and 0 where they are joined), in *out, sorted: of
 * words by their numbers, or, with `indices`, of keys and queries. */
enum attn_status align_input_links(const struct align_input *a, size_t batch, size_t layer, size_t head,
				   struct link_list *out, struct attn_error *err);

#endif
