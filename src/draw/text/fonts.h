/* Which package has a font for a character. */
#ifndef ATTN_DRAW_TEXT_FONTS_H
#define ATTN_DRAW_TEXT_FONTS_H

#include <stdint.h>

/* The Debian package, named alike elsewhere, whose fonts have the character.  NULL
 * for characters of private use, which only their own font has. */
const char *font_package(uint32_t code);

#endif
