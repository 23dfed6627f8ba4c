/* SentencePiece's precompiled map: a double array laid out by hand, and ones that lead astray. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/charsmap.h"
#include "util/base64.h"
#include "util/buffer.h"

enum {
	UNITS = 1024,
	LEAF = 1 << 8
};

#define VALUE 0x80000000

/* A map: the size of the trie, its units, the replacements. */
struct blob {
	unsigned char bytes[4 + 4 * UNITS + 1000];
	size_t length;
};

static void put_number(struct blob *b, size_t at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		b->bytes[at + (size_t)i] = (unsigned char)(number >> 8 * i);
}

static void put_unit(struct blob *b, size_t unit, uint32_t number)
{
	put_number(b, 4 + 4 * unit, number);
}

/* A unit at `unit` for the byte `label`, whose children and value are around `base`. */
static void put_node(struct blob *b, size_t unit, char label, size_t base, uint32_t leaf)
{
	put_unit(b, unit, (uint32_t)(unit ^ base) << 10 | leaf | (unsigned char)label);
}

/* "a" -> "X", "abc" -> "é", "b" -> "".  The root's children are around 0, of "a" around 256, of "ab"
 * around 512, of "abc" around 768; of "b" around 300. */
static struct blob small_map(void)
{
	static const char values[] = "X\0é\0";
	struct blob b = {{0}, 0};
	put_number(&b, 0, 4 * UNITS);
	put_node(&b, 'a', 'a', 256, LEAF);
	put_unit(&b, 256, VALUE | 0);
	put_node(&b, 256 ^ 'b', 'b', 512, 0);
	put_node(&b, 512 ^ 'c', 'c', 768, LEAF);
	put_unit(&b, 768, VALUE | 2);
	put_node(&b, 'b', 'b', 300, LEAF);
	put_unit(&b, 300, VALUE | 1);
	memcpy(b.bytes + 4 + 4 * UNITS, values, sizeof values - 1);
	b.length = 4 + 4 * UNITS + sizeof values - 1;
	return b;
}

static struct charsmap *read_map(const struct blob *b)
{
	struct attn_error err = {0};
	struct charsmap *m;
	if (charsmap_read(&m, b->bytes, b->length, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return m;
}

/* Expect that `matched` bytes of a text are replaced; 0: none. */
static void expect_found(const struct charsmap *m, const char *text, bool longest, size_t matched,
			 const char *expected)
{
	size_t found = 0, length = 0;
	const char *replacement = NULL;
	bool any = charsmap_find(m, text, strlen(text), longest, &found, &replacement, &length);
	assert_int_equal(any ? found : 0, matched);
	if (matched > 0) {
		assert_int_equal(length, strlen(expected));
		assert_string_equal(replacement, expected);
	}
}

static void expect_small_map(const struct charsmap *m)
{
	expect_found(m, "abcd", true, 3, "é");
	expect_found(m, "abcd", false, 1, "X");
	expect_found(m, "abd", true, 1, "X");
	expect_found(m, "a", true, 1, "X");
	expect_found(m, "ba", true, 1, "");
	expect_found(m, "", true, 0, NULL);
	expect_found(m, "c", true, 0, NULL);
	expect_found(m, "éa", true, 0, NULL);
	size_t found, length;
	const char *replacement;
	assert_true(charsmap_find(m, "abc", 2, true, &found, &replacement, &length));
	assert_int_equal(found, 1);
}

static void test_find(void **state)
{
	struct blob b = small_map();
	struct charsmap *m = read_map(&b);
	(void)state;
	expect_small_map(m);
	charsmap_free(m);
	charsmap_free(NULL);
}

static void test_base64(void **state)
{
	struct blob b = small_map();
	struct attn_error err = {0};
	struct buffer text = BUFFER_INIT;
	struct charsmap *m;
	(void)state;
	buffer_add_base64(&text, b.bytes, b.length);
	assert_int_equal(charsmap_parse(&m, text.data, text.length, &err), ATTN_OK);
	expect_small_map(m);
	charsmap_free(m);
	text.data[7] = '-';
	assert_int_equal(charsmap_parse(&m, text.data, text.length, &err), ATTN_BAD_INPUT);
	assert_null(m);
	assert_non_null(strstr(err.message, "base64"));
	buffer_release(&text);
}

/* RFC 4648, section 10, and what is none. */
static void test_decoding(void **state)
{
	static const char *const pairs[][2] = {{"", ""},
					       {"Zg==", "f"},
					       {"Zm8=", "fo"},
					       {"Zm9v", "foo"},
					       {"Zm9vYg==", "foob"},
					       {"Zm9vYmE=", "fooba"},
					       {"+/+/", "\xfb\xff\xbf"}};
	static const char *const bad[] = {
	    "Z", "Zg", "Zg=", "Zg=v", "====", "Z===", "Zm9v\n", "Zg==Zg==", "Zm_v"};
	struct buffer b = BUFFER_INIT;
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		buffer_clear(&b);
		assert_true(buffer_add_from_base64(&b, pairs[i][0], strlen(pairs[i][0])));
		assert_int_equal(b.length, strlen(pairs[i][1]));
		assert_memory_equal(b.data, pairs[i][1], b.length);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(buffer_add_from_base64(&b, bad[i], strlen(bad[i])));
	buffer_clear(&b);
	for (unsigned i = 0; i < 10000; i++)
		buffer_add_char(&b, (char)(i * 7));
	struct buffer text = BUFFER_INIT, back = BUFFER_INIT;
	buffer_add_base64(&text, b.data, b.length);
	assert_true(buffer_add_from_base64(&back, text.data, text.length));
	assert_int_equal(back.length, b.length);
	assert_memory_equal(back.data, b.data, b.length);
	buffer_release(&text);
	buffer_release(&back);
	buffer_release(&b);
}

/* Expect that a map is refused by a message with `part`. */
static void expect_bad(const struct blob *b, const char *part)
{
	struct attn_error err = {0};
	struct charsmap *m;
	assert_int_equal(charsmap_read(&m, b->bytes, b->length, &err), ATTN_BAD_INPUT);
	assert_null(m);
	assert_non_null(strstr(err.message, part));
}

static void test_refused(void **state)
{
	struct blob b = small_map();
	(void)state;
	for (b.length = 0; b.length < 4 + 4 * UNITS; b.length++)
		expect_bad(&b, "trie");
	b = small_map();
	put_number(&b, 0, 0);
	expect_bad(&b, "trie");
	put_number(&b, 0, 4 * UNITS + 2);
	expect_bad(&b, "trie");
	put_number(&b, 0, UINT32_MAX);
	expect_bad(&b, "trie");
	b = small_map();
	b.bytes[b.length - 2] = 0xff;
	expect_bad(&b, "UTF-8");
	b = small_map();
	memset(b.bytes + 4 + 4 * UNITS, 'x', 257);
	b.length = 4 + 4 * UNITS + 257;
	expect_bad(&b, "256 bytes");
}

/* Units that lead out of the array, values that lead out of the replacements or into a character, and a
 * trie that leads round in circles. */
static void test_astray(void **state)
{
	struct blob b = small_map();
	(void)state;
	put_unit(&b, 0, 0x1fffffu << 10);
	struct charsmap *m = read_map(&b);
	expect_found(m, "abcd", true, 0, NULL);
	charsmap_free(m);
	b = small_map();
	put_unit(&b, 'a', 0x1fffffu << 10 | 1 << 9 | LEAF | 'a');
	m = read_map(&b);
	expect_found(m, "abcd", true, 0, NULL);
	charsmap_free(m);
	b = small_map();
	put_unit(&b, 768, VALUE | 6);
	put_unit(&b, 300, VALUE | 3);
	m = read_map(&b);
	expect_found(m, "abcd", true, 1, "X");
	expect_found(m, "b", true, 0, NULL);
	charsmap_free(m);
	b = small_map();
	put_node(&b, 'b', 'b', 0, 0);
	put_node(&b, 'a', 'a', 0, 0);
	m = read_map(&b);
	char *text = malloc(1000001);
	memset(text, 'a', 1000000);
	text[1000000] = '\0';
	expect_found(m, text, true, 0, NULL);
	free(text);
	charsmap_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_find),    cmocka_unit_test(test_base64), cmocka_unit_test(test_decoding),
	    cmocka_unit_test(test_refused), cmocka_unit_test(test_astray),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
