#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "files/output.h"
#include "util/buffer.h"

/* One line on standard error.  Names come from files: nothing in them may steer a
 * terminal. */
static void print_line(const char *text)
{
	struct buffer line = BUFFER_INIT;
	buffer_add_clean(&line, text);
	buffer_add_char(&line, '\n');
	fputs(line.failed ? "out of memory\n" : line.data, stderr);
	buffer_release(&line);
}

static bool quiet;

void report_quiet(void)
{
	quiet = true;
}

bool report_is_quiet(void)
{
	return quiet;
}

void report_note(const struct command *self, const char *format, ...)
{
	char text[1200];
	va_list args;
	if (quiet)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	progress_erase();
	fprintf(stderr, "%s: note: ", self->title);
	print_line(text);
}

void report_notes(const struct command *self, const struct string_list *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		report_note(self, "%s", notes->items[i]);
}

void report_error(const struct command *self, const struct attn_error *err)
{
	progress_erase();
	fflush(stdout);
	fprintf(stderr, "%s: ", self->title);
	print_line(err->message);
}

enum attn_status command_start(const struct command *command, int argc, char **argv)
{
	struct attn_error err = {ATTN_OK, ""};
	enum attn_status status = command->run(command, argc, argv, &err);
	if (err.message[0])
		report_error(command, &err);
	return status;
}

void report_missing_glyphs(const struct command *self, const char *text, const char *package)
{
	report_note(self, "no installed font has all characters of '%s': install one that does%s%s%s", text,
		    package ? " (Debian: " : "", package ? package : "", package ? ")" : "");
}

void report_other_font(const struct command *self, const char *asked, const char *used)
{
	report_note(self, "there is no font family '%s': '%s' is drawn instead", asked, used);
}

void report_written(const struct command *self, const char *path)
{
	struct buffer text = BUFFER_INIT;
	if (quiet || strcmp(path, "-") == 0)
		return;
	progress_erase();
	buffer_printf(&text, "%s: wrote '%s'", self->title, path);
	print_line(text.failed ? "out of memory" : text.data);
	buffer_release(&text);
}

enum attn_status write_file(const struct command *self, const char *path,
			    enum attn_status (*print)(FILE *stream, void *context, struct attn_error *err),
			    void *context, struct attn_error *err)
{
	struct output out = {0};
	enum attn_status status = output_open(&out, path, false, err);
	if (status == ATTN_OK)
		status = print(out.stream, context, err);
	if (status == ATTN_OK)
		status = output_commit(&out, err);
	else
		output_abort(&out);
	if (status == ATTN_OK)
		report_written(self, path);
	return status;
}

static enum attn_status print_text(FILE *stream, void *context, struct attn_error *err)
{
	const struct buffer *text = context;
	if (text->failed)
		return attn_fail_memory(err);
	fwrite(text->data, 1, text->length, stream);
	return ATTN_OK;
}

enum attn_status write_text(const struct command *self, const char *path, struct buffer *text,
			    struct attn_error *err)
{
	return write_file(self, path, print_text, text, err);
}
