#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/colormaps.h"
#include "cmd/figures.h"
#include "cmd/head_picture.h"
#include "cmd/overlay.h"
#include "cmd/picture_format.h"
#include "cmd/progress.h"
#include "cmd/terminal.h"
#include "cmd/view_options.h"
#include "consumers/entropy.h"
#include "draw/heatmap/order.h"
#include "result/view.h"
#include "util/memory.h"

static const char usage[] =
    "usage: attn heatmap [options] INPUT...\n"
    "       attn heatmap [options] --model MODEL --text TEXT\n"
    "\n"
    "Draw attention weights as a picture: rows are queries, columns are keys, darker is\n"
    "more.  INPUT is a file to compute from, ROLE=FILE[:TENSOR], '-', or a stored result.\n"
    "One head makes a single heatmap, several make a grid with one scale.\n"
    "\n"
    "  -o, --output FILE     where to write: x.png, x.svg or x.pdf; '-' is standard output\n"
    "                        [heatmap.png]\n"
    "      --format NAME     png, svg or pdf, where FILE does not say it [png]\n"
    "      --terminal        draw on standard output instead: colours, or characters in a pipe\n"
    "      --head LIST       heads by number or name, such as 0,3-5; mean or max of all, or of\n"
    "                        some, as in max:0,3-5 [all]\n"
    "      --layer LIST      layers of a stored result or model, or all, each a row of panels; mean\n"
    "                        or max [the first]\n" OVER_LAYERS_USAGE
    "      --mean            one mean of the heads of --head LIST, the layers of --layer LIST\n"
    "      --batch NUMBER    batch item [0]\n"
    "      --scores[=STAGE]  scores instead of weights: product (not scaled), raw (scaled), capped\n"
    "                        (after softcap) or masked (with what masks and biases add) [raw]\n"
    "      --statistic NAME  instead of weights one cell for each head, layers as rows: entropy,\n"
    "                        distance, induction or another column of attn inspect heads\n"
    "\n"
    "What is shown:\n" MATRIX_USAGE VIEW_USAGE "\n"
    "Over a picture whose patches are the keys, of one --query TOKEN:\n"
    "      --image FILE      PNG or JPEG\n"
    "      --patches RxC     rows and columns of patches\n"
    "      --skip-keys N     keys before the first patch [0]\n"
    "\n"
    "Picture:\n"
    "      --order HOW       panels by head, entropy or similarity [head]\n"
    "      --colormap NAME   ink, greys, viridis, magma, inferno, plasma, cividis, balance or\n"
    "                        purple-green; 'list' shows them [ink; with a sign balance]\n"
    "      --cell PIXELS     side of a cell [as fits]\n"
    "      --size PIXELS     longer side of the picture, at 96 dpi [as fits]\n"
    "      --width LENGTH    width on paper: 3.3in, 84mm, 240pt, 320px [as fits]\n"
    "      --dpi NUMBER      resolution of a PNG: scales text and picture [96]\n"
    "      --theme NAME      light or dark [light]\n"
    "      --transparent     no background\n"
    "      --font FAMILY     of all text [Sans]\n"
    "      --font-size PT    of labels, in points; other text in proportion [9]\n"
    "      --title TEXT      title over the picture [layer and head]\n"
    "      --transpose       rows are keys, columns are queries\n"
    "      --numbers WHEN    weights in cells: auto, on or off [auto]\n"
    "      --reduce HOW      how many weights become one cell: max or mean [max]\n"
    "      --range WHICH     the scale ends at the largest weight drawn (shared), at 1 (fixed), or\n"
    "                        for each head at its own largest (head) [shared]\n"
    "      --max X           or it ends here\n"
    "      --clip P          or at this percentile of the cells, 50 to 100\n"
    "      --transform T     linear, sqrt or log colours [linear]\n"
    "      --sentences       lines where sentences end\n"
    "      --xlabel TEXT, --ylabel TEXT\n"
    "                        titles of columns and rows; '' for none [key and query]\n"
    "      --no-colorbar     no colour bar\n"
    "      --no-caption      no caption\n"
    "      --markers WHAT    subword markers of labels: keep or drop [drop]\n";

static const char usage_end[] = "      --threads N       threads [the processors that this process may use]\n"
				"      --quiet           say nothing beside results but errors\n"
				"  -h, --help            show this help\n"
				"\n"
				"attn heatmap x.json --head 3 -o head3.png\n";

enum {
	OPTION_TERMINAL = OPTION_OWN,
	OPTION_SCORES,
	OPTION_STATISTIC,
	OPTION_PATCHES,
	OPTION_SKIP_KEYS
};

static const struct option table[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"terminal", no_argument, NULL, OPTION_TERMINAL},
    {"scores", optional_argument, NULL, OPTION_SCORES},
    {"statistic", required_argument, NULL, OPTION_STATISTIC},
    {"patches", required_argument, NULL, OPTION_PATCHES},
    {"skip-keys", required_argument, NULL, OPTION_SKIP_KEYS},
    SELECTION_OPTIONS,
    MODEL_OPTIONS,
    {"batch", required_argument, NULL, OPTION_BATCH},
    MATRIX_OPTIONS,
    VIEW_OPTIONS,
    {"order", required_argument, NULL, OPTION_ORDER},
    PICTURE_OPTIONS,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

enum panel_order {
	ORDER_HEAD,
	ORDER_ENTROPY,
	ORDER_SIMILARITY
};

struct heatmap_command {
	const char *path, *format;
	bool on_terminal;
	enum score_stage stage; /* where figure.scores is set */
	struct terminal terminal;
	const struct head_figure *statistic; /* NULL: weights or scores are drawn */
	struct overlay_options overlay;
	struct selection_options selection;
	struct view_request view;
	struct figure_options figure;
	struct inputs in;
	enum panel_order order;
	struct grid_consumer grids;
	struct entropy_consumer entropy;
	struct selection selected;
	bool first_layer, first_batch; /* chosen here, not by the user */
	struct figures figures;
};

/* A picture shows one batch item, and one layer unless more are asked for: the first,
 * unless chosen.  'first' says whether that left others out. */
static enum attn_status choose_one(const char *option, bool **chosen, size_t count, bool several, bool *first,
				   struct attn_error *err)
{
	size_t found = selection_count(*chosen, count);
	if (*chosen && found > 1 && !several)
		return attn_fail(err, ATTN_USAGE, "'%s' chooses %zu, expected one: a picture shows one",
				 option, found);
	if (*chosen)
		return ATTN_OK;
	*chosen = calloc(count, sizeof **chosen);
	if (!*chosen)
		return attn_fail_memory(err);
	(*chosen)[0] = true;
	*first = count > 1;
	return ATTN_OK;
}

/* Said once the view is known to be possible, so that what cannot be drawn is only refused. */
static void note_first(const struct heatmap_command *c, const struct command *self)
{
	const struct rows_shape *shape = &c->in.info->shape;
	if (c->first_layer)
		report_note(self, "drawing the first of %zu layers: choose with --layer", shape->layers);
	if (c->first_batch)
		report_note(self, "drawing the first of %zu batch items: choose with --batch", shape->batch);
}

static enum attn_status parse_order(struct heatmap_command *c, const struct options *o,
				    struct attn_error *err)
{
	static const char *const orders[] = {"head", "entropy", "similarity"};
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		if (strcmp(o->value, orders[i]) != 0)
			continue;
		c->order = (enum panel_order)i;
		c->figure.ordered = i > 0;
		return ATTN_OK;
	}
	return option_fail(o, "'head', 'entropy' or 'similarity'", err);
}

/* Bring the grids into the order asked for. */
static enum attn_status order_grids(struct heatmap_command *c, struct attn_error *err)
{
	struct grid *grids = c->grids.grids;
	size_t count = c->grids.grid_count;
	if (c->order == ORDER_HEAD || count == 1)
		return ATTN_OK;
	size_t *order = array_alloc(count, sizeof *order);
	double *values = array_alloc(count, sizeof *values);
	struct grid *ordered = array_alloc(count, sizeof *ordered);
	enum attn_status status = order && values && ordered ? ATTN_OK : attn_fail_memory(err);
	if (status == ATTN_OK && c->order == ORDER_ENTROPY) {
		for (size_t i = 0; i < count; i++)
			values[i] = entropy_of(&c->entropy, grids[i].batch, grids[i].layer, grids[i].head);
		status = order_by_value(values, count, order, err);
	} else if (status == ATTN_OK) {
		status = order_by_similarity(grids, count, order, err);
	}
	for (size_t i = 0; i < count && status == ATTN_OK; i++)
		ordered[i] = grids[order[i]];
	if (status == ATTN_OK)
		memcpy(grids, ordered, count * sizeof *ordered);
	free(order);
	free(values);
	free(ordered);
	c->figure.order = c->order == ORDER_ENTROPY ? "ordered by the mean entropy of rows, lowest first"
						    : "ordered so that similar heads are neighbours";
	return status;
}

static enum attn_status stream(struct heatmap_command *c, const struct command *self, struct attn_error *err)
{
	struct rows_selection rows = selection_rows(&c->selected);
	struct row_consumer *consumers[] = {&c->grids.consumer, &c->entropy.consumer};
	if (c->order == ORDER_ENTROPY)
		TRY(entropy_consumer_init(&c->entropy, &c->in.info->shape, err));
	TRY(progress_stream(self, c->in.rows.source, &rows, consumers, c->order == ORDER_ENTROPY ? 2 : 1,
			    err));
	return order_grids(c, err);
}

/* --head, --layer and --batch. */
static enum attn_status select_rows(struct heatmap_command *c, struct attn_error *err)
{
	const struct rows_info *info = c->in.info;
	TRY(selection_open(&c->selected, &c->selection, info, err));
	if (!c->statistic && c->selected.over == LAYERS_APART)
		TRY(choose_one("--layer", &c->selected.layers, info->shape.layers, true, &c->first_layer,
			       err));
	return choose_one("--batch", &c->selected.batch, info->shape.batch, false, &c->first_batch, err);
}

static enum attn_status draw(struct heatmap_command *c, const struct command *self, struct attn_error *err)
{
	struct rows_selection rows = selection_rows(&c->selected);
	enum attn_status status = view_top_keys(&c->view, &c->in, self, &rows, err);
	if (status != ATTN_OK)
		return status;
	const struct rows_info *info = c->in.info;
	if (c->statistic)
		return head_picture_write(c->statistic, &c->figure, &c->in, &c->selected, c->path, self, err);
	if (c->overlay.image)
		return overlay_write(&c->overlay, &c->figure, &c->in, &c->selected, c->path, self, err);
	size_t heads = selection_count(c->selected.heads, info->shape.heads);
	size_t layers = selection_count(c->selected.layers, info->shape.layers);
	if (layers > 1 && c->order == ORDER_HEAD)
		c->figure.heatmap.panel_columns = heads;
	status = figure_grids(&c->grids, &c->figure, info, &c->selected, layers * heads, err);
	if (status != ATTN_OK)
		return status;
	status = figures_init(&c->figures, self, &c->in, &c->figure, err);
	if (status == ATTN_OK)
		status = stream(c, self, err);
	if (status == ATTN_OK)
		status = figures_draw(&c->figures, c->grids.grids, c->grids.grid_count, c->path, err);
	return status == ATTN_OK ? figures_commit(&c->figures, err) : status;
}

static enum attn_status option_scores(struct heatmap_command *c, const struct options *o,
				      struct attn_error *err)
{
	static const char *const titles[SCORE_STAGES] = {"unscaled scores", "scores", "scores after softcap",
							 "scores with masks and biases"};
	if (!o->value)
		c->stage = SCORES_RAW;
	else if (!score_stage_find(o->value, &c->stage))
		return option_fail(o, SCORE_STAGES_EXPECTED, err);
	c->figure.scores = titles[c->stage];
	return ATTN_OK;
}

/* What is for weights that add up to 1. */
static enum attn_status check_scores(const struct heatmap_command *c, struct attn_error *err)
{
	const char *option = !c->figure.scores                                ? NULL
			     : c->overlay.image                               ? "image"
			     : c->order == ORDER_ENTROPY                      ? "order entropy"
			     : c->view.words                                  ? "words"
			     : c->view.renormalise                            ? "renormalise"
			     : c->view.top_keys > 0                           ? "top-keys"
			     : c->figure.reduction == GRID_MEAN               ? "reduce mean"
			     : c->figure.heatmap.range == HEATMAP_RANGE_FIXED ? "range fixed"
									      : NULL;
	return option ? attn_fail(err, ATTN_USAGE,
				  "'--%s' and '--scores' cannot be combined: it is for weights, of which "
				  "masked ones are 0 and the rest add up to 1",
				  option)
		      : ATTN_OK;
}

/* Make the rows ready to be streamed: weights, or scores as if they were. */
static enum attn_status plan(struct heatmap_command *c, struct attn_error *err)
{
	const struct rows_selection rows = selection_rows(&c->selected);
	const struct rows_want want = {.weights = true, .scores = 1u << c->stage};
	struct named_rows view;
	if (!c->figure.scores)
		return plan_weights(&c->in, &c->selected, err);
	TRY(inputs_plan(&c->in, &rows, want, err));
	TRY(view_scores_open(&view, &c->in.rows, c->stage, err));
	inputs_show(&c->in, &view);
	return ATTN_OK;
}

static enum attn_status parse(struct heatmap_command *c, struct options *o, bool *help,
			      struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(o, err)) != 0) {
		if (id == 'o')
			status = option_once(o, &c->path, err);
		else if (id == OPTION_FORMAT)
			status = picture_format_option(o, &c->format, &c->figure.heatmap.format, err);
		else if (id == OPTION_TERMINAL)
			c->on_terminal = true;
		else if (id == OPTION_SCORES)
			status = option_scores(c, o, err);
		else if (id == OPTION_STATISTIC)
			status = head_figure_find(o->value, &c->statistic, err);
		else if (id == OPTION_PICTURE)
			status = option_once(o, &c->overlay.image, err);
		else if (id == OPTION_PATCHES)
			status = overlay_patches(&c->overlay, o, err);
		else if (id == OPTION_SKIP_KEYS)
			status = overlay_skip_keys(&c->overlay, o, err);
		else if (id == 'h' || id == OPTION_HELP)
			*help = true;
		else if (is_model_option(id))
			status = inputs_model_option(&c->in, id, o, err);
		else if (is_selection_option(id))
			selection_option(&c->selection, id, o->value);
		else if (is_view_option(id))
			status = view_option(&c->view, id, o, err);
		else if (id == OPTION_ORDER)
			status = parse_order(c, o, err);
		else if (id == OPTION_SETTING)
			status = inputs_setting(&c->in, o, err);
		else
			status = id < 0 ? ATTN_USAGE : figure_option(&c->figure, id, o, err);
	}
	return status;
}

static enum attn_status check_path(struct heatmap_command *c, struct attn_error *err)
{
	static const char *const paths[] = {"heatmap.png", "heatmap.svg", "heatmap.pdf"};
	if (!c->path)
		c->path = paths[c->figure.heatmap.format];
	return picture_format_check(c->path, c->format, &c->figure.heatmap.format, err);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "ho:", .table = table};
	struct heatmap_command c = {.figure = {.may_list = true}};
	bool help = false;
	enum attn_status status = parse(&c, &o, &help, err);
	if (c.in.model_options.model)
		c.in.model_options.image = c.overlay.image;
	if (status == ATTN_OK && help)
		status = print_usage(self, err);
	else if (status == ATTN_OK && c.figure.list)
		status = colormaps_print(self, err);
	else if (status == ATTN_OK) {
		if (c.on_terminal && c.path)
			status = attn_fail(err, ATTN_USAGE,
					   "'-o' is for files, and cannot be combined with '--terminal'");
		else
			status = check_path(&c, err);
		if (status == ATTN_OK && c.on_terminal)
			status = terminal_choose(&c.figure, &c.terminal, c.format, err);
		if (status == ATTN_OK && c.statistic)
			status =
			    head_picture_check(&c.figure, &c.view, c.figure.scores, c.overlay.image, err);
		if (status == ATTN_OK)
			status = check_scores(&c, err);
		if (status == ATTN_OK)
			status = overlay_check(&c.overlay, &c.figure, &c.view, c.in.model_options.model, err);
		if (status == ATTN_OK)
			status = inputs_open(&c.in, self, argc - optind, argv + optind, err);
		if (status == ATTN_OK)
			overlay_fit(&c.overlay, &c.in);
		if (status == ATTN_OK && c.figure.keep_markers)
			status = view_keep_markers(&c.view, &c.in, err);
		if (status == ATTN_OK && !c.on_terminal)
			status = inputs_spare(&c.in, c.path, err);
		if (status == ATTN_OK)
			status = select_rows(&c, err);
		if (status == ATTN_OK)
			status = plan(&c, err);
		if (status == ATTN_OK)
			status = selection_join(&c.selected, &c.in, err);
		if (status == ATTN_OK)
			status = view_apply(&c.view, &c.in, self, err);
		if (status == ATTN_OK)
			note_first(&c, self);
		if (status == ATTN_OK)
			status = draw(&c, self, err);
	}
	figures_release(&c.figures);
	grid_consumer_release(&c.grids);
	entropy_consumer_release(&c.entropy);
	selection_release(&c.selected);
	view_request_release(&c.view);
	inputs_release(&c.in);
	return status;
}

const struct command command_heatmap = {"heatmap", run,      "attn heatmap", "draw weights as a picture",
					usage,     usage_end};
