/* The strokes and texts of a plot. */
#include <math.h>

#include "draw/plot/plot_internal.h"
#include "util/minmax.h"

/* Okabe and Ito (2008), and on a dark background lighter ones. */
static const struct rgb colours[2][PLOT_COLOURS] = {
    [BACKGROUND_LIGHT] = {{0x00, 0x72, 0xb2},
			  {0xd5, 0x5e, 0x00},
			  {0x00, 0x9e, 0x73},
			  {0xcc, 0x79, 0xa7},
			  {0x56, 0xb4, 0xe9},
			  {0x80, 0x80, 0x80}},
    [BACKGROUND_DARK] = {{0x56, 0xb4, 0xe9},
			 {0xff, 0x8c, 0x42},
			 {0x2c, 0xcb, 0x9b},
			 {0xe5, 0x9b, 0xc3},
			 {0xf0, 0xe4, 0x42},
			 {0xaa, 0xaa, 0xaa}},
};

/* Lengths in pixels at 96 dpi, in proportion to text. */
#define LINE 2.0
#define THIN_LINE 1.2
#define DOT 7.0
#define RING 1.8 /* the line of a marker that is a ring */
#define DASH 5.0
#define HALO 1.2 /* of the background, around a marker */

enum {
	TICK = 4,
	GAP = 8,
	MANY_DOTS = 60 /* points of a line that are not marked one by one */
};

static struct rgb colour_of(const struct plot_drawing *d, const struct plot_series *series)
{
	return colours[d->theme->kind][series->colour % PLOT_COLOURS];
}

static int scaled(const struct plot_drawing *d, double pixels)
{
	return int_max((int)lround(pixels * d->layout.unit), 1);
}

static void put_text(const struct plot_drawing *d, struct canvas *canvas, const char *text, int x, int y,
		     enum canvas_anchor anchor, struct rgb colour)
{
	struct canvas_text t = {.text = text,
				.style = plot_style(d->layout.label_size, 0),
				.x = x,
				.y = y,
				.anchor = anchor,
				.colour = colour};
	int width = text_measure(d->text, text, t.style).width;
	t.x -= anchor == CANVAS_END ? width : anchor == CANVAS_MIDDLE ? width / 2 : 0;
	canvas->class->text(canvas, &t);
}

static void put_paragraph(const struct plot_drawing *d, struct canvas *canvas, const char *text, int size,
			  int y, struct rgb colour)
{
	const struct canvas_text t = {.text = text,
				      .style = plot_style(size, d->layout.text_width),
				      .x = (d->layout.width - d->layout.text_width) / 2,
				      .y = y,
				      .colour = colour};
	canvas->class->text(canvas, &t);
}

static void put_stroke(struct canvas *canvas, const struct canvas_point *points, size_t count, double width,
		       struct rgb colour)
{
	const struct canvas_stroke s = {points, count, width, colour};
	canvas->class->stroke(canvas, &s);
}

static void put_marker(const struct plot_drawing *d, struct canvas *canvas, struct canvas_point at,
		       const struct plot_series *series)
{
	double unit = d->layout.unit;
	put_stroke(canvas, &at, 1, (DOT + 2 * HALO) * unit, d->theme->background);
	put_stroke(canvas, &at, 1, DOT * unit, colour_of(d, series));
	if (series->colour % 2)
		put_stroke(canvas, &at, 1, (DOT - 2 * RING) * unit, d->theme->background);
}

static void put_dashes(const struct plot_drawing *d, struct canvas *canvas, const struct canvas_point *points,
		       size_t count, struct rgb colour)
{
	double dash = DASH * d->layout.unit, drawn = 0;
	for (size_t i = 1; i < count; i++) {
		struct canvas_point a = points[i - 1], b = points[i];
		double length = hypot(b.x - a.x, b.y - a.y);
		for (double at = 0; at < length;) {
			double left = dash - fmod(drawn, dash),
			       step = fmin(fmax(left, dash / 100), length - at);
			double from = at / length, to = (at + step) / length;
			const struct canvas_point part[2] = {
			    {a.x + from * (b.x - a.x), a.y + from * (b.y - a.y)},
			    {a.x + to * (b.x - a.x), a.y + to * (b.y - a.y)}};
			if ((long)floor(drawn / dash + 1e-6) % 2 == 0)
				put_stroke(canvas, part, 2, THIN_LINE * d->layout.unit, colour);
			at += step;
			drawn += step;
		}
	}
}

static void put_run(const struct plot_drawing *d, struct canvas *canvas, const struct plot_series *series,
		    const struct canvas_point *points, size_t count)
{
	if (series->marks & PLOT_DASHES)
		put_dashes(d, canvas, points, count, colour_of(d, series));
	else if (series->marks & PLOT_LINE && count > !!(series->marks & PLOT_DOTS)) /* alone, a point */
		put_stroke(canvas, points, count, LINE * d->layout.unit, colour_of(d, series));
}

static struct canvas_point place_of(const struct panel_layout *panel, const struct plot_series *series,
				    size_t i)
{
	return (struct canvas_point){panel->area.x + axis_share(&panel->x, series->x[i]) * panel->area.width,
				     panel->area.y +
					 (1 - axis_share(&panel->y, series->y[i])) * panel->area.height};
}

/* The lines of a series, which have gaps where there are no points. */
static void put_lines(const struct plot_drawing *d, struct canvas *canvas, size_t p,
		      const struct plot_series *series)
{
	struct canvas_point run[512];
	size_t count = 0;
	for (size_t i = 0; i < series->count; i++) {
		if (!point_shown(&d->figure->panels[p], series, i)) {
			put_run(d, canvas, series, run, count);
			count = 0;
			continue;
		}
		if (count == sizeof run / sizeof *run) { /* the next begins where this one ends */
			put_run(d, canvas, series, run, count);
			run[0] = run[count - 1];
			count = 1;
		}
		run[count++] = place_of(&d->layout.panels[p], series, i);
	}
	put_run(d, canvas, series, run, count);
}

static void put_dots(const struct plot_drawing *d, struct canvas *canvas, size_t p,
		     const struct plot_series *series)
{
	bool many = series->marks & PLOT_LINE && series->count > MANY_DOTS;
	for (size_t i = 0; i < series->count && series->marks & PLOT_DOTS && !many; i++)
		if (point_shown(&d->figure->panels[p], series, i))
			put_marker(d, canvas, place_of(&d->layout.panels[p], series, i), series);
}

static void put_axes(const struct plot_drawing *d, struct canvas *canvas, size_t p)
{
	const struct panel_layout *panel = &d->layout.panels[p];
	const struct plot_panel *figure = &d->figure->panels[p];
	struct rect area = panel->area;
	int thin = scaled(d, 1), tick = scaled(d, TICK);
	struct text_box line = text_measure(d->text, "Mg0", plot_style(d->layout.label_size, 0));
	struct text_box digit = text_measure(d->text, "0", plot_style(d->layout.label_size, 0));
	for (size_t i = 0; i < panel->y.tick_count; i++) {
		int y = area.y + (int)lround((1 - panel->y.ticks[i].share) * area.height);
		canvas->class->fill(canvas, (struct rect){area.x, y, area.width, thin}, d->theme->line);
		put_text(d, canvas, panel->y.ticks[i].text, area.x - scaled(d, TICK + 2), y + digit.above / 2,
			 CANVAS_END, d->theme->soft_ink);
	}
	canvas->class->fill(canvas, (struct rect){area.x, area.y + area.height, area.width, thin},
			    d->theme->frame);
	int labels = area.y + area.height + tick + scaled(d, 2) + line.above;
	for (size_t i = 0; i < panel->x.tick_count; i++) {
		int x = area.x + (int)lround(panel->x.ticks[i].share * area.width);
		canvas->class->fill(canvas, (struct rect){x, area.y + area.height, thin, tick},
				    d->theme->frame);
		if (panel->x.ticks[i].labelled)
			put_text(d, canvas, panel->x.ticks[i].text, x, labels, CANVAS_MIDDLE,
				 d->theme->soft_ink);
	}
	if (figure->x.title)
		put_text(d, canvas, figure->x.title, area.x + area.width / 2,
			 labels + line.below + scaled(d, GAP / 2) + line.above, CANVAS_MIDDLE, d->theme->ink);
	if (figure->title)
		put_text(d, canvas, figure->title, area.x, panel->title_y, CANVAS_START, d->theme->ink);
}

static void put_legend(const struct plot_drawing *d, struct canvas *canvas)
{
	struct text_box digit = text_measure(d->text, "0", plot_style(d->layout.label_size, 0));
	for (size_t i = 0; i < d->layout.legend_count; i++) {
		const struct legend_entry *e = &d->layout.legend[i];
		double y = e->y - digit.above / 2.0;
		const struct canvas_point ends[2] = {{e->x, y}, {e->x + d->layout.sample, y}};
		put_run(d, canvas, e->series, ends, 2);
		if (e->series->marks & PLOT_DOTS)
			put_marker(d, canvas, (struct canvas_point){e->x + d->layout.sample / 2.0, y},
				   e->series);
		put_text(d, canvas, e->series->name, e->text_x, e->y, CANVAS_START, d->theme->ink);
	}
}

void plot_paint(const struct plot_drawing *d, struct canvas *canvas)
{
	const struct plot_figure *f = d->figure;
	if (f->title)
		put_paragraph(d, canvas, f->title, d->layout.title_size, d->layout.title_y, d->theme->ink);
	put_legend(d, canvas);
	for (size_t p = 0; p < f->panel_count; p++) {
		const struct plot_panel *panel = &f->panels[p];
		put_axes(d, canvas, p);
		for (size_t s = 0; s < panel->series_count; s++)
			put_lines(d, canvas, p, &panel->series[s]);
		for (size_t s = 0; s < panel->series_count; s++)
			put_dots(d, canvas, p, &panel->series[s]);
	}
	if (*d->note)
		put_paragraph(d, canvas, d->note, d->layout.label_size, d->layout.note_y, d->theme->soft_ink);
}
