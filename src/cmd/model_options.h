/* The options that give a model and a text in the place of an INPUT. */
#ifndef ATTN_CMD_MODEL_OPTIONS_H
#define ATTN_CMD_MODEL_OPTIONS_H

#include "cmd/options.h"
#include "util/buffer.h"

struct model_options {
	const char *model;               /* a folder or file; NULL: an INPUT is given */
	const char *text, *file;         /* the text itself, or what it is in; "-" is standard input */
	const char *pair;                /* a second text */
	const char *ids, *type_ids;      /* a list, or a FILE.npy */
	const char *target, *target_ids; /* what a decoder beside an encoder reads: a text, or as ids */
	const char *kind;                /* of attention: "encoder", "decoder", "cross" */
	const char *image, *pixels;      /* a file with a picture as numbers */
	const char *without;             /* heads that are taken out, a list */
	bool of_inputs;                  /* these may be an INPUT's, too */
	size_t generate;                 /* tokens that a decoder writes at most; 0: none */
	bool no_special;
	const char *last; /* the last of these options, for messages; NULL: none */
};

#define MODEL_OPTIONS                                                                                        \
	{"model", required_argument, NULL, OPTION_MODEL},                                                    \
	    {"text", required_argument, NULL, OPTION_MODEL_TEXT},                                            \
	    {"text-file", required_argument, NULL, OPTION_TEXT_FILE},                                        \
	    {"text-pair", required_argument, NULL, OPTION_TEXT_PAIR},                                        \
	    {"ids", required_argument, NULL, OPTION_IDS},                                                    \
	    {"type-ids", required_argument, NULL, OPTION_TYPE_IDS},                                          \
	    {"attention", required_argument, NULL, OPTION_ATTENTION},                                        \
	    {"target", required_argument, NULL, OPTION_TARGET},                                              \
	    {"target-ids", required_argument, NULL, OPTION_TARGET_IDS},                                      \
	    {"generate", required_argument, NULL, OPTION_GENERATE},                                          \
	    {"pixels", required_argument, NULL, OPTION_PIXELS},                                              \
	    {"image", required_argument, NULL, OPTION_PICTURE},                                              \
	    {"without-head", required_argument, NULL, OPTION_WITHOUT_HEAD},                                  \
	{                                                                                                    \
		"no-special", no_argument, NULL, OPTION_NO_SPECIAL                                           \
	}

/* How --help tells of them, behind the usage of a command that takes an INPUT. */
extern const char model_usage[];

static inline bool is_model_option(int id)
{
	return id >= OPTION_MODEL && id <= OPTION_NO_SPECIAL;
}

/* Take one of these. */
enum attn_status model_option(struct model_options *m, int id, const struct options *o,
			      struct attn_error *err);

bool model_options_has_text(const struct model_options *m);
bool model_options_has_picture(const struct model_options *m);

/* ATTN_USAGE where they do not go together, or a text is missing. */
enum attn_status model_options_check(const struct model_options *m, struct attn_error *err);

/* The text of --text or --text-file, exactly as it is.  ATTN_BAD_INPUT where it is not UTF-8. */
enum attn_status model_options_text(const struct model_options *m, struct buffer *text,
				    struct attn_error *err);

/* Numbers of --ids or --type-ids, called `option`: *out (count) is the caller's. */
enum attn_status model_options_numbers(const char *value, const char *option, size_t **out, size_t *count,
				       struct attn_error *err);

#endif
