#include "draw/canvas/canvas_write.h"

#include "draw/image/png.h"

double canvas_units(enum canvas_format format, double dpi)
{
	if (format != CANVAS_PNG)
		return CANVAS_UNITS;
	return (dpi > 0 ? dpi : 96.0) / 96.0;
}

/* What went wrong while painting. */
static enum attn_status painted(const struct canvas *canvas, struct attn_error *err)
{
	enum attn_status status = text_engine_status(canvas->text, err);
	if (status == ATTN_OK && canvas->error.status != ATTN_OK)
		status = attn_fail(err, canvas->error.status, "%s", canvas->error.message);
	return status;
}

static enum attn_status write_pixels(const struct canvas_page *page, struct image *image, FILE *stream,
				     struct attn_error *err)
{
	const struct rgb *background = page->sheet.background;
	struct canvas_pixels c;
	TRY(image_init(image, (size_t)page->sheet.width, (size_t)page->sheet.height, err));
	if (!background)
		TRY(image_clear(image, err));
	canvas_pixels_init(&c, image, page->text);
	if (background && (background->r & background->g & background->b) != 0xff) /* it begins white */
		c.canvas.class->fill(&c.canvas, (struct rect){0, 0, page->sheet.width, page->sheet.height},
				     *background);
	page->paint(page->context, &c.canvas);
	TRY(painted(&c.canvas, err));
	return image_write_png(stream, image, 96.0 * canvas_units(CANVAS_PNG, page->dpi), err);
}

static enum attn_status write_vector(const struct canvas_page *page, struct buffer *out, FILE *stream,
				     struct attn_error *err)
{
	union {
		struct canvas_svg svg;
		struct canvas_pdf pdf;
	} c;
	if (page->format == CANVAS_SVG) {
		canvas_svg_begin(&c.svg, out, page->text, &page->sheet);
		page->paint(page->context, &c.svg.canvas);
		canvas_svg_end(&c.svg);
		TRY(painted(&c.svg.canvas, err));
	} else {
		canvas_pdf_begin(&c.pdf, out, page->text, &page->sheet);
		page->paint(page->context, &c.pdf.canvas);
		canvas_pdf_end(&c.pdf);
		TRY(painted(&c.pdf.canvas, err));
	}
	fwrite(out->data, 1, out->length, stream);
	return ATTN_OK;
}

enum attn_status canvas_write(const struct canvas_page *page, FILE *stream, struct attn_error *err)
{
	struct image image = {0};
	struct buffer out = BUFFER_INIT;
	enum attn_status status = page->format == CANVAS_PNG ? write_pixels(page, &image, stream, err)
							     : write_vector(page, &out, stream, err);
	image_release(&image);
	buffer_release(&out);
	return status;
}
