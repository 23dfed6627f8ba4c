/* Added tokens: strings that are one token wherever they stand, which nothing else cuts or changes.
 *
 * Those that are not normalised are looked for in the text as it came, the others in what the
 * normalizers make of what is left, and are normalised themselves for that.
 */
#ifndef ATTN_TOKENIZER_ADDED_H
#define ATTN_TOKENIZER_ADDED_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "tokenizer/algorithm.h"
#include "tokenizer/normalizer.h"
#include "util/error.h"

struct added_token {
	char *content; /* owned */
	char *sought;  /* what it is in the text that is searched; owned, "" is never found */
	size_t length; /* bytes of `sought` */
	size_t id;
	bool single_word; /* not where a character of a word is on either side */
	bool lstrip;      /* with the white space before it */
	bool rstrip;      /* with the white space behind it */
	bool normalized;
	bool special; /* goes before others that are sought as the same string */
};

/* Those that are sought in the same text, in the order of their bytes. */
struct added_index {
	const struct added_token **items; /* owned */
	size_t count;
	size_t first[257]; /* items[first[b]] to items[first[b + 1] - 1] begin with byte b */
};

struct added_vocabulary {
	struct added_token *items; /* owned */
	size_t count;
	const struct added_token **by_id; /* (count), ascending; owned */
	struct added_index raw, normalized;
};

/* Read "added_tokens" of a tokenizer.json; NULL has none.  The id of a token is that of the algorithm's
 * vocabulary where that has it, else the next free one: the reference does not go by the id that is
 * stated.  Of tokens with the same content the last one counts.  Nothing of `array` is needed
 * afterwards. */
enum attn_status added_parse(struct added_vocabulary *v, const cJSON *array,
			     const struct algorithm *algorithm, const struct normalizer_list *normalizers,
			     struct attn_error *err);
void added_release(struct added_vocabulary *v);

/* Find the next token in text[length] that begins at *at or behind it: the leftmost, and the longest of
 * those.  *at is set to where the search goes on after it.  The place found is widened by the white
 * space that the token takes, but not to before `done`, up to which earlier ones have taken it; where
 * that leaves nothing of it, *start is not below *end.  NULL: there is none. */
const struct added_token *added_find(const struct added_index *index, const char *text, size_t length,
				     size_t *at, size_t done, size_t *start, size_t *end);

const struct added_token *added_by_id(const struct added_vocabulary *v, size_t id); /* or NULL */

#endif
