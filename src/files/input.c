/* From INPUT operands to a bundle: open files, tell their format, bind roles. */
#include "files/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/scalar_internal.h"
#include "files/suggest_internal.h"
#include "input/roles.h"
#include "util/buffer.h"

/* Standard input can be read once by a process, whoever asks. */
static bool stdin_taken;

static void prefix_file(struct attn_error *err, const char *path)
{
	char prefix[300];
	snprintf(prefix, sizeof prefix, "'%.290s'", path);
	attn_error_prefix(err, prefix);
}

static enum attn_status read_to_end(int fd, const char *path, struct file_bytes *bytes,
				    struct attn_error *err)
{
	size_t capacity = 0;
	for (;;) {
		if (bytes->length == capacity) {
			size_t larger = capacity ? capacity + capacity / 2 : 65536;
			unsigned char *data = larger > capacity ? realloc(bytes->data, larger) : NULL;
			if (!data)
				return attn_fail_memory(err);
			bytes->data = data;
			capacity = larger;
		}
		ssize_t got = read(fd, bytes->data + bytes->length, capacity - bytes->length);
		if (got == 0)
			return ATTN_OK;
		if (got > 0)
			bytes->length += (size_t)got;
		else if (errno != EINTR)
			return attn_fail_errno(err, ATTN_FAILED, "could not read '%s'", path);
	}
}

/* A directory that attn run made holds the file that was meant. */
static enum attn_status fail_directory(const char *path, struct attn_error *err)
{
	static const char name[] = "attention.safetensors";
	const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
	char inside[300];
	int length = snprintf(inside, sizeof inside, "%s%s%s", path, slash, name);
	if (length < (int)sizeof inside && access(inside, F_OK) == 0)
		return attn_fail(err, ATTN_FAILED, "'%s' is a directory, did you mean '%s'", path, inside);
	return attn_fail(err, ATTN_FAILED, "'%s' is a directory, expected a file", path);
}

static enum attn_status load(int fd, const char *path, struct file_bytes *bytes, struct attn_error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return attn_fail_errno(err, ATTN_FAILED, "could not read '%s'", path);
	if (S_ISDIR(st.st_mode))
		return fail_directory(path, err);
	/* Files of /proc are regular, and say 0 bytes. */
	bool whole = S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0;
	if (whole && (uintmax_t)st.st_size <= SIZE_MAX) {
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			*bytes = (struct file_bytes){map, (size_t)st.st_size, true};
			return ATTN_OK;
		}
	}
	enum attn_status status = read_to_end(fd, path, bytes, err);
	if (status == ATTN_OK && bytes->length == 0)
		status = attn_fail(err, ATTN_BAD_INPUT, "'%s' is empty", path);
	return status;
}

enum attn_status file_bytes_open(struct file_bytes *bytes, const char *path, struct attn_error *err)
{
	*bytes = (struct file_bytes){0};
	bool standard = strcmp(path, "-") == 0;
	if (standard && stdin_taken)
		return attn_fail(err, ATTN_USAGE, "standard input ('-') may be given only once");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return attn_fail_errno(err, ATTN_FAILED, "could not open '%s'", path);
	stdin_taken |= standard;
	enum attn_status status = load(fd, standard ? "standard input" : path, bytes, err);
	if (!standard)
		close(fd);
	if (status != ATTN_OK)
		file_bytes_release(bytes);
	return status;
}

void file_bytes_release(struct file_bytes *bytes)
{
	if (bytes->mapped)
		munmap(bytes->data, bytes->length);
	else
		free(bytes->data);
	*bytes = (struct file_bytes){0};
}

static void release_kept(void *resource)
{
	file_bytes_release(resource);
	free(resource);
}

/* Keep the bytes as long as the bundle if a tensor points into them, else free
 * them now. */
static enum attn_status keep_bytes(struct bundle *b, struct file_bytes *bytes, struct attn_error *err)
{
	bool needed = false;
	for (size_t i = 0; i < b->tensor_count; i++)
		needed |= b->tensors[i].owned == NULL;
	for (size_t i = 0; i < b->text_count; i++)
		needed |= b->texts[i].load != NULL;
	struct file_bytes *kept = needed ? malloc(sizeof *kept) : NULL;
	if (!kept) {
		file_bytes_release(bytes);
		return needed ? attn_fail_memory(err) : ATTN_OK;
	}
	*kept = *bytes;
	return bundle_keep(b, kept, release_kept, err);
}

static enum attn_status parse(const struct file_bytes *bytes, enum format format, const char *path,
			      struct bundle *out, struct attn_error *err)
{
	switch (format) {
	case FORMAT_JSON:
		return json_parse(bytes->data, bytes->length, path, out, err);
	case FORMAT_NPY:
		return npy_parse(bytes->data, bytes->length, path, out, err);
	case FORMAT_NPZ:
		return npz_parse(bytes->data, bytes->length, path, out, err);
	case FORMAT_SAFETENSORS:
		return safetensors_parse(bytes->data, bytes->length, path, out, err);
	default:
		if (bytes->length > 2 && bytes->data[0] == 0x80 && bytes->data[1] >= 2 && bytes->data[1] <= 5)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "a Python pickle, such as an old PyTorch checkpoint, expected JSON, npy, npz or "
			    "safetensors: save it as one of them");
		return attn_fail(err, ATTN_BAD_INPUT,
				 "unknown format, expected JSON, npy, npz or safetensors");
	}
}

/* Read a file, but leave what is compressed as it is. */
static enum attn_status read_file(struct bundle *out, const char *path, enum format *format,
				  struct attn_error *err)
{
	struct file_bytes bytes;
	enum attn_status status = file_bytes_open(&bytes, path, err);
	if (status != ATTN_OK)
		return status;
	enum format found = format_sniff(bytes.data, bytes.length);
	if (format)
		*format = found;
	status = parse(&bytes, found, path, out, err);
	if (status != ATTN_OK)
		prefix_file(err, path);
	if (status == ATTN_OK)
		status = scalars_to_settings(out, err);
	if (status == ATTN_OK)
		status = keep_bytes(out, &bytes, err);
	else
		file_bytes_release(&bytes);
	if (status != ATTN_OK)
		bundle_release(out); /* the bytes it points into are gone */
	return status;
}

/* The texts of a file, or those that are roles.  Tensors are loaded by who uses them. */
static enum attn_status load_texts(struct bundle *b, bool all, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < b->text_count && status == ATTN_OK; i++)
		if (all || b->texts[i].role)
			status = text_load(&b->texts[i], err);
	if (status != ATTN_OK)
		bundle_release(b);
	return status;
}

enum attn_status input_read_file(struct bundle *out, const char *path, enum format *format,
				 struct attn_error *err)
{
	enum attn_status status = read_file(out, path, format, err);
	return status == ATTN_OK ? load_texts(out, true, err) : status;
}

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
	if (names->count == 0)
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

/* Reduce `file` to element `keep` of its tensors or texts, renamed to `role`. */
static enum attn_status reduce(struct bundle *file, const struct names *names, size_t keep, const char *role,
			       struct attn_error *err)
{
	struct bundle rest = *file; /* everything but what is kept, released below */
	struct bundle kept = {.resources = file->resources};
	rest.resources = NULL;
	enum attn_status status;
	if (names->texts) {
		status = text_load(&rest.texts[keep], err);
		if (status == ATTN_OK)
			status = bundle_add_text(&kept, role, rest.texts[keep].origin, &rest.texts[keep].list,
						 err);
	} else {
		struct tensor t = rest.tensors[keep];
		if ((roles[t.role].about & ABOUT_HEAD_LIST) && t.rank > 1)
			kept.head_list = file->head_list;
		rest.tensors[keep] = (struct tensor){0};
		free(t.name);
		t.name = strdup(role);
		status = t.name ? bundle_add_tensor(&kept, &t, err) : attn_fail_memory(err);
		if (status != ATTN_OK)
			tensor_release(&t);
	}
	bundle_release(&rest);
	*file = kept;
	return status;
}

/* Add tensor or text `wanted` (NULL: the only one, or the one named like the
 * role) of a file to the bundle, as `role`. */
static enum attn_status bind(struct bundle *b, const struct role *role, const char *path, const char *wanted,
			     struct attn_error *err)
{
	struct bundle file;
	bundle_init(&file);
	enum attn_status status = read_file(&file, path, NULL, err);
	if (status != ATTN_OK)
		return status;
	struct names names = names_of(&file, role->kind == KIND_TEXT);
	size_t keep = name_index(&names, wanted ? wanted : role->name);
	if (keep == names.count && !wanted && names.count == 1)
		keep = 0;
	if (keep == names.count)
		status = fail_missing(&names, role->name, wanted, path, err);
	else
		status = reduce(&file, &names, keep, role->name, err);
	if (status == ATTN_OK)
		return bundle_merge(b, &file, err);
	bundle_release(&file);
	return status;
}

static bool exists(const char *path)
{
	return strcmp(path, "-") == 0 || access(path, F_OK) == 0;
}

/* Split FILE[:TENSOR] in place at the last ':' that leaves the name of a file,
 * unless the whole is one.  Returns TENSOR or NULL. */
static char *split_tensor(char *path)
{
	if (exists(path))
		return NULL;
	for (char *colon = strrchr(path, ':'); colon;) {
		*colon = '\0';
		if (exists(path))
			return colon + 1;
		char *next = strrchr(path, ':');
		*colon = ':';
		colon = next;
	}
	char *colon = strrchr(path, ':'); /* no such file: say so of what is before */
	if (!colon || colon == path)
		return NULL;
	*colon = '\0';
	return colon + 1;
}

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
	char *name = strndup(operand, role_length), *path = strdup(rest);
	enum attn_status status;
	if (!name || !path) {
		status = attn_fail_memory(err);
		goto done;
	}
	enum role_id role = role_find(name);
	const char *nearest = role ? NULL : role_suggest(name);
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
	else {
		const char *wanted = split_tensor(path);
		if (wanted && !*wanted)
			status = attn_fail(err, ATTN_USAGE, "'%.200s' names no tensor after ':'", operand);
		else
			status = bind(b, &roles[role], path, wanted, err);
	}
done:
	free(name);
	free(path);
	return status;
}

static enum attn_status add_whole_file(struct bundle *b, const char *path, struct attn_error *err)
{
	struct bundle file;
	bundle_init(&file);
	enum attn_status status = read_file(&file, path, NULL, err);
	if (status == ATTN_OK)
		status = load_texts(&file, false, err);
	if (status != ATTN_OK)
		return status;
	const struct tensor *t = bundle_tensor(&file, "");
	if (t || bundle_text(&file, "")) {
		bool cube = t && t->rank > 2; /* more likely (heads, queries, keys) than vectors */
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

enum attn_status input_add(struct bundle *b, const char *operand, struct attn_error *err)
{
	const char *equals = strchr(operand, '=');
	size_t role_length = equals ? (size_t)(equals - operand) : 0;
	bool binding = false;
	if (equals) {
		/* A known role is one even where a file of that name exists: the
		 * file can be given as ./NAME.  Anything else may be a file. */
		for (enum role_id role = ROLE_NONE + 1; role < ROLE_COUNT && !binding; role++)
			binding = strlen(roles[role].name) == role_length &&
				  strncmp(roles[role].name, operand, role_length) == 0;
		binding = binding || !exists(operand);
	}
	return binding ? add_binding(b, operand, role_length, err) : add_whole_file(b, operand, err);
}
