/* Options of plots, and drawing them. */
#include "cmd/plots.h"

#include <string.h>

#include "cmd/picture_format.h"
#include "draw/text/fonts.h"

static const struct option plot_options[] = {PLOT_OPTIONS, END_OPTION};

/* The option's place among those of plots, or that of their end. */
static const struct option *find_option(int id)
{
	const struct option *option = plot_options;
	while (option->name && option->val != id)
		option++;
	return option;
}

bool is_plot_option(int id)
{
	return find_option(id)->name != NULL;
}

enum attn_status plot_option(struct plot_request *r, int id, const struct options *o, struct attn_error *err)
{
	if (id == 'o')
		return option_once(o, &r->path, err);
	r->option = find_option(id)->name;
	if (id == OPTION_FORMAT)
		return picture_format_option(o, &r->format, &r->figure.heatmap.format, err);
	return figure_option(&r->figure, id, o, err);
}

enum attn_status plot_open(struct plot_request *r, struct attn_error *err)
{
	if (!r->path && r->option)
		return attn_fail(err, ATTN_USAGE, "'--%s' is of a picture: it also requires -o FILE",
				 r->option);
	if (!r->path)
		return ATTN_OK;
	TRY(picture_format_check(r->path, r->format, &r->figure.heatmap.format, err));
	return text_engine_new(&r->text, err);
}

bool plot_replaces_table(const struct plot_request *r)
{
	return r->path && strcmp(r->path, "-") == 0;
}

void plot_release(struct plot_request *r)
{
	text_engine_free(r->text);
	*r = (struct plot_request){0};
}

static void note_fonts(const struct plot_request *r, const struct command *self)
{
	const char *asked = r->figure.heatmap.font, *used = asked ? text_used_family(r->text) : NULL;
	uint32_t code;
	const char *missing = text_missing_glyphs(r->text, &code);
	if (missing)
		report_missing_glyphs(self, missing, font_package(code));
	if (used && !font_is_asked(asked, used))
		report_other_font(self, asked, used);
}

static enum attn_status write_plot(struct plot_request *r, const struct plot_figure *figure,
				   struct output *out, struct attn_error *err)
{
	TRY(output_open(out, r->path, figure->options.format != CANVAS_SVG, err));
	TRY(plot_write(r->text, figure, out->stream, err));
	TRY(output_finish(out, err));
	return output_commit(out, err);
}

enum attn_status plot_draw(struct plot_request *r, const struct plot_figure *figure,
			   const struct command *self, struct attn_error *err)
{
	const struct heatmap_options *h = &r->figure.heatmap;
	struct plot_figure drawn = *figure;
	struct output out = {0};
	drawn.options = (struct plot_options){.format = h->format,
					      .theme = h->theme,
					      .width = h->width,
					      .dpi = h->dpi,
					      .font_size = h->font_size,
					      .font = h->font,
					      .transparent = h->transparent,
					      .no_notes = h->no_notes};
	if (r->figure.title)
		drawn.title = *r->figure.title ? r->figure.title : NULL;
	enum attn_status status = write_plot(r, &drawn, &out, err);
	output_abort(&out);
	TRY(status);
	report_written(self, r->path);
	note_fonts(r, self);
	return ATTN_OK;
}
