/* Transformers that read pictures, by themselves or beside one that reads texts.
 *
 * Dosovitskiy et al. 2020 (ViT); Touvron et al. 2020 (DeiT); Caron et al. 2021 and Oquab et al. 2023 (DINO,
 * DINOv2); Radford et al. 2021 (CLIP); Zhai et al. 2023 (SigLIP).
 */
#include <string.h>

#include "model/architecture.h"
#include "model/config.h"
#include "model/family.h"

#define VISION_CHOICES                                                                                       \
	.pictures = true, .kind = "vision", .norm = MODEL_LAYER_NORM, .order = RESIDUAL_PRE,                 \
	.scheme = POSITIONS_PATCHES, .layout = BY_OUTPUT, .attention_bias = BIAS_ALWAYS,                     \
	.output_bias = BIAS_ALWAYS, .mlp_bias = BIAS_ALWAYS

/* --- ViT, DeiT, DINO --------------------------------------------------------------------- */

#define VIT_LAYER "encoder.layer.{i}."

#define VIT_SIZES                                                                                            \
	.layers = {"num_hidden_layers", 12}, .width = {"hidden_size", 768},                                  \
	.heads = {"num_attention_heads", 12}, .inner = {"intermediate_size", 3072},                          \
	.image = {"image_size", 224}, .patch = {"patch_size", 16}, .channels = {"num_channels", 3},          \
	.activation = {"hidden_act", "gelu"}

#define VIT_NAMES                                                                                            \
	.patches = "embeddings.patch_embeddings.projection", .class_token = "embeddings.cls_token",          \
	.position_table = "embeddings.position_embeddings", .query = VIT_LAYER "attention.attention.query",  \
	.key = VIT_LAYER "attention.attention.key", .value = VIT_LAYER "attention.attention.value",          \
	.output = VIT_LAYER "attention.output.dense", .final_norm = "layernorm", .head = "classifier",       \
	.head_bias = "classifier.bias"

#define VIT_MLP                                                                                              \
	.attention_norm = VIT_LAYER "layernorm_before", .mlp_norm = VIT_LAYER "layernorm_after",             \
	.up = VIT_LAYER "intermediate.dense", .down = VIT_LAYER "output.dense"

/* Of queries, keys and values; the output always has one. */
static enum attn_status adjust_vit(struct architecture *a, const struct config *c, struct attn_error *err)
{
	return config_bool(c, "qkv_bias", true, &a->attention_bias, err);
}

static const struct family vit = {
    .title = "ViT",
    .model_types = {"vit"},
    VISION_CHOICES,
    VIT_SIZES,
    .eps = {"layer_norm_eps", 1e-12},
    .names = {VIT_NAMES, VIT_MLP},
    .adjust = adjust_vit,
};

/* A second token is there for what another model has taught it. */
static const struct family deit = {
    .title = "DeiT",
    .model_types = {"deit"},
    VISION_CHOICES,
    VIT_SIZES,
    .eps = {"layer_norm_eps", 1e-12},
    .names = {VIT_NAMES, VIT_MLP, .second_token = "embeddings.distillation_token"},
    .adjust = adjust_vit,
};

/* What is added to the stream has factors of its own (Touvron et al. 2021, LayerScale). */
static enum attn_status adjust_dinov2(struct architecture *a, const struct config *c, struct attn_error *err)
{
	bool gated;
	size_t ratio;
	TRY(config_bool(c, "use_swiglu_ffn", false, &gated, err));
	if (gated)
		return config_fail(c, "use_swiglu_ffn", "false: gates are not supported", err);
	TRY(config_size(c, "mlp_ratio", 4, 1, 64, &ratio, err));
	a->inner = ratio * a->width;
	return adjust_vit(a, c, err);
}

static const struct family dinov2 = {
    .title = "DINOv2",
    .model_types = {"dinov2"},
    VISION_CHOICES,
    VIT_SIZES,
    .eps = {"layer_norm_eps", 1e-6},
    .names = {VIT_NAMES, .attention_norm = VIT_LAYER "norm1", .mlp_norm = VIT_LAYER "norm2",
	      .up = VIT_LAYER "mlp.fc1", .down = VIT_LAYER "mlp.fc2",
	      .attention_scale = VIT_LAYER "layer_scale1.lambda1",
	      .mlp_scale = VIT_LAYER "layer_scale2.lambda1"},
    .adjust = adjust_dinov2,
};

/* --- CLIP, SigLIP -------------------------------------------------------------------------- */

#define TOWER_SIZES(PART, WIDTH, HEADS, INNER, EPS, ACTIVATION)                                              \
	.layers = {PART "num_hidden_layers|num_hidden_layers", 12},                                          \
	.width = {PART "hidden_size|hidden_size", WIDTH},                                                    \
	.heads = {PART "num_attention_heads|num_attention_heads", HEADS},                                    \
	.inner = {PART "intermediate_size|intermediate_size", INNER},                                        \
	.eps = {PART "layer_norm_eps|layer_norm_eps", EPS},                                                  \
	.activation = {PART "hidden_act|hidden_act", ACTIVATION}

#define TOWER_NAMES(TOWER)                                                                                   \
	.attention_norm = TOWER ".encoder.layers.{i}.layer_norm1",                                           \
	.query = TOWER ".encoder.layers.{i}.self_attn.q_proj",                                               \
	.key = TOWER ".encoder.layers.{i}.self_attn.k_proj",                                                 \
	.value = TOWER ".encoder.layers.{i}.self_attn.v_proj",                                               \
	.output = TOWER ".encoder.layers.{i}.self_attn.out_proj",                                            \
	.mlp_norm = TOWER ".encoder.layers.{i}.layer_norm2", .up = TOWER ".encoder.layers.{i}.mlp.fc1",      \
	.down = TOWER ".encoder.layers.{i}.mlp.fc2"

#define VISION_SIZES(SIDE, PATCH)                                                                            \
	.image = {"vision_config.image_size|image_size", SIDE},                                              \
	.patch = {"vision_config.patch_size|patch_size", PATCH},                                             \
	.channels = {"vision_config.num_channels|num_channels", 3}

#define TEXT_TOWER                                                                                           \
	.kind = "text", .norm = MODEL_LAYER_NORM, .order = RESIDUAL_PRE, .scheme = POSITIONS_LEARNED,        \
	.layout = BY_OUTPUT, .attention_bias = BIAS_ALWAYS, .output_bias = BIAS_ALWAYS,                      \
	.mlp_bias = BIAS_ALWAYS

#define TEXT_NAMES                                                                                           \
	TOWER_NAMES("text_model"), .words = "text_model.embeddings.token_embedding",                         \
				   .positions = "text_model.embeddings.position_embedding",                  \
				   .final_norm = "text_model.final_layer_norm"

#define CLIP_VISION                                                                                          \
	.title = "CLIP", VISION_CHOICES, TOWER_SIZES("vision_config.", 768, 12, 3072, 1e-5, "quick_gelu"),   \
	VISION_SIZES(224, 32),                                                                               \
	.names = {TOWER_NAMES("vision_model"),                                                               \
		  .patches = "vision_model.embeddings.patch_embedding",                                      \
		  .class_token = "vision_model.embeddings.class_embedding",                                  \
		  .position_table = "vision_model.embeddings.position_embedding.weight",                     \
		  .embedding_norm = "vision_model.pre_layrnorm" /* sic */,                                   \
		  .final_norm = "vision_model.post_layernorm"}

#define CLIP_TEXT                                                                                            \
	.title = "CLIP", TEXT_TOWER, TOWER_SIZES("text_config.", 512, 8, 2048, 1e-5, "quick_gelu"),          \
	.positions = {"text_config.max_position_embeddings|max_position_embeddings", 77}, .causal = true,    \
	.names = {TEXT_NAMES}

static const struct family clip_vision = {.model_types = {"clip_vision_model"}, CLIP_VISION};
static const struct family clip_text = {.model_types = {"clip_text_model"}, CLIP_TEXT};
static const struct family clip = {.model_types = {"clip"}, .vision = &clip_vision, CLIP_TEXT};

#define SIGLIP_VISION                                                                                        \
	.title = "SigLIP", VISION_CHOICES,                                                                   \
	TOWER_SIZES("vision_config.", 768, 12, 3072, 1e-6, "gelu_pytorch_tanh"), VISION_SIZES(224, 16),      \
	.names = {TOWER_NAMES("vision_model"), .patches = "vision_model.embeddings.patch_embedding",         \
		  .position_table = "vision_model.embeddings.position_embedding.weight",                     \
		  .final_norm = "vision_model.post_layernorm"}

#define SIGLIP_TEXT                                                                                          \
	.title = "SigLIP", TEXT_TOWER,                                                                       \
	TOWER_SIZES("text_config.", 768, 12, 3072, 1e-6, "gelu_pytorch_tanh"),                               \
	.positions = {"text_config.max_position_embeddings|max_position_embeddings", 64},                    \
	.names = {TEXT_NAMES}

static const struct family siglip_vision = {.model_types = {"siglip_vision_model"}, SIGLIP_VISION};
static const struct family siglip_text = {.model_types = {"siglip_text_model"}, SIGLIP_TEXT};
static const struct family siglip = {.model_types = {"siglip"}, .vision = &siglip_vision, SIGLIP_TEXT};

const struct family *const vision_families[] = {
    &vit, &deit, &dinov2, &clip, &clip_text, &clip_vision, &siglip, &siglip_text, &siglip_vision, NULL};
