/* Decoders with layer norms, rotated or with learned positions, some with attention and feed-forward
 * layer side by side.
 *
 * Wang and Komatsuzaki 2021 (GPT-J); Black et al. 2022 (GPT-NeoX); Zhang et al. 2022 (OPT); Almazrouei et
 * al. 2023 (Falcon); BigScience 2022 (BLOOM); Gunasekar et al. 2023 (Phi); Lozhkov et al. 2024 (StarCoder 2).
 */
#include "model/architecture.h"
#include "model/config.h"
#include "model/family.h"

#define OLDER_CHOICES .causal = true, .norm = MODEL_LAYER_NORM, .layout = BY_OUTPUT

#define USUAL_SIZES                                                                                          \
	.layers = {"num_hidden_layers", 24}, .width = {"hidden_size", 2048},                                 \
	.heads = {"num_attention_heads", 32}

/* Of a head only the first dimensions are rotated, in neighbouring pairs. */
static enum attn_status adjust_gptj(struct architecture *a, const struct config *c, struct attn_error *err)
{
	TRY(config_size(c, "rotary_dim", 64, 2, a->head_size, &a->rope.rotary.dims, err));
	if (a->rope.rotary.dims % 2 != 0)
		return config_fail(c, "rotary_dim", "an even number of dimensions to rotate", err);
	a->rope.rotary.interleaved = true;
	return ATTN_OK;
}

static const struct family gptj = {
    .title = "GPT-J",
    .model_types = {"gptj"},
    OLDER_CHOICES,
    .order = RESIDUAL_PARALLEL,
    .scheme = POSITIONS_ROTARY,
    .layers = {"n_layer", 28},
    .width = {"n_embd", 4096},
    .heads = {"n_head", 16},
    .inner = {"n_inner", 0},
    .positions = {"n_positions", 2048},
    .eps = {"layer_norm_epsilon", 1e-5},
    .activation = {"activation_function", "gelu_new"},
    .mlp_bias = BIAS_ALWAYS,
    .names = {.words = "wte",
	      .attention_norm = "h.{i}.ln_1",
	      .query = "h.{i}.attn.q_proj",
	      .key = "h.{i}.attn.k_proj",
	      .value = "h.{i}.attn.v_proj",
	      .output = "h.{i}.attn.out_proj",
	      .up = "h.{i}.mlp.fc_in",
	      .down = "h.{i}.mlp.fc_out",
	      .final_norm = "ln_f",
	      .head = "lm_head",
	      .head_bias = "lm_head.bias"},
    .adjust = adjust_gptj,
};

static enum attn_status adjust_neox(struct architecture *a, const struct config *c, struct attn_error *err)
{
	bool parallel;
	TRY(config_bool(c, "use_parallel_residual", true, &parallel, err));
	a->order = parallel ? RESIDUAL_PARALLEL : RESIDUAL_PRE;
	TRY(config_bool(c, "attention_bias", true, &a->attention_bias, err));
	a->output_bias = a->attention_bias;
	return ATTN_OK;
}

static const struct family gpt_neox = {
    .title = "GPT-NeoX",
    .model_types = {"gpt_neox"},
    OLDER_CHOICES,
    .order = RESIDUAL_PARALLEL,
    .scheme = POSITIONS_ROTARY,
    .layers = {"num_hidden_layers", 44},
    .width = {"hidden_size", 6144},
    .heads = {"num_attention_heads", 64},
    .inner = {"intermediate_size", 24576},
    .positions = {"max_position_embeddings", 2048},
    .eps = {"layer_norm_eps", 1e-5},
    .activation = {"hidden_act", "gelu"},
    .rotary_base = {"rotary_emb_base", 0},
    .rotary_share = {"rotary_pct", 0.25},
    .attention_bias = BIAS_ALWAYS,
    .output_bias = BIAS_ALWAYS,
    .mlp_bias = BIAS_ALWAYS,
    .fused_order = FUSED_BY_HEAD,
    .names = {.words = "embed_in",
	      .attention_norm = "layers.{i}.input_layernorm",
	      .fused = "layers.{i}.attention.query_key_value",
	      .output = "layers.{i}.attention.dense",
	      .mlp_norm = "layers.{i}.post_attention_layernorm",
	      .up = "layers.{i}.mlp.dense_h_to_4h",
	      .down = "layers.{i}.mlp.dense_4h_to_h",
	      .final_norm = "final_layer_norm",
	      .head = "embed_out"},
    .adjust = adjust_neox,
};

static enum attn_status check_phi(struct architecture *a, const struct config *c, struct attn_error *err)
{
	bool normed;
	(void)a;
	TRY(config_bool(c, "qk_layernorm", false, &normed, err));
	return normed ? config_fail(c, "qk_layernorm",
				    "false: layer norms of queries and keys are not supported", err)
		      : ATTN_OK;
}

static const struct family phi = {
    .title = "Phi",
    .model_types = {"phi"},
    OLDER_CHOICES,
    .order = RESIDUAL_PARALLEL,
    .scheme = POSITIONS_ROTARY,
    USUAL_SIZES,
    .kv_heads = {"num_key_value_heads", 0},
    .inner = {"intermediate_size", 8192},
    .positions = {"max_position_embeddings", 2048},
    .eps = {"layer_norm_eps", 1e-5},
    .activation = {"hidden_act", "gelu_new"},
    .rotary_share = {NULL, 0.5},
    .attention_bias = BIAS_ALWAYS,
    .output_bias = BIAS_ALWAYS,
    .mlp_bias = BIAS_ALWAYS,
    .names = {.words = "embed_tokens",
	      .attention_norm = "layers.{i}.input_layernorm",
	      .query = "layers.{i}.self_attn.q_proj",
	      .key = "layers.{i}.self_attn.k_proj",
	      .value = "layers.{i}.self_attn.v_proj",
	      .output = "layers.{i}.self_attn.dense",
	      .up = "layers.{i}.mlp.fc1",
	      .down = "layers.{i}.mlp.fc2",
	      .final_norm = "final_layernorm",
	      .head = "lm_head",
	      .head_bias = "lm_head.bias"},
    .adjust = check_phi,
};

static enum attn_status adjust_opt(struct architecture *a, const struct config *c, struct attn_error *err)
{
	bool before, biased;
	size_t width;
	TRY(config_bool(c, "do_layer_norm_before", true, &before, err));
	TRY(config_bool(c, "enable_bias", true, &biased, err));
	TRY(config_size(c, "word_embed_proj_dim", a->width, 1, CONFIG_SIZE_MAX, &width, err));
	if (!before)
		return config_fail(c, "do_layer_norm_before", "true: norms behind are not supported", err);
	if (width != a->width)
		return config_fail(c, "word_embed_proj_dim", "hidden_size: projected words are not supported",
				   err);
	a->attention_bias = a->output_bias = a->mlp_bias = biased;
	a->first_position = 2;
	return ATTN_OK;
}

static const struct family opt = {
    .title = "OPT",
    .model_types = {"opt"},
    OLDER_CHOICES,
    .order = RESIDUAL_PRE,
    .scheme = POSITIONS_LEARNED,
    USUAL_SIZES,
    .inner = {"ffn_dim", 3072},
    .positions = {"max_position_embeddings", 2048},
    .eps = {NULL, 1e-5},
    .activation = {"activation_function", "relu"},
    .tied = true,
    .names = {.words = "decoder.embed_tokens",
	      .positions = "decoder.embed_positions",
	      .attention_norm = "decoder.layers.{i}.self_attn_layer_norm",
	      .query = "decoder.layers.{i}.self_attn.q_proj",
	      .key = "decoder.layers.{i}.self_attn.k_proj",
	      .value = "decoder.layers.{i}.self_attn.v_proj",
	      .output = "decoder.layers.{i}.self_attn.out_proj",
	      .mlp_norm = "decoder.layers.{i}.final_layer_norm",
	      .up = "decoder.layers.{i}.fc1",
	      .down = "decoder.layers.{i}.fc2",
	      .final_norm = "decoder.final_layer_norm",
	      .head = "lm_head"},
    .adjust = adjust_opt,
};

/* The layout of Falcon 7B: all heads share a key and a value. */
static enum attn_status adjust_falcon(struct architecture *a, const struct config *c, struct attn_error *err)
{
	bool newer, shared, parallel, alibi, biased;
	TRY(config_bool(c, "new_decoder_architecture", false, &newer, err));
	TRY(config_bool(c, "multi_query", true, &shared, err));
	TRY(config_bool(c, "parallel_attn", true, &parallel, err));
	TRY(config_bool(c, "alibi", false, &alibi, err));
	TRY(config_bool(c, "bias", false, &biased, err));
	if (newer)
		return config_fail(c, "new_decoder_architecture",
				   "false: that of Falcon 40B is not supported", err);
	if (!shared || !parallel)
		return config_fail(c, shared ? "parallel_attn" : "multi_query",
				   "true: others are not supported", err);
	if (alibi)
		return config_fail(c, "alibi", "false: biases by distance are not supported", err);
	a->kv_heads = 1;
	a->attention_bias = a->output_bias = a->mlp_bias = biased;
	return ATTN_OK;
}

static const struct family falcon = {
    .title = "Falcon",
    .model_types = {"falcon"},
    OLDER_CHOICES,
    .order = RESIDUAL_PARALLEL,
    .scheme = POSITIONS_ROTARY,
    .layers = {"num_hidden_layers|n_layer", 32},
    .width = {"hidden_size", 4544},
    .heads = {"num_attention_heads|n_head", 71},
    .inner = {"ffn_hidden_size", 0},
    .positions = {"max_position_embeddings", 2048},
    .eps = {"layer_norm_epsilon", 1e-5},
    .activation = {"activation", "gelu"},
    .tied = true,
    .names = {.words = "word_embeddings",
	      .attention_norm = "h.{i}.input_layernorm",
	      .fused = "h.{i}.self_attention.query_key_value",
	      .output = "h.{i}.self_attention.dense",
	      .up = "h.{i}.mlp.dense_h_to_4h",
	      .down = "h.{i}.mlp.dense_4h_to_h",
	      .final_norm = "ln_f",
	      .head = "lm_head"},
    .adjust = adjust_falcon,
};

static enum attn_status adjust_starcoder2(struct architecture *a, const struct config *c,
					  struct attn_error *err)
{
	bool biased;
	TRY(config_bool(c, "use_bias", true, &biased, err));
	a->attention_bias = a->output_bias = a->mlp_bias = biased;
	if (!config_has(c, "sliding_window"))
		return ATTN_OK;
	TRY(config_size(c, "sliding_window", 4096, 1, CONFIG_SIZE_MAX, &a->window, err));
	return architecture_slide(a, c, slides_from, 0, err);
}

static const struct family starcoder2 = {
    .title = "StarCoder 2",
    .model_types = {"starcoder2"},
    OLDER_CHOICES,
    .order = RESIDUAL_PRE,
    .scheme = POSITIONS_ROTARY,
    .layers = {"num_hidden_layers", 30},
    .width = {"hidden_size", 3072},
    .heads = {"num_attention_heads", 24},
    .kv_heads = {"num_key_value_heads", 2},
    .inner = {"intermediate_size", 12288},
    .positions = {"max_position_embeddings", 4096},
    .eps = {"norm_epsilon", 1e-5},
    .activation = {"hidden_act", "gelu_pytorch_tanh"},
    .tied = true,
    .names = {.words = "embed_tokens",
	      .attention_norm = "layers.{i}.input_layernorm",
	      .query = "layers.{i}.self_attn.q_proj",
	      .key = "layers.{i}.self_attn.k_proj",
	      .value = "layers.{i}.self_attn.v_proj",
	      .output = "layers.{i}.self_attn.o_proj",
	      .mlp_norm = "layers.{i}.post_attention_layernorm",
	      .up = "layers.{i}.mlp.c_fc",
	      .down = "layers.{i}.mlp.c_proj",
	      .final_norm = "norm",
	      .head = "lm_head"},
    .adjust = adjust_starcoder2,
};

static enum attn_status adjust_bloom(struct architecture *a, const struct config *c, struct attn_error *err)
{
	bool behind;
	TRY(config_bool(c, "apply_residual_connection_post_layernorm", false, &behind, err));
	a->alibi = true;
	return behind ? config_fail(c, "apply_residual_connection_post_layernorm",
				    "false: others are not supported", err)
		      : ATTN_OK;
}

static const struct family bloom = {
    .title = "BLOOM",
    .model_types = {"bloom"},
    OLDER_CHOICES,
    .order = RESIDUAL_PRE,
    .scheme = POSITIONS_BIASED,
    .layers = {"n_layer|num_hidden_layers", 2},
    .width = {"hidden_size|n_embed", 64},
    .heads = {"n_head|num_attention_heads", 8},
    .eps = {"layer_norm_epsilon", 1e-5},
    .activation = {NULL, "gelu_new"},
    .tied = true,
    .attention_bias = BIAS_ALWAYS,
    .output_bias = BIAS_ALWAYS,
    .mlp_bias = BIAS_ALWAYS,
    .fused_order = FUSED_BY_HEAD,
    .names = {.words = "word_embeddings",
	      .embedding_norm = "word_embeddings_layernorm",
	      .attention_norm = "h.{i}.input_layernorm",
	      .fused = "h.{i}.self_attention.query_key_value",
	      .output = "h.{i}.self_attention.dense",
	      .mlp_norm = "h.{i}.post_attention_layernorm",
	      .up = "h.{i}.mlp.dense_h_to_4h",
	      .down = "h.{i}.mlp.dense_4h_to_h",
	      .final_norm = "ln_f",
	      .head = "lm_head"},
    .adjust = adjust_bloom,
};

const struct family *const older_families[] = {&bloom, &gptj,   &gpt_neox,   &phi,
					       &opt,   &falcon, &starcoder2, NULL};
