/* Weights of a page: encoded, deflated and written head by head. */
#include "consumers/page_rows.h"

#include <limits.h>
#include <math.h>

#include "util/base64.h"
#include "util/minmax.h"

/* Deflate what `rows` holds into `packed`; Z_FINISH ends the head. */
static enum attn_status pack(struct page_rows *s, int flush, struct attn_error *err)
{
	unsigned char out[32768];
	size_t done = 0;
	bool more = true;
	while (more) {
		size_t part = size_min(s->rows.length - done, UINT_MAX);
		bool last = done + part == s->rows.length;
		s->deflater.next_in = (Bytef *)s->rows.data + done;
		s->deflater.avail_in = (uInt)part;
		do {
			s->deflater.next_out = out;
			s->deflater.avail_out = sizeof out;
			if (deflate(&s->deflater, last ? flush : Z_NO_FLUSH) == Z_STREAM_ERROR)
				return attn_fail_memory(err);
			buffer_add(&s->packed, out, sizeof out - s->deflater.avail_out);
		} while (s->deflater.avail_out == 0);
		done += part;
		more = !last;
	}
	buffer_clear(&s->rows);
	return s->packed.failed ? attn_fail_memory(err) : ATTN_OK;
}

static enum attn_status begin_head(struct page_rows *s, struct attn_error *err)
{
	s->maximum = 0;
	buffer_clear(&s->packed);
	int made =
	    s->deflating ? deflateReset(&s->deflater) : deflateInit(&s->deflater, Z_DEFAULT_COMPRESSION);
	if (made != Z_OK)
		return attn_fail_memory(err);
	s->deflating = true;
	return ATTN_OK;
}

static enum attn_status end_head(struct page_rows *s, const struct row_block *block, struct attn_error *err)
{
	buffer_clear(&s->text);
	buffer_printf(&s->text, "<script type=\"application/octet-stream\" id=\"w-%zu-%zu-%zu\" data-max=\"",
		      block->layer, block->batch, block->head);
	buffer_add_float(&s->text, s->maximum);
	buffer_add_string(&s->text, "\">");
	buffer_add_base64(&s->text, s->packed.data, s->packed.length);
	buffer_add_string(&s->text, "</script>\n");
	if (s->text.failed)
		return attn_fail_memory(err);
	fwrite(s->text.data, 1, s->text.length, s->stream);
	s->written += s->text.length;
	return ATTN_OK;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct page_rows *s = (struct page_rows *)consumer;
	enum attn_status status = block->query == 0 ? begin_head(s, err) : ATTN_OK;
	for (size_t r = 0; r < block->count && status == ATTN_OK; r++) {
		const float *weights = block->weights + r * block->keys;
		const unsigned char *cells = block->cells + r * block->keys;
		bool last = block->query + r + 1 == s->queries;
		for (size_t k = 0; k < block->keys; k++)
			if (cell_has_weight(cells[k]) && fabsf(weights[k]) > s->maximum)
				s->maximum = fabsf(weights[k]);
		page_add_row(&s->rows, s->coding, weights, cells, block->keys);
		if (s->rows.failed)
			return attn_fail_memory(err);
		status = pack(s, last ? Z_FINISH : Z_NO_FLUSH, err);
	}
	return status == ATTN_OK && block->query + block->count == s->queries ? end_head(s, block, err)
									      : status;
}

static bool done(struct row_consumer *consumer)
{
	return ferror(((struct page_rows *)consumer)->stream) != 0;
}

void page_rows_init(struct page_rows *consumer, const struct page_coding *coding,
		    const struct rows_shape *shape, FILE *stream)
{
	*consumer = (struct page_rows){
	    .consumer = {.consume = consume, .done = done},
	    .coding = coding,
	    .queries = shape->queries,
	    .stream = stream,
	};
}

void page_rows_release(struct page_rows *consumer)
{
	if (consumer->deflating)
		deflateEnd(&consumer->deflater);
	buffer_release(&consumer->rows);
	buffer_release(&consumer->packed);
	buffer_release(&consumer->text);
	*consumer = (struct page_rows){0};
}
