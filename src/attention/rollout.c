#include "attention/rollout.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attention/project.h"
#include "kernels/kernels.h"
#include "util/checked.h"
#include "util/memory.h"

/* What is left of a capacity below it is nothing: float32 rounds earlier. */
#define NOTHING 1e-12

void rollout_mix(const float *weights, size_t first, size_t count, size_t tokens, float *out)
{
	for (size_t r = 0; r < count; r++) {
		const float *row = weights + r * tokens;
		float *to = out + r * tokens;
		double sum = 0;
		for (size_t k = 0; k < tokens; k++)
			sum += (double)row[k];
		for (size_t k = 0; k < tokens; k++)
			to[k] = sum > 0 ? (float)(0.5 * (double)row[k] / sum) : 0;
		to[first + r] += sum > 0 ? 0.5F : 1.0F;
	}
}

enum attn_status rollout_step(const float *mixed, float *total, float *scratch, size_t tokens,
			      struct attn_error *err)
{
	const struct matrix below = {.data = total, .rows = tokens, .cols = tokens, .stride = tokens};
	TRY(project_rows(kernels_best(), mixed, tokens, tokens, &below, NULL, NULL, scratch, tokens,
			 "rollout", err));
	memcpy(total, scratch, tokens * tokens * sizeof *total);
	return ATTN_OK;
}

/* --- flow ------------------------------------------------------------------------------- */

enum attn_status flow_work_init(struct flow_work *w, const struct flow_network *network,
				struct attn_error *err)
{
	size_t nodes, edges, tokens = network->tokens;
	*w = (struct flow_work){0};
	if (size_mul(network->layers + 1, tokens, &nodes) && size_mul(network->layers, tokens, &edges) &&
	    size_mul(edges, tokens, &edges)) {
		w->flow = array_alloc(edges, sizeof *w->flow);
		w->distance = array_alloc(nodes, sizeof *w->distance);
		w->next = array_alloc(nodes, sizeof *w->next);
		w->queue = array_alloc(nodes, sizeof *w->queue);
		w->unseen = array_alloc(nodes, sizeof *w->unseen);
		w->unseen_count = array_alloc(network->layers + 1, sizeof *w->unseen_count);
	}
	bool ok = w->flow && w->distance && w->next && w->queue && w->unseen && w->unseen_count;
	return ok ? ATTN_OK : attn_fail_memory(err);
}

void flow_work_release(struct flow_work *w)
{
	free(w->flow);
	free(w->changed);
	free(w->distance);
	free(w->next);
	free(w->queue);
	free(w->unseen);
	free(w->unseen_count);
	*w = (struct flow_work){0};
}

/* A search for one pair.  Nodes are height * tokens + token. */
struct search {
	struct flow_work *w;
	const struct flow_network *n;
	size_t from, to;
};

/* The edge from token u at height l + 1 to token v at height l. */
static size_t edge(const struct search *s, size_t l, size_t u, size_t v)
{
	return (l * s->n->tokens + u) * s->n->tokens + v;
}

/* What may still go along way `i` of a node: down to token i, or, from tokens on, back up to token
 * i - tokens.  *to is where that leads, *at the edge. */
static double room(const struct search *s, size_t node, size_t i, size_t *to, size_t *at)
{
	size_t tokens = s->n->tokens, height = node / tokens, token = node % tokens;
	if (i < tokens) {
		if (height == 0)
			return 0;
		*to = node - token - tokens + i;
		*at = edge(s, height - 1, token, i);
		return (double)s->n->mixed[*at] - s->w->flow[*at];
	}
	if (height == s->n->layers)
		return 0;
	*to = node - token + tokens + (i - tokens);
	*at = edge(s, height, i - tokens, token);
	return s->w->flow[*at];
}

/* Those of unseen tokens at a height, above a node or below it, that have room to it; they join the queue
 * of `count`, whose new length is returned. */
static size_t see(const struct search *s, size_t node, size_t height, size_t count)
{
	struct flow_work *w = s->w;
	size_t tokens = s->n->tokens, token = node % tokens, *unseen = w->unseen + height * tokens;
	bool above = height > node / tokens;
	for (size_t i = 0; i < w->unseen_count[height];) {
		size_t at = above ? edge(s, height - 1, unseen[i], token) : edge(s, height, token, unseen[i]);
		double left = above ? (double)s->n->mixed[at] - w->flow[at] : w->flow[at];
		if (!(left > NOTHING)) {
			i++;
			continue;
		}
		w->distance[height * tokens + unseen[i]] = w->distance[node] + 1;
		w->queue[count++] = height * tokens + unseen[i];
		unseen[i] = unseen[--w->unseen_count[height]];
	}
	return count;
}

/* The distance of each node from `to` along ways with room; false: `from` has none. */
static bool measure(const struct search *s)
{
	struct flow_work *w = s->w;
	size_t tokens = s->n->tokens, heights = s->n->layers + 1, first = 0, count = 1;
	for (size_t i = 0; i < heights * tokens; i++) {
		w->distance[i] = SIZE_MAX;
		w->unseen[i] = i % tokens;
	}
	for (size_t h = 0; h < heights; h++)
		w->unseen_count[h] = tokens;
	w->distance[s->to] = 0;
	w->queue[0] = s->to;
	w->unseen[s->to] = w->unseen[--w->unseen_count[0]];
	while (first < count && w->distance[s->from] == SIZE_MAX) {
		size_t node = w->queue[first++], height = node / tokens;
		if (height + 1 < heights)
			count = see(s, node, height + 1, count);
		if (height > 0)
			count = see(s, node, height - 1, count);
	}
	return w->distance[s->from] != SIZE_MAX;
}

/* The same before anything flows: a layer a step. */
static void measure_first(const struct search *s)
{
	size_t tokens = s->n->tokens;
	for (size_t i = 0; i < (s->n->layers + 1) * tokens; i++)
		s->w->distance[i] = i < tokens && i != s->to ? SIZE_MAX : i / tokens;
}

static bool remember(struct flow_work *w, size_t at)
{
	if (w->flow[at] != 0)
		return true;
	if (w->changed_count == w->changed_room) {
		size_t room_for = 2 * w->changed_room + 1024;
		size_t *more = realloc(w->changed, room_for * sizeof *more);
		if (!more)
			return false;
		w->changed = more;
		w->changed_room = room_for;
	}
	w->changed[w->changed_count++] = at;
	return true;
}

/* Send up to `most` from a node to the end along shortest ways; returns how much went, or NAN. */
static double send(const struct search *s, size_t node, double most)
{
	struct flow_work *w = s->w;
	size_t ways = 2 * s->n->tokens, to = 0, at = 0;
	double sent = 0;
	if (node == s->to)
		return most;
	for (size_t *i = &w->next[node]; *i < ways; ++*i) {
		double some = room(s, node, *i, &to, &at);
		if (!(some > NOTHING) || w->distance[to] == SIZE_MAX ||
		    w->distance[to] + 1 != w->distance[node])
			continue;
		double went = send(s, to, fmin(some, most - sent));
		if (isnan(went) || !remember(w, at))
			return (double)NAN;
		w->flow[at] += *i < s->n->tokens ? went : -went;
		sent += went;
		if (most - sent <= NOTHING)
			return sent;
	}
	return sent;
}

double flow_between(struct flow_work *w, const struct flow_network *network, size_t from, size_t to)
{
	const struct search s = {w, network, network->layers * network->tokens + from, to};
	size_t nodes = (network->layers + 1) * network->tokens;
	double total = 0, into = 0;
	for (size_t u = 0; u < network->tokens; u++)
		into += (double)network->mixed[edge(&s, 0, u, to)];
	double bound = fmin(1, into), sent = 1;
	bool first = true;
	while (bound - total > 1e-9 && (sent > NOTHING) && (first || measure(&s))) {
		if (first)
			measure_first(&s);
		first = false;
		memset(w->next, 0, nodes * sizeof *w->next);
		sent = send(&s, s.from, 2);
		total += sent;
	}
	for (size_t i = 0; i < w->changed_count; i++)
		w->flow[w->changed[i]] = 0;
	w->changed_count = 0;
	return isnan(sent) ? (double)NAN : fmin(total, 1);
}
