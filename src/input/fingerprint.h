/* A number that tells inputs apart. */
#ifndef ATTN_INPUT_FINGERPRINT_H
#define ATTN_INPUT_FINGERPRINT_H

#include <stdint.h>

#include "input/bundle.h"

/* Of all that has a role: bytes, types, shapes, strings and settings, in whatever
 * order they came.  The same input in another format may have another one. */
enum attn_status bundle_fingerprint(const struct bundle *b, uint64_t *fingerprint, struct attn_error *err);

#endif
