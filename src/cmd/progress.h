/* A line on a terminal that says how far a long run is. */
#ifndef ATTN_CMD_PROGRESS_H
#define ATTN_CMD_PROGRESS_H

#include "attention/rows.h"
#include "cmd/cmd.h"

enum {
	PROGRESS_CONSUMERS = 16 /* at most, of a stream */
};

/* rows_stream that shows its progress, where standard error is a terminal and after two
 * seconds: one line, rewritten in place and erased at the end. */
enum attn_status progress_stream(const struct command *self, struct row_source *source,
				 const struct rows_selection *selection,
				 struct row_consumer *const *consumers, size_t consumer_count,
				 struct attn_error *err);

/* Erase the line, if there is one, before something else is written. */
void progress_erase(void);

#endif
