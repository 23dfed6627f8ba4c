/* Rectangles, of pixels or of a layout's lengths. */
#ifndef ATTN_DRAW_IMAGE_RECT_H
#define ATTN_DRAW_IMAGE_RECT_H

struct rect {
	int x, y; /* upper left corner */
	int width, height;
};

#endif
