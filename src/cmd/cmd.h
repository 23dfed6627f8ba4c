/* The commands: each parses its options, validates, joins sources and consumers, and
 * reports.  A command's function returns its exit status and fills the error,
 * which command_start prints.
 */
#ifndef ATTN_CMD_CMD_H
#define ATTN_CMD_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "util/buffer.h"
#include "util/error.h"
#include "util/strings.h"

struct command {
	const char *name;
	enum attn_status (*run)(const struct command *self, int argc, char **argv, struct attn_error *err);
	const char *title;     /* "attn inspect token": before messages */
	const char *summary;   /* one line for lists */
	const char *usage;     /* what --help prints */
	const char *usage_end; /* and after that, behind the settings of an INPUT; or NULL */
};

/* Tables end with NULL. */
extern const struct command *const commands[];         /* attn ... */
extern const struct command *const inspect_commands[]; /* attn inspect ... */

extern const struct command command_run, command_merge, command_heatmap, command_view, command_compare,
    command_align, command_inspect, command_bench, command_help;
extern const struct command command_inspect_token, command_inspect_pairs, command_inspect_tokens,
    command_inspect_heads, command_inspect_far, command_inspect_path, command_inspect_effects,
    command_inspect_file, command_inspect_model;

/* The entry called `name`; NULL and ATTN_USAGE with a suggestion otherwise. */
const struct command *command_find(const struct command *const *table, const char *of, const char *name,
				   struct attn_error *err);

/* Run a command and print its error. */
enum attn_status command_start(const struct command *command, int argc, char **argv);

/* --quiet: from now on no notes, no "wrote", no progress; errors stay. */
void report_quiet(void);
bool report_is_quiet(void);

/* "attn run: note: ..." on standard error, control characters replaced. */
void report_note(const struct command *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_notes(const struct command *self, const struct string_list *notes);
void report_error(const struct command *self, const struct attn_error *err);

/* Note that no font has all characters of a text (in `package` is one that does; NULL: unknown), or that
 * a font is not the one asked for. */
void report_missing_glyphs(const struct command *self, const char *text, const char *package);
void report_other_font(const struct command *self, const char *asked, const char *used);

/* "attn run: wrote 'x.png'" on standard error, nothing for standard output. */
void report_written(const struct command *self, const char *path);

/* Write a text file that appears whole or not at all by print(stream, context), and
 * say so; "-" is standard output.  Failures to write are found at the end: `print`
 * may leave them. */
enum attn_status write_file(const struct command *self, const char *path,
			    enum attn_status (*print)(FILE *stream, void *context, struct attn_error *err),
			    void *context, struct attn_error *err);

/* The same for a text that is ready; one that failed is ATTN_FAILED. */
enum attn_status write_text(const struct command *self, const char *path, struct buffer *text,
			    struct attn_error *err);

/* Print a command's usage on standard output. */
enum attn_status print_usage(const struct command *self, struct attn_error *err);

#endif
