/* What to call an input in titles. */
#include <string.h>

#include "cmd/input_names.h"

/* The name of an operand's file: what stands after its last slash, and before its tensor. */
static void add_file_name(struct buffer *name, const char *operand)
{
	const char *equals = strchr(operand, '=');
	const char *file = equals && !memchr(operand, '/', (size_t)(equals - operand)) ? equals + 1 : operand;
	const char *slash = strrchr(file, '/');
	if (slash && slash[1])
		file = slash + 1;
	const char *colon = equals ? strchr(file, ':') : NULL;
	if (strcmp(file, "-") == 0)
		buffer_add_string(name, "standard input");
	else
		buffer_add(name, file, colon ? (size_t)(colon - file) : strlen(file));
}

/* "bert" of "models/bert/". */
static void add_folder_name(struct buffer *name, const char *path)
{
	size_t end = strlen(path);
	while (end > 1 && path[end - 1] == '/')
		end--;
	size_t start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	buffer_add(name, path + start, end - start);
	buffer_add(name, "", 0);
}

bool input_names(const struct inputs *in, struct string_list *names)
{
	struct buffer name = BUFFER_INIT;
	bool ok = true;
	for (int i = 0; i < in->operand_count && ok; i++) {
		bool known = false;
		buffer_clear(&name);
		add_file_name(&name, in->operands[i]);
		buffer_add(&name, "", 0);
		ok = !name.failed;
		for (size_t n = 0; n < names->count && ok; n++)
			known |= strcmp(names->items[n], name.data) == 0;
		if (ok && !known)
			ok = string_list_add(names, name.data);
	}
	if (in->model_options.model) {
		buffer_clear(&name);
		add_folder_name(&name, in->model_options.model);
		ok = ok && !name.failed && string_list_add(names, name.data);
	}
	buffer_release(&name);
	return ok;
}

void input_text_start(struct buffer *title, const char *text)
{
	enum {
		MOST = 80
	};
	size_t length = strcspn(text, "\n"), end = length;
	if (length > MOST)
		for (end = MOST; end > MOST / 2 && text[end] != ' '; end--)
			;
	if (length > MOST && text[end] != ' ')
		return; /* nowhere to cut */
	buffer_printf(title, ": %.*s%s", (int)end, text, end < strlen(text) ? " ..." : "");
}
