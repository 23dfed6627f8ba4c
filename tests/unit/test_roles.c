/* The table of roles and settings, against itself and against names that people know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <string.h>

#include "attention/normalizer.h"
#include "attention/score.h"
#include "input/roles.h"

static void test_find(void **state)
{
	(void)state;
	assert_int_equal(role_find("wq"), ROLE_WQ);
	assert_int_equal(role_find("WQ"), ROLE_NONE);
	assert_int_equal(role_find(""), ROLE_NONE);
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++)
		assert_int_equal(role_find(roles[id].name), id);
}

static void test_entries(void **state)
{
	(void)state;
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++) {
		const struct role *role = &roles[id];
		assert_true(role->form[0] && role->meaning[0]);
		for (const char *c = role->name; *c; c++)
			assert_true(islower((unsigned char)*c) || *c == '_');
		assert_true(strlen(role->name) < ROLE_NAME - 2);
		/* Only settings have options, and these an argument unless they are true or false. */
		if (role->option)
			assert_true(role_is_setting(role) || role->kind == KIND_PER_HEAD);
		if (role->option)
			assert_true((role->kind == KIND_BOOL) == (role->option[0] == '\0'));
		else
			assert_true(!role->variant && !role->preset);
		if (role->choice)
			assert_true(role->without && role_is_setting(&roles[role->choice]));
		/* What has a way into an input is used, or says what it needs. */
		if (role->about & (ABOUT_FORM | ABOUT_RESULT))
			assert_true(role->without || id == ROLE_VERSION);
	}
}

static void test_kinds(void **state)
{
	(void)state;
	assert_int_equal(roles[ROLE_WQ].kind, KIND_TENSOR);
	assert_int_equal(roles[ROLE_WEIGHTS].kind, KIND_RESULT);
	assert_int_equal(roles[ROLE_TOKENS].kind, KIND_TEXT);
	assert_int_equal(roles[ROLE_SINKS].kind, KIND_PER_HEAD);
	assert_int_equal(roles[ROLE_NUM_HEADS].kind, KIND_SETTING);
	assert_int_equal(roles[ROLE_WINDOW].kind, KIND_PAIR);
	assert_int_equal(roles[ROLE_CAUSAL].kind, KIND_BOOL);
	assert_int_equal(roles[ROLE_SCORE].kind, KIND_CHOICE);
	assert_false(role_is_setting(&roles[ROLE_SINKS]));
	assert_true(role_is_setting(&roles[ROLE_SCORE]));
}

static void test_words(void **state)
{
	char word[ROLE_NAME];
	(void)state;
	assert_true(role_word(&roles[ROLE_NORMALIZER], 2, word));
	assert_string_equal(word, "entmax15");
	assert_true(role_word(&roles[ROLE_AXES], 2, word));
	assert_string_equal(word, "layer,batch");
	assert_false(role_word(&roles[ROLE_AXES], 3, word));
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++)
		if (roles[id].kind == KIND_CHOICE)
			assert_true(role_word(&roles[id], 1, word));
	/* Attention has them of the same names. */
	for (size_t i = 0; role_word(&roles[ROLE_SCORE], i, word); i++)
		assert_string_equal(score_function_named(word)->name, word);
	for (size_t i = 0; role_word(&roles[ROLE_NORMALIZER], i, word); i++)
		assert_string_equal(normalizer_named(word)->name, word);
}

static void test_options(void **state)
{
	char option[ROLE_NAME];
	(void)state;
	role_option(&roles[ROLE_NUM_KV_HEADS], option);
	assert_string_equal(option, "num-kv-heads");
}

static void test_suggestions(void **state)
{
	(void)state;
	assert_string_equal(role_suggest("embedings"), "embeddings");
	assert_string_equal(role_suggest("key_paddding"), "key_padding");
	assert_string_equal(role_suggest("num_head"), "num_heads");
	assert_string_equal(role_suggest("Mask"), "mask");
	assert_null(role_suggest("x"));
	assert_null(role_suggest("model.layers.0.self_attn"));
	/* As published configurations have them. */
	assert_string_equal(role_suggest("sliding_window"), "window");
	assert_string_equal(role_suggest("rope_theta"), "rope");
	assert_string_equal(role_suggest("num_key_value_heads"), "num_kv_heads");
	assert_string_equal(role_suggest("logit_softcapping"), "softcap");
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++)
		for (size_t i = 0; i < ROLE_ALIASES && roles[id].aliases[i]; i++)
			assert_string_equal(role_suggest(roles[id].aliases[i]), roles[id].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_find),  cmocka_unit_test(test_entries), cmocka_unit_test(test_kinds),
	    cmocka_unit_test(test_words), cmocka_unit_test(test_options), cmocka_unit_test(test_suggestions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
