/* The directory of a zip archive, zip64 too, and the bytes of its members.
 *
 * The central directory at the end is what counts: its sizes are right even
 * where a member was streamed and followed by a data descriptor.
 */
#include "files/zip_internal.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "files/bytes_internal.h"
#include "util/utf8.h"

enum {
	END_SIZE = 22, /* end of central directory, without its comment */
	END64_SIZE = 56,
	LOCATOR64_SIZE = 20,
	CENTRAL_SIZE = 46, /* a central header, without name, extra field and comment */
	LOCAL_SIZE = 30,

	FLAG_ENCRYPTED = 1 << 0,
	FLAG_STRONGLY_ENCRYPTED = 1 << 6,
	FLAG_MASKED = 1 << 13,
	EXTRA_ZIP64 = 1,

	/* Deflate makes at most this many bytes of one. */
	DEFLATE_RATIO = 1032,
};

/* Where the central directory is. */
struct directory {
	uint64_t start, size, count;
};

static bool has_signature(const unsigned char *at, unsigned char c, unsigned char d)
{
	return at[0] == 'P' && at[1] == 'K' && at[2] == c && at[3] == d;
}

/* The end record is the last thing in the file but for a comment whose length it
 * says. */
static bool find_end(const unsigned char *data, size_t length, size_t *position)
{
	for (size_t comment = 0; comment <= UINT16_MAX && comment + END_SIZE <= length; comment++) {
		const unsigned char *at = data + length - END_SIZE - comment;
		if (has_signature(at, 5, 6) && read_le16(at + 20) == comment) {
			*position = length - END_SIZE - comment;
			return true;
		}
	}
	return false;
}

/* Take the zip64 end record, if a locator before the end record points to one. */
static enum attn_status read_end64(const unsigned char *data, size_t end, struct directory *d, size_t *limit,
				   struct attn_error *err)
{
	if (end < LOCATOR64_SIZE || !has_signature(data + end - LOCATOR64_SIZE, 6, 7))
		return ATTN_OK;
	size_t locator = end - LOCATOR64_SIZE;
	uint64_t start = read_le64(data + locator + 8);
	if (locator < END64_SIZE || start > locator - END64_SIZE || !has_signature(data + start, 6, 6))
		return attn_fail(err, ATTN_BAD_INPUT, "zip64 end record is not at byte %llu as the file says",
				 (unsigned long long)start);
	const unsigned char *at = data + start;
	if (read_le32(at + 16) != 0 || read_le32(at + 20) != 0)
		return attn_fail(err, ATTN_BAD_INPUT, "archive is split over disks, expected one file");
	*d = (struct directory){read_le64(at + 48), read_le64(at + 40), read_le64(at + 32)};
	*limit = (size_t)start;
	return ATTN_OK;
}

static enum attn_status find_directory(const unsigned char *data, size_t length, struct directory *d,
				       struct attn_error *err)
{
	size_t end;
	if (!find_end(data, length, &end))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "zip archive has no end record: the file may have been cut short");
	const unsigned char *at = data + end;
	if (read_le16(at + 4) != read_le16(at + 6))
		return attn_fail(err, ATTN_BAD_INPUT, "archive is split over disks, expected one file");
	*d = (struct directory){read_le32(at + 16), read_le32(at + 12), read_le16(at + 10)};
	size_t limit = end; /* the directory lies before it */
	enum attn_status status = read_end64(data, end, d, &limit, err);
	if (status != ATTN_OK)
		return status;
	if (d->size > limit || d->start > limit - d->size)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "zip directory of %llu bytes at byte %llu is not inside the file",
				 (unsigned long long)d->size, (unsigned long long)d->start);
	if (d->count > d->size / CENTRAL_SIZE)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "zip directory is %llu bytes, too short for %llu members",
				 (unsigned long long)d->size, (unsigned long long)d->count);
	if (d->count > READER_MAX_NAMES)
		return attn_fail(err, ATTN_BAD_INPUT, "archive has %llu members, expected at most %d",
				 (unsigned long long)d->count, READER_MAX_NAMES);
	return ATTN_OK;
}

/* A field of the central header that is all ones stands in the zip64 extra field
 * instead: size, packed size, offset, in this order, each only if needed. */
static bool read_extra64(const unsigned char *extra, size_t length, uint64_t *size, uint64_t *packed,
			 uint64_t *offset)
{
	uint64_t *fields[] = {size, packed, offset};
	bool needed = *size == UINT32_MAX || *packed == UINT32_MAX || *offset == UINT32_MAX;
	while (needed && length >= 4) {
		size_t field = read_le16(extra + 2);
		if (field > length - 4)
			return false;
		if (read_le16(extra) != EXTRA_ZIP64) {
			extra += 4 + field;
			length -= 4 + field;
			continue;
		}
		const unsigned char *at = extra + 4;
		for (int i = 0; i < 3; i++) {
			if (*fields[i] != UINT32_MAX)
				continue;
			if ((size_t)(at - extra) + 8 > 4 + field)
				return false;
			*fields[i] = read_le64(at);
			at += 8;
		}
		return true;
	}
	return !needed;
}

/* Set start from the local header, which must lie, with the packed bytes, before
 * the directory. */
static enum attn_status locate(struct zip_member *m, const unsigned char *data, uint64_t limit,
			       uint64_t offset, uint64_t packed, struct attn_error *err)
{
	if (limit < LOCAL_SIZE || offset > limit - LOCAL_SIZE || !has_signature(data + offset, 3, 4))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.200s' is not at byte %llu as the zip directory says", m->name,
				 (unsigned long long)offset);
	const unsigned char *at = data + offset;
	uint64_t start = offset + LOCAL_SIZE + read_le16(at + 26) + read_le16(at + 28);
	if (start > limit || packed > limit - start)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.200s' has %llu bytes at byte %llu, which is not inside the file",
				 m->name, (unsigned long long)packed, (unsigned long long)start);
	m->start = (size_t)start;
	m->packed = (size_t)packed;
	return ATTN_OK;
}

static enum attn_status check_member(const struct zip_member *m, unsigned flags, uint64_t size,
				     struct attn_error *err)
{
	if (flags & (FLAG_ENCRYPTED | FLAG_STRONGLY_ENCRYPTED | FLAG_MASKED))
		return attn_fail(err, ATTN_BAD_INPUT, "'%.200s' is encrypted", m->name);
	if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.200s' is compressed by method %u, expected stored (0) or deflated (8)",
				 m->name, m->method);
	bool lies = m->method == ZIP_STORED ? size != m->packed : size / DEFLATE_RATIO > m->packed;
	if (lies || (size_t)size != size)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.200s' says it holds %llu bytes, more than its %zu can give", m->name,
				 (unsigned long long)size, m->packed);
	return ATTN_OK;
}

/* Read the central header at the start of at[left] and set *used to its length.
 * The name is the caller's to free also on failure. */
static enum attn_status read_member(struct zip_member *m, const unsigned char *data, uint64_t limit,
				    const unsigned char *at, size_t left, size_t *used,
				    struct attn_error *err)
{
	if (left < CENTRAL_SIZE || !has_signature(at, 1, 2))
		return attn_fail(err, ATTN_BAD_INPUT, "zip directory is damaged at byte %zu",
				 (size_t)(at - data));
	size_t name = read_le16(at + 28), extra = read_le16(at + 30), comment = read_le16(at + 32);
	*used = CENTRAL_SIZE + name + extra + comment;
	if (*used > left)
		return attn_fail(err, ATTN_BAD_INPUT, "zip directory is cut short at byte %zu",
				 (size_t)(at - data));
	const char *text = (const char *)at + CENTRAL_SIZE;
	if (memchr(text, '\0', name) || !utf8_valid(text, name))
		return attn_fail(err, ATTN_BAD_INPUT, "the name at byte %zu is not UTF-8 text",
				 (size_t)(at - data) + CENTRAL_SIZE);
	uint64_t packed = read_le32(at + 20), size = read_le32(at + 24), offset = read_le32(at + 42);
	m->name = strndup(text, name);
	if (!m->name)
		return attn_fail_memory(err);
	m->crc = read_le32(at + 16);
	m->method = read_le16(at + 10);
	if (!read_extra64(at + CENTRAL_SIZE + name, extra, &size, &packed, &offset))
		return attn_fail(err, ATTN_BAD_INPUT, "'%.200s' lacks its zip64 sizes", m->name);
	enum attn_status status = locate(m, data, limit, offset, packed, err);
	if (status == ATTN_OK)
		status = check_member(m, read_le16(at + 8), size, err);
	m->size = (size_t)size;
	return status;
}

static int by_start(const void *a, const void *b)
{
	const struct zip_member *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

/* Members that share bytes are how a small archive inflates to a huge one. */
static enum attn_status check_overlap(const struct zip *zip, struct attn_error *err)
{
	struct zip_member *sorted = calloc(zip->count + 1, sizeof *sorted);
	enum attn_status status = ATTN_OK;
	if (!sorted)
		return attn_fail_memory(err);
	if (zip->count > 0)
		memcpy(sorted, zip->members, zip->count * sizeof *sorted);
	qsort(sorted, zip->count, sizeof *sorted, by_start);
	for (size_t i = 1; i < zip->count && status == ATTN_OK; i++)
		if (sorted[i].start < sorted[i - 1].start + sorted[i - 1].packed)
			status =
			    attn_fail(err, ATTN_BAD_INPUT, "'%.200s' and '%.200s' share bytes of the archive",
				      sorted[i - 1].name, sorted[i].name);
	free(sorted);
	return status;
}

enum attn_status zip_open(struct zip *zip, const unsigned char *data, size_t length, struct attn_error *err)
{
	struct directory d = {0};
	*zip = (struct zip){0};
	enum attn_status status = find_directory(data, length, &d, err);
	if (status != ATTN_OK)
		return status;
	zip->members = calloc((size_t)d.count + 1, sizeof *zip->members);
	if (!zip->members)
		return attn_fail_memory(err);
	size_t at = (size_t)d.start, end = (size_t)(d.start + d.size);
	for (uint64_t i = 0; i < d.count && status == ATTN_OK; i++) {
		struct zip_member *m = &zip->members[zip->count];
		size_t used = 0;
		*m = (struct zip_member){0};
		status = read_member(m, data, d.start, data + at, end - at, &used, err);
		at += used;
		size_t name = m->name ? strlen(m->name) : 0;
		if (status != ATTN_OK || (name > 0 && m->name[name - 1] == '/'))
			free(m->name); /* a directory holds nothing */
		else
			zip->count++;
	}
	if (status == ATTN_OK && at != end)
		status = attn_fail(err, ATTN_BAD_INPUT, "zip directory has %zu bytes after its %llu members",
				   end - at, (unsigned long long)d.count);
	if (status == ATTN_OK)
		status = check_overlap(zip, err);
	if (status != ATTN_OK)
		zip_release(zip);
	return status;
}

void zip_release(struct zip *zip)
{
	for (size_t i = 0; i < zip->count; i++)
		free(zip->members[i].name);
	free(zip->members);
	*zip = (struct zip){0};
}

/* Inflate packed[m->packed] until out[count] is full.  With all of m->size nothing may
 * be left on either side. */
static enum attn_status inflate_member(const struct zip_member *m, const unsigned char *packed,
				       unsigned char *out, size_t count, struct attn_error *err)
{
	z_stream stream = {0};
	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return attn_fail_memory(err);
	size_t in_left = m->packed, out_left = count;
	unsigned char nothing; /* a place to point to when out[0] does not exist */
	stream.next_in = (z_const Bytef *)(uintptr_t)packed;
	stream.next_out = count ? out : &nothing;
	int result = Z_OK;
	while (result == Z_OK) { /* zlib counts in unsigned int */
		uInt in = in_left < UINT_MAX ? (uInt)in_left : UINT_MAX;
		uInt room = out_left < UINT_MAX ? (uInt)out_left : UINT_MAX;
		stream.avail_in = in;
		stream.avail_out = room;
		result = inflate(&stream, Z_NO_FLUSH);
		in_left -= in - stream.avail_in;
		out_left -= room - stream.avail_out;
	}
	inflateEnd(&stream);
	if (result == Z_MEM_ERROR)
		return attn_fail_memory(err);
	bool whole = count < m->size || (result == Z_STREAM_END && in_left == 0);
	if (!whole || out_left > 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "compressed data is damaged: %zu of %zu bytes could be read",
				 count - out_left, m->size);
	return ATTN_OK;
}

enum attn_status zip_peek(const struct zip_member *member, const unsigned char *data, unsigned char *out,
			  size_t count, struct attn_error *err)
{
	if (member->method == ZIP_DEFLATED)
		return inflate_member(member, data + member->start, out, count, err);
	memcpy(out, data + member->start, count);
	return ATTN_OK;
}

enum attn_status zip_extract(const struct zip_member *member, const unsigned char *data,
			     const unsigned char **bytes, unsigned char **owned, struct attn_error *err)
{
	*owned = NULL;
	*bytes = data + member->start;
	if (member->method == ZIP_DEFLATED) {
		*owned = malloc(member->size ? member->size : 1);
		if (!*owned)
			return attn_fail_memory(err);
		enum attn_status status = inflate_member(member, *bytes, *owned, member->size, err);
		*bytes = *owned;
		if (status != ATTN_OK) {
			free(*owned);
			*owned = NULL;
			return status;
		}
	}
	uint32_t crc = (uint32_t)crc32_z(0, *bytes, member->size);
	if (crc != member->crc) {
		free(*owned);
		*owned = NULL;
		return attn_fail(err, ATTN_BAD_INPUT, "data is damaged: its CRC is %08x, expected %08x", crc,
				 member->crc);
	}
	return ATTN_OK;
}
