/* SPDX-License-Identifier: MIT */
#include "traces/rps/rps_frame.h"

#include "base/error.h"
#include "traces/rps/rps_fields.h"
#include "traces/rps/rps_format.h"
#include "traces/rps/stream_compressor.h"

void lode_rps_summary_clear(LodeRpsSummary *self)
{
	g_clear_pointer(&self->threads, g_free);
	self->n_threads = 0;
}

static void set_threads(LodeRpsSummary *self, const LodeTraceFrame *frame)
{
	g_autofree bool *is_there = g_new0(bool, LODE_MAX_TRACE_THREADS + 1);
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint16_t));

	for (size_t i = 0; i < frame->n_switches; i++)
		is_there[frame->switches[i].thread] = true;
	for (unsigned i = 0; i <= LODE_MAX_TRACE_THREADS; i++) {
		uint16_t thread = (uint16_t)i;

		if (is_there[i])
			g_array_append_val(threads, thread);
	}
	self->n_threads = threads->len;
	self->threads = (uint16_t *)(void *)g_array_free(g_steal_pointer(&threads), FALSE);
}

void lode_rps_summary_set(LodeRpsSummary *self, const LodeTraceFrame *frame)
{
	lode_rps_summary_clear(self);
	self->head = lode_frame_head_of(frame);
	set_threads(self, frame);
}

void lode_rps_summary_encode(const LodeRpsSummary *self, GByteArray *out)
{
	const LodeFrameHead *head = &self->head;

	lode_rps_put_u8(out, (uint8_t)self->form);
	lode_rps_put_varint(out, self->dictionary);
	lode_rps_put_varint(out, head->first_reference);
	lode_rps_put_varint(out, head->first_instruction);
	lode_rps_put_varint(out, head->n_references);
	lode_rps_put_varint(out, head->n_instructions);
	lode_rps_put_varint(out, head->first_new_block);
	lode_rps_put_varint(out, head->n_blocks);
	lode_rps_put_varint(out, head->n_invocations);
	lode_rps_put_varint(out, head->n_addresses);
	lode_rps_put_varint(out, head->n_switches);
	lode_rps_put_varint(out, self->n_threads);
	for (uint32_t i = 0; i < self->n_threads; i++)
		lode_rps_put_varint(
			out, (uint64_t)(self->threads[i] - (i > 0 ? self->threads[i - 1] : 0)));
}

static void decode_threads(LodeByteCursor *cursor, LodeRpsSummary *out)
{
	uint64_t n = lode_rps_take_bounded(
		cursor, MIN(lode_byte_cursor_left(cursor), (size_t)LODE_MAX_TRACE_THREADS + 1));
	uint64_t thread = 0;

	out->threads = g_new(uint16_t, n + 1);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t step = lode_rps_take_bounded(cursor, LODE_MAX_TRACE_THREADS - thread);

		if (i > 0 && step == 0)
			cursor->is_overrun = true;
		thread += step;
		out->threads[i] = (uint16_t)thread;
	}
	out->n_threads = (uint32_t)n;
	if (n == 0)
		cursor->is_overrun = true;
}

/* Whether the numbers satisfy the rules of every frame. */
static bool is_sensible(const LodeFrameHead *head)
{
	return head->first_new_block <= head->n_blocks && head->n_references > 0 &&
	       head->n_instructions + head->n_addresses == head->n_references &&
	       head->n_invocations > 0 && head->n_invocations <= head->n_references &&
	       head->n_switches > 0 && head->n_switches <= head->n_invocations &&
	       head->first_instruction <= head->first_reference &&
	       head->first_reference <= INT64_MAX;
}

void lode_rps_summary_decode(LodeByteCursor *cursor, LodeRpsSummary *out)
{
	LodeFrameHead *head = &out->head;
	uint8_t form = lode_byte_cursor_u8(cursor);

	out->form = form < LODE_RPS_N_FORMS ? (LodeRpsForm)form : LODE_RPS_CODED;
	out->dictionary = (uint32_t)lode_rps_take_bounded(cursor, LODE_RPS_MAX_FRAMES);
	head->first_reference = lode_rps_take_varint(cursor);
	head->first_instruction = lode_rps_take_varint(cursor);
	head->n_references = lode_rps_take_bounded(cursor, LODE_FRAME_MAX_REFERENCES);
	head->n_instructions = lode_rps_take_bounded(cursor, LODE_FRAME_MAX_REFERENCES);
	head->first_new_block = (uint32_t)lode_rps_take_bounded(cursor, LODE_DICTIONARY_MAX_BLOCKS);
	head->n_blocks = (uint32_t)lode_rps_take_bounded(cursor, LODE_DICTIONARY_MAX_BLOCKS);
	head->n_invocations = (uint32_t)lode_rps_take_bounded(cursor, LODE_FRAME_MAX_INVOCATIONS);
	head->n_addresses = (uint32_t)lode_rps_take_bounded(cursor, LODE_FRAME_MAX_ADDRESSES);
	head->n_switches = (uint32_t)lode_rps_take_bounded(cursor, LODE_FRAME_MAX_SWITCHES);
	decode_threads(cursor, out);
	if (form >= LODE_RPS_N_FORMS || !is_sensible(head))
		cursor->is_overrun = true;
}

void lode_rps_frame_clear(LodeRpsFrame *self)
{
	lode_rps_summary_clear(&self->summary);
}

bool lode_rps_frame_is_dictionary_stream(unsigned stream)
{
	return stream < lode_frame_codec_n_streams() &&
	       g_str_has_prefix(lode_frame_codec_stream_name(stream), "dictionary.");
}

void lode_rps_frame_encode(const LodeRpsFrame *self, GByteArray *out)
{
	lode_rps_summary_encode(&self->summary, out);
	lode_rps_put_u8(out, (uint8_t)self->n_streams);
	for (unsigned i = 0; i < self->n_streams; i++) {
		lode_rps_put_u8(out, self->streams[i]);
		lode_rps_put_varint(out, self->stream_bytes[i]);
	}
	lode_rps_put_u8(out, (uint8_t)self->n_pieces);
	for (unsigned i = 0; i < self->n_pieces; i++) {
		lode_rps_put_u8(out, self->pieces[i].n_streams);
		lode_rps_put_u8(out, self->pieces[i].compression);
		lode_rps_put_varint(out, self->pieces[i].packed_bytes);
		lode_rps_put_u32(out, self->pieces[i].checksum);
	}
}

static bool is_stream_of(LodeRpsForm form, unsigned stream)
{
	if (form == LODE_RPS_CODED)
		return stream < lode_frame_codec_n_streams();
	return lode_rps_frame_is_dictionary_stream(stream) ||
	       (stream >= LODE_PLAIN_FIRST_STREAM && stream < LODE_FRAME_MAX_STREAMS);
}

uint64_t lode_rps_frame_stream_bytes(const LodeRpsFrame *self)
{
	uint64_t total = 0;

	/* the words of a plain frame are never in memory at once */
	for (unsigned i = 0; i < self->n_streams; i++)
		total += self->streams[i] != LODE_PLAIN_WORDS ? self->stream_bytes[i] : 0;
	return total;
}

/* Streams that are empty are not listed; the others come in ascending order, each once. */
static void decode_streams(LodeByteCursor *cursor, LodeRpsFrame *out)
{
	uint8_t n_streams = lode_byte_cursor_u8(cursor);

	out->n_streams = MIN(n_streams, LODE_FRAME_MAX_STREAMS);
	for (unsigned i = 0; i < out->n_streams; i++) {
		out->streams[i] = lode_byte_cursor_u8(cursor);
		out->stream_bytes[i] = lode_rps_take_bounded(cursor, UINT32_MAX);
		if (out->stream_bytes[i] == 0 ||
			!is_stream_of(out->summary.form, out->streams[i]) ||
			(i > 0 && out->streams[i] <= out->streams[i - 1]))
			cursor->is_overrun = true;
	}
	if (lode_rps_frame_stream_bytes(out) > LODE_RPS_MAX_CODED_BYTES)
		cursor->is_overrun = true;
}

/* The piece's streams begin at `first`; all are of the dictionary, or none. Words stand alone, as
 * they are not unpacked into memory. */
static bool set_piece_bytes(LodeRpsFrame *self, LodeRpsPiece *piece, unsigned first)
{
	bool is_dictionary = lode_rps_frame_is_dictionary_stream(self->streams[first]);

	for (unsigned i = first; i < first + piece->n_streams; i++) {
		piece->bytes += self->stream_bytes[i];
		if (lode_rps_frame_is_dictionary_stream(self->streams[i]) != is_dictionary ||
			(self->streams[i] == LODE_PLAIN_WORDS && piece->n_streams > 1))
			return false;
	}
	if (!is_dictionary)
		return true;
	self->n_dictionary_pieces++;
	return self->n_dictionary_pieces == self->n_pieces + 1;
}

/* The pieces must cover streams and body exactly: offsets are computed, not read. */
static void decode_pieces(LodeByteCursor *cursor, uint64_t body_bytes, LodeRpsFrame *out)
{
	unsigned n = lode_byte_cursor_u8(cursor), stream = 0;
	uint64_t offset = 0;

	for (; out->n_pieces < n && !cursor->is_overrun; out->n_pieces++) {
		LodeRpsPiece *piece = &out->pieces[MIN(out->n_pieces, LODE_FRAME_MAX_STREAMS - 1)];

		piece->n_streams = lode_byte_cursor_u8(cursor);
		piece->compression = lode_byte_cursor_u8(cursor);
		piece->packed_bytes = lode_rps_take_bounded(cursor, body_bytes - offset);
		piece->checksum = lode_byte_cursor_u32(cursor);
		piece->offset = offset;
		offset += piece->packed_bytes;
		if (piece->n_streams == 0 || piece->n_streams > out->n_streams - stream ||
			piece->compression >= LODE_N_COMPRESSIONS ||
			!set_piece_bytes(out, piece, stream))
			cursor->is_overrun = true;
		stream += piece->n_streams;
	}
	if (offset != body_bytes || stream != out->n_streams)
		cursor->is_overrun = true;
}

bool lode_rps_frame_decode(
	const uint8_t *head, size_t size, uint64_t body_bytes, LodeRpsFrame *out, GError **error)
{
	LodeByteCursor cursor;

	lode_rps_cursor_init(&cursor, head, size);
	lode_rps_summary_decode(&cursor, &out->summary);
	decode_streams(&cursor, out);
	if (!cursor.is_overrun)
		decode_pieces(&cursor, body_bytes, out);
	if (!cursor.is_overrun && lode_byte_cursor_left(&cursor) == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "the head of a frame is damaged");
	return false;
}
