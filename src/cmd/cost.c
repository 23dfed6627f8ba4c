#include "cmd/cost.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/grid.h"
#include "consumers/ranking.h"
#include "draw/heatmap/heatmap.h"
#include "kernels/kernels.h"
#include "util/buffer.h"
#include "util/minmax.h"
#include "util/threads.h"

/* Measured: what a process has before it does anything, and with fonts loaded; a label
 * in its lists; a PNG's labels and frame. */
enum {
	PROGRAM_BYTES = 4 << 20,
	FONTS_BYTES = 36 << 20,
	LABEL_BYTES = 160,
	PICTURE_BYTES = 13000,
	GRID_BYTES = 5,  /* memory of a cell */
	IMAGE_BYTES = 5, /* of a picture's pixel, while it is drawn */
};

enum attn_status cost_add_file(struct cost *cost, const char *path, uint64_t bytes, bool exact,
			       struct attn_error *err)
{
	struct cost_file *files = reallocarray(cost->files, cost->file_count + 1, sizeof *files);
	if (!files)
		return attn_fail_memory(err);
	cost->files = files;
	files[cost->file_count] = (struct cost_file){strdup(path), bytes, exact};
	return files[cost->file_count++].path ? ATTN_OK : attn_fail_memory(err);
}

void cost_release(struct cost *cost)
{
	for (size_t i = 0; i < cost->file_count; i++)
		free(cost->files[i].path);
	free(cost->files);
	*cost = (struct cost){0};
}

/* Cells of a panel of a picture that has `panels`. */
static enum attn_status panel_cells(const struct rows_info *info, const struct run_options *r, size_t panels,
				    size_t *cells, struct attn_error *err)
{
	size_t rows, cols;
	enum attn_status status = heatmap_limits(info->shape.queries, info->shape.keys, panels,
						 &r->figure.heatmap, &rows, &cols, err);
	*cells = 0;
	if (status == ATTN_OK)
		*cells = grid_factor(info->shape.queries, grid_factor(info->shape.queries, rows)) *
			 grid_factor(info->shape.keys, grid_factor(info->shape.keys, cols));
	return status;
}

static enum attn_status add_pictures(struct cost *cost, const struct rows_info *info,
				     const struct run_options *r, struct attn_error *err)
{
	size_t single, small = 0, planes = info->shape.layers * info->shape.batch;
	enum attn_status status = panel_cells(info, r, 1, &single, err);
	if (status == ATTN_OK && info->shape.heads > 1)
		status = panel_cells(info, r, info->shape.heads, &small, err);
	if (status != ATTN_OK)
		return status;
	cost->grids = GRID_BYTES * (single + small * info->shape.heads);
	cost->program += FONTS_BYTES + IMAGE_BYTES * single;
	struct buffer name = BUFFER_INIT;
	size_t pictures = planes * (info->shape.heads + (info->shape.heads > 1));
	buffer_printf(&name, "%s/*.png (%zu)", r->heatmaps ? r->heatmaps : r->directory, pictures);
	status = name.failed
		     ? attn_fail_memory(err)
		     : cost_add_file(cost, name.data,
				     (uint64_t)pictures * PICTURE_BYTES +
					 (uint64_t)planes * info->shape.heads * (single + small) * 2 / 3,
				     false, err);
	buffer_release(&name);
	return status;
}

static enum attn_status add_ranking(struct cost *cost, const struct rows_info *info,
				    const struct run_options *r, struct attn_error *err)
{
	size_t lists = info->shape.layers * info->shape.batch * info->shape.heads * info->shape.queries;
	size_t kept = size_min(r->top, info->shape.keys), token = 0;
	struct buffer path = BUFFER_INIT;
	cost->rankings = lists * (kept * sizeof(struct ranked) + sizeof(size_t));
	for (size_t i = 0; i < info->shape.queries; i++)
		token += strlen(info->query_labels.items[i]);
	size_t line = 32 + 2 * token / info->shape.queries; /* numbers, and two tokens */
	if (r->everything)
		buffer_printf(&path, "%s/rankings.tsv", r->directory);
	else
		buffer_add_string(&path, r->rankings);
	enum attn_status status =
	    path.failed
		? attn_fail_memory(err)
		: cost_add_file(cost, path.data,
				(uint64_t)lists * kept *
				    (r->rankings_format == TABLE_TSV || r->everything ? line : line + 90),
				false, err);
	buffer_release(&path);
	return status;
}

static enum attn_status work_out(struct cost *cost, const struct inputs *in, const struct run_options *r,
				 struct attn_error *err)
{
	const struct rows_info *info = in->info;
	size_t rows = info->shape.batch * info->shape.queries;
	for (size_t i = 0; i < in->bundle.tensor_count; i++) {
		const struct tensor *t = &in->bundle.tensors[i];
		cost->inputs +=
		    t->count * (dtype_size(t->dtype) + (t->dtype == DTYPE_F32 ? 0 : sizeof(float)));
	}
	cost->inputs += masking_bytes(in->subject.masking);
	cost->program = PROGRAM_BYTES + (info->shape.queries + info->shape.keys) * LABEL_BYTES;
	cost->plan = in->plan.cost; /* nothing where rows are read */
	if (in->model.model && !in->subject.attention)
		TRY(model_rows_cost(in->all, &cost->plan, err));
	if (r->only_vectors)
		cost->plan.attention = 0;
	if (in->plan.want.context)
		cost->results = rows * in->subject.output->context_size * sizeof(float);
	if (r->everything || r->output)
		cost->results += rows * subject_output_size(&in->subject) * sizeof(float);
	else if (!in->model.model)
		cost->plan.output = 0;
	if (r->everything || r->rankings)
		TRY(add_ranking(cost, info, r, err));
	if (r->everything || r->heatmaps)
		TRY(add_pictures(cost, info, r, err));
	return ATTN_OK;
}

struct line {
	const char *name;
	double value;
	const char *unit;
};

static void print_json(struct buffer *out, const struct cost *cost, const struct line *lines, size_t count,
		       const char *kernel)
{
	buffer_add_string(out, "{\"version\": 1");
	for (size_t i = 0; i < count; i++)
		buffer_printf(out, ",\n \"%s\": %.0f", lines[i].name, lines[i].value);
	buffer_printf(out, ",\n \"kernel\": \"%s\",\n \"files\": [", kernel);
	for (size_t i = 0; i < cost->file_count; i++) {
		buffer_add_string(out, i ? ",\n  {\"path\": " : "\n  {\"path\": ");
		buffer_add_json_string(out, cost->files[i].path);
		buffer_printf(out, ", \"bytes\": %llu, \"exact\": %s}",
			      (unsigned long long)cost->files[i].bytes,
			      cost->files[i].exact ? "true" : "false");
	}
	buffer_add_string(out, cost->file_count ? "\n]}\n" : "]}\n");
}

/* "12.3 MiB", or "1.2e+09" of what is no size. */
static void add_amount(struct buffer *out, double value, const char *unit)
{
	if (strcmp(unit, "bytes") == 0)
		buffer_add_size(out, value);
	else
		buffer_printf(out, "%.4g %s", value, unit);
}

static void print_table(struct buffer *out, const struct cost *cost, const struct line *lines, size_t count,
			const char *kernel, bool tsv)
{
	if (tsv)
		buffer_add_string(out, "name\tvalue\tunit\n");
	for (size_t i = 0; i < count; i++) {
		if (tsv) {
			buffer_printf(out, "%s\t%.0f\t%s\n", lines[i].name, lines[i].value, lines[i].unit);
			continue;
		}
		buffer_printf(out, "%-18s ", lines[i].name);
		add_amount(out, lines[i].value, lines[i].unit);
		buffer_add_char(out, '\n');
	}
	buffer_printf(out, tsv ? "kernel\t%s\tname\n" : "kernel             %s\n", kernel);
	for (size_t i = 0; i < cost->file_count; i++) {
		const struct cost_file *file = &cost->files[i];
		if (tsv) {
			buffer_add_tsv(out, file->path);
			buffer_printf(out, "\t%llu\t%s\n", (unsigned long long)file->bytes,
				      file->exact ? "bytes" : "about bytes");
			continue;
		}
		buffer_add_clean(out, file->path);
		buffer_add_string(out, file->exact ? ": " : ": about ");
		add_amount(out, (double)file->bytes, "bytes");
		buffer_add_char(out, '\n');
	}
}

enum attn_status cost_print(struct cost *cost, const struct command *self, const struct inputs *in,
			    const struct run_options *r, struct attn_error *err)
{
	enum attn_status status = work_out(cost, in, r, err);
	if (status != ATTN_OK)
		return status;
	const struct kernels *kernels = kernels_best();
	const char *kernel = kernels_name(r->scores ? NULL : kernels);
	size_t threads = threads_count();
	double workspace = (double)cost->plan.workspace * (double)threads;
	double memory = workspace + (double)cost->inputs + (double)cost->plan.projected +
			(double)cost->results + (double)cost->rankings + (double)cost->grids +
			(double)cost->program;
	const struct line lines[] = {
	    {"projections", cost->plan.projections, "multiply-adds"},
	    {"attention", cost->plan.attention, "multiply-adds"},
	    {"output_projection", cost->plan.output, "multiply-adds"},
	    {"inputs", (double)cost->inputs, "bytes"},
	    {"projected", (double)cost->plan.projected, "bytes"},
	    {"results", (double)cost->results, "bytes"},
	    {"workspace", workspace, "bytes"},
	    {"rankings", (double)cost->rankings, "bytes"},
	    {"grids", (double)cost->grids, "bytes"},
	    {"program", (double)cost->program, "bytes"},
	    {"memory", memory, "bytes"},
	    {"threads", (double)threads, "threads"},
	};
	enum table_format format = table_format_settle(r->table_format);
	struct buffer text = BUFFER_INIT;
	size_t count = sizeof lines / sizeof *lines;
	if (format == TABLE_JSON)
		print_json(&text, cost, lines, count, kernel);
	else
		print_table(&text, cost, lines, count, kernel, format == TABLE_TSV);
	status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}
