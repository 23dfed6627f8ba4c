#include "model/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/forward.h"
#include "model/model_rows.h"
#include "util/memory.h"

/* --- rules ------------------------------------------------------------------------------ */

static bool add_id(size_t **ids, size_t *count, double id)
{
	if (!(id >= 0 && id < (double)CONFIG_SIZE_MAX))
		return true;
	size_t *more = realloc(*ids, (*count + 1) * sizeof *more);
	if (!more)
		return false;
	*ids = more;
	more[(*count)++] = (size_t)id;
	return true;
}

/* A number, or a list of them. */
static enum attn_status add_ids(const struct config *c, const char *key, size_t **ids, size_t *count,
				struct attn_error *err)
{
	size_t length = config_list(c, key), one;
	bool ok = true;
	for (size_t i = 0; i < length && ok; i++)
		ok = add_id(ids, count, config_list_number(c, key, i));
	if (length == 0 && config_has(c, key)) {
		TRY(config_size(c, key, 0, 0, CONFIG_SIZE_MAX, &one, err));
		ok = add_id(ids, count, (double)one);
	}
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* Words that are never written, of which those of one token are told by that alone. */
static enum attn_status add_bad_words(struct writing_rules *rules, const struct config *c,
				      struct attn_error *err)
{
	char key[60];
	for (size_t i = 0; i < config_list(c, "bad_words_ids"); i++) {
		snprintf(key, sizeof key, "bad_words_ids.%zu", i);
		if (config_list(c, key) == 1)
			TRY(add_ids(c, key, &rules->never, &rules->never_count, err));
	}
	return ATTN_OK;
}

/* What a config says of these, and not what another said before. */
static enum attn_status read_rules(struct writing_rules *rules, const struct config *c,
				   struct attn_error *err)
{
	static const char *const ends[] = {"eos_token_id", "tokenizer.ggml.eos_token_id"};
	for (size_t i = 0; i < 2; i++)
		if (config_has(c, ends[i])) {
			rules->end_count = 0;
			TRY(add_ids(c, ends[i], &rules->ends, &rules->end_count, err));
		}
	TRY(add_ids(c, "suppress_tokens", &rules->never, &rules->never_count, err));
	TRY(add_bad_words(rules, c, err));
	return config_has(c, "forced_bos_token_id")
		   ? config_size(c, "forced_bos_token_id", 0, 0, CONFIG_SIZE_MAX, &rules->opening, err)
		   : ATTN_OK;
}

enum attn_status writing_rules_open(struct writing_rules *rules, const struct model *m,
				    struct attn_error *err)
{
	char path[4096];
	struct stat st;
	struct config *own = NULL;
	*rules = (struct writing_rules){.opening = SIZE_MAX};
	enum attn_status status = read_rules(rules, checkpoint_config(m->checkpoint), err);
	int length = snprintf(path, sizeof path, "%s/generation_config.json", checkpoint_path(m->checkpoint));
	if (status != ATTN_OK || length >= (int)sizeof path || stat(path, &st) != 0)
		return status;
	status = config_open(&own, path, err);
	if (status == ATTN_OK)
		status = read_rules(rules, own, err);
	config_free(own);
	return status;
}

void writing_rules_release(struct writing_rules *rules)
{
	free(rules->ends);
	free(rules->never);
	*rules = (struct writing_rules){0};
}

static bool is_among(const size_t *ids, size_t count, size_t id)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* --- one token after the other ---------------------------------------------------------------- */

struct writer {
	struct model *model;
	struct forward forward;
	struct kv_cache cache;
	struct row_source *encoder; /* or NULL */
	struct writing_rules rules;
	float *logits; /* (outputs) of the last token */
};

/* Read forward.text: w->logits are then of its last token. */
static enum attn_status read_on(struct writer *w, struct attn_error *err)
{
	struct forward *f = &w->forward;
	TRY(forward_begin(f, err));
	while (f->layer < w->model->a.layers) {
		TRY(forward_attend(f, err));
		TRY(forward_finish(f, err));
	}
	w->cache.crossed = w->encoder != NULL;
	TRY(forward_final(f, err));
	return forward_logits(f, f->text.count - 1, 1, w->logits, err);
}

/* The likeliest token that may be written. */
static size_t likeliest(const struct writer *w, size_t written)
{
	size_t outputs = model_outputs(w->model), best = SIZE_MAX;
	if (written == 0 && w->encoder && w->rules.opening < outputs)
		return w->rules.opening;
	for (size_t i = 0; i < outputs; i++)
		if ((best == SIZE_MAX || w->logits[i] > w->logits[best]) &&
		    !is_among(w->rules.never, w->rules.never_count, i))
			best = i;
	return best;
}

static enum attn_status open_writer(struct writer *w, const struct text_ids *text,
				    const struct text_ids *source, struct attn_error *err)
{
	struct model *m = w->model;
	TRY(model_check_text(m, text, err));
	TRY(model_find_layers(m, m->a.layers, err));
	TRY(model_find_end(m, true, err));
	TRY(writing_rules_open(&w->rules, m, err));
	w->logits = floats_alloc(model_outputs(m));
	if (!w->logits)
		return attn_fail_memory(err);
	if (source)
		TRY(model_rows_new(&w->encoder, m->encoder, source,
				   &(const struct model_want){.to_end = true}, err));
	TRY(kv_cache_init(&w->cache, m, text->count, source ? source->count : 0, err));
	TRY(forward_init(&w->forward, m, text, err));
	w->forward.cache = &w->cache;
	if (!source)
		return ATTN_OK;
	w->forward.memory_count = source->count;
	return model_rows_states(w->encoder, &w->forward.memory, err);
}

static enum attn_status write_on(struct writer *w, size_t most, size_t *ids, size_t *count,
				 struct attn_error *err)
{
	for (*count = 0; *count < most;) {
		TRY(read_on(w, err));
		size_t next = likeliest(w, *count);
		if (next == SIZE_MAX || is_among(w->rules.ends, w->rules.end_count, next))
			return ATTN_OK;
		const struct forward *f = &w->forward;
		const struct text_ids text = {
		    .ids = ids + *count, .count = 1, .first = f->text.first + f->text.count};
		ids[*count] = next;
		if (model_check_text(w->model, &text, NULL) != ATTN_OK) /* no more positions */
			return ATTN_OK;
		if (++*count == most)
			return ATTN_OK;
		TRY(kv_cache_reserve(&w->cache, text.first + 1, err));
		TRY(forward_continue(&w->forward, &text, err));
	}
	return ATTN_OK;
}

enum attn_status model_generate(struct model *m, const struct text_ids *text, const struct text_ids *source,
				size_t most, size_t **ids, size_t *count, struct attn_error *err)
{
	struct writer w = {.model = m};
	enum attn_status status = ATTN_OK;
	*count = 0;
	*ids = array_alloc(most, sizeof **ids);
	if (!*ids)
		status = attn_fail_memory(err);
	if (status == ATTN_OK)
		status = open_writer(&w, text, source, err);
	if (status == ATTN_OK)
		status = write_on(&w, most, *ids, count, err);
	if (w.encoder)
		w.encoder->free(w.encoder);
	forward_release(&w.forward);
	kv_cache_release(&w.cache);
	writing_rules_release(&w.rules);
	free(w.logits);
	return status;
}
