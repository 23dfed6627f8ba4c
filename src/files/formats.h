/* Readers.  Each parses (data, length) and adds all that it finds to a bundle:
 * tensors, texts, settings.  `origin` names the file in messages and tensors.
 *
 * Where a file holds an array as it is needed (row-major, native byte order,
 * not compressed) the tensor's data points into `data`, which must then outlive
 * the bundle; otherwise the tensor owns a converted copy.  Every byte is
 * hostile: sizes are checked before anything is allocated, and an error is one
 * message (ATTN_BAD_INPUT) without the file's name, which the caller puts
 * before it.  On failure the bundle may hold part of the file; release it.
 */
#ifndef ATTN_FILES_FORMATS_H
#define ATTN_FILES_FORMATS_H

#include <stddef.h>

#include "input/bundle.h"
#include "util/error.h"

enum format {
	FORMAT_UNKNOWN,
	FORMAT_JSON,
	FORMAT_NPY,
	FORMAT_NPZ,
	FORMAT_SAFETENSORS,
	FORMAT_GGUF,  /* read only */
	FORMAT_TEXT,  /* read only: a table, or a token a line */
	FORMAT_TSV,   /* written only */
	FORMAT_JSONL, /* written only */
};

/* Tell a format by its first bytes: "\x93NUMPY" is npy, "GGUF" is GGUF, "PK\3\4" or "PK\5\6" is
 * npz, eight bytes of little-endian length followed by '{' is safetensors, and
 * '{' or '[' after white space (and a UTF-8 byte order mark), before what JSON may have there,
 * is JSON; other UTF-8 is text. */
enum format format_sniff(const unsigned char *data, size_t length);

/* Tell a format by a file name's ending (".npy"), for what is written. */
enum format format_of_name(const char *path);

const char *format_name(enum format format); /* "npy" */

/* npy: one tensor, or of strings one text, without a name (""). */
enum attn_status npy_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			   struct attn_error *err);

/* npz: a zip of npy files, stored or deflated, zip64 too; a tensor's or
 * text's name is its member's without ".npy".  Only their headers are read:
 * tensor_load and text_load inflate the rest from `data`, check its CRC, and name
 * the file in their messages. */
enum attn_status npz_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			   struct attn_error *err);

/* safetensors: tensors, and from __metadata__ the known texts (JSON lists in
 * strings) and settings; other metadata keys are kept as settings too. */
enum attn_status safetensors_parse(const unsigned char *data, size_t length, const char *origin,
				   struct bundle *out, struct attn_error *err);

/* GGUF: tensors of plain numbers; keys with one value as settings.  Tensors in blocks, and lists, are
 * others. */
enum attn_status gguf_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			    struct attn_error *err);

/* JSON: see attn-formats(5).  A top-level array is one tensor or text without a
 * name (""). */
enum attn_status json_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			    struct attn_error *err);

/* A part of a JSON document, of which the rest may be anything: the array at the path `wanted`
 * ("examples.0.attn"); where that is NULL, what is called as the role it is for, if `role` is not
 * NULL.  Where neither is there, all that is: what can be read as roles as those, the rest as
 * tensors, texts and others called by their paths. */
enum attn_status json_parse_part(const unsigned char *data, size_t length, const char *origin,
				 const char *wanted, const char *role, struct bundle *out,
				 struct attn_error *err);

/* Text: a table of numbers as one tensor called "" (one with a column for weights: "weights"),
 * with its labels as implied texts, "tokens" of its rows and "source_tokens" of its columns. */
enum attn_status table_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			     struct attn_error *err);

/* Text: one string a line, as one text called "". */
enum attn_status lines_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			     struct attn_error *err);

#endif
