/* Readers of BPE's vocabulary and merges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/bpe.h"
#include "tokenizer/fields.h"
#include "tokenizer/lines.h"

/* Make room for `count` merges. */
static enum attn_status init_merges(struct bpe *b, size_t count, struct attn_error *err)
{
	size_t slots = 16;
	if (count > UINT32_MAX / 4)
		return attn_fail(err, ATTN_BAD_INPUT, "'merges' has %zu pairs, expected at most %u", count,
				 UINT32_MAX / 4);
	while (slots < count + count / 2)
		slots *= 2;
	b->merges = malloc(slots * sizeof *b->merges);
	if (!b->merges)
		return attn_fail_memory(err);
	for (size_t i = 0; i < slots; i++)
		b->merges[i].pair = UINT64_MAX;
	b->merge_mask = slots - 1;
	b->seed = hash_seed();
	return ATTN_OK;
}

static enum attn_status find_part(const struct bpe *b, const char *text, size_t length, uint32_t *id,
				  struct attn_error *err)
{
	if (vocabulary_find(&b->base.vocabulary, text, length, id))
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'%.*s' is not in the vocabulary",
			 length < 100 ? (int)length : 100, text);
}

/* Look up left followed by right, without the prefix that says right goes on a word. */
static enum attn_status find_whole(const struct bpe *b, const char *left, size_t left_length,
				   const char *right, size_t right_length, uint32_t *id,
				   struct attn_error *err)
{
	char local[256], *text = local;
	if (right_length < b->prefix_length)
		return attn_fail(err, ATTN_BAD_INPUT, "'%.100s' is shorter than the prefix '%s'", right,
				 b->prefix);
	right += b->prefix_length;
	right_length -= b->prefix_length;
	size_t length = left_length + right_length;
	if (length > sizeof local && !(text = malloc(length)))
		return attn_fail_memory(err);
	memcpy(text, left, left_length);
	memcpy(text + left_length, right, right_length);
	enum attn_status status = find_part(b, text, length, id, err);
	if (text != local)
		free(text);
	return status;
}

/* Of a pair that is there twice the later rank counts, as in the reference. */
static enum attn_status add_merge(struct bpe *b, const char *left, size_t left_length, const char *right,
				  size_t right_length, size_t rank, struct attn_error *err)
{
	uint32_t left_id, right_id, id;
	TRY(find_part(b, left, left_length, &left_id, err));
	TRY(find_part(b, right, right_length, &right_id, err));
	TRY(find_whole(b, left, left_length, right, right_length, &id, err));
	*bpe_find_merge(b, left_id, right_id) =
	    (struct bpe_merge){(uint64_t)left_id << 32 | right_id, (uint32_t)rank, id};
	return ATTN_OK;
}

/* Add the merge of a text of two tokens with a space between them. */
static enum attn_status add_line(struct bpe *b, const char *line, size_t length, size_t rank,
				 struct attn_error *err)
{
	const char *space = memchr(line, ' ', length);
	const char *right = space ? space + 1 : line;
	size_t right_length = length - (size_t)(right - line);
	if (!space || memchr(right, ' ', right_length))
		return attn_fail(err, ATTN_BAD_INPUT, "'%.*s', expected two tokens with one space between",
				 length < 100 ? (int)length : 100, line);
	return add_merge(b, line, (size_t)(space - line), right, right_length, rank, err);
}

static bool is_version(const char *line, size_t length)
{
	static const char start[] = "#version";
	return length >= sizeof start - 1 && memcmp(line, start, sizeof start - 1) == 0;
}

/* Add what an item of "merges" says: "a b", or ["a", "b"], which files have since tokens may hold
 * spaces. */
static enum attn_status add_item(struct bpe *b, const cJSON *item, size_t *rank, struct attn_error *err)
{
	const cJSON *left = cJSON_IsArray(item) ? item->child : NULL;
	const cJSON *right = left ? left->next : NULL;
	if (cJSON_IsString(item)) {
		size_t length = strlen(item->valuestring);
		if (is_version(item->valuestring, length))
			return ATTN_OK;
		return add_line(b, item->valuestring, length, (*rank)++, err);
	}
	if (!cJSON_IsString(left) || !cJSON_IsString(right) || right->next)
		return attn_fail(err, ATTN_BAD_INPUT, "neither a string nor an array of two strings");
	return add_merge(b, left->valuestring, strlen(left->valuestring), right->valuestring,
			 strlen(right->valuestring), (*rank)++, err);
}

static enum attn_status parse_merges(struct bpe *b, const cJSON *merges, struct attn_error *err)
{
	const cJSON *item;
	size_t count = 0, place = 0, rank = 0;
	if (!cJSON_IsArray(merges))
		return attn_fail(err, ATTN_BAD_INPUT, "'merges' is %s, expected an array of pairs",
				 merges ? "something else" : "missing");
	cJSON_ArrayForEach(item, merges) count++;
	TRY(init_merges(b, count, err));
	cJSON_ArrayForEach(item, merges)
	{
		enum attn_status status = add_item(b, item, &rank, err);
		if (status != ATTN_OK) {
			char name[40];
			snprintf(name, sizeof name, "merges[%zu]", place);
			attn_error_prefix(err, name);
			return status;
		}
		place++;
	}
	return ATTN_OK;
}

static enum attn_status parse_lines(struct bpe *b, const char *merges, size_t length, struct attn_error *err)
{
	const char *end = merges + length, *line;
	size_t number = 0, rank = 0, used;
	TRY(init_merges(b, count_lines(merges, length), err));
	while (next_line(&merges, end, &line, &used)) {
		number++;
		if (used == 0 || is_version(line, used))
			continue;
		enum attn_status status = add_line(b, line, used, rank++, err);
		if (status != ATTN_OK) {
			char name[40];
			snprintf(name, sizeof name, "merge in line %zu", number);
			attn_error_prefix(err, name);
			return status;
		}
	}
	return ATTN_OK;
}

/* What stands beside the merges, once the vocabulary is read. */
struct bpe_options {
	const char *unknown, *prefix, *suffix; /* may be NULL */
};

static enum attn_status set_options(struct bpe *b, const struct bpe_options *options, struct attn_error *err)
{
	b->prefix = strdup(options->prefix ? options->prefix : "");
	b->suffix = strdup(options->suffix ? options->suffix : "");
	if (!b->prefix || !b->suffix)
		return attn_fail_memory(err);
	b->prefix_length = strlen(b->prefix);
	b->suffix_length = strlen(b->suffix);
	if (b->prefix_length > BPE_AFFIX_MAX || b->suffix_length > BPE_AFFIX_MAX)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' has more than %d bytes",
				 b->prefix_length > BPE_AFFIX_MAX ? "continuing_subword_prefix"
								  : "end_of_word_suffix",
				 BPE_AFFIX_MAX);
	vocabulary_find_bytes(&b->base.vocabulary, b->bytes, b->byte_missing);
	return unknown_token_set(&b->unknown, &b->base.vocabulary, options->unknown, err);
}

static enum attn_status read_model(struct bpe *b, const cJSON *model, struct attn_error *err)
{
	struct bpe_options options;
	TRY(field_string(model, "unk_token", NULL, &options.unknown, err));
	TRY(field_string(model, "continuing_subword_prefix", NULL, &options.prefix, err));
	TRY(field_string(model, "end_of_word_suffix", NULL, &options.suffix, err));
	TRY(field_bool(model, "fuse_unk", false, &b->fuse_unknown, err));
	TRY(field_bool(model, "byte_fallback", false, &b->byte_fallback, err));
	TRY(field_bool(model, "ignore_merges", false, &b->ignore_merges, err));
	TRY(vocabulary_parse(&b->base.vocabulary, cJSON_GetObjectItemCaseSensitive(model, "vocab"), "vocab",
			     err));
	TRY(set_options(b, &options, err));
	return parse_merges(b, cJSON_GetObjectItemCaseSensitive(model, "merges"), err);
}

enum attn_status bpe_parse(struct algorithm **out, const cJSON *model, struct attn_error *err)
{
	struct algorithm *a = algorithm_new(&bpe_type, sizeof(struct bpe));
	if (!a)
		return attn_fail_memory(err);
	return algorithm_finish(out, a, read_model((struct bpe *)a, model, err));
}

static enum attn_status read_files(struct bpe *b, const cJSON *vocab, const char *merges, size_t length,
				   const struct bpe_options *options, struct attn_error *err)
{
	TRY(vocabulary_parse(&b->base.vocabulary, vocab, "vocab", err));
	TRY(set_options(b, options, err));
	return parse_lines(b, merges, length, err);
}

enum attn_status algorithm_parse_bpe(struct algorithm **out, const cJSON *vocab, const char *merges,
				     size_t length, const char *unk_token, const char *end_of_word_suffix,
				     struct attn_error *err)
{
	const struct bpe_options options = {unk_token, NULL, end_of_word_suffix};
	struct algorithm *a = algorithm_new(&bpe_type, sizeof(struct bpe));
	*out = NULL;
	if (!a)
		return attn_fail_memory(err);
	return algorithm_finish(out, a, read_files((struct bpe *)a, vocab, merges, length, &options, err));
}
