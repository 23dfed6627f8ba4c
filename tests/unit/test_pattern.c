/* Patterns: split into what the reference's are split into, and Oniguruma's syntax. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer/pattern.h"
#include "tokenizer_test.h"

static struct pattern *compile(const char *regex)
{
	struct pattern *p;
	struct attn_error err = {0};
	if (pattern_regex(&p, regex, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return p;
}

/* The ranges of a text, matches in brackets: "[a] b [c]" as "[a]| b |[c]". */
static char *split(struct pattern *p, const char *text, size_t length)
{
	struct ranges found = {0};
	struct buffer out = BUFFER_INIT;
	struct attn_error err = {0};
	buffer_add_string(&out, "");
	if (pattern_find(p, text, length, &found, &err) != ATTN_OK)
		buffer_printf(&out, "error: %s", err.message);
	for (size_t i = 0; i < found.count; i++) {
		struct range r = found.items[i];
		buffer_printf(&out, r.match ? "[%.*s]" : "%.*s", (int)(r.end - r.start), text + r.start);
		if (i + 1 < found.count)
			buffer_add_char(&out, '|');
	}
	ranges_release(&found);
	return buffer_detach(&out);
}

static void expect_split(const char *regex, const char *text, const char *expected)
{
	struct pattern *p = compile(regex);
	char *found = split(p, text, strlen(text));
	if (strcmp(found, expected) != 0)
		fail_msg("'%s' makes of '%s' '%s', expected '%s'", regex, text, found, expected);
	free(found);
	pattern_free(p);
}

static void check_pieces(struct pattern *p, const char *file, const cJSON *line)
{
	size_t length, i = 0;
	char *text = bytes_of(key_of(line, "text")->valuestring, &length);
	struct ranges found = {0};
	assert_int_equal(pattern_find(p, text, length, &found, NULL), ATTN_OK);
	const cJSON *item = key_of(line, "pieces")->child;
	for (; item; item = item->next, i++) {
		size_t wanted;
		char *piece = bytes_of(item->valuestring, &wanted);
		if (i >= found.count || found.items[i].end - found.items[i].start != wanted ||
		    memcmp(text + found.items[i].start, piece, wanted) != 0)
			fail_msg("%s: '%s': piece %zu is not '%s'", file, text, i, piece);
		free(piece);
	}
	assert_int_equal(i, found.count);
	ranges_release(&found);
	free(text);
}

static void check_split(const char *name, const char *regex)
{
	char path[300];
	struct file_bytes bytes;
	snprintf(path, sizeof path, SHARED "/published/%s/dev.jsonl", name);
	if (access(path, F_OK) != 0) {
		printf("skipped: no %s\n", path);
		skip();
	}
	struct pattern *p = compile(regex);
	assert_int_equal(file_bytes_open(&bytes, path, NULL), ATTN_OK);
	const char *text = (const char *)bytes.data, *end = text + bytes.length;
	while (text < end) {
		const char *next = memchr(text, '\n', (size_t)(end - text));
		next = next ? next : end;
		cJSON *line = parse_line(text, (size_t)(next - text));
		check_pieces(p, path, line);
		cJSON_Delete(line);
		text = next + 1;
	}
	file_bytes_release(&bytes);
	pattern_free(p);
}

#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define CL100K(digits)                                                                                       \
	"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits                                 \
	"| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define O200K                                                                                                \
	"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"          \
	"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"                                                                     \
	"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"          \
	"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"                                                                     \
	"\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static void test_gpt2(void **state)
{
	(void)state;
	check_split("split-gpt2", GPT2);
}

static void test_llama3(void **state)
{
	(void)state;
	check_split("split-llama3", CL100K("\\p{N}{1,3}"));
}

static void test_qwen2(void **state)
{
	(void)state;
	check_split("split-qwen2", CL100K("\\p{N}"));
}

static void test_o200k(void **state)
{
	(void)state;
	check_split("split-o200k", O200K);
}

/* U+180E is a space for PCRE2 alone; U+0085 and U+00A0 are for both, U+200B for none. */
static void test_spaces(void **state)
{
	(void)state;
	expect_split("\\s", "a\u180eb", "a\u180eb");
	expect_split("[\\s]", "a\u180e\u00a0b", "a\u180e|[\u00a0]|b");
	expect_split("\\S+", " \u180e\u200b ", " |[\u180e\u200b]| ");
	expect_split("[^\\S\n]+", "a \t\nb\u180e", "a|[ \t]|\nb\u180e");
	expect_split("[[:space:]]", "a\u180e\u3000", "a\u180e|[\u3000]");
	expect_split("[\\p{Space}x]+", "a\u180e x", "a\u180e|[ x]");
	expect_split(GPT2, "\u180e\u180e!", "[\u180e\u180e!]");
}

/* \w is what is alphabetic, marks, decimal digits and what joins words; ² is neither. */
static void test_words(void **state)
{
	(void)state;
	expect_split("\\w+", "a_1 b\u0301\u00b2\u2160", "[a_1]| |[b\u0301]|\u00b2|[\u2160]");
	expect_split("\\W+", "a+\u00b2b", "a|[+\u00b2]|b");
	expect_split("[\\W1]+", "a+1b", "a|[+1]|b");
	expect_split("\\b", "a b", "[]|a|[]| |[]|b|[]");
	expect_split("\\B", "ab", "a|[]|b");
	expect_split("\\h+\\H", "12fg", "[12fg]");
	expect_split("\\d+", "1\u0663\u00b2", "[1\u0663]|\u00b2");
}

static void test_classes(void **state)
{
	(void)state;
	expect_split(" ?[^(\\s|[.,!?])]+", "ab (c. d", "[ab]| (|[c]|.|[ d]");
	expect_split("[a-z&&[^aeiou]]+", "hello", "[h]|e|[ll]|o");
	expect_split("[a-z&&b-d&&[^c]]", "abcde", "a|[b]|c|[d]|e");
	expect_split("[^a-z&&[^aeiou]]+", "hello!", "h|[e]|ll|[o!]");
	expect_split("[a[^b]]+", "abc", "[a]|b|[c]");
	expect_split("[]a]+", "a]b", "[a]]|b");
	expect_split("[^]a]+", "a]b", "a]|[b]");
	expect_split("[a^]+", "a^b", "[a^]|b");
	expect_split("[[^x]^]", "x^", "x|[^]");
	expect_split("[\\[\\]\\\\-]+", "a[-]\\", "a|[[-]\\]");
	expect_split("[[:alpha:]_]+[[:^digit:]]", "ab_1-", "[ab_]|1-");
	expect_split("[\\u4e00-\\u9fa5\\x{3040}]+", "a\u4e2d\u3040", "a|[\u4e2d\u3040]");
	expect_split("[&]+", "a&&b", "a|[&&]|b");
}

/* Scripts are not what PCRE2 makes of their names, which takes U+3001 for Han. */
static void test_properties(void **state)
{
	(void)state;
	expect_split("\\p{Han}+", "\u4e2d\u3001a", "[\u4e2d]|\u3001a");
	expect_split("\\p{^L}+", "a1b", "a|[1]|b");
	expect_split("\\P{Letter}+", "a1b", "a|[1]|b");
	expect_split("[\\P{Uppercase_Letter}]+", "AbC", "A|[b]|C");
	expect_split("\\p{Punct}+", "a+-b", "a|[+-]|b");
}

static void test_groups(void **state)
{
	(void)state;
	expect_split("(?i:'S)|(?<name>x)\\k<name>", "'s\u017f'\u017fxx", "['s]|\u017f|['\u017f]|[xx]");
	expect_split("a(?m:.)b", "a\nb", "[a\nb]");
	expect_split("a.b", "a\nb", "a\nb");
	expect_split("^a$", "b\na\nc", "b\n|[a]|\nc");
	expect_split("(?<=a)b(?!c)(?#note)|(?>x+)", "abbcxx", "a|[b]|bc|[xx]");
	expect_split("a{,2}b", "aaab", "a|[aab]");
	expect_split("(?:\\d{2}){2}|x{2}?", "12345x", "[1234]|5|[]|x|[]");
	expect_split("\\d{1,2}+x", "12345x", "[12345x]");
	expect_split("a++b|{|#|\\v\\z", "aab{#\v", "[aab]|[{]|[#]|[\v]");
	expect_split("x*", "axb", "[]|a|[x]|b|[]");
}

static void test_literal(void **state)
{
	struct pattern *p;
	(void)state;
	assert_int_equal(pattern_literal(&p, "a.", NULL), ATTN_OK);
	char *found = split(p, "aba.a.", 6);
	assert_string_equal(found, "ab|[a.]|[a.]");
	free(found);
	pattern_free(p);
	assert_int_equal(pattern_literal(&p, "", NULL), ATTN_OK);
	found = split(p, "a\u00e9", 3);
	assert_string_equal(found, "[]|a|[]|\u00e9|[]");
	free(found);
	pattern_free(p);
}

static void expect_refused(const char *regex, const char *part)
{
	struct pattern *p;
	struct attn_error err = {0};
	assert_int_equal(pattern_regex(&p, regex, &err), ATTN_BAD_INPUT);
	assert_null(p);
	if (!strstr(err.message, part))
		fail_msg("'%s', expected '%s'", err.message, part);
}

static void test_refused(void **state)
{
	static const char *const unsupported[] = {
	    "(?C1)", "(*ACCEPT)", "(?R)", "(?1)",  "(?P<a>b)", "(?~a)",     "(?x: a)",
	    "\\xff", "\\o{7}",    "\\cA", "\\p{}", "[\\R]",    "[[:huh:]]", "[a",
	    ")",     "(",         "*a",   "a**",   "\\",       "[\\",       "\\u12"};
	(void)state;
	for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
		expect_refused(unsupported[i], "which is not supported");
	expect_refused("a(?<=b+)", "pattern 'a(?<=b+)': ");
	expect_refused("((((a{1000}){1000}){1000}){1000})", "too large");
	char deep[500] = "", *large = malloc(20001);
	memset(deep, '(', 200);
	expect_refused(deep, "which is not supported");
	memset(deep, '[', 200);
	expect_refused(deep, "which is not supported");
	assert_non_null(large);
	memset(large, 'a', 20000);
	large[20000] = '\0';
	expect_refused(large, "has 20000 bytes, expected at most 16384");
	free(large);
}

/* A match that would take 2^n steps ends in a message, both as it is read and as machine code. */
static void test_exploding(void **state)
{
	static const char regex[] = "(a+)+$|(x|xx)*y";
	struct pattern *p = compile(regex);
	char text[9000];
	(void)state;
	memset(text, 'a', sizeof text);
	text[40] = '!';
	for (int round = 0; round < 2; round++) {
		char *found = split(p, text, round ? sizeof text - 1 : 41);
		if (!strstr(found, "takes too long on this text"))
			fail_msg("'%.300s'", found);
		free(found);
		text[sizeof text - 2] = '!';
	}
	pattern_free(p);
}

/* Machine code finds what the interpreter does: pieces of a text short and long. */
static void test_long(void **state)
{
	struct pattern *p = compile(GPT2);
	struct buffer text = BUFFER_INIT;
	struct ranges found = {0};
	(void)state;
	for (int i = 0; i < 3000; i++)
		buffer_add_string(&text, "I'm 42  \u00e9t\u00e9!");
	assert_int_equal(pattern_find(p, text.data, text.length, &found, NULL), ATTN_OK);
	/* I, 'm, " 42", " ", " \u00e9t\u00e9", "!" */
	assert_int_equal(found.count, 3000 * 6);
	assert_int_equal(found.items[17999].end, text.length);
	ranges_release(&found);
	buffer_release(&text);
	pattern_free(p);
}

/* What machine code has no stack for. */
static void test_deep(void **state)
{
	struct pattern *p = compile("(?:(a)|b)+c");
	struct buffer text = BUFFER_INIT;
	struct ranges found = {0};
	(void)state;
	for (int i = 0; i < 60000; i++)
		buffer_add_string(&text, "ab");
	buffer_add_string(&text, "c");
	assert_int_equal(pattern_find(p, text.data, text.length, &found, NULL), ATTN_OK);
	assert_int_equal(found.count, 1);
	assert_true(found.items[0].match);
	ranges_release(&found);
	buffer_release(&text);
	pattern_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_gpt2),    cmocka_unit_test(test_llama3),
	    cmocka_unit_test(test_qwen2),   cmocka_unit_test(test_o200k),
	    cmocka_unit_test(test_spaces),  cmocka_unit_test(test_words),
	    cmocka_unit_test(test_classes), cmocka_unit_test(test_properties),
	    cmocka_unit_test(test_groups),  cmocka_unit_test(test_literal),
	    cmocka_unit_test(test_refused), cmocka_unit_test(test_exploding),
	    cmocka_unit_test(test_long),    cmocka_unit_test(test_deep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
