/* From a file to a bundle: open it, tell its format, read it. */
#include "files/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/input_internal.h"
#include "files/pickle_internal.h"
#include "files/scalar_internal.h"
#include "input/roles.h"

static void prefix_file(struct attn_error *err, const char *path)
{
	char prefix[300];
	snprintf(prefix, sizeof prefix, "'%.290s'", path);
	attn_error_prefix(err, prefix);
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

static enum attn_status fail_format(const struct file_bytes *bytes, const char *path, struct attn_error *err)
{
	if (is_pickle(bytes->data, bytes->length))
		return checkpoint_fail(path, err);
	return attn_fail(err, ATTN_BAD_INPUT,
			 "unknown format, expected JSON, npy, npz, safetensors, GGUF or text");
}

static enum attn_status parse_text(const struct file_bytes *bytes, const char *path, const struct want *want,
				   struct bundle *out, struct attn_error *err)
{
	struct attn_error why = {0};
	enum attn_status status = table_parse(bytes->data, bytes->length, path, out, &why);
	/* A column of tokens is none of labels. */
	const struct tensor *t = status == ATTN_OK ? &out->tensors[0] : NULL;
	bool column = t && (t->shape[t->rank - 1] == 1 || out->text_count == 0);
	bool lines = want->strings ? !t || column : !t && want->part && !want->role;
	if (lines && (t || status == ATTN_BAD_INPUT)) {
		bundle_release(out);
		return lines_parse(bytes->data, bytes->length, path, out, err);
	}
	if (status != ATTN_OK && err)
		*err = why;
	return status;
}

static enum attn_status parse_json(const struct file_bytes *bytes, const char *path, const struct want *want,
				   struct bundle *out, struct attn_error *err)
{
	struct bundle lines;
	enum attn_status status =
	    want->part ? json_parse_part(bytes->data, bytes->length, path, want->name, want->role, out, err)
		       : json_parse(bytes->data, bytes->length, path, out, err);
	size_t length = strlen(path);
	bool text = length > 4 && strcmp(path + length - 4, ".txt") == 0;
	if (status != ATTN_BAD_INPUT || !want->strings || !text)
		return status;
	bundle_init(&lines); /* a token may be a bracket */
	if (lines_parse(bytes->data, bytes->length, path, &lines, NULL) != ATTN_OK)
		return status;
	bundle_release(out);
	*out = lines;
	return ATTN_OK;
}

static enum attn_status parse(const struct file_bytes *bytes, enum format format, const char *path,
			      const struct want *want, struct bundle *out, struct attn_error *err)
{
	switch (format) {
	case FORMAT_JSON:
		return parse_json(bytes, path, want, out, err);
	case FORMAT_NPY:
		return npy_parse(bytes->data, bytes->length, path, out, err);
	case FORMAT_NPZ:
		return npz_parse(bytes->data, bytes->length, path, out, err);
	case FORMAT_SAFETENSORS:
		return safetensors_parse(bytes->data, bytes->length, path, out, err);
	case FORMAT_GGUF:
		return gguf_parse(bytes->data, bytes->length, path, out, err);
	case FORMAT_TEXT:
		return parse_text(bytes, path, want, out, err);
	default:
		return fail_format(bytes, path, err);
	}
}

/* What a role is called, and cannot be read, is missed. */
static enum attn_status check_others(const struct bundle *b, struct attn_error *err)
{
	for (size_t i = 0; i < b->other_count; i++)
		if (role_find(b->others[i].name) != ROLE_NONE)
			return attn_fail(err, ATTN_BAD_INPUT, "'%s': %s", b->others[i].name,
					 b->others[i].why);
	return ATTN_OK;
}

/* Whether no input begins so: in no format, or a text of this length without a number. */
static bool is_hopeless(const unsigned char *data, size_t length)
{
	enum format format = format_sniff(data, length);
	bool numbers = false;
	for (size_t i = 0; i < length && !numbers; i++)
		numbers = data[i] >= '0' && data[i] <= '9';
	return format == FORMAT_UNKNOWN || (format == FORMAT_TEXT && !numbers);
}

enum attn_status input_read(struct bundle *out, const char *path, const struct want *want,
			    enum format *format, struct attn_error *err)
{
	struct file_bytes bytes;
	enum attn_status status = file_bytes_open_unless(&bytes, path, is_hopeless, err);
	if (status != ATTN_OK)
		return status;
	enum format found = format_sniff(bytes.data, bytes.length);
	if (format)
		*format = found;
	status = parse(&bytes, found, path, want, out, err);
	if (status == ATTN_OK && !want->part)
		status = check_others(out, err);
	if (status != ATTN_OK)
		prefix_file(err, path);
	if (status == ATTN_OK && !(want->part && want->name))
		status = scalars_to_settings(out, want->part, err);
	if (status == ATTN_OK)
		status = keep_bytes(out, &bytes, err);
	else
		file_bytes_release(&bytes);
	if (status != ATTN_OK)
		bundle_release(out); /* the bytes it points into are gone */
	return status;
}

enum attn_status input_load_texts(struct bundle *b, bool all, struct attn_error *err)
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
	const struct want all = {.part = true};
	enum attn_status status = input_read(out, path, &all, format, err);
	return status == ATTN_OK ? input_load_texts(out, true, err) : status;
}
