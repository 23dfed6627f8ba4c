#include "result/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"

/* --- what a shard says about itself ------------------------------------------ */

enum {
	SIZES = 7
};

static void shard_sizes(struct shard *shard, size_t *sizes[SIZES])
{
	size_t *const all[SIZES] = {&shard->layers, &shard->batch,      &shard->heads,      &shard->queries,
				    &shard->keys,   &shard->value_size, &shard->output_size};
	memcpy(sizes, all, sizeof all);
}

enum attn_status shard_describe(const struct shard *shard, struct bundle *to, struct attn_error *err)
{
	struct shard copy = *shard;
	size_t *sizes[SIZES];
	char text[200];
	int length = 0;
	snprintf(text, sizeof text, "%zu/%zu", shard->number, shard->count);
	TRY(bundle_override(to, "attn_part", text, NULL, err));
	snprintf(text, sizeof text, "%016" PRIx64, shard->run);
	TRY(bundle_override(to, "attn_run", text, NULL, err));
	shard_sizes(&copy, sizes);
	for (int i = 0; i < SIZES; i++)
		length +=
		    snprintf(text + length, sizeof text - (size_t)length, "%s%zu", i ? "," : "", *sizes[i]);
	TRY(bundle_override(to, "attn_sizes", text, NULL, err));
	TRY(bundle_override(to, "attn_tokens", shard->has_tokens ? "true" : "false", NULL, err));
	return bundle_override(to, "attn_kernel", shard->kernel, NULL, err);
}

static const char *setting_text(const struct bundle *b, const char *name)
{
	const struct setting *s = bundle_setting(b, name);
	return s ? s->value : "";
}

/* Numbers with `separator` between them, and nothing else. */
static bool parse_counts(const char *text, char separator, size_t **out, size_t count)
{
	char copy[200], *rest = copy;
	const char separators[2] = {separator, '\0'};
	if (strlen(text) >= sizeof copy)
		return false;
	memcpy(copy, text, strlen(text) + 1);
	for (size_t i = 0; i < count; i++) {
		const char *item = strsep(&rest, separators);
		if (!item || !parse_count(item, out[i]))
			return false;
	}
	return rest == NULL;
}

bool shard_read(const struct bundle *b, struct shard *shard)
{
	size_t *which[2] = {&shard->number, &shard->count}, *sizes[SIZES];
	const char *run = setting_text(b, "attn_run");
	char *end;
	*shard = (struct shard){0};
	shard_sizes(shard, sizes);
	shard->run = strtoull(run, &end, 16);
	shard->kernel = setting_text(b, "attn_kernel");
	return parse_counts(setting_text(b, "attn_part"), '/', which, 2) && shard->number >= 1 &&
	       shard->number <= shard->count && shard->count <= SHARDS_MAX && *run && *end == '\0' &&
	       parse_counts(setting_text(b, "attn_sizes"), ',', sizes, SIZES) && shard->layers > 0 &&
	       shard->batch > 0 && shard->heads > 0 && shard->queries > 0 && shard->keys > 0 &&
	       (shard->value_size > 0 || shard->output_size == 0) &&
	       parse_bool(setting_text(b, "attn_tokens"), &shard->has_tokens);
}

void shard_range(const struct shard *shard, size_t blocks, size_t *first, size_t *last)
{
	/* blocks * number / count, without its overflow */
	size_t whole = blocks / shard->count, rest = blocks % shard->count;
	*first = whole * (shard->number - 1) + rest * (shard->number - 1) / shard->count;
	*last = whole * shard->number + rest * shard->number / shard->count;
}

bool bundle_is_shard(const struct bundle *b)
{
	return bundle_setting(b, "attn_part") != NULL;
}

const char *shard_name(const struct bundle *b)
{
	return origin_name(bundle_setting(b, "attn_part")->origin);
}

/* --- all of them ------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	struct shard x, y;
	shard_read(a, &x);
	shard_read(b, &y);
	return (x.number > y.number) - (x.number < y.number);
}

static enum attn_status check_shard(const struct bundle *b, const struct bundle *first, const char *version,
				    struct attn_error *err)
{
	struct shard shard, model;
	if (strcmp(setting_text(b, "version"), version) != 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' is of version '%s', expected '%s', as this program", shard_name(b),
				 setting_text(b, "version"), version);
	if (!shard_read(b, &shard))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' has damaged settings, expected what 'attn run --shard' writes",
				 shard_name(b));
	shard_read(first, &model);
	if (shard.count != model.count)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' is one of %zu shards and '%s' one of %zu, expected shards of one run",
				 shard_name(first), model.count, shard_name(b), shard.count);
	model.number = shard.number;
	model.kernel = shard.kernel;
	if (shard.run != model.run || shard.layers != model.layers || shard.batch != model.batch ||
	    shard.heads != model.heads || shard.queries != model.queries || shard.keys != model.keys ||
	    shard.value_size != model.value_size || shard.output_size != model.output_size ||
	    shard.has_tokens != model.has_tokens)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is a shard of another run than '%s'",
				 shard_name(b), shard_name(first));
	return ATTN_OK;
}

/* Sorted shards: each number once. */
static enum attn_status check_numbers(const struct bundle *shards, size_t count, struct attn_error *err)
{
	struct shard shard, before = {0};
	size_t missing = 0;
	for (size_t i = 0; i <= count; i++) {
		if (i < count)
			shard_read(&shards[i], &shard);
		else
			shard.number = shard.count + 1; /* what should come after the last */
		if (i > 0 && shard.number == before.number)
			return attn_fail(err, ATTN_BAD_INPUT, "'%s' and '%s' are the same shard, %zu of %zu",
					 shard_name(&shards[i - 1]), shard_name(&shards[i]), shard.number,
					 shard.count);
		if (!missing && shard.number > before.number + 1)
			missing = before.number + 1;
		before = shard;
	}
	if (!missing)
		return ATTN_OK;
	size_t more = shard.count - count - 1;
	if (more == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "shard %zu of %zu is missing", missing, shard.count);
	return attn_fail(err, ATTN_BAD_INPUT, "shard %zu of %zu is missing, and %zu more", missing,
			 shard.count, more);
}

enum attn_status shards_check(struct bundle *shards, size_t count, const char *version,
			      struct string_list *notes, struct attn_error *err)
{
	char note[400];
	struct shard shard, first;
	for (size_t i = 0; i < count; i++)
		TRY(check_shard(&shards[i], &shards[0], version, err));
	qsort(shards, count, sizeof *shards, by_number);
	TRY(check_numbers(shards, count, err));
	shard_read(&shards[0], &first);
	for (size_t i = 1; i < count; i++) {
		shard_read(&shards[i], &shard);
		if (strcmp(shard.kernel, first.kernel) == 0)
			continue;
		snprintf(
		    note, sizeof note,
		    "'%s' was computed by kernel '%.40s' and '%s' by '%.40s', which may differ in the last "
		    "digit",
		    shard_name(&shards[0]), first.kernel, shard_name(&shards[i]), shard.kernel);
		return string_list_add(notes, note) ? ATTN_OK : attn_fail_memory(err);
	}
	return ATTN_OK;
}
