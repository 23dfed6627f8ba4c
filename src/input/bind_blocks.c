/* Block-sparse masking. */
#include <string.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "util/number.h"

#define EXAMPLE "such as 'size=64,global=1,window=3,random=2,seed=0'"

/* "key=value,..." */
static enum attn_status parse(const struct setting *s, struct block_pattern *pattern, struct attn_error *err)
{
	static const char *const names[] = {"size", "global", "window", "random", "seed"};
	size_t *const numbers[] = {&pattern->size, &pattern->global, &pattern->window, &pattern->random,
				   &pattern->seed};
	enum {
		RANDOM = 3,
		SEED,
		NAMES
	};
	bool given[NAMES] = {false};
	char copy[200], *rest = copy;
	if (strlen(s->value) >= sizeof copy)
		return setting_fail(s, "a short list, " EXAMPLE, err);
	memcpy(copy, s->value, strlen(s->value) + 1);
	while (rest && *copy) {
		const char *name = strsep(&rest, ","), *value = strchr(name, '=');
		size_t i = 0;
		while (i < NAMES && (!value || strlen(names[i]) != (size_t)(value - name) ||
				     strncmp(names[i], name, strlen(names[i])) != 0))
			i++;
		if (i == NAMES)
			return setting_fail(s, "only size, global, window, random and seed, " EXAMPLE, err);
		if (given[i])
			return setting_fail(s, "each name once, " EXAMPLE, err);
		if (!parse_count(value + 1, numbers[i]))
			return setting_fail(s, "whole numbers from 0 to 2^64 - 1, " EXAMPLE, err);
		given[i] = true;
	}
	if (given[SEED] && !given[RANDOM])
		return setting_fail(s, "'random' with 'seed', " EXAMPLE, err);
	if (pattern->size == 0)
		return setting_fail(s, "a 'size' from 1, " EXAMPLE, err);
	if (pattern->window > 0 && pattern->window % 2 == 0)
		return setting_fail(s, "an odd 'window', the query's own block in its middle, or 0 for none",
				    err);
	return ATTN_OK;
}

enum attn_status bind_blocks(struct masking *m, const struct bundle *b, struct attn_error *err)
{
	const struct setting *s = use_setting(b, ROLE_BLOCKS);
	struct block_pattern pattern = {.window = 3};
	if (!s)
		return ATTN_OK;
	enum attn_status status = parse(s, &pattern, err);
	if (status != ATTN_OK)
		return status;
	status = masking_set_blocks(m, &pattern, err);
	if (status == ATTN_BAD_INPUT)
		return setting_fail(
		    s, "a larger 'size' or a smaller 'random': there are too many pairs of blocks", err);
	return status;
}
