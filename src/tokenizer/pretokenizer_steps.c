/* What pre-tokenizers do to pieces, as the reference's NormalizedString::split and its
 * src/pre_tokenizers do it. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer/bytes.h"
#include "tokenizer/pretokenizer_internal.h"
#include "util/utf8.h"

/* The characters of a class are matches, each of its own. */
static enum attn_status find_characters(bool (*is_match)(uint32_t code), const char *text, size_t length,
					struct ranges *out, struct attn_error *err)
{
	size_t done = 0;
	for (size_t i = 0; i < length;) {
		uint32_t code = 0;
		size_t start = i;
		i += utf8_decode(text + i, length - i, &code);
		if (!is_match(code))
			continue;
		if ((start > done && !ranges_add(out, done, start, false)) ||
		    !ranges_add(out, start, i, true))
			return attn_fail_memory(err);
		done = i;
	}
	return done == length || ranges_add(out, done, length, false) ? ATTN_OK : attn_fail_memory(err);
}

/* Join matches to what they touch.  Two lists in one: what is joined never is longer than what was
 * read. */
static void join_ranges(struct ranges *found, enum split_behavior behavior)
{
	struct range *items = found->items;
	bool before = false; /* whether the last range was a match */
	size_t kept = 0;
	for (size_t i = 0; i < found->count; i++) {
		bool match = items[i].match;
		bool joined = behavior == SPLIT_CONTIGUOUS ? match == before : match && !before;
		if (joined && kept > 0)
			items[kept - 1].end = items[i].end;
		else
			items[kept++] = items[i];
		before = match;
	}
	found->count = kept;
}

static void join_with_next(struct ranges *found)
{
	struct range *items = found->items;
	bool before = false;
	size_t kept = found->count; /* from here on */
	for (size_t i = found->count; i-- > 0;) {
		bool match = items[i].match;
		if (match && !before && kept < found->count)
			items[kept].start = items[i].start;
		else
			items[--kept] = items[i];
		before = match;
	}
	found->count -= kept;
	if (kept > 0)
		memmove(items, items + kept, found->count * sizeof *items);
}

static enum attn_status split_piece(const struct pretokenizer_step *step, struct pieces *pieces,
				    struct piece piece, struct ranges *found, struct attn_error *err)
{
	const char *text = pieces->text.text + piece.start;
	size_t length = piece.end - piece.start;
	found->count = 0;
	if (step->is_match)
		TRY(find_characters(step->is_match, text, length, found, err));
	else
		TRY(pattern_find(step->pattern, text, length, found, err));
	for (size_t i = 0; step->invert && i < found->count; i++)
		found->items[i].match = !found->items[i].match;
	if (step->behavior == SPLIT_WITH_NEXT)
		join_with_next(found);
	else if (step->behavior == SPLIT_CONTIGUOUS || step->behavior == SPLIT_WITH_PREVIOUS)
		join_ranges(found, step->behavior);
	for (size_t i = 0; i < found->count; i++)
		if (step->behavior != SPLIT_REMOVED || !found->items[i].match)
			pieces_add(pieces, piece.start + found->items[i].start,
				   piece.start + found->items[i].end, PIECE_NO_ID);
	return ATTN_OK;
}

/* Take the pieces out, to put others in; the caller frees them. */
static struct piece *take_pieces(struct pieces *pieces, size_t *count)
{
	struct piece *items = pieces->items;
	*count = pieces->count;
	pieces->items = NULL;
	pieces->count = pieces->capacity = 0;
	return items;
}

enum attn_status pretokenize_split(const struct pretokenizer_step *step, struct pieces *pieces,
				   struct attn_error *err)
{
	struct ranges found = {.items = NULL};
	enum attn_status status = ATTN_OK;
	size_t count;
	struct piece *old = take_pieces(pieces, &count);
	for (size_t i = 0; status == ATTN_OK && i < count; i++) {
		if (old[i].id != PIECE_NO_ID)
			pieces_add(pieces, old[i].start, old[i].end, old[i].id);
		else
			status = split_piece(step, pieces, old[i], &found, err);
	}
	free(old);
	ranges_release(&found);
	return status;
}

enum attn_status pretokenize_fixed(const struct pretokenizer_step *step, struct pieces *pieces,
				   struct attn_error *err)
{
	size_t count;
	struct piece *old = take_pieces(pieces, &count);
	(void)err;
	for (size_t i = 0; i < count; i++) {
		if (old[i].id != PIECE_NO_ID) {
			pieces_add(pieces, old[i].start, old[i].end, old[i].id);
			continue;
		}
		for (size_t start = old[i].start; start < old[i].end;) {
			size_t end = start;
			for (size_t c = 0; c < step->length && end < old[i].end; c++)
				end += utf8_step(pieces->text.text + end, old[i].end - end);
			pieces_add(pieces, start, end, PIECE_NO_ID);
			start = end;
		}
	}
	free(old);
	return ATTN_OK;
}

/* Append a piece with its spaces replaced, and with a mark before it. */
static void mark_piece(const struct pretokenizer_step *step, const struct aligned *from, struct piece piece,
		       struct aligned *out)
{
	size_t length = strlen(step->mark), kept = piece.start;
	bool marked =
	    piece.end - piece.start >= length && memcmp(from->text + piece.start, step->mark, length) == 0;
	marked |= step->replace && from->text[piece.start] == ' ';
	bool first = from->spans[piece.start].start == 0;
	if (!marked && (step->scheme == PREPEND_ALWAYS || (step->scheme == PREPEND_FIRST && first)))
		aligned_add(out, step->mark, length, from->spans[piece.start]);
	for (size_t i = piece.start; step->replace && i < piece.end; i++) {
		if (from->text[i] != ' ')
			continue;
		aligned_add_part(out, from, kept, i);
		aligned_add(out, step->mark, length, from->spans[i]);
		kept = i + 1;
	}
	aligned_add_part(out, from, kept, piece.end);
}

/* Rewrite the pieces that are no added tokens into a new text. */
static void rewrite(const struct pretokenizer_step *step, struct pieces *pieces,
		    void (*write)(const struct pretokenizer_step *step, const struct aligned *from,
				  struct piece piece, struct aligned *out))
{
	struct aligned out = {.most = pieces->text.most};
	for (size_t i = 0; i < pieces->count; i++) {
		struct piece *piece = &pieces->items[i];
		size_t start = out.length;
		if (piece->id != PIECE_NO_ID)
			aligned_add_part(&out, &pieces->text, piece->start, piece->end);
		else
			write(step, &pieces->text, *piece, &out);
		piece->start = start;
		piece->end = out.length;
	}
	aligned_release(&pieces->text);
	pieces->text = out;
}

enum attn_status pretokenize_mark(const struct pretokenizer_step *step, struct pieces *pieces,
				  struct attn_error *err)
{
	(void)err;
	rewrite(step, pieces, mark_piece);
	return ATTN_OK;
}

static void write_letters(const struct pretokenizer_step *step, const struct aligned *from,
			  struct piece piece, struct aligned *out)
{
	(void)step;
	aligned_add_letters(out, from, piece.start, piece.end);
}

enum attn_status pretokenize_bytes(const struct pretokenizer_step *step, struct pieces *pieces,
				   struct attn_error *err)
{
	(void)err;
	rewrite(step, pieces, write_letters);
	return ATTN_OK;
}
