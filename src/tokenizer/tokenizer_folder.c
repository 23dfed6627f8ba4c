#include "tokenizer/tokenizer_internal.h"

enum attn_status tokenizer_read_wordpiece(struct tokenizer *t, const char *folder, struct attn_error *err)
{ (void)t; (void)folder; return attn_fail(err, ATTN_BAD_INPUT, "not yet"); }
enum attn_status tokenizer_read_bpe(struct tokenizer *t, const char *folder, struct attn_error *err)
{ (void)t; (void)folder; return attn_fail(err, ATTN_BAD_INPUT, "not yet"); }
