/* What shows that a model computes what it should: hidden states, logits and the likeliest next
 * tokens. */
#ifndef ATTN_CMD_MODEL_OUTPUT_H
#define ATTN_CMD_MODEL_OUTPUT_H

#include "cmd/model_input.h"
#include "cmd/ranking_output.h"
#include "files/formats.h"

struct cost;

struct model_output {
	const char *hidden, *logits; /* files, or NULL */
	size_t next;                 /* so many likeliest next tokens; 0: none */
};

static inline bool model_output_wanted(const struct model_output *o)
{
	return o->hidden || o->logits || o->next > 0;
}

/* ATTN_USAGE where an input that is no model, or no decoder, is asked for them; else tell *in what to
 * compute. */
enum attn_status model_output_check(const struct model_output *o, struct model_input *in,
				    struct attn_error *err);

/* The sizes of the files, into *cost, without making them: after model_input_plan. */
enum attn_status model_output_cost(const struct model_output *o, const struct model_input *in,
				   enum format format, struct cost *cost, struct attn_error *err);

/* After rows were streamed from `source`: write the files, and the table of next tokens on standard
 * output.  `format` as for result_open. */
enum attn_status model_output_write(const struct model_output *o, const struct model_input *in,
				    const struct command *self, struct row_source *source, enum format format,
				    enum table_format table, struct attn_error *err);

#endif
