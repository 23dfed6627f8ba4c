/* Little-endian integers at any address, and what the readers share. */
#ifndef ATTN_FILES_BYTES_INTERNAL_H
#define ATTN_FILES_BYTES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct tensor;

enum {
	HOST_IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,

	/* Tensors (or metadata keys) a file may hold: a bundle is searched name by
	 * name, so that a hostile file with a million names would take hours. */
	READER_MAX_NAMES = 16384,
};

static inline uint16_t read_le16(const unsigned char *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t read_le32(const unsigned char *at)
{
	return read_le16(at) | (uint32_t)read_le16(at + 2) << 16;
}

static inline uint64_t read_le64(const unsigned char *at)
{
	return read_le32(at) | (uint64_t)read_le32(at + 4) << 32;
}

/* Let *t have the elements data[bytes] of a file, little-endian and as many as it says: where they are,
 * or on a big-endian host a converted copy.  On failure *t is released. */
enum attn_status tensor_take_le(struct tensor *t, const unsigned char *data, size_t bytes,
				struct attn_error *err);

#endif
