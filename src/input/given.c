#include "input/given.h"

static struct tensor *find_tensor(const struct bundle *b, enum role_id role)
{
	for (size_t i = 0; i < b->tensor_count; i++)
		if (b->tensors[i].role == role)
			return &b->tensors[i];
	return NULL;
}

static struct text *find_text(const struct bundle *b, enum role_id role)
{
	for (size_t i = 0; i < b->text_count; i++)
		if (b->texts[i].role == role)
			return &b->texts[i];
	return NULL;
}

static struct setting *find_setting(const struct bundle *b, enum role_id role)
{
	for (size_t i = 0; i < b->setting_count; i++)
		if (b->settings[i].role == role)
			return &b->settings[i];
	return NULL;
}

const struct tensor *given_tensor(const struct bundle *b, enum role_id role)
{
	return find_tensor(b, role);
}

const struct text *given_text(const struct bundle *b, enum role_id role)
{
	return find_text(b, role);
}

const struct setting *given_setting(const struct bundle *b, enum role_id role)
{
	return find_setting(b, role);
}

bool given(const struct bundle *b, enum role_id role)
{
	return find_tensor(b, role) || find_setting(b, role);
}

const struct tensor *given_about(const struct bundle *b, unsigned about)
{
	const struct tensor *first = NULL;
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct tensor *t = &b->tensors[i];
		if ((roles[t->role].about & about) && (!first || t->role < first->role))
			first = t;
	}
	return first;
}

struct tensor *use_tensor(const struct bundle *b, enum role_id role)
{
	struct tensor *t = find_tensor(b, role);
	if (t)
		t->used = true;
	return t;
}

const struct text *use_text(const struct bundle *b, enum role_id role)
{
	struct text *text = find_text(b, role);
	if (text)
		text->used = true;
	return text;
}

const struct setting *use_setting(const struct bundle *b, enum role_id role)
{
	struct setting *s = find_setting(b, role);
	if (s)
		s->used = true;
	return s;
}
