/* The two kinds of table that table_parse reads. */
#ifndef ATTN_FILES_TABLE_INTERNAL_H
#define ATTN_FILES_TABLE_INTERNAL_H

#include "files/cells_internal.h"
#include "input/bundle.h"

/* One weight a row, as `attn run --weights FILE.tsv` writes them, or with only a query, a key
 * and a weight.  *is_one says whether the cells are that, and only then is anything added. */
enum attn_status long_table_read(const struct cells *cells, const char *origin, bool *is_one,
				 struct bundle *out, struct attn_error *err);

/* Add labels as an implied text; takes *list over. */
enum attn_status table_add_labels(struct bundle *out, const char *name, const char *origin,
				  struct string_list *list, struct attn_error *err);

#endif
