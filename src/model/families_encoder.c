/* Encoders whose norms stand behind each residual sum.
 *
 * Devlin et al. 2018 (BERT); Liu et al. 2019 (RoBERTa); Conneau et al. 2019 (XLM-R); Martin et
 * al. 2019 (CamemBERT); Clark et al. 2020 (ELECTRA); Lan et al. 2019 (ALBERT); Sanh et al. 2019
 * (DistilBERT).  Sizes that a config.json leaves out are those of the library that wrote it.
 */
#include <string.h>

#include "model/architecture.h"
#include "model/config.h"
#include "model/family.h"

#define BERT_LAYER "encoder.layer.{i}."

/* Tensors that BERT, ELECTRA and RoBERTa call alike. */
#define BERT_NAMES                                                                                           \
	.words = "embeddings.word_embeddings", .positions = "embeddings.position_embeddings",                \
	.token_types = "embeddings.token_type_embeddings", .embedding_norm = "embeddings.LayerNorm",         \
	.query = BERT_LAYER "attention.self.query", .key = BERT_LAYER "attention.self.key",                  \
	.value = BERT_LAYER "attention.self.value", .output = BERT_LAYER "attention.output.dense",           \
	.attention_norm = BERT_LAYER "attention.output.LayerNorm", .up = BERT_LAYER "intermediate.dense",    \
	.down = BERT_LAYER "output.dense", .mlp_norm = BERT_LAYER "output.LayerNorm"

#define BERT_CHOICES                                                                                         \
	.tied = true, .norm = MODEL_LAYER_NORM, .order = RESIDUAL_POST, .layout = BY_OUTPUT,                 \
	.attention_bias = BIAS_ALWAYS, .output_bias = BIAS_ALWAYS, .mlp_bias = BIAS_ALWAYS

#define BERT_SIZES                                                                                           \
	.layers = {"num_hidden_layers", 12}, .width = {"hidden_size", 768},                                  \
	.heads = {"num_attention_heads", 12}, .inner = {"intermediate_size", 3072},                          \
	.positions = {"max_position_embeddings", 512}, .token_types = {"type_vocab_size", 2},                \
	.eps = {"layer_norm_eps", 1e-12}, .activation = {"hidden_act", "gelu"}

/* Positions that are relative, or a BERT that decodes, are other computations. */
static enum attn_status check_bert(struct architecture *a, const struct config *c, struct attn_error *err)
{
	const char *kind;
	(void)a;
	TRY(config_word(c, "position_embedding_type", "absolute", &kind, err));
	if (strcmp(kind, "absolute") != 0)
		return config_fail(c, "position_embedding_type",
				   "'absolute': relative positions are not supported", err);
	bool decodes;
	TRY(config_bool(c, "is_decoder", false, &decodes, err));
	return decodes ? config_fail(c, "is_decoder", "false: an encoder", err) : ATTN_OK;
}

static const struct family bert = {
    .title = "BERT",
    .model_types = {"bert"},
    BERT_SIZES,
    BERT_CHOICES,
    .scheme = POSITIONS_LEARNED,
    .names = {BERT_NAMES, .head_dense = "cls.predictions.transform.dense",
	      .head_norm = "cls.predictions.transform.LayerNorm", .head = "cls.predictions.decoder",
	      .head_bias = "cls.predictions.bias"},
    .adjust = check_bert,
};

/* The head's activation is not the layers'. */
static enum attn_status check_roberta(struct architecture *a, const struct config *c, struct attn_error *err)
{
	TRY(config_size(c, "pad_token_id", 1, 0, CONFIG_SIZE_MAX, &a->padding, err));
	a->head_activation = ACTIVATION_GELU;
	return check_bert(a, c, err);
}

static const struct family roberta = {
    .title = "RoBERTa",
    .model_types = {"roberta", "xlm-roberta", "camembert"},
    BERT_SIZES,
    BERT_CHOICES,
    .scheme = POSITIONS_AFTER_PADDING,
    .names = {BERT_NAMES, .head_dense = "lm_head.dense", .head_norm = "lm_head.layer_norm",
	      .head = "lm_head.decoder", .head_bias = "lm_head.bias"},
    .adjust = check_roberta,
};

/* The head of the discriminator: one number a token. */
static enum attn_status check_electra(struct architecture *a, const struct config *c, struct attn_error *err)
{
	a->head_outputs = 1;
	return check_bert(a, c, err);
}

static const struct family electra = {
    .title = "ELECTRA",
    .model_types = {"electra"},
    .layers = {"num_hidden_layers", 12},
    .width = {"hidden_size", 256},
    .heads = {"num_attention_heads", 4},
    .inner = {"intermediate_size", 1024},
    .positions = {"max_position_embeddings", 512},
    .token_types = {"type_vocab_size", 2},
    .embedding_width = {"embedding_size", 128},
    .eps = {"layer_norm_eps", 1e-12},
    .activation = {"hidden_act", "gelu"},
    BERT_CHOICES,
    .scheme = POSITIONS_LEARNED,
    .names = {BERT_NAMES, .embedding_projection = "embeddings_project",
	      .head_dense = "discriminator_predictions.dense",
	      .head = "discriminator_predictions.dense_prediction"},
    .adjust = check_electra,
};

static const struct family distilbert = {
    .title = "DistilBERT",
    .model_types = {"distilbert"},
    .layers = {"n_layers", 6},
    .width = {"dim", 768},
    .heads = {"n_heads", 12},
    .inner = {"hidden_dim", 3072},
    .positions = {"max_position_embeddings", 512},
    .eps = {NULL, 1e-12},
    .activation = {"activation", "gelu"},
    BERT_CHOICES,
    .scheme = POSITIONS_LEARNED,
    .names =
	{
	    .words = "embeddings.word_embeddings",
	    .positions = "embeddings.position_embeddings",
	    .embedding_norm = "embeddings.LayerNorm",
	    .query = "transformer.layer.{i}.attention.q_lin",
	    .key = "transformer.layer.{i}.attention.k_lin",
	    .value = "transformer.layer.{i}.attention.v_lin",
	    .output = "transformer.layer.{i}.attention.out_lin",
	    .attention_norm = "transformer.layer.{i}.sa_layer_norm",
	    .up = "transformer.layer.{i}.ffn.lin1",
	    .down = "transformer.layer.{i}.ffn.lin2",
	    .mlp_norm = "transformer.layer.{i}.output_layer_norm",
	    .head_dense = "vocab_transform",
	    .head_norm = "vocab_layer_norm",
	    .head = "vocab_projector",
	    .head_bias = "vocab_projector.bias",
	},
};

/* Layers share their weights in groups, which may have several layers each. */
static enum attn_status share_layers(struct architecture *a, const struct config *c, struct attn_error *err)
{
	size_t groups, inner;
	TRY(config_size(c, "num_hidden_groups", 1, 1, a->layers, &groups, err));
	TRY(config_size(c, "inner_group_num", 1, 1, CONFIG_LAYERS_MAX / a->layers, &inner, err));
	if (a->layers % groups != 0)
		return config_fail(c, "num_hidden_groups", "a divisor of num_hidden_layers", err);
	a->group_runs = a->layers / groups * inner;
	a->group_layers = inner;
	a->layers *= inner;
	return check_bert(a, c, err);
}

#define ALBERT_LAYER "encoder.albert_layer_groups.{g}.albert_layers.{j}."

static const struct family albert = {
    .title = "ALBERT",
    .model_types = {"albert"},
    .layers = {"num_hidden_layers", 12},
    .width = {"hidden_size", 4096},
    .heads = {"num_attention_heads", 64},
    .inner = {"intermediate_size", 16384},
    .positions = {"max_position_embeddings", 512},
    .token_types = {"type_vocab_size", 2},
    .embedding_width = {"embedding_size", 128},
    .eps = {"layer_norm_eps", 1e-12},
    .activation = {"hidden_act", "gelu_new"},
    BERT_CHOICES,
    .scheme = POSITIONS_LEARNED,
    .names =
	{
	    .words = "embeddings.word_embeddings",
	    .positions = "embeddings.position_embeddings",
	    .token_types = "embeddings.token_type_embeddings",
	    .embedding_norm = "embeddings.LayerNorm",
	    .embedding_projection = "encoder.embedding_hidden_mapping_in",
	    .query = ALBERT_LAYER "attention.query",
	    .key = ALBERT_LAYER "attention.key",
	    .value = ALBERT_LAYER "attention.value",
	    .output = ALBERT_LAYER "attention.dense",
	    .attention_norm = ALBERT_LAYER "attention.LayerNorm",
	    .up = ALBERT_LAYER "ffn",
	    .down = ALBERT_LAYER "ffn_output",
	    .mlp_norm = ALBERT_LAYER "full_layer_layer_norm",
	    .head_dense = "predictions.dense",
	    .head_norm = "predictions.LayerNorm",
	    .head = "predictions.decoder",
	    .head_bias = "predictions.bias",
	},
    .adjust = share_layers,
};

/* Positions as in RoBERTa, and biases by distance in buckets (Song et al. 2020). */
static enum attn_status adjust_mpnet(struct architecture *a, const struct config *c, struct attn_error *err)
{
	TRY(config_size(c, "relative_attention_num_buckets", 32, 4, 100000, &a->buckets, err));
	if (a->buckets % 2 != 0 || a->buckets > 256)
		return config_fail(c, "relative_attention_num_buckets", "an even number up to 256", err);
	return check_roberta(a, c, err);
}

static const struct family mpnet = {
    .title = "MPNet",
    .model_types = {"mpnet"},
    .layers = {"num_hidden_layers", 12},
    .width = {"hidden_size", 768},
    .heads = {"num_attention_heads", 12},
    .inner = {"intermediate_size", 3072},
    .positions = {"max_position_embeddings", 512},
    .eps = {"layer_norm_eps", 1e-12},
    .activation = {"hidden_act", "gelu"},
    BERT_CHOICES,
    .scheme = POSITIONS_AFTER_PADDING,
    .names = {.words = "embeddings.word_embeddings",
	      .positions = "embeddings.position_embeddings",
	      .embedding_norm = "embeddings.LayerNorm",
	      .relative_bias = "encoder.relative_attention_bias",
	      .query = BERT_LAYER "attention.attn.q",
	      .key = BERT_LAYER "attention.attn.k",
	      .value = BERT_LAYER "attention.attn.v",
	      .output = BERT_LAYER "attention.attn.o",
	      .attention_norm = BERT_LAYER "attention.LayerNorm",
	      .up = BERT_LAYER "intermediate.dense",
	      .down = BERT_LAYER "output.dense",
	      .mlp_norm = BERT_LAYER "output.LayerNorm",
	      .head_dense = "lm_head.dense",
	      .head_norm = "lm_head.layer_norm",
	      .head = "lm_head.decoder",
	      .head_bias = "lm_head.bias"},
    .adjust = adjust_mpnet,
};

/* Layers slide but for each third, and are rotated by another base then (Warner et al. 2024). */
static enum attn_status adjust_modernbert(struct architecture *a, const struct config *c,
					  struct attn_error *err)
{
	const struct rope_place local = {
	    .layer_type = "sliding_attention", .base = {"local_rope_theta", 10000}, .alone = true};
	size_t window, pattern;
	TRY(config_size(c, "local_attention", 128, 1, CONFIG_SIZE_MAX, &window, err));
	TRY(config_size(c, "global_attn_every_n_layers", 3, 1, CONFIG_LAYERS_MAX, &pattern, err));
	a->window = window / 2;
	a->two_ropes = true;
	a->head_activation = ACTIVATION_GELU;
	TRY(rope_init(&a->local_rope, a, c, &local, err));
	return architecture_slide(a, c, slides_off, pattern, err);
}

static const struct family modernbert = {
    .title = "ModernBERT",
    .model_types = {"modernbert"},
    .layers = {"num_hidden_layers", 22},
    .width = {"hidden_size", 768},
    .heads = {"num_attention_heads", 12},
    .inner = {"intermediate_size", 1152},
    .positions = {"max_position_embeddings", 8192},
    .eps = {"norm_eps", 1e-5},
    .activation = {"hidden_activation", "gelu"},
    .tied = true,
    .norm = MODEL_LAYER_NORM,
    .order = RESIDUAL_PRE,
    .scheme = POSITIONS_ROTARY,
    .layout = BY_OUTPUT,
    .attention_bias = BIAS_BY_KEY,
    .output_bias = BIAS_BY_KEY,
    .attention_bias_key = "attention_bias",
    .mlp_bias = BIAS_BY_KEY,
    .mlp_bias_key = "mlp_bias",
    .no_norm_bias = true,
    .first_without_norm = true,
    .rotary_base = {"global_rope_theta", 160000},
    .names = {.words = "embeddings.tok_embeddings",
	      .embedding_norm = "embeddings.norm",
	      .attention_norm = "layers.{i}.attn_norm",
	      .fused = "layers.{i}.attn.Wqkv",
	      .output = "layers.{i}.attn.Wo",
	      .mlp_norm = "layers.{i}.mlp_norm",
	      .gate_up = "layers.{i}.mlp.Wi",
	      .down = "layers.{i}.mlp.Wo",
	      .final_norm = "final_norm",
	      .head_dense = "head.dense",
	      .head_norm = "head.norm",
	      .head = "decoder",
	      .head_bias = "decoder.bias"},
    .adjust = adjust_modernbert,
};

const struct family *const encoder_families[] = {&bert,   &roberta, &electra,    &distilbert,
						 &albert, &mpnet,   &modernbert, NULL};
