#include "tokenizer/piece_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/fields.h"

static const struct piece_class classes[] = {
    {.names = {{"T5", "t5"}, {"MT5", "mt5"}, {"T5", "umt5"}},
     .arrangement = EXTRA_IDS,
     .single = "A eos",
     .pair = "A eos B eos"},
    {.names = {{"DebertaV2", "deberta-v2"}, {"Albert", "albert"}},
     .arrangement = MASK,
     .single = "cls A sep",
     .pair = "cls A sep B:1 sep:1",
     .brackets = true},
    {.names = {{"XLMRoberta", "xlm-roberta"}, {"XLMRoberta", "xlm-roberta-xl"}},
     .arrangement = FAIRSEQ,
     .single = "cls A sep",
     .pair = "cls A sep sep B sep"},
    {.names = {{"Camembert", "camembert"}},
     .arrangement = CAMEMBERT,
     .single = "cls A sep",
     .pair = "cls A sep sep B sep"},
    {.names = {{"Marian", "marian"}}, .arrangement = MAPPED, .single = "A eos", .pair = "A B eos"},
    {.names = {{"Gemma", "gemma"}, {"Gemma", "gemma2"}, {"Gemma", "gemma3_text"}},
     .single = "bos A eos",
     .pair = "bos A eos bos:1 B:1 eos:1",
     .eos_asked = true,
     .bos = "<bos>",
     .eos = "<eos>"},
    {.names = {{"Llama", "llama"}, {"Llama", "mistral"}, {"Llama", "mixtral"}, {"Llama", "phi3"}},
     .single = "bos A eos",
     .pair = "bos A eos bos:1 B:1 eos:1",
     .eos_asked = true},
};

const struct piece_class *piece_class_find(const struct folder *f)
{
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		for (size_t n = 0; classes[i].names[n][0]; n++)
			if (folder_is(f, classes[i].names[n][0], classes[i].names[n][1]))
				return &classes[i];
	return NULL;
}

/* Put `count` pieces of a type in place of the first `replaced`. */
static enum attn_status put_in_front(struct sentencepiece_model *m, const char *const *texts, size_t count,
				     size_t replaced, struct attn_error *err)
{
	size_t kept = m->count > replaced ? m->count - replaced : 0;
	struct sentencepiece_piece *pieces = reallocarray(NULL, kept + count, sizeof *pieces);
	if (!pieces)
		return attn_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct sentencepiece_piece){texts[i], strlen(texts[i]), 0,
							 strcmp(texts[i], "<unk>") == 0 ? PIECE_UNKNOWN
											: PIECE_CONTROL};
	if (kept > 0)
		memcpy(pieces + count, m->pieces + replaced, kept * sizeof *pieces);
	free(m->pieces);
	m->pieces = pieces;
	m->count = m->capacity = kept + count;
	return ATTN_OK;
}

static bool has_piece(const struct sentencepiece_model *m, const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < m->count; i++)
		if (m->pieces[i].length == length && memcmp(m->pieces[i].text, text, length) == 0)
			return true;
	return false;
}

/* Append `count` pieces that no text has, each in `size` bytes of `texts`, which outlive the model. */
static enum attn_status put_behind(struct sentencepiece_model *m, const char *texts, size_t size,
				   size_t count, struct attn_error *err)
{
	struct sentencepiece_piece *pieces = reallocarray(m->pieces, m->count + count, sizeof *pieces);
	if (!pieces)
		return attn_fail_memory(err);
	m->pieces = pieces;
	for (size_t i = 0; i < count; i++, texts += size)
		pieces[m->count++] = (struct sentencepiece_piece){texts, strlen(texts), 0, PIECE_CONTROL};
	m->capacity = m->count;
	return ATTN_OK;
}

static enum attn_status put_mask(struct sentencepiece_model *m, const char *mask, struct attn_error *err)
{
	return has_piece(m, mask) ? ATTN_OK : put_behind(m, mask, 0, 1, err);
}

enum {
	MAX_EXTRA_IDS = 1000,
};

static enum attn_status put_extra_ids(struct sentencepiece_model *m, const struct folder *f,
				      struct buffer *names, struct attn_error *err)
{
	const cJSON *item = field_get(f->config, "extra_ids");
	double count = cJSON_IsNumber(item) ? item->valuedouble : 100;
	char name[40] = "";
	if (!(count >= 0 && count <= MAX_EXTRA_IDS))
		return attn_fail(err, ATTN_BAD_INPUT, "'extra_ids' is %g, expected at most %d", count,
				 MAX_EXTRA_IDS);
	for (size_t i = (size_t)count; i-- > 0;) {
		snprintf(name, sizeof name, "<extra_id_%zu>", i);
		buffer_add(names, name, sizeof name);
	}
	if (names->failed)
		return attn_fail_memory(err);
	return count < 1 ? ATTN_OK : put_behind(m, names->data, sizeof name, (size_t)count, err);
}

enum attn_status piece_class_arrange(const struct piece_class *class, const struct folder *f,
				     struct sentencepiece_model *m, struct buffer *names,
				     struct attn_error *err)
{
	static const char *const fairseq[] = {"<s>", "<pad>", "</s>", "<unk>"};
	static const char *const camembert[] = {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>",
						"<unk>NOTUSED"};
	switch (class->arrangement) {
	case FAIRSEQ:
		TRY(put_in_front(m, fairseq, sizeof fairseq / sizeof *fairseq, 3, err));
		return put_mask(m, "<mask>", err);
	case CAMEMBERT:
		TRY(put_in_front(m, camembert, sizeof camembert / sizeof *camembert, 1, err));
		return put_mask(m, "<mask>", err);
	case EXTRA_IDS:
		return put_extra_ids(m, f, names, err);
	case MASK:
		return put_mask(m, "[MASK]", err);
	case AS_THEY_ARE:
	case MAPPED:
		break;
	}
	return ATTN_OK;
}

struct piece_roles piece_class_roles(const struct piece_class *class)
{
	const char *bos = class->bos ? class->bos : "<s>", *eos = class->eos ? class->eos : "</s>";
	bool b = class->brackets;
	return (struct piece_roles){{{"bos_token", b ? "[CLS]" : bos},
				     {"eos_token", b ? "[SEP]" : eos},
				     {"unk_token", b ? "[UNK]" : "<unk>"},
				     {"sep_token", b ? "[SEP]" : eos},
				     {"pad_token", b ? "[PAD]" : "<pad>"},
				     {"cls_token", b ? "[CLS]" : bos},
				     {"mask_token", b ? "[MASK]" : "<mask>"}}};
}

/* A processor that is being written. */
struct writing {
	const struct algorithm *algorithm;
	const struct folder *folder;
	const struct piece_class *class;
	struct piece_roles roles;
	struct buffer *out;
};

/* Whether the settings leave a role's token away. */
static bool is_left_away(const struct writing *w, const char *word)
{
	return (strncmp(word, "bos", 3) == 0 && !folder_setting(w->folder, "add_bos_token", true)) ||
	       (strncmp(word, "eos", 3) == 0 &&
		!folder_setting(w->folder, "add_eos_token", !w->class->eos_asked));
}

/* A word of a template: a text, or the token that has a role. */
static void write_word(const struct writing *w, const char *word, size_t length)
{
	const char *colon = memchr(word, ':', length);
	int type = colon ? colon[1] - '0' : 0;
	length = colon ? (size_t)(colon - word) : length;
	if (length == 1) {
		buffer_printf(w->out, "{\"Sequence\": {\"id\": \"%c\", \"type_id\": %d}}", *word, type);
		return;
	}
	for (size_t i = 0; i < PIECE_ROLES; i++) {
		const struct folder_default *role = &w->roles.items[i];
		if (strncmp(role->role, word, length) != 0)
			continue;
		buffer_add_string(w->out, "{\"SpecialToken\": {\"id\": ");
		buffer_add_json_string(w->out, folder_role(w->folder, role->role, role->content));
		buffer_printf(w->out, ", \"type_id\": %d}}", type);
	}
}

static void write_template(const struct writing *w, const char *key, const char *words)
{
	bool first = true;
	buffer_printf(w->out, "\"%s\": [", key);
	for (size_t length; *words; words += length + (words[length] == ' ')) {
		length = strcspn(words, " ");
		if (is_left_away(w, words))
			continue;
		buffer_add_string(w->out, first ? "" : ", ");
		write_word(w, words, length);
		first = false;
	}
	buffer_add_string(w->out, "], ");
}

enum attn_status piece_class_write_processor(const struct piece_class *class, const struct folder *f,
					     const struct algorithm *algorithm, struct buffer *out,
					     struct attn_error *err)
{
	const struct writing writing = {algorithm, f, class, piece_class_roles(class), out}, *w = &writing;
	bool first = true;
	buffer_add_string(w->out, ", \"post_processor\": {\"type\": \"TemplateProcessing\", ");
	write_template(w, "single", w->class->single);
	write_template(w, "pair", w->class->pair);
	buffer_add_string(w->out, "\"special_tokens\": {");
	for (size_t i = 0, id; i < PIECE_ROLES; i++) {
		const struct folder_default *role = &w->roles.items[i];
		const char *content = folder_role(w->folder, role->role, role->content);
		char word[4] = {role->role[0], role->role[1], role->role[2], '\0'};
		if (!strstr(w->class->pair, word) || is_left_away(w, word))
			continue;
		if (!algorithm_find(w->algorithm, content, strlen(content), &id))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "the vocabulary has no '%.100s', which is to be added", content);
		buffer_add_string(w->out, first ? "" : ", ");
		buffer_add_json_string(w->out, content);
		buffer_printf(w->out, ": {\"ids\": [%zu], \"tokens\": [", id);
		buffer_add_json_string(w->out, content);
		buffer_add_string(w->out, "]}");
		first = false;
	}
	buffer_add_string(w->out, "}}");
	return ATTN_OK;
}
