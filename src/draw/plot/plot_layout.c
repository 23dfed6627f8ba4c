/* Where the parts of a plot go. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/plot/plot_internal.h"
#include "util/minmax.h"

/* Lengths in pixels at 96 dpi, in proportion to text. */
enum {
	MARGIN = 14,       /* around all */
	TITLE = 15,        /* em */
	LABEL = 12,        /* em */
	GAP = 8,           /* between parts */
	ROW_GAP = 22,      /* between rows of panels */
	COLUMN_GAP = 26,   /* and columns */
	TICK = 4,          /* length of a mark */
	SAMPLE = 22,       /* line in the legend */
	ENTRY_GAP = 20,    /* between entries of it */
	PANEL = 290,       /* width of one of several, with its labels, where none is asked for */
	SINGLE = 520,      /* and of the only one */
	LEAST_PANEL = 190, /* the least of one beside others */
	LEAST_AREA = 60,   /* and of what is between the axes */
	LEAST_HEIGHT = 110,
	X_MARKS = 6,
	Y_MARKS = 5,
};

struct text_style plot_style(int size, int width)
{
	return (struct text_style){.size = size, .max_width = width, .wrap = width > 0};
}

static int scaled(const struct plot_layout *l, double pixels)
{
	return (int)lround(pixels * l->unit);
}

static struct text_box label_box(const struct plot_drawing *d, const char *text)
{
	return text_measure(d->text, text, plot_style(d->layout.label_size, 0));
}

/* How many panels stand side by side. */
static size_t count_columns(const struct plot_drawing *d, int inner)
{
	size_t panels = d->figure->panel_count, columns = panels <= 3 ? panels : (panels + 1) / 2;
	int least = scaled(&d->layout, LEAST_PANEL);
	while (columns > 4 || (columns > 1 && inner / (int)columns < least))
		columns--;
	return columns;
}

static void make_axes(struct plot_drawing *d)
{
	for (size_t p = 0; p < d->figure->panel_count; p++) {
		axis_make(&d->layout.panels[p].x, &d->figure->panels[p], false, X_MARKS);
		axis_make(&d->layout.panels[p].y, &d->figure->panels[p], true, Y_MARKS);
	}
}

/* The widest label left of any panel. */
static int left_width(const struct plot_drawing *d)
{
	int widest = 0;
	for (size_t p = 0; p < d->figure->panel_count; p++)
		for (size_t i = 0; i < d->layout.panels[p].y.tick_count; i++)
			widest = int_max(widest, label_box(d, d->layout.panels[p].y.ticks[i].text).width);
	return widest + scaled(&d->layout, TICK + 2);
}

static bool already_named(const struct plot_layout *l, const char *name)
{
	for (size_t i = 0; i < l->legend_count; i++)
		if (strcmp(l->legend[i].series->name, name) == 0)
			return true;
	return false;
}

/* Entries from left to right, in as many lines as they need; returns where the last ends. */
static int lay_out_legend(struct plot_drawing *d, int y)
{
	struct plot_layout *l = &d->layout;
	int left = scaled(l, MARGIN), x = left, line = label_box(d, "Mg").above + scaled(l, GAP);
	y += line;
	for (size_t p = 0; p < d->figure->panel_count; p++) {
		const struct plot_panel *panel = &d->figure->panels[p];
		for (size_t s = 0; s < panel->series_count; s++) {
			const char *name = panel->series[s].name;
			if (!name || l->legend_count == LEGEND_ENTRIES || already_named(l, name))
				continue;
			int text = l->sample + scaled(l, GAP);
			int width = text + label_box(d, name).width;
			if (x > left && x + width > l->width - left) {
				x = left;
				y += line;
			}
			l->legend[l->legend_count++] =
			    (struct legend_entry){&panel->series[s], x, y, x + text};
			x += width + scaled(l, ENTRY_GAP);
		}
	}
	return l->legend_count ? y + scaled(l, GAP) : y - line;
}

/* Labels of x that would touch the one before are not written. */
static void thin_labels(const struct plot_drawing *d, struct panel_layout *panel)
{
	int end = -1;
	bool any = false;
	for (size_t i = 0; i < panel->x.tick_count; i++) {
		struct axis_tick *tick = &panel->x.ticks[i];
		int width = label_box(d, tick->text).width;
		int start = (int)lround(tick->share * panel->area.width) - width / 2;
		tick->labelled = !any || start > end + d->layout.label_size / 2;
		if (!tick->labelled)
			continue;
		end = start + width;
		any = true;
	}
}

/* The panels in rows below `y`; returns where they end. */
static int lay_out_panels(struct plot_drawing *d, size_t columns, int y)
{
	struct plot_layout *l = &d->layout;
	int left = left_width(d), margin = scaled(l, MARGIN), gap = scaled(l, COLUMN_GAP);
	int outer = (l->width - 2 * margin - gap * (int)(columns - 1)) / (int)columns;
	int width = outer - left - scaled(l, GAP), height = int_max(width * 2 / 3, scaled(l, LEAST_HEIGHT));
	struct text_box line = label_box(d, "Mg0");
	int end = y;
	for (size_t p = 0; p < d->figure->panel_count; p++) {
		struct panel_layout *panel = &l->panels[p];
		if (p % columns == 0 && p > 0)
			y = end + scaled(l, ROW_GAP);
		int top =
		    y + (d->figure->panels[p].title ? line.above + line.below + scaled(l, GAP) : line.above);
		panel->title_y = y + line.above;
		panel->area =
		    (struct rect){margin + left + (int)(p % columns) * (outer + gap), top, width, height};
		bool titled = d->figure->panels[p].x.title != NULL;
		int below = scaled(l, TICK + 2) + (line.above + line.below) * (titled ? 2 : 1) +
			    (titled ? scaled(l, GAP / 2) : 0);
		end = int_max(end, top + height + below);
		thin_labels(d, panel);
	}
	return end;
}

/* The width that is asked for, or fits so many panels. */
static enum attn_status find_width(struct plot_drawing *d, struct attn_error *err)
{
	const struct plot_options *o = &d->figure->options;
	double unit = canvas_units(o->format, o->dpi),
	       most = IMAGE_MAX_SIDE * (o->format == CANVAS_PNG ? 1 : unit);
	size_t columns = count_columns(d, 4 * scaled(&d->layout, LEAST_PANEL));
	double width = columns > 1 ? PANEL * (double)columns * d->layout.unit : SINGLE * d->layout.unit;
	if (o->width.value > 0)
		width = length_pixels(o->width) * unit;
	if (!(width <= most))
		return attn_fail(err, ATTN_USAGE, "--width %g%s is too large, expected at most %d pixels",
				 o->width.value, length_unit_name(o->width.unit), IMAGE_MAX_SIDE);
	d->layout.width = (int)lround(width);
	return ATTN_OK;
}

enum attn_status plot_lay_out(struct plot_drawing *d, struct attn_error *err)
{
	const struct plot_figure *f = d->figure;
	struct plot_layout *l = &d->layout;
	l->unit = canvas_units(f->options.format, f->options.dpi) *
		  (f->options.font_size > 0 ? f->options.font_size / 9.0 : 1.0);
	l->title_size = scaled(l, TITLE);
	l->label_size = scaled(l, LABEL);
	l->sample = scaled(l, SAMPLE);
	TRY(find_width(d, err));
	make_axes(d);
	int margin = scaled(l, MARGIN), inner = l->width - 2 * margin, y = margin;
	if (inner - left_width(d) < scaled(l, LEAST_AREA))
		return attn_fail(err, ATTN_USAGE,
				 "the plot has no room in so small a width: give a larger --width "
				 "or a smaller --font-size");
	l->text_width = inner;
	if (f->title) {
		struct text_box box = text_measure(d->text, f->title, plot_style(l->title_size, inner));
		l->title_y = y + box.above;
		y += box.above + box.below + scaled(l, GAP);
	}
	y = lay_out_legend(d, y) + scaled(l, GAP);
	y = lay_out_panels(d, count_columns(d, inner), y);
	if (*d->note) {
		struct text_box box = text_measure(d->text, d->note, plot_style(l->label_size, inner));
		l->note_y = y + scaled(l, 2 * GAP) + box.above;
		y = l->note_y + box.below;
	}
	l->height = y + margin;
	return text_engine_status(d->text, err);
}
