/* Subword tokens as people read and type them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bundle_test.h"
#include "tokens/token.h"

/* `raw` is shown as `shown`; both end with NULL. */
static void expect_shown(const char *const *raw, const char *const *shown)
{
	struct string_list from = list_of(raw), to = {0};
	assert_true(tokens_shown(&from, &to));
	assert_int_equal(from.count, to.count);
	for (size_t i = 0; i < from.count; i++)
		if (!shown[i] || strcmp(to.items[i], shown[i]) != 0)
			fail_msg("'%s' is shown as '%s', expected '%s'", from.items[i], to.items[i],
				 shown[i] ? shown[i] : "nothing");
	string_list_release(&from);
	string_list_release(&to);
}

#define TOKENS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_markers(void **state)
{
	(void)state;
	expect_shown(TOKENS("▁it", "it</w>", "##ing", "it", " it", "  it", "it "),
		     TOKENS("it", "it", "ing", "it", "it", "it", "it "));
	/* What is all marker is left as it is, or shown as what it means. */
	expect_shown(TOKENS("▁", "##", "</w>", "#", "a##b", "a▁b"),
		     TOKENS("␣", "##", "</w>", "#", "a##b", "a▁b"));
	expect_shown(TOKENS("<s>", "[CLS]", "<|endoftext|>", "."),
		     TOKENS("<s>", "[CLS]", "<|endoftext|>", "."));
	expect_shown(TOKENS("آ", "日本", "é", "🙂"), TOKENS("آ", "日本", "é", "🙂"));
}

static void test_white_space(void **state)
{
	(void)state;
	expect_shown(TOKENS(" ", "  ", "\n", "\t", "\n\n", "a\nb", "a b", ""),
		     TOKENS("␣", "␣␣", "↵", "⇥", "↵↵", "a↵b", "a b", ""));
}

/* Nothing that a terminal would obey. */
static void test_controls(void **state)
{
	(void)state;
	expect_shown(TOKENS("\x1b[31m", "\x01", "\x7f", "\xc2\x9b", "\r"),
		     TOKENS("\\x1b[31m", "\\x01", "\\x7f", "\\x9b", "\\x0d"));
	expect_shown(TOKENS("\xff", "a\xe4\xb8"), TOKENS("\\xff", "a\\xe4\\xb8"));
}

/* GPT-2's alphabet, in which a list is read as soon as it has a marked space. */
static void test_byte_level(void **state)
{
	(void)state;
	expect_shown(TOKENS("Ġit", "it", "Ċ", "Ġ", "ĉ"), TOKENS("it", "it", "↵", "␣", "⇥"));
	/* é is the bytes c3 a9, in one token and over two */
	expect_shown(TOKENS("Ġcaf", "Ã©"), TOKENS("caf", "é"));
	expect_shown(TOKENS("Ġcaf", "Ã", "©"), TOKENS("caf", "\\xc3", "\\xa9"));
	/* 日 is e6 97 a5; its last byte in a token of its own */
	expect_shown(TOKENS("Ġæ", "Ĺ¥"), TOKENS("\\xe6", "\\x97\\xa5"));
	expect_shown(TOKENS("Ġa", "æĹ¥"), TOKENS("a", "日"));
	expect_shown(TOKENS("Ġa", "Ā"), TOKENS("a", "\\x00"));
	/* special tokens stay */
	expect_shown(TOKENS("<|endoftext|>", "Ġa"), TOKENS("<|endoftext|>", "a"));
}

/* Without a marked space, or with a letter from outside the alphabet, é is é. */
static void test_not_byte_level(void **state)
{
	(void)state;
	expect_shown(TOKENS("Ã©", "it"), TOKENS("Ã©", "it"));
	expect_shown(TOKENS("Ġit", "Ã©", "日"), TOKENS("Ġit", "Ã©", "日"));
	expect_shown(TOKENS("Ġit", "a b"), TOKENS("Ġit", "a b"));
}

static void test_matches(void **state)
{
	(void)state;
	assert_true(token_matches("it", "▁it", "it"));
	assert_true(token_matches("▁it", "▁it", "it"));
	assert_false(token_matches("It", "▁it", "it"));
	assert_false(token_matches("i", "▁it", "it"));
	assert_false(token_matches("", "▁it", "it"));
	assert_true(token_matches("\n", "\n", "↵"));
	assert_true(token_matches("↵", "\n", "↵"));
}

static void test_nearest(void **state)
{
	struct string_list shown = list_of(TOKENS("animal", "street", "it", "."));
	(void)state;
	assert_int_equal(token_nearest("anmal", &shown), 0);
	assert_int_equal(token_nearest("Street", &shown), 1);
	assert_int_equal(token_nearest("xyzzy", &shown), 4);
	assert_int_equal(token_nearest("", &shown), 4);
	string_list_release(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_markers),        cmocka_unit_test(test_white_space),
	    cmocka_unit_test(test_controls),       cmocka_unit_test(test_byte_level),
	    cmocka_unit_test(test_not_byte_level), cmocka_unit_test(test_matches),
	    cmocka_unit_test(test_nearest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
