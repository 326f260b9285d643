/* SPDX-License-Identifier: MIT */
/* A chunk of references is in memory as words at a time: a frame of them would be larger than the
 * frame itself. */
#include "traces/blocks/plain_references.h"

#include "base/bits.h"
#include "base/error.h"
#include "traces/blocks/block_splitter.h"
#include "traces/rps/rps_fields.h"

enum {
	CHUNK = 1 << 13, /* references */
	N_NARROW_CODES = 256,
	N_WIDE_CODES = 255,
	ESCAPE = 255, /* wide: kind and size stand in the head */
	TABLE_SIZE = 1 << 12,
	TOP_SHIFT = 56,
};

void lode_plain_references_clear(LodePlainReferences *self)
{
	g_clear_pointer(&self->head, g_byte_array_unref);
	g_clear_pointer(&self->codes, g_byte_array_unref);
	g_clear_pointer(&self->words, g_byte_array_unref);
}

/* The size and kind that a code stands for. */
typedef struct {
	uint32_t size;
	uint8_t kind, top;
} Meaning;

typedef struct {
	Meaning meanings[N_NARROW_CODES];
	unsigned n, room;
	uint16_t table[TABLE_SIZE]; /* code + 1; 0: free; never more than a sixteenth is taken */
} Codes;

/* The code, a new one where there is room; `room` where there is none. */
static unsigned code_of(Codes *self, Meaning meaning)
{
	uint32_t hash = (meaning.size * 31U + meaning.kind) * 977U + meaning.top * 7U;
	uint32_t at = (hash ^ hash >> 12) % TABLE_SIZE;

	for (; self->table[at] != 0; at = (at + 1) % TABLE_SIZE) {
		const Meaning *known = &self->meanings[self->table[at] - 1];

		if (known->size == meaning.size && known->kind == meaning.kind &&
			known->top == meaning.top)
			return self->table[at] - 1U;
	}
	if (self->n == self->room)
		return self->room;
	self->meanings[self->n] = meaning;
	self->table[at] = (uint16_t)++self->n;
	return self->n - 1;
}

static Meaning meaning_of(const LodeReference *reference, LodeRpsForm form)
{
	return (Meaning){reference->size, reference->kind,
		form == LODE_RPS_NARROW ? (uint8_t)(reference->address >> TOP_SHIFT) : 0};
}

/* Whether narrow codes are enough. */
static bool is_narrow(const LodeTraceFrame *frame)
{
	g_autofree LodeReference *some = g_new(LodeReference, CHUNK);
	g_autofree Codes *codes = g_new0(Codes, 1);
	LodeTraceReferences walk;
	size_t n;

	codes->room = N_NARROW_CODES;
	lode_trace_references_init(&walk, frame);
	while ((n = lode_trace_references_next(&walk, some, CHUNK)) > 0) {
		for (size_t i = 0; i < n; i++) {
			if (code_of(codes, meaning_of(&some[i], LODE_RPS_NARROW)) == codes->room)
				return false;
		}
	}
	return true;
}

typedef struct {
	LodePlainReferences *out;
	LodeStreamCompressor *compressor;
	Codes *codes;
	GByteArray *switches, *escapes;
	uint64_t n_switches, n_escapes, n_since_switch;
	int thread; /* −1: none yet */
	uint64_t words[CHUNK];
} Packer;

/* Threads seldom change: the switches are in the head, not in each word. */
static void note_thread(Packer *self, uint16_t thread)
{
	if (self->thread != thread) {
		lode_rps_put_varint(self->switches, self->n_since_switch);
		lode_rps_put_varint(self->switches, thread);
		self->n_switches++;
		self->n_since_switch = 0;
		self->thread = thread;
	}
	self->n_since_switch++;
}

static uint64_t word_of(Packer *self, const LodeReference *reference)
{
	unsigned code = code_of(self->codes, meaning_of(reference, self->out->form));
	uint8_t byte = (uint8_t)code;

	note_thread(self, reference->thread);
	if (self->out->form == LODE_RPS_NARROW)
		return (reference->address & (LODE_BIT(TOP_SHIFT) - 1)) | (uint64_t)code
		                                                                  << TOP_SHIFT;
	if (code == N_WIDE_CODES) {
		lode_rps_put_varint(
			self->escapes, (uint64_t)reference->size << 2 | reference->kind);
		self->n_escapes++;
	}
	g_byte_array_append(self->out->codes, &byte, 1);
	return reference->address;
}

/* Gives up as soon as the result is too long, which most attempts are. */
static bool pack_words(Packer *self, const LodeTraceFrame *frame, size_t limit)
{
	g_autofree LodeReference *some = g_new(LodeReference, CHUNK);
	LodeTraceReferences walk;
	size_t n;

	lode_trace_references_init(&walk, frame);
	while ((n = lode_trace_references_next(&walk, some, CHUNK)) > 0) {
		for (size_t i = 0; i < n; i++)
			self->words[i] = GUINT64_TO_LE(word_of(self, &some[i]));
		lode_stream_compressor_add(self->compressor, self->words, n * sizeof(uint64_t));
		if (lode_stream_compressor_size(self->compressor) > limit)
			return false;
	}
	return true;
}

static GByteArray *make_head(const Packer *self)
{
	GByteArray *out = g_byte_array_new();

	lode_rps_put_varint(out, self->codes->n);
	for (unsigned i = 0; i < self->codes->n; i++) {
		lode_rps_put_varint(out, self->codes->meanings[i].size);
		lode_rps_put_u8(out, self->codes->meanings[i].kind);
		lode_rps_put_u8(out, self->codes->meanings[i].top);
	}
	lode_rps_put_varint(out, self->n_switches);
	g_byte_array_append(out, self->switches->data, self->switches->len);
	lode_rps_put_varint(out, self->n_escapes);
	g_byte_array_append(out, self->escapes->data, self->escapes->len);
	return out;
}

bool lode_plain_references_pack(const LodeTraceFrame *frame, LodeCompression compression, int level,
	size_t limit, LodePlainReferences *out)
{
	g_autofree Packer *self = g_new0(Packer, 1);
	g_autofree Codes *codes = g_new0(Codes, 1);
	g_autoptr(GByteArray) switches = g_byte_array_new();
	g_autoptr(GByteArray) escapes = g_byte_array_new();

	out->form = is_narrow(frame) ? LODE_RPS_NARROW : LODE_RPS_WIDE;
	out->codes = g_byte_array_new();
	out->words_bytes = frame->n_references * sizeof(uint64_t);
	out->words_compression = compression;
	g_autoptr(LodeStreamCompressor)
		compressor = lode_stream_compressor_new(compression, level, out->words_bytes);
	codes->room = out->form == LODE_RPS_NARROW ? N_NARROW_CODES : N_WIDE_CODES;
	*self = (Packer){out, compressor, codes, switches, escapes, .thread = -1};
	if (!pack_words(self, frame, limit))
		return false;
	out->words = lode_stream_compressor_finish(compressor);
	out->head = make_head(self);
	return out->words->len <= limit;
}

typedef struct {
	const LodePlainReferences *in;
	LodeByteCursor codes, switches, escapes;
	Meaning meanings[N_NARROW_CODES];
	uint64_t n_codes, n_switches, n_escapes, n_to_switch;
	uint16_t thread;
	LodeReference references[CHUNK];
	uint64_t words[CHUNK];
} Unpacker;

static void skip_varints(LodeByteCursor *cursor, uint64_t n)
{
	for (; n > 0 && !cursor->is_overrun; n--)
		lode_rps_take_varint(cursor);
}

/* Switches and escapes are only checked here, and read again while the words are unpacked: so they
 * need no memory. */
static bool read_head(Unpacker *self)
{
	LodeByteCursor cursor;

	lode_rps_cursor_init(&cursor, self->in->head->data, self->in->head->len);
	self->n_codes = lode_rps_take_bounded(&cursor, N_NARROW_CODES);
	for (uint64_t i = 0; i < self->n_codes; i++) {
		Meaning *meaning = &self->meanings[i];

		meaning->size = (uint32_t)lode_rps_take_bounded(&cursor, UINT32_MAX);
		meaning->kind = lode_byte_cursor_u8(&cursor);
		meaning->top = lode_byte_cursor_u8(&cursor);
		if (meaning->kind >= LODE_N_REFERENCE_KINDS)
			return false;
	}
	self->n_switches = lode_rps_take_bounded(&cursor, LODE_FRAME_MAX_REFERENCES);
	self->switches = cursor;
	skip_varints(&cursor, 2 * self->n_switches);
	self->n_escapes = lode_rps_take_bounded(&cursor, LODE_FRAME_MAX_REFERENCES);
	self->escapes = cursor;
	skip_varints(&cursor, self->n_escapes);
	lode_rps_cursor_init(&self->codes, self->in->codes->data, self->in->codes->len);
	self->n_to_switch = lode_rps_take_varint(&self->switches);
	return !cursor.is_overrun && lode_byte_cursor_left(&cursor) == 0 && self->n_switches > 0;
}

/* Moves on to the thread of the next reference. */
static void take_thread(Unpacker *self)
{
	while (self->n_to_switch == 0 && self->n_switches > 0) {
		self->thread = (uint16_t)lode_rps_take_bounded(
			&self->switches, LODE_MAX_TRACE_THREADS);
		self->n_switches--;
		self->n_to_switch = self->n_switches > 0 ? lode_rps_take_varint(&self->switches)
		                                         : UINT64_MAX;
	}
	self->n_to_switch--;
}

static bool take_escape(Unpacker *self, uint64_t address, LodeReference *out)
{
	uint64_t value = lode_rps_take_bounded(&self->escapes, (uint64_t)UINT32_MAX << 2 | 3);

	if (self->n_escapes == 0)
		return false;
	self->n_escapes--;
	*out = (LodeReference){address, (uint32_t)(value >> 2), self->thread, value & 3};
	return true;
}

static bool reference_of(Unpacker *self, uint64_t word, LodeReference *out)
{
	bool is_wide = self->in->form == LODE_RPS_WIDE;
	uint64_t code = is_wide ? lode_byte_cursor_u8(&self->codes) : word >> TOP_SHIFT;

	take_thread(self);
	if (is_wide && code == ESCAPE)
		return take_escape(self, word, out);
	if (code >= self->n_codes)
		return false;
	const Meaning *meaning = &self->meanings[code];
	if (!is_wide)
		word = (word & (LODE_BIT(TOP_SHIFT) - 1)) | (uint64_t)meaning->top << TOP_SHIFT;
	*out = (LodeReference){word, meaning->size, self->thread, meaning->kind};
	return true;
}

static bool fail(GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "damaged plain references");
	return false;
}

static bool unpack_words(
	Unpacker *self, LodeBlockSplitter *splitter, uint64_t n_references, GError **error)
{
	g_autoptr(LodeStreamDecompressor)
		decompressor = lode_stream_decompressor_new(self->in->words_compression,
			self->in->words->data, self->in->words->len, self->in->words_bytes);

	for (uint64_t left = n_references; left > 0;) {
		size_t n = MIN(left, CHUNK);

		if (!lode_stream_decompressor_read(
			    decompressor, self->words, n * sizeof(uint64_t), error))
			return false;
		for (size_t i = 0; i < n; i++) {
			if (!reference_of(
				    self, GUINT64_FROM_LE(self->words[i]), &self->references[i]))
				return fail(error);
		}
		if (lode_block_splitter_add(splitter, self->references, n) < n)
			return fail(error);
		left -= n;
	}
	return (self->codes.at == self->codes.end && !self->codes.is_overrun) || fail(error);
}

static bool is_as_announced(const LodeTraceFrame *frame, const LodeFrameHead *head)
{
	return frame->n_references == head->n_references &&
	       frame->n_instructions == head->n_instructions &&
	       frame->n_invocations == head->n_invocations &&
	       frame->n_addresses == head->n_addresses && frame->n_switches == head->n_switches;
}

/* The splitter makes blocks of the references, as it did for the writer: so the counts of the head
 * must come out again. */
LodeTraceFrame *lode_plain_references_unpack(
	const LodePlainReferences *self, const LodeFrameHead *head, GError **error)
{
	g_autofree Unpacker *unpacker = g_new0(Unpacker, 1);
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();

	unpacker->in = self;
	if (self->words_bytes != head->n_references * sizeof(uint64_t) || !read_head(unpacker)) {
		fail(error);
		return NULL;
	}
	if (!unpack_words(unpacker, splitter, head->n_references, error))
		return NULL;
	LodeTraceFrame *frame = lode_block_splitter_take_frame(splitter);
	if (frame == NULL || !is_as_announced(frame, head)) {
		lode_trace_frame_free(frame);
		fail(error);
		return NULL;
	}
	frame->first_reference = head->first_reference;
	frame->first_instruction = head->first_instruction;
	return frame;
}
