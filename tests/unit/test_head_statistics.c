/* Statistics of heads: matrices worked out by hand, and random ones against plain double loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/head_pattern.h"
#include "consumers/head_statistics.h"

#define expect_near(found, expected) expect_figure(#found, found, expected, 1e-9)

/* Entropies: their logs are those of a kernel. */
#define expect_log(found, expected) expect_figure(#found, found, expected, 1e-6)

static void expect_figure(const char *name, double found, double expected, double tolerance)
{
	bool same =
	    isnan(expected) ? isnan(found) : fabs(found - expected) <= tolerance * fmax(1, fabs(expected));
	if (!same)
		fail_msg("%s is %.12g, expected %.12g", name, found, expected);
}

/* Rows of one head with what they are called. */
struct matrix {
	const float *weights;
	const unsigned char *cells;
	struct rows_info info;
};

/* Labels are texts, or numbers where `tokens` is NULL. */
static struct rows_info make_info(struct rows_shape shape, const char *const *queries,
				  const char *const *keys)
{
	struct rows_info info = {.shape = shape, .has_tokens = keys != NULL};
	char number[24];
	for (size_t q = 0; q < shape.queries; q++) {
		snprintf(number, sizeof number, "%zu", q);
		assert_true(string_list_add(&info.query_labels, queries ? queries[q] : number));
	}
	for (size_t k = 0; k < shape.keys; k++) {
		snprintf(number, sizeof number, "%zu", k);
		assert_true(string_list_add(&info.key_labels, keys ? keys[k] : number));
	}
	return info;
}

/* Feed one head's rows, the last block first. */
static void feed(struct head_consumer *s, const struct matrix *m, size_t batch, size_t layer, size_t head)
{
	const struct rows_shape *shape = &m->info.shape;
	for (size_t block = (shape->queries - 1) / ROWS_BLOCK + 1; block-- > 0;) {
		size_t first = block * ROWS_BLOCK, end = first + ROWS_BLOCK;
		struct row_block rows = {.batch = batch,
					 .layer = layer,
					 .head = head,
					 .query = first,
					 .count = (end < shape->queries ? end : shape->queries) - first,
					 .keys = shape->keys,
					 .weights = m->weights + first * shape->keys,
					 .cells = m->cells + first * shape->keys};
		assert_int_equal(s->consumer.consume(&s->consumer, &rows, NULL), ATTN_OK);
	}
}

static struct head_statistics statistics_of(const struct matrix *m)
{
	struct head_places places;
	struct head_consumer s;
	assert_int_equal(head_places_init(&places, &m->info, &m->info.key_labels, NULL), ATTN_OK);
	assert_int_equal(head_consumer_init(&s, &m->info.shape, &places, NULL), ATTN_OK);
	feed(&s, m, 0, 0, 0);
	struct head_statistics found = head_statistics_of(&s, 0, 0, 0);
	head_consumer_release(&s);
	head_places_release(&places);
	return found;
}

static const unsigned char attended[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
					   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
					   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* the cat . */
static void test_by_hand(void **state)
{
	static const char *const tokens[] = {"the", "cat", "."};
	static const float weights[] = {
	    0.5f,  0.5f, 0,     /* 1 bit; distance 0.5 */
	    0.25f, 0.5f, 0.25f, /* 1.5 bits; distance 0.5 */
	    0.5f,  0.5f, 0,     /* 1 bit; distance 1.5 */
	};
	(void)state;
	struct matrix m = {weights, attended,
			   make_info((struct rows_shape){1, 1, 1, 3, 3, 0, 0, false, false}, tokens, tokens)};
	struct head_statistics s = statistics_of(&m);
	assert_int_equal(s.queries, 3);
	expect_log(s.entropy, 3.5 / 3);
	expect_log(s.effective_keys, pow(2, 3.5 / 3));
	expect_near(s.largest, 0.5);
	expect_near(s.diagonal, 1.0 / 3);
	expect_near(s.previous, 0.75 / 2);
	expect_near(s.next, 0.75 / 2);
	expect_near(s.first, 1.25 / 3);
	expect_near(s.separator, 0.25 / 3);
	expect_near(s.within5, 1);
	expect_near(s.distance, 2.5 / 3);
	/* squares: 0.5, 0.5, 2.5 */
	expect_near(s.distance_spread, sqrt(3.5 / 3 - 2.5 * 2.5 / 9));
	expect_near(s.offset, 0); /* offsets 0, 0, -2 */
	expect_near(s.offset_share, 2.0 / 3);
	expect_near(s.repeats, 0);
	expect_near(s.induction, NAN);
	expect_near(s.coverage, NAN);
	expect_near(s.even_entropy, log2(3));
	expect_near(s.even_distance, (1 + 2.0 / 3 + 1) / 3);
	assert_true(s.has_pair && s.query == 0 && s.key == 0 && s.weight == 0.5f);
	rows_info_release(&m.info);
}

/* Masked cells count nowhere, a row without weights is no query, and a query that attends to one
 * key is no strongest pair. */
static void test_masked(void **state)
{
	static const float weights[] = {1, 0, 0, 0, 0.75f, 0.25f, 0, 0, 0, 0, 0, 0, 0.5f, 0, 0, 0.5f};
	static const unsigned char cells[] = {1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 3, 2};
	(void)state;
	struct matrix m = {weights, cells,
			   make_info((struct rows_shape){1, 1, 1, 4, 4, 0, 0, false, false}, NULL, NULL)};
	struct head_statistics s = statistics_of(&m);
	double quarter = 2 - 0.75 * log2(3);
	assert_int_equal(s.queries, 3);
	expect_log(s.entropy, (0 + quarter + 1) / 3);
	expect_near(s.diagonal, (1 + 0.25 + 0.5) / 3);
	expect_near(s.previous, (0.75 + 0) / 2);
	expect_near(s.next, 0);
	expect_near(s.separator, NAN);
	expect_near(s.distance, (0 + 0.75 + 1.5) / 3);
	expect_near(s.even_entropy, (0 + 1 + log2(3)) / 3);
	expect_near(s.even_distance, (0 + 0.5 + 5.0 / 3) / 3);
	assert_true(s.has_pair && s.query == 1 && s.key == 0 && s.weight == 0.75f);
	rows_info_release(&m.info);

	memset(&m, 0, sizeof m);
	static const float nothing[4];
	static const unsigned char masked[4];
	m = (struct matrix){nothing, masked,
			    make_info((struct rows_shape){1, 1, 1, 2, 2, 0, 0, false, false}, NULL, NULL)};
	s = statistics_of(&m);
	assert_int_equal(s.queries, 0);
	expect_log(s.entropy, NAN);
	expect_near(s.distance_spread, NAN);
	expect_near(s.offset_share, NAN);
	assert_false(s.has_pair);
	assert_null(head_pattern_of(&s));
	rows_info_release(&m.info);
}

/* a b a b b: the key after the last occurrence before, unless that is the query itself. */
static void test_induction(void **state)
{
	static const char *const tokens[] = {"a", "b", "a", "b", "b"};
	float weights[25] = {0};
	(void)state;
	for (size_t q = 0; q < 5; q++)
		weights[q * 5 + q] = 0.5f;
	weights[2 * 5 + 1] = 0.5f;  /* a: after a at 0 comes 1 */
	weights[3 * 5 + 2] = 0.25f; /* b: after b at 1 comes 2 */
	weights[3 * 5 + 1] = 0.25f;
	weights[4 * 5 + 4] = 1; /* b: after b at 3 comes itself */
	weights[0] = weights[6] = 1;
	struct matrix m = {weights, attended,
			   make_info((struct rows_shape){1, 1, 1, 5, 5, 0, 0, false, false}, tokens, tokens)};
	struct head_statistics s = statistics_of(&m);
	expect_near(s.repeats, 2);
	expect_near(s.induction, (0.5 + 0.25) / 2);
	rows_info_release(&m.info);
}

/* Two queries behind two past keys and before an appended one: query 0 is key 2. */
static void test_cache(void **state)
{
	static const char *const queries[] = {"x", "y"}, *const keys[] = {"0", "1", "x", "y", "bias"};
	static const float weights[] = {0.25f, 0.25f, 0.25f, 0, 0.25f, 0.5f, 0, 0.25f, 0.125f, 0.125f};
	(void)state;
	struct matrix m = {weights, attended,
			   make_info((struct rows_shape){1, 1, 1, 2, 5, 2, 1, false, false}, queries, keys)};
	struct head_statistics s = statistics_of(&m);
	expect_near(s.diagonal, (0.25 + 0.125) / 2);
	expect_near(s.previous, (0.25 + 0.25) / 2);
	expect_near(s.next, 0); /* of query 0 alone: the appended key is nobody's neighbour */
	expect_near(s.first, (0.25 + 0.5) / 2);
	expect_near(s.within5, (0.75 + 0.875) / 2);
	expect_near(s.distance, (1 + 1.75 / 0.875) / 2);
	expect_near(s.repeats, 0);
	rows_info_release(&m.info);
}

static void test_cross(void **state)
{
	static const float weights[] = {0.5f, 0.5f, 0, 0, 0.75f, 0.25f, 0, 0};
	(void)state;
	struct matrix m = {weights, attended,
			   make_info((struct rows_shape){1, 1, 1, 2, 4, 0, 0, true, false}, NULL, NULL)};
	struct head_statistics s = statistics_of(&m);
	expect_near(s.repeats, NAN);
	expect_near(s.coverage, (1 + 0.75) / 4); /* key 0 gets 1.25 */
	expect_near(s.first, 0.625);
	expect_near(s.diagonal, NAN);
	expect_near(s.next, NAN);
	expect_near(s.within5, NAN);
	expect_near(s.distance, NAN);
	expect_near(s.distance_spread, NAN);
	expect_near(s.offset, NAN);
	expect_near(s.even_distance, NAN);
	rows_info_release(&m.info);
}

static unsigned random_bits = 1;

static unsigned draw(unsigned below)
{
	random_bits = random_bits * 1103515245u + 12345u;
	return (random_bits >> 16) % below;
}

/* The figures as their formulas have them, for rows of numbers without tokens. */
static struct head_statistics naive(const struct matrix *m)
{
	const struct rows_shape *h = &m->info.shape;
	size_t N = h->queries, M = h->keys, n = 0, np = 0, nn = 0, nd = 0;
	double entropy = 0, largest = 0, diagonal = 0, previous = 0, next = 0, first = 0, within = 0,
	       distance = 0, squares = 0, even = 0, far = 0;
	double *column = calloc(M, sizeof *column);
	size_t *offsets = calloc(2 * (N + M), sizeof *offsets);
	struct head_statistics s = {.offset = NAN, .offset_share = NAN, .coverage = NAN};
	assert_non_null(column);
	assert_non_null(offsets);
	for (size_t i = 0; i < N; i++) {
		double total = 0, most = 0, placed = 0, d = 0, dd = 0, counted = 0, away = 0, bits = 0;
		size_t best = 0, keys = 0;
		ptrdiff_t own = (ptrdiff_t)(i + h->past_keys), end = (ptrdiff_t)(M - h->appended_keys);
		for (size_t j = 0; j < M; j++)
			total += fabs((double)m->weights[i * M + j]);
		if (total == 0)
			continue;
		n++;
		for (size_t j = 0; j < M; j++) {
			double p = fabs((double)m->weights[i * M + j]) / total,
			       apart = (double)j - (double)own;
			bool has =
			    m->cells[i * M + j] == CELL_ATTENDED || m->cells[i * M + j] == CELL_UNSCALED;
			bits -= p > 0 ? p * log2(p) : 0;
			if (p > most) {
				most = p;
				best = j;
			}
			column[j] += p;
			keys += has;
			if ((ptrdiff_t)j >= end)
				continue;
			placed += p;
			d += p * fabs(apart);
			dd += p * apart * apart;
			within += fabs(apart) <= 5 ? p : 0;
			counted += has;
			away += has ? fabs(apart) : 0;
			diagonal += (ptrdiff_t)j == own ? p : 0;
			previous += (ptrdiff_t)j == own - 1 ? p : 0;
			next += (ptrdiff_t)j == own + 1 ? p : 0;
			first += j == 0 ? p : 0;
		}
		entropy += bits;
		largest += most;
		even += log2((double)keys);
		np += own > 0;
		nn += own + 1 < end;
		if (placed > 0) {
			nd++;
			distance += d / placed;
			squares += dd / placed;
			far += away / counted;
		}
		if ((ptrdiff_t)best < end)
			offsets[best + N + M - (size_t)own]++;
		float w = m->weights[i * M + best];
		if (keys > 1 && (!s.has_pair || fabsf(w) > fabsf(s.weight))) {
			s.has_pair = true;
			s.query = i;
			s.key = best;
			s.weight = w;
		}
	}
	s.queries = n;
	s.entropy = entropy / (double)n;
	s.largest = largest / (double)n;
	s.even_entropy = even / (double)n;
	s.diagonal = h->cross ? NAN : diagonal / (double)n;
	s.previous = h->cross ? NAN : previous / (double)np;
	s.next = h->cross ? NAN : next / (double)nn;
	s.within5 = h->cross ? NAN : within / (double)n;
	s.first = first / (double)n;
	s.distance = h->cross ? NAN : distance / (double)nd;
	s.even_distance = h->cross ? NAN : far / (double)nd;
	s.distance_spread = h->cross ? NAN : sqrt(squares / (double)nd - s.distance * s.distance);
	size_t most = 0;
	for (size_t away = 0; away < N + M && !h->cross; away++) {
		for (int side = 0; side < 2; side++) {
			size_t count = offsets[side ? N + M + away : N + M - away];
			if (count > most) {
				most = count;
				s.offset = side ? (double)away : -(double)away;
				s.offset_share = (double)count / (double)n;
			}
		}
	}
	double covered = 0;
	for (size_t j = 0; j < M; j++)
		covered += fmin(column[j], 1);
	if (h->cross)
		s.coverage = covered / (double)M;
	free(column);
	free(offsets);
	return s;
}

static void expect_same(const struct head_statistics *s, const struct head_statistics *e)
{
	assert_int_equal(s->queries, e->queries);
	expect_log(s->entropy, e->entropy);
	expect_log(s->effective_keys, pow(2, e->entropy));
	expect_near(s->largest, e->largest);
	expect_near(s->diagonal, e->diagonal);
	expect_near(s->previous, e->previous);
	expect_near(s->next, e->next);
	expect_near(s->first, e->first);
	expect_near(s->within5, e->within5);
	expect_near(s->distance, e->distance);
	expect_near(s->distance_spread, e->distance_spread);
	expect_near(s->offset, e->offset);
	expect_near(s->offset_share, e->offset_share);
	expect_near(s->coverage, e->coverage);
	expect_near(s->even_entropy, e->even_entropy);
	expect_near(s->even_distance, e->even_distance);
	assert_int_equal(s->has_pair, e->has_pair);
	if (s->has_pair)
		assert_true(s->query == e->query && s->key == e->key && s->weight == e->weight);
}

/* Masks of several kinds, small and large weights, some with a sign. */
static void fill(float *weights, unsigned char *cells, const struct rows_shape *h)
{
	unsigned kind = draw(4), apart = draw(12);
	for (size_t i = 0; i < h->queries; i++) {
		double sum = 0;
		for (size_t j = 0; j < h->keys; j++) {
			size_t own = i + h->past_keys;
			bool masked = (kind == 1 && j > own) ||
				      (kind == 2 && (j > own + apart || own > j + apart)) ||
				      (kind == 3 && draw(3) == 0);
			float w = masked ? 0 : expf(-(float)draw(1000) / 40);
			cells[i * h->keys + j] = masked ? (draw(2) ? CELL_MASKED : CELL_REMOVED)
							: (draw(5) ? CELL_ATTENDED : CELL_UNSCALED);
			weights[i * h->keys + j] = h->signed_weights && draw(2) ? -w : w;
			sum += (double)w;
		}
		for (size_t j = 0; j < h->keys && sum > 0; j++)
			weights[i * h->keys + j] /= (float)sum;
	}
}

static void test_against_loops(void **state)
{
	(void)state;
	for (size_t round = 0; round < 60; round++) {
		struct rows_shape h = {
		    1, 1, 1, 2 + draw(round % 8 ? 40 : 300), 0, 0, 0, draw(4) == 0, draw(4) == 0};
		h.past_keys = h.cross ? 0 : draw(9);
		h.appended_keys = draw(3) % 2;
		h.keys = h.cross ? 2 + draw(70) : h.past_keys + h.queries + h.appended_keys;
		float *weights = calloc(h.queries * h.keys, sizeof *weights);
		unsigned char *cells = calloc(h.queries, h.keys);
		assert_non_null(weights);
		assert_non_null(cells);
		fill(weights, cells, &h);
		struct matrix m = {weights, cells, make_info(h, NULL, NULL)};
		struct head_statistics found = statistics_of(&m), expected = naive(&m);
		expect_same(&found, &expected);
		rows_info_release(&m.info);
		free(weights);
		free(cells);
	}
}

/* Every batch item, layer and head for itself. */
static void test_many_heads(void **state)
{
	(void)state;
	static const float even[] = {0.5f, 0.5f, 0.5f, 0.5f}, own[] = {1, 0, 0, 1};
	struct rows_shape h = {2, 2, 3, 2, 2, 0, 0, false, false};
	struct matrix spread = {even, attended, make_info(h, NULL, NULL)}, sharp = spread;
	struct head_places places;
	struct head_consumer s;
	sharp.weights = own;
	assert_int_equal(head_places_init(&places, &spread.info, &spread.info.key_labels, NULL), ATTN_OK);
	assert_int_equal(head_consumer_init(&s, &h, &places, NULL), ATTN_OK);
	for (size_t i = 12; i-- > 0;)
		feed(&s, i % 5 == 0 ? &sharp : &spread, i / 6, i / 3 % 2, i % 3);
	for (size_t i = 0; i < 12; i++) {
		struct head_statistics one = head_statistics_of(&s, i / 6, i / 3 % 2, i % 3);
		expect_near(one.entropy, i % 5 == 0 ? 0 : 1);
		expect_near(one.diagonal, i % 5 == 0 ? 1 : 0.5);
	}
	head_consumer_release(&s);
	head_places_release(&places);
	rows_info_release(&spread.info);
}

static void expect_pattern(struct head_statistics s, const char *name)
{
	const struct head_pattern *pattern = head_pattern_of(&s);
	assert_non_null(pattern);
	assert_string_equal(pattern->name, name);
}

static void test_patterns(void **state)
{
	struct head_statistics none = {.queries = 9,
				       .entropy = 1,
				       .diagonal = NAN,
				       .previous = NAN,
				       .next = NAN,
				       .first = NAN,
				       .separator = NAN,
				       .within5 = NAN,
				       .distance = NAN,
				       .offset_share = NAN,
				       .induction = NAN,
				       .even_entropy = 3,
				       .even_distance = NAN},
			       s;
	(void)state;
	expect_pattern(none, "mixed");
	s = none;
	s.entropy = 2;
	expect_pattern(s, "broad");
	s.within5 = 0.5;
	s.distance = 2;
	s.even_distance = 4;
	expect_pattern(s, "local");
	s.distance = 2.01;
	expect_pattern(s, "broad");
	s.offset_share = 0.9;
	expect_pattern(s, "positional");
	s.queries = 4;
	expect_pattern(s, "broad");
	s.separator = 0.5;
	expect_pattern(s, "separator");
	s.first = 0.5;
	expect_pattern(s, "first-token sink");
	s.induction = 0.5;
	s.repeats = 1;
	expect_pattern(s, "first-token sink");
	s.repeats = 2;
	expect_pattern(s, "induction");
	s.next = 0.5;
	expect_pattern(s, "next token");
	s.previous = 0.5;
	expect_pattern(s, "previous token");
	s.diagonal = 0.5;
	expect_pattern(s, "diagonal");
	s.diagonal = 0.499;
	expect_pattern(s, "previous token");
}

/* log2 of every size of float32, the smallest too. */
static void test_logs(void **state)
{
	struct log_table logs;
	(void)state;
	log_table_init(&logs);
	for (int exponent = -149; exponent <= 0; exponent++) {
		for (int step = 0; step < 50; step++) {
			float w = ldexpf(1 + (float)step / 51, exponent);
			struct weight_sums s = {0};
			weight_sums_add(&s, &logs, &w, NULL, 0, 1);
			if (fabs(s.logs / (double)w - log2((double)w)) > 1e-12)
				fail_msg("log2 of %g is %.15g", (double)w, s.logs / (double)w);
			assert_true(s.largest == w && s.total == (double)w);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_masked),
	    cmocka_unit_test(test_induction),  cmocka_unit_test(test_cache),
	    cmocka_unit_test(test_cross),      cmocka_unit_test(test_against_loops),
	    cmocka_unit_test(test_many_heads), cmocka_unit_test(test_patterns),
	    cmocka_unit_test(test_logs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
