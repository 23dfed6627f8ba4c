/* Dependency trees: CoNLL-U, the format of Universal Dependencies
 * (https://universaldependencies.org/format.html). */
#ifndef ATTN_FILES_CONLLU_H
#define ATTN_FILES_CONLLU_H

#include <stddef.h>

#include "util/error.h"
#include "util/strings.h"

/* A word of a tree.  Words that are one in the text ("du" for "de le") share its form. */
struct conllu_word {
	size_t sentence, line; /* from 0, from 1 */
	size_t surface;        /* number of the form in `forms` */
	size_t head;           /* number of the word in `words`, or SIZE_MAX for a root or none */
	size_t relation;       /* number of its DEPREL in `relations` */
};

struct conllu {
	struct conllu_word *words; /* owned */
	size_t count, room;
	struct string_list forms;     /* of the text, in order */
	struct string_list relations; /* each once, in the order of the file */
};

/* Parse text[length].  ATTN_BAD_INPUT says in which line: fewer than eight columns, an id out of order,
 * a head beyond its sentence. */
enum attn_status conllu_parse(struct conllu *out, const char *text, size_t length, struct attn_error *err);
void conllu_release(struct conllu *c); /* safe on a zeroed one */

#endif
