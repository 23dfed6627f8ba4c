/* What libpng calls when something is wrong. */
#include <setjmp.h>
#include <stdio.h>

#include "draw/image/png_internal.h"

void png_on_error(png_structp png, png_const_charp message)
{
	struct png_failure *failure = png_get_error_ptr(png);
	snprintf(failure->message, sizeof failure->message, "%s", message);
	longjmp(png_jmpbuf(png), 1);
}

void png_on_warning(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
}
