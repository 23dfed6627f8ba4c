#include "util/width.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>

#include "util/utf8.h"

size_t text_width(const char *text)
{
	static locale_t utf8; /* loaded here: most commands never measure text */
	size_t length = strlen(text), width = 0;
	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	locale_t before = uselocale(utf8 ? utf8 : (locale_t)0);
	for (size_t at = 0; at < length;) {
		uint32_t code = 0;
		size_t step = utf8_decode(text + at, length - at, &code);
		int columns = step ? wcwidth((wchar_t)code) : 1;
		width += columns < 0 ? 1 : (size_t)columns;
		at += step ? step : 1;
	}
	uselocale(before);
	return width;
}
