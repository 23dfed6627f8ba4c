/* Windows, dilation, prefixes, blocks and segments: patterns drawn by hand, and random
 * ones against a double loop over the definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "bundle_test.h"
#include "input/bind.h"

/* Settings: "name=value", the value up to a space. */
static void put_settings(struct bundle *b, const char *text)
{
	char copy[300], *rest = copy;
	snprintf(copy, sizeof copy, "%s", text);
	while (rest && *rest) {
		char *value = strsep(&rest, " "), *name = strsep(&value, "=");
		put_setting(b, name, value);
	}
}

static void put_row(struct bundle *b, const char *name, int batch, const double *values, size_t count)
{
	size_t shape[2] = {(size_t)batch, count / (size_t)batch};
	put(b, name, DTYPE_F64, batch > 1 ? 2 : 1, batch > 1 ? shape : shape + 1, values);
}

/* Every row as test_masking draws them. */
static void expect_drawn(struct masking sizes, struct bundle *b, const char *of, const char *expected)
{
	struct attn_error err = {0};
	struct string_list notes = {0};
	struct masking v = sizes;
	char found[1000], *end = found;
	unsigned char row[64];
	if (bind_masking(&v, b, &notes, &err) != ATTN_OK)
		fail_msg("%s: %s", of, err.message);
	for (size_t i = 0; i < v.batch * v.heads * v.queries; i++) {
		masking_row(&v, i / v.queries / v.heads, i / v.queries % v.heads, i % v.queries, row);
		if (i > 0)
			*end++ = ' ';
		for (size_t j = 0; j < v.plain_keys + v.appended_keys; j++)
			*end++ = row[j] ? '1' : '.';
	}
	*end = '\0';
	if (strcmp(found, expected) != 0)
		fail_msg("%s: '%s', expected '%s'", of, found, expected);
	masking_release(&v);
	string_list_release(&notes);
	bundle_release(b);
}

static void expect_rows(struct masking sizes, const char *settings, const char *expected)
{
	struct bundle b;
	bundle_init(&b);
	put_settings(&b, settings);
	expect_drawn(sizes, &b, settings, expected);
}

static void test_windows(void **state)
{
	struct masking v = {.batch = 1, .heads = 1, .queries = 5, .plain_keys = 5};
	(void)state;
	expect_rows(v, "window=2,0", "1.... 11... 111.. .111. ..111");
	expect_rows(v, "window=0,1", "11... .11.. ..11. ...11 ....1");
	expect_rows(v, "window=0,0", "1.... .1... ..1.. ...1. ....1");
	expect_rows(v, "window=-1,0", "1.... 11... 111.. 1111. 11111");
	expect_rows(v, "window=1,-1", "11111 11111 .1111 ..111 ...11");
	expect_rows(v, "window=1,3 causal=true", "1.... 11... .11.. ..11. ...11");
	expect_rows(v, "window=-1,-1", "11111 11111 11111 11111 11111");
	expect_rows(v, "window=-1", "11111 11111 11111 11111 11111");
	expect_rows(v, "window=18446744073709551615,4", "11111 11111 11111 11111 11111");
	v.queries = 2; /* from a past on, and of a cache's end */
	v.past_keys = 3;
	v.appended_keys = 1;
	expect_rows(v, "window=2,0", ".111.1 ..1111");
	v = (struct masking){.batch = 1, .heads = 1, .queries = 4, .plain_keys = 2};
	expect_rows(v, "window=1,0", "1. 11 .1 ..");
}

/* The offsets are 3 - 2 and 1 - 2. */
static void test_window_of_lengths(void **state)
{
	static const double lengths[] = {3, 1};
	struct masking v = {.batch = 2, .heads = 1, .queries = 2, .plain_keys = 4};
	struct bundle b;
	(void)state;
	bundle_init(&b);
	put_row(&b, "kv_lengths", 1, lengths, 2);
	put_settings(&b, "window=1,0");
	expect_drawn(v, &b, "lengths", "11.. .11. .... 1...");
	bundle_init(&b);
	put_row(&b, "kv_lengths", 1, lengths, 2);
	put_settings(&b, "window=0,1");
	expect_drawn(v, &b, "lengths", ".11. ..1. 1... 1...");
	assert_int_equal(masking_offset(&v, 1), 0);
	v.lengths = (size_t[]){3, 1};
	assert_int_equal(masking_offset(&v, 0), 1);
	assert_int_equal(masking_offset(&v, 1), -1);
}

static void test_dilation(void **state)
{
	struct masking v = {.batch = 1, .heads = 1, .queries = 6, .plain_keys = 6};
	(void)state;
	expect_rows(v, "window=1,1 dilation=2", "1.1... .1.1.. 1.1.1. .1.1.1 ..1.1. ...1.1");
	expect_rows(v, "window=1,0 dilation=3", "1..... .1.... ..1... 1..1.. .1..1. ..1..1");
	expect_rows(v, "dilation=2 causal=true", "1..... .1.... 1.1... .1.1.. 1.1.1. .1.1.1");
	expect_rows(v, "dilation=4", "1...1. .1...1 ..1... ...1.. 1...1. .1...1");
	expect_rows(v, "dilation=18446744073709551615", "1..... .1.... ..1... ...1.. ....1. .....1");
}

static void test_prefix(void **state)
{
	struct masking v = {.batch = 1, .heads = 1, .queries = 4, .plain_keys = 4};
	(void)state;
	expect_rows(v, "prefix=2", "11.. 11.. 111. 1111");
	expect_rows(v, "prefix=0", "1... 11.. 111. 1111");
	expect_rows(v, "prefix=9", "1111 1111 1111 1111");
	expect_rows(v, "prefix=1 window=0,0", "1... 11.. 1.1. 1..1");
	v.past_keys = 2;
	v.queries = 2;
	expect_rows(v, "prefix=1 window=0,0 causal=false", "1.1. 1..1");
}

/* BigBird's figure 1 without the random blocks: 12 tokens in blocks of 2. */
static void test_blocks(void **state)
{
	struct masking v = {.batch = 1, .heads = 1, .queries = 12, .plain_keys = 12};
	(void)state;
	expect_rows(v, "blocks=size=2,global=1",
		    "111111111111 111111111111 111111...... 111111...... 11111111.... 11111111.... "
		    "11..111111.. 11..111111.. 11....111111 11....111111 11......1111 11......1111");
	v.queries = 5; /* the last block is short */
	v.plain_keys = 5;
	expect_rows(v, "blocks=size=2,window=1", "11... 11... ..11. ..11. ....1");
	expect_rows(v, "blocks=size=2,window=3,global=0", "1111. 1111. 11111 11111 ..111");
	expect_rows(v, "blocks=window=0,global=1,size=2 causal=true", "1.... 11... 11... 11... 11...");
	expect_rows(v, "blocks=size=18446744073709551615,global=0", "11111 11111 11111 11111 11111");
	expect_rows(v,
		    "blocks=size=1,global=18446744073709551615,window=18446744073709551615,"
		    "random=18446744073709551615",
		    "11111 11111 11111 11111 11111");
	v.past_keys = 3;
	v.queries = 3; /* positions 3, 4, 5: the last is behind all keys */
	expect_rows(v, "blocks=size=2,window=1", "..11. ....1 ....1");
	v.queries = 4;
	expect_rows(v, "blocks=size=2,window=1", "..11. ....1 ....1 .....");
}

/* The patterns were worked out from the definition by another program. */
static void test_random_blocks(void **state)
{
	struct masking v = {.batch = 1, .heads = 2, .queries = 8, .plain_keys = 8};
	(void)state;
	expect_rows(v, "blocks=size=1,window=1,random=2",
		    "11..1... .11..1.. ..1..11. ...1..11 .1.11... ...111.. 1...1.1. ...1.1.1 "
		    "11....1. .1..1.1. ..11...1 ..11...1 1..11... 1..1.1.. ..11..1. .1...1.1");
	expect_rows(v, "blocks=size=1,window=1,random=2,seed=5",
		    "1..1..1. 111..... .11...1. ...1..11 1..11... ...1.1.1 .1...11. 1.....11 "
		    "1..1..1. .11.1... .11..1.. ..11..1. ....11.1 1.1..1.. 1..1..1. ...1..11");
	v.heads = 1;
	expect_rows(v, "blocks=size=1,window=1,random=2 causal=true",
		    "1....... 11...... 111..... 11.1.... .1.11... ...111.. 1...1.1. ...1.1.1");
	v.batch = 2; /* the same for every batch item */
	expect_rows(v, "blocks=size=1,window=1,random=2",
		    "11..1... .11..1.. ..1..11. ...1..11 .1.11... ...111.. 1...1.1. ...1.1.1 "
		    "11..1... .11..1.. ..1..11. ...1..11 .1.11... ...111.. 1...1.1. ...1.1.1");
}

static void test_segments(void **state)
{
	static const double one[] = {-1, -1, 7}, source[] = {7, 7, -1, 3}, batch[] = {1, 1, 2, 4, 5, 5};
	struct masking v = {.batch = 1, .heads = 1, .queries = 3, .plain_keys = 3};
	struct bundle b;
	(void)state;
	bundle_init(&b);
	put_row(&b, "segments", 1, one, 3);
	expect_drawn(v, &b, "self", "11. 11. ..1");
	bundle_init(&b);
	put_row(&b, "segments", 1, one, 3);
	put_setting(&b, "causal", "true");
	expect_drawn(v, &b, "self", "1.. 11. ..1");
	v.batch = 2;
	bundle_init(&b);
	put_row(&b, "segments", 2, batch, 6);
	expect_drawn(v, &b, "batch", "11. 11. ..1 1.. .11 .11");
	v.batch = 1;
	v.plain_keys = 4;
	v.past_keys = 1;
	v.appended_keys = 1;
	bundle_init(&b);
	put_row(&b, "segments", 1, one, 3);
	put_row(&b, "source_segments", 1, source, 4);
	expect_drawn(v, &b, "source", "..1.1 ..1.1 11..1");
}

/* --- against a double loop --------------------------------------------------------- */

enum {
	MOST = 90 /* queries or keys: more than two runs of segments */
};

struct rules {
	struct masking sizes;
	bool causal, has_lengths, segments, padding, mask, blocks;
	long left, right, dilation, prefix; /* -1: none */
	long size, global, window, random, seed;
	double lengths[2], query_segments[MOST], key_segments[MOST], keep[MOST], masked[MOST * MOST];
};

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t state_of_draws;

static long drawn(long least, long most)
{
	return least + (long)(mix(state_of_draws++) % (uint64_t)(most - least + 1));
}

static bool block_rule(const struct rules *r, long qb, long kb)
{
	return qb < r->global || kb < r->global || (r->window > 0 && labs(qb - kb) <= (r->window - 1) / 2);
}

static bool block_seen(const struct rules *r, size_t head, long qb, long kb)
{
	uint64_t start = mix(mix(mix((uint64_t)r->seed) ^ head) ^ (uint64_t)qb);
	bool causal = r->causal || r->prefix >= 0;
	long blocks = ((long)r->sizes.plain_keys + r->size - 1) / r->size, before = 0;
	if (block_rule(r, qb, kb))
		return true;
	if (causal && kb > qb)
		return false;
	for (long other = 0; other < blocks; other++)
		if (!block_rule(r, qb, other) && !(causal && other > qb))
			before += mix(start ^ (uint64_t)other) < mix(start ^ (uint64_t)kb);
	return before < r->random;
}

static bool seen(const struct rules *r, size_t batch, size_t head, size_t query, size_t key)
{
	const struct masking *s = &r->sizes;
	long j = (long)key, n = (long)s->queries;
	long p = (long)query + (r->has_lengths ? (long)r->lengths[batch] - n : (long)s->past_keys);
	if (key >= s->plain_keys)
		return true;
	if (r->has_lengths && j >= (long)r->lengths[batch])
		return false;
	bool window = (r->left < 0 || p - r->left * r->dilation <= j) &&
		      (r->right < 0 || j <= p + r->right * r->dilation) && (p - j) % r->dilation == 0;
	bool causal = (!r->causal && r->prefix < 0) || j <= p;
	if (!(j < r->prefix) && !(window && causal))
		return false;
	if (r->blocks && !block_seen(r, head, p < 0 ? 0 : p / r->size, j / r->size))
		return false;
	if (r->segments && r->query_segments[query] != r->key_segments[key])
		return false;
	return (!r->padding || r->keep[key] != 0) &&
	       (!r->mask || r->masked[query * s->plain_keys + key] != 0);
}

/* A packed row of sequences: neighbours are of one segment or of the next. */
static void fill_segments(double *segments, size_t count)
{
	double now = (double)drawn(-3, 3);
	for (size_t i = 0; i < count; i++)
		segments[i] = now += drawn(0, 9) == 0;
}

static struct rules random_rules(void)
{
	struct rules r = {.left = -1, .right = -1, .dilation = 1, .prefix = -1};
	r.sizes = (struct masking){
	    .batch = (size_t)drawn(1, 2),
	    .heads = (size_t)drawn(1, 2),
	    .queries = (size_t)drawn(1, drawn(0, 1) ? 8 : MOST),
	    .plain_keys = (size_t)drawn(1, drawn(0, 1) ? 8 : MOST),
	    .appended_keys = (size_t)(drawn(0, 2) == 0 ? drawn(1, 2) : 0),
	};
	long keys = (long)r.sizes.plain_keys;
	r.has_lengths = drawn(0, 3) == 0;
	if (!r.has_lengths && drawn(0, 1))
		r.sizes.past_keys = (size_t)drawn(0, keys - 1);
	r.lengths[0] = (double)drawn(0, keys);
	r.lengths[1] = (double)drawn(0, keys);
	r.causal = drawn(0, 2) == 0;
	if (drawn(0, 1)) {
		r.left = drawn(-1, keys / 3);
		r.right = drawn(-1, keys / 3);
	}
	if (drawn(0, 3) == 0)
		r.dilation = drawn(1, 5);
	if (drawn(0, 3) == 0)
		r.prefix = drawn(0, keys + 1);
	r.blocks = drawn(0, 3) == 0;
	r.size = drawn(1, 12);
	r.global = drawn(0, 2);
	r.window = drawn(0, 2) * 2 + 1;
	r.window = drawn(0, 3) == 0 ? 0 : r.window;
	r.random = drawn(0, 3);
	r.seed = drawn(0, 1000);
	r.segments = drawn(0, 3) == 0;
	fill_segments(r.query_segments, r.sizes.queries);
	fill_segments(r.key_segments, r.sizes.plain_keys);
	r.padding = drawn(0, 7) == 0;
	r.mask = drawn(0, 7) == 0;
	for (size_t j = 0; j < r.sizes.plain_keys; j++)
		r.keep[j] = drawn(0, 5) > 0;
	for (size_t i = 0; i < r.sizes.queries * r.sizes.plain_keys; i++)
		r.masked[i] = drawn(0, 5) > 0;
	return r;
}

static struct masking bound(const struct rules *r)
{
	struct attn_error err = {0};
	struct string_list notes = {0};
	struct bundle b;
	struct masking v = r->sizes;
	char text[100];
	bundle_init(&b);
	put_setting(&b, "causal", r->causal ? "true" : "false");
	snprintf(text, sizeof text, "%ld,%ld", r->left, r->right);
	put_setting(&b, "window", text);
	snprintf(text, sizeof text, "%ld", r->dilation);
	put_setting(&b, "dilation", text);
	snprintf(text, sizeof text, "%ld", r->prefix);
	if (r->prefix >= 0)
		put_setting(&b, "prefix", text);
	snprintf(text, sizeof text, "size=%ld,global=%ld,window=%ld,random=%ld,seed=%ld", r->size, r->global,
		 r->window, r->random, r->seed);
	if (r->blocks)
		put_setting(&b, "blocks", text);
	if (r->has_lengths)
		put_row(&b, "kv_lengths", 1, r->lengths, v.batch);
	if (r->segments) {
		put_row(&b, "segments", 1, r->query_segments, v.queries);
		put_row(&b, "source_segments", 1, r->key_segments, v.plain_keys);
	}
	if (r->padding)
		put_row(&b, "key_padding", 1, r->keep, v.plain_keys);
	if (r->mask)
		put(&b, "mask", DTYPE_BOOL, SHAPE(v.queries, v.plain_keys), r->masked);
	if (bind_masking(&v, &b, &notes, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	bundle_release(&b);
	string_list_release(&notes);
	return v;
}

/* What is true of any row: the hull holds it, it is no more than the count, and a part of
 * it is that part of the whole. */
static void check_row(const struct rules *r, const struct masking *v, size_t batch, size_t head, size_t query,
		      unsigned char *truth)
{
	size_t keys = v->plain_keys + v->appended_keys, first, end, count = 0;
	unsigned char row[MOST + 2];
	masking_row(v, batch, head, query, truth);
	for (size_t j = 0; j < keys; j++)
		if (truth[j] != seen(r, batch, head, query, j))
			fail_msg("batch %zu head %zu query %zu key %zu is %d", batch, head, query, j,
				 truth[j]);
	masking_interval(v, batch, query, &first, &end);
	assert_true(first < end || (first == 0 && end == 0));
	assert_true(end <= v->plain_keys);
	for (size_t j = 0; j < v->plain_keys; j++) {
		count += truth[j];
		assert_false(truth[j] && (j < first || j >= end));
		if (masking_is_interval(v))
			assert_int_equal(truth[j], j >= first && j < end);
	}
	bool plain = !v->mask && !v->padding && !v->query_segments;
	assert_true(count <= masking_count(v, batch, query));
	if (plain && !v->blocks)
		assert_int_equal(count, masking_count(v, batch, query));
	first = (size_t)drawn(0, (long)keys);
	count = (size_t)drawn(0, (long)(keys - first));
	memset(row, 7, sizeof row);
	masking_keys(v, batch, head, query, first, count, row);
	assert_memory_equal(row, truth + first, count);
	assert_int_equal(row[count], 7);
}

/* Random rectangles.  One rule alone must be told exactly. */
static void check_reach(const struct rules *r, const struct masking *v, size_t batch, size_t head,
			const unsigned char *truth, size_t found[3])
{
	size_t keys = v->plain_keys + v->appended_keys;
	bool spans = v->causal || v->left_bound || v->right_bound || v->dilation > 1;
	bool exact = !v->mask && !v->padding && spans + r->blocks + r->segments <= 1;
	for (int i = 0; i < 30; i++) {
		size_t query = (size_t)drawn(0, (long)v->queries - 1), key = (size_t)drawn(0, (long)keys - 1);
		size_t queries = (size_t)drawn(1, (long)(v->queries - query)),
		       count = (size_t)drawn(1, (long)(keys - key)), sum = 0;
		if (drawn(0, 1))
			queries = queries % 8 + 1 <= v->queries - query ? queries % 8 + 1 : 1;
		if (drawn(0, 1))
			count = count % 8 + 1 <= keys - key ? count % 8 + 1 : 1;
		for (size_t q = query; q < query + queries; q++)
			for (size_t j = key; j < key + count; j++)
				sum += truth[q * keys + j];
		enum attended extent = masking_extent(v, batch, head, query, queries, key, count);
		enum attended exactly = sum == 0                 ? ATTENDED_NONE
					: sum == queries * count ? ATTENDED_ALL
								 : ATTENDED_SOME;
		found[extent]++;
		if (extent != exactly && (exact || extent != ATTENDED_SOME))
			fail_msg("reach %d, expected %d: queries %zu + %zu, keys %zu + %zu", extent, exactly,
				 query, queries, key, count);
	}
}

static void test_against_definition(void **state)
{
	size_t found[3] = {0}, intervals = 0;
	static unsigned char truth[MOST * (MOST + 2)];
	(void)state;
	for (int i = 0; i < 3000; i++) {
		state_of_draws = (uint64_t)i << 32;
		struct rules r = random_rules();
		struct masking v = bound(&r);
		size_t keys = v.plain_keys + v.appended_keys;
		intervals += masking_is_interval(&v);
		for (size_t plane = 0; plane < v.batch * v.heads; plane++) {
			size_t batch = plane / v.heads, head = plane % v.heads;
			for (size_t q = 0; q < v.queries; q++)
				check_row(&r, &v, batch, head, q, truth + q * keys);
			check_reach(&r, &v, batch, head, truth, found);
		}
		masking_release(&v);
	}
	/* Else nothing was tried. */
	assert_true(found[ATTENDED_NONE] > 1000 && found[ATTENDED_SOME] > 1000 && found[ATTENDED_ALL] > 1000);
	assert_true(intervals > 100);
}

/* Rules together still tell what each hides. */
static void test_reach_of_all(void **state)
{
	struct rules r = {.left = 200, .right = -1, .dilation = 1, .prefix = -1, .segments = true};
	(void)state;
	r.sizes = (struct masking){.batch = 1, .heads = 1, .queries = 80, .plain_keys = 80};
	r.causal = r.blocks = r.padding = r.mask = true;
	r.size = 16;
	r.global = 1;
	r.window = 1;
	for (size_t i = 0; i < 80; i++) {
		r.query_segments[i] = r.key_segments[i] = i >= 40;
		r.keep[i] = 1;
	}
	for (size_t i = 0; i < 80 * 80; i++)
		r.masked[i] = 1;
	struct masking v = bound(&r);
	assert_int_equal(masking_extent(&v, 0, 0, 0, 16, 17, 5), ATTENDED_NONE);  /* causal */
	assert_int_equal(masking_extent(&v, 0, 0, 32, 8, 16, 16), ATTENDED_NONE); /* blocks */
	assert_int_equal(masking_extent(&v, 0, 0, 41, 39, 0, 40), ATTENDED_NONE); /* segments */
	assert_int_equal(masking_extent(&v, 0, 0, 20, 2, 0, 10), ATTENDED_SOME);  /* a mask */
	assert_int_equal(masking_extent(&v, 0, 0, 20, 0, 0, 10), ATTENDED_NONE);
	masking_release(&v);
}

/* A quarter of a million tokens: nothing here may look at every key of every query. */
static void test_long(void **state)
{
	struct attn_error err = {0};
	struct string_list notes = {0};
	struct masking v = {.batch = 1, .heads = 2, .queries = 1 << 18, .plain_keys = 1 << 18};
	struct bundle b;
	unsigned char row[64];
	size_t sum = 0, none = 0;
	(void)state;
	bundle_init(&b);
	put_settings(&b, "window=100,0 blocks=size=64,random=2 causal=true");
	assert_int_equal(bind_masking(&v, &b, &notes, &err), ATTN_OK);
	for (size_t query = 0; query < v.queries; query++) {
		size_t first = query < 100 ? 0 : query - 100;
		masking_keys(&v, 0, query % 2, query, first, 64, row);
		sum += row[0];
		none += masking_extent(&v, 0, 1, query, 1, 0, first ? first : 1) == ATTENDED_NONE;
		assert_true(masking_count(&v, 0, query) <= 101);
	}
	assert_true(sum > 0);
	assert_int_equal(none, v.queries - 101);
	masking_release(&v);
	bundle_release(&b);
}

/* --- errors ------------------------------------------------------------------------- */

static void expect_refusal(struct masking sizes, struct bundle *b, enum attn_status expected,
			   const char *const *parts)
{
	struct attn_error err = {0};
	struct string_list notes = {0};
	struct masking v = sizes;
	if (bind_masking(&v, b, &notes, &err) != expected)
		fail_msg("%s: status %d, '%s'", *parts, (int)err.status, err.message);
	expect_parts(*parts, err.message, parts);
	masking_release(&v);
	string_list_release(&notes);
	bundle_release(b);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_settings_refused(void **state)
{
	static const struct {
		const char *name, *value, *expected;
	} cases[] = {
	    {"window", "5", "expected 'L,R', such as '4,0' for the four keys before"},
	    {"window", "", "'L,R'"},
	    {"window", "1,2,3", "'L,R'"},
	    {"window", "1,", "'L,R'"},
	    {"window", ",1", "'L,R'"},
	    {"window", "-2,0", "-1 for no bound"},
	    {"window", "1,0.5", "'L,R'"},
	    {"window", "99999999999999999999,0", "'L,R'"},
	    {"dilation", "0", "a whole number from 1"},
	    {"dilation", "-1", "a whole number from 1"},
	    {"prefix", "-1", "a whole number from 0"},
	    {"prefix", "half", "a whole number from 0"},
	    {"blocks", "", "a 'size' from 1, such as 'size=64"},
	    {"blocks", "global=1", "a 'size' from 1"},
	    {"blocks", "size=0", "a 'size' from 1"},
	    {"blocks", "64", "only size, global, window, random and seed"},
	    {"blocks", "size=4,", "only size, global, window"},
	    {"blocks", "size=4,sizes=4", "only size, global, window"},
	    {"blocks", "size=4,glob=4", "only size, global, window"},
	    {"blocks", "size=4,size=4", "each name once"},
	    {"blocks", "size=4,window=2", "an odd 'window'"},
	    {"blocks", "size=4,window=-1", "whole numbers from 0"},
	    {"blocks", "size=99999999999999999999", "whole numbers from 0 to 2^64 - 1"},
	};
	struct masking v = {.batch = 1, .heads = 1, .queries = 2, .plain_keys = 3};
	struct bundle b;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bundle_init(&b);
		put_setting(&b, cases[i].name, cases[i].value);
		expect_refusal(v, &b, ATTN_BAD_INPUT,
			       PARTS(cases[i].expected, "'test'", cases[i].name, cases[i].value));
		bundle_init(&b);
		assert_int_equal(bundle_override(&b, cases[i].name, cases[i].value, "--option", NULL),
				 ATTN_OK);
		expect_refusal(v, &b, ATTN_USAGE, PARTS(cases[i].expected, "'--option'"));
	}
	char blocks[300];
	snprintf(blocks, sizeof blocks, "size=4,seed=%0250d", 1);
	bundle_init(&b);
	put_setting(&b, "blocks", blocks);
	expect_refusal(v, &b, ATTN_BAD_INPUT, PARTS("a short list"));
	v = (struct masking){.batch = 1, .heads = 100, .queries = 1 << 20, .plain_keys = 1 << 20};
	bundle_init(&b);
	put_setting(&b, "blocks", "size=1,random=1");
	expect_refusal(v, &b, ATTN_BAD_INPUT, PARTS("a larger 'size' or a smaller 'random'"));
}

static void test_segments_refused(void **state)
{
	static const double values[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, bad[] = {1, 1.5, 0x1p53, 0, 0};
	struct masking self = {.batch = 2, .heads = 1, .queries = 3, .plain_keys = 3}, other = self;
	struct bundle b;
	(void)state;
	bundle_init(&b);
	put_row(&b, "segments", 1, values, 4);
	expect_refusal(self, &b, ATTN_BAD_INPUT,
		       PARTS("'segments' is 4", "'test'", "expected 3 (one for each query), or 2 x 3"));
	bundle_init(&b);
	put_row(&b, "segments", 3, values, 9);
	expect_refusal(self, &b, ATTN_BAD_INPUT, PARTS("'segments' is 3 x 3", "2 x 3"));
	bundle_init(&b);
	put(&b, "segments", DTYPE_F64, 0, NULL, values);
	expect_refusal(self, &b, ATTN_BAD_INPUT, PARTS("'segments' is a scalar"));
	bundle_init(&b);
	put(&b, "segments", DTYPE_F64, SHAPE(1, 1, 3), values);
	expect_refusal(self, &b, ATTN_BAD_INPUT, PARTS("'segments' is 1 x 1 x 3"));
	for (int i = 0; i < 2; i++) {
		bundle_init(&b);
		put_row(&b, "segments", 1, bad + i, 3);
		expect_refusal(self, &b, ATTN_BAD_INPUT,
			       PARTS(i ? "'segments[0]' is 1.5" : "'segments[1]' is 1.5", "whole number"));
	}
	bundle_init(&b);
	put_row(&b, "segments", 1, bad + 2, 3);
	expect_refusal(self, &b, ATTN_BAD_INPUT, PARTS("'segments[0]' is 9007199254740992", "2^53"));
	bundle_init(&b);
	put_row(&b, "source_segments", 1, values, 3);
	expect_refusal(self, &b, ATTN_BAD_INPUT,
		       PARTS("'source_segments' without 'segments'", "3 of the queries"));
	bundle_init(&b);
	put_row(&b, "segments", 1, values, 3);
	put(&b, "source_embeddings", DTYPE_F64, SHAPE(3, 1), values);
	expect_refusal(self, &b, ATTN_BAD_INPUT,
		       PARTS("'segments' without 'source_segments'", "3 of the keys"));
	other.plain_keys = 5;
	bundle_init(&b);
	put_row(&b, "segments", 1, values, 3);
	expect_refusal(other, &b, ATTN_BAD_INPUT,
		       PARTS("'segments' without 'source_segments'", "5 of the keys"));
	other.past_keys = 2;
	bundle_init(&b);
	put_row(&b, "segments", 1, values, 3);
	expect_refusal(other, &b, ATTN_BAD_INPUT, PARTS("5 of the keys, past ones first"));
	bundle_init(&b);
	put_row(&b, "segments", 1, values, 3);
	put_row(&b, "source_segments", 1, values, 3);
	expect_refusal(other, &b, ATTN_BAD_INPUT,
		       PARTS("'source_segments' is 3", "expected 5 (one for each key, past ones first)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_windows),          cmocka_unit_test(test_window_of_lengths),
	    cmocka_unit_test(test_dilation),         cmocka_unit_test(test_prefix),
	    cmocka_unit_test(test_blocks),           cmocka_unit_test(test_random_blocks),
	    cmocka_unit_test(test_segments),         cmocka_unit_test(test_against_definition),
	    cmocka_unit_test(test_reach_of_all),     cmocka_unit_test(test_long),
	    cmocka_unit_test(test_settings_refused), cmocka_unit_test(test_segments_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
