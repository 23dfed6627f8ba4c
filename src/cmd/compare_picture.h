/* The picture or page of attn compare: A - B, with a sign. */
#ifndef ATTN_CMD_COMPARE_PICTURE_H
#define ATTN_CMD_COMPARE_PICTURE_H

#include "cmd/compare_sides.h"
#include "cmd/figures.h"
#include "cmd/page_output.h"

struct compare_picture {
	const char *path; /* -o, or NULL: none is made */
	struct figure_options figure;
	const char *option; /* the last of PICTURE_OPTIONS given, or NULL */

	/* Private. */
	bool page;
	struct selection selected; /* nothing of it owned but batch, of a picture */
	struct grid_consumer grids;
	struct figures figures;
	struct page_output file;
	struct string_list names; /* "A: tired.npz", "B: wide.npz" */
	struct buffer title;
};

/* What its ending says, before inputs are read: ATTN_USAGE for another, and for options of pictures that
 * have no effect. */
enum attn_status compare_picture_check(struct compare_picture *p, struct attn_error *err);

/* Lay it out for opened sides, whose rows are weights or scores; *consumer is then to be given them. */
enum attn_status compare_picture_open(struct compare_picture *p, struct sides *s,
				      struct row_consumer **consumer, struct attn_error *err);

/* After streaming: make it appear. */
enum attn_status compare_picture_commit(struct compare_picture *p, const struct sides *s,
					struct attn_error *err);
void compare_picture_release(struct compare_picture *p); /* safe on a zeroed one */

#endif
