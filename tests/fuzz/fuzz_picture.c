/* Fuzz target of draw/picture.c: a PNG file from anywhere. */
#include <stdint.h>

#include "draw/image/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct attn_error err = {0};
	struct image image;
	unsigned int sum = 0;
	if (image_parse(data, length, "file", &image, &err) != ATTN_OK) {
		if (!err.message[0] || image.pixels)
			__builtin_trap(); /* a failure says why, and leaves nothing */
		return 0;
	}
	for (size_t i = 0; i < image.width * image.height * 3; i++)
		sum += image.pixels[i];
	volatile unsigned int used = sum;
	(void)used;
	image_release(&image);
	return 0;
}
