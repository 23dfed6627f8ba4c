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

/* The option that was probably meant: the nearest by its letters; one that ends in
 * the word, as --num-heads does in heads, is one letter away. */
static const char *nearest_option(const struct option *table, const char *name)
{
	const char *best = NULL;
	size_t nearest = strlen(name) / 3 + 2;
	for (; table->name; table++) {
		size_t distance = ends_in_word(table->name, name) ? 1 : edit_distance(name, table->name);
		if (distance < nearest) {
			nearest = distance;
			best = table->name;
		}
	}
	return best;
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
	const char *near = nearest_option(o->table, word + 2);
	if (near)
		attn_fail(err, ATTN_USAGE, "unknown option '%s', did you mean '--%s'", word, near);
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

/* The command's own options and, where it takes an INPUT, those of settings. */
static const struct option *with_settings(const struct options *o)
{
	enum {
		OWN_MOST = 100
	};
	static struct option all[OWN_MOST + ROLE_COUNT];
	static char names[ROLE_COUNT][ROLE_NAME];
	size_t count = 0;
	if (!o->self->usage_end)
		return o->table;
	for (; o->table[count].name; count++) {
		assert(count < OWN_MOST);
		all[count] = o->table[count];
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
	return answer;
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
	while ((id = next_option(o, err)) == OPTION_THREADS) {
		size_t threads;
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

enum attn_status option_top(const struct options *o, size_t *out, struct attn_error *err)
{
	if (strcmp(o->value, "all") == 0) {
		*out = SIZE_MAX;
		return ATTN_OK;
	}
	return option_count(o, 1, SIZE_MAX, out, err);
}
