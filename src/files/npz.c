/* npz: a zip archive of npy files.
 *
 * Reading one inflates only the headers of its members, which are named by their
 * roles; a member's elements are inflated when somebody asks for them, since a small
 * archive may hold more than memory does.
 *
 * A member of a type that is not read (Python objects, dates), or that is no npy file, is
 * listed among the bundle's others, which say so where one is asked for.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/formats.h"
#include "files/npy_internal.h"
#include "files/pickle_internal.h"
#include "files/zip_internal.h"

enum {
	HEADER_MOST = 1 << 16 /* bytes of a member's header; NumPy's own are below 200 */
};

/* The source of a tensor or text: a member that is not inflated yet. */
struct source {
	struct zip_member member;  /* its name points behind this struct */
	const unsigned char *data; /* the archive */
};

static struct source *source_new(const struct zip_member *m, const unsigned char *data)
{
	size_t length = strlen(m->name) + 1;
	struct source *source = malloc(sizeof *source + length);
	if (!source)
		return NULL;
	*source = (struct source){*m, data};
	source->member.name = memcpy(source + 1, m->name, length);
	return source;
}

/* "'q.npy': ..." */
static void prefix_member(const struct zip_member *m, struct attn_error *err)
{
	char prefix[200];
	snprintf(prefix, sizeof prefix, "'%.190s'", m->name);
	attn_error_prefix(err, prefix);
}

/* Inflate a whole member and read it into an empty bundle. */
static enum attn_status read_whole(const struct source *source, const char *name, const char *origin,
				   struct bundle *out, struct attn_error *err)
{
	const struct zip_member *m = &source->member;
	const unsigned char *bytes;
	unsigned char *owned;
	bundle_init(out);
	enum attn_status status = zip_extract(m, source->data, &bytes, &owned, err);
	if (status == ATTN_OK)
		status = npy_add(bytes, m->size, owned, name, origin, out, err);
	if (status != ATTN_OK)
		bundle_release(out);
	if (status == ATTN_BAD_INPUT) {
		char prefix[300];
		prefix_member(m, err);
		snprintf(prefix, sizeof prefix, "'%.290s'", origin_name(origin));
		attn_error_prefix(err, prefix);
	}
	return status;
}

/* A mapped file may have changed since its header was read. */
static enum attn_status fail_changed(const char *origin, struct attn_error *err)
{
	return attn_fail(err, ATTN_FAILED, "'%.200s' changed while it was read", origin_name(origin));
}

static enum attn_status load_tensor(struct tensor *t, struct attn_error *err)
{
	struct bundle file;
	enum attn_status status = read_whole(t->source, t->name, t->origin, &file, err);
	if (status != ATTN_OK)
		return status;
	const struct tensor *found = file.tensor_count ? &file.tensors[0] : NULL;
	if (found && found->dtype == t->dtype && found->rank == t->rank &&
	    memcmp(found->shape, t->shape, sizeof t->shape) == 0) {
		t->data = found->data;
		t->owned = found->owned;
		file.tensors[0].owned = NULL;
	} else {
		status = fail_changed(t->origin, err);
	}
	bundle_release(&file);
	return status;
}

static enum attn_status load_text(struct text *text, struct attn_error *err)
{
	struct bundle file;
	enum attn_status status = read_whole(text->source, text->name, text->origin, &file, err);
	if (status != ATTN_OK)
		return status;
	if (file.text_count) {
		text->list = file.texts[0].list;
		file.texts[0].list = (struct string_list){0};
	} else {
		status = fail_changed(text->origin, err);
	}
	bundle_release(&file);
	return status;
}

static enum attn_status read_header(const struct zip_member *m, const unsigned char *data,
				    struct npy_header *h, struct attn_error *err)
{
	unsigned char start[NPY_START];
	size_t body;
	enum attn_status status =
	    zip_peek(m, data, start, m->size < sizeof start ? m->size : sizeof start, err);
	if (status == ATTN_OK)
		status = npy_header_measure(start, m->size, &body, err);
	if (status != ATTN_OK)
		return status;
	if (body > HEADER_MOST)
		return attn_fail(err, ATTN_BAD_INPUT, "npy header is %zu bytes, expected at most %d", body,
				 HEADER_MOST);
	unsigned char *header = malloc(body);
	if (!header)
		return attn_fail_memory(err);
	status = zip_peek(m, data, header, body, err);
	if (status == ATTN_OK)
		status = npy_header_parse(header, body, h, err);
	if (status == ATTN_OK)
		status = npy_check_size(h, m->size - h->body, err);
	free(header);
	return status;
}

static enum attn_status add_text(const char *name, struct source *source, const char *origin,
				 struct bundle *out, struct attn_error *err)
{
	struct text text = {.name = strdup(name),
			    .origin = origin ? strdup(origin) : NULL,
			    .load = load_text,
			    .source = source};
	if (text.name && (text.origin || !origin))
		return bundle_take_text(out, &text, err);
	text_release(&text);
	return attn_fail_memory(err);
}

static enum attn_status add_tensor(const char *name, const struct npy_header *h, struct source *source,
				   const char *origin, struct bundle *out, struct attn_error *err)
{
	struct tensor t;
	enum attn_status status = tensor_init(&t, name, origin, h->dtype, h->rank, h->shape, err);
	if (status != ATTN_OK) {
		free(source);
		return status;
	}
	t.load = load_tensor;
	t.source = source;
	return bundle_add_tensor(out, &t, err);
}

/* List what is not read. */
static enum attn_status add_other(const char *name, const char *type, const struct npy_header *h,
				  const struct attn_error *why, const char *origin, struct bundle *out,
				  struct attn_error *err)
{
	struct other *other = bundle_add_other(out, name, origin, type, why->message, err);
	if (!other)
		return ATTN_FAILED;
	other->rank = h->rank;
	memcpy(other->shape, h->shape, sizeof h->shape);
	return ATTN_OK;
}

static enum attn_status add_unread(const char *name, const struct npy_header *h, const char *origin,
				   struct bundle *out, struct attn_error *err)
{
	struct attn_error why;
	if (h->type[0])
		npy_fail_type(h, origin, &why);
	else
		attn_fail(&why, ATTN_BAD_INPUT, "strings have a shape that is no list of tokens");
	return add_other(name, h->type[0] ? h->type : "string", h, &why, origin, out, err);
}

static enum attn_status add_array(const struct zip_member *m, const unsigned char *data, const char *origin,
				  struct bundle *out, struct attn_error *err)
{
	struct npy_header h;
	enum attn_status status = read_header(m, data, &h, err);
	if (status != ATTN_OK)
		return status;
	bool unread = h.type[0] || (h.item && !npy_is_list(&h));
	struct source *source = unread ? NULL : source_new(m, data);
	char *name = strndup(m->name, strlen(m->name) - strlen(".npy"));
	if ((!source && !unread) || !name) {
		free(source);
		status = attn_fail_memory(err);
	} else if (unread) {
		status = add_unread(name, &h, origin, out, err);
	} else {
		status = h.item ? add_text(name, source, origin, out, err)
				: add_tensor(name, &h, source, origin, out, err);
	}
	free(name);
	return status;
}

static bool ends_with(const char *name, const char *ending)
{
	size_t length = strlen(name), ending_length = strlen(ending);
	return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

static enum attn_status add_member(const struct zip_member *m, const unsigned char *data, const char *origin,
				   struct bundle *out, struct attn_error *err)
{
	static const struct npy_header none = {0};
	struct attn_error why;
	if (!ends_with(m->name, ".npy") || strcmp(m->name, ".npy") == 0) {
		attn_fail(&why, ATTN_BAD_INPUT, "not an array, whose member ends in '.npy'");
		return add_other(m->name, "file", &none, &why, origin, out, err);
	}
	enum attn_status status = add_array(m, data, origin, out, err);
	if (status == ATTN_BAD_INPUT)
		prefix_member(m, err);
	return status;
}

/* A checkpoint of PyTorch is an archive, too, with a pickle that says what is in it. */
static bool is_checkpoint(const struct zip *zip)
{
	for (size_t i = 0; i < zip->count; i++)
		if (ends_with(zip->members[i].name, "data.pkl"))
			return true;
	return false;
}

enum attn_status npz_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			   struct attn_error *err)
{
	struct zip zip;
	enum attn_status status = zip_open(&zip, data, length, err);
	if (status == ATTN_OK && is_checkpoint(&zip)) {
		zip_release(&zip);
		return checkpoint_fail(origin, err);
	}
	for (size_t i = 0; i < zip.count && status == ATTN_OK; i++)
		status = add_member(&zip.members[i], data, origin, out, err);
	zip_release(&zip);
	return status;
}
