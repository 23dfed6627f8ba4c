/* Operands: whole files, and ROLE=FILE[:TENSOR][SLICE]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/input.h"
#include "files/input_internal.h"
#include "files/join_internal.h"
#include "files/place_internal.h"
#include "files/slice.h"
#include "files/suggest_internal.h"
#include "files/weights_internal.h"
#include "input/roles.h"
#include "util/buffer.h"
#include "util/memory.h"

/* --- names of a file ------------------------------------------------------------------------- */

/* The names of a bundle's tensors or texts, whichever a role takes. */
struct names {
	const struct bundle *bundle;
	bool texts;
	size_t count;
};

static struct names names_of(const struct bundle *b, bool texts)
{
	return (struct names){b, texts, texts ? b->text_count : b->tensor_count};
}

static const char *name_at(const struct names *names, size_t i)
{
	return names->texts ? names->bundle->texts[i].name : names->bundle->tensors[i].name;
}

static size_t name_index(const struct names *names, const char *name)
{
	size_t i = 0;
	while (i < names->count && strcmp(name_at(names, i), name) != 0)
		i++;
	return i;
}

/* "it has 'a', 'b' and 3 more". */
static enum attn_status fail_missing(const struct names *names, const char *role, const char *wanted,
				     const char *path, struct attn_error *err)
{
	enum {
		LISTED = 8
	};
	const char *thing = names->texts ? "list of strings" : "tensor";
	struct buffer list = BUFFER_INIT;
	struct suggestion best = {0};
	for (size_t i = 0; i < names->count; i++) {
		suggest(&best, wanted ? wanted : role, name_at(names, i));
		if (i < LISTED)
			buffer_printf(&list, "%s'%.60s'", i ? ", " : "", name_at(names, i));
	}
	if (names->count > LISTED)
		buffer_printf(&list, " and %zu more", names->count - LISTED);
	char *text = buffer_detach(&list);
	if (!text)
		return attn_fail_memory(err);
	enum attn_status status;
	const struct other *other = bundle_other(names->bundle, wanted ? wanted : role);
	if (other)
		status = attn_fail(err, ATTN_BAD_INPUT, "'%.200s': %s", path, other->why);
	else if (names->count == 0 && names->bundle->other_count == 1)
		status = attn_fail(err, ATTN_BAD_INPUT, "'%.200s' holds no %s for '%s': %s", path, thing,
				   role, names->bundle->others[0].why);
	else if (names->count == 0)
		status = attn_fail(err, ATTN_BAD_INPUT, "'%.200s' holds no %s for '%s'", path, thing, role);
	else if (names->count == 1 && !*name_at(names, 0))
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "'%.200s' holds one %s without a name, not '%.100s': give %s=FILE", path,
				   thing, wanted, role);
	else if (!wanted)
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "'%.200s' holds more than one %s, and none is called '%s': give "
				   "%s=FILE:NAME, where NAME is one of %s",
				   path, thing, role, role, text);
	else if (best.name)
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "'%.200s' has no %s '%.60s', did you mean '%.60s', it has %s", path, thing,
				   wanted, best.name, text);
	else
		status = attn_fail(err, ATTN_BAD_INPUT, "'%.200s' has no %s '%.60s', it has %s", path, thing,
				   wanted, text);
	free(text);
	return status;
}

/* --- one file ---------------------------------------------------------------------------------- */

/* Whether the file has what is wanted, or members that its stars stand for. */
static bool has_wanted(const struct names *names, const struct place *place)
{
	size_t numbers[2];
	if (name_index(names, place->tensor) < names->count)
		return true;
	for (size_t i = 0; strchr(place->tensor, '*') && i < names->count; i++)
		if (name_numbers(place->tensor, name_at(names, i), numbers))
			return true;
	return false;
}

static enum attn_status open_place(struct place *place, const struct role *role, struct bundle *file,
				   struct attn_error *err)
{
	bool texts = role->kind == KIND_TEXT;
	struct want want = {true, place->tensor, role->name, texts};
	bundle_init(file);
	enum attn_status status = input_read(file, place->path, &want, NULL, err);
	if (status != ATTN_OK || !place->tensor || strcmp(place->path, "-") == 0)
		return status;
	struct names names = names_of(file, texts);
	if (has_wanted(&names, place) || !place_slice(place))
		return status;
	/* Of JSON, only what is asked for has been read. */
	bundle_release(file);
	want.name = place->tensor;
	return input_read(file, place->path, &want, NULL, err);
}

/* Move a tensor out of a file. */
static struct tensor take_tensor(struct bundle *file, size_t index)
{
	struct tensor t = file->tensors[index];
	file->tensors[index] = (struct tensor){0};
	return t;
}

/* Reduce `file` to the tensor *t, which is called `role` from now on, and to what it brings
 * along: labels and settings of weights, rows' labels of vectors. */
static enum attn_status keep_tensor(struct bundle *file, struct tensor *t, const struct role *role,
				    struct attn_error *err)
{
	struct bundle rest = *file, kept = {.resources = file->resources};
	if ((roles[t->role].about & ABOUT_HEAD_LIST) && t->rank > 1)
		kept.head_list = file->head_list;
	rest.resources = NULL;
	free(t->name);
	t->name = strdup(role->name);
	enum attn_status status = t->name ? bundle_add_tensor(&kept, t, err) : attn_fail_memory(err);
	tensor_release(t);
	if (status == ATTN_OK)
		status = weights_companions(&rest, role, &kept, err);
	bundle_release(&rest);
	*file = kept;
	return status;
}

static enum attn_status keep_text(struct bundle *file, size_t index, const struct place *place,
				  const struct role *role, struct attn_error *err)
{
	struct bundle rest = *file, kept = {.resources = file->resources};
	struct text *text = &rest.texts[index];
	rest.resources = NULL;
	enum attn_status status = text_load(text, err);
	if (status == ATTN_OK && place->slice)
		status = strings_slice(&text->list, text->name, place->slice, err);
	if (status == ATTN_OK)
		status = bundle_add_text(&kept, role->name, text->origin, &text->list, err);
	bundle_release(&rest);
	*file = kept;
	return status;
}

/* The only tensor that is called as others call weights; the count where there is none or more. */
static size_t find_weights(const struct names *names, const struct role *role)
{
	static const char *const known[] = {
	    "attn",         "attention",  "attentions",      "attention_weights",
	    "attn_weights", "attn_probs", "attention_probs", "attn_output_weights"};
	size_t found = names->count, count = 0;
	for (size_t k = 0; strcmp(role->name, "weights") == 0 && k < sizeof known / sizeof *known; k++) {
		size_t index = name_index(names, known[k]);
		found = index < names->count ? index : found;
		count += index < names->count;
	}
	return count == 1 ? found : names->count;
}

/* The tensor or tensors that the place names, as *t, sliced. */
static enum attn_status find_tensor(struct bundle *file, const struct place *place, const struct role *role,
				    struct tensor *t, struct attn_error *err)
{
	struct names names = names_of(file, false);
	const char *wanted = place->tensor;
	size_t keep = name_index(&names, wanted ? wanted : role->name);
	if (keep == names.count && !wanted)
		keep = names.count == 1 ? 0 : find_weights(&names, role);
	enum attn_status status = ATTN_OK;
	if (keep < names.count)
		*t = take_tensor(file, keep);
	else if (weights_are_members(file, role, wanted))
		status = weights_join_members(file, wanted, place->path, t, err);
	else
		status = fail_missing(&names, role->name, wanted, place->path, err);
	if (status == ATTN_OK && place->slice) {
		status = tensor_load(t, err);
		if (status == ATTN_OK)
			status = tensor_slice(t, place->slice, err);
		if (status != ATTN_OK)
			tensor_release(t);
	}
	return status;
}

static enum attn_status bind_text(struct bundle *file, const struct place *place, const struct role *role,
				  struct attn_error *err)
{
	struct names names = names_of(file, true);
	size_t keep = name_index(&names, place->tensor ? place->tensor : role->name);
	if (keep == names.count && !place->tensor && names.count == 1)
		keep = 0;
	if (keep == names.count)
		return fail_missing(&names, role->name, place->tensor, place->path, err);
	return keep_text(file, keep, place, role, err);
}

/* Read one place into *file, reduced to what it names. */
static enum attn_status bind_place(struct bundle *file, struct place *place, const struct role *role,
				   struct attn_error *err)
{
	struct tensor t = {0};
	if (place->tensor && !*place->tensor)
		return attn_fail(err, ATTN_USAGE, "'%.200s:' names no tensor after ':'", place->path);
	enum attn_status status = open_place(place, role, file, err);
	if (status == ATTN_OK && role->kind == KIND_TEXT) {
		status = bind_text(file, place, role, err);
	} else if (status == ATTN_OK) {
		status = find_tensor(file, place, role, &t, err);
		if (status == ATTN_OK)
			status = keep_tensor(file, &t, role, err);
	}
	if (status != ATTN_OK)
		bundle_release(file);
	return status;
}

/* --- several files ------------------------------------------------------------------------------- */

/* Bind the places one by one and put their tensors together. */
static enum attn_status bind_places(struct bundle *b, struct place *places, size_t count,
				    const struct role *role, struct attn_error *err)
{
	struct bundle *files = array_alloc(count, sizeof *files);
	struct tensor *parts = array_alloc(count, sizeof *parts);
	enum attn_status status = files && parts ? ATTN_OK : attn_fail_memory(err);
	struct bundle all;
	struct tensor t;
	bundle_init(&all);
	for (size_t i = 0; i < count && status == ATTN_OK; i++) {
		status = bind_place(&files[i], &places[i], role, err);
		if (status == ATTN_OK)
			parts[i] = take_tensor(&files[i], 0);
	}
	if (status == ATTN_OK)
		status = weights_join(parts, count, MEMBERS_LAYERS, role->name, &t, &files[0], err);
	/* What the first brings along is taken for all. */
	if (status == ATTN_OK) {
		files[0].tensor_count = 0;
		status = bundle_merge(&all, &files[0], err);
		if (status == ATTN_OK)
			status = bundle_add_tensor(&all, &t, err);
		else
			tensor_release(&t);
	}
	for (size_t i = 0; i < count && parts && files; i++) {
		tensor_release(&parts[i]);
		bundle_release(&files[i]);
	}
	free(files);
	free(parts);
	if (status == ATTN_OK)
		return bundle_merge(b, &all, err);
	bundle_release(&all);
	return status;
}

static enum attn_status bind(struct bundle *b, const struct role *role, const char *text,
			     struct attn_error *err)
{
	struct place *places;
	struct bundle file;
	size_t count;
	enum attn_status status = places_split(text, &places, &count, err);
	bundle_init(&file);
	if (status == ATTN_OK && count > 1 && strcmp(role->name, "weights") != 0)
		status =
		    attn_fail(err, ATTN_USAGE,
			      "'%s' is given %zu files, expected one: only layers of 'weights' are stacked",
			      role->name, count);
	else if (status == ATTN_OK && count > 1)
		status = bind_places(b, places, count, role, err);
	else if (status == ATTN_OK) {
		status = bind_place(&file, &places[0], role, err);
		if (status == ATTN_OK) {
			weights_shape(&file);
			status = bundle_merge(b, &file, err);
		}
	}
	for (size_t i = 0; i < count && places; i++)
		place_release(&places[i]);
	free(places);
	return status;
}

/* --- operands ------------------------------------------------------------------------------------- */

static enum attn_status fail_setting(const struct role *role, const char *value, struct attn_error *err)
{
	char option[ROLE_NAME];
	role_option(role, option);
	if (strcmp(value, "true") == 0)
		return attn_fail(err, ATTN_USAGE, "'%s' is a setting, not a tensor: give --%s", role->name,
				 option);
	return attn_fail(err, ATTN_USAGE, "'%s' is a setting, not a tensor: give --%s %.100s", role->name,
			 option, *value ? value : "VALUE");
}

/* ROLE=FILE[:TENSOR], with the '=' at operand[role_length]. */
static enum attn_status add_binding(struct bundle *b, const char *operand, size_t role_length,
				    struct attn_error *err)
{
	const char *rest = operand + role_length + 1;
	char *name = strndup(operand, role_length);
	if (!name)
		return attn_fail_memory(err);
	enum role_id role = role_find(name);
	const char *nearest = role ? NULL : role_suggest(name);
	enum attn_status status;
	if (!role && nearest)
		status = attn_fail(err, ATTN_USAGE, "unknown role '%.100s' in '%.200s', did you mean '%s'",
				   name, operand, nearest);
	else if (!role)
		status = attn_fail(err, ATTN_USAGE,
				   "unknown role '%.100s' in '%.200s', expected one such as embeddings or wq",
				   name, operand);
	else if (role_is_setting(&roles[role]))
		status = fail_setting(&roles[role], rest, err);
	else if (!*rest)
		status = attn_fail(err, ATTN_USAGE, "'%s' names no file: give %s=FILE", operand, name);
	else
		status = bind(b, &roles[role], rest, err);
	free(name);
	return status;
}

static enum attn_status add_whole_file(struct bundle *b, const char *path, struct attn_error *err)
{
	struct bundle file;
	bundle_init(&file);
	static const struct want all = {0};
	enum attn_status status = input_read(&file, path, &all, NULL, err);
	if (status == ATTN_OK)
		status = input_load_texts(&file, false, err);
	if (status == ATTN_OK)
		status = weights_find(&file, path, err);
	if (status != ATTN_OK)
		return status;
	const struct tensor *t = bundle_tensor(&file, "");
	if (t || bundle_text(&file, "")) {
		/* More likely (heads, queries, keys), or a table with labels, than vectors. */
		bool cube = t && (t->rank > 2 || bundle_text(&file, "source_tokens"));
		bundle_release(&file);
		if (!t)
			return attn_fail(err, ATTN_BAD_INPUT, "'%.200s' needs a role, such as tokens=%.200s",
					 path, path);
		return attn_fail(err, ATTN_BAD_INPUT, "'%.200s' needs a role, such as %s=%.200s or %s=%.200s",
				 path, cube ? "weights" : "embeddings", path, cube ? "embeddings" : "weights",
				 path);
	}
	return bundle_merge(b, &file, err);
}

bool input_is_binding(const char *operand)
{
	const char *equals = strchr(operand, '=');
	size_t role_length = equals ? (size_t)(equals - operand) : 0;
	if (!equals)
		return false;
	/* A known role is one even where a file of that name exists: the file can be given as
	 * ./NAME.  Anything else may be a file. */
	for (enum role_id role = ROLE_NONE + 1; role < ROLE_COUNT; role++)
		if (strlen(roles[role].name) == role_length &&
		    strncmp(roles[role].name, operand, role_length) == 0)
			return true;
	return !path_exists(operand);
}

enum attn_status input_add(struct bundle *b, const char *operand, struct attn_error *err)
{
	return input_is_binding(operand) ? add_binding(b, operand, strcspn(operand, "="), err)
					 : add_whole_file(b, operand, err);
}
