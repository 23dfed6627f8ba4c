/* Which package has a font for a character, and which names a font goes by. */
#ifndef ATTN_DRAW_TEXT_FONTS_H
#define ATTN_DRAW_TEXT_FONTS_H

#include <stdbool.h>
#include <stdint.h>

/* The Debian package, named alike elsewhere, whose fonts have the character.  NULL
 * for characters of private use, which only their own font has. */
const char *font_package(uint32_t code);

/* Whether what Pango calls its font is one of those asked for, or stands for a name
 * that any font may. */
bool font_is_asked(const char *asked, const char *used);

#endif
