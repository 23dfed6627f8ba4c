/* Overlays as a figure: panels, a colour bar, words. */
#include <stdio.h>
#include <string.h>

#include "draw/heatmap/theme.h"
#include "draw/heatmap/ticks.h"
#include "draw/heatmap/wording.h"
#include "draw/overlay/overlay_internal.h"
#include "util/minmax.h"

enum {
	LEAST_SIDE = 24,    /* pixels of a panel's longer side */
	MOST_SINGLE = 800,  /* of one panel, at 96 dpi: larger pictures are scaled down */
	GROWN_SINGLE = 512, /* up to which smaller ones grow, by whole factors */
	MOST_PANEL = 320,   /* of one among several */
	MOST_SMALL = 160,   /* of one among many */
	MANY = 16,
	BAR_HEIGHT = 360 /* at most */
};

/* What the colour bar shows the scale over. */
static const struct rgb middle_grey = {0x80, 0x80, 0x80};
/* Where everything in the figure goes. */
struct overlay_layout {
	int width, height;             /* of the picture */
	int panel_width, panel_height; /* inside the frames */
	int first_x, first_y, pitch_x, pitch_y;
	int title_y, title_width, notes_y;
	struct rect bar;
};

struct overlay_drawing {
	const struct overlay_figure *figure;
	struct text_engine *text;
	const struct theme *theme;
	struct rgb table[OVERLAY_LEVELS];
	double scale, top, highest;
	bool any_masked;
	size_t across, down; /* panels */
	struct buffer notes;
	struct overlay_layout layout;
};

static int scaled(const struct overlay_drawing *d, double pixels)
{
	return int_max(1, (int)(pixels * d->scale + 0.5));
}

static struct text_style small_style(const struct overlay_drawing *d, int limit)
{
	return (struct text_style){.size = scaled(d, 11), .max_width = limit};
}

static struct text_style notes_style(const struct overlay_drawing *d, int limit)
{
	return (struct text_style){.size = scaled(d, 11), .max_width = limit, .wrap = true};
}

static struct text_style title_style(const struct overlay_drawing *d, int limit)
{
	return (struct text_style){.size = scaled(d, 15), .max_width = limit, .wrap = true};
}

static int text_height(const struct overlay_drawing *d, const char *text, struct text_style style, int gap)
{
	if (!text || !*text)
		return 0;
	struct text_box box = text_measure(d->text, text, style);
	return box.above + box.below + gap;
}

static size_t bar_ticks(const struct overlay_drawing *d, struct tick *ticks)
{
	struct scale scale = scale_make(d->top, 0, SCALE_LINEAR);
	return ticks_make(&scale, d->layout.bar.height, scaled(d, 20), ticks);
}

static int bar_label_width(const struct overlay_drawing *d)
{
	struct tick ticks[TICKS_MAX];
	int widest = text_measure(d->text, "weight", small_style(d, 0)).width - scaled(d, 22);
	for (size_t i = 0, count = bar_ticks(d, ticks); i < count; i++)
		widest = int_max(widest, text_measure(d->text, ticks[i].text, small_style(d, 0)).width);
	return int_max(widest, 0);
}

static bool panel_titles(const struct overlay_drawing *d)
{
	return d->figure->panel_count > 1;
}

/* Place everything for panels of this size. */
static void lay_out(struct overlay_drawing *d, int panel_width, int panel_height)
{
	struct overlay_layout *l = &d->layout;
	int margin = scaled(d, 12), gap = scaled(d, 14), line = scaled(d, 1), small = scaled(d, 6);
	int label = text_height(d, "weight", small_style(d, 0), 0);
	int title_above = panel_titles(d) ? text_height(d, "head 0", small_style(d, 0), small) : 0;
	*l = (struct overlay_layout){.panel_width = panel_width, .panel_height = panel_height};
	l->pitch_x = panel_width + 2 * line + gap;
	l->pitch_y = panel_height + 2 * line + gap + title_above;
	int panels_width = (int)d->across * l->pitch_x - gap, panels_height = (int)d->down * l->pitch_y - gap;
	l->bar.width = scaled(d, 14);
	l->bar.height = int_max(scaled(d, 40), int_min(panels_height - title_above - 2 * line - label - small,
						       scaled(d, BAR_HEIGHT)));
	l->bar.x = margin + panels_width + gap + line;
	l->width = l->bar.x + l->bar.width + scaled(d, 8) + bar_label_width(d) + margin;
	l->title_width = l->width - 2 * margin;
	l->title_y = margin;
	l->first_x = margin + line;
	l->first_y = margin + text_height(d, d->figure->title, title_style(d, l->title_width), scaled(d, 8)) +
		     title_above + line;
	l->bar.y = l->first_y + label + small;
	l->notes_y = int_max(l->first_y - line - title_above + panels_height,
			     l->bar.y + l->bar.height + scaled(d, 8)) +
		     scaled(d, 8);
	l->height = l->notes_y + margin - scaled(d, 8);
	if (d->notes.length > 0)
		l->height += text_height(d, d->notes.data, notes_style(d, l->title_width), scaled(d, 8));
}

/* The same for a picture whose longer side is this long. */
static void lay_out_side(struct overlay_drawing *d, size_t side)
{
	const struct image *p = d->figure->picture;
	size_t longer = size_max(p->width, p->height);
	lay_out(d, (int)size_max(1, (p->width * side + longer / 2) / longer),
		(int)size_max(1, (p->height * side + longer / 2) / longer));
}

static size_t automatic_side(const struct overlay_drawing *d)
{
	size_t longer = size_max(d->figure->picture->width, d->figure->picture->height);
	size_t panels = d->figure->panel_count, most = panels == 1 ? MOST_SINGLE : MOST_PANEL;
	most = (size_t)scaled(d, panels > MANY ? MOST_SMALL : (double)most);
	size_t grown = panels == 1 ? (size_t)scaled(d, GROWN_SINGLE) : most;
	return longer > most ? most : longer * size_max(1, grown / longer);
}

/* The longest side with which all fits into `size`, which is then filled. */
static enum attn_status fit(struct overlay_drawing *d, size_t size, struct attn_error *err)
{
	int wanted = scaled(d, (double)size);
	size_t low = LEAST_SIDE, high = size_max((size_t)wanted, low) + 1;
	lay_out_side(d, low);
	int least = int_max(d->layout.width, d->layout.height);
	if (least > wanted)
		return attn_fail(err, ATTN_USAGE,
				 "the picture does not fit into --size %zu: give --size %d or more", size,
				 (int)((double)least / d->scale + 1));
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		lay_out_side(d, middle);
		if (int_max(d->layout.width, d->layout.height) <= wanted)
			low = middle;
		else
			high = middle;
	}
	lay_out_side(d, low);
	if (d->layout.width >= d->layout.height)
		d->layout.width = wanted;
	else
		d->layout.height = wanted;
	return ATTN_OK;
}

/* Look at all weights: the top of the scale, and whether some are masked. */
static void survey(struct overlay_drawing *d)
{
	const struct overlay_figure *f = d->figure;
	for (size_t i = 0; i < f->panel_count; i++) {
		for (size_t k = 0; k < f->patch_rows * f->patch_cols; k++) {
			d->any_masked |= f->panels[i].masked && f->panels[i].masked[k];
			if ((double)f->panels[i].weights[k] > d->highest)
				d->highest = (double)f->panels[i].weights[k];
		}
	}
	d->top = f->scale_max > 0 ? f->scale_max : d->highest;
	d->top = d->top > 0 ? d->top : 1;
}

static void add_notes(struct overlay_drawing *d)
{
	char text[160], highest[32], top[32];
	snprintf(highest, sizeof highest, "%.3g", d->highest);
	snprintf(top, sizeof top, "%.3g", d->top);
	if (d->highest > d->top && strcmp(highest, top) != 0) { /* else it is rounding */
		snprintf(text, sizeof text, "weights above %s (up to %s) have the colour of %s", top, highest,
			 top);
		note_add(&d->notes, text);
	}
	if (d->any_masked)
		note_add(&d->notes, "hatched patches are masked");
	note_add(&d->notes, d->figure->note);
}

static void paint_bar(const struct overlay_drawing *d, struct image *out)
{
	struct rect bar = d->layout.bar;
	struct text_style style = small_style(d, 0);
	struct tick ticks[TICKS_MAX];
	int line = scaled(d, 1), tick = scaled(d, 4);
	struct text_box box = text_measure(d->text, "weight", style);
	text_paint(d->text, out, "weight", style, bar.x - line, bar.y - scaled(d, 6) - box.below,
		   TEXT_HORIZONTAL, d->theme->ink);
	image_fill(out,
		   (struct rect){bar.x - line, bar.y - line, bar.width + 2 * line, bar.height + 2 * line},
		   d->theme->frame);
	for (int i = 0; i < bar.height; i++) {
		double share = (double)i / int_max(1, bar.height - 1);
		image_fill(out, (struct rect){bar.x, bar.y + bar.height - 1 - i, bar.width, 1},
			   overlay_blend(middle_grey, overlay_colour(d->table, share), share,
					 overlay_is_light(d->table)));
	}
	for (size_t i = 0, count = bar_ticks(d, ticks); i < count; i++) {
		int at = (int)(ticks[i].share * (bar.height - 1) + 0.5);
		int x = bar.x + bar.width + line, y = bar.y + bar.height - 1 - at;
		box = text_measure(d->text, ticks[i].text, style);
		image_fill(out, (struct rect){x, y - line / 2, tick, line}, d->theme->frame);
		text_paint(d->text, out, ticks[i].text, style, x + tick + scaled(d, 3),
			   y + (box.above + 1) / 2, TEXT_HORIZONTAL, d->theme->ink);
	}
}

static void paint_panel(const struct overlay_drawing *d, const struct image *picture, size_t index,
			struct image *out)
{
	const struct overlay_figure *f = d->figure;
	const struct overlay_layout *l = &d->layout;
	int x = l->first_x + (int)(index % d->across) * l->pitch_x;
	int y = l->first_y + (int)(index / d->across) * l->pitch_y, line = scaled(d, 1);
	size_t patch =
	    size_min((size_t)l->panel_width / f->patch_cols, (size_t)l->panel_height / f->patch_rows);
	struct overlay_style style = {.patch_rows = f->patch_rows,
				      .patch_cols = f->patch_cols,
				      .table = d->table,
				      .light = overlay_is_light(d->table),
				      .top = d->top,
				      .line = patch >= 8 * (size_t)line ? line : 0,
				      .hatch = line};
	image_fill(out,
		   (struct rect){x - line, y - line, l->panel_width + 2 * line, l->panel_height + 2 * line},
		   d->theme->frame);
	overlay_paint(&style, &f->panels[index], picture, out, x, y);
	const char *title = f->panels[index].title;
	if (!panel_titles(d) || !title || !*title)
		return;
	struct text_style small = small_style(d, l->panel_width);
	struct text_box box = text_measure(d->text, title, small);
	text_paint(d->text, out, title, small, x + (l->panel_width - box.width) / 2,
		   y - line - scaled(d, 4) - box.below, TEXT_HORIZONTAL, d->theme->ink);
}

static void paint_words(const struct overlay_drawing *d, struct image *out)
{
	const struct overlay_layout *l = &d->layout;
	struct text_style title = title_style(d, l->title_width), notes = notes_style(d, l->title_width);
	const char *text = d->figure->title;
	if (text && *text)
		text_paint(d->text, out, text, title, l->first_x,
			   l->title_y + text_measure(d->text, text, title).above, TEXT_HORIZONTAL,
			   d->theme->ink);
	if (d->notes.length > 0)
		text_paint(d->text, out, d->notes.data, notes, l->first_x,
			   l->notes_y + text_measure(d->text, d->notes.data, notes).above, TEXT_HORIZONTAL,
			   d->theme->soft_ink);
}

static enum attn_status paint(struct overlay_drawing *d, struct image *out, struct attn_error *err)
{
	struct image picture = {0};
	enum attn_status status = image_resize(d->figure->picture, (size_t)d->layout.panel_width,
					       (size_t)d->layout.panel_height, &picture, err);
	if (status == ATTN_OK)
		status = image_init(out, (size_t)d->layout.width, (size_t)d->layout.height, err);
	for (size_t i = 0; i < d->figure->panel_count && status == ATTN_OK; i++)
		paint_panel(d, &picture, i, out);
	if (status == ATTN_OK) {
		paint_bar(d, out);
		paint_words(d, out);
		status = text_engine_status(d->text, err);
	}
	image_release(&picture);
	if (status != ATTN_OK)
		image_release(out);
	return status;
}

enum attn_status overlay_draw(struct text_engine *text, const struct overlay_figure *figure,
			      struct image *out, struct attn_error *err)
{
	const struct image *p = figure->picture;
	struct overlay_drawing d = {
	    .figure = figure, .text = text, .theme = theme_default(), .notes = BUFFER_INIT};
	enum attn_status status = ATTN_OK;
	*out = (struct image){0};
	d.scale = (figure->dpi > 0 ? figure->dpi : 96.0) / 96.0;
	colormap_fill(figure->colormap ? figure->colormap : overlay_colormap(), BACKGROUND_LIGHT, d.table,
		      OVERLAY_LEVELS);
	d.across = layout_columns(figure->panel_count, (double)p->width * 1.05, (double)p->height * 1.12);
	d.down = (figure->panel_count + d.across - 1) / d.across;
	survey(&d);
	add_notes(&d);
	if ((double)figure->size * d.scale > IMAGE_MAX_SIDE)
		status = attn_fail(err, ATTN_USAGE,
				   "--size %zu at %g dpi is too large, expected at most %d pixels",
				   figure->size, 96 * d.scale, (int)(IMAGE_MAX_SIDE / d.scale));
	else if (figure->size)
		status = fit(&d, figure->size, err);
	else
		lay_out_side(&d, automatic_side(&d));
	if (status == ATTN_OK && d.notes.failed)
		status = attn_fail_memory(err);
	if (status == ATTN_OK)
		status = paint(&d, out, err);
	buffer_release(&d.notes);
	return status;
}
