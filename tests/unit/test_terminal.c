#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/terminal/terminal.h"
#include "util/width.h"

static struct grid make_grid(size_t rows, size_t cols)
{
	struct grid g = {
	    .queries = rows, .keys = cols, .rows = rows, .cols = cols, .row_factor = 1, .col_factor = 1};

	g.values = calloc(rows * cols, sizeof(float));
	g.masked = calloc(rows * cols, 1);
	return g;
}

static void free_grid(struct grid *g)
{
	free(g->values);
	free(g->masked);
}

static void draw(const struct terminal *terminal, const struct heatmap_figure *figure, struct buffer *out)
{
	*out = (struct buffer)BUFFER_INIT;
	assert_int_equal(terminal_draw(terminal, figure, out, NULL), ATTN_OK);
	assert_non_null(out->data);
}

static void test_colours(void **state)
{
	(void)state;
	assert_int_equal(terminal_colours(true, NULL, "truecolor", "xterm"), TERMINAL_TRUE);
	assert_int_equal(terminal_colours(true, NULL, "24bit", "xterm"), TERMINAL_TRUE);
	assert_int_equal(terminal_colours(true, "", "24bit", "xterm"), TERMINAL_TRUE);
	assert_int_equal(terminal_colours(true, NULL, NULL, "xterm-256color"), TERMINAL_256);
	assert_int_equal(terminal_colours(true, NULL, "yes", "screen-256color"), TERMINAL_256);
	assert_int_equal(terminal_colours(true, NULL, NULL, "xterm"), TERMINAL_PLAIN);
	assert_int_equal(terminal_colours(true, NULL, "truecolor", "dumb"), TERMINAL_PLAIN);
	assert_int_equal(terminal_colours(true, NULL, "truecolor", NULL), TERMINAL_PLAIN);
	assert_int_equal(terminal_colours(true, "1", "truecolor", "xterm-256color"), TERMINAL_PLAIN);
	assert_int_equal(terminal_colours(false, NULL, "truecolor", "xterm-256color"), TERMINAL_PLAIN);
}

static void test_palette(void **state)
{
	(void)state;
	assert_int_equal(terminal_palette((struct rgb){0, 0, 0}), 16);
	assert_int_equal(terminal_palette((struct rgb){255, 255, 255}), 231);
	assert_int_equal(terminal_palette((struct rgb){95, 135, 175}), 16 + 36 + 12 + 3);
	assert_int_equal(terminal_palette((struct rgb){250, 4, 90}), 16 + 36 * 5 + 1);
	assert_int_equal(terminal_palette((struct rgb){8, 8, 8}), 232);
	assert_int_equal(terminal_palette((struct rgb){128, 128, 128}), 244);
	assert_int_equal(terminal_palette((struct rgb){238, 238, 238}), 255);
	assert_int_equal(terminal_palette((struct rgb){240, 238, 239}), 255);
}

/* Every character of a small figure, worked by hand: of nine shades " -:=+*#%@"
 * 0.5 of the top is the fifth, 0.25 the third. */
static void test_plain(void **state)
{
	static const char *const rows[] = {"a", "it"}, *const cols[] = {"x", "yes", "z"};
	struct terminal terminal = {.colours = TERMINAL_PLAIN, .columns = 80};
	struct string_list row_labels = {0}, col_labels = {0};
	struct grid g = make_grid(2, 3);
	struct heatmap_panel panel = {&g, "head 0"};
	struct heatmap_figure figure = {
	    .panels = &panel, .panel_count = 1, .query_labels = &row_labels, .key_labels = &col_labels};
	struct buffer out;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		string_list_add(&row_labels, rows[i]);
	for (size_t i = 0; i < 3; i++)
		string_list_add(&col_labels, cols[i]);
	memcpy(g.values, (float[]){0.8f, 0.4f, 0, 0.2f, 0, 0.1f}, 6 * sizeof(float));
	g.masked[4] = 1;
	g.any_masked = true;
	figure.title = "two";
	draw(&terminal, &figure, &out);
	assert_string_equal(out.data, "two\n"
				      "rows: query, columns: key\n"
				      "\n"
				      " a |@@++  |\n"
				      "it |::\xc2\xb7\xc2\xb7--|\n"
				      "    x y z\n"
				      "      e\n"
				      "      s\n"
				      "\n"
				      "weight |  ----::::====++++****####%%%%@@@|  \xc2\xb7\xc2\xb7 masked\n"
				      "        0      0.2     0.4     0.6    0.8\n");
	buffer_release(&out);

	/* Transposed, with another top and a note. */
	figure.options.transpose = true;
	figure.options.scale_max = 0.4;
	figure.note = "as told";
	draw(&terminal, &figure, &out);
	assert_non_null(strstr(out.data, "rows: key, columns: query\n\n"
					 "  x |@@++|\n"
					 "yes |@@\xc2\xb7\xc2\xb7|\n"
					 "  z |  ::|\n"
					 "     a i\n"
					 "       t\n"));
	assert_non_null(strstr(out.data, "weights above 0.4 (up to 0.8) have the colour of 0.4\nas told\n"));
	buffer_release(&out);
	string_list_release(&row_labels);
	string_list_release(&col_labels);
	free_grid(&g);
}

/* The same figure with numbers; and an error where these do not fit. */
static void test_numbers(void **state)
{
	struct terminal terminal = {.colours = TERMINAL_PLAIN, .columns = 20};
	struct grid g = make_grid(1, 2), wide = make_grid(1, 5);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
	struct attn_error err = {0};
	struct buffer out;

	(void)state;
	memcpy(g.values, (float[]){0.5f, 0.125f}, 2 * sizeof(float));
	figure.options.numbers = HEATMAP_NUMBERS_ON;
	draw(&terminal, &figure, &out);
	assert_non_null(strstr(out.data, "0 | .50 .12|\n"));
	buffer_release(&out);
	panel.grid = &wide;
	assert_int_equal(terminal_draw(&terminal, &figure, &out, &err), ATTN_USAGE);
	assert_non_null(strstr(err.message, "5 cells"));
	free_grid(&g);
	free_grid(&wide);
}

/* Two rows a line: the foreground above, the background below; a masked half is the terminal's
 * own background. */
static void test_halves(void **state)
{
	struct terminal terminal = {.colours = TERMINAL_TRUE, .columns = 40};
	struct grid g = make_grid(3, 30);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
	struct rgb table[256];
	struct buffer out;
	char expected[400];

	(void)state;
	colormap_fill(NULL, BACKGROUND_LIGHT, table, 256);
	g.values[0] = 1;      /* above 0 */
	g.masked[1] = 1;      /* above 1 */
	g.values[30 + 1] = 1; /* equal cells follow */
	g.any_masked = true;
	draw(&terminal, &figure, &out);
	snprintf(expected, sizeof expected,
		 "0 \033[38;2;128;128;128m\xe2\x94\x82"
		 "\033[48;2;255;255;255m\033[38;2;%d;%d;%dm\xe2\x96\x80\033[49m\xe2\x96\x84\033[48;2;255;255;"
		 "255m ",
		 table[255].r, table[255].g, table[255].b);
	assert_non_null(strstr(out.data, expected));
	/* The last row has none below it. */
	assert_non_null(
	    strstr(out.data, "2 \033[38;2;128;128;128m\xe2\x94\x82\033[38;2;255;255;255m\xe2\x96\x80"));
	buffer_release(&out);

	terminal.colours = TERMINAL_256;
	draw(&terminal, &figure, &out);
	assert_non_null(strstr(out.data, "\033[48;5;231m"));
	assert_null(strstr(out.data, ";2;"));
	buffer_release(&out);
	free_grid(&g);
}

/* Remove the escapes that may be there: colours. */
static void strip_colours(char *text)
{
	char *out = text;

	for (char *at = text; *at;) {
		if (*at != '\033') {
			*out++ = *at++;
			continue;
		}
		assert_int_equal(at[1], '[');
		at += 2;
		at += strspn(at, "0123456789;");
		assert_int_equal(*at, 'm');
		at++;
	}
	*out = '\0';
}

static void check_lines(char *text, size_t columns)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(text_width(line) <= columns);
		for (char *c = line; *c; c++)
			assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
	}
}

/* No line is longer than the terminal, and nothing in a label steers it. */
static void test_fits(void **state)
{
	static const char *const tokens[] = {"a",
					     "\033[31mred",
					     "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
					     "",
					     "\xd7\xa9\xd7\x9c",
					     "\xe2\x80\xae"
					     "evil",
					     "\xff",
					     "a very long token, much longer than any label may be",
					     "\xc2\x9b"
					     "31m",
					     "\t\n"};
	static const size_t counts[] = {1, 2, 13, 40, 70, 300};

	(void)state;
	for (size_t n = 0; n < 6 * 6; n++) {
		size_t rows = counts[n / 6], cols = counts[n % 6];
		struct rows_info info = {.shape = {.queries = rows, .keys = cols}};

		for (size_t i = 0; i < rows; i++)
			string_list_add(&info.query_labels, tokens[i % 10]);
		for (size_t i = 0; i < cols; i++)
			string_list_add(&info.key_labels, tokens[n % 2 ? i % 10 : i % 2 * 7]);
		for (size_t k = 0; k < 3 * 4 * 2; k++) {
			struct terminal terminal = {(enum terminal_colours)(k % 3),
						    (const size_t[]){20, 31, 80, 200}[k / 3 % 4], 24};
			size_t panels = k / 12 ? 5 : 1, max_rows, max_cols;
			struct heatmap_panel all[5];
			struct heatmap_figure figure = {.panels = all,
							.panel_count = panels,
							.query_labels = &info.query_labels,
							.key_labels = &info.key_labels,
							.title = "\033]0;title\a and some more words of it",
							.options = {.transpose = n % 5 == 0}};
			struct grid g;
			struct buffer out;

			terminal_limits(&terminal, &info, panels, &figure.options, &max_rows, &max_cols);
			assert_true(max_rows > 0 && max_cols > 0);
			g = make_grid((rows + grid_factor(rows, max_rows) - 1) / grid_factor(rows, max_rows),
				      (cols + grid_factor(cols, max_cols) - 1) / grid_factor(cols, max_cols));
			g.row_factor = grid_factor(rows, max_rows);
			g.col_factor = grid_factor(cols, max_cols);
			g.masked[0] = 1;
			g.any_masked = true;
			for (size_t p = 0; p < panels; p++)
				all[p] = (struct heatmap_panel){&g, p ? "head \xd7\xa9 (a long name)" : NULL};
			draw(&terminal, &figure, &out);
			if (terminal.colours == TERMINAL_PLAIN)
				assert_null(strchr(out.data, '\033'));
			strip_colours(out.data);
			assert_null(strstr(out.data, "\xe2\x80\xae"));
			check_lines(out.data, terminal.columns);
			buffer_release(&out);
			free_grid(&g);
		}
		rows_info_release(&info);
	}
}

/* Right-to-left labels stand between isolates, and are listed instead of stacked. */
static void test_right_to_left(void **state)
{
	struct terminal terminal = {.colours = TERMINAL_PLAIN, .columns = 80};
	struct string_list labels = {0};
	struct grid g = make_grid(2, 2);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {
	    .panels = &panel, .panel_count = 1, .query_labels = &labels, .key_labels = &labels};
	struct buffer out;

	(void)state;
	string_list_add(&labels, "\xd7\xa9\xd7\x9c");
	string_list_add(&labels, "to");
	draw(&terminal, &figure, &out);
	assert_non_null(strstr(out.data, "\n\xe2\x81\xa8\xd7\xa9\xd7\x9c\xe2\x81\xa9 |"));
	assert_non_null(strstr(out.data, "\nto |"));
	assert_non_null(
	    strstr(out.data, "\n    0 1\n\n0 \xe2\x81\xa8\xd7\xa9\xd7\x9c\xe2\x81\xa9  1 to\n\n"));
	buffer_release(&out);
	string_list_release(&labels);
	free_grid(&g);
}

/* With a sign: tenths of the scale's end, which are letters below 0 where there is no room for
 * a minus. */
static void test_signed(void **state)
{
	struct terminal terminal = {.colours = TERMINAL_PLAIN, .columns = 80};
	struct grid g = make_grid(1, 4), wide = make_grid(1, 60);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1, .signed_values = true};
	struct buffer out;

	(void)state;
	memcpy(g.values, (float[]){-0.55f, 0, 0.55f, 1}, 4 * sizeof(float));
	memcpy(wide.values, g.values, 4 * sizeof(float));
	draw(&terminal, &figure, &out);
	assert_non_null(strstr(out.data, "0 |-5 0 5 9|\n"));
	assert_non_null(strstr(out.data, "\n        -1"));
	buffer_release(&out);
	panel.grid = &wide;
	draw(&terminal, &figure, &out);
	assert_non_null(strstr(out.data, "0 |e0590000"));
	assert_non_null(strstr(out.data, "letters those below 0"));
	buffer_release(&out);
	free_grid(&g);
	free_grid(&wide);
}

/* A scale for each panel, and rows of panels that are layers: their titles say so. */
static void test_own_scales(void **state)
{
	struct terminal terminal = {.colours = TERMINAL_PLAIN, .columns = 80};
	struct grid low = make_grid(1, 2), high = make_grid(1, 2);
	struct heatmap_panel panels[2] = {{&low, "head 0"}, {&high, "head 0"}};
	struct string_list layers = {0};
	struct heatmap_figure figure = {.panels = panels,
					.panel_count = 2,
					.row_titles = &layers,
					.options = {.range = HEATMAP_RANGE_HEAD, .panel_columns = 1}};
	struct buffer out;

	(void)state;
	string_list_add(&layers, "layer 3");
	string_list_add(&layers, "layer 4");
	low.values[0] = 0.25f;
	low.values[1] = 0.125f;
	high.values[0] = 1;
	draw(&terminal, &figure, &out);
	assert_non_null(strstr(out.data, "layer 3, head 0"));
	assert_non_null(strstr(out.data, "layer 4, head 0"));
	assert_non_null(strstr(out.data, "0 |@@++| "));
	assert_non_null(strstr(out.data, " |@@  |\n"));
	assert_non_null(strstr(out.data, " largest\neach head has its own scale\n"));
	buffer_release(&out);
	string_list_release(&layers);
	free_grid(&low);
	free_grid(&high);
}

/* Panels side by side as far as they fit; a reduction is told. */
static void test_panels(void **state)
{
	struct terminal terminal = {.colours = TERMINAL_PLAIN, .columns = 40};
	struct grid g = make_grid(1, 5);
	struct heatmap_panel panels[3] = {{&g, "head 0"}, {&g, "head 1"}, {&g, "head 2"}};
	struct heatmap_figure figure = {.panels = panels, .panel_count = 3};
	struct buffer out;

	(void)state;
	g.row_factor = 2;
	g.col_factor = 3;
	for (size_t i = 0; i < 5; i++)
		g.values[i] = 1;
	draw(&terminal, &figure, &out);
	assert_non_null(strstr(out.data, "\n  head 0        head 1\n"
					 "0 |@@@@@@@@@@|  |@@@@@@@@@@|\n"));
	assert_non_null(strstr(out.data, "\n  head 2\n0 |@@@@@@@@@@|\n"));
	assert_non_null(strstr(out.data, "each cell is the maximum of 2 \xc3\x97 3\n"));
	buffer_release(&out);
	free_grid(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_colours),    cmocka_unit_test(test_palette),
	    cmocka_unit_test(test_plain),      cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_halves),     cmocka_unit_test(test_fits),
	    cmocka_unit_test(test_panels),     cmocka_unit_test(test_signed),
	    cmocka_unit_test(test_own_scales), cmocka_unit_test(test_right_to_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
