/* A and B of attn compare: from what is given for each to one source of their difference. */
#ifndef ATTN_CMD_COMPARE_SIDES_H
#define ATTN_CMD_COMPARE_SIDES_H

#include "cmd/inputs.h"
#include "cmd/view_options.h"
#include "consumers/difference.h"
#include "kernels/kernels.h"

/* Bits of kinds. */
enum {
	HAS_WEIGHTS = 1 << DIFFERENCE_WEIGHTS,
	HAS_CONTEXT = 1 << DIFFERENCE_CONTEXT,
	HAS_SCORES = 1 << DIFFERENCE_SCORES,
	HAS_OUTPUT = 1 << DIFFERENCE_OUTPUT
};

struct side {
	const char *name; /* "A" */
	struct inputs in;
	struct selection_options options; /* --head, --layer and --batch */
	struct selection selected;
	const char *kernel;            /* --kernel, or NULL: the best */
	const struct kernels *kernels; /* that, found */
	unsigned held;                 /* contexts, scores and outputs that its files hold */
	unsigned kinds;                /* what can be had of it; with weights, and what is computed */
	size_t context_size;
	bool arrays; /* its files hold no weights, and nothing to compute them from */

	/* Its own labels of whole rows, as files have them and as people read them; of B, whose rows are
	 * shown by the labels of A. */
	struct string_list query_labels, key_labels, shown_queries, shown_keys;
};

static inline bool side_is_model(const struct side *side)
{
	return side->in.model_options.model != NULL;
}

bool side_is_stored(const struct side *side); /* its weights are read */

struct operands {
	char **items;
	int count;
};

/* An option of a role, which is given to the sides that have a use for it. */
struct side_setting {
	const char *name, *value;
	enum role_id role;
};

struct sides {
	const struct command *self;
	struct side a, b;
	struct side_setting settings[ROLE_COUNT];
	size_t setting_count;

	/* What B has other than A, as given. */
	struct operands operands_b; /* of -b; the array is owned */
	struct model_options other_model;
	const char *other_option; /* the last one that says so, "--layer-b"; NULL: none */

	const char *what; /* --what, or NULL */
	enum score_stage stage;
	bool stage_given;
	const struct view_request *view;
	bool keep_markers; /* labels are tokens as in the file */

	unsigned kinds; /* that are compared */
	bool labels_differ;

	/* The difference A - B, of weights, or where they are not compared, of scores, and its batch items.
	 * Labels as people read them are "tired (wide)" where B has another. */
	struct inputs in;
	struct rows_selection rows;
};

/* The first half of sides_open: open both. */
enum attn_status sides_open_inputs(struct sides *s, int argc, char **argv, struct attn_error *err);

/* Open both sides, decide what is compared, and join them to one source, which is not started.
 * ATTN_BAD_INPUT where shapes do not match: the message says how. */
enum attn_status sides_open(struct sides *s, int argc, char **argv, struct attn_error *err);

/* After streaming contexts of both sides, (batch, queries, H e) each or NULL: the differences of their
 * outputs, computed or held, one for each batch item and layer. */
enum attn_status sides_outputs(struct sides *s, const float *const contexts[2],
			       const struct tolerance *tolerance, struct difference *differences,
			       struct attn_error *err);

/* Whether the side has to be given a context for its output. */
bool side_projects(const struct sides *s, const struct side *side);
void sides_release(struct sides *s);

/* "weights", "context", "scores", "output". */
extern const char *const difference_names[DIFFERENCE_KINDS];

#endif
