/* --image: what a token attends to, laid over the picture whose patches are the keys. */
#ifndef ATTN_CMD_OVERLAY_H
#define ATTN_CMD_OVERLAY_H

#include "cmd/figures.h"
#include "cmd/view_options.h"

/* As given. */
struct overlay_options {
	const char *image; /* NULL: not given */
	const char *query; /* the token: overlay_check takes it from --query */
	size_t patch_rows, patch_cols;
	size_t skip_keys; /* before the first patch, such as a class token */
	bool skip_given;
};

/* The value of --patches, and of --skip-keys. */
enum attn_status overlay_patches(struct overlay_options *options, const struct options *o,
				 struct attn_error *err);
enum attn_status overlay_skip_keys(struct overlay_options *options, const struct options *o,
				   struct attn_error *err);

/* Refuse options that require others, or that have no meaning with --image.  --query is
 * taken out of the view, which would leave one row.  A `model` reads the picture, and has it drawn only
 * with --query. */
enum attn_status overlay_check(struct overlay_options *options, const struct figure_options *figure,
			       struct view_request *view, bool model, struct attn_error *err);

/* What patches there are, and how many keys come before them, where a model says so. */
void overlay_fit(struct overlay_options *options, const struct inputs *in);

/* Read the picture, compute the token's rows in the selected heads, and write a PNG to
 * `path`.  ATTN_NO_MATCH for a token that does not occur; of one that occurs several times
 * the first is taken, with a note. */
enum attn_status overlay_write(const struct overlay_options *options, const struct figure_options *figure,
			       const struct inputs *in, const struct selection *selection, const char *path,
			       const struct command *self, struct attn_error *err);

#endif
