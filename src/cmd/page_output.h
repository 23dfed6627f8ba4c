/* A web page in the making: a file, and a consumer of the rows that it shows. */
#ifndef ATTN_CMD_PAGE_OUTPUT_H
#define ATTN_CMD_PAGE_OUTPUT_H

#include <stdint.h>

#include "cmd/inputs.h"
#include "consumers/page_rows.h"
#include "files/output.h"

/* What a page shows. */
struct page_request {
	const struct inputs *in;
	const struct selection *selected;
	const char *path;                /* "-" is standard output */
	const char *title;               /* NULL: the names, and how a model's text begins */
	const struct string_list *names; /* of its inputs; NULL: those of `in` */
	bool difference;                 /* its weights are A - B */
};

struct page_output {
	struct page_rows rows; /* hand &rows.consumer to rows_stream, with what is selected */

	/* Private. */
	struct page_coding coding;
	struct output out;
	uint64_t before; /* bytes of what stands before the rows */
};

/* Open the file and write what stands before the rows.  ATTN_USAGE where a page cannot hold them. */
enum attn_status page_output_open(struct page_output *p, const struct page_request *r,
				  const struct command *self, struct attn_error *err);

/* After streaming: make the file appear. */
enum attn_status page_output_commit(struct page_output *p, struct attn_error *err);
void page_output_release(struct page_output *p); /* safe on a zeroed one: drops what is not committed */

#endif
