#include "cmd/model_output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/columns.h"
#include "cmd/cost.h"
#include "files/tensor_writer.h"
#include "result/result_file.h"
#include "tokenizer/tokenizer.h"
#include "tokens/token.h"
#include "util/memory.h"
#include "util/minmax.h"

enum attn_status model_output_check(const struct model_output *o, struct model_input *in,
				    struct attn_error *err)
{
	const char *option = o->hidden ? "hidden" : o->logits ? "logits" : o->next > 0 ? "next" : NULL;
	if (option && !in->model)
		return attn_fail(err, ATTN_USAGE, "'--%s' is of a model: it also requires --model", option);
	if (o->next > 0 && !in->model->a.family->causal && !in->model->a.family->pictures)
		return attn_fail(err, ATTN_USAGE,
				 "'--next' is for decoders, which predict the next token, and for classes of "
				 "pictures, and '%s' is an "
				 "encoder (%s)",
				 checkpoint_path(in->model->checkpoint), in->model->a.family->title);
	in->hidden = o->hidden != NULL;
	in->logits = o->logits != NULL;
	in->last_logits = o->next > 0;
	return ATTN_OK;
}

/* --- files ----------------------------------------------------------------------- */

static enum attn_status copy_tokens(struct bundle *labels, const struct string_list *tokens,
				    struct attn_error *err)
{
	struct string_list copy = {0};
	for (size_t i = 0; i < tokens->count; i++) {
		if (!string_list_add(&copy, tokens->items[i])) {
			string_list_release(&copy);
			return attn_fail_memory(err);
		}
	}
	return bundle_add_text(labels, "tokens", NULL, &copy, err);
}

/* A tensor of the model's, and the file that it goes to. */
struct model_file {
	const char *path;
	struct tensor_spec spec;
};

static struct model_file hidden_file(const struct model_output *o, const struct model_input *in)
{
	return (struct model_file){
	    o->hidden,
	    {.name = "hidden",
	     .dtype = DTYPE_F32,
	     .rank = 3,
	     .axes = {{.name = "layer", .length = in->model->a.layers + 1},
		      {.name = "token", .length = in->text.count, .labels = &in->text.tokens},
		      {.name = "column", .length = in->model->a.width}}}};
}

/* Tokens that have logits: a picture has those of its classes, at the first. */
static size_t predicting(const struct model_input *in)
{
	return in->model->a.family->pictures ? 1 : in->text.count;
}

static struct model_file logits_file(const struct model_output *o, const struct model_input *in)
{
	return (struct model_file){
	    o->logits,
	    {.name = "logits",
	     .value_name = "logit",
	     .dtype = DTYPE_F32,
	     .rank = 2,
	     .axes = {{.name = "token", .length = predicting(in), .labels = &in->text.tokens},
		      {.name = "id", .length = model_outputs(in->model)}}}};
}

static enum attn_status file_size(const struct model_file *file, const struct model_input *in,
				  enum format format, struct cost *cost, struct attn_error *err)
{
	struct bundle labels;
	uint64_t size;
	bool exact;
	bundle_init(&labels);
	enum attn_status status = result_format(file->path, &format, err);
	if (status == ATTN_OK)
		status = copy_tokens(&labels, &in->text.tokens, err);
	if (status == ATTN_OK)
		status = tensor_writer_size(format, &file->spec, 1, &labels, &size, &exact, err);
	if (status == ATTN_OK)
		status = cost_add_file(cost, file->path, size, exact, err);
	bundle_release(&labels);
	return status;
}

enum attn_status model_output_cost(const struct model_output *o, const struct model_input *in,
				   enum format format, struct cost *cost, struct attn_error *err)
{
	if (o->hidden) {
		const struct model_file hidden = hidden_file(o, in);
		TRY(file_size(&hidden, in, format, cost, err));
	}
	if (!o->logits)
		return ATTN_OK;
	const struct model_file logits = logits_file(o, in);
	return file_size(&logits, in, format, cost, err);
}

static enum attn_status write_tensor(const struct command *self, const struct model_file *file,
				     const struct model_input *in, enum format format, const float *numbers,
				     struct attn_error *err)
{
	struct tensor_writer *writer = NULL;
	struct bundle labels;
	size_t count = 1;
	bundle_init(&labels);
	for (int axis = 0; axis < file->spec.rank; axis++)
		count *= file->spec.axes[axis].length;
	enum attn_status status = result_format(file->path, &format, err);
	if (status == ATTN_OK)
		status = copy_tokens(&labels, &in->text.tokens, err);
	if (status == ATTN_OK)
		status = tensor_writer_open(&writer, file->path, format, &file->spec, 1, &labels, err);
	if (status == ATTN_OK)
		status = tensor_writer_put(writer, 0, numbers, count, err);
	if (status == ATTN_OK)
		status = tensor_writer_commit(writer, err);
	else
		tensor_writer_abort(writer);
	bundle_release(&labels);
	if (status == ATTN_OK)
		report_written(self, file->path);
	return status;
}

/* --- the next token ----------------------------------------------------------------- */

struct likely {
	size_t id;
	float logit;
};

/* The highest first, and of equals the lower id. */
static int by_logit(const void *a, const void *b)
{
	const struct likely *x = a, *y = b;
	if (x->logit != y->logit)
		return x->logit < y->logit ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

/* log of the sum of e^logit. */
static double log_sum(const float *logits, size_t count)
{
	double highest = -INFINITY, sum = 0;
	for (size_t i = 0; i < count; i++)
		highest = fmax(highest, (double)logits[i]);
	for (size_t i = 0; i < count; i++)
		sum += exp((double)logits[i] - highest);
	return highest + log(sum);
}

/* A token of the vocabulary, or the name of a class. */
static const char *token_of(const struct model_input *in, size_t id)
{
	char key[40];
	snprintf(key, sizeof key, "id2label.%zu", id);
	if (in->model->a.family->pictures)
		return config_text(checkpoint_config(in->model->checkpoint), key, "");
	const char *token = in->text.tokenizer ? tokenizer_token(in->text.tokenizer, id) : NULL;
	return token ? token : "";
}

static void add_next(struct buffer *out, const struct model_input *in, const struct likely *l, size_t rank,
		     double probability, enum table_format format)
{
	bool json = format == TABLE_JSON || format == TABLE_JSONL;
	buffer_printf(out, json ? "{\"rank\":%zu,\"id\":%zu,\"token\":" : "%zu\t%zu\t", rank, l->id);
	if (json)
		buffer_add_json_string(out, token_of(in, l->id));
	else
		buffer_add_tsv(out, token_of(in, l->id));
	buffer_add_string(out, json ? ",\"probability\":" : "\t");
	buffer_add_float(out, (float)probability);
	buffer_add_string(out, json ? "}" : "\n");
}

/* The cells of a line of text. */
struct next_line {
	char rank[24], probability[FIGURE_SIZE];
};

static struct next_line line_of(const struct likely *ranked, size_t i, double whole)
{
	struct next_line line;
	snprintf(line.rank, sizeof line.rank, "%zu", i + 1);
	figure_format(exp((double)ranked[i].logit - whole), line.probability);
	return line;
}

/* "1  time  0.42", with tokens as people read them.  False: no memory. */
static bool add_text(struct buffer *out, const struct model_input *in, const struct likely *ranked,
		     size_t count, double whole)
{
	struct string_list raw = {0}, shown = {0};
	struct column ranks = {0}, tokens = {.left = true}, probabilities = {0};
	bool ok = true;
	for (size_t i = 0; i < count && ok; i++)
		ok = string_list_add(&raw, token_of(in, ranked[i].id));
	ok = ok && tokens_shown(&raw, &shown);
	for (size_t i = 0; i < count && ok; i++) {
		const struct next_line line = line_of(ranked, i, whole);
		column_measure(&ranks, line.rank);
		column_measure(&tokens, shown.items[i]);
		column_measure(&probabilities, line.probability);
	}
	for (size_t i = 0; i < count && ok; i++) {
		const struct next_line line = line_of(ranked, i, whole);
		column_add(&ranks, out, line.rank);
		column_add(&tokens, out, shown.items[i]);
		column_add(&probabilities, out, line.probability);
		columns_end(out);
	}
	string_list_release(&raw);
	string_list_release(&shown);
	return ok;
}

static void add_table(struct buffer *out, const struct model_input *in, const struct likely *ranked,
		      size_t count, double whole, enum table_format format)
{
	if (format == TABLE_JSON)
		buffer_add_string(out, "[");
	else if (format == TABLE_TSV)
		buffer_add_string(out, "rank\tid\ttoken\tprobability\n");
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && format == TABLE_JSON)
			buffer_add_string(out, ",\n ");
		add_next(out, in, &ranked[i], i + 1, exp((double)ranked[i].logit - whole), format);
		if (format == TABLE_JSONL)
			buffer_add_string(out, "\n");
	}
	if (format == TABLE_JSON)
		buffer_add_string(out, "]\n");
}

static enum attn_status write_next(const struct command *self, const struct model_input *in,
				   const float *logits, size_t most, enum table_format format,
				   struct attn_error *err)
{
	size_t outputs = model_outputs(in->model), count = size_min(most, outputs);
	double whole = log_sum(logits, outputs);
	struct likely *ranked = array_alloc(outputs, sizeof *ranked);
	struct buffer text = BUFFER_INIT;
	if (!ranked)
		return attn_fail_memory(err);
	for (size_t i = 0; i < outputs; i++)
		ranked[i] = (struct likely){i, logits[i]};
	qsort(ranked, outputs, sizeof *ranked, by_logit);
	bool ok = true;
	if (format == TABLE_TEXT)
		ok = add_text(&text, in, ranked, count, whole);
	else
		add_table(&text, in, ranked, count, whole, format);
	enum attn_status status = ok ? write_text(self, "-", &text, err) : attn_fail_memory(err);
	free(ranked);
	buffer_release(&text);
	return status;
}

/* --- all of them ------------------------------------------------------------------------ */

enum attn_status model_output_write(const struct model_output *o, const struct model_input *in,
				    const struct command *self, struct row_source *source, enum format format,
				    enum table_format table, struct attn_error *err)
{
	TRY(model_rows_finish(source, err));
	const float *logits = model_rows_logits(source);
	const struct model_file hidden_to = hidden_file(o, in), logits_to = logits_file(o, in);
	if (o->hidden)
		TRY(write_tensor(self, &hidden_to, in, format, model_rows_hidden(source), err));
	if (o->logits)
		TRY(write_tensor(self, &logits_to, in, format, logits, err));
	if (o->next == 0)
		return ATTN_OK;
	if (o->logits)
		logits += (predicting(in) - 1) * model_outputs(in->model);
	return write_next(self, in, logits, o->next, table, err);
}
