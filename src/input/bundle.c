#include "input/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "input/roles.h"

struct bundle_resource {
	void *resource;
	void (*release)(void *);
	struct bundle_resource *next;
};

void bundle_init(struct bundle *b)
{
	*b = (struct bundle){0};
}

void text_release(struct text *text)
{
	free(text->name);
	free(text->origin);
	free(text->source);
	string_list_release(&text->list);
	*text = (struct text){0};
}

enum attn_status text_load(struct text *text, struct attn_error *err)
{
	enum attn_status status = text->load ? text->load(text, err) : ATTN_OK;
	if (status == ATTN_OK) {
		free(text->source);
		text->load = NULL;
		text->source = NULL;
	}
	return status;
}

static void setting_release(struct setting *setting)
{
	free(setting->name);
	free(setting->value);
	free(setting->origin);
}

static void other_release(struct other *other)
{
	free(other->name);
	free(other->origin);
	free(other->type);
	free(other->value);
	free(other->why);
}

void bundle_release(struct bundle *b)
{
	for (size_t i = 0; i < b->tensor_count; i++)
		tensor_release(&b->tensors[i]);
	for (size_t i = 0; i < b->text_count; i++)
		text_release(&b->texts[i]);
	for (size_t i = 0; i < b->setting_count; i++)
		setting_release(&b->settings[i]);
	for (size_t i = 0; i < b->other_count; i++)
		other_release(&b->others[i]);
	free(b->others);
	string_list_release(&b->notes);
	free(b->tensors);
	free(b->texts);
	free(b->settings);
	while (b->resources) {
		struct bundle_resource *r = b->resources;
		b->resources = r->next;
		r->release(r->resource);
		free(r);
	}
	bundle_init(b);
}

struct tensor *bundle_tensor(const struct bundle *b, const char *name)
{
	for (size_t i = 0; i < b->tensor_count; i++)
		if (strcmp(b->tensors[i].name, name) == 0)
			return &b->tensors[i];
	return NULL;
}

const struct text *bundle_text(const struct bundle *b, const char *name)
{
	for (size_t i = 0; i < b->text_count; i++)
		if (strcmp(b->texts[i].name, name) == 0)
			return &b->texts[i];
	return NULL;
}

const struct setting *bundle_setting(const struct bundle *b, const char *name)
{
	for (size_t i = 0; i < b->setting_count; i++)
		if (strcmp(b->settings[i].name, name) == 0)
			return &b->settings[i];
	return NULL;
}

const struct other *bundle_other(const struct bundle *b, const char *name)
{
	for (size_t i = 0; i < b->other_count; i++)
		if (strcmp(b->others[i].name, name) == 0)
			return &b->others[i];
	return NULL;
}

/* "'wq' is in 'a.npz' and again in 'b.npz'". */
static enum attn_status fail_twice(const char *name, const char *first, const char *second,
				   struct attn_error *err)
{
	if (first && second && strcmp(first, second) != 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' is in '%s' and again in '%s': it may be given only once", name, first,
				 second);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s' may be given only once", name);
}

/* Room for one more element at the end of an array; grows by doubling at
 * powers of two. */
static void *grown(void *array, size_t count, size_t element)
{
	if (count & (count - 1))
		return array; /* between powers of two: there is room */
	return reallocarray(array, count ? count * 2 : 1, element);
}

enum attn_status bundle_add_tensor(struct bundle *b, struct tensor *t, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	const struct tensor *other = bundle_tensor(b, t->name);
	if (other) {
		status = fail_twice(t->name, other->origin, t->origin, err);
		tensor_release(t);
		return status;
	}
	struct tensor *tensors = grown(b->tensors, b->tensor_count, sizeof *tensors);
	if (!tensors) {
		tensor_release(t);
		return attn_fail_memory(err);
	}
	b->tensors = tensors;
	t->role = role_find(t->name);
	b->tensors[b->tensor_count++] = *t;
	*t = (struct tensor){0};
	return ATTN_OK;
}

enum attn_status bundle_add_text(struct bundle *b, const char *name, const char *origin,
				 struct string_list *list, struct attn_error *err)
{
	struct text text = {.name = strdup(name), .origin = origin ? strdup(origin) : NULL, .list = *list};
	*list = (struct string_list){0};
	if (text.name && (!origin || text.origin))
		return bundle_take_text(b, &text, err);
	text_release(&text);
	return attn_fail_memory(err);
}

enum attn_status bundle_take_text(struct bundle *b, struct text *text, struct attn_error *err)
{
	const struct text *other = bundle_text(b, text->name);
	enum attn_status status = ATTN_OK;
	struct text *texts = NULL;
	if (other && text->implied) {
		text_release(text);
		return ATTN_OK;
	}
	if (other && other->implied) {
		bundle_remove_text(b, (size_t)(other - b->texts));
		other = NULL;
	}
	if (other)
		status = fail_twice(text->name, other->origin, text->origin, err);
	else if (!(texts = grown(b->texts, b->text_count, sizeof *texts)))
		status = attn_fail_memory(err);
	if (status != ATTN_OK) {
		text_release(text);
		return status;
	}
	b->texts = texts;
	text->role = role_find(text->name);
	b->texts[b->text_count++] = *text;
	*text = (struct text){0};
	return ATTN_OK;
}

struct other *bundle_add_other(struct bundle *b, const char *name, const char *origin, const char *type,
			       const char *why, struct attn_error *err)
{
	struct other *others = grown(b->others, b->other_count, sizeof *others);
	if (others) {
		b->others = others;
		struct other o = {.name = strdup(name),
				  .origin = strdup(origin_name(origin)),
				  .type = strdup(type),
				  .why = strdup(why)};
		if (o.name && o.origin && o.type && o.why) {
			b->others[b->other_count] = o;
			return &b->others[b->other_count++];
		}
		other_release(&o);
	}
	attn_fail_memory(err);
	return NULL;
}

/* Move the others of `from`, and copy its notes. */
static enum attn_status take_others(struct bundle *to, struct bundle *from, struct attn_error *err)
{
	for (size_t i = 0; i < from->other_count; i++) {
		struct other *others = grown(to->others, to->other_count, sizeof *others);
		if (!others)
			return attn_fail_memory(err);
		to->others = others;
		to->others[to->other_count++] = from->others[i];
		from->others[i] = (struct other){0};
	}
	for (size_t i = 0; i < from->notes.count; i++)
		if (!string_list_add(&to->notes, from->notes.items[i]))
			return attn_fail_memory(err);
	return ATTN_OK;
}

static enum attn_status append_setting(struct bundle *b, const char *name, const char *value,
				       const char *origin, bool from_command, struct attn_error *err)
{
	struct setting *settings = grown(b->settings, b->setting_count, sizeof *settings);
	if (!settings)
		return attn_fail_memory(err);
	b->settings = settings;
	struct setting s = {.name = strdup(name),
			    .value = strdup(value),
			    .origin = origin ? strdup(origin) : NULL,
			    .from_command = from_command,
			    .role = role_find(name)};
	if (!s.name || !s.value || (origin && !s.origin)) {
		setting_release(&s);
		return attn_fail_memory(err);
	}
	b->settings[b->setting_count++] = s;
	return ATTN_OK;
}

enum attn_status bundle_add_setting(struct bundle *b, const char *name, const char *value, const char *origin,
				    struct attn_error *err)
{
	const struct setting *other = bundle_setting(b, name);
	if (!other)
		return append_setting(b, name, value, origin, false, err);
	/* What is no setting of ours, such as a file's "text", is only shown. */
	if (other->from_command || strcmp(other->value, value) == 0 || !other->role)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'%s' is '%s' in '%s' and '%s' in '%s', expected one value",
			 name, other->value, origin_name(other->origin), value, origin_name(origin));
}

enum attn_status bundle_override(struct bundle *b, const char *name, const char *value, const char *origin,
				 struct attn_error *err)
{
	for (size_t i = 0; i < b->setting_count; i++) {
		if (strcmp(b->settings[i].name, name) != 0)
			continue;
		setting_release(&b->settings[i]);
		b->settings[i] = b->settings[--b->setting_count];
		break;
	}
	return append_setting(b, name, value, origin, true, err);
}

void bundle_remove_tensor(struct bundle *b, size_t index)
{
	tensor_release(&b->tensors[index]);
	b->tensor_count--;
	memmove(&b->tensors[index], &b->tensors[index + 1], (b->tensor_count - index) * sizeof *b->tensors);
}

void bundle_remove_text(struct bundle *b, size_t index)
{
	text_release(&b->texts[index]);
	b->text_count--;
	memmove(&b->texts[index], &b->texts[index + 1], (b->text_count - index) * sizeof *b->texts);
}

enum attn_status bundle_keep(struct bundle *b, void *resource, void (*release)(void *),
			     struct attn_error *err)
{
	struct bundle_resource *r = malloc(sizeof *r);
	if (!r) {
		release(resource);
		return attn_fail_memory(err);
	}
	*r = (struct bundle_resource){resource, release, b->resources};
	b->resources = r;
	return ATTN_OK;
}

enum attn_status bundle_merge(struct bundle *to, struct bundle *from, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	/* Resources first: the tensors point into them. */
	struct bundle_resource **end = &to->resources;
	while (*end)
		end = &(*end)->next;
	*end = from->resources;
	from->resources = NULL;

	for (size_t i = 0; i < from->tensor_count && status == ATTN_OK; i++)
		status = bundle_add_tensor(to, &from->tensors[i], err);
	for (size_t i = 0; i < from->text_count && status == ATTN_OK; i++)
		status = bundle_take_text(to, &from->texts[i], err);
	for (size_t i = 0; i < from->setting_count && status == ATTN_OK; i++)
		status = bundle_add_setting(to, from->settings[i].name, from->settings[i].value,
					    from->settings[i].origin, err);
	if (status == ATTN_OK)
		status = take_others(to, from, err);
	if (from->head_list)
		to->head_list = from->head_list;
	bundle_release(from);
	return status;
}
