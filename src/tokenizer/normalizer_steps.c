/* What each normalizer does, as the reference's src/normalizers and its NormalizedString do it. */
#include <string.h>

#include "tokenizer/bytes.h"
#include "tokenizer/normalizer_internal.h"
#include "tokenizer/unicode.h"
#include "util/utf8.h"

static bool is_ascii(const struct aligned *in)
{
	unsigned char all = 0;
	for (size_t i = 0; i < in->length; i++)
		all |= (unsigned char)in->text[i];
	return all < 0x80;
}

static size_t decode(const struct aligned *in, size_t at, uint32_t *code)
{
	return utf8_decode(in->text + at, in->length - at, code);
}

enum attn_status normalize_form(const struct normalizer_step *step, const struct aligned *in, size_t origin,
				struct aligned *out, struct attn_error *err)
{
	struct changes changes = {.failed = false};
	(void)err;
	if (is_ascii(in)) {
		aligned_add_part(out, in, 0, in->length);
		return ATTN_OK;
	}
	unicode_normalize(&changes, in->text, in->length, step->compatible, step->compose);
	aligned_add_changed(out, in, &changes, 0, origin);
	changes_release(&changes);
	return ATTN_OK;
}

enum attn_status normalize_lowercase(const struct normalizer_step *step, const struct aligned *in,
				     size_t origin, struct aligned *out, struct attn_error *err)
{
	(void)step;
	(void)origin;
	(void)err;
	for (size_t i = 0; i < in->length;) {
		uint32_t code = 0, lower[2];
		size_t length = decode(in, i, &code);
		size_t count = unicode_lower(code, lower);
		for (size_t c = 0; c < count; c++) {
			char text[4];
			aligned_add(out, text, utf8_encode(lower[c], text), in->spans[i]);
		}
		i += length;
	}
	return ATTN_OK;
}

/* Copy the characters that are not of a class. */
static void drop(const struct aligned *in, bool (*dropped)(uint32_t code), struct aligned *out)
{
	size_t kept = 0; /* from here on */
	for (size_t i = 0; i < in->length;) {
		uint32_t code = 0;
		size_t length = decode(in, i, &code);
		if (dropped(code)) {
			aligned_add_part(out, in, kept, i);
			kept = i + length;
		}
		i += length;
	}
	aligned_add_part(out, in, kept, in->length);
}

enum attn_status normalize_accents(const struct normalizer_step *step, const struct aligned *in,
				   size_t origin, struct aligned *out, struct attn_error *err)
{
	(void)step;
	(void)origin;
	(void)err;
	drop(in, unicode_is_mark, out);
	return ATTN_OK;
}

enum attn_status normalize_nonspacing(const struct normalizer_step *step, const struct aligned *in,
				      size_t origin, struct aligned *out, struct attn_error *err)
{
	(void)step;
	(void)origin;
	(void)err;
	drop(in, unicode_is_nonspacing, out);
	return ATTN_OK;
}

enum attn_status normalize_strip(const struct normalizer_step *step, const struct aligned *in, size_t origin,
				 struct aligned *out, struct attn_error *err)
{
	size_t start = 0, end = 0;
	bool before = step->left; /* nothing but spaces so far */
	(void)origin;
	(void)err;
	for (size_t i = 0; i < in->length;) {
		uint32_t code = 0;
		bool space;
		size_t length = decode(in, i, &code);
		space = unicode_is_space(code);
		i += length;
		if (before && space)
			start = end = i;
		else if (!space || !step->right)
			end = i;
		before &= space;
	}
	aligned_add_part(out, in, start, end);
	return ATTN_OK;
}

enum attn_status normalize_replace(const struct normalizer_step *step, const struct aligned *in,
				   size_t origin, struct aligned *out, struct attn_error *err)
{
	struct ranges found = {.items = NULL};
	enum attn_status status = pattern_find(step->pattern, in->text, in->length, &found, err);
	for (size_t i = 0; status == ATTN_OK && i < found.count; i++) {
		struct range r = found.items[i];
		struct span span = {(uint32_t)origin, (uint32_t)origin};
		if (r.end > 0) /* what it is replaced by stands for the last character of the match */
			span = in->spans[r.end - 1];
		if (r.match)
			aligned_add(out, step->text, strlen(step->text), span);
		else
			aligned_add_part(out, in, r.start, r.end);
	}
	ranges_release(&found);
	return status;
}

enum attn_status normalize_prepend(const struct normalizer_step *step, const struct aligned *in,
				   size_t origin, struct aligned *out, struct attn_error *err)
{
	(void)origin;
	(void)err;
	if (in->length > 0)
		aligned_add(out, step->text, strlen(step->text), in->spans[0]);
	aligned_add_part(out, in, 0, in->length);
	return ATTN_OK;
}

enum attn_status normalize_clean(const struct normalizer_step *step, const struct aligned *in, size_t origin,
				 struct aligned *out, struct attn_error *err)
{
	(void)step;
	(void)origin;
	(void)err;
	for (size_t i = 0; i < in->length;) {
		uint32_t code = 0;
		size_t length = decode(in, i, &code);
		bool control = code != '\t' && code != '\n' && code != '\r' && unicode_is_other(code);
		if (code == 0 || code == 0xfffd || control)
			; /* dropped */
		else if (unicode_is_space(code))
			aligned_add(out, " ", 1, in->spans[i]);
		else
			aligned_add_part(out, in, i, i + length);
		i += length;
	}
	return ATTN_OK;
}

/* As in the reference: 2B820 to 2B91F are not among them. */
static bool is_chinese(uint32_t code)
{
	return (code >= 0x4e00 && code <= 0x9fff) || (code >= 0x3400 && code <= 0x4dbf) ||
	       (code >= 0x20000 && code <= 0x2a6df) || (code >= 0x2a700 && code <= 0x2b81f) ||
	       (code >= 0x2b920 && code <= 0x2ceaf) || (code >= 0xf900 && code <= 0xfaff) ||
	       (code >= 0x2f800 && code <= 0x2fa1f);
}

enum attn_status normalize_chinese(const struct normalizer_step *step, const struct aligned *in,
				   size_t origin, struct aligned *out, struct attn_error *err)
{
	(void)step;
	(void)origin;
	(void)err;
	for (size_t i = 0; i < in->length;) {
		uint32_t code = 0;
		size_t length = decode(in, i, &code);
		size_t spaces = is_chinese(code);
		aligned_add(out, " ", spaces, in->spans[i]);
		aligned_add_part(out, in, i, i + length);
		aligned_add(out, " ", spaces, in->spans[i]);
		i += length;
	}
	return ATTN_OK;
}

/* SentencePiece's rules for translation (nmt in its builder.cc). */
static bool is_nmt_control(uint32_t code)
{
	return (code >= 0x1 && code <= 0x8) || code == 0xb || (code >= 0xe && code <= 0x1f) || code == 0x7f ||
	       code == 0x8f || code == 0x9f;
}

static bool is_nmt_space(uint32_t code)
{
	return code == 0x9 || code == 0xa || code == 0xc || code == 0xd || code == 0x1680 ||
	       (code >= 0x200b && code <= 0x200f) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
	       code == 0xfeff || code == 0xfffd;
}

enum attn_status normalize_nmt(const struct normalizer_step *step, const struct aligned *in, size_t origin,
			       struct aligned *out, struct attn_error *err)
{
	(void)step;
	(void)origin;
	(void)err;
	for (size_t i = 0; i < in->length;) {
		uint32_t code = 0;
		size_t length = decode(in, i, &code);
		if (is_nmt_space(code))
			aligned_add(out, " ", 1, in->spans[i]);
		else if (!is_nmt_control(code))
			aligned_add_part(out, in, i, i + length);
		i += length;
	}
	return ATTN_OK;
}

enum attn_status normalize_bytes(const struct normalizer_step *step, const struct aligned *in, size_t origin,
				 struct aligned *out, struct attn_error *err)
{
	(void)step;
	(void)origin;
	(void)err;
	aligned_add_letters(out, in, 0, in->length);
	return ATTN_OK;
}

static size_t count_characters(const char *text, size_t length)
{
	size_t count = 0;
	for (size_t i = 0; i < length; i++)
		count += (text[i] & 0xc0) != 0x80;
	return count;
}

/* Look text[length] up as a whole: the shortest beginning of it that is mapped replaces all of it.
 * The last characters of a longer replacement are put in; what a shorter one leaves over is taken
 * by its last character, or by the one before it where it is empty. */
static bool map_part(const struct charsmap *map, const char *text, size_t length, struct changes *out)
{
	size_t matched, replacement_length;
	const char *replacement;
	if (!charsmap_find(map, text, length, false, &matched, &replacement, &replacement_length))
		return false;
	size_t old_count = count_characters(text, length);
	size_t count = 0;
	for (size_t i = 0; i < replacement_length; count++) {
		uint32_t code = 0;
		i += utf8_decode(replacement + i, replacement_length - i, &code);
		changes_add(out, code, count >= old_count);
	}
	if (count < old_count && out->count > 0)
		out->items[out->count - 1].taken -= (int32_t)(old_count - count);
	return true;
}

/* The reference maps grapheme clusters of fewer than 6 bytes, and the characters of what is no such
 * cluster or is not mapped. */
enum attn_status normalize_map(const struct normalizer_step *step, const struct aligned *in, size_t origin,
			       struct aligned *out, struct attn_error *err)
{
	struct changes changes = {.failed = false};
	bool modified = false;
	(void)err;
	for (size_t i = 0; i < in->length;) {
		size_t end = i + unicode_cluster(in->text + i, in->length - i);
		if (end - i < 6 && map_part(step->map, in->text + i, end - i, &changes)) {
			modified = true;
			i = end;
			continue;
		}
		while (i < end) {
			uint32_t code = 0;
			size_t length = decode(in, i, &code);
			if (map_part(step->map, in->text + i, length, &changes))
				modified = true;
			else
				changes_add(&changes, code, 0);
			i += length;
		}
	}
	if (modified)
		aligned_add_changed(out, in, &changes, 0, origin);
	else
		aligned_add_part(out, in, 0, in->length);
	out->failed |= changes.failed;
	changes_release(&changes);
	return ATTN_OK;
}
