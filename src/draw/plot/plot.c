#include "draw/plot/plot.h"

#include <math.h>

#include "draw/plot/plot_internal.h"

/* Points that a logarithmic axis cannot show, of all panels. */
static size_t count_left_out(const struct plot_figure *figure)
{
	size_t count = 0;
	for (size_t p = 0; p < figure->panel_count; p++) {
		const struct plot_panel *panel = &figure->panels[p];
		for (size_t s = 0; s < panel->series_count; s++)
			for (size_t i = 0; i < panel->series[s].count; i++)
				count += isfinite(panel->series[s].x[i]) && isfinite(panel->series[s].y[i]) &&
					 !point_shown(panel, &panel->series[s], i);
	}
	return count;
}

static void make_note(const struct plot_figure *figure, struct buffer *note)
{
	size_t left_out = count_left_out(figure);
	buffer_add_string(note, figure->note && !figure->options.no_notes ? figure->note : "");
	if (left_out > 0 && !figure->options.no_notes)
		buffer_printf(note, "%s%zu point%s at or below 0 %s not shown: the axis is logarithmic",
			      note->length > 0 ? "; " : "", left_out, left_out == 1 ? "" : "s",
			      left_out == 1 ? "is" : "are");
}

static void paint(void *context, struct canvas *canvas)
{
	plot_paint(context, canvas);
}

static enum attn_status write(struct plot_drawing *d, FILE *stream, struct attn_error *err)
{
	const struct plot_options *o = &d->figure->options;
	enum text_output output = o->format == CANVAS_PNG ? TEXT_PIXELS : TEXT_VECTOR;
	TRY(text_engine_set(d->text, o->font, output, err));
	TRY(plot_lay_out(d, err));
	const struct canvas_page page = {
	    .format = o->format,
	    .dpi = o->dpi,
	    .sheet = {.width = d->layout.width,
		      .height = d->layout.height,
		      .title = d->figure->title,
		      .background = o->transparent ? NULL : &d->theme->background,
		      .asked = o->width},
	    .text = d->text,
	    .paint = paint,
	    .context = d};
	return canvas_write(&page, stream, err);
}

enum attn_status plot_write(struct text_engine *text, const struct plot_figure *figure, FILE *stream,
			    struct attn_error *err)
{
	struct buffer note = BUFFER_INIT;
	struct plot_drawing d = {.figure = figure,
				 .text = text,
				 .theme = figure->options.theme ? figure->options.theme : theme_default()};
	make_note(figure, &note);
	d.note = note.failed ? "" : note.data;
	enum attn_status status = note.failed ? attn_fail_memory(err) : write(&d, stream, err);
	buffer_release(&note);
	return status;
}
