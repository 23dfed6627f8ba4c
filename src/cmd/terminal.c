/* What standard output is, and figures on it. */
#include "cmd/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/minmax.h"
#include "util/number.h"

enum {
	COLUMNS = 80,
	LEAST_COLUMNS = 20,
	MOST_COLUMNS = 1000
};

static struct terminal standard_output(void)
{
	struct winsize size = {0};
	bool tty = isatty(STDOUT_FILENO);
	const char *columns = getenv("COLUMNS");
	struct terminal terminal = {
	    .colours = terminal_colours(tty, getenv("NO_COLOR"), getenv("COLORTERM"), getenv("TERM"))};
	if (tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
		terminal.columns = size.ws_col;
		terminal.lines = size.ws_row;
	}
	if (terminal.columns == 0 && (!columns || !parse_count(columns, &terminal.columns)))
		terminal.columns = 0;
	terminal.columns = terminal.columns ? terminal.columns : COLUMNS;
	terminal.columns = size_min(size_max(terminal.columns, LEAST_COLUMNS), MOST_COLUMNS);
	return terminal;
}

enum attn_status terminal_choose(struct figure_options *figure, struct terminal *terminal, const char *format,
				 struct attn_error *err)
{
	const struct heatmap_options *h = &figure->heatmap;
	const char *option = format               ? "format"
			     : h->cell            ? "cell"
			     : h->size            ? "size"
			     : h->width.value > 0 ? "width"
			     : h->dpi > 0         ? "dpi"
			     : h->font            ? "font"
			     : h->font_size > 0   ? "font-size"
			     : h->transparent     ? "transparent"
			     : figure->sentences  ? "sentences"
						  : NULL;
	if (option)
		return attn_fail(err, ATTN_USAGE,
				 "'--%s' is for files, and cannot be combined with '--terminal'", option);
	*terminal = standard_output();
	figure->terminal = terminal;
	return ATTN_OK;
}

enum attn_status terminal_print(const struct terminal *terminal, const struct heatmap_figure *figure,
				const struct command *self, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	enum attn_status status = terminal_draw(terminal, figure, &text, err);
	if (status == ATTN_OK)
		status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}
