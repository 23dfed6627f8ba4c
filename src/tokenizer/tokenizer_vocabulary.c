/* Vocabularies of CTranslate2, a token a line, which say nothing of how a text is cut: a vocabulary of
 * single characters takes each by itself, and others take what white space parts, as a tokenizer that
 * works before such a model leaves it.
 */
#include <stdlib.h>
#include <string.h>

#include "files/input.h"
#include "files/json_text.h"
#include "tokenizer/lines.h"
#include "tokenizer/tokenizer_internal.h"
#include "util/buffer.h"
#include "util/utf8.h"

struct vocabulary {
	const char *at, *end;
	struct buffer json; /* {"token": id, ...} */
	size_t count;
	bool characters; /* all but <blank> and the like are one */
};

static bool is_name(const char *token, size_t length)
{
	return length > 2 && token[0] == '<' && token[length - 1] == '>';
}

static bool is_character(const char *token, size_t length)
{
	size_t starts = 0;
	for (size_t i = 0; i < length; i++)
		starts += ((unsigned char)token[i] & 0xC0) != 0x80;
	return starts == 1;
}

static enum attn_status add_token(struct vocabulary *v, const char *token, size_t length,
				  struct attn_error *err)
{
	char *copy = strndup(token, length);
	if (!copy)
		return attn_fail_memory(err);
	bool ok = utf8_valid(token, length) && !memchr(token, 0, length);
	v->characters = v->characters && (is_name(token, length) || is_character(token, length));
	buffer_add_string(&v->json, v->count ? "," : "");
	if (ok)
		buffer_add_json_string(&v->json, copy);
	buffer_printf(&v->json, ":%zu", v->count++);
	free(copy);
	return ok ? ATTN_OK : attn_fail(err, ATTN_BAD_INPUT, "line %zu is no token in UTF-8", v->count);
}

static enum attn_status read_lines(struct vocabulary *v, struct attn_error *err)
{
	buffer_add_string(&v->json, "{");
	const char *line;
	size_t length;
	while (next_line(&v->at, v->end, &line, &length))
		TRY(add_token(v, line, length, err));
	buffer_add_string(&v->json, "}");
	return v->count > 0 ? ATTN_OK : attn_fail(err, ATTN_BAD_INPUT, "the vocabulary has no tokens");
}

/* The document that a tokenizer.json of it would be. */
static enum attn_status parse_as_json(struct tokenizer *t, struct vocabulary *v, struct attn_error *err)
{
	static const char characters[] = "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"[\\\\s\\\\S]\"}, "
					 "\"behavior\": \"Isolated\", \"invert\": false}";
	struct buffer text = BUFFER_INIT;
	cJSON *root = NULL;
	buffer_printf(&text,
		      "{\"pre_tokenizer\": %s, \"model\": {\"type\": \"WordLevel\", "
		      "\"unk_token\": \"<unk>\", \"vocab\": ",
		      v->characters ? characters : "{\"type\": \"WhitespaceSplit\"}");
	if (!v->json.failed)
		buffer_add(&text, v->json.data, v->json.length);
	buffer_add_string(&text, "}}");
	bool failed = text.failed || v->json.failed;
	enum attn_status status =
	    failed ? attn_fail_memory(err)
		   : json_text_parse((const unsigned char *)text.data, text.length, &root, err);
	if (status == ATTN_OK)
		status = tokenizer_parse(t, root, err);
	cJSON_Delete(root);
	buffer_release(&text);
	return status;
}

enum attn_status tokenizer_read_vocabulary(struct tokenizer *t, const char *path, struct attn_error *err)
{
	struct file_bytes bytes;
	struct vocabulary v = {.json = BUFFER_INIT, .characters = true};
	TRY(file_bytes_open(&bytes, path, err));
	enum attn_status status = ATTN_OK;
	if (bytes.length > TOKENIZER_MAX_FILE)
		status = attn_fail(err, ATTN_BAD_INPUT, "it has %zu bytes, expected at most %zu",
				   bytes.length, (size_t)TOKENIZER_MAX_FILE);
	v.at = (const char *)bytes.data;
	v.end = v.at + bytes.length;
	if (status == ATTN_OK)
		status = read_lines(&v, err);
	if (status == ATTN_OK)
		status = parse_as_json(t, &v, err);
	if (status == ATTN_BAD_INPUT)
		attn_error_prefix(err, path);
	buffer_release(&v.json);
	file_bytes_release(&bytes);
	return status;
}
