#include "cmd/steps.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "cmd/progress.h"
#include "util/memory.h"
#include "util/minmax.h"

const char *const step_names[STEP_COUNT] = {"product", "scaled", "capped", "masked",
					    "exp",     "weight", "share"};

struct step_terms step_terms_of(const struct attention *a, size_t head)
{
	const struct normalization *n = &a->normalization;
	const struct normalizer *normalizer = n->normalizer;
	const struct score_function *function = a->score.function;
	struct step_terms terms = {
	    .score = normalizer->score ? normalizer->score : function->term,
	    .formula = normalizer->score ? normalizer->score_formula : function->formula,
	    .size = a->head_size,
	    .scale = 1,
	    .temperature = 1,
	    .softcap = a->score.softcap,
	    .top_k = n->top_k,
	    .normalizer = normalizer->formula,
	    .sink = n->sinks ? (double)n->sinks[head] : -INFINITY,
	};
	if (attention_is_scaled(a)) {
		terms.scale = a->score.scale;
		terms.temperature = a->score.temperature ? (double)a->score.temperature[head] : 1;
	}
	return terms;
}

void steps_release(struct steps *s)
{
	gather_release(&s->rows);
	spread_consumer_release(&s->scaled);
	spread_consumer_release(&s->product);
	if (s->source)
		s->source->free(s->source);
	plan_release(&s->plan);
	*s = (struct steps){0};
}

/* --- computing ----------------------------------------------------------------- */

/* Whether bias or mask change any score; rows that are not selected are all 0. */
static bool scores_changed(const struct steps *s)
{
	const float *before = s->rows.scores[s->rows.scores[STEP_CAPPED] ? STEP_CAPPED : STEP_SCALED];
	for (size_t i = 0; i < s->rows.rows * s->rows.keys; i++)
		if (s->rows.scores[STEP_MASKED][i] != before[i])
			return true;
	return false;
}

/* What there is to keep of each row. */
static struct rows_want wanted(const struct steps *s, const struct attention *a)
{
	struct rows_want want = {.weights = true, .context = true, .shares = true};
	want.scores = 1u << SCORES_RAW | 1u << SCORES_MASKED;
	if (s->unscaled) {
		want.scores |= 1u << SCORES_PRODUCT;
		want.unscaled_weights = true;
	}
	if (step_terms_of(a, 0).softcap > 0)
		want.scores |= 1u << SCORES_CAPPED;
	return want;
}

static enum attn_status open_consumers(struct steps *s, const struct attention *a, unsigned scores,
				       struct attn_error *err)
{
	const struct rows_shape *shape = &s->in->info->shape;
	bool rest = a->normalization.sinks != NULL;
	TRY(gather_init(&s->rows, shape, s->places, scores, a->has_values ? a->value_size : 0, err));
	TRY(spread_consumer_init(&s->scaled, shape, SCORES_RAW, rest, err));
	return spread_consumer_init(&s->product, shape, SCORES_PRODUCT, rest, err);
}

enum attn_status steps_compute(struct steps *s, const struct command *self, struct attn_error *err)
{
	const struct attention *a = s->in->subject.attention;
	struct row_consumer *rows[] = {&s->rows.consumer};
	struct row_consumer *spreads[] = {&s->scaled.consumer, &s->product.consumer};
	struct rows_selection all = selection_rows(s->selection), places = all;
	if (a->lambda)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'lambda' asks for differential attention, two softmaxes a head, and '--steps' "
		    "shows one");
	s->unscaled = attention_is_scaled(a);
	const struct rows_want want = wanted(s, a);
	enum attn_status status = open_consumers(s, a, want.scores, err);
	if (status == ATTN_OK)
		status = plan_init(&s->plan, a, &all, want, err);
	if (status == ATTN_OK)
		status = plan_run(&s->plan, &s->source, err);
	if (status == ATTN_OK)
		status = progress_stream(self, s->source, &all, spreads, s->unscaled ? 2 : 1, err);
	places.queries = s->places;
	if (status == ATTN_OK)
		status = progress_stream(self, s->source, &places, rows, 1, err);
	if (status == ATTN_OK)
		s->changed = scores_changed(s);
	return status;
}

/* --- tables -------------------------------------------------------------------- */

static double exponential(const struct step_table *table, double score)
{
	if (table->terms.normalizer)
		return NAN;
	return score == -INFINITY ? 0 : exp(score - table->highest);
}

static struct step_line key_line(const struct steps *s, const struct step_table *table, size_t key)
{
	size_t cell = table->row * s->rows.keys + key;
	float *const *scores = s->rows.scores;
	struct step_line line = {.key = key};
	double *v = line.values;
	v[STEP_SCALED] = (double)scores[STEP_SCALED][cell];
	v[STEP_PRODUCT] = s->unscaled ? (double)scores[STEP_PRODUCT][cell] : v[STEP_SCALED];
	v[STEP_CAPPED] = scores[STEP_CAPPED] ? (double)scores[STEP_CAPPED][cell] : (double)NAN;
	v[STEP_MASKED] = (double)scores[STEP_MASKED][cell];
	v[STEP_WEIGHT] = (double)s->rows.weights[cell];
	v[STEP_EXP] = exponential(table, v[STEP_MASKED]);
	if (table->terms.top_k > 0 && v[STEP_WEIGHT] == 0 && !table->terms.normalizer)
		v[STEP_EXP] = 0; /* not among the highest */
	v[STEP_SHARE] = s->rows.shares ? s->rows.shares[cell] : (double)NAN;
	return line;
}

/* The sink's part of the sum: it has no key, and its value is 0. */
static void add_sink(const struct steps *s, struct step_table *table)
{
	double *v = table->sink.values, *sum = table->sum.values;
	v[STEP_MASKED] = table->terms.sink;
	v[STEP_EXP] = exponential(table, table->terms.sink);
	v[STEP_WEIGHT] = v[STEP_EXP] / (sum[STEP_EXP] + v[STEP_EXP]);
	v[STEP_SHARE] = s->rows.shares ? 0 : (double)NAN;
	sum[STEP_EXP] += v[STEP_EXP];
	sum[STEP_WEIGHT] += v[STEP_WEIGHT];
}

static void add_line(struct step_line *sum, const struct step_line *line)
{
	for (size_t step = STEP_EXP; step < STEP_COUNT; step++)
		sum->values[step] += line->values[step];
}

/* The heaviest first; of equals, keys attended to, then the lower index. */
static int compare_lines(const void *a, const void *b)
{
	const struct step_line *x = a, *y = b;
	double more = y->values[STEP_WEIGHT] - x->values[STEP_WEIGHT];
	if (more == 0)
		more = (y->values[STEP_MASKED] > -INFINITY) - (x->values[STEP_MASKED] > -INFINITY);
	return more != 0 ? (more > 0) - (more < 0) : (x->key > y->key) - (x->key < y->key);
}

/* What the lines of a table have in common. */
static void begin_table(const struct steps *s, struct step_table *table)
{
	static const struct step_line nothing = {.key = SIZE_MAX, .values = {NAN, NAN, NAN, NAN, 0, 0, 0}};
	const float *masked = s->rows.scores[STEP_MASKED] + table->row * s->rows.keys;
	const float *context = s->rows.context + table->row * s->rows.value_size;
	table->count = size_min(s->top, s->rows.keys);
	table->others = table->sink = table->sum = nothing;
	table->terms = step_terms_of(s->in->subject.attention, table->head);
	table->highest = -INFINITY;
	for (size_t j = 0; j < s->rows.keys; j++)
		table->highest = fmax(table->highest, (double)masked[j]);
	table->has_sink = table->terms.sink > -INFINITY && table->highest > -INFINITY;
	if (table->has_sink)
		table->highest = fmax(table->highest, table->terms.sink);
	table->context_square = 0;
	for (size_t c = 0; c < s->rows.value_size; c++)
		table->context_square += (double)context[c] * (double)context[c];
}

void steps_table(const struct steps *s, size_t batch, size_t head, size_t slot, size_t query,
		 struct step_table *table)
{
	size_t keys = s->rows.keys;
	table->batch = batch;
	table->head = head;
	table->query = query;
	table->row = (batch * s->in->info->shape.heads + head) * s->rows.kept + slot;
	begin_table(s, table);
	for (size_t j = 0; j < keys; j++)
		table->lines[j] = key_line(s, table, j);
	if (s->top != SIZE_MAX)
		qsort(table->lines, keys, sizeof *table->lines, compare_lines);
	for (size_t i = 0; i < keys; i++) {
		add_line(&table->sum, &table->lines[i]);
		if (i >= table->count)
			add_line(&table->others, &table->lines[i]);
	}
	if (table->has_sink)
		add_sink(s, table);
}
