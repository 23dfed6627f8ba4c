/* One token's attention over a picture: options, rows, and the PNG. */
#include "cmd/overlay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/picture.h"
#include "cmd/progress.h"
#include "cmd/view_ranges.h"
#include "draw/image/png.h"
#include "draw/overlay/overlay.h"
#include "util/memory.h"
#include "util/number.h"

enum {
	MOST_PATCHES = 10000 /* a side */
};

enum attn_status overlay_skip_keys(struct overlay_options *options, const struct options *o,
				   struct attn_error *err)
{
	options->skip_given = true;
	return option_count(o, 0, SIZE_MAX, &options->skip_keys, err);
}

enum attn_status overlay_patches(struct overlay_options *options, const struct options *o,
				 struct attn_error *err)
{
	char rows[24];
	size_t length = strcspn(o->value, "x");
	bool ok = o->value[length] == 'x' && length < sizeof rows;
	snprintf(rows, sizeof rows, "%.*s", (int)(ok ? length : 0), o->value);
	ok = ok && parse_count(rows, &options->patch_rows) &&
	     parse_count(o->value + length + 1, &options->patch_cols);
	if (ok && options->patch_rows - 1 < MOST_PATCHES && options->patch_cols - 1 < MOST_PATCHES)
		return ATTN_OK;
	return option_fail(o, "rows and columns of patches, such as 14x14", err);
}

/* The first option given that only matrices, or figures other than PNG, have; or NULL. */
static const char *meaningless(const struct figure_options *figure, const struct view_request *view)
{
	const struct heatmap_options *h = &figure->heatmap;
	const struct {
		bool given;
		const char *name;
	} options[] = {
	    {figure->terminal, "terminal"},
	    {h->format != CANVAS_PNG, "format"},
	    {h->cell > 0, "cell"},
	    {h->width.value > 0, "width"},
	    {h->theme != NULL, "theme"},
	    {h->transparent, "transparent"},
	    {h->font != NULL, "font"},
	    {h->font_size > 0, "font-size"},
	    {h->transpose, "transpose"},
	    {h->numbers != HEATMAP_NUMBERS_AUTO, "numbers"},
	    {view->key != NULL, "key"},
	    {view->top_keys > 0, "top-keys"},
	    {view->words, "words"},
	    {figure->ordered, "order"},
	    {figure->reduce_given, "reduce"},
	    {h->range != HEATMAP_RANGE_SHARED, "range"},
	    {h->clip > 0, "clip"},
	    {h->transform != SCALE_LINEAR, "transform"},
	    {figure->sentences, "sentences"},
	    {figure->xlabel != NULL, "xlabel"},
	    {figure->ylabel != NULL, "ylabel"},
	    {h->no_bar, "no-colorbar"},
	    {h->no_notes, "no-caption"},
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (options[i].given)
			return options[i].name;
	return NULL;
}

enum attn_status overlay_check(struct overlay_options *options, const struct figure_options *figure,
			       struct view_request *view, bool model, struct attn_error *err)
{
	if (model && !view->query) /* the model reads it, and a matrix is drawn */
		options->image = NULL;
	if (!options->image && (options->patch_rows || options->skip_given))
		return attn_fail(err, ATTN_USAGE, "'--%s' also requires '--image'",
				 options->patch_rows ? "patches" : "skip-keys");
	if (!options->image)
		return ATTN_OK;
	if ((!options->patch_rows && !model) || !view->query)
		return attn_fail(err, ATTN_USAGE, "'--image' also requires '--%s'",
				 view->query ? "patches RxC" : "query TOKEN");
	const char *option = meaningless(figure, view);
	if (option && strcmp(option, "format") == 0)
		return attn_fail(err, ATTN_USAGE, "a picture with '--image' is written as .png");
	if (option)
		return attn_fail(err, ATTN_USAGE, "'--%s' and '--image' cannot be combined", option);
	if (view_exclusion(view) && !view->renormalise)
		return attn_fail(err, ATTN_USAGE, "'%s' with '--image' also requires '--renormalise'",
				 view_exclusion(view));
	options->query = view->query;
	view->query = NULL;
	return ATTN_OK;
}

/* Everything that is made on the way, so that it is released in one place. */
struct overlay_job {
	const struct overlay_options *options;
	const struct figure_options *figure;
	const struct inputs *in;
	const struct command *self;
	size_t query;
	bool *queries; /* (queries): the one */
	struct image picture, drawn;
	struct text_engine *text;
	struct grid_consumer grids;
	struct overlay_panel *panels;
	struct string_list titles;
	struct buffer title;
};

static void job_release(struct overlay_job *job)
{
	free(job->queries);
	free(job->panels);
	image_release(&job->picture);
	image_release(&job->drawn);
	text_engine_free(job->text);
	grid_consumer_release(&job->grids);
	string_list_release(&job->titles);
	buffer_release(&job->title);
}

static enum attn_status check_keys(const struct overlay_job *job, struct attn_error *err)
{
	const struct overlay_options *o = job->options;
	size_t keys = job->in->info->shape.keys, patches = o->patch_rows * o->patch_cols;
	char skipped[60] = "", hint[60] = "";
	if (keys >= o->skip_keys && keys - o->skip_keys == patches)
		return ATTN_OK;
	if (o->skip_keys)
		snprintf(skipped, sizeof skipped, " after %zu skipped", o->skip_keys);
	if (keys > patches && keys - patches <= 8)
		snprintf(hint, sizeof hint, ", did you mean --skip-keys %zu", keys - patches);
	return attn_fail(err, ATTN_USAGE, "'--patches' does not fit: %zu keys%s, expected %zu x %zu = %zu%s",
			 keys - (keys < o->skip_keys ? keys : o->skip_keys), skipped, o->patch_rows,
			 o->patch_cols, patches, hint);
}

/* The first token of that name, or the one of that index; job->queries selects it. */
static enum attn_status find_query(struct overlay_job *job, struct attn_error *err)
{
	const struct rows_info *info = job->in->info;
	const struct range_items items = {"--query", "queries", &info->query_labels, &job->in->shown_queries};
	size_t found = 0;
	job->queries = array_alloc(info->shape.queries, sizeof *job->queries);
	if (!job->queries)
		return attn_fail_memory(err);
	TRY(range_mark(&items, job->options->query, job->queries, err));
	for (size_t i = 0; i < info->shape.queries; i++) {
		if (!job->queries[i])
			continue;
		if (found++ == 0)
			job->query = i;
		else
			job->queries[i] = false;
	}
	if (found > 1)
		report_note(job->self, "'%s' occurs %zu times: drawing the first, '#%zu'",
			    job->options->query, found, job->query);
	return ATTN_OK;
}

/* The picture, or what of it the model has seen. */
static enum attn_status read_picture(struct overlay_job *job, struct attn_error *err)
{
	const struct rect seen = job->in->model.text.seen;
	struct image whole = {0};
	TRY(picture_read(&whole, job->options->image, err));
	if (!seen.width || ((size_t)seen.width == whole.width && (size_t)seen.height == whole.height)) {
		job->picture = whole;
		return ATTN_OK;
	}
	enum attn_status status = image_init(&job->picture, (size_t)seen.width, (size_t)seen.height, err);
	for (size_t y = 0; y < job->picture.height && status == ATTN_OK; y++)
		memcpy(image_at(&job->picture, 0, y), image_at(&whole, (size_t)seen.x, (size_t)seen.y + y),
		       job->picture.width * 3);
	image_release(&whole);
	return status;
}

static enum attn_status compute(struct overlay_job *job, const struct selection *selection,
				struct attn_error *err)
{
	const struct rows_info *info = job->in->info;
	struct rows_selection rows = selection_rows(selection);
	struct grid_options grid = {.max_rows = 1, .max_cols = info->shape.keys};
	struct row_consumer *consumers[] = {&job->grids.consumer};
	rows.queries = job->queries;
	TRY(grid_consumer_init(&job->grids, &info->shape, &rows, &grid, err));
	return progress_stream(job->self, job->in->rows.source, &rows, consumers, 1, err);
}

/* "ball: layer 1, head 3 (name)", and a title for each panel. */
static enum attn_status make_panels(struct overlay_job *job, struct attn_error *err)
{
	const struct rows_info *info = job->in->info;
	const struct grid *grids = job->grids.grids;
	size_t count = job->grids.grid_count, skip = job->options->skip_keys;
	buffer_printf(&job->title, "%s: ", job->in->shown_queries.items[job->query]);
	figure_place(&job->title, info, grids, count);
	job->panels = array_alloc(count, sizeof *job->panels);
	bool ok = figure_panel_titles(info, grids, count, &job->titles);
	if (!job->panels || !ok || job->title.failed)
		return attn_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		job->panels[i] = (struct overlay_panel){grids[i].values + skip, grids[i].masked + skip,
							job->titles.items[i]};
	return ATTN_OK;
}

static enum attn_status draw(struct overlay_job *job, struct attn_error *err)
{
	TRY(make_panels(job, err));
	const struct heatmap_options *h = &job->figure->heatmap;
	struct overlay_figure figure = {
	    .picture = &job->picture,
	    .patch_rows = job->options->patch_rows,
	    .patch_cols = job->options->patch_cols,
	    .panels = job->panels,
	    .panel_count = job->grids.grid_count,
	    .title = job->figure->title ? job->figure->title : job->title.data,
	    .note = job->in->note,
	    .colormap = h->colormap,
	    .scale_max = h->scale_max,
	    .dpi = h->dpi,
	    .size = h->size,
	};
	return overlay_draw(job->text, &figure, &job->drawn, err);
}

static enum attn_status write_drawn(const struct overlay_job *job, const char *path, struct attn_error *err)
{
	struct output out = {0};
	enum attn_status status = output_open(&out, path, true, err);
	if (status == ATTN_OK)
		status = image_write_png(out.stream, &job->drawn,
					 job->figure->heatmap.dpi > 0 ? job->figure->heatmap.dpi : 96, err);
	if (status == ATTN_OK)
		status = output_commit(&out, err);
	else
		output_abort(&out);
	if (status == ATTN_OK)
		report_written(job->self, path);
	return status;
}

void overlay_fit(struct overlay_options *options, const struct inputs *in)
{
	const struct model *m = in->model.model;
	if (!m || !m->a.family->pictures)
		return;
	if (!options->skip_given)
		options->skip_keys = architecture_lead(&m->a);
	if (options->patch_rows == 0)
		options->patch_rows = options->patch_cols = m->a.image / m->a.patch;
}

enum attn_status overlay_write(const struct overlay_options *options, const struct figure_options *figure,
			       const struct inputs *in, const struct selection *selection, const char *path,
			       const struct command *self, struct attn_error *err)
{
	struct overlay_job job = {.options = options, .figure = figure, .in = in, .self = self};
	enum attn_status status = check_keys(&job, err);
	if (status == ATTN_OK && in->info->shape.signed_weights)
		status =
		    attn_fail(err, ATTN_USAGE,
			      "'--image' shows weights from 0 up, and those of differential attention may "
			      "be negative");
	if (status == ATTN_OK)
		status = find_query(&job, err);
	if (status == ATTN_OK)
		status = read_picture(&job, err);
	if (status == ATTN_OK)
		status = text_engine_new(&job.text, err);
	if (status == ATTN_OK)
		status = compute(&job, selection, err);
	if (status == ATTN_OK)
		status = draw(&job, err);
	if (status == ATTN_OK)
		status = write_drawn(&job, path, err);
	if (status == ATTN_OK && text_missing_glyphs(job.text, NULL))
		report_note(self, "no installed font has all characters of '%s'",
			    text_missing_glyphs(job.text, NULL));
	job_release(&job);
	return status;
}
