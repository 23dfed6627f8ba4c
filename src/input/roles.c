#include "input/roles.h"

#include <string.h>

#include "util/strings.h"

const struct role roles[] = {
    {"embeddings", ROLE_TENSOR, "(N, D) or (B, N, D)", "token vectors that queries are made from"},
    {"source_embeddings", ROLE_TENSOR, "(M, S) or (B, M, S)",
     "where keys and values come from: cross-attention"},
    {"source_values", ROLE_TENSOR, "(M, S') or (B, M, S')",
     "where values come from, if not from the keys' vectors"},
    {"wq", ROLE_TENSOR, "(D, H d)", "query projection"},
    {"wk", ROLE_TENSOR, "(S, G d)", "key projection"},
    {"wv", ROLE_TENSOR, "(S', G e)", "value projection"},
    {"wo", ROLE_TENSOR, "(H e, any)", "output projection"},
    {"bq", ROLE_TENSOR, "(H d)", "query bias"},
    {"bk", ROLE_TENSOR, "(G d)", "key bias"},
    {"bv", ROLE_TENSOR, "(G e)", "value bias"},
    {"bo", ROLE_TENSOR, "(any)", "output bias"},
    {"wqkv", ROLE_TENSOR, "(D, H d + G d + G e)", "fused projection: query, then key, then value"},
    {"bqkv", ROLE_TENSOR, "(H d + G d + G e)", "fused bias"},
    {"q", ROLE_TENSOR, "(H, N, d), packed (N, H d), or with B in front", "ready-made queries"},
    {"k", ROLE_TENSOR, "(G, M, d), packed (M, G d), or with B in front", "ready-made keys"},
    {"v", ROLE_TENSOR, "(G, M, e), packed (M, G e), or with B in front", "ready-made values"},
    {"mask", ROLE_TENSOR, "(N, M), or with H, or with B and H in front", "bool: true = attend; float: added"},
    {"key_padding", ROLE_TENSOR, "(M) or (B, M)", "bool: true = a real key"},
    {"past_k", ROLE_TENSOR, "(G, P, d) or (B, G, P, d)", "keys that come before those of this input"},
    {"past_v", ROLE_TENSOR, "(G, P, e) or (B, G, P, e)", "values that come before those of this input"},
    {"kv_lengths", ROLE_TENSOR, "(B)", "how many keys of each batch item are real"},
    {"bias_k", ROLE_TENSOR, "(G d)", "one learned key, appended and never masked"},
    {"bias_v", ROLE_TENSOR, "(G e)", "one learned value, appended and never masked"},

    {"score_w", ROLE_TENSOR, "(d, d of k) or (d, a), or with H in front", "query matrix of a score function"},
    {"score_u", ROLE_TENSOR, "(d of k, a), or with H in front", "key matrix of additive scores"},
    {"score_v", ROLE_TENSOR, "(a), or with H in front", "vector of additive scores"},
    {"score_b", ROLE_TENSOR, "(a), or with H in front", "bias of additive scores"},
    {"q_norm", ROLE_TENSOR, "(d) or (H, d)", "gain of the norm of queries"},
    {"k_norm", ROLE_TENSOR, "(d) or (G, d)", "gain of the norm of keys"},
    {"segments", ROLE_TENSOR, "(N) or (B, N)", "document of each query, and of its own key"},
    {"source_segments", ROLE_TENSOR, "(P + M), or with B in front", "document of each key"},
    {"positions", ROLE_TENSOR, "(N) or (B, N)", "position of each query, and of its own key"},
    {"source_positions", ROLE_TENSOR, "(M) or (B, M)", "position of each key"},
    {"position_table", ROLE_TENSOR, "(T, D)", "learned positions, added to embeddings"},
    {"source_position_table", ROLE_TENSOR, "(T, S)", "learned positions, added to source_embeddings"},
    {"relative_bias", ROLE_TENSOR, "(T, H)", "T5's biases, one for each bucket of distances"},
    {"wdq", ROLE_TENSOR, "(D, r)", "latent attention: query, down"},
    {"wuq", ROLE_TENSOR, "(r, H d) or (D, H d)", "latent attention: query, up"},
    {"wqr", ROLE_TENSOR, "(r, H t) or (D, H t)", "latent attention: rotary part of the query"},
    {"wdkv", ROLE_TENSOR, "(S, l)", "latent attention: keys and values, down"},
    {"wuk", ROLE_TENSOR, "(l, H d)", "latent attention: key, up"},
    {"wuv", ROLE_TENSOR, "(l, H e)", "latent attention: value, up"},
    {"wukv", ROLE_TENSOR, "(l, H (d + e))", "latent attention: key and value, up"},
    {"wkr", ROLE_TENSOR, "(S, t)", "latent attention: rotary part of the key"},
    {"q_latent_norm", ROLE_TENSOR, "(r)", "gain of the norm of query latents"},
    {"kv_latent_norm", ROLE_TENSOR, "(l)", "gain of the norm of key and value latents"},

    {"temperature", ROLE_PER_HEAD, "a number, or (H)", "divides the scores"},
    {"sinks", ROLE_PER_HEAD, "a number, or (H)", "a logit in the softmax that has no value"},
    {"lambda", ROLE_PER_HEAD, "a number, or (H)", "differential attention: weight of the second map"},
    {"alibi_slopes", ROLE_PER_HEAD, "a number, or (H)", "ALiBi's slopes, where they are not the usual ones"},

    {"weights", ROLE_RESULT, "(H, N, M), or with B in front, or with L and B", "attention weights"},
    {"context", ROLE_RESULT, "(N, H e) or (B, N, H e)", "weighted values, heads side by side"},
    {"output", ROLE_RESULT, "(N, any) or (B, N, any)", "the context after the output projection"},
    {"scores", ROLE_RESULT, "(H, N, M) or (B, H, N, M)", "scores before the softmax"},

    {"tokens", ROLE_TEXT, "N strings", "labels of the queries, and of the keys in self-attention"},
    {"source_tokens", ROLE_TEXT, "M strings", "labels of the keys"},
    {"head_names", ROLE_TEXT, "H strings", "names of the heads"},

    {"num_heads", ROLE_SETTING, "a whole number", "query heads H"},
    {"num_kv_heads", ROLE_SETTING, "a whole number", "key and value heads G; H is a multiple of it"},
    {"packed", ROLE_SETTING, "true or false", "q, k, v hold their heads side by side"},
    {"causal", ROLE_SETTING, "true or false", "a query sees no key after its own position"},
    {"window", ROLE_SETTING_PAIR, "'L,R', -1 for no bound",
     "a query sees the L keys before its own and the R after"},
    {"dilation", ROLE_SETTING, "a whole number", "of the window only every so many-th key"},
    {"blocks", ROLE_SETTING, "'size=S,global=G,window=W,random=R,seed=X'",
     "block-sparse attention as in BigBird"},
    {"prefix", ROLE_SETTING, "a whole number", "causal, but the first keys are seen by all queries"},
    {"score", ROLE_SETTING, "'scaled-dot', 'dot', 'general', 'additive' or 'cosine'", "the score function"},
    {"scale", ROLE_SETTING, "a number", "factor of the scores, 1/sqrt(d) by default"},
    {"softcap", ROLE_SETTING, "a number, 0 for none", "scores s become c tanh(s / c)"},
    {"normalizer", ROLE_SETTING, "'softmax', 'sparsemax', 'entmax15' or 'linear'",
     "how scores become weights"},
    {"zero_sink", ROLE_SETTING, "true or false", "a sink of 0 in each head: softmax with 1 more below"},
    {"top_k", ROLE_SETTING, "a whole number", "only so many highest scores of a query take part"},
    {"qk_norm", ROLE_SETTING, "'none', 'rms' or 'l2'", "queries and keys are normalised"},
    {"qk_norm_eps", ROLE_SETTING, "a number", "keeps that from dividing by 0"},
    {"position_offset", ROLE_SETTING, "a whole number", "position of the first query"},
    {"sinusoidal", ROLE_SETTING, "true or false", "sinusoidal positions are added to embeddings"},
    {"rope", ROLE_SETTING, "a number, or 'none'", "base of rotary positions"},
    {"rope_style", ROLE_SETTING, "'half' or 'interleaved'", "which dimensions make a rotary pair"},
    {"rope_dim", ROLE_SETTING, "a whole number", "how many dimensions are turned"},
    {"rope_scaling", ROLE_SETTING, "'linear=F' or 'ntk=F'", "rotary positions for longer texts"},
    {"alibi", ROLE_SETTING, "true or false", "scores fall with the distance, by a slope for each head"},
    {"relative_max_distance", ROLE_SETTING, "a whole number", "where the last of T5's buckets begins"},
    {"relative_bidirectional", ROLE_SETTING, "true or false",
     "T5's buckets tell keys before from keys after"},
    {"add_zero_attn", ROLE_SETTING, "true or false", "append a key and a value of zeros"},
    {"layout", ROLE_SETTING, "'in,out' or 'out,in'", "how weight matrices are stored"},
    {"layer", ROLE_SETTING, "a whole number", "the number of this layer, for titles and tables"},
    {"axes", ROLE_SETTING, "'layer', 'batch' or 'layer,batch'",
     "what stands before the head in stored weights"},
    {"past_keys", ROLE_SETTING, "a whole number", "in a stored result: keys that come before this input's"},
    {"appended_keys", ROLE_SETTING, "'bias', 'zero' or 'bias,zero'",
     "in a stored result: keys appended at the end"},
    {"version", ROLE_SETTING, "text", "in a stored result: the program that wrote it"},
    {NULL, ROLE_SETTING, NULL, NULL},
};

const struct role *role_find(const char *name)
{
	for (const struct role *role = roles; role->name; role++)
		if (strcmp(role->name, name) == 0)
			return role;
	return NULL;
}

/* What published configurations call settings of ours. */
static const char *role_alias(const char *name)
{
	static const char *const aliases[][2] = {
	    {"sliding_window", "window"},          {"rope_theta", "rope"},
	    {"num_attention_heads", "num_heads"},  {"num_key_value_heads", "num_kv_heads"},
	    {"attn_logit_softcapping", "softcap"}, {"logit_softcapping", "softcap"},
	};
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strcmp(name, aliases[i][0]) == 0)
			return aliases[i][1];
	return NULL;
}

const char *role_suggest(const char *name)
{
	const char *best = role_alias(name);
	if (best)
		return best;
	size_t length = strlen(name), nearest = length / 3 > 2 ? length / 3 : 2;
	if (length <= 2)
		nearest = 0; /* one- and two-letter names are all alike */
	for (const struct role *role = roles; role->name; role++) {
		size_t distance = edit_distance(name, role->name);
		if (distance <= nearest && distance < strlen(role->name)) {
			if (!best || distance < edit_distance(name, best))
				best = role->name;
		}
	}
	return best;
}
