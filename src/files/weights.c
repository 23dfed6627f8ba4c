#include "files/weights_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/join_internal.h"
#include "tokens/rows_info.h"
#include "util/memory.h"
#include "util/strings.h"

static enum attn_status imply_setting(struct bundle *b, const char *name, const char *value,
				      const char *origin, struct attn_error *err)
{
	if (bundle_setting(b, name))
		return ATTN_OK;
	enum attn_status status = bundle_add_setting(b, name, value, origin, err);
	if (status == ATTN_OK)
		b->settings[b->setting_count - 1].implied = true;
	return status;
}

/* The only head is an average over heads. */
static enum attn_status imply_average(struct bundle *b, const char *origin, struct attn_error *err)
{
	struct string_list names = {0};
	if (!string_list_add(&names, AVERAGED_HEADS)) {
		string_list_release(&names);
		return attn_fail_memory(err);
	}
	struct text text = {.name = strdup("head_names"),
			    .origin = strdup(origin_name(origin)),
			    .list = names,
			    .implied = true};
	if (text.name && text.origin)
		return bundle_take_text(b, &text, err);
	text_release(&text);
	return attn_fail_memory(err);
}

enum attn_status weights_join(struct tensor *parts, size_t count, enum members kind, const char *name,
			      struct tensor *out, struct bundle *labels, struct attn_error *err)
{
	enum join how;
	char text[24];
	enum attn_status status = tensors_join(parts, count, kind == MEMBERS_STEPS, name, out, &how, err);
	if (status != ATTN_OK)
		return status;
	if (out->rank == 5 && out->shape[1] == 1)
		tensor_drop_axis(out, 1);
	if (how == JOIN_STACKED && out->rank == 3 && kind != MEMBERS_HEADS) {
		tensor_insert_axis(out, 1);
		status = imply_average(labels, out->origin, err);
	}
	size_t queries = out->rank > 1 ? out->shape[out->rank - 2] : 0;
	size_t keys = out->rank > 1 ? out->shape[out->rank - 1] : 0;
	bool growing = how == JOIN_STEPS && count > 1 && parts[0].shape[parts[0].rank - 1] != keys;
	if (status == ATTN_OK && growing && keys > queries) {
		snprintf(text, sizeof text, "%zu", keys - queries);
		status = imply_setting(labels, "past_keys", text, out->origin, err);
	}
	if (status != ATTN_OK)
		tensor_release(out);
	return status;
}

/* --- members -------------------------------------------------------------------------------- */

/* A tensor of a file, and the numbers in its name. */
struct member {
	size_t numbers[2], index;
};

static int by_numbers(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	for (int i = 0; i < 2; i++)
		if (x->numbers[i] != y->numbers[i])
			return x->numbers[i] < y->numbers[i] ? -1 : 1;
	return 0;
}

/* The pattern of all tensors; the caller frees it. */
static char *pattern_of(const struct bundle *file)
{
	const char **names = array_alloc(file->tensor_count, sizeof *names);
	char *pattern = NULL;
	for (size_t i = 0; names && i < file->tensor_count; i++)
		names[i] = file->tensors[i].name;
	if (names && file->tensor_count > 0)
		pattern = names_pattern(names, file->tensor_count);
	free(names);
	return pattern;
}

/* What the words before star `star` say that it counts. */
static enum members counted(const char *pattern, int star)
{
	const char *from = pattern, *to = strchr(pattern, '*');
	for (int i = 0; i < star && to; i++) {
		from = to + 1;
		to = strchr(from, '*');
	}
	for (; to && from + 4 <= to; from++) {
		if (strncasecmp(from, "step", 4) == 0)
			return MEMBERS_STEPS;
		if (strncasecmp(from, "head", 4) == 0)
			return MEMBERS_HEADS;
	}
	return MEMBERS_LAYERS;
}

bool weights_are_members(const struct bundle *file, const struct role *role, const char *pattern)
{
	size_t numbers[2], count = 0;
	if (strcmp(role->name, "weights") != 0)
		return false;
	if (!pattern) {
		char *found = pattern_of(file);
		free(found);
		return found != NULL;
	}
	for (size_t i = 0; i < file->tensor_count && strchr(pattern, '*'); i++)
		count += name_numbers(pattern, file->tensors[i].name, numbers);
	return count > 0;
}

/* Join runs of members with the same first number, and then what comes of them. */
static enum attn_status join_groups(const struct bundle *file, const struct member *members, size_t count,
				    const char *pattern, struct tensor *t, struct bundle *labels,
				    struct attn_error *err)
{
	struct tensor *groups = array_alloc(count, sizeof *groups);
	struct tensor *parts = array_alloc(count, sizeof *parts);
	enum attn_status status = groups && parts ? ATTN_OK : attn_fail_memory(err);
	bool two = strchr(strchr(pattern, '*') + 1, '*') != NULL;
	size_t made = 0;
	for (size_t first = 0, last; first < count && status == ATTN_OK; first = last) {
		enum join how;
		for (last = first; last < count && members[last].numbers[0] == members[first].numbers[0];
		     last++)
			parts[last - first] = file->tensors[members[last].index];
		if (two)
			status = tensors_join(parts, last - first, counted(pattern, 1) == MEMBERS_STEPS,
					      parts[0].name, &groups[made], &how, err);
		else if (last - first > 1)
			status = attn_fail(err, ATTN_BAD_INPUT, "'%.100s' and '%.100s' have the same number",
					   parts[0].name, parts[1].name);
		else
			groups[made] = parts[0];
		for (size_t i = first; i < last; i++) /* what was loaded stays the file's */
			file->tensors[members[i].index] = parts[i - first];
		made += status == ATTN_OK;
	}
	if (status == ATTN_OK)
		status =
		    weights_join(groups, made, counted(pattern, 0), roles[ROLE_WEIGHTS].name, t, labels, err);
	for (size_t i = 0; i < made; i++) {
		if (two)
			tensor_release(&groups[i]);
		else
			file->tensors[members[i].index] = groups[i];
	}
	free(groups);
	free(parts);
	return status;
}

enum attn_status weights_join_members(struct bundle *file, const char *pattern, const char *path,
				      struct tensor *t, struct attn_error *err)
{
	char *own = pattern ? NULL : pattern_of(file);
	struct member *members = array_alloc(file->tensor_count, sizeof *members);
	size_t count = 0;
	enum attn_status status = ATTN_OK;
	if (!members || (!pattern && !own))
		status = attn_fail_memory(err);
	pattern = pattern ? pattern : own;
	for (size_t i = 0; status == ATTN_OK && i < file->tensor_count; i++) {
		members[count].index = i;
		count += name_numbers(pattern, file->tensors[i].name, members[count].numbers);
	}
	if (status == ATTN_OK) {
		qsort(members, count, sizeof *members, by_numbers);
		status = join_groups(file, members, count, pattern, t, file, err);
		if (status == ATTN_BAD_INPUT) {
			char prefix[300];
			snprintf(prefix, sizeof prefix, "'%.290s'", path);
			attn_error_prefix(err, prefix);
		}
	}
	free(members);
	free(own);
	return status;
}

/* Whether a whole file may be members of weights: it has no role, and all of its tensors look
 * like maps of heads, or have names that say so. */
static bool is_all_members(const struct bundle *file, const char *pattern)
{
	static const char *const words[] = {"layer", "head", "att", "step"};
	bool said = false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		said |= strcasestr(pattern, words[i]) != NULL;
	for (size_t i = 0; i < file->tensor_count; i++) {
		const struct tensor *t = &file->tensors[i];
		if (t->role != ROLE_NONE || t->rank < (said ? 2 : 3) || t->rank > 5 || !*t->name)
			return false;
	}
	return true;
}

/* A member alone is the weights as they are. */
static enum attn_status rename_only(struct bundle *file, struct attn_error *err)
{
	char *name = strdup(roles[ROLE_WEIGHTS].name);
	if (!name)
		return attn_fail_memory(err);
	free(file->tensors[0].name);
	file->tensors[0].name = name;
	file->tensors[0].role = ROLE_WEIGHTS;
	return ATTN_OK;
}

enum attn_status weights_find(struct bundle *file, const char *path, struct attn_error *err)
{
	struct tensor t;
	char note[500];
	char *pattern = pattern_of(file);
	size_t count = file->tensor_count;
	enum attn_status status = ATTN_OK;
	if (!pattern || !is_all_members(file, pattern)) {
		free(pattern);
		return ATTN_OK;
	}
	const char *last = file->tensors[count - 1].name;
	if (count == 1) {
		snprintf(note, sizeof note, "'%.150s': '%.150s' is taken for weights", path, last);
		status = rename_only(file, err);
	} else {
		snprintf(note, sizeof note, "'%.150s': %zu tensors, '%.100s', are put together as weights",
			 path, count, pattern);
		status = weights_join_members(file, NULL, path, &t, err);
		while (file->tensor_count > 0)
			bundle_remove_tensor(file, file->tensor_count - 1);
		if (status == ATTN_OK)
			status = bundle_add_tensor(file, &t, err);
	}
	free(pattern);
	if (status == ATTN_OK && !string_list_add(&file->notes, note))
		status = attn_fail_memory(err);
	if (status != ATTN_OK)
		bundle_release(file);
	return status;
}

void weights_shape(struct bundle *b)
{
	struct tensor *t = bundle_tensor(b, roles[ROLE_WEIGHTS].name);
	if (t && t->rank == 1)
		tensor_insert_axis(t, 0);
}

/* --- what a tensor brings along --------------------------------------------------------------- */

static bool same_lists(const struct string_list *a, const struct string_list *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++)
		same = strcmp(a->items[i], b->items[i]) == 0;
	return same;
}

static struct text *implied_text(const struct bundle *b, const char *name)
{
	for (size_t i = 0; i < b->text_count; i++)
		if (b->texts[i].implied && strcmp(b->texts[i].name, name) == 0)
			return &b->texts[i];
	return NULL;
}

static enum attn_status move_text(struct bundle *from, const char *name, struct bundle *to, const char *as,
				  struct attn_error *err)
{
	struct text *text = implied_text(from, name);
	if (!text)
		return ATTN_OK;
	char *renamed = strdup(as);
	if (!renamed)
		return attn_fail_memory(err);
	struct text moved = *text;
	*text = (struct text){.name = moved.name};
	moved.name = renamed;
	return bundle_take_text(to, &moved, err);
}

/* The labels of weights: one list for both sides where they are the same, or where only the keys
 * of a square have some. */
static enum attn_status move_labels(struct bundle *rest, const struct tensor *t, struct bundle *kept,
				    struct attn_error *err)
{
	const struct text *rows = implied_text(rest, "tokens"),
			  *columns = implied_text(rest, "source_tokens");
	bool square = t->rank > 1 && t->shape[t->rank - 1] == t->shape[t->rank - 2];
	if (!rows && columns && square)
		return move_text(rest, "source_tokens", kept, "tokens", err);
	bool same = rows && columns && square && same_lists(&rows->list, &columns->list);
	enum attn_status status = move_text(rest, "tokens", kept, "tokens", err);
	if (status == ATTN_OK && !same)
		status = move_text(rest, "source_tokens", kept, "source_tokens", err);
	return status;
}

enum attn_status weights_companions(struct bundle *rest, const struct role *role, struct bundle *kept,
				    struct attn_error *err)
{
	if (strcmp(role->name, "embeddings") == 0)
		return move_text(rest, "tokens", kept, "tokens", err);
	if (strcmp(role->name, "source_embeddings") == 0)
		return move_text(rest, "tokens", kept, "source_tokens", err);
	if (role->kind != KIND_RESULT)
		return ATTN_OK;
	enum attn_status status = move_labels(rest, bundle_tensor(kept, role->name), kept, err);
	if (status == ATTN_OK)
		status = move_text(rest, "head_names", kept, "head_names", err);
	for (size_t i = 0; i < rest->setting_count && status == ATTN_OK; i++)
		if (rest->settings[i].implied)
			status = imply_setting(kept, rest->settings[i].name, rest->settings[i].value,
					       rest->settings[i].origin, err);
	return status;
}
