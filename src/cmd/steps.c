#include "cmd/steps.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "cmd/progress.h"
#include "util/checked.h"
#include "util/minmax.h"

const char *const step_names[STEP_COUNT] = {"product", "scaled", "capped", "masked",
					    "exp",     "weight", "share"};

/* Linear attention has no scale. */
static bool is_scaled(const struct problem *p)
{
	return p->normalization.kind != NORMALIZE_LINEAR && (p->score.scale != 1 || p->score.temperature);
}

struct step_terms step_terms_of(const struct problem *p, size_t head)
{
	static const char *const normalizers[] = {
	    [NORMALIZE_SOFTMAX] = NULL,
	    [NORMALIZE_SPARSEMAX] = "max(%s - tau, 0), tau so that the sum is 1",
	    [NORMALIZE_ENTMAX15] = "max(%s / 2 - tau, 0)^2, tau so that the sum is 1",
	    [NORMALIZE_LINEAR] = "%s / the sum of what is visible",
	};
	static const char *const formulas[] = {
	    [SCORE_SCALED_DOT] = NULL,
	    [SCORE_DOT] = NULL,
	    [SCORE_GENERAL] = "score    q W.k",
	    [SCORE_ADDITIVE] = "score    v.tanh(q W + k U + b)",
	    [SCORE_COSINE] = "score    q.k / (|q| |k|)",
	};
	const struct normalization *n = &p->normalization;
	struct step_terms terms = {
	    .score = formulas[p->score.kind] ? "score" : "q.k",
	    .formula = formulas[p->score.kind],
	    .size = p->head_size,
	    .scale = 1,
	    .temperature = 1,
	    .softcap = p->score.softcap,
	    .top_k = n->top_k,
	    .normalizer = normalizers[n->kind],
	    .sink = n->sinks ? (double)n->sinks[head] : -INFINITY,
	};
	if (n->kind == NORMALIZE_LINEAR) {
		terms.score = "phi(q).phi(k)";
		terms.formula = "phi(x)   x + 1 where x > 0, else e^x";
	}
	if (is_scaled(p)) {
		terms.scale = p->score.scale;
		terms.temperature = p->score.temperature ? (double)p->score.temperature[head] : 1;
	}
	return terms;
}

/* The same with the scores as they are: a view, with nothing of its own to release. */
static struct problem without_scaling(const struct problem *p)
{
	struct problem plain = *p;
	plain.score.scale = 1;
	plain.score.temperature = NULL;
	return plain;
}

void steps_release(struct steps *s)
{
	gather_release(&s->rows);
	spread_consumer_release(&s->scaled);
	spread_consumer_release(&s->product);
	free(s->shares);
	*s = (struct steps){0};
}

/* --- computing ----------------------------------------------------------------- */

static void fill_shares(struct steps *s, const struct engine *engine, size_t row)
{
	const struct rows_info *info = s->in->info;
	size_t keys = s->rows.keys, e = s->rows.value_size;
	size_t head = row / s->rows.kept % info->heads, batch = row / s->rows.kept / info->heads;
	const float *context = s->rows.context + row * e;
	double square = 0;
	for (size_t c = 0; c < e; c++)
		square += (double)context[c] * (double)context[c];
	for (size_t j = 0; j < keys; j++) {
		double weight = (double)s->rows.weights[row * keys + j], product = 0;
		const float *value = engine_value(engine, batch, head, j);
		for (size_t c = 0; c < e && weight != 0; c++) /* what is hidden may hold anything */
			product += (double)value[c] * (double)context[c];
		s->shares[row * keys + j] = square > 0 ? weight * product / square : (double)NAN;
	}
}

static bool row_selected(const struct steps *s, size_t row)
{
	const struct rows_info *info = s->in->info;
	return rows_chosen(s->selection->heads, row / s->rows.kept % info->heads) &&
	       rows_chosen(s->selection->batch, row / s->rows.kept / info->heads);
}

/* Compute one stage of the scores; `spread`, where it is not NULL, wants all queries. */
static enum attn_status pass(struct steps *s, const struct command *self, const struct problem *p,
			     enum step step, struct spread_consumer *spread, struct attn_error *err)
{
	static const enum score_stage stages[] = {
	    [STEP_PRODUCT] = SCORES_RAW,
	    [STEP_SCALED] = SCORES_RAW,
	    [STEP_CAPPED] = SCORES_CAPPED,
	    [STEP_MASKED] = SCORES_MASKED,
	};
	struct engine *engine = NULL;
	bool last = step == STEP_MASKED;
	struct engine_want want = {.weights = true, .context = last, .stage = stages[step]};
	struct row_consumer *sinks[] = {&s->rows.sink, spread ? &spread->sink : NULL};
	struct rows_selection rows = selection_rows(s->selection);
	rows.queries = spread ? NULL : s->places;
	enum attn_status status = gather_begin(&s->rows, step, err);
	if (status == ATTN_OK)
		status = engine_new(&engine, p, want, err);
	if (status != ATTN_OK)
		return status;
	status = progress_stream(self, engine_rows(engine), &rows, sinks, spread ? 2 : 1, err);
	for (size_t row = 0; row < s->rows.rows && status == ATTN_OK && last && s->shares; row++)
		if (row_selected(s, row))
			fill_shares(s, engine, row);
	engine_rows(engine)->free(engine_rows(engine));
	return status;
}

/* Whether bias or mask change any score; rows that are not selected are all 0. */
static bool scores_changed(const struct steps *s)
{
	const float *before = s->rows.scores[s->rows.scores[STEP_CAPPED] ? STEP_CAPPED : STEP_SCALED];
	for (size_t i = 0; i < s->rows.rows * s->rows.keys; i++)
		if (s->rows.scores[STEP_MASKED][i] != before[i])
			return true;
	return false;
}

enum attn_status steps_compute(struct steps *s, const struct command *self, struct attn_error *err)
{
	const struct problem *p = &s->in->problem;
	struct problem plain = without_scaling(p);
	if (p->lambda)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'lambda' asks for differential attention, two softmaxes a head, and '--steps' "
		    "shows one");
	s->unscaled = is_scaled(p);
	enum attn_status status =
	    gather_init(&s->rows, &p->info, s->places, p->has_values ? p->value_size : 0, err);
	if (status == ATTN_OK)
		status = spread_consumer_init(&s->scaled, &p->info, p->normalization.sinks != NULL, err);
	if (status == ATTN_OK)
		status = spread_consumer_init(&s->product, &p->info, p->normalization.sinks != NULL, err);
	if (status == ATTN_OK && p->has_values) {
		s->shares = array_alloc(s->rows.rows * s->rows.keys, sizeof *s->shares);
		status = s->shares ? ATTN_OK : attn_fail_memory(err);
	}
	if (status == ATTN_OK && s->unscaled)
		status = pass(s, self, &plain, STEP_PRODUCT, &s->product, err);
	if (status == ATTN_OK)
		status = pass(s, self, p, STEP_SCALED, &s->scaled, err);
	if (status == ATTN_OK && step_terms_of(p, 0).softcap > 0)
		status = pass(s, self, p, STEP_CAPPED, NULL, err);
	if (status == ATTN_OK)
		status = pass(s, self, p, STEP_MASKED, NULL, err);
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
	v[STEP_SHARE] = s->shares ? s->shares[cell] : (double)NAN;
	return line;
}

/* The sink's part of the sum: it has no key, and its value is 0. */
static void add_sink(const struct steps *s, struct step_table *table)
{
	double *v = table->sink.values, *sum = table->sum.values;
	v[STEP_MASKED] = table->terms.sink;
	v[STEP_EXP] = exponential(table, table->terms.sink);
	v[STEP_WEIGHT] = v[STEP_EXP] / (sum[STEP_EXP] + v[STEP_EXP]);
	v[STEP_SHARE] = s->shares ? 0 : (double)NAN;
	sum[STEP_EXP] += v[STEP_EXP];
	sum[STEP_WEIGHT] += v[STEP_WEIGHT];
}

static void add_line(struct step_line *sum, const struct step_line *line)
{
	for (size_t step = STEP_EXP; step < STEP_COUNT; step++)
		sum->values[step] += line->values[step];
}

/* The heaviest first; of equals, what is visible, and the lower index. */
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
	table->terms = step_terms_of(&s->in->problem, table->head);
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
	table->row = (batch * s->in->info->heads + head) * s->rows.kept + slot;
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
