/* A bundle bound, planned and run.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_PLANNED_TEST_H
#define ATTN_TESTS_PLANNED_TEST_H

#include "attention/plan.h"
#include "bundle_test.h"
#include "input/problem.h"

/* rows_want.scores of one stage, and of none. */
#define SCORES_OF(stage) (1u << (stage))
#define NO_SCORES 0u

/* Weights and contexts, with the scores of the stages. */
static inline struct rows_want want_scores(unsigned scores)
{
	return (struct rows_want){.weights = true, .context = true, .scores = scores};
}

/* Must not move: the plan points to the problem, and the source to the plan. */
struct planned {
	struct problem problem;
	struct plan plan;
	struct row_source *source;
};

/* The selected heads (NULL: all) with what is wanted, not started.  What cannot be is a
 * failure of the test. */
static inline void planned_open(struct planned *r, const struct bundle *b,
				const struct rows_selection *selection, struct rows_want want)
{
	struct attn_error err = {0};
	*r = (struct planned){0};
	if (problem_init(&r->problem, b, &err) != ATTN_OK ||
	    plan_init(&r->plan, &r->problem.attention, selection, want, &err) != ATTN_OK ||
	    plan_run(&r->plan, &r->source, &err) != ATTN_OK)
		fail_msg("%s", err.message);
}

static inline void planned_release(struct planned *r)
{
	r->source->free(r->source);
	plan_release(&r->plan);
	problem_release(&r->problem);
}

#endif
