#include "cmd/head_figures.h"

#include <math.h>
#include <string.h>

#include "util/buffer.h"
#include "util/strings.h"

#define NUMBER(name, title)                                                                                  \
	{                                                                                                    \
#name, title, FIGURE_NUMBER, offsetof(struct head_statistics, name)                          \
	}
#define COUNT(name, title)                                                                                   \
	{                                                                                                    \
#name, title, FIGURE_COUNT, offsetof(struct head_statistics, name)                           \
	}

const struct head_figure head_figures[] = {
    COUNT(queries, "queries"),
    NUMBER(entropy, "entropy in bits"),
    NUMBER(effective_keys, "effective keys"),
    NUMBER(largest, "largest weight"),
    NUMBER(diagonal, "weight on the diagonal"),
    NUMBER(previous, "weight on the previous token"),
    NUMBER(next, "weight on the next token"),
    NUMBER(first, "weight on the first token"),
    NUMBER(separator, "weight on separators"),
    NUMBER(within5, "weight within 5 tokens"),
    NUMBER(distance, "mean distance in tokens"),
    NUMBER(distance_spread, "spread of the distance in tokens"),
    NUMBER(offset, "most frequent offset in tokens"),
    NUMBER(offset_share, "queries at the most frequent offset"),
    NUMBER(repeats, "queries whose token occurred before"),
    NUMBER(induction, "induction score"),
    NUMBER(coverage, "coverage of keys"),
    {"weight", "weight of the strongest pair", FIGURE_WEIGHT, 0},
    NUMBER(even_entropy, "entropy of even weights in bits"),
    NUMBER(even_distance, "mean distance of even weights in tokens"),
};

const size_t head_figure_count = sizeof head_figures / sizeof *head_figures;

double head_figure_value(const struct head_figure *figure, const struct head_statistics *s)
{
	const char *field = (const char *)s + figure->offset;
	double number;
	size_t count;
	switch (figure->kind) {
	case FIGURE_COUNT:
		memcpy(&count, field, sizeof count);
		return (double)count;
	case FIGURE_WEIGHT:
		return s->has_pair ? (double)s->weight : NAN;
	default:
		memcpy(&number, field, sizeof number);
		return number;
	}
}

enum attn_status head_figure_find(const char *name, const struct head_figure **out, struct attn_error *err)
{
	struct buffer names = BUFFER_INIT;
	const struct head_figure *near = NULL;
	size_t nearest = strlen(name) / 3 + 2;
	for (size_t i = 0; i < head_figure_count; i++) {
		size_t distance = edit_distance(name, head_figures[i].name);
		if (distance == 0) {
			buffer_release(&names);
			*out = &head_figures[i];
			return ATTN_OK;
		}
		if (distance < nearest) {
			nearest = distance;
			near = &head_figures[i];
		}
		buffer_printf(&names, "%s%s", i ? ", " : "", head_figures[i].name);
	}
	enum attn_status status =
	    near ? attn_fail(err, ATTN_USAGE, "'--statistic' is '%s', did you mean '%s'", name, near->name)
		 : attn_fail(err, ATTN_USAGE, "'--statistic' is '%s', expected one of %s", name,
			     names.failed ? "the columns of attn inspect heads" : names.data);
	buffer_release(&names);
	return status;
}
