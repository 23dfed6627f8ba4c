/* What was given for a role: looked at, or used.
 *
 * Whoever uses a tensor, list or setting marks it by asking for it through use_*; who only
 * wants to know of it asks given_*.  What nobody used at the end had no effect, which whoever
 * gave it should hear (unused.h).  All of them return NULL where nothing was given.
 */
#ifndef ATTN_INPUT_GIVEN_H
#define ATTN_INPUT_GIVEN_H

#include "input/bundle.h"

const struct tensor *given_tensor(const struct bundle *b, enum role_id role);
const struct text *given_text(const struct bundle *b, enum role_id role);
const struct setting *given_setting(const struct bundle *b, enum role_id role);

/* As a tensor or as a setting. */
bool given(const struct bundle *b, enum role_id role);

/* The first tensor of the table that is about `about` (ABOUT_...). */
const struct tensor *given_about(const struct bundle *b, unsigned about);

/* A tensor may have to be loaded, so it is not const. */
struct tensor *use_tensor(const struct bundle *b, enum role_id role);
const struct text *use_text(const struct bundle *b, enum role_id role);
const struct setting *use_setting(const struct bundle *b, enum role_id role);

#endif
