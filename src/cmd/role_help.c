/* What --help says, and attn help roles: of settings, from their table. */
#include <stdio.h>
#include <string.h>

#include "cmd/model_options.h"
#include "cmd/options.h"
#include "cmd/ranking_output.h"

enum {
	TEXT_AT = 26, /* the column of what an option means */
	WIDTH = 80
};

/* The words of `text`, in lines from TEXT_AT on; the first begins at column `column`. */
static void add_wrapped(struct buffer *out, const char *text, int column)
{
	const char *separator = "";
	while (*text) {
		int length = (int)strcspn(text, " ");
		if (column + (int)strlen(separator) + length > WIDTH) {
			buffer_printf(out, "\n%*s", TEXT_AT, "");
			column = TEXT_AT;
			separator = "";
		}
		buffer_printf(out, "%s%.*s", separator, length, text);
		column += (int)strlen(separator) + length;
		separator = " ";
		text += length;
		text += *text == ' ';
	}
	buffer_add_char(out, '\n');
}

/* "the score function: dot or cosine [dot]". */
static void add_meaning(struct buffer *out, const struct role *role)
{
	buffer_add_string(out, role->meaning);
	if (role->kind == KIND_CHOICE) {
		buffer_add_string(out, ": ");
		for (const char *c = role->form; *c; c++)
			if (*c != '\'')
				buffer_add_char(out, *c);
	}
	if (role->preset)
		buffer_printf(out, " [%s]", role->preset);
}

/* "--num-heads N", "--causal[=BOOL]", or nothing where the role has no option. */
static void option_text(const struct role *role, char *text, size_t size)
{
	char name[ROLE_NAME];
	text[0] = '\0';
	if (!role->option)
		return;
	role_option(role, name);
	snprintf(text, size, "--%s%s%s", name, role->kind == KIND_BOOL ? "[=BOOL]" : " ", role->option);
}

/* `left`, and `text` in a column beside it, or below where `left` is long. */
static void add_entry(struct buffer *out, const char *left, const struct buffer *text)
{
	if (strlen(left) < TEXT_AT)
		buffer_printf(out, "%-*s", TEXT_AT, left);
	else
		buffer_printf(out, "%s\n%*s", left, TEXT_AT, "");
	if (text->failed)
		out->failed = true;
	else
		add_wrapped(out, text->data, TEXT_AT);
}

static void add_option(struct buffer *out, const struct role *role)
{
	char option[2 * ROLE_NAME], left[3 * ROLE_NAME];
	struct buffer meaning = BUFFER_INIT;
	option_text(role, option, sizeof option);
	snprintf(left, sizeof left, "      %s", option);
	add_meaning(&meaning, role);
	add_entry(out, left, &meaning);
	buffer_release(&meaning);
}

static void add_group(struct buffer *out, bool variants)
{
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++)
		if (roles[id].option && roles[id].variant == variants)
			add_option(out, &roles[id]);
}

/* The settings of a command that takes an INPUT: options that follow its own. */
static void add_setting_usage(struct buffer *text)
{
	buffer_add_string(text, "Attention (override what files say):\n");
	add_group(text, false);
	buffer_add_string(text,
			  "\nAttention variants, with their formulas in attn-attention(7); X... is one\n"
			  "number, or one for each head with commas between:\n");
	add_group(text, true);
}

enum attn_status print_usage(const struct command *self, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	buffer_add_string(&text, self->usage);
	if (self->usage_end) {
		buffer_printf(&text, "%s\n", model_usage);
		add_setting_usage(&text);
		buffer_printf(&text, "\n%s", self->usage_end);
	}
	enum attn_status status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}

static void add_role_line(struct buffer *out, const struct role *role)
{
	static const char *const kinds[] = {
	    [KIND_TENSOR] = "tensor",   [KIND_RESULT] = "result",
	    [KIND_TEXT] = "text",       [KIND_PER_HEAD] = "tensor,setting",
	    [KIND_SETTING] = "setting", [KIND_PAIR] = "setting",
	    [KIND_BOOL] = "setting",    [KIND_CHOICE] = "setting",
	};
	char option[2 * ROLE_NAME];
	option_text(role, option, sizeof option);
	buffer_printf(out, "%s\t%s\t%s\t%s", role->name, kinds[role->kind], role->form, role->meaning);
	if (role->preset)
		buffer_printf(out, " [%s]", role->preset);
	buffer_printf(out, "\t%s\n", option);
}

static void add_role_text(struct buffer *out, const struct role *role)
{
	struct buffer text = BUFFER_INIT;
	buffer_printf(&text, "%s; %s", role->meaning, role->form);
	if (role->preset)
		buffer_printf(&text, " [%s]", role->preset);
	add_entry(out, role->name, &text);
	buffer_release(&text);
}

enum attn_status print_roles(const struct command *self, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	bool for_people = table_format_settle(TABLE_DEFAULT) == TABLE_TEXT;
	if (!for_people)
		buffer_add_string(&text, "name\tkind\tform\tmeaning\toption\n");
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++) {
		if (for_people)
			add_role_text(&text, &roles[id]);
		else
			add_role_line(&text, &roles[id]);
	}
	enum attn_status status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}
