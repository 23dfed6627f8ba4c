#include "cmd/options.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/number.h"
#include "util/threads.h"

static bool ends_in_word(const char *text, const char *word)
{
	size_t length = strlen(text), word_length = strlen(word);
	return word_length > 0 && length > word_length && text[length - word_length - 1] == '-' &&
	       strcmp(text + length - word_length, word) == 0;
}

static bool has_option(const struct option *table, const char *name)
{
	while (table->name && strcmp(table->name, name) != 0)
		table++;
	return table->name != NULL;
}

/* The role of an option's name, or of what published configurations call it. */
static enum role_id role_named(const char *option)
{
	char name[ROLE_NAME];
	snprintf(name, sizeof name, "%s", option);
	for (char *c = name; *c; c++)
		*c = (char)(*c == '-' ? '_' : *c);
	return role_find(role_meant(name));
}

/* What other programs and configurations call an option, where this command has it; or NULL. */
static const char *option_meant(const struct option *table, const char *name)
{
	static const char *const words[][2] = {
	    {"cmap", "colormap"},        {"color-map", "colormap"}, {"palette", "colormap"},
	    {"colors", "colormap"},      {"figsize", "size"},       {"vmax", "max"},
	    {"vmin", "range"},           {"limits", "range"},       {"norm", "transform"},
	    {"log", "transform"},        {"annot", "numbers"},      {"outdir", "directory"},
	    {"output-dir", "directory"}, {"out", "directory"},      {"limit", "top"},
	    {"jobs", "threads"},         {"temp", "temperature"},   {"n-head", "num-heads"},
	    {"n-heads", "num-heads"},    {"layers", "layer"},
	};
	static char option[ROLE_NAME];
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i][0], name) == 0 && has_option(table, words[i][1]))
			return words[i][1];
	enum role_id meant = role_named(name);
	if (meant == ROLE_NONE)
		return NULL;
	role_option(&roles[meant], option);
	return has_option(table, option) ? option : NULL;
}

/* The option that was probably meant: by what the word means, else the nearest by its letters. */
static const char *nearest_option(const struct option *table, const char *name)
{
	const char *best = option_meant(table, name);
	if (best)
		return best;
	size_t nearest = strlen(name) / 3 + 2;
	for (; table->name; table++) {
		size_t distance = edit_distance(name, table->name);
		if (distance < nearest) {
			nearest = distance;
			best = table->name;
		}
	}
	return best;
}

/* One that ends in the word, as --num-heads does in heads. */
static const char *longer_option(const struct option *table, const char *name)
{
	while (table->name && !ends_in_word(table->name, name))
		table++;
	return table->name;
}

/* Whether getopt_long means the word before optind, and not a letter of a word
 * that it may have only begun: then optopt is 0, or the value of a long option. */
static bool refused_word(const struct options *o)
{
	const char *word = o->argv[optind - 1];
	bool meant = optopt == 0;
	for (const struct option *option = o->table; option->name && !meant; option++)
		meant = option->val == optopt;
	return meant && strncmp(word, "--", 2) == 0;
}

/* A word that is no long option as it stands. */
static void fail_word(const struct options *o, const char *word, struct attn_error *err)
{
	/* A prefix of several names, or a flag with a value. */
	size_t length = strcspn(word + 2, "=");
	for (const struct option *option = o->table; option->name; option++) {
		if (strncmp(option->name, word + 2, length) != 0)
			continue;
		if (option->name[length] == '\0')
			attn_fail(err, ATTN_USAGE, "option '--%s' takes no value", option->name);
		else
			attn_fail(err, ATTN_USAGE, "option '%s' could be more than one, such as '--%s'", word,
				  option->name);
		return;
	}
	char name[ROLE_NAME];
	snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word + 2);
	enum role_id role = o->self->usage_end ? role_named(name) : ROLE_NONE;
	const char *near = nearest_option(o->table, name), *longer = longer_option(o->table, name);
	if (role && !role_is_setting(&roles[role]) && !has_option(o->table, roles[role].name))
		attn_fail(err, ATTN_USAGE, "unknown option '%s': '%s' is an input, give %s=FILE", word,
			  roles[role].name, roles[role].name);
	else if (near && longer && edit_distance(near, name) == 1)
		attn_fail(err, ATTN_USAGE, "unknown option '%s', did you mean '--%s' or '--%s'", word, longer,
			  near);
	else if (longer || near)
		attn_fail(err, ATTN_USAGE, "unknown option '%s', did you mean '--%s'", word,
			  longer ? longer : near);
	else
		attn_fail(err, ATTN_USAGE, "unknown option '%s' (see '%s --help')", word, o->self->title);
}

/* What getopt_long refused, in our words. */
static int refuse(const struct options *o, int answer, struct attn_error *err)
{
	const char letter[3] = {'-', (char)optopt, '\0'};
	bool is_word = refused_word(o);
	if (answer == ':')
		attn_fail(err, ATTN_USAGE, "option '%s' needs a value",
			  is_word ? o->argv[optind - 1] : letter);
	else if (is_word)
		fail_word(o, o->argv[optind - 1], err);
	else
		attn_fail(err, ATTN_USAGE, "unknown option '%s' (see '%s --help')", letter, o->self->title);
	return -1;
}

/* Whether the option is another of its name: beside --model, --text gives the text, else it is the
 * form of a table. */
static bool is_hidden(const struct options *o, const struct option *option)
{
	bool model = false, form = false;
	for (int i = 1; i < o->argc && strcmp(o->argv[i], "--") != 0; i++)
		model |= strcmp(o->argv[i], "--model") == 0 || strncmp(o->argv[i], "--model=", 8) == 0;
	for (const struct option *other = o->table; other->name; other++)
		form |= other->val == OPTION_TEXT;
	return (option->val == OPTION_TEXT && model && strcmp(option->name, "text") == 0) ||
	       (option->val == OPTION_MODEL_TEXT && !model && form);
}

/* The command's own options and, where it takes an INPUT, those of settings. */
static const struct option *with_settings(const struct options *o)
{
	static struct option all[OPTIONS_MOST];
	static char names[ROLE_COUNT][ROLE_NAME];
	size_t count = 0;
	if (!o->self->usage_end)
		return o->table;
	for (const struct option *option = o->table; option->name; option++) {
		assert(count < OPTIONS_OWN_MOST);
		if (!is_hidden(o, option))
			all[count++] = *option;
	}
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++) {
		if (!roles[id].option)
			continue;
		role_option(&roles[id], names[id]);
		all[count++] = (struct option){
		    names[id], roles[id].kind == KIND_BOOL ? optional_argument : required_argument, NULL,
		    OPTION_SETTING};
	}
	all[count] = (struct option){0};
	return all;
}

enum role_id option_role(const struct options *o)
{
	char option[ROLE_NAME];
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++) {
		role_option(&roles[id], option);
		if (strcmp(option, o->name) == 0)
			return id;
	}
	return ROLE_NONE;
}

static bool is_table_form(int id)
{
	return id >= OPTION_TSV && id <= OPTION_TEXT;
}

/* --head 0 --head 3-5 is --head 0,3-5. */
static enum attn_status join_list(struct options *o, int id, struct attn_error *err)
{
	static char lists[OPTION_BATCH - OPTION_HEAD + 1][1000];
	char *list = lists[id - OPTION_HEAD];
	const char **before = &o->lists[id - OPTION_HEAD];
	if (*before) {
		size_t length = strlen(*before), more = strlen(o->value);
		if (length + 1 + more >= sizeof lists[0])
			return attn_fail(err, ATTN_USAGE, "'--%s' is too long, expected at most %zu letters",
					 o->name, sizeof lists[0] - 1);
		memmove(list, *before, length);
		list[length] = ',';
		memcpy(list + length + 1, o->value, more + 1);
		o->value = list;
	}
	*before = o->value;
	return ATTN_OK;
}

/* The last of two values would silently win. */
static enum attn_status check_repeated(struct options *o, int id, struct attn_error *err)
{
	if (id == OPTION_EXCLUDE_TOKEN)
		return ATTN_OK; /* its command joins them: tokens may hold commas */
	for (const int *own = o->lists_own; own && *own; own++)
		if (id == *own)
			return ATTN_OK;
	if (id >= OPTION_HEAD && id <= OPTION_BATCH)
		return join_list(o, id, err);
	if (is_table_form(id)) {
		if (o->table_form && strcmp(o->table_form, o->name) != 0)
			return attn_fail(err, ATTN_USAGE, "'--%s' and '--%s' cannot be combined",
					 o->table_form, o->name);
		o->table_form = o->name;
	}
	size_t at = 0;
	while (o->table[at].name && strcmp(o->table[at].name, o->name) != 0 &&
	       (o->name[1] || o->table[at].val != id))
		at++;
	/* Letters of long options are that option; those without one come after the table. */
	if (!o->value || !o->table[at].name || at >= sizeof o->seen)
		return ATTN_OK;
	if (o->seen[at])
		return attn_fail(err, ATTN_USAGE, "'%s%s' may be given only once", o->name[1] ? "--" : "-",
				 o->name);
	o->seen[at] = true;
	return ATTN_OK;
}

static int next_option(struct options *o, struct attn_error *err)
{
	char letters[64];
	int index = -1;
	snprintf(letters, sizeof letters, ":%s", o->letters);
	if (!o->started) {
		o->table = with_settings(o);
		optind = 0; /* glibc: start afresh, also after an outer command's parse */
		opterr = 0;
		o->started = true;
	}
	int answer = getopt_long(o->argc, o->argv, letters, o->table, &index);
	if (answer == -1)
		return 0;
	if (answer == '?' || answer == ':')
		return refuse(o, answer, err);
	static char letter[2];
	letter[0] = (char)answer;
	o->name = index >= 0 ? o->table[index].name : letter;
	o->value = optarg;
	return check_repeated(o, answer, err) == ATTN_OK ? answer : -1;
}

enum attn_status option_fail(const struct options *o, const char *expected, struct attn_error *err)
{
	return attn_fail(err, ATTN_USAGE, "'%s%s' is '%s', expected %s", o->name[1] ? "--" : "-", o->name,
			 o->value, expected);
}

enum attn_status option_count(const struct options *o, size_t least, size_t most, size_t *out,
			      struct attn_error *err)
{
	char expected[100];
	size_t value;
	if (parse_count(o->value, &value) && value >= least && value <= most) {
		*out = value;
		return ATTN_OK;
	}
	if (most == SIZE_MAX)
		snprintf(expected, sizeof expected, "a whole number from %zu", least);
	else
		snprintf(expected, sizeof expected, "a whole number from %zu to %zu", least, most);
	return option_fail(o, expected, err);
}

enum attn_status option_counts(const struct options *o, const struct option_counts *range, size_t *count,
			       struct attn_error *err)
{
	char expected[160];
	size_t found = 0;
	for (const char *at = o->value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char number[24];
		size_t length = strcspn(at, ","), value = 0;
		snprintf(number, sizeof number, "%.*s", (int)(length < 23 ? length : 0), at);
		if (found == range->most || !parse_count(number, &value) || value < range->least ||
		    value > range->largest || (found > 0 && value <= range->out[found - 1])) {
			snprintf(
			    expected, sizeof expected,
			    "at most %zu whole numbers from %zu to %zu, ascending, with commas between them",
			    range->most, range->least, range->largest);
			return option_fail(o, expected, err);
		}
		range->out[found++] = value;
	}
	*count = found;
	return ATTN_OK;
}

enum attn_status option_number(const struct options *o, double least, double most, double *out,
			       struct attn_error *err)
{
	char expected[100];
	double value;
	if (parse_number(o->value, &value) && value >= least && value <= most) {
		*out = value;
		return ATTN_OK;
	}
	snprintf(expected, sizeof expected, "a number from %g to %g", least, most);
	return option_fail(o, expected, err);
}

int options_next(struct options *o, struct attn_error *err)
{
	int id;
	while ((id = next_option(o, err)) == OPTION_THREADS || id == OPTION_QUIET) {
		size_t threads;
		if (id == OPTION_QUIET) {
			report_quiet();
			continue;
		}
		if (option_count(o, 1, THREADS_MAX, &threads, err) != ATTN_OK)
			return -1;
		threads_set(threads);
	}
	return id;
}

enum attn_status option_once(const struct options *o, const char **out, struct attn_error *err)
{
	if (*out)
		return attn_fail(err, ATTN_USAGE, "'%s%s' may be given only once", o->name[1] ? "--" : "-",
				 o->name);
	*out = o->value;
	return ATTN_OK;
}

bool score_stage_find(const char *name, enum score_stage *stage)
{
	static const char *const names[SCORE_STAGES] = {"product", "raw", "capped", "masked"};
	for (size_t i = 0; i < SCORE_STAGES; i++) {
		if (strcmp(name, names[i]) == 0) {
			*stage = (enum score_stage)i;
			return true;
		}
	}
	return false;
}

enum attn_status option_markers(const struct options *o, bool *keep, struct attn_error *err)
{
	*keep = strcmp(o->value, "keep") == 0;
	return *keep || strcmp(o->value, "drop") == 0 ? ATTN_OK : option_fail(o, "'keep' or 'drop'", err);
}

enum attn_status option_top(const struct options *o, size_t *out, struct attn_error *err)
{
	if (strcmp(o->value, "all") == 0) {
		*out = SIZE_MAX;
		return ATTN_OK;
	}
	return option_count(o, 1, SIZE_MAX, out, err);
}
