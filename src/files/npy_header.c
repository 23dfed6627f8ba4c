/* The header of an npy file: a magic, a version, a length, and a Python dict
 * literal, which is read by a parser for just the three keys that NumPy writes,
 * not by one for Python.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/bytes_internal.h"
#include "files/npy_internal.h"
#include "util/checked.h"
#include "util/strings.h"

#define SUPPORTED                                                                                            \
	"float16, bfloat16, float32, float64, int8 to int64, uint8 to uint64, bool ('<f4' and the like) "    \
	"or strings"

enum {
	HEADER_STRING = 64 /* bytes of a dtype or key, or of the name of a field */
};

struct parser {
	const unsigned char *data; /* the whole file, for positions */
	size_t at, end;
	bool has_descr, has_order, has_shape;
	struct attn_error *err;
};

static enum attn_status malformed(struct parser *p, const char *expected)
{
	return attn_fail(p->err, ATTN_BAD_INPUT, "npy header is malformed at byte %zu, expected %s", p->at,
			 expected);
}

static void skip_space(struct parser *p)
{
	while (p->at < p->end && p->data[p->at] && strchr(" \t\r\n\f", p->data[p->at]))
		p->at++;
}

/* Skip white space and then `c`, if it is there. */
static bool accept(struct parser *p, char c)
{
	skip_space(p);
	if (p->at == p->end || p->data[p->at] != (unsigned char)c)
		return false;
	p->at++;
	return true;
}

static bool accept_word(struct parser *p, const char *word)
{
	size_t length = strlen(word);
	skip_space(p);
	if (p->end - p->at < length || memcmp(p->data + p->at, word, length) != 0)
		return false;
	p->at += length;
	return true;
}

/* A quoted string of at most size - 1 printable characters.  NumPy's own need no
 * escapes. */
static bool accept_string(struct parser *p, char *text, size_t size)
{
	skip_space(p);
	if (p->at == p->end || (p->data[p->at] != '\'' && p->data[p->at] != '"'))
		return false;
	unsigned char quote = p->data[p->at];
	size_t length = 0;
	for (size_t i = p->at + 1; i < p->end; i++) {
		unsigned char c = p->data[i];
		if (c == quote) {
			text[length] = '\0';
			p->at = i + 1;
			return true;
		}
		if (c < ' ' || c > '~' || c == '\\' || length + 1 == size)
			return false;
		text[length++] = (char)c;
	}
	return false;
}

/* The length of string elements, in characters: one at least, or an array of any
 * size would take no bytes. */
static bool parse_item(const char *digits, size_t character, size_t *bytes)
{
	char *end;
	unsigned long characters = strtoul(digits, &end, 10);
	return *digits >= '1' && *digits <= '9' && !*end && size_mul(characters, character, bytes);
}

/* Step over brackets and what is in them: the fields of a structure. */
static bool skip_brackets(struct parser *p)
{
	char text[HEADER_STRING];
	size_t depth = 0;
	do {
		skip_space(p);
		if (p->at == p->end)
			return false;
		unsigned char c = p->data[p->at];
		if ((c == '\'' || c == '"') && !accept_string(p, text, sizeof text))
			return false;
		if (c == '\'' || c == '"')
			continue;
		depth += c == '[' || c == '(';
		depth -= c == ']' || c == ')';
		p->at++;
	} while (depth > 0);
	return true;
}

/* What NumPy calls a dtype that is not read. */
static void name_type(struct npy_header *h, const char *descr, const char *kind)
{
	static const struct {
		const char *kind, *name;
	} types[] = {
	    {"O", "object"},       {"c8", "complex64"}, {"c16", "complex128"}, {"M8", "datetime64"},
	    {"m8", "timedelta64"}, {"f16", "float128"}, {"V", "void"},
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strncmp(kind, types[i].kind, strlen(types[i].kind)) == 0) {
			snprintf(h->type, sizeof h->type, "%s", types[i].name);
			return;
		}
	}
	snprintf(h->type, sizeof h->type, "%.20s", *descr ? descr : "nothing");
}

enum attn_status npy_fail_type(const struct npy_header *h, const char *origin, struct attn_error *err)
{
	if (strcmp(h->type, "structure") == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "elements are structures, expected " SUPPORTED);
	if (strcmp(h->type, "object") != 0)
		return attn_fail(err, ATTN_BAD_INPUT, "elements have dtype '%s'%s, expected " SUPPORTED,
				 h->descr, strncmp(h->type, "complex", 7) == 0 ? " (complex numbers)" : "");
	/* A scalar is most often a dictionary of arrays. */
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "elements have dtype '%s' (Python objects), a pickle, which is not read because it may "
	    "run code; if you trust it, convert it: python3 -c \"import numpy; "
	    "numpy.savez('new.npz', %snumpy.load('%.200s', allow_pickle=True)%s)\"",
	    h->descr, h->rank == 0 ? "**" : "*", origin_name(origin), h->rank == 0 ? ".item()" : "");
}

static enum attn_status parse_descr(struct parser *p, struct npy_header *h)
{
	static const struct {
		const char *name;
		enum dtype dtype;
	} types[] = {
	    {"f8", DTYPE_F64},
	    {"f4", DTYPE_F32},
	    {"f2", DTYPE_F16},
	    {"i8", DTYPE_I64},
	    {"i4", DTYPE_I32},
	    {"i2", DTYPE_I16},
	    {"i1", DTYPE_I8},
	    {"u8", DTYPE_U64},
	    {"u4", DTYPE_U32},
	    {"u2", DTYPE_U16},
	    {"u1", DTYPE_U8},
	    {"b1", DTYPE_BOOL},
	    /* NumPy has no name for it: what ml_dtypes saves is two opaque bytes. */
	    {"V2", DTYPE_BF16},
	    {"bfloat16", DTYPE_BF16},
	    {"f1", DTYPE_F8_E5M2}, /* its name in ml_dtypes */
	};
	char text[HEADER_STRING];
	skip_space(p);
	if (p->at < p->end && (p->data[p->at] == '[' || p->data[p->at] == '(')) {
		snprintf(h->type, sizeof h->type, "structure");
		return skip_brackets(p) ? ATTN_OK : malformed(p, "the fields of a structure");
	}
	if (!accept_string(p, text, sizeof text))
		return malformed(p, "a dtype in quotes");
	bool has_order = text[0] && strchr("<>|=", text[0]);
	h->swap = (text[0] == '<' && HOST_IS_BIG_ENDIAN) || (text[0] == '>' && !HOST_IS_BIG_ENDIAN);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(text + has_order, types[i].name) == 0) {
			h->dtype = types[i].dtype;
			return ATTN_OK;
		}
	}
	const char *kind = text + has_order;
	if ((*kind == 'U' || *kind == 'S') && parse_item(kind + 1, *kind == 'U' ? UCS4_SIZE : 1, &h->item)) {
		h->wide = *kind == 'U';
		return ATTN_OK;
	}
	snprintf(h->descr, sizeof h->descr, "%s", text);
	name_type(h, text, kind);
	return ATTN_OK;
}

static enum attn_status parse_shape(struct parser *p, struct npy_header *h)
{
	if (!accept(p, '('))
		return malformed(p, "a shape in parentheses");
	bool comma = false;
	int rank = 0;
	while (!accept(p, ')')) {
		if (rank > 0 && !comma)
			return malformed(p, "',' or ')' in the shape");
		skip_space(p);
		size_t start = p->at, value = 0;
		for (; p->at < p->end && p->data[p->at] >= '0' && p->data[p->at] <= '9'; p->at++)
			if (!size_mul(value, 10, &value) ||
			    !size_add(value, (size_t)(p->data[p->at] - '0'), &value))
				return attn_fail(p->err, ATTN_BAD_INPUT,
						 "a dimension of the shape is beyond what memory can hold");
		if (p->at == start)
			return malformed(p, "a whole number in the shape");
		if (p->at < p->end && p->data[p->at] == 'L')
			p->at++; /* Python 2 wrote its long integers so */
		if (rank == TENSOR_MAX_RANK)
			return attn_fail(p->err, ATTN_BAD_INPUT,
					 "the array has more than %d dimensions, expected at most %d",
					 TENSOR_MAX_RANK, TENSOR_MAX_RANK);
		h->shape[rank++] = value;
		comma = accept(p, ',');
	}
	if (rank == 1 && !comma)
		return malformed(p, "',' after the only number of the shape");
	h->rank = rank;
	return ATTN_OK;
}

static enum attn_status parse_order(struct parser *p, struct npy_header *h)
{
	h->fortran = accept_word(p, "True");
	if (!h->fortran && !accept_word(p, "False"))
		return malformed(p, "True or False");
	return ATTN_OK;
}

static enum attn_status parse_entry(struct parser *p, struct npy_header *h)
{
	static const char expected[] = "'descr', 'fortran_order' and 'shape', each once";
	char key[HEADER_STRING];
	size_t start = p->at;
	if (!accept_string(p, key, sizeof key))
		return malformed(p, "a key in quotes or '}'");
	bool *seen = strcmp(key, "descr") == 0           ? &p->has_descr
		     : strcmp(key, "fortran_order") == 0 ? &p->has_order
		     : strcmp(key, "shape") == 0         ? &p->has_shape
							 : NULL;
	if (!seen || *seen) {
		p->at = start;
		return malformed(p, expected);
	}
	*seen = true;
	if (!accept(p, ':'))
		return malformed(p, "':'");
	if (seen == &p->has_descr)
		return parse_descr(p, h);
	return seen == &p->has_shape ? parse_shape(p, h) : parse_order(p, h);
}

/* {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and white space. */
static enum attn_status parse_dict(struct parser *p, struct npy_header *h)
{
	if (!accept(p, '{'))
		return malformed(p, "'{'");
	bool comma = true;
	while (!accept(p, '}')) {
		if (!comma)
			return malformed(p, "',' or '}'");
		enum attn_status status = parse_entry(p, h);
		if (status != ATTN_OK)
			return status;
		comma = accept(p, ',');
	}
	skip_space(p);
	if (p->at != p->end)
		return malformed(p, "white space to its end");
	if (!p->has_descr || !p->has_order || !p->has_shape)
		return malformed(p, "'descr', 'fortran_order' and 'shape'");
	return ATTN_OK;
}

enum attn_status npy_header_measure(const unsigned char *data, size_t length, size_t *body,
				    struct attn_error *err)
{
	if (length < 10 || memcmp(data, "\x93NUMPY", 6) != 0)
		return attn_fail(err, ATTN_BAD_INPUT, "not an npy array: %zu bytes that do not start as one",
				 length);
	unsigned major = data[6], minor = data[7];
	if (major < 1 || major > 3 || minor != 0)
		return attn_fail(err, ATTN_BAD_INPUT, "npy version is %u.%u, expected 1.0, 2.0 or 3.0", major,
				 minor);
	size_t start = major == 1 ? 10 : 12;
	if (length < start)
		return attn_fail(err, ATTN_BAD_INPUT, "file is %zu bytes, too short for an npy header",
				 length);
	size_t header_length = major == 1 ? read_le16(data + 8) : read_le32(data + 8);
	if (header_length > length - start)
		return attn_fail(err, ATTN_BAD_INPUT, "npy header is %zu bytes, but only %zu are left",
				 header_length, length - start);
	*body = start + header_length;
	return ATTN_OK;
}

enum attn_status npy_header_parse(const unsigned char *data, size_t length, struct npy_header *h,
				  struct attn_error *err)
{
	*h = (struct npy_header){0};
	enum attn_status status = npy_header_measure(data, length, &h->body, err);
	if (status != ATTN_OK)
		return status;
	struct parser p = {.data = data, .at = data[6] == 1 ? 10 : 12, .end = h->body, .err = err};
	return parse_dict(&p, h);
}
