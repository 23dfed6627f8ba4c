/* The canvas of SVG 1.1 (W3C, 2011), by what browsers, rsvg and Inkscape agree on: rectangles,
 * paths, clips, a gradient, images within the file, and text.
 *
 * Its lengths are pixels at 96 dpi with up to two decimals, so that the same
 * figure is the same bytes everywhere. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/canvas/canvas_vector.h"
#include "draw/image/png.h"
#include "util/base64.h"
#include "util/minmax.h"
#include "util/utf8.h"

static struct canvas_svg *svg_of(struct canvas *canvas)
{
	return (struct canvas_svg *)canvas;
}

/* A length in pixels: "12", "12.5", "-0.25". */
static void add_length(struct buffer *out, int units)
{
	int whole = abs(units) / CANVAS_UNITS, part = abs(units) % CANVAS_UNITS;
	_Static_assert(CANVAS_UNITS == 100, "two decimals");
	buffer_printf(out, "%s%d", units < 0 ? "-" : "", whole);
	if (part % 10 != 0)
		buffer_printf(out, ".%02d", part);
	else if (part != 0)
		buffer_printf(out, ".%d", part / 10);
}

static void add_attribute(struct buffer *out, const char *name, int units)
{
	buffer_printf(out, " %s=\"", name);
	add_length(out, units);
	buffer_add_char(out, '"');
}

static void add_colour(struct buffer *out, const char *name, struct rgb colour)
{
	buffer_printf(out, " %s=\"#%02x%02x%02x\"", name, colour.r, colour.g, colour.b);
}

/* Characters that XML 1.0 does not have become U+FFFD; what else is not UTF-8 has
 * been made visible before. */
static void add_escaped(struct buffer *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t step = utf8_decode(text + i, length - i, &code);
		bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
		if (step == 0 || control || (code & 0xfffe) == 0xfffe)
			buffer_add_string(out, "\ufffd");
		else if (code == '<')
			buffer_add_string(out, "&lt;");
		else if (code == '>')
			buffer_add_string(out, "&gt;");
		else if (code == '&')
			buffer_add_string(out, "&amp;");
		else if (code == '"')
			buffer_add_string(out, "&quot;");
		else
			buffer_add(out, text + i, step);
		i += step > 0 ? step : 1;
	}
}

/* A font family, quoted as CSS has it, then any font without serifs. */
static void add_family(struct buffer *out, const char *family)
{
	size_t length = strlen(family), step;
	buffer_add_string(out, " font-family=\"'");
	for (size_t i = 0; i < length; i += step) {
		step = size_max(utf8_step(family + i, length - i), 1);
		if (family[i] == '\'' || family[i] == '\\')
			buffer_add_char(out, '\\');
		add_escaped(out, family + i, step);
	}
	buffer_add_string(out, "', sans-serif\"");
}

static void add_rect(struct buffer *out, struct rect r)
{
	buffer_add_string(out, "<rect");
	add_attribute(out, "x", r.x);
	add_attribute(out, "y", r.y);
	add_attribute(out, "width", r.width);
	add_attribute(out, "height", r.height);
}

static void fill(struct canvas *canvas, struct rect r, struct rgb colour)
{
	struct buffer *out = svg_of(canvas)->out;
	add_rect(out, r);
	add_colour(out, "fill", colour);
	buffer_add_string(out, "/>\n");
}

static void cells_begin(struct canvas *canvas)
{
	buffer_add_string(svg_of(canvas)->out, "<g shape-rendering=\"crispEdges\">\n");
}

static void cells_end(struct canvas *canvas)
{
	buffer_add_string(svg_of(canvas)->out, "</g>\n");
}

static void clip_begin(struct canvas *canvas)
{
	struct canvas_svg *c = svg_of(canvas);
	buffer_printf(c->out, "<clipPath id=\"masked%zu\"><path d=\"", ++c->clips);
}

static void clip_add(struct canvas *canvas, struct rect r)
{
	struct buffer *out = svg_of(canvas)->out;
	buffer_add_char(out, 'M');
	add_length(out, r.x);
	buffer_add_char(out, ' ');
	add_length(out, r.y);
	buffer_add_char(out, 'h');
	add_length(out, r.width);
	buffer_add_char(out, 'v');
	add_length(out, r.height);
	buffer_add_char(out, 'h');
	add_length(out, -r.width);
	buffer_add_char(out, 'z');
}

static void clip_hatch(struct canvas *canvas, struct rect r, const struct canvas_hatch *hatch)
{
	struct canvas_svg *c = svg_of(canvas);
	struct vector_diagonals lines = vector_diagonals(r, hatch);
	struct buffer *out = c->out;
	buffer_printf(out, "\"/></clipPath>\n<path clip-path=\"url(#masked%zu)\" fill=\"none\"", c->clips);
	add_colour(out, "stroke", hatch->lines);
	add_attribute(out, "stroke-width", (int)(lines.width + 0.5));
	buffer_add_string(out, " d=\"");
	for (int sum = lines.first; sum < lines.last; sum += lines.step) {
		buffer_add_char(out, 'M');
		add_length(out, sum - r.y - r.height);
		buffer_add_char(out, ' ');
		add_length(out, r.y + r.height);
		buffer_add_char(out, 'L');
		add_length(out, sum - r.y);
		buffer_add_char(out, ' ');
		add_length(out, r.y);
	}
	buffer_add_string(out, "\"/>\n");
}

static void add_image(struct canvas *canvas, const struct canvas_cells *cells, bool hatched)
{
	struct buffer *out = svg_of(canvas)->out;
	struct image image;
	char *png = NULL;
	size_t length = 0;
	if (vector_image(cells, hatched, &image, &canvas->error) != ATTN_OK)
		return;
	FILE *stream = open_memstream(&png, &length);
	enum attn_status status =
	    stream ? image_write_png(stream, &image, 96.0, &canvas->error) : attn_fail_memory(&canvas->error);
	image_release(&image);
	if (stream && fclose(stream) != 0 && status == ATTN_OK)
		status = attn_fail_memory(&canvas->error);
	if (status == ATTN_OK) {
		buffer_add_string(out, "<image");
		add_attribute(out, "x", cells->x);
		add_attribute(out, "y", cells->y);
		add_attribute(out, "width", (int)cells->cols * cells->cell);
		add_attribute(out, "height", (int)cells->rows * cells->cell);
		buffer_add_string(out, " preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" "
				       "style=\"image-rendering:pixelated\" "
				       "xlink:href=\"data:image/png;base64,");
		buffer_add_base64(out, png, length);
		buffer_add_string(out, "\"/>\n");
	}
	free(png);
}

static void ramp(struct canvas *canvas, struct rect r, bool vertical, const struct rgb *colours, size_t count)
{
	enum {
		STOPS = 64
	};
	struct buffer *out = svg_of(canvas)->out;
	buffer_printf(out, "<linearGradient id=\"scale\" x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"0\">", !vertical,
		      vertical);
	for (size_t i = 0; i <= STOPS; i++) {
		buffer_printf(out, "<stop offset=\"%g\"", (double)i / STOPS);
		add_colour(out, "stop-color", colours[colour_entry((double)i / STOPS, count)]);
		buffer_add_string(out, "/>");
	}
	buffer_add_string(out, "</linearGradient>\n");
	add_rect(out, r);
	buffer_add_string(out, " fill=\"url(#scale)\"/>\n");
}

/* One line as a <text>.  Its anchor is where another font may not move it; the
 * ends of a text from right to left change sides. */
static void add_line(void *context, const struct text_line *line)
{
	static const char *const anchors[] = {"start", "middle", "end"};
	struct canvas_svg *svg = context;
	const struct canvas_text *t = svg->current;
	struct buffer *out = svg->out;
	bool up = t->direction == TEXT_UPWARDS;
	int x = line->x + (t->anchor == CANVAS_END      ? line->width
			   : t->anchor == CANVAS_MIDDLE ? line->width / 2
							: 0);
	enum canvas_anchor anchor =
	    line->right_to_left ? (enum canvas_anchor)(CANVAS_END - t->anchor) : t->anchor;
	buffer_add_string(out, "<text");
	add_attribute(out, "x", up ? x : t->x + x);
	add_attribute(out, "y", up ? line->y : t->y + line->y);
	if (up) {
		buffer_add_string(out, " transform=\"translate(");
		add_length(out, t->x);
		buffer_add_char(out, ' ');
		add_length(out, t->y);
		buffer_add_string(out, ") rotate(-90)\"");
	}
	add_attribute(out, "font-size", t->style.size);
	if (anchor != CANVAS_START)
		buffer_printf(out, " text-anchor=\"%s\"", anchors[anchor]);
	if (line->right_to_left)
		buffer_add_string(out, " direction=\"rtl\"");
	add_colour(out, "fill", t->colour);
	bool one =
	    line->count == 1 && line->spans[0].family && strcmp(line->spans[0].family, svg->family) != 0;
	if (one)
		add_family(out, line->spans[0].family);
	buffer_add_char(out, '>');
	for (size_t i = 0; i < line->count; i++) {
		const struct text_span *span = &line->spans[i];
		bool other = !one && span->family && strcmp(span->family, svg->family) != 0;
		if (other) {
			buffer_add_string(out, "<tspan");
			add_family(out, span->family);
			buffer_add_char(out, '>');
		}
		add_escaped(out, span->text, span->length);
		if (other)
			buffer_add_string(out, "</tspan>");
	}
	buffer_add_string(out, "</text>\n");
}

static void text(struct canvas *canvas, const struct canvas_text *t)
{
	struct canvas_svg *svg = svg_of(canvas);
	svg->current = t;
	text_lines(canvas->text, t->text, t->style, add_line, svg);
}

/* Points are not whole numbers of units: the nearest. */
static void add_point(struct buffer *out, struct canvas_point point)
{
	add_length(out, (int)lround(point.x));
	buffer_add_char(out, ' ');
	add_length(out, (int)lround(point.y));
}

static void stroke(struct canvas *canvas, const struct canvas_stroke *s)
{
	struct buffer *out = svg_of(canvas)->out;
	if (s->count == 1) {
		buffer_add_string(out, "<circle");
		add_attribute(out, "cx", (int)lround(s->points->x));
		add_attribute(out, "cy", (int)lround(s->points->y));
		add_attribute(out, "r", (int)lround(s->width / 2));
		add_colour(out, "fill", s->colour);
		buffer_add_string(out, "/>\n");
		return;
	}
	buffer_add_string(out, "<path fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"");
	add_colour(out, "stroke", s->colour);
	add_attribute(out, "stroke-width", (int)lround(s->width));
	buffer_add_string(out, " d=\"");
	for (size_t i = 0; i < s->count; i++) {
		buffer_add_char(out, i ? 'L' : 'M');
		add_point(out, s->points[i]);
	}
	buffer_add_string(out, "\"/>\n");
}

static const struct vector_class svg_class = {
    .canvas = {fill, vector_hatch, vector_cells, ramp, text, stroke},
    .cells_begin = cells_begin,
    .cells_end = cells_end,
    .image = add_image,
    .clip_begin = clip_begin,
    .clip_add = clip_add,
    .clip_hatch = clip_hatch,
};

static void add_extent(struct buffer *out, const char *name, double length, enum length_unit unit)
{
	buffer_printf(out, " %s=\"%.6g%s\"", name, length, length_unit_name(unit));
}

void canvas_svg_begin(struct canvas_svg *c, struct buffer *out, struct text_engine *engine,
		      const struct canvas_sheet *sheet)
{
	const char *family = text_used_family(engine);
	*c = (struct canvas_svg){.canvas = {.class = &svg_class.canvas, .text = engine},
				 .out = out,
				 .family = family ? family : ""};
	buffer_add_string(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			       "<svg xmlns=\"http://www.w3.org/2000/svg\" "
			       "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\"");
	double unit = length_per_pixel(sheet->asked.unit) / CANVAS_UNITS;
	add_extent(out, "width", sheet->asked.value > 0 ? sheet->asked.value : sheet->width * unit,
		   sheet->asked.unit);
	add_extent(out, "height", sheet->height * unit, sheet->asked.unit);
	buffer_add_string(out, " viewBox=\"0 0 ");
	add_length(out, sheet->width);
	buffer_add_char(out, ' ');
	add_length(out, sheet->height);
	buffer_add_char(out, '"');
	add_family(out, c->family);
	buffer_add_string(out, " xml:space=\"preserve\">\n");
	if (sheet->title) {
		struct buffer shown = BUFFER_INIT;
		text_visible(&shown, sheet->title);
		buffer_add_string(out, "<title>");
		add_escaped(out, shown.data ? shown.data : "", shown.length);
		buffer_add_string(out, "</title>\n");
		buffer_release(&shown);
	}
	if (sheet->background)
		fill(&c->canvas, (struct rect){0, 0, sheet->width, sheet->height}, *sheet->background);
}

void canvas_svg_end(struct canvas_svg *c)
{
	buffer_add_string(c->out, "</svg>\n");
	if (c->out->failed)
		attn_fail_memory(&c->canvas.error);
}
