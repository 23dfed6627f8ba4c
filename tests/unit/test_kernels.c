/* Every set of kernels that can run here against plain float64 loops: odd sizes,
 * tails, extremes, and what lies around the outputs.  ATTN_TEST_SEED chooses the
 * numbers; what fails prints it.
 *
 * Outputs are filled with a pattern before, and lie between guards of it; an input
 * ends where a page that cannot be read begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/kernels.h"

/* --- numbers ------------------------------------------------------------------ */

static unsigned long long first_seed = 1;
static uint64_t state64;

static void seed(void)
{
	state64 = first_seed * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t random_bits(void)
{
	state64 = state64 * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state64 >> 32);
}

static size_t below(size_t limit)
{
	return random_bits() % limit;
}

static float between(double low, double high)
{
	return (float)(low + (high - low) * random_bits() * 0x1p-32);
}

#define CHECK(condition, ...)                                                                                \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			print_error("ATTN_TEST_SEED=%llu: ", first_seed);                                    \
			print_error(__VA_ARGS__);                                                            \
			print_error("\n");                                                                   \
			assert_true(condition);                                                              \
		}                                                                                            \
	} while (0)

/* --- memory ------------------------------------------------------------------- */

enum {
	GUARD = 64,           /* float32 before and after an output */
	PATTERN = 0x7fbadbad, /* a NaN that no kernel makes */
};

struct area {
	float *data;
	size_t count;
	void *pages;
	size_t size;
};

static void fill(float *at, size_t count)
{
	const uint32_t pattern = PATTERN;
	for (size_t i = 0; i < count; i++)
		memcpy(at + i, &pattern, sizeof pattern);
}

static bool untouched(const float *at)
{
	const uint32_t pattern = PATTERN;
	return memcmp(at, &pattern, sizeof pattern) == 0;
}

/* Zeros that end where memory does. */
static struct area input_new(size_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = (count * sizeof(float) + page - 1) / page * page;
	struct area a = {.count = count, .size = used + page};
	a.pages = mmap(NULL, a.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(a.pages != MAP_FAILED);
	assert_int_equal(mprotect((char *)a.pages + used, page, PROT_NONE), 0);
	a.data = (float *)((char *)a.pages + used) - count;
	return a;
}

/* The pattern between guards, `offset` float32 after an aligned place. */
static struct area output_new(size_t count, size_t offset)
{
	struct area a = {.count = count};
	size_t size = (2 * GUARD + offset + count + 15) / 16 * 16 * sizeof(float);
	a.pages = aligned_alloc(64, size);
	assert_non_null(a.pages);
	fill(a.pages, size / sizeof(float));
	a.data = (float *)a.pages + GUARD + offset;
	return a;
}

static void area_free(struct area *a)
{
	if (a->size)
		munmap(a->pages, a->size);
	else
		free(a->pages);
}

static void check_guards(const struct area *a, const char *what)
{
	for (size_t i = 1; i <= GUARD; i++)
		CHECK(untouched(a->data - i) && untouched(a->data + a->count + i - 1),
		      "%s wrote beyond its output", what);
}

/* An aligned tile (rows, TILE) of random numbers in the columns that a kernel may
 * touch; the rest keeps the pattern, so that what is read there shows. */
static struct area tile_new(size_t rows, size_t padded, double low, double high)
{
	struct area a = output_new(rows * TILE, 0);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < TILE; c++) {
			float number = between(low, high); /* whatever the lanes, the same draws */
			if (c < padded)
				a.data[r * TILE + c] = number;
		}
	return a;
}

static void check_tile(const struct area *a, size_t padded, const char *what)
{
	check_guards(a, what);
	for (size_t i = 0; i < a->count; i++)
		CHECK(i % TILE < padded || untouched(a->data + i), "%s wrote column %zu, allowed %zu", what,
		      i % TILE, padded);
}

static size_t padded_to(const struct kernels *k, size_t cols)
{
	return (cols + k->lanes - 1) / k->lanes * k->lanes;
}

static bool same_bits(const float *a, const float *b, size_t count)
{
	return memcmp(a, b, count * sizeof *a) == 0;
}

/* --- every set, a hash of its results ------------------------------------------ */

static uint64_t digest;

static void digest_add(const float *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bits;
		memcpy(&bits, numbers + i, sizeof bits);
		digest = (digest ^ bits) * UINT64_C(0x100000001b3);
	}
}

/* Run `test` with the same numbers for every set.  All must give the same bits. */
static void with_every_set(const char *what, void (*test)(const struct kernels *k))
{
	uint64_t first = 0;
	for (size_t i = 0; kernels_runnable(i); i++) {
		seed();
		digest = UINT64_C(0xcbf29ce484222325);
		test(kernels_runnable(i));
		if (i == 0)
			first = digest;
		CHECK(digest == first, "%s: %s and %s give different bits", what, kernels_runnable(0)->name,
		      kernels_runnable(i)->name);
		print_message("%s: %s %016llx\n", what, kernels_runnable(i)->name,
			      (unsigned long long)digest);
	}
}

/* --- matrix product ----------------------------------------------------------- */

/* How `a` lies: rows one after the other, or columns, each with a gap. */
static struct gemm gemm_shape(size_t rows, size_t inner, size_t cols)
{
	struct gemm g = {.rows = rows, .inner = inner, .cols = cols};
	size_t gap = below(3);
	bool by_rows = below(2);
	g.a_row = by_rows ? inner + gap : 1;
	g.a_col = by_rows ? 1 : rows + gap;
	g.accumulate = below(2);
	return g;
}

static void check_gemm_element(const struct kernels *k, const struct gemm *g, const float *before, size_t r,
			       size_t c)
{
	double want = g->accumulate ? (double)before[r * g->c_stride + c] : 0, size = fabs(want);
	for (size_t i = 0; i < g->inner; i++) {
		double term = (double)g->a[r * g->a_row + i * g->a_col] * (double)g->b[i * g->b_stride + c];
		want += term;
		size += fabs(term);
	}
	/* One rounding a term of a block, and one a block. */
	size_t block = g->inner < GEMM_BLOCK ? g->inner : GEMM_BLOCK;
	double roundings = (double)(block + g->inner / GEMM_BLOCK + 2);
	double got = (double)g->c[r * g->c_stride + c];
	CHECK(fabs(got - want) <= 1e-37 + roundings * 0x1p-24 * size,
	      "%s gemm %zux%zux%zu a_row %zu a_col %zu: (%zu, %zu) is %.9g, expected %.9g", k->name, g->rows,
	      g->inner, g->cols, g->a_row, g->a_col, r, c, got, want);
}

static void check_gemm(const struct kernels *k, size_t rows, size_t inner, size_t cols)
{
	size_t padded = padded_to(k, cols);
	struct gemm g = gemm_shape(rows, inner, cols);
	/* Strides do not depend on the lanes, so that all sets see the same numbers. */
	g.b_stride = TILE + below(3);
	g.c_stride = TILE + below(3);
	struct area a = input_new((rows - 1) * g.a_row + (inner - 1) * g.a_col + 1);
	struct area b = input_new((inner - 1) * g.b_stride + padded);
	struct area c = output_new((rows - 1) * g.c_stride + padded, below(2) ? below(16) : 0);
	struct area before = output_new(c.count, 0);
	for (size_t i = 0; i < a.count; i++)
		a.data[i] = between(-1, 1);
	fill(b.data, b.count);
	for (size_t i = 0; i < inner; i++)
		for (size_t x = 0; x < padded; x++)
			b.data[i * g.b_stride + x] = x < cols ? between(-1, 1) : 0;
	for (size_t r = 0; r < rows && g.accumulate; r++)
		for (size_t x = 0; x < padded; x++)
			c.data[r * g.c_stride + x] = x < cols ? between(-1, 1) : 0;
	memcpy(before.data, c.data, c.count * sizeof *c.data);
	g.a = a.data;
	g.b = b.data;
	g.c = c.data;
	k->gemm(&g);
	check_guards(&c, "gemm");
	for (size_t r = 0; r < rows; r++) {
		for (size_t x = 0; x < cols; x++)
			check_gemm_element(k, &g, before.data, r, x);
		for (size_t x = padded; x < g.c_stride && r + 1 < rows; x++)
			CHECK(untouched(c.data + r * g.c_stride + x), "%s gemm %zux%zux%zu wrote column %zu",
			      k->name, rows, inner, cols, x);
		digest_add(c.data + r * g.c_stride, cols);
	}
	area_free(&a);
	area_free(&b);
	area_free(&c);
	area_free(&before);
}

static void gemm_sizes(const struct kernels *k)
{
	static const size_t inners[] = {1, 2, 3, 4, 5, 6, 7, 63, 64, 65, 255, 256, 257, 600};
	for (size_t r = 1; r <= 23; r++) {
		size_t rows = r <= 20 ? r : r + 74;
		for (size_t i = 0; i < sizeof inners / sizeof *inners; i++)
			for (size_t n = 0; n < 8; n++)
				check_gemm(k, rows, inners[i], 1 + (8 * n + r + 5 * i) % TILE);
	}
	for (size_t cols = 1; cols <= TILE; cols++)
		for (size_t rows = 5; rows <= 13; rows++)
			check_gemm(k, rows, 1 + below(70), cols);
}

static void test_gemm(void **state)
{
	(void)state;
	with_every_set("gemm", gemm_sizes);
}

/* What a column holds reaches no other. */
static void gemm_columns(const struct kernels *k)
{
	struct area a = input_new(9 * 5), b = output_new(5 * TILE, 0), c = output_new(9 * TILE, 0);
	for (size_t i = 0; i < a.count; i++)
		a.data[i] = between(-1, 1);
	for (size_t i = 0; i < b.count; i++)
		b.data[i] = i % TILE % 3 == 1 ? (i % 2 ? NAN : INFINITY) : between(-1, 1);
	struct gemm g = {c.data, a.data, b.data, TILE, 5, 1, TILE, 9, 5, TILE, false};
	k->gemm(&g);
	for (size_t i = 0; i < c.count; i++)
		CHECK((i % TILE % 3 == 1) == !isfinite(c.data[i]), "%s gemm: column %zu", k->name, i % TILE);
	area_free(&a);
	area_free(&b);
	area_free(&c);
}

static void test_gemm_keeps_columns_apart(void **state)
{
	(void)state;
	with_every_set("gemm, NaN", gemm_columns);
}

/* --- softmax ------------------------------------------------------------------ */

/* The running state of all columns, in float64, with how wrong float32 may be. */
struct model {
	float highest[TILE];
	double sum[TILE], sum_error[TILE];
};

/* How far exp(x) may be from its value, relative to it, as kernels.h says. */
static double exponential_bound(double x)
{
	return 1e-7 + 3e-9 * fabs(x);
}

/* The same for x = score - highest, which is rounded before. */
static double exponential_error(double x)
{
	return exponential_bound(x) + fabs(x) * 0x1p-24;
}

/* One exponential: exactly 0 below -87.3 and exactly 1 for 0. */
static void check_exponential(const char *name, float got, double x)
{
	double want = exp(x);
	bool right = fabs((double)got - want) <= exponential_error(x) * want;
	if (x == 0)
		right = got == 1;
	else if (x < -87.3)
		right = got == 0 || (right && x > -87.30001);
	else if (x < -87.29999)
		right |= got == 0;
	CHECK(right, "%s: exp(%.9g) is %.9g, expected %.9g", name, x, (double)got, want);
}

static void check_softmax_column(const struct kernels *k, struct model *m, size_t c, const float *before,
				 const float *scores, size_t keys, float highest, float sum, float rescale)
{
	float top = m->highest[c];
	double error = 0, added = 0;
	for (size_t j = 0; j < keys; j++)
		top = fmaxf(top, before[j * TILE + c]);
	if (!(m->highest[c] + 8 < top))
		top = m->highest[c];
	CHECK(highest == top, "%s softmax: highest[%zu] is %.9g, expected %.9g", k->name, c, (double)highest,
	      (double)top);
	double shift = top == -INFINITY ? 0 : (double)top;
	if (m->highest[c] == top && top != -INFINITY)
		CHECK(rescale == 1, "%s softmax: rescale[%zu] is %.9g, expected 1", k->name, c,
		      (double)rescale);
	else
		check_exponential(k->name, rescale, (double)m->highest[c] - shift);
	for (size_t j = 0; j < keys; j++) {
		double x = (double)before[j * TILE + c] - shift;
		check_exponential(k->name, scores[j * TILE + c], x);
		double e = (double)scores[j * TILE + c];
		added += e;
		error += (double)keys * 0x1p-24 * e;
	}
	m->sum_error[c] = m->sum_error[c] * (double)rescale + error + 0x1p-23 * m->sum[c] * (double)rescale;
	m->sum[c] = m->sum[c] * (double)rescale + added;
	m->sum_error[c] += 0x1p-23 * m->sum[c];
	CHECK(fabs((double)sum - m->sum[c]) <= 1e-37 + m->sum_error[c],
	      "%s softmax: sum[%zu] is %.9g, expected %.9g", k->name, c, (double)sum, m->sum[c]);
	m->highest[c] = top;
}

/* The kinds of scores that a column may have. */
static float softmax_score(size_t kind, size_t step)
{
	switch (kind) {
	case 0: /* ordinary */
		return between(-4, 4);
	case 1: /* hidden, and later some that are not */
		return step < 2 || below(4) ? -INFINITY : between(-4, 4);
	case 2: /* always hidden */
		return -INFINITY;
	case 3: /* rises by less than 8 at a step: `highest` stays for a while */
		return (float)step * 5 + between(-1, 1);
	case 4: /* rises by more than 8 */
		return (float)step * 20 + between(-1, 1);
	case 5: /* huge */
		return between(-3e38, 3e38);
	case 6: /* tiny */
		return between(-1e-38, 1e-38);
	case 7: /* around where exponentials end */
		return below(2) ? between(87, 88) : between(-88, -87);
	case 8: /* falls */
		return -(float)step * 30 + between(-1, 1);
	default: /* large, but near each other */
		return 1e6f + (float)below(9) - 4;
	}
}

enum {
	SCORE_KINDS = 10
};

static void check_softmax(const struct kernels *k, size_t cols, size_t steps, size_t most_keys)
{
	size_t padded = padded_to(k, cols);
	struct area highest = tile_new(1, padded, 0, 0), sum = tile_new(1, padded, 0, 0);
	struct area rescale = output_new(TILE, 0);
	struct model m = {0};
	size_t kinds[TILE];
	for (size_t c = 0; c < TILE; c++) {
		m.highest[c] = -INFINITY;
		kinds[c] = below(SCORE_KINDS);
	}
	for (size_t c = 0; c < padded; c++)
		highest.data[c] = -INFINITY;
	for (size_t step = 0; step < steps; step++) {
		size_t keys = 1 + below(most_keys);
		struct area scores = output_new(keys * TILE, 0), before = output_new(keys * TILE, 0);
		for (size_t j = 0; j < keys; j++)
			for (size_t c = 0; c < padded; c++)
				scores.data[j * TILE + c] = c < cols ? softmax_score(kinds[c], step) : 0;
		memcpy(before.data, scores.data, keys * TILE * sizeof *before.data);
		bool changed = k->softmax(scores.data, keys, cols, highest.data, sum.data, rescale.data);
		bool expected = false;
		for (size_t c = 0; c < padded; c++)
			expected |= rescale.data[c] != 1;
		CHECK(changed == expected, "%s softmax returns %d, expected %d", k->name, changed, expected);
		for (size_t c = 0; c < cols; c++)
			check_softmax_column(k, &m, c, before.data, scores.data, keys, highest.data[c],
					     sum.data[c], rescale.data[c]);
		check_tile(&scores, padded, "softmax scores");
		check_tile(&highest, padded, "softmax highest");
		check_tile(&sum, padded, "softmax sum");
		check_tile(&rescale, padded, "softmax rescale");
		for (size_t j = 0; j < keys; j++)
			digest_add(scores.data + j * TILE, cols);
		digest_add(sum.data, cols);
		digest_add(rescale.data, cols);
		area_free(&scores);
		area_free(&before);
	}
	for (size_t c = 0; c < cols; c++)
		CHECK(kinds[c] != 2 || (sum.data[c] == 0 && highest.data[c] == -INFINITY),
		      "%s softmax: a column of -inf", k->name);
	area_free(&highest);
	area_free(&sum);
	area_free(&rescale);
}

static void softmax_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		check_softmax(k, cols, 5, 7);
		check_softmax(k, cols, 4, 97);
	}
}

static void test_softmax(void **state)
{
	(void)state;
	with_every_set("softmax", softmax_sizes);
}

/* A score that float32 cannot hold must not go unseen: the sum of its column is not
 * finite, and other columns are right. */
static void softmax_overflow(const struct kernels *k)
{
	static const float bad[] = {INFINITY, NAN, -NAN};
	for (size_t i = 0; i < 3 * TILE; i++) {
		struct area scores = tile_new(5, TILE, -2, 2), highest = tile_new(1, TILE, 0, 0);
		struct area sum = tile_new(1, TILE, 0, 0), rescale = output_new(TILE, 0);
		for (size_t c = 0; c < TILE; c++)
			highest.data[c] = -INFINITY;
		scores.data[below(5) * TILE + i / 3] = bad[i % 3];
		k->softmax(scores.data, 5, TILE, highest.data, sum.data, rescale.data);
		for (size_t c = 0; c < TILE; c++)
			CHECK((c == i / 3) == !isfinite(sum.data[c]),
			      "%s softmax: %g in column %zu, sum[%zu] %g", k->name, (double)bad[i % 3], i / 3,
			      c, (double)sum.data[c]);
		area_free(&scores);
		area_free(&highest);
		area_free(&sum);
		area_free(&rescale);
	}
}

static void test_softmax_shows_overflow(void **state)
{
	(void)state;
	with_every_set("softmax, overflow", softmax_overflow);
}

/* The bound that kernels.h states, over [-88, 8]: with `highest` at 0 the scores are
 * the arguments. */
static void exponential_range(const struct kernels *k)
{
	struct area scores = output_new(TILE, 0), x = output_new(TILE, 0);
	struct area highest = tile_new(1, TILE, 0, 0), sum = tile_new(1, TILE, 0, 0),
		    rescale = output_new(TILE, 0);
	double worst = 0, where = 0;
	for (size_t round = 0; round < 60000; round++) {
		for (size_t c = 0; c < TILE; c++) {
			/* Where the polynomial's range ends: odd multiples of ln(2) / 2. */
			double half = ((double)below(277) - 254) * 0.34657359027997264;
			double centre[] = {-40, 0, half, -87.3}, radius[] = {48, 1, 1e-5, 0.01};
			x.data[c] =
			    fminf(between(centre[c % 4] - radius[c % 4], centre[c % 4] + radius[c % 4]), 8);
		}
		memcpy(scores.data, x.data, TILE * sizeof *x.data);
		k->softmax(scores.data, 1, TILE, highest.data, sum.data, rescale.data);
		for (size_t c = 0; c < TILE; c++) {
			double want = exp((double)x.data[c]), got = (double)scores.data[c];
			if (x.data[c] < -87.3f) {
				CHECK(got == 0, "%s: exp(%.9g) is %g", k->name, (double)x.data[c], got);
				continue;
			}
			double off = fabs(got - want) / want;
			CHECK(off <= exponential_bound((double)x.data[c]), "%s: exp(%.9g) is off by %.3g",
			      k->name, (double)x.data[c], off);
			if (off > worst) {
				worst = off;
				where = (double)x.data[c];
			}
		}
		digest_add(scores.data, TILE);
	}
	CHECK(highest.data[0] == 0, "%s: highest moved", k->name);
	print_message("%s: exp is off by %.3g of its value at most, at %.9g\n", k->name, worst, where);
	area_free(&scores);
	area_free(&x);
	area_free(&highest);
	area_free(&sum);
	area_free(&rescale);
}

static void test_exponential(void **state)
{
	(void)state;
	with_every_set("exponential", exponential_range);
}

/* --- softcap ------------------------------------------------------------------ */

static void softcap_bound(const struct kernels *k)
{
	double worst = 0, where = 0;
	for (size_t round = 0; round < 20000; round++) {
		size_t cols = 1 + below(TILE), padded = padded_to(k, cols), keys = 1 + below(4);
		float cap = expf(between(-3, 6));
		struct area scores = output_new(keys * TILE, 0), before = output_new(keys * TILE, 0);
		for (size_t j = 0; j < keys; j++) {
			for (size_t c = 0; c < cols; c++) {
				static const double sizes[] = {100, 8, 2, 0.1, 1e-3, 1e-38};
				double size = sizes[below(6)];
				scores.data[j * TILE + c] = between(-size, size) * cap;
			}
			for (size_t c = cols; c < padded; c++)
				scores.data[j * TILE + c] = 0;
		}
		memcpy(before.data, scores.data, keys * TILE * sizeof *before.data);
		k->softcap(scores.data, keys, cols, cap);
		check_tile(&scores, padded, "softcap");
		for (size_t j = 0; j < keys; j++) {
			for (size_t c = 0; c < cols; c++) {
				double s = (double)before.data[j * TILE + c];
				double want = (double)cap * tanh(s / (double)cap);
				double off = fabs((double)scores.data[j * TILE + c] - want);
				CHECK(off <= 1e-37 + 4.5e-7 * fabs(want),
				      "%s: softcap at %.9g caps is off by %.3g of its value", k->name,
				      s / (double)cap, off / fabs(want));
				CHECK(fabsf(scores.data[j * TILE + c]) <= cap, "%s: softcap passes its cap",
				      k->name);
				if (fabs(want) > 1e-30 && off / fabs(want) > worst) {
					worst = off / fabs(want);
					where = s / (double)cap;
				}
			}
			digest_add(scores.data + j * TILE, cols);
		}
		area_free(&scores);
		area_free(&before);
	}
	print_message("%s: softcap is off by %.3g of its value at most, at %.9g caps\n", k->name, worst,
		      where);
}

static void test_softcap(void **state)
{
	(void)state;
	with_every_set("softcap", softcap_bound);
}

/* A score beyond float32 stays visible, and does not become the cap. */
static void softcap_extremes(const struct kernels *k)
{
	static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_MIN};
	struct area scores = tile_new(1, TILE, 0, 0);
	for (size_t c = 0; c < TILE; c++)
		scores.data[c] = special[c % 8];
	k->softcap(scores.data, 1, TILE, 30);
	for (size_t c = 0; c < TILE; c++) {
		float got = scores.data[c];
		float want[] = {0, 0, NAN, NAN, NAN, 30, -30, FLT_MIN};
		CHECK(isnan(want[c % 8]) ? isnan(got)
					 : fabsf(got - want[c % 8]) <= 1e-6f * fabsf(want[c % 8]),
		      "%s: softcap of %g is %g", k->name, (double)special[c % 8], (double)got);
	}
	area_free(&scores);
}

static void test_softcap_extremes(void **state)
{
	(void)state;
	with_every_set("softcap, extremes", softcap_extremes);
}

/* --- additive scores ------------------------------------------------------------ */

static void check_additive(const struct kernels *k, size_t count, size_t inner, size_t cols)
{
	size_t padded = padded_to(k, cols), stride = inner + below(3);
	struct area keys = input_new((count - 1) * stride + inner), v = input_new(inner);
	struct area queries = tile_new(inner, padded, -3, 3), scores = output_new(count * TILE, 0);
	float scale = between(-2, 2);
	for (size_t i = 0; i < keys.count; i++)
		keys.data[i] = between(-3, 3);
	for (size_t i = 0; i < inner; i++)
		v.data[i] = between(-1, 1);
	k->additive(scores.data, keys.data, stride, queries.data, v.data, count, inner, cols, scale);
	check_tile(&scores, padded, "additive");
	/* tanh, one rounding a term of a block, and one a block. */
	size_t block = inner < GEMM_BLOCK ? inner : GEMM_BLOCK;
	double error = 3.2e-7 + (double)(block + inner / GEMM_BLOCK + 2) * 0x1p-24;
	for (size_t j = 0; j < count; j++) {
		for (size_t q = 0; q < cols; q++) {
			double want = 0, size = 0, got = (double)scores.data[j * TILE + q];
			for (size_t a = 0; a < inner; a++) {
				float x = keys.data[j * stride + a] + queries.data[a * TILE + q];
				double term = (double)scale * (double)v.data[a] * tanh((double)x);
				want += term;
				size += fabs(term);
			}
			CHECK(fabs(got - want) <= error * size,
			      "%s additive %zux%zux%zu: (%zu, %zu) is %.9g, expected %.9g", k->name, count,
			      inner, cols, j, q, got, want);
		}
		digest_add(scores.data + j * TILE, cols);
	}
	area_free(&keys);
	area_free(&v);
	area_free(&queries);
	area_free(&scores);
}

static void additive_sizes(const struct kernels *k)
{
	static const size_t inners[] = {1, 2, 3, 5, 8, 17, 64, 100, 255, 256, 257, 600};
	for (size_t cols = 1; cols <= TILE; cols++)
		for (size_t i = 0; i < 3; i++)
			check_additive(k, 1 + below(4), inners[(5 * i + cols) % 12], cols);
}

static void test_additive(void **state)
{
	(void)state;
	with_every_set("additive", additive_sizes);
}

/* One term: tanh itself, in every binade from 2^-124 on, and more often below 10. */
static void tanh_range(const struct kernels *k)
{
	const float key = 0, one = 1;
	double worst = 0, where = 0;
	struct area x = output_new(TILE, 0), got = output_new(TILE, 0);
	for (size_t round = 0; round < 60000; round++) {
		for (size_t c = 0; c < TILE; c++) {
			int binade = (int)below(128) - 124;
			float size = c % 2 ? between(0, 10) : ldexpf(between(1, 2), binade);
			x.data[c] = below(2) ? size : -size;
		}
		k->additive(got.data, &key, 1, x.data, &one, 1, 1, TILE, 1);
		for (size_t c = 0; c < TILE; c++) {
			double want = tanh((double)x.data[c]), off = fabs((double)got.data[c] / want - 1);
			CHECK(off <= 3.2e-7 && fabsf(got.data[c]) <= 1,
			      "%s: tanh(%.9g) is %.9g, expected %.9g", k->name, (double)x.data[c],
			      (double)got.data[c], want);
			if (off > worst) {
				worst = off;
				where = (double)x.data[c];
			}
		}
		digest_add(got.data, TILE);
	}
	print_message("%s: tanh is off by %.3g of its value at most, at %.9g\n", k->name, worst, where);
	area_free(&x);
	area_free(&got);
}

static void test_tanh(void **state)
{
	(void)state;
	with_every_set("tanh", tanh_range);
}

/* Huge sums are +-1, and a NaN reaches its own row or column, and no other. */
static void additive_extremes(const struct kernels *k)
{
	static const float special[] = {1e30f, -1e30f, FLT_MAX, -FLT_MAX, NAN, -NAN, 0, 9};
	static const float want[] = {2, -2, 2, -2, NAN, NAN, 0, 2};
	const float keys[] = {1e-30f, NAN, 0}, v = 2;
	struct area queries = tile_new(1, TILE, 0, 0), scores = output_new(3 * TILE, 0);
	for (size_t c = 0; c < TILE; c++)
		queries.data[c] = special[c % 8];
	k->additive(scores.data, keys, 1, queries.data, &v, 3, 1, TILE, 1);
	for (size_t i = 0; i < scores.count; i++) {
		float expected = i / TILE == 1 ? NAN : want[i % 8], got = scores.data[i];
		CHECK(isnan(expected) ? isnan(got) : fabsf(got - expected) <= 1e-6f,
		      "%s: additive of %g is %g", k->name, (double)special[i % 8], (double)got);
	}
	/* The sum itself leaves float32. */
	k->additive(scores.data, &special[2], 1, &queries.data[0], &v, 1, 1, TILE, 1);
	CHECK(fabsf(scores.data[2] - 2) <= 1e-6f, "%s: additive of an overflow is %g", k->name,
	      (double)scores.data[2]);
	area_free(&queries);
	area_free(&scores);
}

static void test_additive_extremes(void **state)
{
	(void)state;
	with_every_set("additive, extremes", additive_extremes);
}

/* --- bias by distance ------------------------------------------------------------ */

static void check_distance(const struct kernels *k, size_t keys, size_t cols)
{
	size_t padded = padded_to(k, cols);
	struct area table = input_new(keys - 1 + padded); /* ends with the last that may be read */
	struct area scores = tile_new(keys, padded, -9, 9), before = output_new(keys * TILE, 0);
	for (size_t i = 0; i < table.count; i++)
		table.data[i] = (float)i;
	for (size_t i = 0; i < scores.count; i++)
		if (below(5) == 0 && i % TILE < padded)
			scores.data[i] = -INFINITY;
	memcpy(before.data, scores.data, scores.count * sizeof *scores.data);
	k->add_by_distance(scores.data, keys, cols, table.data + (keys - 1));
	check_tile(&scores, padded, "add_by_distance");
	for (size_t j = 0; j < keys; j++) {
		for (size_t q = 0; q < cols; q++) {
			float want = before.data[j * TILE + q] + (float)(keys - 1 + q - j);
			CHECK(same_bits(&scores.data[j * TILE + q], &want, 1),
			      "%s add_by_distance %zux%zu: (%zu, %zu) is %.9g, expected %.9g", k->name, keys,
			      cols, j, q, (double)scores.data[j * TILE + q], (double)want);
		}
		digest_add(scores.data + j * TILE, cols);
	}
	area_free(&table);
	area_free(&scores);
	area_free(&before);
}

static void distance_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		check_distance(k, 1 + cols % 5, cols);
		check_distance(k, 96, cols);
	}
}

static void test_add_by_distance(void **state)
{
	(void)state;
	with_every_set("add_by_distance", distance_sizes);
}

/* --- feature map ------------------------------------------------------------------ */

static void check_feature(const struct kernels *k, size_t count, size_t offset)
{
	static const double most[] = {10, 100, 1e-6};
	static const float special[] = {0, -0.0f, FLT_MAX, -FLT_MAX, -INFINITY, INFINITY, 1};
	struct area x = output_new(count, offset), before = output_new(count + 1, 0);
	for (size_t i = 0; i < count; i++) {
		size_t kind = below(10);
		x.data[i] = kind < 3 ? between(-most[kind], most[kind] / 8) : special[kind - 3];
	}
	memcpy(before.data, x.data, count * sizeof *x.data);
	k->feature_map(x.data, count);
	check_guards(&x, "feature_map");
	for (size_t i = 0; i < count; i++) {
		float got = x.data[i], from = before.data[i], plus = from + 1, alone = from;
		if (from >= 0)
			CHECK(same_bits(&got, &plus, 1), "%s: feature of %.9g is %.9g", k->name, (double)from,
			      (double)got);
		else if (from < -87.3f)
			CHECK(got == 0, "%s: feature of %.9g is %.9g", k->name, (double)from, (double)got);
		else
			CHECK(fabs((double)got / exp((double)from) - 1) <= exponential_bound((double)from),
			      "%s: feature of %.9g is %.9g", k->name, (double)from, (double)got);
		k->feature_map(&alone, 1);
		CHECK(same_bits(&got, &alone, 1), "%s: feature of %.9g differs by place", k->name,
		      (double)from);
	}
	digest_add(x.data, count);
	area_free(&x);
	area_free(&before);
}

static void feature_sizes(const struct kernels *k)
{
	for (size_t count = 0; count <= 70; count++)
		for (size_t round = 0; round < 20; round++)
			check_feature(k, count, below(16));
	/* NaNs with all kinds of low bits. */
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t bits = (i % 2 ? 0x7fc00000u : 0xffc00000u) | random_bits() >> 10;
		float number;
		memcpy(&number, &bits, sizeof number);
		k->feature_map(&number, 1);
		CHECK(isnan(number), "%s: feature of NaN %08x is %g", k->name, (unsigned)bits,
		      (double)number);
	}
}

static void test_feature_map(void **state)
{
	(void)state;
	with_every_set("feature_map", feature_sizes);
}

/* --- pack and unpack ---------------------------------------------------------- */

static const size_t depths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 96};

enum {
	DEPTHS = sizeof depths / sizeof *depths
};

static void check_pack(const struct kernels *k, size_t cols, size_t inner, size_t gap, float scale)
{
	size_t padded = padded_to(k, cols), stride = inner + gap;
	struct area rows = input_new((cols - 1) * stride + inner), tile = output_new(inner * TILE, 0);
	for (size_t i = 0; i < rows.count; i++)
		rows.data[i] = between(-9, 9);
	k->pack(tile.data, rows.data, stride, cols, inner, scale);
	check_tile(&tile, padded, "pack");
	for (size_t i = 0; i < inner; i++) {
		for (size_t q = 0; q < padded; q++) {
			float want = q < cols ? rows.data[q * stride + i] * scale : 0;
			CHECK(same_bits(&tile.data[i * TILE + q], &want, 1),
			      "%s pack %zux%zu: (%zu, %zu) is %.9g, expected %.9g", k->name, cols, inner, i,
			      q, (double)tile.data[i * TILE + q], (double)want);
		}
		digest_add(tile.data + i * TILE, cols);
	}
	area_free(&rows);
	area_free(&tile);
}

static void pack_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++)
		for (size_t i = 0; i < DEPTHS; i++)
			check_pack(k, cols, depths[i], i % 5 * 3, i % 2 ? 0.125f : between(-2, 2));
}

static void test_pack(void **state)
{
	(void)state;
	with_every_set("pack", pack_sizes);
}

static void check_unpack(const struct kernels *k, size_t cols, size_t inner, size_t stride, size_t offset,
			 bool past_cache)
{
	struct area tile = tile_new(inner, padded_to(k, cols), -9, 9);
	struct area factor = tile_new(1, padded_to(k, cols), -2, 2);
	struct area rows = output_new((cols - 1) * stride + inner, offset);
	for (size_t i = 0; i < tile.count; i++)
		if (i % TILE < cols)
			tile.data[i] = (float)((int)(i * 37 % 1999) - 999);
	for (size_t q = 0; q < cols; q++)
		factor.data[q] = 1 / (float)(q + 3);
	k->unpack(rows.data, stride, tile.data, cols, inner, factor.data, past_cache);
	check_guards(&rows, "unpack");
	for (size_t q = 0; q < cols; q++) {
		const float *row = rows.data + q * stride;
		for (size_t i = 0; i < inner; i++) {
			float want = tile.data[i * TILE + q] * factor.data[q];
			CHECK(same_bits(&row[i], &want, 1),
			      "%s unpack %zux%zu stride %zu: (%zu, %zu) is %.9g, expected %.9g", k->name,
			      cols, inner, stride, q, i, (double)row[i], (double)want);
		}
		for (size_t i = inner; i < stride && q + 1 < cols; i++)
			CHECK(untouched(&row[i]), "%s unpack %zux%zu wrote between rows", k->name, cols,
			      inner);
		digest_add(row, inner);
	}
	area_free(&tile);
	area_free(&factor);
	area_free(&rows);
}

static void unpack_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		for (size_t i = 0; i < DEPTHS; i++) {
			size_t inner = depths[i], whole = (inner + 15) / 16 * 16;
			check_unpack(k, cols, inner, inner + i % 5, 0, false);
			check_unpack(k, cols, inner, whole, 0, true);
			check_unpack(k, cols, inner, whole + 16, 0, true);
			check_unpack(k, cols, inner, whole + 1, 0, true);
			check_unpack(k, cols, inner, whole, 1 + below(15), true);
		}
	}
}

static void test_unpack(void **state)
{
	(void)state;
	with_every_set("unpack", unpack_sizes);
}

/* --- the small ones ------------------------------------------------------------ */

static void scale_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		size_t count = 1 + below(9), padded = padded_to(k, cols);
		struct area rows = output_new(count * TILE, 0), before = output_new(count * TILE, 0);
		struct area factor = tile_new(1, padded, 1, 1);
		for (size_t i = 0; i < rows.count; i++)
			if (i % TILE < padded)
				rows.data[i] = i % TILE < cols ? between(-9, 9) : 1;
		for (size_t c = 0; c < cols; c++)
			factor.data[c] = below(5) ? between(0, 1) : 0;
		memcpy(before.data, rows.data, rows.count * sizeof *rows.data);
		k->scale_columns(rows.data, count, cols, factor.data);
		check_tile(&rows, padded, "scale_columns");
		for (size_t r = 0; r < count; r++) {
			for (size_t c = 0; c < cols; c++) {
				float want = before.data[r * TILE + c] * factor.data[c];
				CHECK(same_bits(&rows.data[r * TILE + c], &want, 1), "%s scale_columns",
				      k->name);
			}
			digest_add(rows.data + r * TILE, cols);
		}
		area_free(&rows);
		area_free(&before);
		area_free(&factor);
	}
}

static void test_scale_columns(void **state)
{
	(void)state;
	with_every_set("scale_columns", scale_sizes);
}

static void check_sums(const struct kernels *k, size_t count, size_t cols)
{
	size_t padded = padded_to(k, cols);
	struct area rows = tile_new(count, padded, -9, 9), sum = tile_new(1, padded, -9, 9);
	float before[TILE];
	memcpy(before, sum.data, sizeof before);
	k->sum_columns(rows.data, count, cols, sum.data);
	check_tile(&sum, padded, "sum_columns");
	for (size_t c = 0; c < cols; c++) {
		double want = (double)before[c], size = fabs(want), got = (double)sum.data[c];
		for (size_t r = 0; r < count; r++) {
			want += (double)rows.data[r * TILE + c];
			size += fabs((double)rows.data[r * TILE + c]);
		}
		CHECK(fabs(got - want) <= (double)(count + 1) * 0x1p-24 * size,
		      "%s sum_columns %zux%zu: column %zu is %.9g, expected %.9g", k->name, count, cols, c,
		      got, want);
	}
	digest_add(sum.data, cols);
	area_free(&rows);
	area_free(&sum);
}

static void sums_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		check_sums(k, cols % 6, cols);
		check_sums(k, 96, cols);
	}
}

static void test_sum_columns(void **state)
{
	(void)state;
	with_every_set("sum_columns", sums_sizes);
}

static void finite_places(const struct kernels *k)
{
	static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
	for (size_t cols = 1; cols <= TILE; cols++) {
		size_t count = 1 + below(5), padded = padded_to(k, cols);
		struct area rows = tile_new(count, padded, -FLT_MAX, FLT_MAX);
		CHECK(k->all_finite(rows.data, count, cols), "%s all_finite: %zu columns", k->name, cols);
		for (size_t i = 0; i < rows.count; i++) {
			float kept = rows.data[i];
			rows.data[i] = bad[i % 4];
			CHECK(k->all_finite(rows.data, count, cols) == (i % TILE >= padded),
			      "%s all_finite: %g in row %zu, column %zu of %zu", k->name, (double)bad[i % 4],
			      i / TILE, i % TILE, cols);
			rows.data[i] = kept;
		}
		area_free(&rows);
	}
}

static void largest_values(const struct kernels *k)
{
	static const float numbers[] = {1, -2, 3, 0.5f, -0.0f, 2,  -9, 4, 8,    7,  6,
					5, -3, 1, 2,    8.5f,  -8, 2,  1, 9.5f, -10};
	const size_t count = sizeof numbers / sizeof *numbers;
	for (size_t first = 0; first < count; first++) {
		float expected = 0;
		for (size_t n = 0; first + n <= count; n++) {
			CHECK(k->largest(numbers + first, n) == expected, "%s largest: %zu numbers from %zu",
			      k->name, n, first);
			if (first + n < count)
				expected = fmaxf(expected, fabsf(numbers[first + n]));
		}
	}
}

static void test_largest(void **state)
{
	(void)state;
	with_every_set("largest", largest_values);
}

static void test_all_finite(void **state)
{
	(void)state;
	with_every_set("all_finite", finite_places);
}

static void spin_once(const struct kernels *k)
{
	struct area out = tile_new(1, k->lanes, 0, 0);
	k->spin(100, out.data);
	check_tile(&out, k->lanes, "spin");
	for (size_t i = 0; i < k->lanes; i++)
		CHECK(isfinite(out.data[i]), "%s spin", k->name);
	CHECK(k->spin_operations >= 2 * k->lanes, "%s spin_operations", k->name);
	area_free(&out);
}

static void test_spin(void **state)
{
	(void)state;
	with_every_set("spin", spin_once);
}

/* Names are those that ATTN_KERNEL takes, each once, with the widest first. */
static void test_sets(void **state)
{
	(void)state;
	for (size_t i = 0; kernels_runnable(i); i++) {
		const struct kernels *k = kernels_runnable(i);
		assert_true(k->lanes >= 4 && TILE % k->lanes == 0);
		assert_true(i == 0 || kernels_runnable(i - 1)->lanes > k->lanes);
	}
	assert_null(kernels_runnable(1000));
	const char *cap = getenv("ATTN_KERNEL");
	if (!cap || !cap[0])
		assert_ptr_equal(kernels_best(), kernels_runnable(0));
	else if (strcmp(cap, "scalar") == 0)
		assert_null(kernels_best());
	else
		assert_string_equal(kernels_best()->name, cap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sets),
	    cmocka_unit_test(test_gemm),
	    cmocka_unit_test(test_gemm_keeps_columns_apart),
	    cmocka_unit_test(test_softmax),
	    cmocka_unit_test(test_softmax_shows_overflow),
	    cmocka_unit_test(test_exponential),
	    cmocka_unit_test(test_softcap),
	    cmocka_unit_test(test_softcap_extremes),
	    cmocka_unit_test(test_additive),
	    cmocka_unit_test(test_tanh),
	    cmocka_unit_test(test_additive_extremes),
	    cmocka_unit_test(test_add_by_distance),
	    cmocka_unit_test(test_feature_map),
	    cmocka_unit_test(test_pack),
	    cmocka_unit_test(test_unpack),
	    cmocka_unit_test(test_scale_columns),
	    cmocka_unit_test(test_sum_columns),
	    cmocka_unit_test(test_all_finite),
	    cmocka_unit_test(test_largest),
	    cmocka_unit_test(test_spin),
	};
	const char *chosen = getenv("ATTN_TEST_SEED");
	if (chosen)
		first_seed = strtoull(chosen, NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
