/* Options that show rows in part or joined: --words, --query, --exclude-first and so on. */
#ifndef ATTN_CMD_VIEW_OPTIONS_H
#define ATTN_CMD_VIEW_OPTIONS_H

#include "cmd/inputs.h"

/* What goes for every command that has views. */
#define VIEW_OPTIONS                                                                                         \
	{"key", required_argument, NULL, OPTION_KEY}, {"words", no_argument, NULL, OPTION_WORDS},            \
	    {"exclude-first", no_argument, NULL, OPTION_EXCLUDE_FIRST},                                      \
	    {"exclude-diagonal", no_argument, NULL, OPTION_EXCLUDE_DIAGONAL},                                \
	    {"exclude-token", required_argument, NULL, OPTION_EXCLUDE_TOKEN},                                \
	{                                                                                                    \
		"renormalise", no_argument, NULL, OPTION_RENORMALISE                                         \
	}

/* And for those that show matrices. */
#define MATRIX_OPTIONS                                                                                       \
	{"query", required_argument, NULL, OPTION_QUERY},                                                    \
	{                                                                                                    \
		"top-keys", required_argument, NULL, OPTION_TOP_KEYS                                         \
	}

/* Both in a usage. */
#define MATRIX_USAGE                                                                                         \
	"      --query RANGE, --key RANGE\n"                                                                 \
	"                          only these: A:B by index, from A to before B, negative from the\n"        \
	"                          end; by tokens, both ends included; or one, such as 'it'\n"               \
	"      --top-keys K        only the K keys with the most weight of what is shown\n"
#define WORDS_USAGE                                                                                          \
	"      --words             tokens joined to words: weights on a word's pieces are added,\n"          \
	"                          those of its pieces averaged\n"                                           \
	"      --exclude-first, --exclude-diagonal, --exclude-token TOKEN\n"
#define VIEW_USAGE                                                                                           \
	WORDS_USAGE                                                                                          \
	"                          keys that do not count for the scale of colours: the first, a\n"          \
	"                          query's own, those called TOKEN (may be repeated)\n"                      \
	"      --renormalise       take them out: weight 0, and the rest of a row adds up to 1\n"

/* These options, as given.  Zeroed, none. */
struct view_request {
	const char *query, *key; /* or NULL */
	size_t top_keys;         /* 0: all */
	bool words_default; /* words, too, where no option says so: then what has none is not worth a note */
	bool words, exclude_first, exclude_diagonal, renormalise;
	struct string_list tokens; /* of --exclude-token */
	char option[24];           /* the last one given, "--words", or "" */
};

bool is_view_option(int id);
enum attn_status view_option(struct view_request *r, int id, const struct options *o, struct attn_error *err);
void view_request_release(struct view_request *r);

/* An option that excludes pairs, or NULL. */
const char *view_exclusion(const struct view_request *r);

/* ATTN_USAGE for exclusions alone, which change colours and no numbers: `what` is made of those,
 * such as "a ranking". */
enum attn_status view_check_numbers(const struct view_request *r, const char *what, struct attn_error *err);

/* Wrap the source of opened inputs, so that rows, labels and sizes are those that are asked
 * for; not yet --top-keys.  in->note says what was done.  A token that does not occur is
 * ATTN_NO_MATCH, an option that has nothing to act on ATTN_USAGE. */
enum attn_status view_apply(const struct view_request *r, struct inputs *in, const struct command *self,
			    struct attn_error *err);

/* --markers keep, before that: labels are tokens as in the file.  ATTN_USAGE with --words, whose
 * labels are words. */
enum attn_status view_keep_markers(const struct view_request *r, struct inputs *in, struct attn_error *err);

/* --top-keys, after that: read what `selection` (NULL: all) selects once to find them. */
enum attn_status view_top_keys(const struct view_request *r, struct inputs *in, const struct command *self,
			       const struct rows_selection *selection, struct attn_error *err);

#endif
