/* GGUF files as families read them. */
#ifndef ATTN_MODEL_GGUF_INTERNAL_H
#define ATTN_MODEL_GGUF_INTERNAL_H

#include "model/weights_internal.h"

#define GGUF_ARCHITECTURE "general.architecture"

/* Add to the keys of a file the settings of a family's config.json, where the architecture is that of
 * a family.  *cp has its tensors. */
enum attn_status gguf_translate(const struct checkpoint *cp, const struct gguf *gguf, cJSON *tree,
				struct attn_error *err);

/* What a family's tensor is called in a file; false: it has none such. */
bool gguf_tensor_name(const char *architecture, const char *name, char *text, size_t size);

#endif
