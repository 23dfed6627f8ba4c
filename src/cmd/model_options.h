/* The options that give a model and a text in the place of an INPUT. */
#ifndef ATTN_CMD_MODEL_OPTIONS_H
#define ATTN_CMD_MODEL_OPTIONS_H

#include "cmd/options.h"
#include "util/buffer.h"

struct model_options {
	const char *model;          /* a folder or file; NULL: an INPUT is given */
	const char *text, *file;    /* the text itself, or what it is in; "-" is standard input */
	const char *pair;           /* a second text */
	const char *ids, *type_ids; /* a list, or a FILE.npy */
	const char *kind;           /* of attention: "encoder", "decoder" */
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
	{                                                                                                    \
		"no-special", no_argument, NULL, OPTION_NO_SPECIAL                                           \
	}

/* How --help tells of them. */
#define MODEL_USAGE                                                                                          \
	"A model and a text instead of an INPUT; see attn-models(7):\n"                                      \
	"      --model DIR         a Hugging Face folder\n"                                                  \
	"      --text TEXT         the text; or\n"                                                           \
	"      --text-file FILE    a file with it, '-' for standard input; or\n"                             \
	"      --ids LIST          its token ids: 1,2,3 or a FILE.npy\n"                                     \
	"      --text-pair TEXT    a second text, for models of pairs\n"                                     \
	"      --type-ids LIST     token types, one a token [the tokenizer's]\n"                             \
	"      --no-special        without the special tokens that the tokenizer adds\n"                     \
	"\n"

static inline bool is_model_option(int id)
{
	return id >= OPTION_MODEL && id <= OPTION_NO_SPECIAL;
}

/* Take one of these. */
enum attn_status model_option(struct model_options *m, int id, const struct options *o,
			      struct attn_error *err);

/* ATTN_USAGE where they do not go together, or a text is missing. */
enum attn_status model_options_check(const struct model_options *m, struct attn_error *err);

/* The text of --text or --text-file, exactly as it is.  ATTN_BAD_INPUT where it is not UTF-8. */
enum attn_status model_options_text(const struct model_options *m, struct buffer *text,
				    struct attn_error *err);

/* Numbers of --ids or --type-ids, called `option`: *out (count) is the caller's. */
enum attn_status model_options_numbers(const char *value, const char *option, size_t **out, size_t *count,
				       struct attn_error *err);

#endif
