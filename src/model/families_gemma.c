/* Relatives of Llama whose norms, positions or scores are others.
 *
 * Gemma Team 2024 (Gemma, Gemma 2); Gemma Team 2025 (Gemma 3); Abdin et al. 2024 (Phi-3); Team OLMo
 * 2025 (OLMo 2); Bakouch et al. 2025 (SmolLM3).
 */
#include <math.h>

#include "model/architecture.h"
#include "model/config.h"
#include "model/family.h"
#include "util/memory.h"

#define RELATIVE_NAMES                                                                                       \
	.words = "embed_tokens", .query = "layers.{i}.self_attn.q_proj",                                     \
	.key = "layers.{i}.self_attn.k_proj", .value = "layers.{i}.self_attn.v_proj",                        \
	.output = "layers.{i}.self_attn.o_proj", .down = "layers.{i}.mlp.down_proj", .final_norm = "norm",   \
	.head = "lm_head"

#define GATES .gate = "layers.{i}.mlp.gate_proj", .up = "layers.{i}.mlp.up_proj"

#define RELATIVE_CHOICES                                                                                     \
	.causal = true, .order = RESIDUAL_PRE, .scheme = POSITIONS_ROTARY, .layout = BY_OUTPUT,              \
	.layers = {"num_hidden_layers", 32}, .width = {"hidden_size", 4096},                                 \
	.heads = {"num_attention_heads", 32}, .attention_bias = BIAS_BY_KEY, .output_bias = BIAS_BY_KEY,     \
	.attention_bias_key = "attention_bias"

/* In all of them the activation is the one of tanh, and words are times the root of the width. */
#define GEMMA_CHOICES                                                                                        \
	RELATIVE_CHOICES, .kv_heads = {"num_key_value_heads", 0}, .head_size = {"head_dim", 256},            \
			  .positions = {"max_position_embeddings", 8192}, .eps = {"rms_norm_eps", 1e-6},     \
			  .activation = {NULL, "gelu_pytorch_tanh"}, .tied = true, .norm = MODEL_RMS_NORM_1

static enum attn_status adjust_gemma(struct architecture *a, const struct config *c, struct attn_error *err)
{
	(void)c;
	(void)err;
	a->embedding_scale = sqrt((double)a->width);
	return ATTN_OK;
}

static const struct family gemma = {
    .title = "Gemma",
    .model_types = {"gemma"},
    GEMMA_CHOICES,
    .inner = {"intermediate_size", 24576},
    .names = {RELATIVE_NAMES, GATES, .attention_norm = "layers.{i}.input_layernorm",
	      .mlp_norm = "layers.{i}.post_attention_layernorm"},
    .adjust = adjust_gemma,
};

#define FOUR_NORMS                                                                                           \
	.attention_norm = "layers.{i}.input_layernorm",                                                      \
	.attention_output_norm = "layers.{i}.post_attention_layernorm",                                      \
	.mlp_norm = "layers.{i}.pre_feedforward_layernorm",                                                  \
	.mlp_output_norm = "layers.{i}.post_feedforward_layernorm"

/* The scale of scores, and caps. */
static enum attn_status read_scores(struct architecture *a, const struct config *c, double cap,
				    double head_cap, struct attn_error *err)
{
	double scalar;
	TRY(config_number(c, "query_pre_attn_scalar", 256, 1e-6, 1e9, &scalar, err));
	a->scale = 1 / sqrt(scalar);
	TRY(config_number(c, "attn_logit_softcapping", cap, 1e-6, 1e9, &a->softcap, err));
	TRY(config_number(c, "final_logit_softcapping", head_cap, 1e-6, 1e9, &a->head_softcap, err));
	if (config_is_null(c, "attn_logit_softcapping"))
		a->softcap = 0;
	if (config_is_null(c, "final_logit_softcapping"))
		a->head_softcap = 0;
	return adjust_gemma(a, c, err);
}

static enum attn_status adjust_gemma2(struct architecture *a, const struct config *c, struct attn_error *err)
{
	TRY(read_scores(a, c, 50, 30, err));
	if (config_is_null(c, "sliding_window"))
		return ATTN_OK;
	TRY(config_size(c, "sliding_window", 4096, 1, CONFIG_SIZE_MAX, &a->window, err));
	return architecture_slide(a, c, slides_between, 2, err);
}

static const struct family gemma2 = {
    .title = "Gemma 2",
    .model_types = {"gemma2"},
    GEMMA_CHOICES,
    .inner = {"intermediate_size", 9216},
    .names = {RELATIVE_NAMES, GATES, FOUR_NORMS},
    .adjust = adjust_gemma2,
};

/* Sliding layers are rotated by another base, and their rope is not scaled. */
static enum attn_status adjust_gemma3(struct architecture *a, const struct config *c, struct attn_error *err)
{
	const struct rope_place local = {
	    .layer_type = "sliding_attention", .base = {"rope_local_base_freq", 10000}, .alone = true};
	const char *key =
	    config_has(c, "_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
	size_t pattern;
	a->two_ropes = true;
	TRY(read_scores(a, c, 0, 0, err));
	TRY(rope_init(&a->local_rope, a, c, &local, err));
	TRY(config_size(c, "sliding_window", 4096, 1, CONFIG_SIZE_MAX, &a->window, err));
	TRY(config_size(c, key, 6, 1, CONFIG_LAYERS_MAX, &pattern, err));
	return architecture_slide(a, c, slides_between, pattern, err);
}

static const struct family gemma3 = {
    .title = "Gemma 3",
    .model_types = {"gemma3_text"},
    GEMMA_CHOICES,
    .inner = {"intermediate_size", 9216},
    .rotary_base = {NULL, 1000000},
    .names = {RELATIVE_NAMES, GATES, FOUR_NORMS, .query_norm = "layers.{i}.self_attn.q_norm",
	      .key_norm = "layers.{i}.self_attn.k_norm"},
    .adjust = adjust_gemma3,
};

static enum attn_status adjust_phi3(struct architecture *a, const struct config *c, struct attn_error *err)
{
	if (!config_has(c, "sliding_window"))
		return ATTN_OK;
	TRY(config_size(c, "sliding_window", 4096, 1, CONFIG_SIZE_MAX, &a->window, err));
	return architecture_slide(a, c, slides_from, 0, err);
}

static const struct family phi3 = {
    .title = "Phi-3",
    .model_types = {"phi3"},
    RELATIVE_CHOICES,
    .kv_heads = {"num_key_value_heads", 0},
    .inner = {"intermediate_size", 8192},
    .positions = {"max_position_embeddings", 4096},
    .eps = {"rms_norm_eps", 1e-5},
    .activation = {"hidden_act", "silu"},
    .norm = MODEL_RMS_NORM,
    .names = {.words = "embed_tokens",
	      .fused = "layers.{i}.self_attn.qkv_proj",
	      .output = "layers.{i}.self_attn.o_proj",
	      .attention_norm = "layers.{i}.input_layernorm",
	      .mlp_norm = "layers.{i}.post_attention_layernorm",
	      .gate_up = "layers.{i}.mlp.gate_up_proj",
	      .down = "layers.{i}.mlp.down_proj",
	      .final_norm = "norm",
	      .head = "lm_head"},
    .adjust = adjust_phi3,
};

static const struct family olmo2 = {
    .title = "OLMo 2",
    .model_types = {"olmo2"},
    RELATIVE_CHOICES,
    .kv_heads = {"num_key_value_heads", 0},
    .inner = {"intermediate_size", 11008},
    .positions = {"max_position_embeddings", 2048},
    .eps = {"rms_norm_eps", 1e-5},
    .activation = {"hidden_act", "silu"},
    .norm = MODEL_RMS_NORM,
    .whole_query_norm = true,
    .names = {RELATIVE_NAMES, GATES, .attention_output_norm = "layers.{i}.post_attention_layernorm",
	      .mlp_output_norm = "layers.{i}.post_feedforward_layernorm",
	      .query_norm = "layers.{i}.self_attn.q_norm", .key_norm = "layers.{i}.self_attn.k_norm"},
};

/* Each fourth layer has no positions, unless a list says which. */
static enum attn_status adjust_smollm3(struct architecture *a, const struct config *c, struct attn_error *err)
{
	size_t listed = config_list(c, "no_rope_layers"), interval;
	TRY(config_size(c, "no_rope_layer_interval", 4, 1, CONFIG_LAYERS_MAX, &interval, err));
	if (listed > 0 && listed != a->layers)
		return config_fail(c, "no_rope_layers", "a number for each layer", err);
	a->unrotated = array_alloc(a->layers, sizeof *a->unrotated);
	if (!a->unrotated)
		return attn_fail_memory(err);
	for (size_t i = 0; i < a->layers; i++)
		a->unrotated[i] =
		    listed ? config_list_number(c, "no_rope_layers", i) == 0 : !slides_between(i, interval);
	bool used;
	TRY(config_bool(c, "use_sliding_window", false, &used, err));
	return used ? config_fail(c, "use_sliding_window", "false: windows are not supported here", err)
		    : ATTN_OK;
}

static const struct family smollm3 = {
    .title = "SmolLM3",
    .model_types = {"smollm3"},
    RELATIVE_CHOICES,
    .kv_heads = {"num_key_value_heads", 4},
    .inner = {"intermediate_size", 11008},
    .positions = {"max_position_embeddings", 32768},
    .eps = {"rms_norm_eps", 1e-6},
    .activation = {"hidden_act", "silu"},
    .tied = true,
    .norm = MODEL_RMS_NORM,
    .rotary_base = {NULL, 2000000},
    .mlp_bias = BIAS_BY_KEY,
    .mlp_bias_key = "mlp_bias",
    .names = {RELATIVE_NAMES, GATES, .attention_norm = "layers.{i}.input_layernorm",
	      .mlp_norm = "layers.{i}.post_attention_layernorm"},
    .adjust = adjust_smollm3,
};

const struct family *const relative_families[] = {&gemma, &gemma2, &gemma3, &phi3, &olmo2, &smollm3, NULL};
