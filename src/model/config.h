/* The settings of a model, as its families ask for them: config.json of a folder, or the keys of a
 * GGUF file.
 *
 * A key is a name at the top, or a path such as "rope_parameters.rope_theta" or "lists.0", where that
 * is a list; a name that has dots itself is found first.  A key whose value is null is absent, except to
 * config_is_null.  A key that comes twice has its last value, as Python's reader has it.
 *
 * Messages name file, key, what was found and what was expected:
 * "'bert/config.json': 'num_hidden_layers' is "x", expected a whole number from 1 to 10000".
 */
#ifndef ATTN_MODEL_CONFIG_H
#define ATTN_MODEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct config;

enum {
	/* Bounds for sizes of any model, so that products of a few of them need no care for signs
	 * or doubles; what allocates still multiplies through util/checked.h. */
	CONFIG_LAYERS_MAX = 10000,
	CONFIG_SIZE_MAX = 1 << 30,
};

/* Fallbacks that stand for "required": absent is then an error. */
#define CONFIG_REQUIRED SIZE_MAX /* of config_size; config_number's is NAN */

/* Read a JSON document: config_open a file, of at most 8 MB, or config_parse the text of one, which
 * `origin` stands for in messages.  ATTN_FAILED: it cannot be read; ATTN_BAD_INPUT: it is no JSON
 * object.  Free by config_free (NULL is allowed). */
enum attn_status config_open(struct config **out, const char *path, struct attn_error *err);
enum attn_status config_parse(struct config **out, const unsigned char *data, size_t length,
			      const char *origin, struct attn_error *err);
void config_free(struct config *c);

const char *config_origin(const struct config *c); /* its file, as messages have it */

bool config_has(const struct config *c, const char *key);
bool config_is_null(const struct config *c, const char *key);

/* A string, which lives as long as the config; `fallback` where the key is absent or no string. */
const char *config_text(const struct config *c, const char *key, const char *fallback);

/* Values of one kind in a range; `fallback`, which is not held to the range, where the key is
 * absent.  ATTN_BAD_INPUT, and *out not set, where it is required and absent, or something else. */
enum attn_status config_size(const struct config *c, const char *key, size_t fallback, size_t least,
			     size_t most, size_t *out, struct attn_error *err);
enum attn_status config_number(const struct config *c, const char *key, double fallback, double least,
			       double most, double *out, struct attn_error *err);
enum attn_status config_word(const struct config *c, const char *key, const char *fallback, const char **out,
			     struct attn_error *err);
enum attn_status config_bool(const struct config *c, const char *key, bool fallback, bool *out,
			     struct attn_error *err);

/* The length of a list, 0 where there is none; item `i` as a string, or NULL; as a number, or NAN. */
size_t config_list(const struct config *c, const char *key);
const char *config_list_text(const struct config *c, const char *key, size_t i);
double config_list_number(const struct config *c, const char *key, size_t i);

/* ATTN_BAD_INPUT: "'FILE': 'KEY' is FOUND, expected EXPECTED", or "is missing" where it is absent. */
enum attn_status config_fail(const struct config *c, const char *key, const char *expected,
			     struct attn_error *err);

#endif
