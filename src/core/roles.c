#include "core/roles.h"

#include <math.h>
#include <string.h>

#include "core/strings.h"

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
    {"scale", ROLE_SETTING, "a number", "factor of the scores, 1/sqrt(d) by default"},
    {"softcap", ROLE_SETTING, "a number, 0 for none", "scores s become c tanh(s / c)"},
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

const struct unsupported *unsupported_find(const char *name)
{
	static const struct unsupported names[] = {
	    {"score", "scaled-dot", NAN}, {"window", "-1,-1", -1}, {"rope", "none", NAN},
	    {"alibi", "false", 0},        {"sinks", NULL, NAN},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i].name, name) == 0)
			return &names[i];
	return NULL;
}

const char *role_suggest(const char *name)
{
	const char *best = NULL;
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
