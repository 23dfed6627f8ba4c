#include "tokenizer/bytes.h"

#include "util/utf8.h"

uint32_t byte_letter(unsigned char byte)
{
	if (byte <= 0x20)
		return 0x100u + byte;
	if (byte >= 0x7f && byte <= 0xa0)
		return 0x121u + (byte - 0x7fu);
	return byte == 0xad ? 0x143u : byte;
}

void aligned_add_letters(struct aligned *out, const struct aligned *from, size_t start, size_t end)
{
	for (size_t i = start; i < end; i++) {
		char letter[4];
		size_t length = utf8_encode(byte_letter((unsigned char)from->text[i]), letter);
		aligned_add(out, letter, length, from->spans[i]);
	}
}
