/* Zip archives as npz files are: a directory of members, each stored or
 * deflated. */
#ifndef ATTN_FILES_ZIP_INTERNAL_H
#define ATTN_FILES_ZIP_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct zip_member {
	char *name;    /* owned; UTF-8 */
	size_t packed; /* bytes in the file */
	size_t size;   /* bytes once inflated, as the file says */
	uint32_t crc;  /* of the inflated bytes */
	unsigned method;
	size_t start; /* offset of the packed bytes; start + packed is in the file */
};

enum {
	ZIP_STORED = 0,
	ZIP_DEFLATED = 8
};

struct zip {
	struct zip_member *members; /* owned; directories are left out */
	size_t count;
};

/* Read the directory of the archive in data[length]: every member is stored or
 * deflated, not encrypted, and overlaps no other.  On failure *zip is empty. */
enum attn_status zip_open(struct zip *zip, const unsigned char *data, size_t length, struct attn_error *err);
void zip_release(struct zip *zip);

/* Its first `count` bytes, which must be no more than it has, into out[count].  They
 * are not checked against the CRC. */
enum attn_status zip_peek(const struct zip_member *member, const unsigned char *data, unsigned char *out,
			  size_t count, struct attn_error *err);

/* The member's bytes, checked against its CRC: a pointer into `data`, or heap
 * memory that is also put in *owned (else NULL). */
enum attn_status zip_extract(const struct zip_member *member, const unsigned char *data,
			     const unsigned char **bytes, unsigned char **owned, struct attn_error *err);

#endif
