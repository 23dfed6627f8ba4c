/* SentencePiece models as tokenizers. */
#include "files/input.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer/tokenizer_internal.h"

enum attn_status tokenizer_parse_sentencepiece(struct tokenizer *t, const void *bytes, size_t length,
					       struct attn_error *err)
{
	struct sentencepiece_model model;
	enum attn_status status = sentencepiece_read(&model, bytes, length, err);
	if (status == ATTN_OK)
		status = sentencepiece_algorithm(&t->algorithm, &model, err);
	if (status == ATTN_OK)
		status = sentencepiece_add_normalizer(&t->normalizers, &model, err);
	sentencepiece_release(&model);
	return status;
}

enum attn_status tokenizer_read_sentencepiece(struct tokenizer *t, const char *path, struct attn_error *err)
{
	struct file_bytes bytes;
	TRY(file_bytes_open(&bytes, path, err));
	enum attn_status status = bytes.length > TOKENIZER_MAX_FILE
				      ? attn_fail(err, ATTN_BAD_INPUT, "%zu bytes, expected at most %zu",
						  bytes.length, TOKENIZER_MAX_FILE)
				      : tokenizer_parse_sentencepiece(t, bytes.data, bytes.length, err);
	file_bytes_release(&bytes);
	if (status != ATTN_OK)
		attn_error_prefix(err, path);
	return status;
}
