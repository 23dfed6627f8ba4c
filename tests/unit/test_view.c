/* Views: words, crops, exclusions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "result/view.h"
#include "tokens/words.h"

/* A source of one matrix, the same for each head: a weight below 0 stands for a masked
 * pair. */
struct matrix {
	struct row_source source;
	struct rows_info info;
	const float *weights;
	float rows[ROWS_BLOCK * 320];
	unsigned char cells[ROWS_BLOCK * 320];
	size_t started, freed; /* how often */
};

static enum attn_status matrix_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct matrix *m = (struct matrix *)source;
	(void)err;
	assert_int_equal(worker, 0);
	assert_in_range(block->count, 1, ROWS_BLOCK);
	assert_true(block->query + block->count <= source->shape.queries);
	assert_int_equal(block->keys, source->shape.keys);
	for (size_t i = 0; i < block->count * block->keys; i++) {
		float weight = m->weights[block->query * block->keys + i];
		m->cells[i] = weight >= 0 ? CELL_ATTENDED : CELL_MASKED;
		m->rows[i] = weight >= 0 ? weight : 0;
	}
	block->weights = m->rows;
	block->cells = m->cells;
	return ATTN_OK;
}

static enum attn_status matrix_start(struct row_source *source, struct attn_error *err)
{
	(void)err;
	((struct matrix *)source)->started++;
	return ATTN_OK;
}

static void matrix_free(struct row_source *source)
{
	((struct matrix *)source)->freed++;
}

static void add_labels(struct string_list *list, const char *const *labels, size_t count)
{
	char number[24];
	for (size_t i = 0; i < count; i++) {
		snprintf(number, sizeof number, "%zu", i);
		assert_true(string_list_add(list, labels ? labels[i] : number));
	}
}

/* NULL labels are numbers.  The caller frees. */
static struct matrix *matrix_new(size_t queries, size_t keys, const float *weights,
				 const char *const *of_queries, const char *const *of_keys)
{
	struct matrix *m = calloc(1, sizeof *m);
	assert_non_null(m);
	m->info.shape =
	    (struct rows_shape){.batch = 1, .layers = 1, .heads = 2, .queries = queries, .keys = keys};
	m->source = (struct row_source){.shape = m->info.shape,
					.row_cost = 10,
					.start = matrix_start,
					.read = matrix_read,
					.free = matrix_free};
	m->weights = weights;
	add_labels(&m->info.query_labels, of_queries, queries);
	add_labels(&m->info.key_labels, of_keys, keys);
	return m;
}

/* Release the view, which frees its matrix's rows once. */
static void finish(struct named_rows *view, struct matrix *m)
{
	named_rows_release(view);
	assert_int_equal(m->freed, 1);
	rows_info_release(&m->info);
	free(m);
}

static struct named_rows words_of(struct matrix *m)
{
	struct named_rows inner = {&m->source, m->info}, view;
	assert_int_equal(view_words_open(&view, &inner, NULL), ATTN_OK);
	return view;
}

static struct named_rows view_of(struct matrix *m, struct view_options options)
{
	struct named_rows inner = {&m->source, m->info}, view;
	assert_int_equal(view_crop_open(&view, &inner, &options, NULL), ATTN_OK);
	return view;
}

/* View a view, whose names are not needed any more. */
static void view_again(struct named_rows *view, struct view_options options)
{
	struct named_rows inner = *view;
	assert_int_equal(view_crop_open(view, &inner, &options, NULL), ATTN_OK);
	rows_info_release(&inner.info);
}

static struct row_block read_rows(const struct named_rows *view, size_t query, size_t count)
{
	struct row_source *source = view->source;
	struct row_block block = {
	    .head = 1, .query = query, .count = count, .keys = source->shape.keys, .masked = 99};
	assert_int_equal(source->shape.heads, view->info.shape.heads);
	assert_int_equal(source->shape.queries, view->info.shape.queries);
	assert_int_equal(source->shape.keys, view->info.shape.keys);
	assert_int_equal(source->read(source, 0, &block, NULL), ATTN_OK);
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		assert_null(block.scores[stage]);
	assert_null(block.context);
	return block;
}

/* In what is expected: */
#define MASKED (-1.0)
#define REMOVED (-2.0)
#define UNSCALED(w) (10.0 + (w))

/* All rows at once, weight by weight. */
static void expect_rows(const struct named_rows *view, const double *expected, size_t masked)
{
	struct row_block block = read_rows(view, 0, view->info.shape.queries);
	for (size_t i = 0; i < block.count * block.keys; i++) {
		double e = expected[i], weight = e < 0 ? 0 : e >= 10 ? e - 10 : e;
		unsigned char cell = e == MASKED    ? CELL_MASKED
				     : e == REMOVED ? CELL_REMOVED
				     : e >= 10      ? CELL_UNSCALED
						    : CELL_ATTENDED;
		if (fabs((double)block.weights[i] - weight) > 1e-6 || block.cells[i] != cell)
			fail_msg("cell %zu is %g (of kind %d), expected %g", i, (double)block.weights[i],
				 block.cells[i], e);
		if (e < 0)
			assert_true(block.weights[i] == 0);
	}
	assert_int_equal(block.masked, masked);
}

static const float three[] = {.5f, .3f, .2f, .1f, .6f, .3f, .25f, .25f, .5f};

static void words_of_three(void **state)
{
	(void)state;
	const char *const tokens[] = {"\u2581un", "happy", "\u2581cat"};
	struct matrix *m = matrix_new(3, 3, three, tokens, tokens);
	struct named_rows view = words_of(m);
	assert_int_equal(view.info.shape.queries, 2);
	assert_int_equal(view.info.shape.keys, 2);
	assert_string_equal(view.info.query_labels.items[0], "unhappy");
	assert_string_equal(view.info.key_labels.items[1], "cat");
	/* (.5 + .3 + .1 + .6) / 2, (.2 + .3) / 2; .25 + .25, .5 */
	expect_rows(&view, (const double[]){.75, .25, .5, .5}, 0);
	finish(&view, m);
}

static void words_masked(void **state)
{
	(void)state;
	const char *const tokens[] = {"\u2581a", "\u2581b", "c"};
	static const float causal[] = {1, -1, -1, .4f, .6f, -1, .2f, .3f, .5f};
	struct matrix *m = matrix_new(3, 3, causal, tokens, tokens);
	struct named_rows view = words_of(m);
	expect_rows(&view, (const double[]){1, MASKED, .3, .7}, 0);
	finish(&view, m);

	/* A piece that sees nothing has no part in the mean. */
	static const float half[] = {.5f, .5f, -1, -1, -1, -1, .2f, .3f, .5f};
	m = matrix_new(3, 3, half, tokens, tokens);
	view = words_of(m);
	expect_rows(&view, (const double[]){.5, .5, .2, .8}, 0);
	finish(&view, m);

	static const float none[] = {-1, 1, -1, -1, -1, -1, -1, -1, -1};
	m = matrix_new(3, 3, none, tokens, tokens);
	view = words_of(m);
	expect_rows(&view, (const double[]){MASKED, 1, MASKED, MASKED}, 1);
	finish(&view, m);
}

/* Words of 1, 2, 3, 4, ... 150 tokens, so that some are longer than a block. */
static void words_across_blocks(void **state)
{
	(void)state;
	enum {
		QUERIES = 600,
		KEYS = 300
	};
	static float weights[QUERIES * KEYS];
	const char *tokens[QUERIES];
	size_t first[QUERIES + 1] = {0}, words = 0;
	for (size_t i = 0, next = 0; i < QUERIES; i++) {
		tokens[i] = i == next ? "\u2581x" : "y";
		if (i == next) {
			first[words++] = i;
			next += words == 7 ? 280 : words;
		}
	}
	first[words] = QUERIES;
	unsigned int seed = 5;
	for (size_t q = 0; q < QUERIES; q++) {
		float sum = 0;
		for (size_t k = 0; k < KEYS; k++) {
			seed = seed * 1664525u + 1013904223u;
			sum += weights[q * KEYS + k] = (float)(seed >> 8) / 16777216.0f;
		}
		for (size_t k = 0; k < KEYS; k++)
			weights[q * KEYS + k] /= sum;
	}
	struct matrix *m = matrix_new(QUERIES, KEYS, weights, tokens, tokens);
	struct named_rows view = words_of(m);
	assert_int_equal(view.info.shape.queries, words);
	for (size_t from = 0; from < words; from += 3) {
		struct row_block block = read_rows(&view, from, from + 3 < words ? 3 : words - from);
		for (size_t r = 0; r < block.count; r++) {
			double total = 0;
			for (size_t word = 0; word < block.keys; word++) {
				double sum = 0;
				for (size_t q = first[from + r]; q < first[from + r + 1]; q++)
					for (size_t k = first[word]; k < first[word + 1] && k < KEYS; k++)
						sum += (double)weights[q * KEYS + k];
				sum /= (double)(first[from + r + 1] - first[from + r]);
				total += (double)block.weights[r * block.keys + word];
				assert_true(fabs((double)block.weights[r * block.keys + word] - sum) < 1e-6);
			}
			assert_true(fabs(total - 1) < 1e-5);
		}
	}
	finish(&view, m);
}

static void words_past_and_appended(void **state)
{
	(void)state;
	const char *const tokens[] = {"\u2581un", "happy"};
	const char *const keys[] = {"0", "1", "\u2581un", "happy", "<bias>"};
	static const float weights[] = {.1f, .2f, .3f, -1, .4f, .2f, .2f, .2f, .2f, .2f};
	struct matrix *m = matrix_new(2, 5, weights, tokens, keys);
	m->source.shape.past_keys = m->info.shape.past_keys = 2;
	m->source.shape.appended_keys = m->info.shape.appended_keys = 1;
	struct named_rows view = words_of(m);
	assert_int_equal(view.info.shape.keys, 4);
	assert_int_equal(view.info.shape.past_keys, 2);
	assert_int_equal(view.info.shape.appended_keys, 1);
	assert_string_equal(view.info.key_labels.items[1], "1");
	assert_string_equal(view.info.key_labels.items[2], "unhappy");
	expect_rows(&view, (const double[]){.15, .2, .35, .3}, 0);
	view_again(&view, (struct view_options){.exclude_diagonal = true});
	expect_rows(&view, (const double[]){.15, .2, UNSCALED(.35), .3}, 0);
	finish(&view, m);
}

static void crops(void **state)
{
	(void)state;
	struct matrix *m = matrix_new(3, 3, three, NULL, NULL);
	struct named_rows view = view_of(m, (struct view_options){
						.queries = (const bool[]){true, false, true},
						.keys = (const bool[]){false, true, true},
					    });
	expect_rows(&view, (const double[]){.3, .2, .25, .5}, 0);
	assert_string_equal(view.info.query_labels.items[1], "2");
	assert_string_equal(view.info.key_labels.items[0], "1");
	assert_int_equal(query_number(&view.info, 1), 2);
	assert_int_equal(key_number(&view.info, 0), 1);

	/* A crop of that keeps the numbers. */
	view_again(&view, (struct view_options){.queries = (const bool[]){false, true}});
	expect_rows(&view, (const double[]){.25, .5}, 0);
	assert_int_equal(query_number(&view.info, 0), 2);
	assert_int_equal(key_number(&view.info, 1), 2);
	finish(&view, m);
}

/* Masked means: nothing to see in the whole row, not only in what is shown of it. */
static void crop_counts_masked_rows(void **state)
{
	(void)state;
	static const float weights[] = {1, -1, -1, .4f, .6f, -1, -1, -1, -1};
	struct matrix *m = matrix_new(3, 3, weights, NULL, NULL);
	struct named_rows view =
	    view_of(m, (struct view_options){.keys = (const bool[]){false, false, true}});
	expect_rows(&view, (const double[]){MASKED, MASKED, MASKED}, 1);
	finish(&view, m);
}

static void exclusions(void **state)
{
	(void)state;
	struct matrix *m = matrix_new(3, 3, three, NULL, NULL);
	struct view_options options = {.excluded = (const bool[]){true, false, false},
				       .exclude_diagonal = true};
	struct named_rows view = view_of(m, options);
	expect_rows(&view,
		    (const double[]){UNSCALED(.5), .3, .2, UNSCALED(.1), UNSCALED(.6), .3, UNSCALED(.25), .25,
				     UNSCALED(.5)},
		    0);
	assert_null(view.info.key_numbers);
	finish(&view, m);

	options.renormalise = true;
	m = matrix_new(3, 3, three, NULL, NULL);
	view = view_of(m, options);
	expect_rows(&view, (const double[]){REMOVED, .6, .4, REMOVED, REMOVED, 1, REMOVED, 1, REMOVED}, 0);
	finish(&view, m);

	/* What is not shown has its part in the sum. */
	options.keys = (const bool[]){true, true, false};
	m = matrix_new(3, 3, three, NULL, NULL);
	view = view_of(m, options);
	expect_rows(&view, (const double[]){REMOVED, .6, REMOVED, REMOVED, REMOVED, 1}, 0);
	finish(&view, m);

	/* Nothing is left of row 0, and row 1 has nothing but 0. */
	static const float weights[] = {1, -1, -1, 1, 0, -1, .5f, 0, .5f};
	options = (struct view_options){.excluded = (const bool[]){true, false, false}, .renormalise = true};
	m = matrix_new(3, 3, weights, NULL, NULL);
	view = view_of(m, options);
	expect_rows(&view, (const double[]){REMOVED, MASKED, MASKED, REMOVED, MASKED, MASKED, REMOVED, 0, 1},
		    2);
	finish(&view, m);
}

/* What is masked anyway nobody can exclude: it stays masked, with the rest made 1 again
 * or not. */
static void excluded_and_masked(void **state)
{
	static const float causal[] = {1, -1, -1, .25f, .75f, -1, .2f, .3f, .5f};
	(void)state;
	struct view_options options = {.excluded = (const bool[]){false, true, false}};
	struct matrix *m = matrix_new(3, 3, causal, NULL, NULL);
	struct named_rows view = view_of(m, options);
	expect_rows(&view,
		    (const double[]){1, MASKED, MASKED, .25, UNSCALED(.75), MASKED, .2, UNSCALED(.3), .5}, 0);
	finish(&view, m);

	options.renormalise = true;
	m = matrix_new(3, 3, causal, NULL, NULL);
	view = view_of(m, options);
	expect_rows(&view, (const double[]){1, MASKED, MASKED, 1, REMOVED, MASKED, 2. / 7, REMOVED, 5. / 7},
		    0);

	/* A crop of that keeps what each cell is. */
	view_again(&view, (struct view_options){.keys = (const bool[]){false, true, true}});
	expect_rows(&view, (const double[]){MASKED, MASKED, REMOVED, MASKED, REMOVED, 5. / 7}, 0);
	finish(&view, m);
}

/* Views start what they wrap, and only then is it read. */
static void starts(void **state)
{
	(void)state;
	const char *const tokens[] = {"\u2581un", "happy", "\u2581cat"};
	struct matrix *m = matrix_new(3, 3, three, tokens, tokens);
	struct named_rows view = words_of(m);
	view_again(&view, (struct view_options){.exclude_diagonal = true});
	assert_int_equal(m->started, 0);
	assert_int_equal(view.source->start(view.source, NULL), ATTN_OK);
	assert_int_equal(m->started, 1);
	expect_rows(&view, (const double[]){UNSCALED(.75), .25, .5, UNSCALED(.5)}, 0);
	finish(&view, m);
}

/* Tokens, and the words that they make with "|" between. */
static const struct {
	const char *tokens[12];
	const char *words;
} lists[] = {
    /* SentencePiece; punctuation, and within words */
    {{"\u2581The", "\u2581cat", "s", "."}, "The|cats|."},
    {{"\u2581didn", "'", "t", ",", "\u2581l", "\u2019", "homme"}, "didn't|,|l\u2019homme"},
    {{"\u2581", "3", ".", "1", "4", ",", "\u2581", "1", ",", "000", "."}, "3.14|,|1,000|."},
    {{"\u2581well", "-", "known", "\u2581(", "so", ")", "\u2581a", "_", "b"}, "well|-|known|(|so|)|a_b"},
    {{"un", "\u2581", "\u2581", "happy", "\u2581"}, "un|\u2423|happy|\u2423"},
    {{"<s>", "\u2581un", "happy", "</s>", "<pad>"}, "<s>|unhappy|</s>|<pad>"},
    {{"[CLS]", "\u2581un", "happy", "[SEP]", "x"}, "[CLS]|unhappy|[SEP]|x"},
    /* Chinese, Japanese with signs that go on, Thai, Korean */
    {{"\u2581", "\u6211", "\u559c\u6b22", "\u732b", "\u3002"}, "\u6211|\u559c\u6b22|\u732b|\u3002"},
    {{"\u2581\u6211", "\u7528", "Py", "thon", "3", "\u5199"}, "\u6211|\u7528|Python3|\u5199"},
    {{"\u2581\u30b3\u30d4", "\u30fc", "\u4eba", "\u3005", "\u306f"},
     "\u30b3\u30d4\u30fc|\u4eba\u3005|\u306f"},
    {{"\u2581\u0e01", "\u0e34", "\u0e19"}, "\u0e01\u0e34|\u0e19"},
    {{"\u2581\uace0\uc591", "\uc774", "\u2581\ubd24\ub2e4"}, "\uace0\uc591\uc774|\ubd24\ub2e4"},
    /* Arabic, Devanagari with its danda */
    {{"\u2581\u0627\u0644", "\u0642\u0637\u0629", "\u061f"}, "\u0627\u0644\u0642\u0637\u0629|\u061f"},
    {{"\u2581\u092c\u093f", "\u0932\u094d\u0932\u0940", "\u0964"},
     "\u092c\u093f\u0932\u094d\u0932\u0940|\u0964"},
    /* bytes that have no piece: U+1F600, and a line end */
    {{"\u2581a", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "<0x0A>", "\u2581b"}, "a\U0001f600|\u21b5|b"},
    {{"\u2581a", "<0xF0>", "<0x9F>"}, "a\\xf0\\x9f"},
    /* byte-level: U+1F600 in four tokens, U+4E2D in two, an e with acute */
    {{"I", "\u0120love", "\u0120\u00f0", "\u0141", "\u013a", "\u0122", "!"}, "I|love|\U0001f600|!"},
    {{"\u0120", "\u00e4\u00b8", "\u0143", "\u00e5\u013d", "\u00bd"}, "\u4e2d|\u56fd"},
    {{"\u0120caf", "\u00c3", "\u00a9", "s", "<|endoftext|>"}, "caf\u00e9s|<|endoftext|>"},
    {{"don", "'t", "\u0120x", "\u010a", "y"}, "don't|x|\u21b5|y"},
    /* WordPiece, where a piece is marked whatever it is */
    {{"[CLS]", "play", "##ing", "##\u732b", ",", "don", "'", "t", "[SEP]"},
     "[CLS]|playing\u732b|,|don|'|t|[SEP]"},
    /* ends, and what goes on */
    {{"un", "happy</w>", "cat</w>", ".</w>"}, "unhappy|cat|."},
    {{"un@@", "hap@@", "py", "cat", "."}, "unhappy|cat|."},
    /* spaces */
    {{"The", " un", "happy", ",", " cat"}, "The|unhappy|,|cat"},
    /* no markers */
    {{"the", "cat", ".", "'", "\u732b"}, "the|cat|.|'|\u732b"},
    {{""}, ""},
};

static void words_of_lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct string_list list = {0};
		struct words words = {0};
		char joined[400] = "";
		size_t count = 0;
		for (; count < 12 && lists[i].tokens[count]; count++)
			assert_true(string_list_add(&list, lists[i].tokens[count]));
		assert_true(words_add(&words, &list));
		assert_int_equal(words.first[0], 0);
		assert_int_equal(words.first[words.count], count);
		assert_int_equal(words.labels.count, words.count);
		for (size_t w = 0; w < words.count; w++) {
			assert_true(words.first[w] < words.first[w + 1]);
			snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s",
				 w ? "|" : "", words.labels.items[w]);
		}
		if (strcmp(joined, lists[i].words) != 0)
			fail_msg("list %zu makes %s, expected %s", i, joined, lists[i].words);
		words_release(&words);
		string_list_release(&list);
	}
}

static void no_words(void **state)
{
	(void)state;
	struct words words = {0};
	struct string_list list = {0};
	assert_true(words_add(&words, &list));
	assert_true(words_add_single(&words, &list));
	assert_int_equal(words.count, 0);
	assert_int_equal(words.first[0], 0);
	words_release(&words);
}

/* Four matrices: two layers of two heads; a weight below -1 stands for a masked pair. */
struct heads_source {
	struct row_source source;
	struct rows_info info;
	const float *weights; /* (layers, heads, queries, keys) */
	float rows[8];
	unsigned char cells[8];
	bool read[2][2]; /* layer, head */
	size_t now;      /* the layer whose rows can be read, where it has them one at a time */
};

static enum attn_status heads_read(struct row_source *source, size_t worker, struct row_block *block,
				   struct attn_error *err)
{
	struct heads_source *m = (struct heads_source *)source;
	const float *weights = m->weights + ((block->layer * 2 + block->head) * 2 + block->query) * 2;
	(void)worker;
	(void)err;
	if (source->begin_layer)
		assert_int_equal(block->layer, m->now);
	m->read[block->layer][block->head] = true;
	for (size_t i = 0; i < block->count * block->keys; i++) {
		m->cells[i] = weights[i] >= -1 ? CELL_ATTENDED : CELL_MASKED;
		m->rows[i] = weights[i] >= -1 ? weights[i] : 0;
	}
	block->weights = m->rows;
	block->cells = m->cells;
	block->masked = 0;
	return ATTN_OK;
}

static enum attn_status heads_begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	(void)err;
	((struct heads_source *)source)->now = layer;
	return ATTN_OK;
}

static bool one_layer_at_a_time; /* of heads_source */

static const float four[] = {
    1,    -2,  .25f, .75f, /* layer 0, head 0 */
    .5f,  .5f, -2,   -2,   /* head 1 */
    .75f, -2,  .5f,  .5f,  /* layer 1, head 0 */
    .25f, -2,  -2,   1,    /* head 1 */
};

static void open_heads(struct heads_source *m, struct named_rows *view, struct view_heads options)
{
	const struct rows_shape shape = {.batch = 1, .layers = 2, .heads = 2, .queries = 2, .keys = 2};
	*m = (struct heads_source){
	    .source = {.shape = shape, .row_cost = 10, .read = heads_read},
	    .info = {.shape = shape, .has_layers = true, .layer_known = true, .first_layer = 5},
	    .weights = four,
	    .now = SIZE_MAX};
	if (one_layer_at_a_time)
		m->source.begin_layer = heads_begin_layer;
	add_labels(&m->info.query_labels, NULL, 2);
	add_labels(&m->info.key_labels, NULL, 2);
	struct named_rows inner = {&m->source, m->info};
	assert_int_equal(view_heads_open(view, &inner, &options, NULL), ATTN_OK);
}

static void expect_head(const struct named_rows *view, size_t layer, size_t head, const double *expected,
			size_t masked)
{
	struct row_block block = {.layer = layer, .head = head, .count = 2, .keys = 2, .masked = 99};
	if (view->source->start)
		assert_int_equal(view->source->start(view->source, NULL), ATTN_OK);
	assert_true(one_layer_at_a_time || !view->source->begin_layer);
	if (view->source->begin_layer)
		assert_int_equal(view->source->begin_layer(view->source, layer, NULL), ATTN_OK);
	assert_int_equal(view->source->read(view->source, 0, &block, NULL), ATTN_OK);
	for (size_t i = 0; i < 4; i++) {
		assert_true((double)block.weights[i] == (expected[i] == MASKED ? 0 : expected[i]));
		assert_int_equal(block.cells[i], expected[i] == MASKED ? CELL_MASKED : CELL_ATTENDED);
	}
	assert_int_equal(block.masked, masked);
	assert_int_equal(block.head, head);
	assert_int_equal(block.layer, layer);
}

static void close_heads(struct heads_source *m, struct named_rows *view)
{
	named_rows_release(view);
	rows_info_release(&m->info);
}

static void heads_mean(void **state)
{
	(void)state;
	struct heads_source m;
	struct named_rows view;
	open_heads(&m, &view, (struct view_heads){.join_heads = true});
	assert_int_equal(view.info.shape.heads, 1);
	assert_int_equal(view.info.shape.layers, 2);
	assert_string_equal(view.info.joined_heads, "mean of 2 heads");
	assert_null(view.info.joined_layers);
	assert_int_equal(layer_number(&view.info, 1), 6);
	assert_false(view.info.other_keys);
	expect_head(&view, 0, 0, (const double[]){.75, .25, .125, .375}, 0);
	expect_head(&view, 1, 0, (const double[]){.5, MASKED, .25, .75}, 0);
	close_heads(&m, &view);

	/* Layers of the second head: its last row attends to one key in one layer. */
	open_heads(&m, &view, (struct view_heads){.heads = (const bool[]){false, true}, .join_layers = true});
	assert_string_equal(view.info.joined_layers, "mean of 2 layers");
	assert_int_equal(head_number(&view.info, 0), 1);
	assert_false(view.info.has_layers);
	expect_head(&view, 0, 0, (const double[]){.375, .25, MASKED, .5}, 0);
	assert_false(m.read[0][0] || m.read[1][0]);
	close_heads(&m, &view);

	open_heads(&m, &view, (struct view_heads){.join_heads = true, .join_layers = true});
	expect_head(&view, 0, 0, (const double[]){.625, .125, .1875, .5625}, 0);
	close_heads(&m, &view);

	/* One that is all masked in a row stays so. */
	open_heads(&m, &view,
		   (struct view_heads){.heads = (const bool[]){false, true},
				       .layers = (const bool[]){true, false},
				       .join_heads = true});
	assert_string_equal(view.info.joined_heads, "mean of head 1");
	expect_head(&view, 0, 0, (const double[]){.5, .5, MASKED, MASKED}, 1);
	close_heads(&m, &view);
}

static void heads_max(void **state)
{
	(void)state;
	struct heads_source m;
	struct named_rows view;
	open_heads(&m, &view, (struct view_heads){.join_heads = true, .join_layers = true, .largest = true});
	assert_string_equal(view.info.joined_heads, "max of 2 heads");
	expect_head(&view, 0, 0, (const double[]){1, .5, .5, 1}, 0);
	close_heads(&m, &view);

	/* What is not masked counts, and that may be below 0. */
	static const float with_signs[16] = {-.5f, .25f, -2, -.25f, -2, -.75f, -2, -2};
	open_heads(
	    &m, &view,
	    (struct view_heads){.layers = (const bool[]){true, false}, .join_heads = true, .largest = true});
	m.weights = with_signs;
	expect_head(&view, 0, 0, (const double[]){-.5, .25, MASKED, -.25}, 0);
	close_heads(&m, &view);
}

static void heads_chosen(void **state)
{
	(void)state;
	struct heads_source m;
	struct named_rows view;
	open_heads(
	    &m, &view,
	    (struct view_heads){.heads = (const bool[]){false, true}, .layers = (const bool[]){false, true}});
	assert_int_equal(view.info.shape.heads, 1);
	assert_int_equal(view.info.shape.layers, 1);
	assert_int_equal(head_number(&view.info, 0), 1);
	assert_int_equal(layer_number(&view.info, 0), 6);
	assert_null(view.info.joined_heads);
	expect_head(&view, 0, 0, (const double[]){.25, MASKED, MASKED, 1}, 0);
	assert_true(m.read[1][1]);
	assert_false(m.read[0][0] || m.read[0][1] || m.read[1][0]);
	close_heads(&m, &view);
}

/* The same of a source that has its layers ready one at a time. */
static void heads_by_layer(void **state)
{
	one_layer_at_a_time = true;
	heads_mean(state);
	heads_max(state);
	heads_chosen(state);
	one_layer_at_a_time = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words_of_three),
	    cmocka_unit_test(words_masked),
	    cmocka_unit_test(words_across_blocks),
	    cmocka_unit_test(words_past_and_appended),
	    cmocka_unit_test(crops),
	    cmocka_unit_test(crop_counts_masked_rows),
	    cmocka_unit_test(exclusions),
	    cmocka_unit_test(excluded_and_masked),
	    cmocka_unit_test(starts),
	    cmocka_unit_test(words_of_lists),
	    cmocka_unit_test(no_words),
	    cmocka_unit_test(heads_mean),
	    cmocka_unit_test(heads_max),
	    cmocka_unit_test(heads_chosen),
	    cmocka_unit_test(heads_by_layer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
