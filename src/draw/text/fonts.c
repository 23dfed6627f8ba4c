/* Fonts by blocks of Unicode, and their names. */
#include "draw/text/fonts.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

const char *font_package(uint32_t code)
{
	static const char core[] = "fonts-noto-core", cjk[] = "fonts-noto-cjk",
			  emoji[] = "fonts-noto-color-emoji";
	/* Blocks of Unicode, in their order; what lies between them is `core`. */
	static const struct {
		uint32_t first, last;
		const char *package;
	} blocks[] = {
	    {0x1100, 0x11ff, cjk},     {0x2600, 0x27bf, emoji}, {0x2b00, 0x2bff, emoji},
	    {0x2e80, 0x303f, cjk},     {0x3040, 0x33ff, cjk},   {0x3400, 0x9fff, cjk},
	    {0xa960, 0xa97f, cjk},     {0xac00, 0xd7ff, cjk},   {0xe000, 0xf8ff, NULL},
	    {0xf900, 0xfaff, cjk},     {0xfe30, 0xfe4f, cjk},   {0xff00, 0xffef, cjk},
	    {0x1f000, 0x1faff, emoji}, {0x20000, 0x3ffff, cjk}, {0xe0000, 0xe007f, emoji},
	    {0xf0000, 0x10ffff, NULL},
	};
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
		if (code >= blocks[i].first && code <= blocks[i].last)
			return blocks[i].package;
	return core;
}

bool font_is_asked(const char *asked, const char *used)
{
	static const char *const generic[] = {"sans", "sans-serif", "serif",   "monospace",
					      "mono", "cursive",    "fantasy", "system-ui"};
	for (const char *at = asked; *at; at += *at == ',') {
		at += strspn(at, " ");
		size_t length = strcspn(at, ","), name = length;
		while (name > 0 && at[name - 1] == ' ')
			name--;
		if (strncasecmp(at, used, name) == 0 && used[name] == '\0')
			return true;
		for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
			if (strncasecmp(at, generic[i], name) == 0 && generic[i][name] == '\0')
				return true;
		at += length;
	}
	return false;
}
