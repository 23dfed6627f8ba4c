#include <math.h>
#include <string.h>

#include "attention/normalizer_internal.h"
#include "kernels/reference.h"

/* --- the highest scores ---------------------------------------------------------- */

/* Move heap[at] down to where no number below it is higher. */
static void sift(double *heap, size_t count, size_t at)
{
	double value = heap[at];
	for (size_t below; (below = 2 * at + 1) < count; at = below) {
		below += below + 1 < count && heap[below + 1] > heap[below];
		if (!(heap[below] > value))
			break;
		heap[at] = heap[below];
	}
	heap[at] = value;
}

static void heapify(double *values, size_t count)
{
	for (size_t at = count / 2; at-- > 0;)
		sift(values, count, at);
}

/* --- the rule of a row --------------------------------------------------------- */

/* The highest number leaves the heap of *count for the place behind it, and becomes what
 * the rule keeps at least. */
static double take(double *heap, size_t *count, struct rule *rule)
{
	double value = heap[0];
	size_t last = --*count;
	heap[0] = heap[last];
	heap[last] = value;
	sift(heap, last, 0);
	rule->ties = value == rule->least ? rule->ties + 1 : 1;
	rule->least = value;
	return value;
}

/* Reorder so that the first k are the highest: quickselect, by pivots that no input can
 * know, in three parts so that equal numbers do not slow it down. */
static void select_highest(double *values, size_t count, size_t k)
{
	uint64_t draw = 0x9e3779b97f4a7c15;
	for (size_t low = 0, high = count; high - low > 1;) {
		draw = draw * 6364136223846793005 + 1442695040888963407;
		double pivot = values[low + (size_t)(draw >> 32) % (high - low)];
		size_t above = low, at = low, below = high; /* [low, above) > pivot, [below, high) < pivot */
		while (at < below) {
			double value = values[at];
			if (value > pivot) {
				values[at++] = values[above];
				values[above++] = value;
			} else if (value < pivot) {
				values[at] = values[--below];
				values[below] = value;
			} else {
				at++;
			}
		}
		if (k < above)
			high = above;
		else if (k > below)
			low = below;
		else
			return;
	}
}

const double *normalizer_highest(double *values, size_t count, size_t k, struct rule *rule)
{
	select_highest(values, count, k);
	rule->least = INFINITY;
	rule->ties = 0;
	for (size_t i = 0; i < k; i++) {
		if (values[i] < rule->least) {
			rule->least = values[i];
			rule->ties = 0;
		}
		rule->ties += values[i] == rule->least;
	}
	for (size_t i = k; i < count; i++)
		rule->next = values[i] > rule->next ? values[i] : rule->next;
	return values;
}

/* Scores relative to the top are multiplied by this before tau is taken off. */
static double factor(enum normalizer kind)
{
	return kind == NORMALIZE_ENTMAX15 ? 0.5 : 1;
}

/* max(x, 0), without the call that fmax is. */
static double positive(double x)
{
	return x > 0 ? x : 0;
}

double normalizer_weight(enum normalizer kind, const struct rule *rule, double score)
{
	double above;
	switch (kind) {
	case NORMALIZE_SPARSEMAX:
	case NORMALIZE_ENTMAX15:
		above = positive((score - rule->top) * factor(kind) - rule->norm);
		return kind == NORMALIZE_ENTMAX15 ? above * above : above;
	case NORMALIZE_LINEAR:
		return rule->norm > 0 ? score / rule->norm : 0;
	default:
		return exp(score - rule->top) / rule->norm;
	}
}

/* Scores that are taken to be the support, relative to the top: sums of at most 1 a
 * score, in which float64 loses nothing that counts. */
struct support {
	size_t count;
	double sum, squares;
};

static void support_add(struct support *s, double score)
{
	s->count++;
	s->sum += score;
	s->squares += score * score;
}

/* The tau for which the weights of the support sum to 1: with k scores and their mean,
 * mean - 1 / k (Martins and Astudillo 2016, algorithm 1), or
 * mean - sqrt((1 - scatter) / k) with the scatter sum (score - mean)^2 (Peters et al.
 * 2019, algorithm 2). */
static double support_tau(const struct support *s, enum normalizer kind)
{
	double k = (double)s->count, mean = s->sum / k, scatter = s->squares - s->sum * mean;
	return kind == NORMALIZE_ENTMAX15 ? mean - sqrt(positive(1 - scatter) / k) : mean - 1 / k;
}

/* More than rounding may put tau too high, and less than what matters. */
#define MARGIN 1e-9

/* One round of narrowing the candidates down to the support.  True, with tau set, when
 * they are the support.  Else a step of Newton's method brings tau nearer to its value,
 * where the sum (entmax15: the length of the vector) of max(score - tau, 0) is 1; it stays
 * below, as that is convex in tau.  Candidates below it leave. */
static bool narrow(enum normalizer kind, double *values, size_t *count, struct rule *rule)
{
	struct support s = {0};
	const double scaled = factor(kind);
	double lowest = 0, sum = 0, squares = 0, seen = 0;
	for (size_t i = 0; i < *count; i++) {
		double score = (values[i] - rule->top) * scaled, above = positive(score - rule->norm);
		support_add(&s, score);
		lowest = score < lowest ? score : lowest;
		sum += above;
		seen += above > 0;
		squares += above * above;
	}
	double tau = support_tau(&s, kind);
	if (lowest > tau) {
		rule->norm = tau;
		return true;
	}
	if (kind == NORMALIZE_ENTMAX15)
		rule->norm += (sqrt(squares) - 1) * sqrt(squares) / sum;
	else
		rule->norm += (sum - 1) / seen;
	size_t left = 0;
	for (size_t i = 0; i < *count; i++) {
		values[left] = values[i];
		left += (values[i] - rule->top) * scaled >= rule->norm - MARGIN;
	}
	*count = left;
	return false;
}

/* tau alone tells what has weight; the rule leaves out only what is surely below. */
static void leave_out_low(enum normalizer kind, struct rule *rule)
{
	rule->least = rule->top + (rule->norm - MARGIN) / factor(kind);
	rule->ties = SIZE_MAX;
}

/* Sets tau, where `most` scores at most may have weight.  The values, which are
 * reordered, are all scores that may have some. */
static void find_tau(enum normalizer kind, double *values, size_t count, size_t most, struct rule *rule)
{
	struct support s = {0};
	rule->norm = -1; /* no tau is lower */
	/* Almost always enough, but nothing promises that so few rounds are. */
	for (int round = 0; round < 8 && count < most; round++)
		if (narrow(kind, values, &count, rule)) {
			leave_out_low(kind, rule);
			return;
		}
	/* The highest score is in the support, and so is each next one while it is above the
	 * tau of those before. */
	heapify(values, count);
	rule->norm = -1;
	rule->least = INFINITY; /* as of no score */
	while (s.count < most && count > 0 && (values[0] - rule->top) * factor(kind) > rule->norm) {
		support_add(&s, (take(values, &count, rule) - rule->top) * factor(kind));
		rule->norm = support_tau(&s, kind);
	}
	if (s.count < most)
		leave_out_low(kind, rule);
	else if (count > 0)
		rule->next = values[0];
}

struct rule normalizer_rule(const struct normalization *n, double sink, double top, double *values,
			    size_t count)
{
	struct rule rule = rule_start(top);
	size_t most = n->top_k > 0 ? n->top_k : SIZE_MAX;
	const double *kept = values;
	if (n->kind == NORMALIZE_SPARSEMAX || n->kind == NORMALIZE_ENTMAX15) {
		find_tau(n->kind, values, count, most, &rule);
		return rule;
	}
	if (count >= most) {
		kept = normalizer_highest(values, count, most, &rule);
		count = most;
	}
	if (n->kind == NORMALIZE_SOFTMAX) {
		rule.top = fmax(top, sink);
		rule.norm = exp(sink - rule.top);
	}
	for (size_t i = 0; i < count; i++)
		rule.norm += n->kind == NORMALIZE_SOFTMAX ? exp(kept[i] - rule.top) : kept[i];
	return rule;
}

double normalizer_least(enum normalizer kind, double top)
{
	bool sparse = kind == NORMALIZE_SPARSEMAX || kind == NORMALIZE_ENTMAX15;
	return sparse ? top - 1 / factor(kind) : -DBL_MAX;
}

/* --- a row --------------------------------------------------------------------- */

void keep_top(double *scores, size_t keys, size_t k, double *scratch)
{
	struct rule rule = rule_start(0);
	size_t count = 0;
	for (size_t j = 0; j < keys; j++)
		if (scores[j] > -INFINITY)
			scratch[count++] = scores[j];
	if (count <= k)
		return;
	normalizer_highest(scratch, count, k, &rule);
	for (size_t j = 0; j < keys; j++)
		if (!keeps(&rule, scores[j]))
			scores[j] = -INFINITY;
}

void normalize_row(const struct normalization *n, double sink, double *scores, size_t keys, float *weights,
		   double *scratch)
{
	struct normalization all_keys = {.kind = n->kind};
	double top = -INFINITY;
	size_t count = 0;
	if (n->top_k > 0)
		keep_top(scores, keys, n->top_k, scratch);
	if (n->kind == NORMALIZE_SOFTMAX && sink == -INFINITY) {
		reference_softmax(weights, scores, keys);
		return;
	}
	for (size_t j = 0; j < keys; j++)
		top = fmax(top, scores[j]);
	if (top == -INFINITY) {
		memset(weights, 0, keys * sizeof *weights);
		return;
	}
	double least = normalizer_least(n->kind, top);
	for (size_t j = 0; j < keys; j++)
		if (scores[j] >= least)
			scratch[count++] = scores[j];
	struct rule rule = normalizer_rule(&all_keys, sink, top, scratch, count);
	for (size_t j = 0; j < keys; j++) {
		scores[j] = scores[j] == -INFINITY ? 0 : normalizer_weight(n->kind, &rule, scores[j]);
		weights[j] = (float)scores[j];
	}
}
