/* Options of a command: one table, parsed by getopt_long. */
#ifndef ATTN_CMD_OPTIONS_H
#define ATTN_CMD_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"
#include "cmd/cmd.h"
#include "input/roles.h"

/* Ids of long options that commands share; a command's own start at OPTION_OWN.
 * Short letters stand for themselves. */
enum {
	OPTION_SETTING = 256, /* a setting: see option_role */
	OPTION_HELP,
	OPTION_TSV,
	OPTION_JSON,
	OPTION_JSONL,
	OPTION_TEXT,
	OPTION_COLUMNS,
	OPTION_HEAD,
	OPTION_LAYER,
	OPTION_BATCH,
	OPTION_MEAN,
	OPTION_TOP,
	OPTION_MIN_DISTANCE,
	OPTION_COLORMAP,
	OPTION_CELL,
	OPTION_SIZE,
	OPTION_DPI,
	OPTION_TITLE,
	OPTION_FORMAT,
	OPTION_TRANSPOSE,
	OPTION_REDUCE,
	OPTION_NUMBERS,
	OPTION_MAX,
	OPTION_QUERY, /* to OPTION_RENORMALISE: cmd/view_options.h */
	OPTION_KEY,
	OPTION_TOP_KEYS,
	OPTION_WORDS,
	OPTION_EXCLUDE_FIRST,
	OPTION_EXCLUDE_DIAGONAL,
	OPTION_EXCLUDE_TOKEN,
	OPTION_RENORMALISE,
	OPTION_ROLLOUT,
	OPTION_NORMS,
	OPTION_FLOW,
	OPTION_THEME,
	OPTION_TRANSPARENT,
	OPTION_FONT,
	OPTION_FONT_SIZE,
	OPTION_WIDTH,
	OPTION_RANGE,
	OPTION_TRANSFORM,
	OPTION_CLIP,
	OPTION_SENTENCES,
	OPTION_ORDER,
	OPTION_XLABEL,
	OPTION_YLABEL,
	OPTION_NO_COLORBAR,
	OPTION_NO_CAPTION,
	OPTION_MARKERS,
	OPTION_MODEL, /* to OPTION_NO_SPECIAL: cmd/model_options.h */
	OPTION_MODEL_TEXT,
	OPTION_TEXT_FILE,
	OPTION_TEXT_PAIR,
	OPTION_IDS,
	OPTION_TYPE_IDS,
	OPTION_ATTENTION,
	OPTION_TARGET,
	OPTION_TARGET_IDS,
	OPTION_GENERATE,
	OPTION_PIXELS,
	OPTION_PICTURE,
	OPTION_WITHOUT_HEAD,
	OPTION_NO_SPECIAL,
	OPTION_THREADS, /* options_next takes these: no command sees them */
	OPTION_QUIET,
	OPTION_OWN,
};

#define HELP_OPTION                                                                                          \
	{                                                                                                    \
		"help", no_argument, NULL, OPTION_HELP                                                       \
	}

/* The option of every command that has something to say beside its results. */
#define QUIET_OPTION                                                                                         \
	{                                                                                                    \
		"quiet", no_argument, NULL, OPTION_QUIET                                                     \
	}

/* The option of every command that computes. */
#define THREADS_OPTION                                                                                       \
	{                                                                                                    \
		"threads", required_argument, NULL, OPTION_THREADS                                           \
	}

/* The form that --text is, under a name for where --text is the text of a model. */
#define PRETTY_OPTION                                                                                        \
	{                                                                                                    \
		"pretty", no_argument, NULL, OPTION_TEXT                                                     \
	}

/* All roles and settings: a table, name, kind, form, meaning and option, or on a terminal a
 * text. */
enum attn_status print_roles(const struct command *self, struct attn_error *err);

#define TABLE_OPTIONS                                                                                        \
	{"tsv", no_argument, NULL, OPTION_TSV}, {"json", no_argument, NULL, OPTION_JSON},                    \
	    {"jsonl", no_argument, NULL, OPTION_JSONL},                                                      \
	    {"columns", required_argument, NULL, OPTION_COLUMNS},                                            \
	{                                                                                                    \
		"text", no_argument, NULL, OPTION_TEXT                                                       \
	}

#define MARKERS_OPTION                                                                                       \
	{                                                                                                    \
		"markers", required_argument, NULL, OPTION_MARKERS                                           \
	}

#define PICTURE_OPTIONS                                                                                      \
	{"colormap", required_argument, NULL, OPTION_COLORMAP},                                              \
	    {"cell", required_argument, NULL, OPTION_CELL}, {"size", required_argument, NULL, OPTION_SIZE},  \
	    {"dpi", required_argument, NULL, OPTION_DPI}, {"title", required_argument, NULL, OPTION_TITLE},  \
	    {"transpose", no_argument, NULL, OPTION_TRANSPOSE},                                              \
	    {"reduce", required_argument, NULL, OPTION_REDUCE},                                              \
	    {"max", required_argument, NULL, OPTION_MAX}, {"theme", required_argument, NULL, OPTION_THEME},  \
	    {"transparent", no_argument, NULL, OPTION_TRANSPARENT},                                          \
	    {"font", required_argument, NULL, OPTION_FONT},                                                  \
	    {"font-size", required_argument, NULL, OPTION_FONT_SIZE},                                        \
	    {"width", required_argument, NULL, OPTION_WIDTH},                                                \
	    {"range", required_argument, NULL, OPTION_RANGE},                                                \
	    {"transform", required_argument, NULL, OPTION_TRANSFORM},                                        \
	    {"clip", required_argument, NULL, OPTION_CLIP},                                                  \
	    {"sentences", no_argument, NULL, OPTION_SENTENCES},                                              \
	    {"xlabel", required_argument, NULL, OPTION_XLABEL},                                              \
	    {"ylabel", required_argument, NULL, OPTION_YLABEL},                                              \
	    {"no-colorbar", no_argument, NULL, OPTION_NO_COLORBAR},                                          \
	    {"no-caption", no_argument, NULL, OPTION_NO_CAPTION}, MARKERS_OPTION,                            \
	{                                                                                                    \
		"numbers", required_argument, NULL, OPTION_NUMBERS                                           \
	}

#define END_OPTION                                                                                           \
	{                                                                                                    \
		NULL, 0, NULL, 0                                                                             \
	}

enum {
	OPTIONS_OWN_MOST = 100, /* of a command, without settings */
	OPTIONS_MOST = OPTIONS_OWN_MOST + ROLE_COUNT
};

struct options {
	const struct command *self;
	int argc;
	char **argv;
	const char *letters;        /* getopt's, without the leading ':' */
	const struct option *table; /* the command's own; settings follow them where it has an INPUT */
	const int *lists_own;       /* ids that may be given more than once, ending in 0; or NULL */
	bool started;

	bool seen[OPTIONS_MOST]; /* by their place in the table: given with a value */
	const char *lists[3];    /* --head, --layer, --batch so far, joined with commas */
	const char *table_form;  /* --json and the like, if one was given */

	const char *name;  /* of the current option, without dashes; a letter's is that letter */
	const char *value; /* or NULL */
};

/* The next option's id; 0 at the end, when argv[optind] is the first operand; -1
 * for what is unknown or lacks its value (ATTN_USAGE in *err). */
int options_next(struct options *o, struct attn_error *err);

/* Which setting the current option, an OPTION_SETTING, sets. */
enum role_id option_role(const struct options *o);

/* ATTN_USAGE: "'--top' is 'x', expected ...". */
enum attn_status option_fail(const struct options *o, const char *expected, struct attn_error *err);

/* The value of an option that may be given once: ATTN_USAGE where *out is not NULL. */
enum attn_status option_once(const struct options *o, const char **out, struct attn_error *err);

/* A stage by its name; false: not one of those expected. */
bool score_stage_find(const char *name, enum score_stage *stage);
#define SCORE_STAGES_EXPECTED "'product', 'raw', 'capped' or 'masked'"

/* Whether --markers is 'keep' and not 'drop'. */
enum attn_status option_markers(const struct options *o, bool *keep, struct attn_error *err);

/* How many to list: a number from 1, or "all", which is SIZE_MAX. */
enum attn_status option_top(const struct options *o, size_t *out, struct attn_error *err);

/* Strict numbers from an option's value. */
enum attn_status option_count(const struct options *o, size_t least, size_t most, size_t *out,
			      struct attn_error *err);

/* Whole numbers with commas between them, ascending: at most `most` into out[most]. */
struct option_counts {
	size_t least, largest;
	size_t *out, most;
};
enum attn_status option_counts(const struct options *o, const struct option_counts *range, size_t *count,
			       struct attn_error *err);
enum attn_status option_number(const struct options *o, double least, double most, double *out,
			       struct attn_error *err);

#endif
