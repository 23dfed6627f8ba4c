/* Texts on a Cairo context, as the PDF canvas wants them. */
#ifndef ATTN_DRAW_TEXT_TEXT_SHOW_H
#define ATTN_DRAW_TEXT_TEXT_SHOW_H

#include "draw/text/pango.h"
#include "draw/text/text.h"

/* Show with the left end of the first baseline at (x, y), in the context's
 * source. */
void text_show(struct text_engine *engine, cairo_t *cr, const char *text, struct text_style style, double x,
	       double y, enum text_direction direction);

/* The table that the engine calls Pango and Cairo through. */
const struct pango_functions *text_pango(const struct text_engine *engine);

#endif
