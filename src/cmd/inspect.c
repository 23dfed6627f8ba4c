#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

static const char usage[] = "usage: attn inspect token TOKEN [options] INPUT...\n"
			    "       attn inspect pairs PAIRS [options] INPUT...\n"
			    "       attn inspect tokens MODEL (--text TEXT | --text-file FILE) [options]\n"
			    "       attn inspect heads [options] INPUT...\n"
			    "       attn inspect far [options] INPUT...\n"
			    "       attn inspect path TOKEN [options] RESULT\n"
			    "       attn inspect effects [options] INPUT...\n"
			    "       attn inspect file [options] FILE\n"
			    "       attn inspect model [options] MODEL\n"
			    "\n"
			    "Look into attention, texts, files and models.\n"
			    "\n"
			    "  token   what a token attends to, or what attends to it, ranked\n"
			    "  pairs   what each head makes of given pairs, and which link them best\n"
			    "  tokens  what tokens a text becomes\n"
			    "  heads   what kind of attention each head pays\n"
			    "  far     what a window would lose, and which far links matter\n"
			    "  path    the strongest links of a token from layer to layer\n"
			    "  effects what each head does, by taking it out\n"
			    "  file    what a file holds: tensors, tokens, settings\n"
			    "  model   what a model is, and whether it is supported\n"
			    "\n"
			    "'attn inspect token --help' and so on say more.\n";

/* A file that is not called like something to inspect. */
static bool is_file(const char *word)
{
	for (size_t i = 0; inspect_commands[i]; i++)
		if (strcmp(word, inspect_commands[i]->name) == 0)
			return false;
	return access(word, F_OK) == 0;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	if (argc < 2)
		return attn_fail(err, ATTN_USAGE,
				 "what to inspect is missing: give 'token', 'pairs', 'tokens', 'heads', "
				 "'far', 'path', 'effects', 'file' or "
				 "'model' (see '%s --help')",
				 self->title);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_usage(self, err);
	if (is_file(argv[1]))
		return attn_fail(err, ATTN_USAGE, "'%s' is a file, did you mean 'attn inspect file %s'",
				 argv[1], argv[1]);
	const struct command *command = command_find(inspect_commands, self->title, argv[1], err);
	return command ? command_start(command, argc - 1, argv + 1) : ATTN_USAGE;
}

const struct command command_inspect = {"inspect", run, "attn inspect", "look into attention and into files",
					usage,     NULL};

const struct command *const inspect_commands[] = {&command_inspect_token,   &command_inspect_pairs,
						  &command_inspect_tokens,  &command_inspect_heads,
						  &command_inspect_far,     &command_inspect_path,
						  &command_inspect_effects, &command_inspect_file,
						  &command_inspect_model,   NULL};
