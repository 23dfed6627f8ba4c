/* The consumer behind the page of attn view: each (layer, batch item, head) becomes one
 * element of the page as soon as its rows are complete.
 *
 *   <script type="application/octet-stream" id="w-LAYER-BATCH-HEAD" data-max="M">BASE64</script>
 *
 * with indices of the source, the largest magnitude M of the head, and its rows as
 * page_add_row makes them, deflated (zlib, RFC 1950).  Memory is that of one head,
 * deflated, and a block of rows.
 */
#ifndef ATTN_CONSUMERS_PAGE_ROWS_H
#define ATTN_CONSUMERS_PAGE_ROWS_H

#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "attention/rows.h"
#include "consumers/page_code.h"
#include "util/buffer.h"

struct page_rows {
	struct row_consumer consumer; /* hand &page_rows.consumer to rows_stream, with all queries */
	uint64_t written;             /* bytes that went to the stream */

	/* Private. */
	const struct page_coding *coding;
	size_t queries;
	FILE *stream;
	float maximum;
	struct buffer rows, packed, text;
	z_stream deflater;
	bool deflating;
};

/* The coding and the stream must outlive the consumer.  Failed writes end the stream of rows
 * early, and are left for whoever closes `stream`. */
void page_rows_init(struct page_rows *consumer, const struct page_coding *coding,
		    const struct rows_shape *shape, FILE *stream);
void page_rows_release(struct page_rows *consumer); /* safe on a zeroed consumer */

#endif
