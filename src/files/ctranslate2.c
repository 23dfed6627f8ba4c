#include "files/ctranslate2.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/utf8.h"

enum {
	VERSION_MOST = 6,
	VERSION_OF_TYPES = 4, /* from it on types are numbers, before that sizes */
	MAX_VARIABLES = 1 << 20,
	LEAST_VARIABLE = 11, /* bytes that one takes, at least */
};

struct reader {
	const unsigned char *at, *end;
	struct attn_error *err;
};

static enum attn_status need(const struct reader *r, size_t count, const char *what)
{
	size_t left = (size_t)(r->end - r->at);
	return count <= left ? ATTN_OK : attn_fail(r->err, ATTN_BAD_INPUT, "the file ends within %s", what);
}

static enum attn_status read_number(struct reader *r, size_t bytes, const char *what, size_t *out)
{
	TRY(need(r, bytes, what));
	*out = 0;
	for (size_t i = 0; i < bytes; i++)
		*out |= (size_t)r->at[i] << (8 * i);
	r->at += bytes;
	return ATTN_OK;
}

/* A name, which is closed by a 0 that its length counts. */
static enum attn_status read_name(struct reader *r, const char *what, char **out)
{
	size_t length;
	TRY(read_number(r, 2, what, &length));
	TRY(need(r, length, what));
	const char *text = (const char *)r->at;
	if (length == 0 || memchr(text, 0, length) != text + length - 1 || !utf8_valid(text, length - 1))
		return attn_fail(r->err, ATTN_BAD_INPUT, "%s is no text of UTF-8 that ends in a 0", what);
	*out = strdup(text);
	r->at += length;
	if (!*out)
		return attn_fail_memory(r->err);
	for (char *c = *out; *c; c++)
		if (*c == '/')
			*c = '.';
	return ATTN_OK;
}

/* Of types that are told by their size alone it is the one that is computed with. */
static const struct value_type *type_of(size_t number, bool sizes)
{
	static const enum dtype types[] = {DTYPE_F32, DTYPE_I8, DTYPE_I16, DTYPE_I32, DTYPE_F16, DTYPE_BF16};
	if (sizes)
		return number == 4   ? value_type_of(DTYPE_F32)
		       : number == 2 ? value_type_of(DTYPE_I16)
		       : number == 1 ? value_type_of(DTYPE_I8)
				     : NULL;
	return number < sizeof types / sizeof *types ? value_type_of(types[number]) : NULL;
}

static enum attn_status fail_size(const struct reader *r, const struct ct2_variable *v, size_t bytes)
{
	return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has %zu bytes, expected %zu as its shape says",
			 v->name, bytes, v->bytes);
}

static enum attn_status read_variable(struct reader *r, size_t version, struct ct2_variable *v)
{
	size_t rank, number, bytes;
	bool sizes = version < VERSION_OF_TYPES;
	TRY(read_name(r, "a variable's name", &v->name));
	TRY(read_number(r, 1, v->name, &rank));
	if (rank > TENSOR_MAX_RANK)
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' has %zu axes, expected at most %d",
				 v->name, rank, TENSOR_MAX_RANK);
	v->rank = (int)rank;
	v->count = 1;
	for (size_t i = 0; i < rank; i++) {
		TRY(read_number(r, 4, v->name, &v->shape[i]));
		if (!size_mul(v->count, v->shape[i], &v->count))
			return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' is too large", v->name);
	}
	TRY(read_number(r, 1, v->name, &number));
	TRY(read_number(r, 4, v->name, &bytes));
	v->type = type_of(number, sizes);
	if (!v->type)
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' is of type %zu, which is not known",
				 v->name, number);
	if (!size_mul(v->count, v->type->bytes, &v->bytes))
		return attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' is too large", v->name);
	if (bytes != (sizes ? v->count : v->bytes))
		return fail_size(r, v, sizes ? bytes * v->type->bytes : bytes);
	TRY(need(r, v->bytes, v->name));
	v->data = r->at;
	r->at += v->bytes;
	return ATTN_OK;
}

static struct ct2_variable *find(const struct ct2 *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->variables[i].name, name) == 0)
			return &c->variables[i];
	return NULL;
}

/* Another name for a variable. */
static enum attn_status read_alias(struct reader *r, struct ct2 *c)
{
	char *alias = NULL, *name = NULL;
	enum attn_status status = read_name(r, "an alias", &alias);
	if (status == ATTN_OK)
		status = read_name(r, "what an alias stands for", &name);
	const struct ct2_variable *v = status == ATTN_OK ? find(c, name) : NULL;
	if (status == ATTN_OK && !v)
		status = attn_fail(r->err, ATTN_BAD_INPUT, "'%.200s' stands for '%.200s', which is not there",
				   alias, name);
	if (v) {
		c->variables[c->count] = *v;
		c->variables[c->count++].name = alias;
		alias = NULL;
	}
	free(alias);
	free(name);
	return status;
}

/* Whether so many of what takes `least` bytes each can be there. */
static enum attn_status check_count(const struct reader *r, size_t count, size_t least, const char *what)
{
	size_t left = (size_t)(r->end - r->at);
	return count <= MAX_VARIABLES && count <= left / least
		   ? ATTN_OK
		   : attn_fail(r->err, ATTN_BAD_INPUT, "%zu %s in %zu bytes", count, what, left);
}

static enum attn_status read_all(struct reader *r, struct ct2 *c)
{
	size_t revision, count, aliases = 0;
	TRY(read_number(r, 4, "the version", &c->version));
	TRY(read_name(r, "the specification's name", &c->specification));
	TRY(read_number(r, 4, "the revision", &revision));
	TRY(read_number(r, 4, "the number of variables", &count));
	TRY(check_count(r, count, LEAST_VARIABLE, "variables"));
	c->variables = array_alloc(count + 1, sizeof *c->variables);
	if (!c->variables)
		return attn_fail_memory(r->err);
	while (c->count < count) {
		struct ct2_variable *v = &c->variables[c->count];
		enum attn_status status = read_variable(r, c->version, v);
		c->count += v->name != NULL;
		TRY(status);
	}
	if (r->at == r->end)
		return ATTN_OK;
	TRY(read_number(r, 4, "the number of aliases", &aliases));
	TRY(check_count(r, aliases, 6, "aliases"));
	struct ct2_variable *more = realloc(c->variables, (count + aliases + 1) * sizeof *more);
	if (!more)
		return attn_fail_memory(r->err);
	c->variables = more;
	for (size_t i = 0; i < aliases; i++)
		TRY(read_alias(r, c));
	return r->at == r->end ? ATTN_OK
			       : attn_fail(r->err, ATTN_BAD_INPUT, "%zu bytes follow the last alias",
					   (size_t)(r->end - r->at));
}

bool is_ct2(const unsigned char *data, size_t length)
{
	if (length < 8 || data[0] < 1 || data[0] > VERSION_MOST || data[1] || data[2] || data[3])
		return false;
	size_t name = data[4] + 256u * data[5];
	return name > 4 && name < 100 && length > 6 + name && data[5 + name] == 0 &&
	       memchr(data + 6, 0, name) == data + 5 + name && utf8_valid((const char *)data + 6, name - 1);
}

enum attn_status ct2_open(struct ct2 *c, const unsigned char *data, size_t length, struct attn_error *err)
{
	struct reader r = {data, data + length, err};
	*c = (struct ct2){0};
	enum attn_status status =
	    is_ct2(data, length) ? read_all(&r, c)
				 : attn_fail(err, ATTN_BAD_INPUT,
					     "it is no file of CTranslate2, versions 1 to %d", VERSION_MOST);
	if (status != ATTN_OK)
		ct2_release(c);
	return status;
}

void ct2_release(struct ct2 *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->variables[i].name);
	free(c->variables);
	free(c->specification);
	*c = (struct ct2){0};
}

const struct ct2_variable *ct2_find(const struct ct2 *c, const char *name)
{
	return find(c, name);
}

double ct2_number(const struct ct2_variable *v, double fallback)
{
	struct tensor t;
	double number = fallback;
	if (v && v->count == 1 &&
	    tensor_init(&t, v->name, NULL, v->type->dtype, v->rank, v->shape, NULL) == ATTN_OK) {
		char element[8] = {0};
		memcpy(element, v->data, v->bytes < sizeof element ? v->bytes : sizeof element);
		t.data = element;
		number = tensor_get(&t, 0);
		tensor_release(&t);
	}
	return number;
}
