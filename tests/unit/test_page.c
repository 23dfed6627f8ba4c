#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "consumers/page_rows.h"
#include "draw/page/document.h"
#include "util/base64.h"
#include "util/sha256.h"

/* RFC 4648, section 10. */
static void test_base64(void **state)
{
	static const char *const cases[][2] = {{"", ""},
					       {"f", "Zg=="},
					       {"fo", "Zm8="},
					       {"foo", "Zm9v"},
					       {"foob", "Zm9vYg=="},
					       {"fooba", "Zm9vYmE="},
					       {"foobar", "Zm9vYmFy"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buffer b = BUFFER_INIT;
		buffer_add_base64(&b, cases[i][0], strlen(cases[i][0]));
		buffer_add(&b, "", 0);
		assert_string_equal(b.data, cases[i][1]);
		buffer_release(&b);
	}
}

/* The letters of all 64 values, over more than one piece: 3 bytes a time that hold v, v, v, v. */
static void test_base64_long(void **state)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct buffer bytes = BUFFER_INIT, b = BUFFER_INIT;
	(void)state;
	for (unsigned i = 0; i < 64 * 40; i++) {
		unsigned v = i % 64, three = v << 18 | v << 12 | v << 6 | v;
		unsigned char part[3] = {(unsigned char)(three >> 16), (unsigned char)(three >> 8),
					 (unsigned char)three};
		buffer_add(&bytes, part, 3);
	}
	buffer_add_base64(&b, bytes.data, bytes.length);
	assert_int_equal(b.length, 64 * 40 * 4);
	for (size_t i = 0; i < b.length; i++)
		assert_int_equal(b.data[i], letters[i / 4 % 64]);
	buffer_release(&bytes);
	buffer_release(&b);
}

static void check_sha256(const char *text, size_t length, const char *expected)
{
	unsigned char digest[32];
	char hex[65];
	sha256(text, length, digest);
	for (size_t i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(hex, expected);
}

/* The examples of FIPS 180-4, and lengths about a block's end, by coreutils' sha256sum. */
static void test_sha256(void **state)
{
	static const char a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	(void)state;
	check_sha256("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_sha256(two, strlen(two), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	check_sha256("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_sha256(a, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	check_sha256(a, 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
	check_sha256(a, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

/* The weight that a code stands for, as the page's script decodes it. */
static double value_of(const struct page_coding *coding, size_t code, float largest)
{
	double levels =
	    coding->signed_weights ? ldexp(1, (int)coding->bits - 1) - 1 : ldexp(1, (int)coding->bits) - 2;
	double level = ((double)code - (coding->signed_weights ? levels + 1 : 1)) / levels;
	return (double)largest * level * fabs(level);
}

/* What the page and its manual say of the error is so, and is reached. */
static void test_error(void **state)
{
	static const struct {
		size_t bits;
		bool negative;
		double error; /* half of the last step: (1 - ((L - 1) / L)^2) / 2 */
	} cases[] = {
	    {8, false, 0.0039293}, {8, true, 0.0078430}, {16, false, 1.52591e-5}, {16, true, 3.05185e-5}};
	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct page_coding coding = {.bits = cases[c].bits, .signed_weights = cases[c].negative};
		const float largest = 0.625f;
		double worst = 0;
		for (int i = 0; i <= 400000; i++) {
			float w = (float)((double)largest * i / 400000);
			for (int sign = cases[c].negative ? -1 : 1; sign <= 1; sign += 2) {
				size_t code = page_code(&coding, (float)sign * w, largest);
				assert_true(code >= 1 && code < (size_t)1 << coding.bits);
				double off = fabs(value_of(&coding, code, largest) - sign * (double)w);
				worst = fmax(worst, off / (double)largest);
			}
		}
		assert_true(fabs(page_error(&coding) - cases[c].error) < cases[c].error * 1e-4);
		assert_true(worst <= cases[c].error * 1.0001);
		assert_true(worst > cases[c].error * 0.8);
	}
}

static void test_ends(void **state)
{
	struct page_coding coding = {.bits = 8}, both = {.bits = 8, .signed_weights = true};
	(void)state;
	assert_int_equal(page_code(&coding, 0, 0), 1);
	assert_int_equal(page_code(&coding, 0, 1), 1);
	assert_int_equal(page_code(&coding, 1e-30f, 1), 2); /* not 0, and so it stays */
	assert_int_equal(page_code(&coding, 0.3f, 0.3f), 255);
	assert_int_equal(page_code(&both, 0, 1), 128);
	assert_int_equal(page_code(&both, -1, 1), 1);
	assert_int_equal(page_code(&both, 1, 1), 255);
	assert_int_equal(page_code(&both, -1e-30f, 1), 127);
	assert_true(value_of(&both, 1, 0.5f) == -0.5);
	assert_true(value_of(&coding, 255, 0.5f) == 0.5);
}

static void check_bytes(const struct buffer *b, const unsigned char *expected, size_t count)
{
	assert_int_equal(b->length, count);
	assert_memory_equal(b->data, expected, count);
}

static void test_rows(void **state)
{
	const float weights[4] = {0.5f, 0.125f, 0, 0}; /* a quarter of the largest: half of the levels */
	const unsigned char cells[4] = {1, 1, 1, 0};
	static const unsigned char eight[] = {0, 0, 0, 0x3f, 255, 128, 1, 0};
	static const unsigned char sixteen[] = {0, 0, 0, 0x3f, 0xff, 0xff, 0, 0x80, 1, 0, 0, 0};
	struct page_coding coding = {.bits = 8};
	struct buffer b = BUFFER_INIT;
	(void)state;
	page_add_row(&b, &coding, weights, cells, 4);
	check_bytes(&b, eight, sizeof eight);
	buffer_clear(&b);
	coding.bits = 16;
	page_add_row(&b, &coding, weights, cells, 4);
	check_bytes(&b, sixteen, sizeof sixteen);
	buffer_release(&b);
}

/* Of equal weights the earlier keys are kept; 0 is not kept; what is masked does not count. */
static void test_top_rows(void **state)
{
	const float weights[8] = {0, 0.25f, 1, 0.0625f, 0.25f, 0.25f, 0, 0.5f};
	const unsigned char cells[8] = {0, 1, 0, 1, 1, 1, 1, 0};
	static const unsigned char two[] = {0, 0, 0x80, 0x3e, 1, 0, 0, 0, 7, 0, 0, 0, 5, 0,   0,
					    0, 2, 0,    0,    0, 1, 0, 0, 0, 4, 0, 0, 0, 255, 255};
	static const unsigned char all[] = {0, 0, 0x80, 0x3e, 1, 0, 0, 0, 7,   0,   0,   0,  5, 0,
					    0, 0, 4,    0,    0, 0, 1, 0, 0,   0,   3,   0,  0, 0,
					    4, 0, 0,    0,    5, 0, 0, 0, 255, 128, 255, 255};
	struct page_coding coding = {.bits = 8, .top = 2};
	struct buffer b = BUFFER_INIT;
	(void)state;
	page_add_row(&b, &coding, weights, cells, 8);
	check_bytes(&b, two, sizeof two);
	buffer_clear(&b);
	coding.top = 8;
	page_add_row(&b, &coding, weights, cells, 8);
	check_bytes(&b, all, sizeof all);
	buffer_release(&b);
}

/* The top keys of many random rows, against a count of how many are larger. */
static void test_top_random(void **state)
{
	enum {
		KEYS = 300,
		TOP = 16
	};
	struct page_coding coding = {.bits = 8, .top = TOP};
	unsigned int seed = 7;
	(void)state;
	for (int round = 0; round < 200; round++) {
		float weights[KEYS];
		unsigned char cells[KEYS];
		struct buffer b = BUFFER_INIT;
		size_t at = 0;
		for (size_t k = 0; k < KEYS; k++) {
			seed = seed * 1664525u + 1013904223u;
			weights[k] = (float)((seed >> 20) % 97) / 128; /* with many equal ones */
			cells[k] = (seed >> 10 & 3) != 0;
		}
		page_add_row(&b, &coding, weights, cells, KEYS);
		for (size_t k = 0; k < KEYS; k++) {
			size_t before = 0;
			for (size_t i = 0; i < KEYS; i++)
				before += cells[i] &&
					  (weights[i] > weights[k] || (weights[i] == weights[k] && i < k));
			if (!cells[k] || weights[k] == 0 || before >= TOP)
				continue;
			const unsigned char *key = (const unsigned char *)b.data + 20 + 4 * at++;
			assert_int_equal(key[0] | key[1] << 8, k);
		}
		assert_int_equal(b.data[16], at);
		buffer_release(&b);
	}
}

static void test_plan(void **state)
{
	struct page_coding coding;
	struct attn_error err = {ATTN_OK, ""};
	struct rows_shape shape = {.queries = 14, .keys = 14};
	(void)state;
	assert_int_equal(page_coding_choose(&coding, &shape, 4, &err), ATTN_OK);
	assert_int_equal(coding.bits, 16);
	assert_int_equal(coding.top, 0);
	shape.queries = shape.keys = 512;
	assert_int_equal(page_coding_choose(&coding, &shape, 144, &err), ATTN_OK);
	assert_int_equal(coding.bits, 8);
	assert_int_equal(coding.top, 0);
	shape.keys = 1024;
	assert_int_equal(page_coding_choose(&coding, &shape, 1, &err), ATTN_OK);
	assert_int_equal(coding.top, 0);
	shape.keys = 1025;
	assert_int_equal(page_coding_choose(&coding, &shape, 1, &err), ATTN_OK);
	assert_int_equal(coding.top, 64);
	shape.queries = shape.keys = 131072;
	assert_int_equal(page_coding_choose(&coding, &shape, 12, &err), ATTN_OK);
	assert_int_equal(coding.top, 32);
	assert_int_equal(page_coding_choose(&coding, &shape, 4096, &err), ATTN_USAGE);
	assert_non_null(strstr(err.message, "4096 heads of 131072 x 131072"));
	assert_int_equal(page_coding_choose(&coding, &shape, SIZE_MAX / 2, &err), ATTN_USAGE);
}

/* base64 and deflate undone, by zlib and a table of its own. */
static size_t unpack(const char *text, size_t length, unsigned char *out, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char *packed = malloc(length);
	size_t used = 0;
	for (size_t i = 0; i < length; i += 4) {
		unsigned four = 0;
		for (size_t c = 0; c < 4; c++)
			four = four << 6 |
			       (text[i + c] == '=' ? 0u : (unsigned)(strchr(letters, text[i + c]) - letters));
		for (int shift = 16; shift >= 0; shift -= 8)
			packed[used++] = (unsigned char)(four >> shift);
	}
	uLongf found = size;
	assert_int_equal(uncompress(out, &found, packed, used), Z_OK);
	free(packed);
	return found;
}

/* Two heads of 300 queries, in blocks of 128: each becomes its element. */
static void test_consumer(void **state)
{
	enum {
		QUERIES = 300,
		KEYS = 5
	};
	static float weights[QUERIES * KEYS];
	static unsigned char cells[QUERIES * KEYS], rows[QUERIES * (4 + KEYS) + 1];
	struct rows_shape shape = {.queries = QUERIES, .keys = KEYS};
	struct page_coding coding = {.bits = 8};
	struct page_rows consumer;
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	(void)state;
	page_rows_init(&consumer, &coding, &shape, stream);
	for (size_t head = 0; head < 2; head++) {
		for (size_t i = 0; i < QUERIES * KEYS; i++) {
			cells[i] = (i + head) % 3 != 0;
			weights[i] = cells[i] ? (float)((i * 7 + head) % 11) / 16 : 0;
		}
		for (size_t q = 0; q < QUERIES; q += 128) {
			struct row_block block = {.layer = 2,
						  .batch = 1,
						  .head = head,
						  .query = q,
						  .keys = KEYS,
						  .count = q + 128 < QUERIES ? 128 : QUERIES - q,
						  .weights = weights + q * KEYS,
						  .cells = cells + q * KEYS};
			assert_int_equal(consumer.consumer.consume(&consumer.consumer, &block, NULL),
					 ATTN_OK);
		}
		fflush(stream);
		char begin[100];
		snprintf(begin, sizeof begin, "id=\"w-2-1-%zu\" data-max=\"0.625\">", head);
		const char *data = strstr(text, begin);
		assert_non_null(data);
		data += strlen(begin);
		size_t size = unpack(data, (size_t)(strstr(data, "</script>\n") - data), rows, sizeof rows);
		assert_int_equal(size, QUERIES * (4 + KEYS));
		for (size_t i = 0; i < QUERIES * KEYS; i++) {
			const unsigned char *row = rows + i / KEYS * (4 + KEYS);
			float largest;
			memcpy(&largest, row, sizeof largest); /* little-endian, as the machine */
			size_t code = row[4 + i % KEYS];
			assert_int_equal(code == 0, !cells[i]);
			if (cells[i])
				assert_true(fabs(value_of(&coding, code, largest) - (double)weights[i]) <=
					    0.00393 * (double)largest);
		}
	}
	assert_int_equal(consumer.written, length);
	fclose(stream);
	free(text);
	page_rows_release(&consumer);
}

static void test_text(void **state)
{
	struct buffer b = BUFFER_INIT;
	(void)state;
	page_add_json_string(&b, "</script><!--&\"\xff\xe2\x80\xa8\x01");
	assert_string_equal(b.data,
			    "\"\\u003c/script\\u003e\\u003c!--\\u0026\\\"\xef\xbf\xbd\\u2028\\u0001\"");
	buffer_clear(&b);
	page_add_html(&b, "<a href='x'>&\"\xff\x01\xd9\x84");
	assert_string_equal(b.data, "&#60;a href=&#39;x&#39;&#62;&#38;&#34;\xef\xbf\xbd\xd9\x84");
	buffer_release(&b);
}

/* The policy names the script and the style that stand in the page, and nothing else. */
static void check_hash(const char *page, const char *directive, const char *begin, const char *end)
{
	unsigned char digest[32];
	struct buffer expected = BUFFER_INIT;
	const char *text = strstr(page, begin);
	assert_non_null(text);
	text += strlen(begin);
	sha256(text, (size_t)(strstr(text, end) - text), digest);
	buffer_printf(&expected, "; %s 'sha256-", directive);
	buffer_add_base64(&expected, digest, sizeof digest);
	buffer_add_string(&expected, "'");
	assert_non_null(strstr(page, expected.data));
	buffer_release(&expected);
}

static void test_document(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct attn_error err = {ATTN_OK, ""};
	(void)state;
	assert_int_equal(page_begin(&b, "a<b @META@", "{\"x\": \"@WEIGHTS@ @SCRIPT@\"}", &err), ATTN_OK);
	assert_non_null(strstr(b.data, "<title>a&#60;b @META@</title>"));
	assert_non_null(strstr(b.data, "id=\"meta\">{\"x\": \"@WEIGHTS@ @SCRIPT@\"}</script>"));
	check_hash(b.data, "script-src", "<script>", "</script>");
	check_hash(b.data, "style-src", "<style>", "</style>");
	size_t before = b.length;
	buffer_add_string(&b, "0123456789");
	assert_int_equal(page_end(&b, before + 10, &err), ATTN_OK);
	const char *bytes = strstr(b.data, "{\"bytes\":");
	assert_non_null(bytes);
	assert_int_equal(strtoul(bytes + 9, NULL, 10), b.length);
	assert_string_equal(b.data + b.length - 16, "</body>\n</html>\n");
	buffer_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_base64),   cmocka_unit_test(test_base64_long),
	    cmocka_unit_test(test_sha256),   cmocka_unit_test(test_error),
	    cmocka_unit_test(test_ends),     cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_top_rows), cmocka_unit_test(test_top_random),
	    cmocka_unit_test(test_plan),     cmocka_unit_test(test_consumer),
	    cmocka_unit_test(test_text),     cmocka_unit_test(test_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
