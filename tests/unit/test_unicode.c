/* Normal forms against utf8proc's own, and what each character of them stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utf8proc.h>

#include "tokenizer/unicode.h"
#include "util/utf8.h"

/* Starters that compose or do not, marks of several classes, Hangul, what decomposes once and again, and
 * compositions that are excluded. */
static const uint32_t characters[] = {'a',    'e',    'A',    0xe9,   0x1ea5, 0x301,  0x302,   0x323,
				      0x327,  0x345,  0x5b0,  0x1100, 0x1161, 0x11a8, 0xac00,  0xac01,
				      0xfb01, 0xfdfa, 0x2126, 0x958,  0x915,  0x93c,  0x1d15e, 0x3099,
				      0x304b, 0x2460, 0x130,  0x3b9,  0x1fb3, 0xfb2a};

static void normalize(struct aligned *out, const char *text, size_t length, bool compatible, bool compose)
{
	struct aligned in = {.failed = false};
	struct changes changes = {.failed = false};
	aligned_add_original(&in, text, length, 100);
	unicode_normalize(&changes, text, length, compatible, compose);
	aligned_add_changed(out, &in, &changes, 0, 100);
	assert_int_equal(aligned_check(out, NULL), ATTN_OK);
	changes_release(&changes);
	aligned_release(&in);
}

static void test_forms(void **state)
{
	unsigned seed = 1;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[64];
		size_t length = 0;
		for (int i = 0; i < 1 + round % 12; i++) {
			seed = seed * 1103515245u + 12345u;
			length +=
			    utf8_encode(characters[(seed >> 16) % (sizeof characters / sizeof *characters)],
					text + length);
		}
		text[length] = '\0';
		for (int form = 0; form < 4; form++) {
			struct aligned found = {.failed = false};
			const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text;
			utf8proc_uint8_t *wanted = form == 0   ? utf8proc_NFD(bytes)
						   : form == 1 ? utf8proc_NFC(bytes)
						   : form == 2 ? utf8proc_NFKD(bytes)
							       : utf8proc_NFKC(bytes);
			normalize(&found, text, length, form >= 2, form % 2);
			assert_int_equal(found.length, strlen((char *)wanted));
			assert_memory_equal(found.text, wanted, found.length);
			for (size_t i = 0; i < found.length; i++) {
				assert_true(found.spans[i].start >= 100 &&
					    found.spans[i].end <= 100 + length);
				assert_true(found.spans[i].start < found.spans[i].end);
				assert_true(i == 0 || found.spans[i - 1].start <= found.spans[i].start);
			}
			free(wanted);
			aligned_release(&found);
		}
	}
}

/* e, an acute accent, f: é of both, then f.  The ligature fi: both letters of it. */
static void test_spans(void **state)
{
	struct aligned found = {.failed = false};
	(void)state;
	normalize(&found,
		  "e\xcc\x81"
		  "f",
		  4, false, true);
	assert_int_equal(found.length, 3);
	assert_memory_equal(found.text,
			    "\xc3\xa9"
			    "f",
			    3);
	assert_int_equal(found.spans[0].start, 100);
	assert_int_equal(found.spans[0].end, 101); /* that of the first, as in the reference */
	assert_int_equal(found.spans[2].start, 103);
	assert_int_equal(found.spans[2].end, 104);
	aligned_release(&found);
	normalize(&found, "\xef\xac\x81", 3, true, true);
	assert_int_equal(found.length, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(found.spans[i].start, 100);
		assert_int_equal(found.spans[i].end, 103);
	}
	aligned_release(&found);
}

/* A long run of marks, each out of order, takes no longer than its length. */
static void test_marks(void **state)
{
	const size_t count = 200000;
	char *text = malloc(1 + 2 * count);
	struct aligned found = {.failed = false};
	(void)state;
	assert_non_null(text);
	text[0] = 'a';
	for (size_t i = 0; i < count; i++)
		memcpy(text + 1 + 2 * i, i % 2 ? "\xcc\xa3" : "\xcc\x81", 2);
	normalize(&found, text, 1 + 2 * count, false, false);
	assert_int_equal(found.length, 1 + 2 * count);
	assert_memory_equal(found.text + 1, "\xcc\xa3\xcc\xa3", 4);
	assert_memory_equal(found.text + found.length - 4, "\xcc\x81\xcc\x81", 4);
	aligned_release(&found);
	free(text);
}

static void test_classes(void **state)
{
	uint32_t lower[2];
	(void)state;
	assert_true(unicode_is_space(0x85) && unicode_is_space(0x3000) && !unicode_is_space(0x180e));
	assert_true(unicode_is_word('_') && unicode_is_word(0x301) && unicode_is_word(0x24b6) &&
		    !unicode_is_word(0xb2));
	assert_true(unicode_is_punctuation('$') && unicode_is_punctuation(0x2014) &&
		    !unicode_is_punctuation(0xb1));
	assert_false(unicode_is_punctuation(0) || unicode_is_punctuation('a'));
	assert_true(unicode_is_numeric(0xb2) && unicode_is_numeric(0x2160) && !unicode_is_numeric('a'));
	assert_true(unicode_is_mark(0x20dd) && !unicode_is_nonspacing(0x20dd) &&
		    unicode_is_nonspacing(0x301));
	assert_true(unicode_is_other(0x200b) && unicode_is_other(0xe000) && !unicode_is_other(0x378));
	assert_int_equal(unicode_lower(0x130, lower), 2);
	assert_int_equal(unicode_lower(0x3a3, lower), 1);
	assert_int_equal(lower[0], 0x3c3);
	assert_int_equal(unicode_cluster("e\xcc\x81x", 4), 3);
	assert_int_equal(unicode_cluster("\r\nx", 3), 2);
	assert_int_equal(unicode_cluster("x", 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms),
	    cmocka_unit_test(test_spans),
	    cmocka_unit_test(test_marks),
	    cmocka_unit_test(test_classes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
