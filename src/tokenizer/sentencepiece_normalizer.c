/* How SentencePiece normalises (normalizer.cc): a map of characters, then spaces. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer/normalizer_internal.h"
#include "tokenizer/sentencepiece_internal.h"
#include "util/utf8.h"

struct sentencepiece_rules {
	struct charsmap *map;  /* owned; NULL: none */
	struct trie untouched; /* user defined pieces */
	bool dummy_prefix, remove_spaces, escape_spaces, space_as_suffix;
};

void sentencepiece_rules_free(struct sentencepiece_rules *r)
{
	if (!r)
		return;
	charsmap_free(r->map);
	trie_release(&r->untouched);
	free(r);
}

static size_t find_untouched(const struct trie *t, const char *text, size_t length)
{
	size_t matched = 0;
	uint32_t node = 0;
	for (size_t i = 0; i < length && (node = trie_child(t, node, (uint8_t)text[i])) != 0; i++)
		if (t->nodes[node].value != 0)
			matched = i + 1;
	return matched;
}

/* How many bytes at the start of text[length] become what: user defined pieces stay, the longest string of
 * the map is replaced, else one character stays. */
static size_t map_prefix(const struct sentencepiece_rules *r, const char *text, size_t length,
			 const char **to, size_t *to_length)
{
	size_t matched = find_untouched(&r->untouched, text, length);
	if (matched == 0 && r->map && charsmap_find(r->map, text, length, true, &matched, to, to_length))
		return matched;
	if (matched == 0)
		matched = utf8_step(text, length);
	*to = text;
	*to_length = matched ? matched : 1;
	return *to_length;
}

static void add_space(const struct sentencepiece_rules *r, struct aligned *out, struct span span)
{
	if (r->escape_spaces)
		aligned_add(out, "\xe2\x96\x81", 3, span);
	else
		aligned_add(out, " ", 1, span);
}

static void add_mapped(const struct sentencepiece_rules *r, struct aligned *out, const char *text,
		       size_t length, struct span span)
{
	for (size_t i = 0, used; i < length; i += used) {
		const char *space = r->escape_spaces ? memchr(text + i, ' ', length - i) : NULL;
		used = space ? (size_t)(space - text) - i : length - i;
		aligned_add(out, text + i, used, span);
		if (space)
			add_space(r, out, span);
		used += space != NULL;
	}
}

static void drop_spaces_behind(const struct sentencepiece_rules *r, struct aligned *out)
{
	size_t size = r->escape_spaces ? 3 : 1;
	const char *space = r->escape_spaces ? "\xe2\x96\x81" : " ";
	while (out->length >= size && memcmp(out->text + out->length - size, space, size) == 0)
		out->length -= size;
}

static enum attn_status apply(const struct normalizer_step *step, const struct aligned *in, size_t origin,
			      struct aligned *out, struct attn_error *err)
{
	const struct sentencepiece_rules *r = step->rules;
	const char *to;
	size_t at = 0, used, length;
	(void)origin;
	(void)err;
	while (r->remove_spaces && at < in->length) {
		used = map_prefix(r, in->text + at, in->length - at, &to, &length);
		if (length != 1 || *to != ' ')
			break;
		at += used;
	}
	if (at == in->length)
		return ATTN_OK;
	if (r->dummy_prefix && !r->space_as_suffix)
		add_space(r, out, in->spans[at]); /* as the reference library's Prepend and Metaspace */
	for (bool after_space = r->remove_spaces; at < in->length; at += used) {
		used = map_prefix(r, in->text + at, in->length - at, &to, &length);
		for (; after_space && length > 0 && *to == ' '; to++)
			length--;
		add_mapped(r, out, to, length,
			   (struct span){in->spans[at].start, in->spans[at + used - 1].end});
		if (length > 0)
			after_space = r->remove_spaces && to[length - 1] == ' ';
	}
	if (r->remove_spaces)
		drop_spaces_behind(r, out);
	if (r->dummy_prefix && r->space_as_suffix)
		add_space(r, out, in->spans[in->length - 1]);
	return ATTN_OK;
}

static enum attn_status init(struct sentencepiece_rules *r, const struct sentencepiece_model *m,
			     struct attn_error *err)
{
	struct vocabulary untouched = {0};
	r->dummy_prefix = m->dummy_prefix;
	r->remove_spaces = m->remove_spaces;
	r->escape_spaces = m->escape_spaces;
	r->space_as_suffix = m->space_as_suffix;
	if (m->map_length > 0)
		TRY(charsmap_read(&r->map, m->map, m->map_length, err));
	enum attn_status status = sentencepiece_collect(&untouched, m, 1u << PIECE_USER_DEFINED, err);
	if (status == ATTN_OK)
		status = trie_init(&r->untouched, &untouched, err);
	vocabulary_release(&untouched);
	return status;
}

enum attn_status sentencepiece_add_normalizer(struct normalizer_list *list,
					      const struct sentencepiece_model *m, struct attn_error *err)
{
	struct normalizer_step *step = normalizer_add(list, apply, err);
	if (!step)
		return err->status;
	step->rules = calloc(1, sizeof *step->rules);
	return step->rules ? init(step->rules, m, err) : attn_fail_memory(err);
}
