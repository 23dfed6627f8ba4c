/* A vocabulary: tokens to ids by a hash table, ids to tokens by an array.
 *
 * All texts lie in one block and nothing is allocated a token, since vocabularies have hundreds of
 * thousands.  Ids may have holes and may repeat.
 */
#ifndef ATTN_TOKENIZER_VOCABULARY_H
#define ATTN_TOKENIZER_VOCABULARY_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* No model has a twentieth of it, and a file can't make us allocate more for one large id. */
#define VOCABULARY_MAX_ID (((size_t)1 << 24) - 1)

struct vocabulary {
	struct vocabulary_entry {
		size_t offset; /* of its text, which ends with a NUL, in `texts` */
		uint32_t length, id;
	} * entries; /* owned; (count) */
	char *texts; /* owned */
	size_t count, capacity, used, texts_size;
	uint32_t *slots; /* owned; (slot_mask + 1): indices of entries plus 1, 0 where free */
	size_t slot_mask;
	uint32_t *by_id; /* owned; (size): indices of entries plus 1, 0 for a hole */
	size_t size;     /* the greatest id plus 1 */
	uint64_t seed;
};

/* Make room for `count` tokens of `bytes` bytes in all.  Whatever fails, here and below, leaves what
 * vocabulary_release takes, as does {0}. */
enum attn_status vocabulary_init(struct vocabulary *v, size_t count, size_t bytes, struct attn_error *err);
void vocabulary_release(struct vocabulary *v);

/* Add a token, within the room that was made.  Where the token is there already, it is found under
 * the new id from now on.  ATTN_BAD_INPUT where the id is greater than VOCABULARY_MAX_ID. */
enum attn_status vocabulary_add(struct vocabulary *v, const char *token, size_t length, size_t id,
				struct attn_error *err);

/* Call once after the last token: makes vocabulary_token work, which gives the last of several tokens
 * with one id. */
enum attn_status vocabulary_finish(struct vocabulary *v, struct attn_error *err);

/* All of the three for an object of tokens and ids.  Errors say `key`. */
enum attn_status vocabulary_parse(struct vocabulary *v, const cJSON *object, const char *key,
				  struct attn_error *err);

/* All of the three for text[length] with a token a line, whose id is the line's number from 0.
 * Spaces at the end of a line are no part of its token. */
enum attn_status vocabulary_parse_lines(struct vocabulary *v, const char *text, size_t length,
					struct attn_error *err);

bool vocabulary_find(const struct vocabulary *v, const char *token, size_t length, uint32_t *id);

const char *vocabulary_token(const struct vocabulary *v, size_t id); /* NULL: a hole, or no id */

/* Find "<0x00>" to "<0xFF>", tokens that stand for bytes a vocabulary has no text for; missing[b] is
 * set where byte b has none. */
void vocabulary_find_bytes(const struct vocabulary *v, uint32_t ids[256], bool missing[256]);

/* A well-mixed hash of two words, for tables whose keys a file had a say in. */
static inline uint64_t hash_mix(uint64_t seed, uint64_t word)
{
	uint64_t h = (seed ^ word) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return h ^ h >> 29;
}

uint64_t hash_seed(void); /* another in each run, so that no file can be made to collide */

#endif
