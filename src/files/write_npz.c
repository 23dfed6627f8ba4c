/* npz: a zip whose members are npy files, stored.  Compressing would gain nothing:
 * the bits of weights are noise.
 *
 * A member's header comes before its data but holds their CRC.  In a file it is
 * patched in when the data have been written; on a pipe it follows them, as a
 * data descriptor.  Sizes and offsets of 4 GiB and more are written as zip64.
 * (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3.) */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "files/tensor_writer_internal.h"
#include "util/memory.h"

#define FIELD_32_MAX UINT32_C(0xffffffff) /* "see the zip64 record" */
#define FIELD_16_MAX UINT32_C(0xffff)

enum {
	FLAG_DESCRIBED = 1 << 3,
	FLAG_UTF8 = 1 << 11,
	VERSION = 20,
	VERSION_ZIP64 = 45,
	MADE_BY_UNIX = 3 << 8,
	DATE = 1 << 5 | 1, /* 1 January 1980, 0:00, so that equal results are equal files */
	EXTRA_ZIP64 = 1,
};

static bool is_large(const struct npz_member *member)
{
	return member->size >= FIELD_32_MAX;
}

/* The fields from "version needed" to "compressed size", alike in both headers. */
static void add_common(struct buffer *buf, const struct npz_member *member, bool zip64, uint32_t crc,
		       uint64_t size)
{
	unsigned flags = member->described ? FLAG_DESCRIBED : 0;
	for (const char *c = member->name; *c; c++)
		flags |= (unsigned char)*c >= 0x80 ? FLAG_UTF8 : 0;
	uint64_t shown = is_large(member) ? FIELD_32_MAX : size;
	buffer_add_le(buf, zip64 ? VERSION_ZIP64 : VERSION, 2);
	buffer_add_le(buf, flags, 2);
	buffer_add_le(buf, 0, 2); /* stored */
	buffer_add_le(buf, 0, 2);
	buffer_add_le(buf, DATE, 2);
	buffer_add_le(buf, crc, 4);
	buffer_add_le(buf, shown, 4);
	buffer_add_le(buf, shown, 4);
	buffer_add_le(buf, strlen(member->name) + strlen(".npy"), 2);
}

static void add_name(struct buffer *buf, const struct npz_member *member)
{
	buffer_add_string(buf, member->name);
	buffer_add_string(buf, ".npy");
}

void npz_local_header(struct buffer *buf, const struct npz_member *member)
{
	uint64_t size = member->described ? 0 : member->size;
	buffer_add_string(buf, "PK\3\4");
	add_common(buf, member, is_large(member), member->described ? 0 : member->crc, size);
	buffer_add_le(buf, is_large(member) ? 20 : 0, 2);
	add_name(buf, member);
	if (is_large(member)) {
		buffer_add_le(buf, EXTRA_ZIP64, 2);
		buffer_add_le(buf, 16, 2);
		buffer_add_le(buf, size, 8);
		buffer_add_le(buf, size, 8);
	}
}

void npz_descriptor(struct buffer *buf, const struct npz_member *member)
{
	int width = is_large(member) ? 8 : 4;
	buffer_add_string(buf, "PK\7\10");
	buffer_add_le(buf, member->crc, 4);
	buffer_add_le(buf, member->size, width);
	buffer_add_le(buf, member->size, width);
}

void npz_central_header(struct buffer *buf, const struct npz_member *member)
{
	bool large = is_large(member), far = member->offset >= FIELD_32_MAX;
	unsigned extra = (large ? 16 : 0) + (far ? 8 : 0);
	buffer_add_string(buf, "PK\1\2");
	buffer_add_le(buf, MADE_BY_UNIX | (large || far ? VERSION_ZIP64 : VERSION), 2);
	add_common(buf, member, large || far, member->crc, member->size);
	buffer_add_le(buf, extra > 0 ? 4 + extra : 0, 2);
	buffer_add_le(buf, 0, 2);                       /* no comment */
	buffer_add_le(buf, 0, 2);                       /* disk 0 */
	buffer_add_le(buf, 0, 2);                       /* not text */
	buffer_add_le(buf, UINT32_C(0100644) << 16, 4); /* a regular file, rw-r--r-- */
	buffer_add_le(buf, far ? FIELD_32_MAX : member->offset, 4);
	add_name(buf, member);
	if (extra > 0) {
		buffer_add_le(buf, EXTRA_ZIP64, 2);
		buffer_add_le(buf, extra, 2);
	}
	if (large) {
		buffer_add_le(buf, member->size, 8);
		buffer_add_le(buf, member->size, 8);
	}
	if (far)
		buffer_add_le(buf, member->offset, 8);
}

void npz_end(struct buffer *buf, uint64_t count, uint64_t size, uint64_t offset)
{
	if (count >= FIELD_16_MAX || size >= FIELD_32_MAX || offset >= FIELD_32_MAX) {
		buffer_add_string(buf, "PK\6\6");
		buffer_add_le(buf, 44, 8); /* bytes that follow in this record */
		buffer_add_le(buf, MADE_BY_UNIX | VERSION_ZIP64, 2);
		buffer_add_le(buf, VERSION_ZIP64, 2);
		buffer_add_le(buf, 0, 4); /* disk 0 */
		buffer_add_le(buf, 0, 4);
		buffer_add_le(buf, count, 8);
		buffer_add_le(buf, count, 8);
		buffer_add_le(buf, size, 8);
		buffer_add_le(buf, offset, 8);
		buffer_add_string(buf, "PK\6\7"); /* where that record is */
		buffer_add_le(buf, 0, 4);
		buffer_add_le(buf, offset + size, 8);
		buffer_add_le(buf, 1, 4);
	}
	buffer_add_string(buf, "PK\5\6");
	buffer_add_le(buf, 0, 2);
	buffer_add_le(buf, 0, 2);
	buffer_add_le(buf, count < FIELD_16_MAX ? count : FIELD_16_MAX, 2);
	buffer_add_le(buf, count < FIELD_16_MAX ? count : FIELD_16_MAX, 2);
	buffer_add_le(buf, size < FIELD_32_MAX ? size : FIELD_32_MAX, 4);
	buffer_add_le(buf, offset < FIELD_32_MAX ? offset : FIELD_32_MAX, 4);
	buffer_add_le(buf, 0, 2);
}

void npz_frame(struct buffer *buf, const struct tensor_spec *spec, size_t count)
{
	size_t before = buf->length;
	npy_header(buf, spec);
	struct npz_member member = {
	    .name = spec->name,
	    .size = buf->length - before + (uint64_t)count * dtype_size(spec->dtype),
	};
	npz_local_header(buf, &member);
	npz_central_header(buf, &member);
}

static enum attn_status begin(struct tensor_writer *w, struct attn_error *err)
{
	w->state = array_alloc(w->spec_count, sizeof(struct npz_member));
	return w->state ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status start(struct tensor_writer *w, const struct tensor_spec *spec, struct attn_error *err)
{
	struct npz_member *member = (struct npz_member *)w->state + w->current;
	struct buffer header = BUFFER_INIT;
	npy_header(&header, spec);
	*member = (struct npz_member){
	    .name = spec->name,
	    .size = header.length + (uint64_t)w->counts[w->current] * dtype_size(spec->dtype),
	    .offset = w->written + w->text.length,
	    .described = !output_can_patch(&w->output),
	};
	enum attn_status status = ATTN_OK;
	if (header.failed) {
		status = attn_fail_memory(err);
	} else {
		npz_local_header(&w->text, member);
		buffer_add(&w->text, header.data, header.length);
		member->crc = (uint32_t)crc32_z(0, (const unsigned char *)header.data, header.length);
	}
	buffer_release(&header);
	return status;
}

static enum attn_status put(struct tensor_writer *w, const void *elements, size_t count,
			    struct attn_error *err)
{
	struct npz_member *member = (struct npz_member *)w->state + w->current;
	return writer_put_raw(w, elements, count, &member->crc, err);
}

static enum attn_status end(struct tensor_writer *w, struct attn_error *err)
{
	struct npz_member *member = (struct npz_member *)w->state + w->current;
	if (member->described) {
		npz_descriptor(&w->text, member);
		return ATTN_OK;
	}
	enum attn_status status = writer_flush(w, err);
	unsigned char crc[4];
	for (int i = 0; i < 4; i++)
		crc[i] = (unsigned char)(member->crc >> (8 * i));
	if (status == ATTN_OK)
		status = output_patch(&w->output, member->offset + NPZ_CRC_OFFSET, crc, sizeof crc, err);
	return status;
}

static enum attn_status finish(struct tensor_writer *w, struct attn_error *err)
{
	enum attn_status status = writer_flush(w, err);
	uint64_t offset = w->written;
	for (size_t i = 0; i < w->spec_count; i++)
		npz_central_header(&w->text, (const struct npz_member *)w->state + i);
	npz_end(&w->text, w->spec_count, w->text.length, offset);
	return status;
}

static void release(struct tensor_writer *w)
{
	free(w->state);
}

const struct tensor_format npz_format = {.binary = true,
					 .begin = begin,
					 .start = start,
					 .put = put,
					 .end = end,
					 .finish = finish,
					 .release = release};
