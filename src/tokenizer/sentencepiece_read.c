/* The file of a SentencePiece model: a message of protocol buffers, of which few fields matter here
 * (sentencepiece_model.proto; the encoding: protobuf.dev, "Encoding"). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/sentencepiece.h"
#include "util/utf8.h"

/* The fields of a message that are still to be read. */
struct message {
	const unsigned char *at, *end;
};

enum wire_type {
	WIRE_NUMBER = 0,
	WIRE_EIGHT = 1,
	WIRE_BYTES = 2,
	WIRE_FOUR = 5,
};

struct field {
	uint64_t number; /* of the field */
	enum wire_type type;
	uint64_t value;       /* a number, or the bits of a float */
	struct message bytes; /* of WIRE_BYTES */
};

static bool read_varint(struct message *m, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && m->at < m->end; shift += 7) {
		unsigned char byte = *m->at++;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool read_fixed(struct message *m, size_t size, uint64_t *value)
{
	if ((size_t)(m->end - m->at) < size)
		return false;
	*value = 0;
	for (size_t i = size; i-- > 0;)
		*value = *value << 8 | m->at[i];
	m->at += size;
	return true;
}

/* Read the next field; false: it doesn't end within the message, or is of a type that isn't written any
 * more. */
static bool read_field(struct message *m, struct field *f)
{
	uint64_t key, length;
	if (!read_varint(m, &key))
		return false;
	f->number = key >> 3;
	f->type = (enum wire_type)(key & 7);
	switch (f->type) {
	case WIRE_NUMBER:
		return read_varint(m, &f->value);
	case WIRE_EIGHT:
		return read_fixed(m, 8, &f->value);
	case WIRE_FOUR:
		return read_fixed(m, 4, &f->value);
	case WIRE_BYTES:
		if (!read_varint(m, &length) || length > (uint64_t)(m->end - m->at))
			return false;
		f->bytes = (struct message){m->at, m->at + length};
		m->at += length;
		return true;
	}
	return false;
}

/* What a file says by the numbers of its fields. */
struct reading {
	struct sentencepiece_model *model;
	const unsigned char *start;
	struct attn_error *err;
};

static enum attn_status fail_field(const struct reading *r, const struct message *m)
{
	return attn_fail(r->err, ATTN_BAD_INPUT, "not a SentencePiece model: no whole field before byte %zu",
			 (size_t)(m->at - r->start));
}

/* proto2: what a piece doesn't say is "", 0 and normal. */
static enum attn_status read_piece(struct reading *r, struct message message)
{
	struct sentencepiece_model *model = r->model;
	struct sentencepiece_piece piece = {"", 0, 0, PIECE_NORMAL};
	struct field f;
	while (message.at < message.end) {
		if (!read_field(&message, &f))
			return fail_field(r, &message);
		if (f.number == 1 && f.type == WIRE_BYTES) {
			piece.text = (const char *)f.bytes.at;
			piece.length = (size_t)(f.bytes.end - f.bytes.at);
		} else if (f.number == 2 && f.type == WIRE_FOUR) {
			uint32_t bits = (uint32_t)f.value;
			memcpy(&piece.score, &bits, sizeof bits);
		} else if (f.number == 3 && f.type == WIRE_NUMBER) {
			if (f.value < PIECE_NORMAL || f.value > PIECE_BYTE)
				return attn_fail(r->err, ATTN_BAD_INPUT,
						 "piece %zu is of type %llu, expected 1 to 6", model->count,
						 (unsigned long long)f.value);
			piece.type = (enum sentencepiece_type)f.value;
		}
	}
	if (model->count == model->capacity) {
		size_t capacity = model->capacity ? 2 * model->capacity : 1024;
		struct sentencepiece_piece *pieces = reallocarray(model->pieces, capacity, sizeof *pieces);
		if (!pieces)
			return attn_fail_memory(r->err);
		model->pieces = pieces;
		model->capacity = capacity;
	}
	model->pieces[model->count++] = piece;
	return ATTN_OK;
}

/* TrainerSpec: 3 model_type, 24 treat_whitespace_as_suffix, 35 byte_fallback. */
static enum attn_status read_trainer(struct reading *r, struct message message)
{
	struct field f;
	while (message.at < message.end) {
		if (!read_field(&message, &f))
			return fail_field(r, &message);
		if (f.type != WIRE_NUMBER)
			continue;
		if (f.number == 3 && f.value != 1 && f.value != 2)
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'model_type' is %llu, expected 1 (Unigram) or 2 (BPE)",
					 (unsigned long long)f.value);
		if (f.number == 3)
			r->model->bpe = f.value == 2;
		else if (f.number == 24)
			r->model->space_as_suffix = f.value != 0;
		else if (f.number == 35)
			r->model->byte_fallback = f.value != 0;
	}
	return ATTN_OK;
}

/* NormalizerSpec: 2 precompiled_charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces,
 * 5 escape_whitespaces. */
static enum attn_status read_normalizer(struct reading *r, struct message message)
{
	struct field f;
	while (message.at < message.end) {
		if (!read_field(&message, &f))
			return fail_field(r, &message);
		if (f.number == 2 && f.type == WIRE_BYTES) {
			r->model->map = (const char *)f.bytes.at;
			r->model->map_length = (size_t)(f.bytes.end - f.bytes.at);
		} else if (f.number == 3 && f.type == WIRE_NUMBER) {
			r->model->dummy_prefix = f.value != 0;
		} else if (f.number == 4 && f.type == WIRE_NUMBER) {
			r->model->remove_spaces = f.value != 0;
		} else if (f.number == 5 && f.type == WIRE_NUMBER) {
			r->model->escape_spaces = f.value != 0;
		}
	}
	return ATTN_OK;
}

/* ModelProto: 1 pieces, 2 trainer_spec, 3 normalizer_spec. */
enum attn_status sentencepiece_read(struct sentencepiece_model *m, const void *bytes, size_t length,
				    struct attn_error *err)
{
	const unsigned char *start = bytes;
	struct message message = {start, start + length};
	struct reading r = {m, start, err};
	struct field f;
	*m = (struct sentencepiece_model){.dummy_prefix = true, .remove_spaces = true, .escape_spaces = true};
	while (message.at < message.end) {
		if (!read_field(&message, &f))
			return fail_field(&r, &message);
		if (f.type != WIRE_BYTES)
			continue;
		if (f.number == 1)
			TRY(read_piece(&r, f.bytes));
		else if (f.number == 2)
			TRY(read_trainer(&r, f.bytes));
		else if (f.number == 3)
			TRY(read_normalizer(&r, f.bytes));
	}
	return m->count > 0 ? ATTN_OK
			    : attn_fail(err, ATTN_BAD_INPUT, "not a SentencePiece model: no pieces");
}

void sentencepiece_release(struct sentencepiece_model *m)
{
	free(m->pieces);
	*m = (struct sentencepiece_model){0};
}
