/* The steps as people read them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/columns.h"
#include "cmd/steps.h"

/* --- the table ------------------------------------------------------------------ */

/* Which numbers of a table are shown. */
struct shown {
	bool steps[STEP_COUNT];
};

static struct shown shown_steps(const struct steps *s, const struct step_table *table)
{
	struct shown shown = {
	    {true, s->unscaled, s->rows.scores[STEP_CAPPED] != NULL, s->changed, false, true}};
	shown.steps[STEP_EXP] = !isnan(table->sum.values[STEP_EXP]);
	shown.steps[STEP_SHARE] = !isnan(table->sum.values[STEP_SHARE]);
	return shown;
}

static const char *step_name(const struct step_terms *terms, enum step step)
{
	return step == STEP_PRODUCT ? terms->score : step_names[step];
}

/* The last of the scores before `step` that are shown; before STEP_EXP that is what the
 * normaliser gets. */
static enum step score_before(const struct shown *shown, enum step step)
{
	do
		step--;
	while (!shown->steps[step]); /* the product always is */
	return step;
}

enum {
	COLUMN_KEY,
	COLUMN_TOKEN,
	COLUMN_STEPS,
	COLUMNS = COLUMN_STEPS + STEP_COUNT
};

struct layout {
	const struct steps *s;
	struct shown shown;
	struct column columns[COLUMNS];
	struct buffer *text;  /* where lines go, or NULL: they are measured */
	struct buffer *token; /* scratch */
};

static void cell(struct layout *l, size_t column, const char *content)
{
	if (column >= COLUMN_STEPS && !l->shown.steps[column - COLUMN_STEPS])
		return;
	if (l->text)
		column_add(&l->columns[column], l->text, content);
	else
		column_measure(&l->columns[column], content);
}

static void put_line(struct layout *l, const struct step_line *line, const char *name)
{
	char number[FIGURE_SIZE] = "";
	if (line->key != SIZE_MAX)
		snprintf(number, sizeof number, "%zu", line->key);
	cell(l, COLUMN_KEY, number);
	buffer_clear(l->token);
	buffer_add_clean(l->token, name);
	cell(l, COLUMN_TOKEN, l->token->data ? l->token->data : "");
	for (size_t step = 0; step < STEP_COUNT; step++) {
		double value = line->values[step];
		if (isnan(value))
			*number = '\0';
		else if (value == -INFINITY)
			snprintf(number, sizeof number, "masked");
		else
			figure_format(value, number);
		cell(l, COLUMN_STEPS + step, number);
	}
	if (l->text)
		columns_end(l->text);
}

static void put_header(struct layout *l, const struct step_table *table)
{
	cell(l, COLUMN_KEY, "");
	cell(l, COLUMN_TOKEN, "key");
	for (size_t step = 0; step < STEP_COUNT; step++)
		cell(l, COLUMN_STEPS + step, step_name(&table->terms, step));
	if (l->text)
		columns_end(l->text);
}

static void put_rule(struct layout *l)
{
	if (!l->text)
		return;
	cell(l, COLUMN_KEY, "");
	cell(l, COLUMN_TOKEN, "");
	for (size_t step = 0; step < STEP_EXP; step++)
		cell(l, COLUMN_STEPS + step, "");
	for (size_t step = STEP_EXP; step < STEP_COUNT; step++)
		if (l->shown.steps[step])
			column_add_rule(&l->columns[COLUMN_STEPS + step], l->text);
	columns_end(l->text);
}

static void put_lines(struct layout *l, const struct step_table *table)
{
	char others[40];
	put_header(l, table);
	for (size_t i = 0; i < table->count; i++)
		put_line(l, &table->lines[i], l->s->in->shown_keys.items[table->lines[i].key]);
	if (table->count < l->s->rows.keys) {
		snprintf(others, sizeof others, "%zu more", l->s->rows.keys - table->count);
		put_line(l, &table->others, others);
	}
	if (table->has_sink) {
		struct step_line sink = table->sink;
		sink.values[score_before(&l->shown, STEP_EXP)] = table->terms.sink;
		put_line(l, &sink, STEP_SINK);
	}
	put_rule(l);
	put_line(l, &table->sum, "sum");
}

/* --- how the numbers came about --------------------------------------------------- */

static void add_number(struct buffer *text, double value)
{
	char number[FIGURE_SIZE];
	figure_format(value, number);
	buffer_add_string(text, number);
}

/* Whether the scale is 1/sqrt(d), which is worth a name. */
static bool scale_is_default(const struct step_terms *terms)
{
	return terms->scale != 1 && fabs(terms->scale * sqrt((double)terms->size) - 1) < 1e-7;
}

/* "q.k / sqrt(64)", or "0.5 q.k". */
static void add_scaled(struct buffer *text, const struct step_terms *terms)
{
	if (terms->scale != 1 && !scale_is_default(terms)) {
		add_number(text, terms->scale);
		buffer_add_char(text, ' ');
	}
	buffer_add_string(text, terms->score);
	if (scale_is_default(terms))
		buffer_printf(text, " / sqrt(%zu)", terms->size);
	if (terms->temperature != 1) {
		buffer_add_string(text, " / ");
		add_number(text, terms->temperature);
	}
}

enum {
	VECTOR_SHOWN = 6 /* so many numbers of a context fit into a line */
};

/* "c = sum of weight v = [7.5, 15], of length |c| = 16.77" */
static void explain_context(const struct steps *s, const struct step_table *table, struct buffer *text)
{
	size_t size = s->rows.value_size;
	const float *context = s->rows.context + table->row * size;
	buffer_add_string(text, "  context  c = sum of weight v");
	for (size_t c = 0; c < size && size <= VECTOR_SHOWN; c++) {
		buffer_add_string(text, c ? ", " : " = [");
		add_number(text, (double)context[c]);
	}
	buffer_printf(text, "%s, of length |c| = ", size <= VECTOR_SHOWN ? "]" : "");
	add_number(text, sqrt(table->context_square));
	buffer_add_char(text, '\n');
}

static void explain_scaled(const struct step_terms *terms, struct buffer *text)
{
	buffer_add_string(text, "  scaled   ");
	add_scaled(text, terms);
	if (scale_is_default(terms) || terms->temperature != 1) {
		buffer_add_string(text, " = ");
		add_number(text, terms->scale / terms->temperature);
		buffer_printf(text, " %s", terms->score);
	}
	buffer_add_char(text, '\n');
}

static void explain_scores(const struct step_terms *terms, const struct shown *shown, struct buffer *text)
{
	if (terms->formula)
		buffer_printf(text, "  %s\n", terms->formula);
	if (shown->steps[STEP_SCALED])
		explain_scaled(terms, text);
	if (shown->steps[STEP_CAPPED]) {
		buffer_add_string(text, "  capped   ");
		add_number(text, terms->softcap);
		buffer_printf(text, " tanh(%s / ", step_name(terms, score_before(shown, STEP_CAPPED)));
		add_number(text, terms->softcap);
		buffer_add_string(text, ")\n");
	}
	if (shown->steps[STEP_MASKED])
		buffer_printf(text, "  masked   %s + mask and bias; 'masked' counts as -infinity\n",
			      step_name(terms, score_before(shown, STEP_MASKED)));
	if (terms->top_k > 0)
		buffer_printf(text, "  top-k    only the %zu highest take part\n", terms->top_k);
}

/* "e^(scaled - 1.386), 1.386 being the highest" */
static void explain_exp(const struct step_table *table, const char *score, struct buffer *text)
{
	buffer_printf(text, "  exp      e^(%s %c ", score, table->highest < 0 ? '+' : '-');
	add_number(text, fabs(table->highest));
	buffer_add_string(text, "), ");
	add_number(text, table->highest);
	buffer_add_string(text, " being the highest");
}

static void explain_weights(const struct steps *s, const struct step_table *table, const struct shown *shown,
			    struct buffer *text)
{
	const char *normalizer = table->terms.normalizer;
	const char *score = step_name(&table->terms, score_before(shown, STEP_EXP));
	if (normalizer) {
		buffer_add_string(text, "  weight   ");
		buffer_printf(text, normalizer, score);
		buffer_add_char(text, '\n');
	} else if (table->highest == -INFINITY) {
		buffer_add_string(text, "  weight   0: every key is masked\n");
	} else {
		explain_exp(table, score, text);
		buffer_add_string(text, "\n  weight   exp / ");
		add_number(text, table->sum.values[STEP_EXP]);
		buffer_add_char(text, '\n');
	}
	if (!s->rows.shares)
		return;
	explain_context(s, table, text);
	if (shown->steps[STEP_SHARE])
		buffer_add_string(text, "  share    weight v.c / |c|^2\n");
}

static void add_head(const struct steps *s, size_t batch, size_t head, struct buffer *text)
{
	const struct rows_info *info = s->in->info;
	char name[200];
	if (info->has_batch)
		buffer_printf(text, "batch %zu ", batch);
	if (info->layer_known)
		buffer_printf(text, "layer %zu ", info->first_layer);
	buffer_add_string(text, "head ");
	buffer_add_clean(text, head_text(info, head, name, sizeof name));
}

void steps_text_table(const struct steps *s, const struct step_table *table, struct buffer *text)
{
	struct buffer token = BUFFER_INIT;
	struct layout l = {.s = s, .shown = shown_steps(s, table), .token = &token};
	add_head(s, table->batch, table->head, text);
	buffer_printf(text, ", query %zu: ", table->query);
	buffer_add_clean(text, s->in->shown_queries.items[table->query]);
	buffer_add_string(text, "\n\n");
	if (s->full)
		steps_text_vectors(s, table, text);
	l.columns[COLUMN_TOKEN].left = true;
	put_lines(&l, table);
	l.text = text;
	put_lines(&l, table);
	buffer_add_char(text, '\n');
	explain_scores(&table->terms, &l.shown, text);
	explain_weights(s, table, &l.shown, text);
	text->failed |= token.failed;
	buffer_release(&token);
}

/* --- the summary ---------------------------------------------------------------- */

struct summary_line {
	const char *name, *meaning;
	double scaled, product;
};

static void put_summary(const struct steps *s, const struct summary_line *lines, size_t count,
			const char *scaled, const char *score, struct buffer *text)
{
	struct column columns[4] = {{.left = true}, {.left = false}, {.left = false}, {.left = true}};
	for (int adding = 0; adding <= 1; adding++) {
		for (size_t i = 0; i <= count; i++) {
			char numbers[2][FIGURE_SIZE];
			const struct summary_line *line = i ? &lines[i - 1] : NULL;
			if (line)
				figure_format(line->scaled, numbers[0]);
			if (line)
				figure_format(line->product, numbers[1]);
			const char *cells[4] = {line ? line->name : "", line ? numbers[0] : scaled,
						line ? numbers[1] : score, line ? line->meaning : ""};
			for (size_t c = 0; c < 4; c++) {
				if (c == 2 && !s->unscaled)
					continue;
				if (adding)
					column_add(&columns[c], text, cells[c]);
				else
					column_measure(&columns[c], cells[c]);
			}
			if (adding)
				columns_end(text);
		}
	}
}

void steps_text_summary(const struct steps *s, size_t batch, size_t head, struct buffer *text)
{
	struct spread a = spread_of(&s->scaled, batch, 0, head), b = spread_of(&s->product, batch, 0, head);
	struct step_terms terms = step_terms_of(s->in->subject.attention, head);
	size_t masked_rows = s->in->info->shape.queries - a.queries;
	struct buffer scaled = BUFFER_INIT;
	const struct summary_line lines[] = {
	    {"variance", "of the scores: how far apart", a.variance, b.variance},
	    {"entropy", "in nats: 0 if one key has all", a.entropy, b.entropy},
	    {"effective keys", "e^entropy: as of even weights", exp(a.entropy), exp(b.entropy)},
	    {"largest weight", "near 1: one key has it all", a.largest, b.largest},
	    {"gradient", "w (1 - w): near 0 none learns", a.gradient, b.gradient},
	};
	size_t count = sizeof lines / sizeof *lines;
	add_head(s, batch, head, text);
	buffer_printf(text, ", over its %zu quer%s", a.queries, a.queries == 1 ? "y" : "ies");
	if (masked_rows > 0)
		buffer_printf(text, " (%zu more %s fully masked)", masked_rows,
			      masked_rows == 1 ? "is" : "are");
	buffer_add_string(text, "\n\n");
	add_scaled(&scaled, &terms);
	if (scaled.failed)
		text->failed = true;
	else
		put_summary(s, lines, terms.normalizer ? count - 1 : count, scaled.data, terms.score, text);
	buffer_release(&scaled);
}
