/* Gold standards of word alignments.
 *
 * Pharaoh format: a line a sentence, "0-0 1-2 2p3": the numbers of a source and of a target word,
 * with '-' between them where the link is sure, 'p' or '?' where it is possible.  In front a
 * line may have a number of its own and a tab, which says nothing.
 *
 * NAACL format (Mihalcea and Pedersen 2003): a line a link, "1 1 2 S", with the number of the
 * sentence, of the source and of the target word, all from 1, and S or P (S if it is left out),
 * maybe a confidence.  A link with word 0 says that the other word has none.
 *
 * Which of both it is, is known by the first line that has anything: only that of the first has a
 * link with a sign between two numbers.
 */
#ifndef ATTN_FILES_PHARAOH_H
#define ATTN_FILES_PHARAOH_H

#include <stdbool.h>
#include <stddef.h>

#include "tokens/links.h"
#include "util/error.h"

struct gold_sentence {
	struct link_list links; /* sorted; a sure link is possible, too, but listed once */
	size_t line;            /* from 1, where it stands or begins; 0: no line has any link of it */
};

struct gold {
	struct gold_sentence *sentences; /* owned */
	size_t count, room;
	bool naacl; /* sentences after the last one named have no links */
};

enum {
	GOLD_SENTENCES = 1000000 /* at most */
};

/* Parse text[length].  `first`: the number of the first word of a Pharaoh file, 0 or 1;
 * `reversed`: target words come first.  ATTN_BAD_INPUT says in which line. */
enum attn_status gold_parse(struct gold *out, const char *text, size_t length, size_t first, bool reversed,
			    struct attn_error *err);
void gold_release(struct gold *gold); /* safe on a zeroed one */

#endif
