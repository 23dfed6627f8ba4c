/* attn inspect token --steps=full: the vectors that scores are made of. */
#include <stdint.h>

#include "attention/heads.h"
#include "cmd/columns.h"
#include "cmd/steps.h"

struct step_vector steps_x(const struct steps *s, const struct step_table *table)
{
	const struct attention *a = s->in->subject.attention;
	const struct sequence *x = &a->embeddings;
	if (!a->projected)
		return (struct step_vector){NULL, 0};
	return (struct step_vector){x->data + table->batch * x->batch_stride + table->query * x->cols,
				    x->cols};
}

struct step_vector steps_q(const struct steps *s, const struct step_table *table)
{
	size_t size = plan_vectors(&s->plan, VECTORS_Q).size;
	size_t at = s->plan.queries.slots[query_head_of(s->plan.attention, table->head, 0)];
	return (struct step_vector){
	    source_vectors(s->source, VECTORS_Q, table->batch, at) + table->query * size, size};
}

struct step_vector steps_k(const struct steps *s, const struct step_table *table, size_t key)
{
	const struct attention *a = s->plan.attention;
	size_t size = plan_vectors(&s->plan, VECTORS_K).size;
	size_t at = s->plan.keys.slots[key_head_of(a, query_head_of(a, table->head, 0))];
	if (key == SIZE_MAX)
		return (struct step_vector){NULL, 0};
	return (struct step_vector){source_vectors(s->source, VECTORS_K, table->batch, at) + key * size,
				    size};
}

/* A line, "k  cat  1 0", measured or added. */
static void put_vector(struct column columns[3], const char *name, const char *token, struct step_vector v,
		       struct buffer *text)
{
	struct buffer numbers = BUFFER_INIT, clean = BUFFER_INIT;
	if (!v.data)
		return;
	for (size_t i = 0; i < v.size; i++) {
		buffer_add_string(&numbers, i ? "  " : "");
		buffer_printf(&numbers, "%7.4g", (double)v.data[i]);
	}
	buffer_add_clean(&clean, token);
	const char *const cells[3] = {name, clean.data ? clean.data : "", numbers.data ? numbers.data : ""};
	for (size_t c = 0; c < 3; c++) {
		if (text)
			column_add(&columns[c], text, cells[c]);
		else
			column_measure(&columns[c], cells[c]);
	}
	if (text) {
		columns_end(text);
		text->failed |= numbers.failed || clean.failed;
	}
	buffer_release(&numbers);
	buffer_release(&clean);
}

static void put_vectors(const struct steps *s, const struct step_table *table, struct column columns[3],
			struct buffer *text)
{
	const char *token = s->in->shown_queries.items[table->query];
	put_vector(columns, "x", token, steps_x(s, table), text);
	put_vector(columns, "q", token, steps_q(s, table), text);
	for (size_t i = 0; i < table->count; i++)
		put_vector(columns, "k", s->in->shown_keys.items[table->lines[i].key],
			   steps_k(s, table, table->lines[i].key), text);
}

/* "  q        x wq + bq, rotated" */
static void explain(const struct attention *a, const char *name, const char *product, bool bias,
		    const struct vector_norm *norm, struct buffer *text)
{
	buffer_printf(text, "  %-8s ", name);
	if (a->latent.down_kv.data)
		buffer_add_string(text, "from latents");
	else if (a->projected)
		buffer_printf(text, bias ? "%s + b%s" : "%s", product, name);
	else
		buffer_add_string(text, "precomputed");
	buffer_add_string(text, norm->kind == VECTOR_NORM_NONE ? "" : ", normalised");
	buffer_add_string(text, a->rotary.dims > 0 ? ", rotated\n" : "\n");
}

void steps_text_vectors(const struct steps *s, const struct step_table *table, struct buffer *text)
{
	const struct attention *a = s->in->subject.attention;
	struct column columns[3] = {{.left = true}, {.left = true}, {.left = true}};
	put_vectors(s, table, columns, NULL);
	put_vectors(s, table, columns, text);
	buffer_add_char(text, '\n');
	explain(a, "q", "x wq", a->bq != NULL, &a->q_norm, text);
	explain(a, "k", a->cross ? "source wk" : "x wk", a->bk != NULL, &a->k_norm, text);
	buffer_add_char(text, '\n');
}
