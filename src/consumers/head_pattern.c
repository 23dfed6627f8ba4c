#include "consumers/head_pattern.h"

/* Comparisons with NAN are false, so a figure that there is not holds for no rule. */

static bool is_diagonal(const struct head_statistics *s)
{
	return s->diagonal >= 0.5;
}

static bool is_previous(const struct head_statistics *s)
{
	return s->previous >= 0.5;
}

static bool is_next(const struct head_statistics *s)
{
	return s->next >= 0.5;
}

static bool is_induction(const struct head_statistics *s)
{
	return s->induction >= 0.5 && s->repeats >= 2;
}

static bool is_first(const struct head_statistics *s)
{
	return s->first >= 0.5;
}

static bool is_separator(const struct head_statistics *s)
{
	return s->separator >= 0.5;
}

static bool is_positional(const struct head_statistics *s)
{
	return s->offset_share >= 0.9 && s->queries >= 5;
}

static bool is_local(const struct head_statistics *s)
{
	return s->within5 >= 0.5 && s->distance <= 0.5 * s->even_distance;
}

static bool is_broad(const struct head_statistics *s)
{
	return s->entropy >= s->even_entropy - 1;
}

static bool is_any(const struct head_statistics *s)
{
	return s->queries > 0;
}

static const struct {
	struct head_pattern pattern;
	bool (*holds)(const struct head_statistics *s);
} patterns[] = {
    {{"diagonal", "diagonal >= 0.5"}, is_diagonal},
    {{"previous token", "previous >= 0.5"}, is_previous},
    {{"next token", "next >= 0.5"}, is_next},
    {{"induction", "induction >= 0.5, repeats >= 2"}, is_induction},
    {{"first-token sink", "first >= 0.5"}, is_first},
    {{"separator", "separator >= 0.5"}, is_separator},
    {{"positional", "offset_share >= 0.9, queries >= 5"}, is_positional},
    {{"local", "within5 >= 0.5, distance <= 0.5 even_distance"}, is_local},
    {{"broad", "entropy >= even_entropy - 1"}, is_broad},
    {{"mixed", "no other rule"}, is_any},
};

const struct head_pattern *head_pattern_of(const struct head_statistics *s)
{
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		if (patterns[i].holds(s))
			return &patterns[i].pattern;
	return NULL;
}
