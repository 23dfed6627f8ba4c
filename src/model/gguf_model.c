/* What a GGUF file calls its settings and tensors, in the words of the families: those of the folder
 * that the file was converted from (constants.py and tensor_mapping.py of gguf-py).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/gguf_internal.h"
#include "util/memory.h"

struct pair {
	const char *ours, *theirs;
};

/* An architecture, that of a family. */
struct known {
	const char *architecture; /* and model_type */
	const struct pair *keys;  /* theirs behind "ARCHITECTURE."; they end with NULL */
	const struct pair *names; /* of tensors, without ".weight" and ".bias" */
	bool interleaved;         /* rows of q and k are in the order that pairs (2c, 2c + 1) need */
};

static const struct pair llama_keys[] = {
    {"num_hidden_layers", "block_count"},
    {"hidden_size", "embedding_length"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"intermediate_size", "feed_forward_length"},
    {"max_position_embeddings", "context_length"},
    {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
    {"rope_theta", "rope.freq_base"},
    {"vocab_size", "vocab_size"},
    {NULL, NULL},
};

static const struct pair llama_names[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
    {"layers.{i}.input_layernorm", "blk.{i}.attn_norm"},
    {"layers.{i}.post_attention_layernorm", "blk.{i}.ffn_norm"},
    {"layers.{i}.self_attn.q_proj", "blk.{i}.attn_q"},
    {"layers.{i}.self_attn.k_proj", "blk.{i}.attn_k"},
    {"layers.{i}.self_attn.v_proj", "blk.{i}.attn_v"},
    {"layers.{i}.self_attn.o_proj", "blk.{i}.attn_output"},
    {"layers.{i}.self_attn.q_norm", "blk.{i}.attn_q_norm"},
    {"layers.{i}.self_attn.k_norm", "blk.{i}.attn_k_norm"},
    {"layers.{i}.mlp.gate_proj", "blk.{i}.ffn_gate"},
    {"layers.{i}.mlp.up_proj", "blk.{i}.ffn_up"},
    {"layers.{i}.mlp.down_proj", "blk.{i}.ffn_down"},
    {NULL, NULL},
};

static const struct pair gpt2_keys[] = {
    {"n_layer", "block_count"},
    {"n_embd", "embedding_length"},
    {"n_head", "attention.head_count"},
    {"n_inner", "feed_forward_length"},
    {"n_positions", "context_length"},
    {"layer_norm_epsilon", "attention.layer_norm_epsilon"},
    {NULL, NULL},
};

static const struct pair gpt2_names[] = {
    {"wte", "token_embd"},
    {"wpe", "position_embd"},
    {"ln_f", "output_norm"},
    {"lm_head", "output"},
    {"h.{i}.ln_1", "blk.{i}.attn_norm"},
    {"h.{i}.attn.c_attn", "blk.{i}.attn_qkv"},
    {"h.{i}.attn.c_proj", "blk.{i}.attn_output"},
    {"h.{i}.ln_2", "blk.{i}.ffn_norm"},
    {"h.{i}.mlp.c_fc", "blk.{i}.ffn_up"},
    {"h.{i}.mlp.c_proj", "blk.{i}.ffn_down"},
    {NULL, NULL},
};

static const struct pair bert_keys[] = {
    {"num_hidden_layers", "block_count"},
    {"hidden_size", "embedding_length"},
    {"num_attention_heads", "attention.head_count"},
    {"intermediate_size", "feed_forward_length"},
    {"max_position_embeddings", "context_length"},
    {"layer_norm_eps", "attention.layer_norm_epsilon"},
    {NULL, NULL},
};

#define BERT_LAYER(name) "encoder.layer.{i}." name

static const struct pair bert_names[] = {
    {"embeddings.word_embeddings", "token_embd"},
    {"embeddings.position_embeddings", "position_embd"},
    {"embeddings.token_type_embeddings", "token_types"},
    {"embeddings.LayerNorm", "token_embd_norm"},
    {BERT_LAYER("attention.self.query"), "blk.{i}.attn_q"},
    {BERT_LAYER("attention.self.key"), "blk.{i}.attn_k"},
    {BERT_LAYER("attention.self.value"), "blk.{i}.attn_v"},
    {BERT_LAYER("attention.output.dense"), "blk.{i}.attn_output"},
    {BERT_LAYER("attention.output.LayerNorm"), "blk.{i}.attn_output_norm"},
    {BERT_LAYER("intermediate.dense"), "blk.{i}.ffn_up"},
    {BERT_LAYER("output.dense"), "blk.{i}.ffn_down"},
    {BERT_LAYER("output.LayerNorm"), "blk.{i}.layer_output_norm"},
    {NULL, NULL},
};

static const struct known architectures[] = {
    {"llama", llama_keys, llama_names, true},  {"qwen2", llama_keys, llama_names, false},
    {"qwen3", llama_keys, llama_names, false}, {"gpt2", gpt2_keys, gpt2_names, false},
    {"bert", bert_keys, bert_names, false},
};

static const struct known *find_known(const char *architecture)
{
	for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
		if (strcmp(architectures[i].architecture, architecture) == 0)
			return &architectures[i];
	return NULL;
}

/* --- tensors --------------------------------------------------------------------------- */

/* Whether `name` begins with `pattern`, in which {i} is any number: *i, and what follows, *rest. */
static bool matches(const char *name, const char *pattern, unsigned long *i, const char **rest)
{
	while (*pattern) {
		if (*pattern == '{') {
			char *end;
			if (*name < '0' || *name > '9')
				return false;
			*i = strtoul(name, &end, 10);
			name = end;
			pattern += 3;
		} else if (*name++ != *pattern++) {
			return false;
		}
	}
	*rest = name;
	return strcmp(name, ".weight") == 0 || strcmp(name, ".bias") == 0;
}

bool gguf_tensor_name(const char *architecture, const char *name, char *text, size_t size)
{
	const struct known *known = find_known(architecture);
	for (const struct pair *p = known ? known->names : NULL; p && p->ours; p++) {
		unsigned long i = 0;
		const char *rest;
		if (!matches(name, p->ours, &i, &rest))
			continue;
		const char *hole = strchr(p->theirs, '{');
		int length = hole ? snprintf(text, size, "%.*s%lu%s%s", (int)(hole - p->theirs), p->theirs, i,
					     hole + 3, rest)
				  : snprintf(text, size, "%s%s", p->theirs, rest);
		return length < (int)size;
	}
	return false;
}

/* --- settings -------------------------------------------------------------------------- */

struct translation {
	const struct checkpoint *cp; /* with its tensors */
	const struct gguf *gguf;
	const char *architecture;
	cJSON *tree;
	struct attn_error *err;
};

/* A number among the architecture's keys, or `fallback`. */
static double key_number(const struct translation *t, const char *name, double fallback)
{
	char key[160];
	snprintf(key, sizeof key, "%.60s.%s", t->architecture, name);
	const struct gguf_pair *p = gguf_pair(t->gguf, key);
	return p && !p->array && p->kind != GGUF_TEXT ? gguf_number(p, 0) : fallback;
}

/* Whether its value is that text. */
static bool key_is(const struct translation *t, const char *name, const char *expected)
{
	char key[160];
	const char *text;
	size_t length;
	snprintf(key, sizeof key, "%.60s.%s", t->architecture, name);
	const struct gguf_pair *p = gguf_pair(t->gguf, key);
	if (!p || p->array || p->kind != GGUF_TEXT)
		return false;
	gguf_text(p->data, &text, &length);
	return length == strlen(expected) && memcmp(text, expected, length) == 0;
}

static bool put_number(cJSON *object, const char *key, double value)
{
	return cJSON_AddNumberToObject(object, key, value);
}

/* A number that the file may have, under another name. */
static bool move_number(const struct translation *t, cJSON *object, const char *key, const char *theirs)
{
	double value = key_number(t, theirs, NAN);
	return isnan(value) || put_number(object, key, value);
}

static const struct model_tensor *tensor(const struct translation *t, const char *name)
{
	const struct place *p = checkpoint_place(t->cp, name);
	return p ? &p->tensor : NULL;
}

/* Rows of a table, where there is one. */
static bool put_rows(const struct translation *t, const char *key, const char *name)
{
	const struct model_tensor *table = tensor(t, name);
	return !table || table->rank != 2 || put_number(t->tree, key, (double)table->shape[0]);
}

enum {
	MAX_DIVISORS = 4096 /* dimensions of a head are fewer */
};

/* The divisors of the frequencies, which stand for any scaling of them: longrope with one list for all
 * lengths. */
static enum attn_status add_divisors(const struct translation *t, const struct model_tensor *divisors)
{
	TRY(model_tensor_check_type(divisors, t->err));
	if (divisors->count > MAX_DIVISORS)
		return attn_fail(t->err, ATTN_BAD_INPUT,
				 "'%.300s': '%s' has %zu numbers, expected at most %d", divisors->origin,
				 divisors->name, divisors->count, MAX_DIVISORS);
	float *values = array_alloc(divisors->count, sizeof *values);
	cJSON *rope = cJSON_AddObjectToObject(t->tree, "rope_scaling");
	enum attn_status status = values && rope
				      ? model_tensor_floats(divisors, 0, divisors->count, values, t->err)
				      : attn_fail_memory(t->err);
	static const char *const lists[] = {"short_factor", "long_factor"};
	bool ok = status == ATTN_OK && cJSON_AddStringToObject(rope, "rope_type", "longrope") &&
		  put_number(rope, "attention_factor", 1);
	for (size_t i = 0; i < 2 && ok; i++) {
		cJSON *list = cJSON_AddArrayToObject(rope, lists[i]);
		ok = list;
		for (size_t c = 0; c < divisors->count && ok; c++) {
			cJSON *item = cJSON_CreateNumber((double)values[c]);
			ok = item && cJSON_AddItemToArray(list, item);
		}
	}
	free(values);
	return status == ATTN_OK && !ok ? attn_fail_memory(t->err) : status;
}

static bool add_scaling(const struct translation *t)
{
	double factor = key_number(t, "rope.scaling.factor", 1),
	       by = key_number(t, "rope.scaling.attn_factor", 1);
	bool yarn = key_is(t, "rope.scaling.type", "yarn");
	if (!yarn && !key_is(t, "rope.scaling.type", "linear"))
		return true;
	cJSON *rope = cJSON_AddObjectToObject(t->tree, "rope_scaling");
	if (!rope || !cJSON_AddStringToObject(rope, "rope_type", yarn ? "yarn" : "linear") ||
	    !put_number(rope, "factor", factor))
		return false;
	if (yarn && factor > 1 && !put_number(rope, "attention_factor", by * (0.1 * log(factor) + 1)))
		return false;
	return !yarn || (move_number(t, rope, "original_max_position_embeddings",
				     "rope.scaling.original_context_length") &&
			 move_number(t, rope, "beta_fast", "rope.scaling.yarn_beta_fast") &&
			 move_number(t, rope, "beta_slow", "rope.scaling.yarn_beta_slow"));
}

/* How heads are rotated. */
static enum attn_status add_rope(const struct translation *t, const struct known *known)
{
	const struct model_tensor *divisors = tensor(t, "rope_freqs.weight");
	double heads = key_number(t, "attention.head_count", 1), width = key_number(t, "embedding_length", 0);
	double size = key_number(t, "attention.key_length", width / heads);
	double rotated = key_number(t, "rope.dimension_count", size);
	bool ok = cJSON_AddBoolToObject(t->tree, "rope_interleaved", known->interleaved);
	if (ok && rotated != size && size > 0)
		ok = put_number(t->tree, "partial_rotary_factor", rotated / size);
	if (ok && divisors)
		return add_divisors(t, divisors);
	return ok && add_scaling(t) ? ATTN_OK : attn_fail_memory(t->err);
}

/* The model_type that the architecture stands for. */
static const char *type_of(const struct translation *t)
{
	if (strcmp(t->architecture, "llama") != 0)
		return t->architecture;
	return key_number(t, "expert_count", 0) > 0               ? "mixtral"
	       : key_number(t, "attention.sliding_window", 0) > 0 ? "mistral"
								  : "llama";
}

static bool add_settings(const struct translation *t, const struct known *known)
{
	bool ok = cJSON_AddStringToObject(t->tree, "model_type", type_of(t));
	for (const struct pair *p = known->keys; p->ours && ok; p++)
		ok = move_number(t, t->tree, p->ours, p->theirs);
	return ok && cJSON_AddBoolToObject(t->tree, "tie_word_embeddings", !tensor(t, "output.weight")) &&
	       cJSON_AddBoolToObject(t->tree, "attention_bias", tensor(t, "blk.0.attn_q.bias") != NULL) &&
	       cJSON_AddBoolToObject(t->tree, "mlp_bias", tensor(t, "blk.0.ffn_up.bias") != NULL) &&
	       move_number(t, t->tree, "sliding_window", "attention.sliding_window") &&
	       put_rows(t, "type_vocab_size", "token_types.weight");
}

enum attn_status gguf_translate(const struct checkpoint *cp, const struct gguf *gguf, cJSON *tree,
				struct attn_error *err)
{
	const cJSON *item = tree->child;
	while (item && strcmp(item->string, GGUF_ARCHITECTURE) != 0)
		item = item->next;
	if (!cJSON_IsString(item))
		return ATTN_OK;
	const struct translation t = {cp, gguf, item->valuestring, tree, err};
	const struct known *known = find_known(t.architecture);
	if (!known) { /* a family's own file of that name has other settings */
		char type[100];
		snprintf(type, sizeof type, "%.80s of GGUF", t.architecture);
		return cJSON_AddStringToObject(tree, "model_type", type) ? ATTN_OK : attn_fail_memory(err);
	}
	if (!add_settings(&t, known))
		return attn_fail_memory(err);
	return known->keys == llama_keys ? add_rope(&t, known) : ATTN_OK;
}
