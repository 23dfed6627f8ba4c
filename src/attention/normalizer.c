#include <string.h>

#include "attention/normalizer_internal.h"
#include "kernels/reference.h"

/* Each function find_rule below sets *rule, whose `top` is the highest score of a row, from
 * its `values` (count): all scores that are not masked, or at least those above its depth.  They
 * are reordered.  No more than `most` scores may have weight. */

const struct normalizer *const normalizer_table[] = {
    &normalizer_softmax, &normalizer_sparsemax, &normalizer_entmax15, &normalizer_linear, NULL,
};

const struct normalizer *normalizer_named(const char *name)
{
	size_t i = 0;
	while (normalizer_table[i] && strcmp(normalizer_table[i]->name, name) != 0)
		i++;
	return normalizer_table[i];
}

/* --- softmax ------------------------------------------------------------------------ */

static void softmax_rule(struct rule *rule, double sink, double *values, size_t count, size_t most)
{
	if (count >= most) {
		rule_keep_highest(rule, values, count, most);
		count = most;
	}
	rule->top = fmax(rule->top, sink);
	rule->norm = exp(sink - rule->top);
	for (size_t i = 0; i < count; i++)
		rule->norm += exp(values[i] - rule->top);
}

static double softmax_weight(const struct rule *rule, double score)
{
	return exp(score - rule->top) / rule->norm;
}

static bool softmax_step(const struct kernels *kernels, float *scores, size_t keys, size_t cols,
			 struct running *run)
{
	return kernels->softmax(scores, keys, cols, run->highest, run->sum, run->rescale);
}

const struct normalizer normalizer_softmax = {
    .name = "softmax",
    .scaled = true,
    .takes_sinks = true,
    .takes_top_k = true,
    .find_rule = softmax_rule,
    .weight = softmax_weight,
    .plain_row = reference_softmax,
    .depth = INFINITY,
    .step = softmax_step,
    .masked = -INFINITY,
};

/* --- linear attention ----------------------------------------------------------------- */

/* phi(x) = elu(x) + 1, Katharopoulos et al. 2020. */
static void linear_features(const struct kernels *kernels, float *x, size_t count)
{
	if (kernels)
		kernels->feature_map(x, count);
	else
		reference_feature_map(x, count);
}

static void linear_rule(struct rule *rule, double sink, double *values, size_t count, size_t most)
{
	(void)sink; /* there is none, */
	(void)most; /* and no limit */
	for (size_t i = 0; i < count; i++)
		rule->norm += values[i];
}

static double linear_weight(const struct rule *rule, double score)
{
	return rule->norm > 0 ? score / rule->norm : 0;
}

static bool linear_step(const struct kernels *kernels, float *scores, size_t keys, size_t cols,
			struct running *run)
{
	kernels->sum_columns(scores, keys, cols, run->sum);
	return false;
}

const struct normalizer normalizer_linear = {
    .name = "linear",
    .features = linear_features,
    .score = "phi(q).phi(k)",
    .score_formula = "phi(x)   x + 1 where x > 0, else e^x",
    .find_rule = linear_rule,
    .weight = linear_weight,
    .depth = INFINITY,
    .formula = "%s / the sum over the keys attended to",
    .step = linear_step,
    .masked = 0,
    .sums_keys = true,
};

/* --- sparsemax and 1.5-entmax ----------------------------------------------------------- */

/* Candidates for the support, relative to the top: sums of at most 1 a
 * score, in which float64 loses nothing that counts. */
struct support {
	size_t count;
	double sum, squares;
};

/* How far scores are above tau: sums, and how many are. */
struct excess {
	double sum, squares, count;
};

/* What tells the two apart. */
struct sparse {
	double factor;                          /* of scores relative to the top, before tau is subtracted */
	double (*tau)(const struct support *s); /* for which the weights of the support sum to 1 */
	double (*newton)(const struct excess *e); /* what Newton's method adds to tau */
};

/* max(x, 0), without the call that fmax is. */
static double positive(double x)
{
	return x > 0 ? x : 0;
}

static void support_add(struct support *s, double score)
{
	s->count++;
	s->sum += score;
	s->squares += score * score;
}

/* More than rounding may put tau too high, and less than what matters. */
#define MARGIN 1e-9

/* One round of narrowing the candidates down to the support.  True, with tau set, when
 * they are the support.  Else a step of Newton's method brings tau nearer to its value,
 * where the sum (entmax15: the length of the vector) of max(score - tau, 0) is 1; it stays
 * below, as that is convex in tau.  Candidates below it leave. */
static bool narrow(const struct sparse *kind, double *values, size_t *count, struct rule *rule)
{
	struct support s = {0};
	struct excess e = {0};
	double lowest = 0;
	for (size_t i = 0; i < *count; i++) {
		double score = (values[i] - rule->top) * kind->factor, above = positive(score - rule->norm);
		support_add(&s, score);
		lowest = score < lowest ? score : lowest;
		e.sum += above;
		e.count += above > 0;
		e.squares += above * above;
	}
	double tau = kind->tau(&s);
	if (lowest > tau) {
		rule->norm = tau;
		return true;
	}
	rule->norm += kind->newton(&e);
	size_t left = 0;
	for (size_t i = 0; i < *count; i++) {
		values[left] = values[i];
		left += (values[i] - rule->top) * kind->factor >= rule->norm - MARGIN;
	}
	*count = left;
	return false;
}

/* tau alone tells what has weight; the rule leaves out only what is surely below. */
static void leave_out_low(const struct sparse *kind, struct rule *rule)
{
	rule->least = rule->top + (rule->norm - MARGIN) / kind->factor;
	rule->ties = SIZE_MAX;
}

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

/* Sets tau. */
static void find_tau(const struct sparse *kind, double *values, size_t count, size_t most, struct rule *rule)
{
	struct support s = {0};
	rule->norm = -1; /* no tau is lower: the highest score alone has it */
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
	while (s.count < most && count > 0 && (values[0] - rule->top) * kind->factor > rule->norm) {
		support_add(&s, (take(values, &count, rule) - rule->top) * kind->factor);
		rule->norm = kind->tau(&s);
	}
	if (s.count < most)
		leave_out_low(kind, rule);
	else if (count > 0)
		rule->next = values[0];
}

/* With k scores and their mean: mean - 1 / k (Martins and Astudillo 2016, algorithm 1). */
static double sparsemax_tau(const struct support *s)
{
	double k = (double)s->count;
	return s->sum / k - 1 / k;
}

static double sparsemax_newton(const struct excess *e)
{
	return (e->sum - 1) / e->count;
}

static void sparsemax_rule(struct rule *rule, double sink, double *values, size_t count, size_t most)
{
	static const struct sparse kind = {1, sparsemax_tau, sparsemax_newton};
	(void)sink; /* there is none */
	find_tau(&kind, values, count, most, rule);
}

static double sparsemax_weight(const struct rule *rule, double score)
{
	return positive(score - rule->top - rule->norm);
}

/* mean - sqrt((1 - scatter) / k), with the scatter sum (score - mean)^2 (Peters et al. 2019,
 * algorithm 2). */
static double entmax15_tau(const struct support *s)
{
	double k = (double)s->count, mean = s->sum / k, scatter = s->squares - s->sum * mean;
	return mean - sqrt(positive(1 - scatter) / k);
}

static double entmax15_newton(const struct excess *e)
{
	return (sqrt(e->squares) - 1) * sqrt(e->squares) / e->sum;
}

static void entmax15_rule(struct rule *rule, double sink, double *values, size_t count, size_t most)
{
	static const struct sparse kind = {0.5, entmax15_tau, entmax15_newton};
	(void)sink; /* there is none */
	find_tau(&kind, values, count, most, rule);
}

static double entmax15_weight(const struct rule *rule, double score)
{
	double above = positive((score - rule->top) * 0.5 - rule->norm);
	return above * above;
}

/* tau is at least -1: scores lower than the highest by 1, or by 2 where they are halved, have no
 * weight. */
const struct normalizer normalizer_sparsemax = {
    .name = "sparsemax",
    .scaled = true,
    .takes_top_k = true,
    .find_rule = sparsemax_rule,
    .weight = sparsemax_weight,
    .depth = 1,
    .formula = "max(%s - tau, 0), tau so that the sum is 1",
    .masked = -INFINITY,
};

const struct normalizer normalizer_entmax15 = {
    .name = "entmax15",
    .scaled = true,
    .takes_top_k = true,
    .find_rule = entmax15_rule,
    .weight = entmax15_weight,
    .depth = 2,
    .formula = "max(%s / 2 - tau, 0)^2, tau so that the sum is 1",
    .masked = -INFINITY,
};
