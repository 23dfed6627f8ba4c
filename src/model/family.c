#include "model/family.h"

#include <string.h>

static const struct family *const *const tables[] = {encoder_families, decoder_families,    relative_families,
						     older_families,   translator_families, vision_families};

enum {
	TABLES = sizeof tables / sizeof *tables,
	TYPES = sizeof((struct family *)0)->model_types / sizeof(char *),
};

const struct family *family_find(const char *model_type)
{
	for (size_t t = 0; t < TABLES; t++)
		for (const struct family *const *f = tables[t]; *f; f++)
			for (size_t i = 0; i < TYPES && (*f)->model_types[i]; i++)
				if (strcmp((*f)->model_types[i], model_type) == 0)
					return *f;
	return NULL;
}

const char *family_type(size_t index)
{
	for (size_t t = 0; t < TABLES; t++)
		for (const struct family *const *f = tables[t]; *f; f++)
			for (size_t i = 0; i < TYPES && (*f)->model_types[i]; i++)
				if (index-- == 0)
					return (*f)->model_types[i];
	return NULL;
}

const char *family_kind(const struct family *family)
{
	return family->kind ? family->kind : family->causal ? "decoder" : "encoder";
}

const char *family_refusal(const char *model_type)
{
	static const struct {
		const char *type, *why;
	} known[] = {
	    {"qwen2_moe", "has a mixture of experts"},
	    {"gpt_oss", "has a mixture of experts"},
	    {"deepseek_v2", "has a mixture of experts"},
	    {"deepseek_v3", "has a mixture of experts"},
	    {"olmoe", "has a mixture of experts"},
	    {"umt5", "has biases by distance in each layer"},
	    {"pegasus", "is an encoder and a decoder"},
	    {"whisper", "is an encoder and a decoder"},
	    {"swin", "attends within windows of patches that move from layer to layer"},
	    {"beit", "has biases by distance of patches"},
	    {"dinov2_with_registers", "has registers"},
	    {"deberta", "has scores of three parts"},
	    {"deberta-v2", "has scores of three parts"},
	    {"mamba", "has no attention"},
	    {"rwkv", "has no attention"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].type, model_type) == 0)
			return known[i].why;
	return NULL;
}
