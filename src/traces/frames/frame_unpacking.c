/* SPDX-License-Identifier: MIT */
#include "traces/frames/frame_unpacking.h"

#include "base/error.h"
#include "traces/blocks/plain_references.h"
#include "traces/rps/rps_file.h"
#include "traces/rps/rps_format.h"

#include <string.h>

static bool prefix(const LodeFrameUnpacking *self, GError **error)
{
	g_prefix_error(error, "%s: frame %" G_GUINT64_FORMAT " at offset %" G_GUINT64_FORMAT ": ",
		self->file->path, self->number,
		lode_rps_file_frame(self->file, self->number)->offset);
	return false;
}

static bool fail(GError **error, const char *what)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s", what);
	return false;
}

/* Whether the index describes this frame. */
static bool is_as_listed(const LodeRpsSummary *a, const LodeRpsSummary *b)
{
	g_autoptr(GByteArray) bytes_a = g_byte_array_new();
	g_autoptr(GByteArray) bytes_b = g_byte_array_new();

	lode_rps_summary_encode(a, bytes_a);
	lode_rps_summary_encode(b, bytes_b);
	return bytes_a->len == bytes_b->len &&
	       memcmp(bytes_a->data, bytes_b->data, bytes_a->len) == 0;
}

static bool read_head(LodeFrameUnpacking *self, const LodeRpsEntry *entry, GError **error)
{
	LodeRpsSection section;
	g_autofree uint8_t *head = lode_rps_file_read_head(
		self->file, entry->offset, &section, error);

	if (head == NULL)
		return false;
	if (section.type != LODE_RPS_FRAME || lode_rps_section_bytes(&section) != entry->bytes)
		return fail(error, "another section than the index has");
	self->body_offset = entry->offset + LODE_RPS_SECTION_HEADER_BYTES + section.head_bytes;
	if (!lode_rps_frame_decode(head, section.head_bytes, section.body_bytes, &self->rps, error))
		return false;
	return is_as_listed(&self->rps.summary, &entry->summary) ||
	       fail(error, "another frame than the index has");
}

bool lode_frame_unpacking_init(
	LodeFrameUnpacking *self, const LodeRpsFile *file, uint64_t number, GError **error)
{
	memset(self, 0, sizeof(*self));
	self->file = file;
	self->number = number;
	lode_frame_streams_init(&self->streams);
	return read_head(self, lode_rps_file_frame(file, number), error) || prefix(self, error);
}

void lode_frame_unpacking_clear(LodeFrameUnpacking *self)
{
	lode_frame_streams_clear(&self->streams);
	lode_rps_frame_clear(&self->rps);
}

static uint8_t *read_piece(
	const LodeFrameUnpacking *self, const LodeRpsPiece *piece, GError **error)
{
	uint64_t offset = self->body_offset + piece->offset;
	g_autofree uint8_t *bytes = lode_rps_file_read(
		self->file, offset, piece->packed_bytes, error);

	if (bytes == NULL)
		return NULL;
	if (lode_rps_piece_checksum(bytes, piece->packed_bytes) == piece->checksum)
		return g_steal_pointer(&bytes);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"the checksum of %" G_GUINT64_FORMAT " bytes at offset %" G_GUINT64_FORMAT
		" does not match",
		piece->packed_bytes, offset);
	return NULL;
}

/* The streams of a piece, the first of which is the frame's `first`. */
static bool unpack_piece(
	LodeFrameUnpacking *self, const LodeRpsPiece *piece, unsigned first, GError **error)
{
	g_autofree uint8_t *packed = read_piece(self, piece, error);

	if (packed == NULL)
		return false;
	g_autoptr(LodeStreamDecompressor) decompressor = lode_stream_decompressor_new(
		piece->compression, packed, piece->packed_bytes, piece->bytes);
	for (unsigned i = first; i < first + piece->n_streams; i++) {
		GByteArray **place = &self->streams.streams[self->rps.streams[i]];

		if (*place == NULL)
			*place = g_byte_array_new();
		GByteArray *stream = *place;
		g_byte_array_set_size(stream, (guint)self->rps.stream_bytes[i]);
		if (!lode_stream_decompressor_read(
			    decompressor, stream->data, stream->len, error)) {
			g_prefix_error(error, "the bytes at offset %" G_GUINT64_FORMAT ": ",
				self->body_offset + piece->offset);
			return false;
		}
	}
	return true;
}

/* Unpacks pieces from … up to, before which there are `first` streams. */
static bool unpack_pieces(LodeFrameUnpacking *self, unsigned from, unsigned to, GError **error)
{
	unsigned first = 0;

	for (unsigned i = 0; i < to; i++) {
		const LodeRpsPiece *piece = &self->rps.pieces[i];

		if (i >= from && self->rps.streams[first] != LODE_PLAIN_WORDS &&
			!unpack_piece(self, piece, first, error))
			return false;
		first += piece->n_streams;
	}
	return true;
}

bool lode_frame_unpacking_add_blocks(
	LodeFrameUnpacking *self, LodeBlockDictionary *dictionary, GError **error)
{
	const LodeRpsSummary *summary = &self->rps.summary;

	if (!unpack_pieces(self, 0, self->rps.n_dictionary_pieces, error))
		return prefix(self, error);
	if (summary->form != LODE_RPS_CODED && self->rps.n_dictionary_pieces == 0 &&
		summary->head.n_blocks == summary->head.first_new_block)
		return true;
	return lode_frame_codec_decode_blocks(&self->streams, &summary->head, dictionary, error) ||
	       prefix(self, error);
}

static LodeTraceFrame *decode_plain(LodeFrameUnpacking *self, GError **error)
{
	const LodeRpsPiece *last = &self->rps.pieces[MAX(self->rps.n_pieces, 1) - 1];
	LodePlainReferences plain = {.form = self->rps.summary.form};

	if (self->rps.n_streams == 0 || last->n_streams != 1 ||
		self->rps.streams[self->rps.n_streams - 1] != LODE_PLAIN_WORDS ||
		self->streams.streams[LODE_PLAIN_HEAD] == NULL) {
		fail(error, "plain references without their streams");
		return NULL;
	}
	g_autofree uint8_t *words = read_piece(self, last, error);
	if (words == NULL)
		return NULL;
	g_autoptr(GByteArray) no_codes = g_byte_array_new();
	plain.head = self->streams.streams[LODE_PLAIN_HEAD];
	plain.codes = self->streams.streams[LODE_PLAIN_CODES];
	if (plain.codes == NULL)
		plain.codes = no_codes;
	plain.words = &(GByteArray){words, (guint)last->packed_bytes};
	plain.words_bytes = last->bytes;
	plain.words_compression = last->compression;
	return lode_plain_references_unpack(&plain, &self->rps.summary.head, error);
}

static bool unpack_rest(LodeFrameUnpacking *self, GError **error)
{
	return unpack_pieces(self, self->rps.n_dictionary_pieces, self->rps.n_pieces, error);
}

LodeTraceFrame *lode_frame_unpacking_decode(
	LodeFrameUnpacking *self, LodeBlockDictionary *dictionary, GError **error)
{
	LodeTraceFrame *frame = NULL;

	if (unpack_rest(self, error))
		frame = self->rps.summary.form != LODE_RPS_CODED
		                ? decode_plain(self, error)
		                : lode_frame_codec_decode(&self->streams, &self->rps.summary.head,
					  dictionary, error);
	if (frame == NULL)
		prefix(self, error);
	return frame;
}

GArray *lode_frame_unpacking_count_classes(
	LodeFrameUnpacking *self, LodeBlockDictionary *dictionary, GError **error)
{
	GArray *counts = NULL;

	if (self->rps.summary.form != LODE_RPS_CODED)
		return NULL;
	if (unpack_rest(self, error))
		counts = lode_frame_codec_count_classes(
			&self->streams, &self->rps.summary.head, dictionary, error);
	if (counts == NULL)
		prefix(self, error);
	return counts;
}
