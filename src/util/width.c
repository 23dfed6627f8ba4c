#include "util/width.h"

#include <string.h>
#include <wchar.h>

#include "util/utf8.h"

size_t text_width(const char *text)
{
	size_t length = strlen(text), width = 0;
	for (size_t at = 0; at < length;) {
		uint32_t code = 0;
		size_t step = utf8_decode(text + at, length - at, &code);
		int columns = step ? wcwidth((wchar_t)code) : 1;
		width += columns < 0 ? 1 : (size_t)columns;
		at += step ? step : 1;
	}
	return width;
}
