/* How libpng is used for reading and for writing: by its full interface, whose errors jump.
 * They land where png_jmpbuf was set, in the file that made the png_structp, and go no
 * further. */
#ifndef ATTN_DRAW_IMAGE_PNG_INTERNAL_H
#define ATTN_DRAW_IMAGE_PNG_INTERNAL_H

#include <png.h>

/* What png_on_error leaves behind. */
struct png_failure {
	char message[200]; /* libpng's */
};

/* For png_create_read_struct and png_create_write_struct, with a struct png_failure as
 * error_ptr.  Warnings are dropped. */
PNG_NORETURN void png_on_error(png_structp png, png_const_charp message);
void png_on_warning(png_structp png, png_const_charp message);

#endif
