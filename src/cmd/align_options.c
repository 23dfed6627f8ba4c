#include "cmd/align_options.h"

#include <string.h>

#include "cmd/picture_format.h"
#include "util/number.h"

const char align_usage[] =
    "usage: attn align [options] INPUT...\n"
    "       attn align [options] --model MODEL --text TEXT --target TEXT\n"
    "\n"
    "Word alignments from attention: a line of links i-j a sentence, in the Pharaoh format,\n"
    "where i is a word of the source (keys) and j one of the target (queries), from 0.\n"
    "Each INPUT is a sentence, or a batch of them: a file to compute from, a stored result, or\n"
    "'-'.  With ROLE=FILE[:TENSOR] among them, all INPUTs are of one.\n"
    "\n"
    "      --list FILE       INPUTs from a file, a path a line\n"
    "      --together        all INPUTs are of one sentence\n"
    "      --head LIST       heads by number or name, such as 0,3-5, of several the mean; max or\n"
    "                        max:LIST for the largest weights [all]\n"
    "      --layer LIST      layers, likewise [the last]\n"
    "      --batch LIST      batch items [all]\n"
    "\n"
    "What is linked:\n"
    "      --method METHOD   argmax: each target word to its heaviest source word [argmax]\n"
    "                        reverse: each source word to its heaviest target word\n"
    "                        mutual, union: what both of these link, what one of them does\n"
    "                        grow-diag: grow-diag-final-and of both\n"
    "                        threshold=T: all weights from T on [threshold=0.2]\n"
    "                        monotone: a monotone path, for speech\n"
    "      --median N        with monotone: the median over N source words, 7 for frames [1]\n"
    "      --no-standardise  with monotone: weights as they are; elsewhere those on a source word\n"
    "                        get mean 0 and standard deviation 1 over the target words\n"
    "      --rows written|read\n"
    "                        a decoder's row is of the token that it writes, or reads [written, if\n"
    "                        the first one read is a mark such as <s>]\n"
    "      --no-words        link tokens; else, as by --words, the words that they make\n"
    "      --special TOKEN   also TOKEN is no word, as <s> and [SEP] are (may be repeated)\n"
    "      --keep-special    these are words, too\n"
    "      --null TOKEN      a target word whose heaviest source word is TOKEN has no link (may be\n"
    "                        repeated)\n"
    "      --query RANGE, --key RANGE\n"
    "                        only these, from which words count: A:B by index, from A to before\n"
    "                        B, negative from the end; by tokens, both ends included\n"
    "      --exclude-first, --exclude-diagonal, --exclude-token TOKEN\n"
    "                        keys to take out: the first, a query's own, those called TOKEN\n"
    "                        (may be repeated)\n"
    "      --renormalise     with these: the rest of a row adds up to 1\n";

const char align_usage_end[] =
    "Output:\n"
    "  -o, --output FILE     links go to FILE; x.tsv, x.json and x.jsonl are tables\n"
    "      --confidence      i-j:0.83, with how sure each link is\n"
    "      --reverse         j-i, by target words\n"
    "      --pretty, --text, --tsv, --json, --jsonl\n"
    "                        a table of links or scores, for people, or programs\n"
    "      --columns LIST    only these columns, in this order [all]\n"
    "      --gold FILE       scores instead: precision, recall, F1 and alignment error rate against\n"
    "                        sure links 0-0 and possible ones 0p0, a line a sentence, or the\n"
    "                        lines '1 1 1 S' and '1 1 2 P', which count from 1\n"
    "      --gold-first N    the number of the first word in lines of links, 0 or 1 [0]\n"
    "      --gold-reverse    target words come first in FILE\n"
    "      --each            the scores of each sentence, too\n"
    "      --by-head         the scores of each layer and head by itself, the best first\n"
    "      --draw FILE       the matrix of one sentence as x.png, x.svg or x.pdf, with links and\n"
    "                        gold links marked\n"
    "\n" PICTURE_USAGE "\n"
    "      --threads N       threads [the processors that this process may use]\n"
    "      --quiet           say nothing beside results but errors\n"
    "  -h, --help            show this help\n"
    "\n"
    "attn align samples/translation.json --method mutual --confidence\n";

enum {
	OPTION_METHOD = OPTION_OWN,
	OPTION_NO_STANDARDISE,
	OPTION_MEDIAN,
	OPTION_ROWS,
	OPTION_NO_WORDS,
	OPTION_SPECIAL,
	OPTION_KEEP_SPECIAL,
	OPTION_NULL,
	OPTION_LIST,
	OPTION_TOGETHER,
	OPTION_CONFIDENCE,
	OPTION_REVERSE,
	OPTION_GOLD,
	OPTION_GOLD_FIRST,
	OPTION_GOLD_REVERSE,
	OPTION_EACH,
	OPTION_BY_HEAD,
	OPTION_DRAW
};

static const struct option table[] = {
    {"output", required_argument, NULL, 'o'},
    {"method", required_argument, NULL, OPTION_METHOD},
    {"no-standardise", no_argument, NULL, OPTION_NO_STANDARDISE},
    {"median", required_argument, NULL, OPTION_MEDIAN},
    {"rows", required_argument, NULL, OPTION_ROWS},
    {"no-words", no_argument, NULL, OPTION_NO_WORDS},
    {"special", required_argument, NULL, OPTION_SPECIAL},
    {"keep-special", no_argument, NULL, OPTION_KEEP_SPECIAL},
    {"null", required_argument, NULL, OPTION_NULL},
    {"list", required_argument, NULL, OPTION_LIST},
    {"together", no_argument, NULL, OPTION_TOGETHER},
    {"confidence", no_argument, NULL, OPTION_CONFIDENCE},
    {"reverse", no_argument, NULL, OPTION_REVERSE},
    {"gold", required_argument, NULL, OPTION_GOLD},
    {"gold-first", required_argument, NULL, OPTION_GOLD_FIRST},
    {"gold-reverse", no_argument, NULL, OPTION_GOLD_REVERSE},
    {"each", no_argument, NULL, OPTION_EACH},
    {"by-head", no_argument, NULL, OPTION_BY_HEAD},
    {"draw", required_argument, NULL, OPTION_DRAW},
    {"head", required_argument, NULL, OPTION_HEAD},
    {"layer", required_argument, NULL, OPTION_LAYER},
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"query", required_argument, NULL, OPTION_QUERY},
    MODEL_OPTIONS,
    VIEW_OPTIONS,
    TABLE_OPTIONS,
    PRETTY_OPTION,
    PICTURE_OPTIONS,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

static const int lists_own[] = {OPTION_SPECIAL, OPTION_NULL, 0};

/* --- values ---------------------------------------------------------------------------------- */

static enum attn_status option_method(struct align_options *a, const struct options *o,
				      struct attn_error *err)
{
	static const char *const names[] = {
	    [ALIGN_ARGMAX] = "argmax",     [ALIGN_REVERSE] = "reverse", [ALIGN_MUTUAL] = "mutual",
	    [ALIGN_UNION] = "union",       [ALIGN_GROW] = "grow-diag",  [ALIGN_THRESHOLD] = "threshold",
	    [ALIGN_MONOTONE] = "monotone",
	};
	struct alignment_options *links = &a->request.links;
	size_t length = strcspn(o->value, "=");
	const char *number = o->value[length] ? o->value + length + 1 : NULL;
	size_t found = 0;
	while (found < sizeof names / sizeof *names &&
	       (strlen(names[found]) != length || strncmp(names[found], o->value, length) != 0))
		found++;
	if (found == sizeof names / sizeof *names || (number && found != ALIGN_THRESHOLD))
		return option_fail(o,
				   "'argmax', 'reverse', 'mutual', 'union', 'grow-diag', 'threshold', "
				   "'threshold=T' or 'monotone'",
				   err);
	links->method = (enum alignment_method)found;
	if (number &&
	    (!parse_number(number, &links->threshold) || links->threshold < 0 || links->threshold > 1))
		return option_fail(o, "'threshold=T' with a weight from 0 to 1", err);
	return ATTN_OK;
}

static enum attn_status option_median(struct align_options *a, const struct options *o,
				      struct attn_error *err)
{
	TRY(option_count(o, 1, 999, &a->request.links.median, err));
	return a->request.links.median % 2 ? ATTN_OK : option_fail(o, "an odd number from 1 to 999", err);
}

static enum attn_status option_rows(struct align_options *a, const struct options *o, struct attn_error *err)
{
	bool written = strcmp(o->value, "written") == 0;
	a->request.rows = written ? ROWS_WRITTEN : ROWS_READ;
	return written || strcmp(o->value, "read") == 0 ? ATTN_OK
							: option_fail(o, "'written' or 'read'", err);
}

static enum attn_status add_token(struct named_tokens *tokens, const struct options *o,
				  struct attn_error *err)
{
	return string_list_add(&tokens->names, o->value) ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status take_own(struct align_options *a, int id, const struct options *o,
				 struct attn_error *err)
{
	struct align_request *r = &a->request;
	switch (id) {
	case OPTION_METHOD:
		return option_method(a, o, err);
	case OPTION_NO_STANDARDISE:
		r->links.standardise = false;
		return ATTN_OK;
	case OPTION_MEDIAN:
		return option_median(a, o, err);
	case OPTION_ROWS:
		return option_rows(a, o, err);
	case OPTION_NO_WORDS:
		r->tokens = true;
		return ATTN_OK;
	case OPTION_SPECIAL:
		return add_token(&r->special, o, err);
	case OPTION_KEEP_SPECIAL:
		r->keep_special = true;
		return ATTN_OK;
	case OPTION_NULL:
		return add_token(&r->nulls, o, err);
	case OPTION_LIST:
		return option_once(o, &a->list, err);
	case OPTION_TOGETHER:
		a->together = true;
		return ATTN_OK;
	case OPTION_CONFIDENCE:
		a->links.confidence = true;
		return ATTN_OK;
	case OPTION_REVERSE:
		a->links.reverse = true;
		return ATTN_OK;
	case OPTION_GOLD:
		return option_once(o, &a->scores.path, err);
	case OPTION_GOLD_FIRST:
		a->first_given = true;
		return option_count(o, 0, 1, &a->scores.first, err);
	case OPTION_GOLD_REVERSE:
		a->scores.reversed = true;
		return ATTN_OK;
	case OPTION_EACH:
		a->scores.each = true;
		return ATTN_OK;
	case OPTION_BY_HEAD:
		a->scores.by_head = r->by_head = true;
		return ATTN_OK;
	default: /* OPTION_DRAW */
		return option_once(o, &a->draw, err);
	}
}

static enum attn_status take(struct align_options *a, int id, const struct options *o, struct attn_error *err)
{
	if (id == 'o')
		return option_once(o, &a->output, err);
	if (id >= OPTION_OWN)
		return take_own(a, id, o, err);
	if (is_model_option(id))
		return inputs_model_option(&a->given, id, o, err);
	if (is_selection_option(id))
		selection_option(&a->request.selection, id, o->value);
	else if (is_view_option(id))
		return view_option(&a->request.view, id, o, err);
	else if (id == OPTION_COLUMNS)
		return option_once(o, &a->columns, err);
	else if (id == OPTION_SETTING)
		return inputs_setting(&a->given, o, err);
	else if (id >= OPTION_TSV && id <= OPTION_TEXT)
		a->format = table_format_of(id);
	else {
		a->picture = o->name;
		return figure_option(&a->figure, id, o, err);
	}
	return ATTN_OK;
}

/* --- what goes together ------------------------------------------------------------------------ */

static enum attn_status check_gold(const struct align_options *a, struct attn_error *err)
{
	const struct align_scores *s = &a->scores;
	const char *option = s->each       ? "each"
			     : s->by_head  ? "by-head"
			     : s->reversed ? "gold-reverse"
					   : "gold-first";
	if (!s->path && (s->each || s->by_head || s->reversed || a->first_given))
		return attn_fail(err, ATTN_USAGE, "'--%s' is about a gold standard: it also requires --gold",
				 option);
	if (s->each && s->by_head)
		return attn_fail(err, ATTN_USAGE,
				 "'--each' and '--by-head' cannot be combined: give one of them");
	if (s->by_head && (a->output || a->draw))
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--by-head' scores each head by itself, and '--%s' is for the links of one or "
		    "a mean: give one of them",
		    a->output ? "output" : "draw");
	if (s->path && !a->output && (a->links.confidence || a->links.reverse))
		return attn_fail(err, ATTN_USAGE,
				 "'--%s' is about links, and with '--gold' these are only written by -o FILE",
				 a->links.confidence ? "confidence" : "reverse");
	return ATTN_OK;
}

static enum attn_status check(const struct align_options *a, struct attn_error *err)
{
	const struct align_request *r = &a->request;
	if (r->links.method != ALIGN_MONOTONE && (!r->links.standardise || r->links.median > 1))
		return attn_fail(err, ATTN_USAGE, "'--%s' is for a path: it also requires --method monotone",
				 r->links.standardise ? "median" : "no-standardise");
	if (r->links.method == ALIGN_MONOTONE && r->nulls.names.count > 0)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--null' and '--method monotone' cannot be combined: a path links every word");
	if (r->tokens && r->view.words)
		return attn_fail(err, ATTN_USAGE,
				 "'--no-words' and '--words' cannot be combined: give one of them");
	if (a->picture && !a->draw)
		return attn_fail(err, ATTN_USAGE, "'--%s' is about a picture: it also requires --draw",
				 a->picture);
	if (a->figure.keep_markers && !r->tokens)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--markers keep' is for tokens, and words have no markers: it also requires "
		    "--no-words");
	TRY(check_gold(a, err));
	return view_check_numbers(&r->view, "an alignment", err);
}

/* The format of links in a file, by its ending. */
static enum table_format format_of_ending(const char *path)
{
	static const struct {
		const char *ending;
		enum table_format format;
	} endings[] = {{".tsv", TABLE_TSV}, {".json", TABLE_JSON}, {".jsonl", TABLE_JSONL}};
	size_t length = strlen(path);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t end = strlen(endings[i].ending);
		if (length > end && strcmp(path + length - end, endings[i].ending) == 0)
			return endings[i].format;
	}
	return TABLE_DEFAULT;
}

static enum attn_status settle(struct align_options *a, struct attn_error *err)
{
	enum table_format *links = &a->links.table.format;
	TRY(table_format_columns(&a->format, a->columns, err));
	a->scores.table.format = table_format_settle(a->format);
	*links = a->output ? format_of_ending(a->output) : TABLE_DEFAULT;
	if (!a->scores.path && a->format != TABLE_DEFAULT)
		*links = a->format;
	if (a->links.confidence && *links != TABLE_DEFAULT)
		return attn_fail(err, ATTN_USAGE,
				 "'--confidence' is for lines of links, and a table has it as a column");
	if (a->draw)
		TRY(picture_format_check(a->draw, NULL, &a->figure.heatmap.format, err));
	if (a->scores.path)
		TRY(align_scores_begin(&a->scores, a->columns, err));
	return align_output_begin(&a->links, a->scores.path ? NULL : a->columns, err);
}

enum attn_status align_options_parse(struct align_options *a, const struct command *self, int argc,
				     char **argv, struct attn_error *err)
{
	struct options o = {.self = self,
			    .argc = argc,
			    .argv = argv,
			    .letters = "ho:",
			    .table = table,
			    .lists_own = lists_own};
	int id;
	a->request.links.threshold = 0.2;
	a->request.links.standardise = true;
	a->request.links.median = 1;
	while ((id = options_next(&o, err)) != 0) {
		if (id < 0)
			return ATTN_USAGE;
		if (id == 'h' || id == OPTION_HELP)
			a->help = true;
		else
			TRY(take(a, id, &o, err));
	}
	if (a->help)
		return ATTN_OK;
	a->request.view.words_default = !a->request.tokens;
	TRY(check(a, err));
	return settle(a, err);
}

void align_options_release(struct align_options *a)
{
	align_request_release(&a->request);
	inputs_release(&a->given);
	align_output_release(&a->links);
	align_scores_release(&a->scores);
}
