/* JSON text: a strict check of the syntax (RFC 8259) that says where it fails,
 * then cJSON.
 *
 * On its way the check can leave out the arrays of plain numbers: what cJSON gets
 * is then a skeleton, in which {"": K} stands for row K.  An empty key is refused
 * in what comes from outside, so nothing else can look like it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/json_text.h"
#include "util/buffer.h"
#include "util/utf8.h"

enum {
	/* The deepest input is a matrix in a head in the list of heads; a comment
	 * may hold more.  cJSON itself stops at 1000. */
	MAX_DEPTH = 64,

	/* cJSON reads no longer numbers; 17 digits are enough for any double. */
	MAX_NUMBER = 63,
};

#define NO_INFINITY " (JSON has no NaN or infinity; in a mask or scores, null stands for -infinity)"
#define NO_COMMENTS " (JSON has no comments; a key that begins with '_' is one)"

struct scan {
	const unsigned char *data;
	size_t length, at;
	struct attn_error *err;
	int depth;
	char closers[MAX_DEPTH]; /* the bracket that ends each open array or object */

	/* The skeleton in the making; unused where `rows` is NULL. */
	struct json_rows *rows;
	struct buffer skeleton;
	size_t copied;    /* bytes of data that the skeleton stands for */
	size_t row_start; /* the last '[' */
	size_t row_count; /* numbers since then */
	bool row_plain;   /* nothing but numbers since then */
	bool python;      /* NaN and the infinities are values, a string each */
};

static enum attn_status fail_here(const struct scan *s, const char *what)
{
	size_t line = 1, column = 1;
	for (size_t i = 0; i < s->at && i < s->length; i++) {
		if (s->data[i] == '\n') {
			line++;
			column = 1;
		} else if ((s->data[i] & 0xc0) != 0x80) {
			column++; /* characters, not bytes */
		}
	}
	char found[40] = "the end";
	if (s->at < s->length) {
		const char *at = (const char *)s->data + s->at;
		int step = (int)utf8_step(at, s->length - s->at);
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			snprintf(found, sizeof found, "character 0x%02x", (unsigned)*at);
		else
			snprintf(found, sizeof found, "'%.*s'", step, at);
	}
	return attn_fail(s->err, ATTN_BAD_INPUT, "line %zu, column %zu: expected %s, found %s", line, column,
			 what, found);
}

static int peek(const struct scan *s)
{
	return s->at < s->length ? s->data[s->at] : -1;
}

/* Whether a bracket closes where a comma promised more. */
static bool after_comma(const struct scan *s)
{
	size_t at = s->at;
	if (peek(s) != ']' && peek(s) != '}')
		return false;
	while (at > 0 && strchr(" \n\t\r", s->data[at - 1]))
		at--;
	return at > 0 && s->data[at - 1] == ',';
}

/* The loops over many bytes keep their place in a register. */
static void skip_space(struct scan *s)
{
	size_t at = s->at;
	while (at < s->length &&
	       (s->data[at] == ' ' || s->data[at] == '\n' || s->data[at] == '\t' || s->data[at] == '\r'))
		at++;
	s->at = at;
}

static bool skip_digits(struct scan *s)
{
	size_t at = s->at;
	while (at < s->length && s->data[at] >= '0' && s->data[at] <= '9')
		at++;
	bool any = at > s->at;
	s->at = at;
	return any;
}

/* NaN, Infinity, as some programs write them, or their like. */
static bool is_not_finite(const struct scan *s)
{
	static const char *const words[] = {"nan", "inf"};
	const char *at = (const char *)s->data + s->at;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (s->length - s->at >= 3 && strncasecmp(at, words[i], 3) == 0)
			return true;
	return false;
}

/* Step over NaN, Infinity or -Infinity as Python writes them, where they may be: in the skeleton
 * they are {"": "NaN"}. */
static bool skip_not_finite(struct scan *s)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
	const char *text = (const char *)s->data;
	for (size_t i = 0; s->python && i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);
		if (s->length - s->at < length || memcmp(text + s->at, words[i], length) != 0)
			continue;
		buffer_add(&s->skeleton, text + s->copied, s->at - s->copied);
		buffer_printf(&s->skeleton, "{\"\":\"%s\"}", words[i]);
		s->at += length;
		s->copied = s->at;
		s->row_plain = false;
		return true;
	}
	return false;
}

static enum attn_status scan_number(struct scan *s)
{
	size_t start = s->at;
	s->row_count++;
	if (peek(s) == '-')
		s->at++;
	if (peek(s) == '0')
		s->at++;
	else if (!skip_digits(s))
		return fail_here(s, is_not_finite(s) ? "a digit" NO_INFINITY : "a digit");
	if (peek(s) == '.') {
		s->at++;
		if (!skip_digits(s))
			return fail_here(s, "a digit");
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		if (!skip_digits(s))
			return fail_here(s, "a digit");
	}
	if (s->at - start > MAX_NUMBER) {
		s->at = start;
		return fail_here(s, "a number of at most 63 characters");
	}
	return ATTN_OK;
}

/* Read the four hex digits after \u. */
static bool scan_hex(struct scan *s, unsigned *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++, s->at++) {
		int c = peek(s);
		if (c >= '0' && c <= '9')
			*code = *code << 4 | (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			*code = *code << 4 | (unsigned)((c | 0x20) - 'a' + 10);
		else
			return false;
	}
	return true;
}

static enum attn_status scan_escape(struct scan *s)
{
	size_t start = s->at++;
	int c = peek(s);
	if (c < 0 || !strchr("\"\\/bfnrtu", c) || c == 0)
		return fail_here(s, "an escape such as \\n");
	s->at++;
	if (c != 'u')
		return ATTN_OK;
	unsigned code, low;
	if (!scan_hex(s, &code))
		return fail_here(s, "four hexadecimal digits");
	if (code == 0) { /* it would end the string in C */
		s->at = start;
		return fail_here(s, "text without \\u0000");
	}
	if (code < 0xd800 || code > 0xdfff)
		return ATTN_OK;
	bool paired = code < 0xdc00 && s->length - s->at >= 2 && memcmp(s->data + s->at, "\\u", 2) == 0;
	if (paired) {
		s->at += 2;
		paired = scan_hex(s, &low) && low >= 0xdc00 && low <= 0xdfff;
	}
	if (!paired) {
		s->at = start;
		return fail_here(s, "a surrogate pair");
	}
	return ATTN_OK;
}

static enum attn_status scan_string(struct scan *s)
{
	s->at++; /* the opening quote */
	for (int c; (c = peek(s)) != '"';) {
		if (c < ' ')
			return fail_here(s, "'\"' or text");
		if (c != '\\') {
			s->at++;
			continue;
		}
		enum attn_status status = scan_escape(s);
		if (status != ATTN_OK)
			return status;
	}
	s->at++;
	return ATTN_OK;
}

static enum attn_status scan_key(struct scan *s)
{
	skip_space(s);
	if (peek(s) != '"')
		return fail_here(s, after_comma(s)   ? "a key after the last comma, or no comma"
				    : peek(s) == '/' ? "a key in double quotes" NO_COMMENTS
						     : "a key in double quotes");
	if (s->length - s->at > 1 && s->data[s->at + 1] == '"')
		return fail_here(s, "a key that is not empty");
	enum attn_status status = scan_string(s);
	if (status != ATTN_OK)
		return status;
	skip_space(s);
	if (peek(s) != ':')
		return fail_here(s, "':'");
	s->at++;
	return ATTN_OK;
}

static enum attn_status scan_scalar(struct scan *s)
{
	static const char *const words[] = {"true", "false", "null"};
	int c = peek(s);
	s->row_plain &= c != '"' && c != 't' && c != 'f' && c != 'n';
	if (c == '"')
		return scan_string(s);
	if (skip_not_finite(s))
		return ATTN_OK;
	if (c == '-' || (c >= '0' && c <= '9'))
		return scan_number(s);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);
		if (s->length - s->at >= length && memcmp(s->data + s->at, words[i], length) == 0) {
			s->at += length;
			return ATTN_OK;
		}
	}
	if (is_not_finite(s))
		return fail_here(s, "a value" NO_INFINITY);
	return fail_here(s, after_comma(s) ? "a value after the last comma, or no comma"
			    : c == '/'     ? "a value" NO_COMMENTS
					   : "a value");
}

/* Open an array or object.  *open says whether it has a first value to read. */
static enum attn_status scan_open(struct scan *s, bool *open)
{
	char closer = peek(s) == '{' ? '}' : ']';
	if (s->depth == MAX_DEPTH)
		return fail_here(s, "at most 64 levels of brackets");
	s->row_start = s->at++;
	s->row_plain = closer == ']';
	s->row_count = 0;
	skip_space(s);
	*open = peek(s) != closer;
	if (!*open) {
		s->at++;
		return ATTN_OK;
	}
	s->closers[s->depth++] = closer;
	return closer == '}' ? scan_key(s) : ATTN_OK;
}

/* An array has ended: if it was a row, leave it out of the skeleton. */
static void end_row(struct scan *s)
{
	bool row = s->rows && s->row_plain && s->row_count > 0;
	s->row_plain = false; /* what is around it is not one */
	if (!row || s->skeleton.failed)
		return;
	size_t count = s->rows->count;
	if ((count & (count - 1)) == 0) { /* doubled at powers of two */
		struct json_row *items = reallocarray(s->rows->items, count ? count * 2 : 1, sizeof *items);
		if (!items) {
			s->skeleton.failed = true;
			return;
		}
		s->rows->items = items;
	}
	const char *text = (const char *)s->data;
	s->rows->items[s->rows->count++] =
	    (struct json_row){text + s->row_start, s->at - s->row_start, s->row_count};
	buffer_add(&s->skeleton, text + s->copied, s->row_start - s->copied);
	buffer_printf(&s->skeleton, "{\"\":%zu}", count);
	s->copied = s->at;
}

/* After a value: close what ends here, and step over the comma (and key) before
 * the next value, if there is one. */
static enum attn_status scan_close(struct scan *s)
{
	for (; s->depth > 0; s->depth--) {
		bool object = s->closers[s->depth - 1] == '}';
		skip_space(s);
		if (peek(s) == ',') {
			s->at++;
			return object ? scan_key(s) : ATTN_OK;
		}
		if (peek(s) != s->closers[s->depth - 1])
			return fail_here(s, peek(s) == '/' ? "',' or a closing bracket" NO_COMMENTS
					    : object       ? "',' or '}'"
							   : "',' or ']'");
		s->at++;
		end_row(s);
	}
	return ATTN_OK;
}

static enum attn_status scan_document(struct scan *s)
{
	enum attn_status status = ATTN_OK;
	do {
		bool open = false;
		skip_space(s);
		if (peek(s) == '{' || peek(s) == '[')
			status = scan_open(s, &open);
		else
			status = scan_scalar(s);
		if (status == ATTN_OK && !open)
			status = scan_close(s);
	} while (status == ATTN_OK && s->depth > 0);
	skip_space(s);
	if (status == ATTN_OK && s->at < s->length)
		status = fail_here(s, "nothing after the document");
	return status;
}

static enum attn_status parse(struct scan *s, cJSON **root)
{
	*root = NULL;
	for (size_t i = 0; i < s->length;) {
		uint64_t eight;
		if (s->length - i >= sizeof eight) { /* most text is ASCII */
			memcpy(&eight, s->data + i, sizeof eight);
			if ((eight & UINT64_C(0x8080808080808080)) == 0) {
				i += sizeof eight;
				continue;
			}
		}
		size_t step = utf8_step((const char *)s->data + i, s->length - i);
		if (step == 0)
			return attn_fail(s->err, ATTN_BAD_INPUT, "byte %zu is not UTF-8 text", i);
		i += step;
	}
	if (s->length >= 3 && memcmp(s->data, "\xef\xbb\xbf", 3) == 0) {
		s->data += 3;
		s->length -= 3;
	}
	enum attn_status status = scan_document(s);
	if (status != ATTN_OK)
		return status;
	const char *text = (const char *)s->data;
	/* The syntax is right, so what can fail is memory. */
	if (s->rows) {
		buffer_add(&s->skeleton, text + s->copied, s->length - s->copied);
		if (!s->skeleton.failed)
			*root = cJSON_ParseWithLength(s->skeleton.data, s->skeleton.length);
	} else {
		*root = cJSON_ParseWithLength(text, s->length);
	}
	return *root ? ATTN_OK : attn_fail_memory(s->err);
}

enum attn_status json_text_parse(const unsigned char *data, size_t length, cJSON **root,
				 struct attn_error *err)
{
	struct scan scan = {.data = data, .length = length, .err = err};
	return parse(&scan, root);
}

enum attn_status json_rows_parse(const unsigned char *data, size_t length, bool python, cJSON **root,
				 struct json_rows *rows, struct attn_error *err)
{
	struct scan scan = {.data = data, .length = length, .err = err, .rows = rows, .python = python};
	*rows = (struct json_rows){0};
	enum attn_status status = parse(&scan, root);
	buffer_release(&scan.skeleton);
	if (status != ATTN_OK)
		json_rows_release(rows);
	return status;
}

void json_rows_release(struct json_rows *rows)
{
	free(rows->items);
	*rows = (struct json_rows){0};
}

/* A row's place in the tree: an object with the key that no document has. */
bool json_is_row(const cJSON *item)
{
	return cJSON_IsObject(item) && item->child && item->child->string[0] == '\0' &&
	       cJSON_IsNumber(item->child);
}

bool json_is_object(const cJSON *item)
{
	return cJSON_IsObject(item) && (!item->child || item->child->string[0] != '\0');
}

const struct json_row *json_row(const struct json_rows *rows, const cJSON *item)
{
	return json_is_row(item) ? &rows->items[(size_t)item->child->valuedouble] : NULL;
}

const char *json_not_finite(const cJSON *item)
{
	bool marked = cJSON_IsObject(item) && item->child && item->child->string[0] == '\0';
	return marked && cJSON_IsString(item->child) ? item->child->valuestring : NULL;
}

const char *json_kind(const cJSON *item)
{
	const char *number = json_not_finite(item);
	if (number)
		return number;
	if (cJSON_IsNull(item))
		return "null";
	if (cJSON_IsBool(item))
		return "true or false";
	if (cJSON_IsNumber(item))
		return "a number";
	if (cJSON_IsString(item))
		return "a string";
	return cJSON_IsArray(item) || json_is_row(item) ? "an array" : "an object";
}

bool json_repeated(const cJSON *object, const cJSON *item)
{
	for (const cJSON *other = object->child; other && other != item; other = other->next)
		if (strcmp(other->string, item->string) == 0)
			return true;
	return false;
}
