/* Encoders with decoders that attend to them, each a family of its own.
 *
 * Raffel et al. 2020 and Xue et al. 2021 (T5, mT5); Lewis et al. 2020 (BART); Liu et al. 2020 (mBART);
 * Junczys-Dowmunt et al. 2018 (Marian).
 */
#include <math.h>
#include <string.h>

#include "model/architecture.h"
#include "model/config.h"
#include "model/family.h"

/* --- T5 ---------------------------------------------------------------------------------- */

static enum attn_status read_gate(struct architecture *a, const struct config *c, struct attn_error *err)
{
	const char *word = NULL, *gated = "gated-";
	TRY(config_word(c, "feed_forward_proj", "relu", &word, err));
	a->ungated = strncmp(word, gated, strlen(gated)) != 0;
	if (!a->ungated)
		word += strlen(gated);
	if (!a->ungated && strcmp(word, "gelu") == 0)
		word = "gelu_new"; /* as the authors' library has it */
	return activation_named(word, &a->activation)
		   ? ATTN_OK
		   : config_fail(c, "feed_forward_proj", "one of " ACTIVATION_NAMES ", or gated- and that",
				 err);
}

/* Scores are not scaled; logits are, where they are made by the embeddings. */
static enum attn_status adjust_t5(struct architecture *a, const struct config *c, struct attn_error *err)
{
	const char *buckets = "relative_attention_num_buckets", *distance = "relative_attention_max_distance";
	TRY(config_size(c, buckets, 32, 4, 100000, &a->buckets, err));
	if (a->buckets % 2 != 0)
		return config_fail(c, buckets, "an even number", err);
	TRY(config_size(c, distance, 128, 1, CONFIG_SIZE_MAX, &a->bucket_distance, err));
	if (a->bucket_distance <= a->buckets / 2)
		return config_fail(c, distance, "more than half of relative_attention_num_buckets", err);
	TRY(config_size(c, "decoder_start_token_id", 0, 0, CONFIG_SIZE_MAX, &a->first_token, err));
	a->scale = 1;
	if (a->tied)
		a->head_scale = 1 / sqrt((double)a->width);
	return read_gate(a, c, err);
}

#define T5_SIZES                                                                                             \
	.width = {"d_model", 512}, .heads = {"num_heads", 8}, .head_size = {"d_kv", 64},                     \
	.inner = {"d_ff", 2048}, .eps = {"layer_norm_epsilon", 1e-6}, .activation = {NULL, "relu"},          \
	.tied = true, .norm = MODEL_RMS_NORM, .order = RESIDUAL_PRE, .scheme = POSITIONS_BIASED,             \
	.layout = BY_OUTPUT, .adjust = adjust_t5

#define T5_NAMES(STACK, MLP)                                                                                 \
	.words = "shared", .own_words = STACK ".embed_tokens",                                               \
	.relative_bias = STACK ".block.0.layer.0.SelfAttention.relative_attention_bias",                     \
	.attention_norm = STACK ".block.{i}.layer.0.layer_norm",                                             \
	.query = STACK ".block.{i}.layer.0.SelfAttention.q",                                                 \
	.key = STACK ".block.{i}.layer.0.SelfAttention.k",                                                   \
	.value = STACK ".block.{i}.layer.0.SelfAttention.v",                                                 \
	.output = STACK ".block.{i}.layer.0.SelfAttention.o",                                                \
	.mlp_norm = STACK ".block.{i}." MLP ".layer_norm",                                                   \
	.gate = STACK ".block.{i}." MLP ".DenseReluDense.wi_0",                                              \
	.up = STACK ".block.{i}." MLP ".DenseReluDense.wi_1",                                                \
	.ungated = STACK ".block.{i}." MLP ".DenseReluDense.wi",                                             \
	.down = STACK ".block.{i}." MLP ".DenseReluDense.wo", .final_norm = STACK ".final_layer_norm"

static const struct family t5_encoder = {
    .title = "T5",
    .layers = {"num_layers", 6},
    T5_SIZES,
    .names = {T5_NAMES("encoder", "layer.1")},
};

static const struct family t5 = {
    .title = "T5",
    .model_types = {"t5", "mt5"},
    .causal = true,
    .encoder = &t5_encoder,
    .layers = {"num_decoder_layers|num_layers", 6},
    T5_SIZES,
    .names = {T5_NAMES("decoder", "layer.2"), .cross_norm = "decoder.block.{i}.layer.1.layer_norm",
	      .cross_query = "decoder.block.{i}.layer.1.EncDecAttention.q",
	      .cross_key = "decoder.block.{i}.layer.1.EncDecAttention.k",
	      .cross_value = "decoder.block.{i}.layer.1.EncDecAttention.v",
	      .cross_output = "decoder.block.{i}.layer.1.EncDecAttention.o", .head = "lm_head"},
};

/* --- BART and relatives ----------------------------------------------------------------------- */

static enum attn_status read_bart(struct architecture *a, const struct config *c, size_t first_token,
				  struct attn_error *err)
{
	bool scaled;
	TRY(config_bool(c, "scale_embedding", false, &scaled, err));
	TRY(config_size(c, "decoder_start_token_id", first_token, 0, CONFIG_SIZE_MAX, &a->first_token, err));
	if (scaled)
		a->embedding_scale = sqrt((double)a->width);
	return ATTN_OK;
}

/* Tables of positions have two rows before the first. */
static enum attn_status adjust_bart(struct architecture *a, const struct config *c, struct attn_error *err)
{
	a->first_position = 2;
	return read_bart(a, c, 2, err);
}

/* Where a target begins with its language, which its tokenizer puts last. */
static enum attn_status adjust_mbart(struct architecture *a, const struct config *c, struct attn_error *err)
{
	TRY(adjust_bart(a, c, err));
	if (!config_has(c, "decoder_start_token_id"))
		a->first_token = LAST_OF_TARGET;
	return ATTN_OK;
}

static enum attn_status adjust_marian(struct architecture *a, const struct config *c, struct attn_error *err)
{
	if (a->width % 2 != 0)
		return config_fail(c, "d_model", "an even number: half sines, half cosines", err);
	a->sine_steps = (double)(a->width / 2);
	return read_bart(a, c, 58100, err);
}

#define BART_CHOICES                                                                                         \
	.width = {"d_model", 1024}, .positions = {"max_position_embeddings", 1024}, .eps = {NULL, 1e-5},     \
	.activation = {"activation_function", "gelu"}, .tied = true, .norm = MODEL_LAYER_NORM,               \
	.layout = BY_OUTPUT, .attention_bias = BIAS_ALWAYS, .output_bias = BIAS_ALWAYS,                      \
	.mlp_bias = BIAS_ALWAYS

#define ENCODER_SIZES                                                                                        \
	.layers = {"encoder_layers", 12}, .heads = {"encoder_attention_heads", 16},                          \
	.inner = {"encoder_ffn_dim", 4096}

#define DECODER_SIZES                                                                                        \
	.causal = true, .layers = {"decoder_layers", 12}, .heads = {"decoder_attention_heads", 16},          \
	.inner = {"decoder_ffn_dim", 4096}

#define BART_NAMES(STACK)                                                                                    \
	.words = "shared", .own_words = STACK ".embed_tokens",                                               \
	.attention_norm = STACK ".layers.{i}.self_attn_layer_norm",                                          \
	.query = STACK ".layers.{i}.self_attn.q_proj", .key = STACK ".layers.{i}.self_attn.k_proj",          \
	.value = STACK ".layers.{i}.self_attn.v_proj", .output = STACK ".layers.{i}.self_attn.out_proj",     \
	.mlp_norm = STACK ".layers.{i}.final_layer_norm", .up = STACK ".layers.{i}.fc1",                     \
	.down = STACK ".layers.{i}.fc2"

#define CROSS_NAMES                                                                                          \
	.cross_norm = "decoder.layers.{i}.encoder_attn_layer_norm",                                          \
	.cross_query = "decoder.layers.{i}.encoder_attn.q_proj",                                             \
	.cross_key = "decoder.layers.{i}.encoder_attn.k_proj",                                               \
	.cross_value = "decoder.layers.{i}.encoder_attn.v_proj",                                             \
	.cross_output = "decoder.layers.{i}.encoder_attn.out_proj", .head = "lm_head",                       \
	.head_shift = "final_logits_bias"

#define LEARNED_NAMES(STACK)                                                                                 \
	.positions = STACK ".embed_positions", .embedding_norm = STACK ".layernorm_embedding"

static const struct family bart_encoder = {
    .title = "BART",
    BART_CHOICES,
    ENCODER_SIZES,
    .order = RESIDUAL_POST,
    .scheme = POSITIONS_LEARNED,
    .names = {BART_NAMES("encoder"), LEARNED_NAMES("encoder")},
    .adjust = adjust_bart,
};

static const struct family bart = {
    .title = "BART",
    .model_types = {"bart"},
    .encoder = &bart_encoder,
    BART_CHOICES,
    DECODER_SIZES,
    .order = RESIDUAL_POST,
    .scheme = POSITIONS_LEARNED,
    .names = {BART_NAMES("decoder"), LEARNED_NAMES("decoder"), CROSS_NAMES},
    .adjust = adjust_bart,
};

static const struct family mbart_encoder = {
    .title = "mBART",
    BART_CHOICES,
    ENCODER_SIZES,
    .order = RESIDUAL_PRE,
    .scheme = POSITIONS_LEARNED,
    .names = {BART_NAMES("encoder"), LEARNED_NAMES("encoder"), .final_norm = "encoder.layer_norm"},
    .adjust = adjust_mbart,
};

static const struct family mbart = {
    .title = "mBART",
    .model_types = {"mbart"},
    .encoder = &mbart_encoder,
    BART_CHOICES,
    DECODER_SIZES,
    .order = RESIDUAL_PRE,
    .scheme = POSITIONS_LEARNED,
    .names = {BART_NAMES("decoder"), LEARNED_NAMES("decoder"), CROSS_NAMES,
	      .final_norm = "decoder.layer_norm"},
    .adjust = adjust_mbart,
};

static const struct family marian_encoder = {
    .title = "Marian",
    BART_CHOICES,
    ENCODER_SIZES,
    .order = RESIDUAL_POST,
    .scheme = POSITIONS_SINES,
    .names = {BART_NAMES("encoder")},
    .adjust = adjust_marian,
};

static const struct family marian = {
    .title = "Marian",
    .model_types = {"marian"},
    .encoder = &marian_encoder,
    BART_CHOICES,
    DECODER_SIZES,
    .order = RESIDUAL_POST,
    .scheme = POSITIONS_SINES,
    .names = {BART_NAMES("decoder"), CROSS_NAMES},
    .adjust = adjust_marian,
};

/* --- as CTranslate2 stores them ------------------------------------------------------------- */

/* Positions count from 1, and the last sine is 10,000 times as slow as the first (Tensor2Tensor). */
static enum attn_status adjust_ctranslate2(struct architecture *a, const struct config *c,
					   struct attn_error *err)
{
	if (a->width % 2 != 0 || a->width < 4)
		return config_fail(c, "d_model", "an even number from 4: half sines, half cosines", err);
	a->sine_steps = (double)(a->width / 2 - 1);
	a->first_position = 1;
	return read_bart(a, c, 1, err);
}

#define CT2_NAMES(STACK)                                                                                     \
	.words = STACK ".embeddings", .own_words = STACK ".embeddings_0",                                    \
	.attention_norm = STACK ".layer_{i}.self_attention.layer_norm",                                      \
	.fused = STACK ".layer_{i}.self_attention.linear_0",                                                 \
	.output = STACK ".layer_{i}.self_attention.linear_1", .mlp_norm = STACK ".layer_{i}.ffn.layer_norm", \
	.up = STACK ".layer_{i}.ffn.linear_0", .down = STACK ".layer_{i}.ffn.linear_1",                      \
	.final_norm = STACK ".layer_norm"

#define CT2_CHOICES .order = RESIDUAL_PRE, .scheme = POSITIONS_SINES, .adjust = adjust_ctranslate2

static const struct family ctranslate2_encoder = {
    .title = "CTranslate2",
    BART_CHOICES,
    ENCODER_SIZES,
    CT2_CHOICES,
    .names = {CT2_NAMES("encoder")},
};

static const struct family ctranslate2 = {
    .title = "CTranslate2",
    .model_types = {"ctranslate2"},
    .encoder = &ctranslate2_encoder,
    BART_CHOICES,
    DECODER_SIZES,
    CT2_CHOICES,
    .names = {CT2_NAMES("decoder"), .cross_norm = "decoder.layer_{i}.attention.layer_norm",
	      .cross_query = "decoder.layer_{i}.attention.linear_0",
	      .cross_key_value = "decoder.layer_{i}.attention.linear_1",
	      .cross_output = "decoder.layer_{i}.attention.linear_2", .head = "decoder.projection",
	      .head_bias = "decoder.projection.bias"},
};

const struct family *const translator_families[] = {&t5, &bart, &mbart, &marian, &ctranslate2, NULL};
