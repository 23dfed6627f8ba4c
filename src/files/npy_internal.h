/* The npy reader in its parts, as the npz reader uses it. */
#ifndef ATTN_FILES_NPY_INTERNAL_H
#define ATTN_FILES_NPY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "input/bundle.h"
#include "input/tensor.h"
#include "util/error.h"

enum {
	UCS4_SIZE = 4,  /* bytes a character of dtype U */
	NPY_START = 12, /* bytes before the dictionary at most: magic, version, length */
};

struct npy_header {
	enum dtype dtype;
	size_t item;    /* bytes of a string element; 0 where elements are of `dtype` */
	char type[24];  /* what is not computed with, such as "object"; "" for all else */
	char descr[64]; /* its dtype as the file has it; "" for all else */
	bool wide;      /* its characters are UCS-4 (dtype U), else bytes (S) */
	bool swap;      /* the elements are not in this machine's byte order */
	bool fortran;   /* first index fastest */
	int rank;
	size_t shape[TENSOR_MAX_RANK];
	size_t body; /* offset of the elements; not beyond the end of the file */
};

/* Check how the array in data[length] starts and set h's `body` alone, of which it
 * needs the first NPY_START bytes. */
enum attn_status npy_header_measure(const unsigned char *data, size_t length, size_t *body,
				    struct attn_error *err);
enum attn_status npy_header_parse(const unsigned char *data, size_t length, struct npy_header *h,
				  struct attn_error *err);

/* The error for elements whose `type` is not read; `origin` names the file that holds them. */
enum attn_status npy_fail_type(const struct npy_header *h, const char *origin, struct attn_error *err);

/* Whether strings are a list (or one, which may be a setting), or one for each batch item. */
bool npy_is_list(const struct npy_header *h);

/* Whether `found` bytes of elements are what the header says. */
enum attn_status npy_check_size(const struct npy_header *h, size_t found, struct attn_error *err);

/* Add what the npy file in data[length] holds to the bundle as a tensor or text
 * called `name`.  `owned` is the heap memory that `data` lies in, which is taken
 * over (also on failure), or NULL: then a tensor may point into `data`.  Messages
 * do not say the name. */
enum attn_status npy_add(const unsigned char *data, size_t length, unsigned char *owned, const char *name,
			 const char *origin, struct bundle *out, struct attn_error *err);

#endif
