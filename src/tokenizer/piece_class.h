/* What the classes of tokenizers that have a SentencePiece model differ in, as the transformers library has
 * them. */
#ifndef ATTN_TOKENIZER_PIECE_CLASS_H
#define ATTN_TOKENIZER_PIECE_CLASS_H

#include "tokenizer/folder.h"
#include "tokenizer/sentencepiece.h"
#include "util/buffer.h"

/* Where pieces are in the vocabulary. */
enum arrangement {
	AS_THEY_ARE,
	FAIRSEQ,   /* XLM-R: four tokens in front in place of three, <mask> behind */
	CAMEMBERT, /* the same with five in place of one */
	EXTRA_IDS, /* T5: "<extra_id_99>" to "<extra_id_0>" behind */
	MASK,      /* "[MASK]" behind, where it is no piece */
	MAPPED,    /* Marian: the ids are in vocab.json */
};

/* Templates name roles, and A and B, the texts; ":1" is a type. */
struct piece_class {
	const char *names[5][2]; /* of classes and types of models */
	enum arrangement arrangement;
	const char *single, *pair;
	bool brackets;  /* tokens that no file names are [CLS], not <s> */
	bool eos_asked; /* its eos is there only where "add_eos_token" is true */
	const char *bos, *eos;
};

/* The roles of a class, and what has them where no file says so. */
struct piece_roles {
	struct folder_default items[7];
};

#define PIECE_ROLES (sizeof((struct piece_roles *)0)->items / sizeof(struct folder_default))

/* The class of a folder's tokenizer, or NULL where its files name none that is known. */
const struct piece_class *piece_class_find(const struct folder *f);

struct piece_roles piece_class_roles(const struct piece_class *class);

/* Put the pieces of a model where the class has them, and those that it adds.  `names` is for the texts of
 * these, and must outlive the model. */
enum attn_status piece_class_arrange(const struct piece_class *class, const struct folder *f,
				     struct sentencepiece_model *m, struct buffer *names,
				     struct attn_error *err);

/* Append the class's "post_processor" as a tokenizer.json has it. */
enum attn_status piece_class_write_processor(const struct piece_class *class, const struct folder *f,
					     const struct algorithm *algorithm, struct buffer *out,
					     struct attn_error *err);

#endif
