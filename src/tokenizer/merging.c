#include "tokenizer/merging.h"

#include <stdlib.h>

bool merging_init(struct merging *m, size_t capacity)
{
	m->count = m->queued = 0;
	m->capacity = capacity;
	m->symbols = m->local_symbols;
	m->queue = m->local_queue;
	if (capacity <= MERGING_LOCAL)
		return true;
	m->symbols = NULL;
	m->queue = NULL;
	if (capacity >= NO_SYMBOL || capacity > SIZE_MAX / sizeof *m->symbols)
		return false;
	m->symbols = malloc(capacity * sizeof *m->symbols);
	m->queue = malloc(2 * capacity * sizeof *m->queue);
	return m->symbols && m->queue;
}

void merging_release(struct merging *m)
{
	if (m->symbols != m->local_symbols)
		free(m->symbols);
	if (m->queue != m->local_queue)
		free(m->queue);
}

void merging_add(struct merging *m, uint32_t id, size_t length)
{
	size_t i = m->count++;
	struct symbol *s = &m->symbols[i];
	*s = (struct symbol){id, 0, (uint32_t)length, NO_SYMBOL, NO_SYMBOL};
	if (i > 0) {
		s->start = s[-1].start + s[-1].length;
		s->previous = (uint32_t)i - 1;
		s[-1].next = (uint32_t)i;
	}
}

/* Let entry i of the heap sink to where it belongs. */
static void sink(uint64_t *queue, size_t count, size_t i)
{
	uint64_t entry = queue[i];
	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && queue[child + 1] < queue[child])
			child++;
		if (queue[child] >= entry)
			break;
		queue[i] = queue[child];
	}
	queue[i] = entry;
}

static void push(struct merging *m, uint64_t entry)
{
	size_t i = m->queued++;
	for (size_t parent; i > 0 && m->queue[parent = (i - 1) / 2] > entry; i = parent)
		m->queue[i] = m->queue[parent];
	m->queue[i] = entry;
}

static uint64_t pop(struct merging *m)
{
	uint64_t best = m->queue[0];
	m->queue[0] = m->queue[--m->queued];
	if (m->queued > 1)
		sink(m->queue, m->queued, 0);
	return best;
}

/* Queue the pair that begins at symbol `left`, if it can be merged. */
static bool find_pair(const struct merging *m, merge_rule rule, const void *context, uint32_t left,
		      uint64_t *entry, uint32_t *id)
{
	const struct symbol *s = &m->symbols[left];
	uint32_t rank;
	if (s->length == 0 || s->next == NO_SYMBOL || !rule(context, s, &m->symbols[s->next], &rank, id))
		return false;
	*entry = (uint64_t)rank << 32 | left;
	return true;
}

void merging_run(struct merging *m, merge_rule rule, const void *context)
{
	uint64_t entry, found;
	uint32_t id;
	for (size_t i = 0; i + 1 < m->count; i++)
		if (find_pair(m, rule, context, (uint32_t)i, &entry, &id))
			m->queue[m->queued++] = entry;
	for (size_t i = m->queued / 2; i-- > 0;)
		sink(m->queue, m->queued, i);
	while (m->queued > 0) {
		entry = pop(m);
		uint32_t i = (uint32_t)entry;
		/* Symbols have grown since: the pair is another now. */
		if (!find_pair(m, rule, context, i, &found, &id) || found != entry)
			continue;
		struct symbol *left = &m->symbols[i], *right = &m->symbols[left->next];
		left->id = id;
		left->length += right->length;
		left->next = right->next;
		right->length = 0;
		if (left->next != NO_SYMBOL)
			m->symbols[left->next].previous = i;
		if (left->previous != NO_SYMBOL && find_pair(m, rule, context, left->previous, &entry, &id))
			push(m, entry);
		if (find_pair(m, rule, context, i, &entry, &id))
			push(m, entry);
	}
}
