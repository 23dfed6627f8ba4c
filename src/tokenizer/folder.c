#include "tokenizer/folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tokenizer/fields.h"
#include "tokenizer/tokenizer_internal.h"

static enum attn_status read_optional(const char *folder, const char *name, cJSON **root,
				      struct attn_error *err)
{
	struct buffer path = BUFFER_INIT;
	buffer_printf(&path, "%s/%s", folder, name);
	enum attn_status status = path.failed ? attn_fail_memory(err) : ATTN_OK;
	if (status == ATTN_OK && access(path.data, F_OK) == 0)
		status = tokenizer_read_json(path.data, root, err);
	buffer_release(&path);
	return status;
}

enum attn_status folder_read(struct folder *f, const char *path, struct attn_error *err)
{
	*f = (struct folder){.path = path};
	TRY(read_optional(path, "tokenizer_config.json", &f->config, err));
	TRY(read_optional(path, "special_tokens_map.json", &f->roles, err));
	TRY(read_optional(path, "added_tokens.json", &f->added, err));
	return read_optional(path, "config.json", &f->model, err);
}

void folder_release(struct folder *f)
{
	cJSON_Delete(f->config);
	cJSON_Delete(f->roles);
	cJSON_Delete(f->added);
	cJSON_Delete(f->model);
	*f = (struct folder){0};
}

bool folder_is(const struct folder *f, const char *name, const char *model_type)
{
	const cJSON *class = field_get(f->config, "tokenizer_class"),
		    *type = field_get(f->model, "model_type");
	size_t length = strlen(name);
	if (cJSON_IsString(class))
		return strncmp(class->valuestring, name, length) == 0 &&
		       strncmp(class->valuestring + length, "Tokenizer", 9) == 0;
	return cJSON_IsString(type) && strcmp(type->valuestring, model_type) == 0;
}

/* The string of a token: itself, or the "content" of an object. */
static const char *content_of(const cJSON *item)
{
	const cJSON *content = cJSON_IsObject(item) ? field_get(item, "content") : item;
	return cJSON_IsString(content) ? content->valuestring : NULL;
}

static const cJSON *find_role(const struct folder *f, const char *role)
{
	const cJSON *item = field_get(f->roles, role);
	return item ? item : field_get(f->config, role);
}

const char *folder_role(const struct folder *f, const char *role, const char *otherwise)
{
	const char *content = content_of(find_role(f, role));
	return content ? content : otherwise;
}

bool folder_setting(const struct folder *f, const char *name, bool otherwise)
{
	const cJSON *item = field_get(f->config, name);
	return cJSON_IsBool(item) ? cJSON_IsTrue(item) : otherwise;
}

/* Append an object of the list; `flags` has what is said of the token, if it is an object. */
static void add_token(struct buffer *out, const char *content, const cJSON *flags, bool special)
{
	/* RoBERTa's mask is said nowhere to take the space before it. */
	bool mask = strcmp(content, "<mask>") == 0;
	const struct {
		const char *name;
		bool otherwise;
	} keys[] = {{"single_word", false},
		    {"lstrip", special && mask},
		    {"rstrip", false},
		    {"normalized", !special},
		    {"special", special}};
	buffer_add_string(out, out->length && out->data[out->length - 1] == '}' ? ", {\"content\": "
										: "{\"content\": ");
	buffer_add_json_string(out, content);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const cJSON *item = field_get(flags, keys[i].name);
		bool value = cJSON_IsBool(item) ? cJSON_IsTrue(item) : keys[i].otherwise;
		buffer_printf(out, ", \"%s\": %s", keys[i].name, value ? "true" : "false");
	}
	buffer_add_string(out, "}");
}

struct numbered {
	double id;
	const char *content;
	const cJSON *flags;
};

static int compare_numbered(const void *a, const void *b)
{
	double x = ((const struct numbered *)a)->id, y = ((const struct numbered *)b)->id;
	return (x > y) - (x < y);
}

/* Those of an object whose keys are ids, "added_tokens_decoder", or whose values are, as in
 * added_tokens.json. */
static enum attn_status add_numbered(const cJSON *object, struct buffer *out, struct attn_error *err)
{
	size_t count = 0, used = 0;
	for (const cJSON *item = object ? object->child : NULL; item; item = item->next)
		count++;
	struct numbered *list = reallocarray(NULL, count ? count : 1, sizeof *list);
	if (!list)
		return attn_fail_memory(err);
	for (const cJSON *item = count ? object->child : NULL; item; item = item->next) {
		if (cJSON_IsObject(item) && content_of(item))
			list[used++] = (struct numbered){strtod(item->string, NULL), content_of(item), item};
		else if (cJSON_IsNumber(item))
			list[used++] = (struct numbered){item->valuedouble, item->string, NULL};
	}
	qsort(list, used, sizeof *list, compare_numbered);
	for (size_t i = 0; i < used; i++)
		add_token(out, list[i].content, list[i].flags, false);
	free(list);
	return ATTN_OK;
}

static void add_roles(const struct folder *f, const struct algorithm *algorithm,
		      const struct folder_default *defaults, size_t count, struct buffer *out)
{
	size_t id;
	for (size_t i = 0; i < count; i++) {
		const char *named = folder_role(f, defaults[i].role, NULL), *other = defaults[i].content;
		bool known = other && algorithm_find(algorithm, other, strlen(other), &id);
		if (named || known)
			add_token(out, named ? named : other, find_role(f, defaults[i].role), true);
	}
	const cJSON *more = find_role(f, "additional_special_tokens");
	for (const cJSON *item = cJSON_IsArray(more) ? more->child : NULL; item; item = item->next)
		if (content_of(item))
			add_token(out, content_of(item), item, true);
}

enum attn_status folder_write_added(const struct folder *f, const struct algorithm *algorithm,
				    const struct folder_default *defaults, size_t count, struct buffer *out,
				    struct attn_error *err)
{
	const cJSON *decoder = field_get(f->config, "added_tokens_decoder");
	buffer_add_string(out, "\"added_tokens\": [");
	TRY(add_numbered(cJSON_IsObject(decoder) ? decoder : f->added, out, err));
	if (!decoder) /* it has those with a role, too */
		add_roles(f, algorithm, defaults, count, out);
	buffer_add_string(out, "]");
	return out->failed ? attn_fail_memory(err) : ATTN_OK;
}
