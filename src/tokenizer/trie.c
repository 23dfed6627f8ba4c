#include "tokenizer/trie.h"

#include <stdlib.h>
#include <string.h>

/* A token as it is sorted: by its first eight bytes, which mostly decide, then by the rest. */
struct sorted {
	uint64_t head; /* big-endian; zeros behind a shorter token */
	const char *text;
	uint32_t length, id;
};

static int compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	if (x->head != y->head)
		return x->head < y->head ? -1 : 1;
	uint32_t shorter = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->text, y->text, shorter);
	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static enum attn_status sort_tokens(const struct vocabulary *v, struct sorted **out, struct attn_error *err)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->entries[i].length > TRIE_MAX_DEPTH)
			return attn_fail(
			    err, ATTN_BAD_INPUT, "the token '%.100s...' has %u bytes, expected at most %d",
			    v->texts + v->entries[i].offset, v->entries[i].length, TRIE_MAX_DEPTH);
	struct sorted *tokens = malloc((v->count ? v->count : 1) * sizeof *tokens);
	if (!tokens)
		return attn_fail_memory(err);
	for (size_t i = 0; i < v->count; i++) {
		const struct vocabulary_entry *e = &v->entries[i];
		struct sorted *s = &tokens[i];
		*s = (struct sorted){0, v->texts + e->offset, e->length, 0};
		for (size_t j = 0; j < 8; j++)
			s->head = s->head << 8 | (j < e->length ? (uint8_t)s->text[j] : 0);
		vocabulary_find(v, s->text, s->length, &s->id);
	}
	qsort(tokens, v->count, sizeof *tokens, compare);
	*out = tokens;
	return ATTN_OK;
}

/* The sorted tokens below a node, all with the same `depth` first bytes. */
struct range {
	uint32_t from, to, depth;
};

struct growing {
	struct trie *trie;
	struct range *ranges; /* owned; of each node */
	size_t capacity;
};

static bool add_node(struct growing *g, uint8_t label, struct range range)
{
	struct trie *t = g->trie;
	if (t->count == g->capacity) {
		size_t capacity = 2 * g->capacity + 256;
		if (capacity > UINT32_MAX)
			return false;
		struct trie_node *nodes = realloc(t->nodes, capacity * sizeof *nodes);
		t->nodes = nodes ? nodes : t->nodes;
		struct range *ranges = realloc(g->ranges, capacity * sizeof *ranges);
		g->ranges = ranges ? ranges : g->ranges;
		if (!nodes || !ranges)
			return false;
		g->capacity = capacity;
	}
	t->nodes[t->count] = (struct trie_node){0, 0, 0, label};
	g->ranges[t->count++] = range;
	return true;
}

/* Add the children of a node, one for each byte that its tokens go on with. */
static bool grow(struct growing *g, size_t node, const struct sorted *tokens)
{
	struct trie *t = g->trie;
	struct range r = g->ranges[node];
	while (r.from < r.to && tokens[r.from].length == r.depth) {
		if (r.depth > 0)
			t->nodes[node].value = tokens[r.from].id + 1;
		r.from++;
	}
	t->nodes[node].first = (uint32_t)t->count;
	while (r.from < r.to) {
		uint8_t byte = (uint8_t)tokens[r.from].text[r.depth];
		struct range child = {r.from, r.from, r.depth + 1};
		while (child.to < r.to && (uint8_t)tokens[child.to].text[r.depth] == byte)
			child.to++;
		if (!add_node(g, byte, child))
			return false;
		t->nodes[node].child_count++;
		r.from = child.to;
	}
	return true;
}

enum attn_status trie_init(struct trie *t, const struct vocabulary *v, struct attn_error *err)
{
	struct sorted *tokens = NULL;
	struct growing g = {t, NULL, 0};
	*t = (struct trie){0};
	TRY(sort_tokens(v, &tokens, err));
	bool ok = add_node(&g, 0, (struct range){0, (uint32_t)v->count, 0});
	for (size_t i = 0; ok && i < t->count; i++)
		ok = grow(&g, i, tokens);
	free(g.ranges);
	free(tokens);
	if (ok)
		return ATTN_OK;
	trie_release(t);
	return attn_fail_memory(err);
}

void trie_release(struct trie *t)
{
	free(t->nodes);
	*t = (struct trie){0};
}
