/* Decoders of GPT-2 and Llama, whose norms stand before attention and the feed-forward layer.
 *
 * Radford et al. 2019 (GPT-2); Touvron et al. 2023 (Llama, also SmolLM); Jiang et al. 2023
 * (Mistral); Yang et al. 2024 (Qwen2); Yang et al. 2025 (Qwen3).  Sizes that a config.json
 * leaves out are those of the library that wrote it.
 */
#include "model/architecture.h"
#include "model/config.h"
#include "model/family.h"
#include "util/memory.h"

static enum attn_status adjust_gpt2(struct architecture *a, const struct config *c, struct attn_error *err)
{
	bool scaled;
	TRY(config_bool(c, "scale_attn_weights", true, &scaled, err));
	if (!scaled)
		a->scale = 1;
	return config_bool(c, "scale_attn_by_inverse_layer_idx", false, &a->scale_by_layer, err);
}

static const struct family gpt2 = {
    .title = "GPT-2",
    .model_types = {"gpt2"},
    .causal = true,
    .layers = {"n_layer", 12},
    .width = {"n_embd", 768},
    .heads = {"n_head", 12},
    .inner = {"n_inner", 0},
    .positions = {"n_positions", 1024},
    .eps = {"layer_norm_epsilon", 1e-5},
    .activation = {"activation_function", "gelu_new"},
    .tied = true,
    .norm = MODEL_LAYER_NORM,
    .order = RESIDUAL_PRE,
    .scheme = POSITIONS_LEARNED,
    .layout = BY_INPUT,
    .attention_bias = BIAS_ALWAYS,
    .output_bias = BIAS_ALWAYS,
    .mlp_bias = BIAS_ALWAYS,
    .names =
	{
	    .words = "wte",
	    .positions = "wpe",
	    .attention_norm = "h.{i}.ln_1",
	    .fused = "h.{i}.attn.c_attn",
	    .output = "h.{i}.attn.c_proj",
	    .mlp_norm = "h.{i}.ln_2",
	    .up = "h.{i}.mlp.c_fc",
	    .down = "h.{i}.mlp.c_proj",
	    .final_norm = "ln_f",
	    .head = "lm_head",
	},
    .adjust = adjust_gpt2,
};

#define LLAMA_NAMES                                                                                          \
	.words = "embed_tokens", .attention_norm = "layers.{i}.input_layernorm",                             \
	.query = "layers.{i}.self_attn.q_proj", .key = "layers.{i}.self_attn.k_proj",                        \
	.value = "layers.{i}.self_attn.v_proj", .output = "layers.{i}.self_attn.o_proj",                     \
	.mlp_norm = "layers.{i}.post_attention_layernorm", .gate = "layers.{i}.mlp.gate_proj",               \
	.up = "layers.{i}.mlp.up_proj", .down = "layers.{i}.mlp.down_proj", .final_norm = "norm",            \
	.head = "lm_head"

#define LLAMA_CHOICES                                                                                        \
	.causal = true, .norm = MODEL_RMS_NORM, .order = RESIDUAL_PRE, .scheme = POSITIONS_ROTARY,           \
	.layout = BY_OUTPUT, .eps = {"rms_norm_eps", 1e-6}, .activation = {"hidden_act", "silu"},            \
	.layers = {"num_hidden_layers", 32}, .width = {"hidden_size", 4096},                                 \
	.heads = {"num_attention_heads", 32}

static const struct family llama = {
    .title = "Llama",
    .model_types = {"llama"},
    LLAMA_CHOICES,
    .kv_heads = {"num_key_value_heads", 0},
    .head_size = {"head_dim", 0},
    .inner = {"intermediate_size", 11008},
    .positions = {"max_position_embeddings", 2048},
    .attention_bias = BIAS_BY_KEY,
    .output_bias = BIAS_BY_KEY,
    .attention_bias_key = "attention_bias",
    .mlp_bias = BIAS_BY_KEY,
    .mlp_bias_key = "mlp_bias",
    .names = {LLAMA_NAMES},
};

/* Each layer has the window, which a config.json switches off by null. */
static enum attn_status adjust_mistral(struct architecture *a, const struct config *c, struct attn_error *err)
{
	if (config_is_null(c, "sliding_window"))
		return ATTN_OK;
	TRY(config_size(c, "sliding_window", 4096, 1, CONFIG_SIZE_MAX, &a->window, err));
	return architecture_slide(a, c, slides_from, 0, err);
}

static const struct family mistral = {
    .title = "Mistral",
    .model_types = {"mistral"},
    LLAMA_CHOICES,
    .kv_heads = {"num_key_value_heads", 8},
    .head_size = {"head_dim", 0},
    .inner = {"intermediate_size", 14336},
    .positions = {"max_position_embeddings", 131072},
    .names = {LLAMA_NAMES},
    .adjust = adjust_mistral,
};

/* Layers from max_window_layers on have the window, if it is used at all. */
static enum attn_status adjust_qwen2(struct architecture *a, const struct config *c, struct attn_error *err)
{
	bool used;
	size_t first;
	TRY(config_bool(c, "use_sliding_window", false, &used, err));
	TRY(config_size(c, "max_window_layers", 28, 0, CONFIG_SIZE_MAX, &first, err));
	if (!used || config_is_null(c, "sliding_window"))
		return ATTN_OK;
	TRY(config_size(c, "sliding_window", 4096, 1, CONFIG_SIZE_MAX, &a->window, err));
	return architecture_slide(a, c, slides_from, first, err);
}

static const struct family qwen2 = {
    .title = "Qwen2",
    .model_types = {"qwen2"},
    LLAMA_CHOICES,
    .kv_heads = {"num_key_value_heads", 32},
    .head_size = {"head_dim", 0},
    .inner = {"intermediate_size", 22016},
    .positions = {"max_position_embeddings", 32768},
    .attention_bias = BIAS_ALWAYS,
    .names = {LLAMA_NAMES},
    .adjust = adjust_qwen2,
};

static const struct family qwen3 = {
    .title = "Qwen3",
    .model_types = {"qwen3"},
    LLAMA_CHOICES,
    .kv_heads = {"num_key_value_heads", 32},
    .head_size = {"head_dim", 128},
    .inner = {"intermediate_size", 22016},
    .positions = {"max_position_embeddings", 32768},
    .attention_bias = BIAS_BY_KEY,
    .output_bias = BIAS_BY_KEY,
    .attention_bias_key = "attention_bias",
    .names = {LLAMA_NAMES, .query_norm = "layers.{i}.self_attn.q_norm",
	      .key_norm = "layers.{i}.self_attn.k_norm"},
    .adjust = adjust_qwen2,
};

/* Each token takes a few of the experts, whose shares then add up to 1. */
static enum attn_status adjust_mixtral(struct architecture *a, const struct config *c, struct attn_error *err)
{
	TRY(config_size(c, "num_local_experts", 8, 1, 100000, &a->experts, err));
	TRY(config_size(c, "num_experts_per_tok", 2, 1, a->experts, &a->token_experts, err));
	a->expert_inner = a->inner;
	a->normalised_experts = true;
	if (!config_has(c, "sliding_window"))
		return ATTN_OK;
	TRY(config_size(c, "sliding_window", 4096, 1, CONFIG_SIZE_MAX, &a->window, err));
	return architecture_slide(a, c, slides_from, 0, err);
}

static const struct family mixtral = {
    .title = "Mixtral",
    .model_types = {"mixtral"},
    LLAMA_CHOICES,
    .kv_heads = {"num_key_value_heads", 8},
    .head_size = {"head_dim", 0},
    .inner = {"intermediate_size", 14336},
    .positions = {"max_position_embeddings", 131072},
    .rotary_base = {NULL, 1000000},
    .names = {LLAMA_NAMES, .router = "layers.{i}.block_sparse_moe.gate",
	      .expert_gate = "layers.{i}.block_sparse_moe.experts.{e}.w1",
	      .expert_up = "layers.{i}.block_sparse_moe.experts.{e}.w3",
	      .expert_down = "layers.{i}.block_sparse_moe.experts.{e}.w2"},
    .adjust = adjust_mixtral,
};

/* Some layers may have one feed-forward layer for all tokens. */
static enum attn_status adjust_qwen3_moe(struct architecture *a, const struct config *c,
					 struct attn_error *err)
{
	size_t step, listed = config_list(c, "mlp_only_layers");
	TRY(config_size(c, "num_experts", 128, 1, 100000, &a->experts, err));
	TRY(config_size(c, "num_experts_per_tok", 8, 1, a->experts, &a->token_experts, err));
	TRY(config_size(c, "moe_intermediate_size", 768, 1, CONFIG_SIZE_MAX, &a->expert_inner, err));
	TRY(config_size(c, "decoder_sparse_step", 1, 1, CONFIG_LAYERS_MAX, &step, err));
	TRY(config_bool(c, "norm_topk_prob", false, &a->normalised_experts, err));
	a->dense = array_alloc(a->layers, sizeof *a->dense);
	if (!a->dense)
		return attn_fail_memory(err);
	for (size_t i = 0; i < a->layers; i++) {
		a->dense[i] = (i + 1) % step != 0;
		for (size_t k = 0; k < listed; k++)
			a->dense[i] |= config_list_number(c, "mlp_only_layers", k) == (double)i;
	}
	return adjust_qwen2(a, c, err);
}

static const struct family qwen3_moe = {
    .title = "Qwen3 with experts",
    .model_types = {"qwen3_moe"},
    LLAMA_CHOICES,
    .kv_heads = {"num_key_value_heads", 4},
    .head_size = {"head_dim", 0},
    .inner = {"intermediate_size", 6144},
    .positions = {"max_position_embeddings", 32768},
    .attention_bias = BIAS_BY_KEY,
    .output_bias = BIAS_BY_KEY,
    .attention_bias_key = "attention_bias",
    .names = {LLAMA_NAMES, .query_norm = "layers.{i}.self_attn.q_norm",
	      .key_norm = "layers.{i}.self_attn.k_norm", .router = "layers.{i}.mlp.gate",
	      .expert_gate = "layers.{i}.mlp.experts.{e}.gate_proj",
	      .expert_up = "layers.{i}.mlp.experts.{e}.up_proj",
	      .expert_down = "layers.{i}.mlp.experts.{e}.down_proj"},
    .adjust = adjust_qwen3_moe,
};

const struct family *const decoder_families[] = {&gpt2,  &llama,   &mistral,   &qwen2,
						 &qwen3, &mixtral, &qwen3_moe, NULL};
