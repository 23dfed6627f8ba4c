/* Reading post-processors. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/fields.h"
#include "tokenizer/postprocessor.h"

enum {
	MAX_PIECES = 4096, /* of a template */
	MAX_SEQUENCES = 8, /* among them: each copies the tokens of a text */
	MAX_TRIMS = 64,
};

/* What is read, and what ids there are. */
struct reader {
	struct postprocessor *p;
	bool (*known)(const void *context, size_t id);
	const void *context;
	struct attn_error *err;
};

static void template_release(struct template *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->items[i].text);
	free(t->items);
	*t = (struct template){0};
}

void postprocessor_release(struct postprocessor *p)
{
	template_release(&p->single);
	template_release(&p->both);
	free(p->trims);
	*p = (struct postprocessor){.has_template = false};
}

static enum attn_status add_piece(struct template *t, struct template_piece piece, const char *text,
				  struct attn_error *err)
{
	if (t->count == MAX_PIECES)
		return attn_fail(err, ATTN_BAD_INPUT, "more than %d pieces", MAX_PIECES);
	struct template_piece *items = reallocarray(t->items, t->count + 1, sizeof *items);
	if (!items)
		return attn_fail_memory(err);
	t->items = items;
	piece.text = text ? strdup(text) : NULL;
	if (text && !piece.text)
		return attn_fail_memory(err);
	items[t->count++] = piece;
	return ATTN_OK;
}

static enum attn_status add_sequence(struct template *t, bool pair, unsigned char type,
				     struct attn_error *err)
{
	return add_piece(t, (struct template_piece){.sequence = true, .pair = pair, .type = type}, NULL, err);
}

static enum attn_status add_token(const struct reader *r, struct template *t, const char *text, size_t id,
				  unsigned char type)
{
	if (!r->known(r->context, id))
		return attn_fail(r->err, ATTN_BAD_INPUT,
				 "'%.100s' has the id %zu, which is not in the vocabulary", text, id);
	return add_piece(t, (struct template_piece){.id = id, .type = type}, text, r->err);
}

static enum attn_status read_id(const cJSON *item, size_t *id, struct attn_error *err)
{
	double number = cJSON_IsNumber(item) ? item->valuedouble : -1;
	if (!(number >= 0 && number <= UINT32_MAX && number == floor(number)))
		return attn_fail(err, ATTN_BAD_INPUT, "an id is not a whole number");
	*id = (size_t)number;
	return ATTN_OK;
}

/* "SpecialToken": {"id": NAME, "type_id": T}; what NAME stands for is in "special_tokens", as one or
 * more ids and their strings. */
static enum attn_status read_special(const struct reader *r, struct template *t, const cJSON *item,
				     const cJSON *specials, unsigned char type)
{
	const char *name;
	const cJSON *id, *text;
	TRY(field_text(item, "id", &name, r->err));
	const cJSON *special = field_get(specials, name);
	if (!special)
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.100s' is not in 'special_tokens'", name);
	TRY(field_array(special, "ids", &id, r->err));
	TRY(field_array(special, "tokens", &text, r->err));
	for (; id && text; id = id->next, text = text->next) {
		size_t number;
		TRY(read_id(id, &number, r->err));
		if (!cJSON_IsString(text))
			return attn_fail(r->err, ATTN_BAD_INPUT, "a token of '%.100s' is not a string", name);
		TRY(add_token(r, t, text->valuestring, number, type));
	}
	if (id || text)
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.100s' has not as many ids as tokens", name);
	return ATTN_OK;
}

static enum attn_status read_template(const struct reader *r, const cJSON *object, const char *key,
				      struct template *t)
{
	const cJSON *item;
	const char *name;
	size_t sequences = 0;
	TRY(field_array(object, key, &item, r->err));
	for (; item; item = item->next) {
		const cJSON *sequence = field_get(item, "Sequence"),
			    *special = field_get(item, "SpecialToken");
		size_t type;
		if (!sequence == !special)
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "a piece of '%s' is neither 'Sequence' nor 'SpecialToken'", key);
		TRY(field_count(sequence ? sequence : special, "type_id", 0, UINT8_MAX, &type, r->err));
		if (special) {
			TRY(read_special(r, t, special, field_get(object, "special_tokens"),
					 (unsigned char)type));
			continue;
		}
		TRY(field_text(sequence, "id", &name, r->err));
		bool pair = strcmp(name, "B") == 0;
		if ((!pair && strcmp(name, "A") != 0) || (pair && t == &r->p->single))
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'%s' has the sequence '%.100s', expected %s", key, name,
					 t == &r->p->single ? "'A'" : "'A' or 'B'");
		if (sequences++ == MAX_SEQUENCES)
			return attn_fail(r->err, ATTN_BAD_INPUT, "'%s' has more than %d sequences", key,
					 MAX_SEQUENCES);
		TRY(add_sequence(t, pair, (unsigned char)type, r->err));
	}
	return ATTN_OK;
}

static enum attn_status read_templates(const struct reader *r, const cJSON *object)
{
	TRY(read_template(r, object, "single", &r->p->single));
	return read_template(r, object, "pair", &r->p->both);
}

/* [STRING, ID] */
static enum attn_status read_pair(const cJSON *object, const char *key, const char **text, size_t *id,
				  struct attn_error *err)
{
	const cJSON *item;
	TRY(field_array(object, key, &item, err));
	if (!cJSON_IsString(item) || !item->next)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is not a string and an id", key);
	*text = item->valuestring;
	return read_id(item->next, id, err);
}

static enum attn_status add_trim(const struct reader *r, const cJSON *object)
{
	bool trim, prefix;
	TRY(field_bool(object, "trim_offsets", true, &trim, r->err));
	TRY(field_bool(object, "add_prefix_space", true, &prefix, r->err));
	if (!trim)
		return ATTN_OK;
	if (r->p->trim_count == MAX_TRIMS)
		return attn_fail(r->err, ATTN_BAD_INPUT, "more than %d processors", MAX_TRIMS);
	struct trim *trims = reallocarray(r->p->trims, r->p->trim_count + 1, sizeof *trims);
	if (!trims)
		return attn_fail_memory(r->err);
	r->p->trims = trims;
	trims[r->p->trim_count++].prefix = prefix;
	return ATTN_OK;
}

/* cls A sep, and for a pair B sep of type 1, or RoBERTa's sep B sep of type 0. */
static enum attn_status read_bert(const struct reader *r, const cJSON *object, bool roberta)
{
	const char *cls, *sep;
	size_t cls_id, sep_id;
	unsigned char type = !roberta;
	TRY(read_pair(object, "cls", &cls, &cls_id, r->err));
	TRY(read_pair(object, "sep", &sep, &sep_id, r->err));
	for (int both = 0; both < 2; both++) {
		struct template *t = both ? &r->p->both : &r->p->single;
		TRY(add_token(r, t, cls, cls_id, 0));
		TRY(add_sequence(t, false, 0, r->err));
		TRY(add_token(r, t, sep, sep_id, 0));
		if (!both)
			continue;
		if (roberta)
			TRY(add_token(r, t, sep, sep_id, 0));
		TRY(add_sequence(t, true, type, r->err));
		TRY(add_token(r, t, sep, sep_id, type));
	}
	return ATTN_OK;
}

static enum attn_status read_one(const struct reader *r, const cJSON *object, const char *type)
{
	bool roberta = strcmp(type, "RobertaProcessing") == 0;
	bool bert = strcmp(type, "BertProcessing") == 0;
	if (roberta || strcmp(type, "ByteLevel") == 0)
		TRY(add_trim(r, object));
	else if (!bert && strcmp(type, "TemplateProcessing") != 0)
		return attn_fail(r->err, ATTN_BAD_INPUT, "this type is not supported");
	if (strcmp(type, "ByteLevel") == 0)
		return ATTN_OK;
	if (r->p->has_template)
		return attn_fail(r->err, ATTN_BAD_INPUT,
				 "a second processor adds tokens, expected at most one");
	r->p->has_template = true;
	return bert || roberta ? read_bert(r, object, roberta) : read_templates(r, object);
}

static enum attn_status read_object(const struct reader *r, const cJSON *object)
{
	const char *type;
	const cJSON *item;
	TRY(field_text(object, "type", &type, r->err));
	if (strcmp(type, "Sequence") == 0) {
		TRY(field_array(object, "processors", &item, r->err));
		for (; item; item = item->next)
			TRY(read_object(r, item));
		return ATTN_OK;
	}
	enum attn_status status = read_one(r, object, type);
	if (status != ATTN_OK)
		attn_error_prefix(r->err, type);
	return status;
}

enum attn_status postprocessor_parse(struct postprocessor *p, const cJSON *object,
				     bool (*known)(const void *context, size_t id), const void *context,
				     struct attn_error *err)
{
	const struct reader r = {p, known, context, err};
	return object ? read_object(&r, object) : ATTN_OK;
}
