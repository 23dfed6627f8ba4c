#include "tokenizer/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

enum {
	MAX_REGEX = 16384, /* bytes; what tokenizers have is below 1000 */

	/* Steps of a match, and more of them for each byte of the text: a run of one class that is
	 * tried from its end takes as many as it is long. */
	MATCH_STEPS = 200000,
	MATCH_STEPS_PER_BYTE = 8,

	MATCH_HEAP = 65536, /* KiB */

	/* Compiling to machine code takes 0.1 to 0.2 ms, as matching some KiB without it. */
	JIT_FROM = 4096,
	JIT_STACK = 1 << 20,
};

struct pattern {
	char *source; /* as it was given, for messages */
	size_t length;

	/* Of a regular expression; NULL for a literal. */
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	size_t seen; /* bytes that were searched */
	bool jit_tried, jit;
};

void ranges_release(struct ranges *list)
{
	free(list->items);
	*list = (struct ranges){0};
}

bool ranges_add(struct ranges *list, size_t start, size_t end, bool match)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 64;
		struct range *items = reallocarray(list->items, capacity, sizeof *items);
		if (!items)
			return false;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = (struct range){start, end, match};
	return true;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_code_free(p->code);
	pcre2_match_data_free(p->data);
	pcre2_match_context_free(p->context);
	pcre2_jit_stack_free(p->stack);
	free(p->source);
	free(p);
}

enum attn_status pattern_literal(struct pattern **out, const char *text, struct attn_error *err)
{
	struct pattern *p = calloc(1, sizeof *p);
	*out = p;
	if (p)
		p->source = strdup(text);
	if (!p || !p->source) {
		pattern_free(p);
		*out = NULL;
		return attn_fail_memory(err);
	}
	p->length = strlen(text);
	return ATTN_OK;
}

static enum attn_status compile(struct pattern *p, const struct buffer *translated, struct attn_error *err)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	int code = 0;
	PCRE2_SIZE offset = 0;
	if (!context)
		return attn_fail_memory(err);
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	p->code = pcre2_compile((PCRE2_SPTR)translated->data, translated->length,
				PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code,
				&offset, context);
	pcre2_compile_context_free(context);
	if (!p->code) {
		PCRE2_UCHAR text[128] = "";
		pcre2_get_error_message(code, text, sizeof text);
		return attn_fail(err, ATTN_BAD_INPUT, "pattern '%.200s': %s", p->source, (const char *)text);
	}
	p->data = pcre2_match_data_create(1, NULL);
	p->context = pcre2_match_context_create(NULL);
	if (!p->data || !p->context)
		return attn_fail_memory(err);
	pcre2_set_heap_limit(p->context, MATCH_HEAP);
	return ATTN_OK;
}

enum attn_status pattern_regex(struct pattern **out, const char *regex, struct attn_error *err)
{
	struct buffer translated = BUFFER_INIT;
	*out = NULL;
	if (strlen(regex) > MAX_REGEX)
		return attn_fail(err, ATTN_BAD_INPUT, "pattern '%.60s...' has %zu bytes, expected at most %d",
				 regex, strlen(regex), MAX_REGEX);
	struct pattern *p = NULL;
	enum attn_status status = pattern_literal(&p, regex, err);
	if (status == ATTN_OK)
		status = pattern_translate(regex, &translated, err);
	if (status == ATTN_OK)
		status = compile(p, &translated, err);
	buffer_release(&translated);
	if (status == ATTN_OK)
		*out = p;
	else
		pattern_free(p);
	return status;
}

/* Machine code, once there is enough text for it; a system that allows none matches without. */
static void consider_jit(struct pattern *p, size_t length)
{
	p->seen += length;
	if (p->jit_tried || p->seen < JIT_FROM)
		return;
	p->jit_tried = true;
	p->jit = pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) == 0;
	if (p->jit)
		p->stack = pcre2_jit_stack_create(32768, JIT_STACK, NULL);
	if (p->stack)
		pcre2_jit_stack_assign(p->context, NULL, p->stack);
}

/* The next match from `at` on: 1 and its place, 0 where there is none, -1 for an error.  What needs more
 * stack than machine code has is matched without. */
static int next_regex(struct pattern *p, const char *text, size_t length, size_t at, struct range *found)
{
	PCRE2_SPTR subject = (PCRE2_SPTR)text;
	int code = PCRE2_ERROR_JIT_STACKLIMIT;
	if (p->jit)
		code = pcre2_jit_match(p->code, subject, length, at, PCRE2_NO_UTF_CHECK, p->data, p->context);
	if (code == PCRE2_ERROR_JIT_STACKLIMIT)
		code = pcre2_match(p->code, subject, length, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, p->data,
				   p->context);
	if (code < 0)
		return code == PCRE2_ERROR_NOMATCH ? 0 : -1;
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(p->data);
	*found = (struct range){ends[0], ends[1], true};
	return ends[0] <= ends[1] ? 1 : -1; /* \K may turn them round */
}

static int next_literal(const struct pattern *p, const char *text, size_t length, size_t at,
			struct range *found)
{
	const char *hit = p->length ? memmem(text + at, length - at, p->source, p->length) : text + at;
	if (!hit)
		return 0;
	*found = (struct range){(size_t)(hit - text), (size_t)(hit - text) + p->length, true};
	return 1;
}

enum attn_status pattern_find(struct pattern *p, const char *text, size_t length, struct ranges *out,
			      struct attn_error *err)
{
	size_t done = 0, last_end = SIZE_MAX;
	if (p->code) {
		consider_jit(p, length);
		size_t steps = MATCH_STEPS + MATCH_STEPS_PER_BYTE * length;
		pcre2_set_match_limit(p->context, steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX);
	}
	for (size_t at = 0; at <= length && length > 0;) {
		struct range found;
		int code = p->code ? next_regex(p, text, length, at, &found)
				   : next_literal(p, text, length, at, &found);
		if (code < 0)
			return attn_fail(err, ATTN_BAD_INPUT, "pattern '%.200s' takes too long on this text",
					 p->source);
		if (code == 0)
			break;
		if (found.start == found.end && found.end == last_end) {
			at += at < length ? utf8_step(text + at, length - at) : 1;
			continue;
		}
		if ((found.start > done && !ranges_add(out, done, found.start, false)) ||
		    !ranges_add(out, found.start, found.end, true))
			return attn_fail_memory(err);
		at = done = last_end = found.end;
	}
	return done == length || ranges_add(out, done, length, false) ? ATTN_OK : attn_fail_memory(err);
}
