/* Fuzz target of result/shards.c: a safetensors file as the only part of a run, opened for
 * each of the things that a run may want, and read row by row.
 */
#include <stdint.h>

#include "files/formats.h"
#include "result/shards.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	(void)consumer;
	(void)err;
	if (block->masked > block->count)
		__builtin_trap();
	return ATTN_OK;
}

static void open_part(const uint8_t *data, size_t length, struct rows_want want)
{
	struct row_consumer consumer = {.consume = consume};
	struct row_consumer *consumers[] = {&consumer};
	struct attn_error err = {0};
	struct opened_parts opened = {0};
	struct string_list notes = {0};
	struct bundle part;
	bundle_init(&part);
	enum attn_status status = safetensors_parse(data, length, "file", &part, &err);
	if (status == ATTN_OK && bundle_is_shard(&part)) {
		const struct setting *version =
		    bundle_setting(&part, "version"); /* the corpus does not age */
		status =
		    shards_open(&opened, &part, 1, version ? version->value : "0.1.0", want, &notes, &err);
		if (status == ATTN_OK)
			status = rows_stream(opened.rows.source, NULL, consumers, 1, &err);
	}
	if (status != ATTN_OK && !err.message[0])
		__builtin_trap(); /* a failure says why */
	named_rows_release(&opened.rows);
	string_list_release(&notes);
	bundle_release(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	open_part(data, length, (struct rows_want){.weights = true});
	open_part(data, length, (struct rows_want){.context = true});
	open_part(data, length, (struct rows_want){.weights = true, .context = true});
	return 0;
}
