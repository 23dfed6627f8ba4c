#include <cjson/cJSON.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "cmd/options.h"
#include "draw/text/pango.h"
#include "kernels/kernels.h"
#include "util/threads.h"

static const char usage[] = "usage: attn COMMAND [options] INPUT...\n"
			    "       attn help [COMMAND | roles]\n"
			    "       attn --version [--verbose]\n"
			    "\n"
			    "Compute attention and show it: context vectors, heatmaps, rankings.\n"
			    "\n";

static const char usage_end[] =
    "\n"
    "INPUT is a file (JSON, npy, npz, safetensors), '-' for standard input, or\n"
    "ROLE=FILE[:TENSOR] to bind one tensor, such as wq=model.safetensors:layer.0.wq.\n"
    "\n"
    "attn run samples/hand.json\n"
    "attn heatmap samples/translation.json -o translation.png\n"
    "attn inspect token it samples/animal.safetensors samples/use-lite-layer1.safetensors\n"
    "\n"
    "Exit status: 0 done, 1 nothing matched or weights differ, 2 wrong usage, 3 bad input,\n"
    "4 could not read, write or allocate.  'attn help COMMAND' says more, as do the manual\n"
    "pages attn(1), attn-formats(5) and attn-attention(7).\n";

static void print_commands(const struct command *const *table)
{
	for (; *table; table++)
		printf("  %-10s %s\n", (*table)->name, (*table)->summary);
}

static enum attn_status print_overview(void)
{
	fputs(usage, stdout);
	print_commands(commands);
	fputs(usage_end, stdout);
	return ATTN_OK;
}

const struct command *command_find(const struct command *const *table, const char *of, const char *name,
				   struct attn_error *err)
{
	const char *best = NULL;
	size_t nearest = strlen(name) / 2 + 2;
	for (; *table; table++) {
		/* The start of a name is nearer than any misspelling. */
		bool start = name[0] && strncmp(name, (*table)->name, strlen(name)) == 0;
		size_t distance = start ? 0 : edit_distance(name, (*table)->name);
		if (strcmp(name, (*table)->name) == 0)
			return *table;
		if (distance < nearest) {
			nearest = distance;
			best = (*table)->name;
		}
	}
	if (best)
		attn_fail(err, ATTN_USAGE, "unknown command '%s', did you mean '%s %s'", name, of, best);
	else
		attn_fail(err, ATTN_USAGE, "unknown command '%s' (see '%s --help')", name, of);
	return NULL;
}

/* "attn help inspect token", or "attn help roles". */
static enum attn_status help_on(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	const struct command *const *table = commands;
	const struct command *command = NULL;
	const char *of = "attn";
	if (argc == 1 && strcmp(argv[0], "roles") == 0)
		return print_roles(self, err);
	for (int i = 0; i < argc; i++) {
		if (!table)
			return attn_fail(err, ATTN_USAGE, "'%s' has no commands of its own, found '%s'", of,
					 argv[i]);
		command = command_find(table, of, argv[i], err);
		if (!command)
			return ATTN_USAGE;
		of = command->title;
		table = command == &command_inspect ? inspect_commands : NULL;
	}
	return command && command != &command_help ? print_usage(command, err) : print_overview();
}

static enum attn_status fail_no_command(struct attn_error *err)
{
	char list[200];
	size_t used = 0;
	for (size_t i = 0; commands[i] && commands[i] != &command_help && used < sizeof list; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
					 commands[i]->name);
	return attn_fail(err, ATTN_USAGE, "no command: give one of %s (see 'attn --help')", list);
}

/* What a report of a wrong or slow result should say. */
static enum attn_status print_details(struct attn_error *err)
{
	const struct pango_functions *pango = NULL;
	TRY(kernels_check(err));
	puts("attn " ATTN_VERSION);
	printf("kernel: %s\nkernels: ", kernels_name(kernels_best()));
	for (size_t i = 0; kernels_runnable(i); i++)
		printf("%s, ", kernels_runnable(i)->name);
	printf("scalar\nthreads: %zu\n", threads_available());
	printf("cJSON: %s\nlibpng: %s\nzlib: %s\n", cJSON_Version(), png_get_libpng_ver(NULL), zlibVersion());
	bool found = pango_load(&pango, NULL) == ATTN_OK;
	printf("Pango: %s\ncairo: %s\n", found ? pango->pango_version_string() : "not found",
	       found ? pango->cairo_version_string() : "not found");
	return ATTN_OK;
}

/* `attn`, `attn --help`, `attn --version` and `attn help ...`. */
static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	static const struct option table[] = {HELP_OPTION,
					      {"version", no_argument, NULL, 'V'},
					      {"verbose", no_argument, NULL, OPTION_OWN},
					      END_OPTION};
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "hV", .table = table};
	bool asked = strcmp(argv[0], self->name) == 0, version = false, verbose = false;
	int id;
	while ((id = options_next(&o, err)) != 0) {
		if (id < 0)
			return ATTN_USAGE;
		if (id == 'h' || id == OPTION_HELP)
			return print_overview();
		version |= id == 'V';
		verbose |= id == OPTION_OWN;
	}
	if (verbose && !version)
		return attn_fail(err, ATTN_USAGE, "'--verbose' is for '--version'");
	if (verbose)
		return print_details(err);
	if (version) {
		puts("attn " ATTN_VERSION);
		return ATTN_OK;
	}
	if (!asked && argc == 1)
		return fail_no_command(err);
	return help_on(self, argc - optind, argv + optind, err);
}

const struct command command_help = {"help", run, "attn", "say how a command is used", usage, NULL};
