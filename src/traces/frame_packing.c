/* SPDX-License-Identifier: MIT */
#include "traces/frame_packing.h"

#include "traces/plain_references.h"
#include "traces/rps_format.h"
#include "traces/rps_section.h"

struct LodeFramePacking {
	LodeFramePackingOptions options;
	LodeTraceFrame *frame; /* NULL once it is encoded */
	LodeRpsFrame rps;
	LodePlainReferences plain;
	GPtrArray *section; /* of GByteArray */
	bool has_dropped_dictionary;
};

/* How hard each level tries; what makes the smallest is kept. */
typedef struct {
	LodeCompression compression;
	int level;
} Attempt;

enum { MAX_ATTEMPTS = 2 };

static const struct {
	Attempt attempts[MAX_ATTEMPTS];
	unsigned n_attempts;
} levels[] = {
	[LODE_TRACE_LEVEL_FAST] = {{{LODE_COMPRESSION_ZSTD, 3}}, 1},
	[LODE_TRACE_LEVEL_DEFAULT] = {{{LODE_COMPRESSION_ZSTD, 19}}, 1},
	[LODE_TRACE_LEVEL_SMALL] = {{{LODE_COMPRESSION_LZMA2, 6}, {LODE_COMPRESSION_ZSTD, 22}}, 2},
};

LodeFramePacking *lode_frame_packing_new(
	LodeTraceFrame *frame, const LodeFramePackingOptions *options)
{
	LodeFramePacking *self = g_new0(LodeFramePacking, 1);

	self->options = *options;
	self->frame = frame;
	self->section = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	lode_rps_summary_set(&self->rps.summary, frame);
	self->rps.summary.dictionary = options->dictionary;
	return self;
}

void lode_frame_packing_free(LodeFramePacking *self)
{
	if (self == NULL)
		return;
	lode_trace_frame_free(self->frame);
	lode_rps_frame_clear(&self->rps);
	lode_plain_references_clear(&self->plain);
	g_ptr_array_unref(self->section);
	g_free(self);
}

size_t lode_frame_packing_frame_bytes(const LodeFramePacking *self)
{
	const LodeTraceFrame *frame = self->frame;

	return frame == NULL ? 0
	                     : frame->blocks_room * sizeof(*frame->blocks) +
	                               frame->addresses_room * sizeof(*frame->addresses) +
	                               frame->switches_room * sizeof(*frame->switches);
}

size_t lode_frame_packing_stream_bytes(const LodeFramePacking *self)
{
	(void)self;
	return 0;
}

void lode_frame_packing_encode(LodeFramePacking *self)
{
	(void)self;
}

unsigned lode_frame_packing_n_pieces(const LodeFramePacking *self)
{
	(void)self;
	return 0;
}

size_t lode_frame_packing_piece_memory(const LodeFramePacking *self, unsigned piece)
{
	(void)self;
	(void)piece;
	return 0;
}

void lode_frame_packing_pack_piece(LodeFramePacking *self, unsigned piece)
{
	(void)self;
	(void)piece;
}

/* Takes the bytes. */
static void add_piece(LodeFramePacking *self, unsigned stream, GByteArray *packed,
	LodeCompression compression, uint64_t bytes)
{
	LodeRpsFrame *rps = &self->rps;

	rps->streams[rps->n_streams] = (uint8_t)stream;
	rps->stream_bytes[rps->n_streams++] = bytes;
	rps->pieces[rps->n_pieces++] = (LodeRpsPiece){.n_streams = 1,
		.compression = (uint8_t)compression,
		.checksum = lode_rps_piece_checksum(packed->data, packed->len),
		.bytes = bytes,
		.packed_bytes = packed->len};
	g_ptr_array_add(self->section, packed);
}

/* Takes the bytes; adds nothing for none. */
static void add_plain_stream(LodeFramePacking *self, unsigned stream, GByteArray *bytes)
{
	const Attempt *attempt = &levels[self->options.level].attempts[0];
	g_autoptr(GByteArray) owned = bytes;

	if (bytes->len == 0)
		return;
	g_autoptr(LodeStreamCompressor) compressor = lode_stream_compressor_new(
		attempt->compression, attempt->level, bytes->len);
	lode_stream_compressor_add(compressor, bytes->data, bytes->len);
	g_autoptr(GByteArray) packed = lode_stream_compressor_finish(compressor);
	if (packed->len < bytes->len)
		add_piece(self, stream, g_steal_pointer(&packed), attempt->compression, bytes->len);
	else
		add_piece(
			self, stream, g_steal_pointer(&owned), LODE_COMPRESSION_STORED, bytes->len);
}

static void use_plain(LodeFramePacking *self)
{
	LodePlainReferences *plain = &self->plain;

	self->rps.summary.form = plain->form;
	self->rps.summary.head.first_new_block = self->rps.summary.head.n_blocks = 0;
	self->has_dropped_dictionary = true;
	add_plain_stream(self, LODE_PLAIN_HEAD, g_steal_pointer(&plain->head));
	add_plain_stream(self, LODE_PLAIN_CODES, g_steal_pointer(&plain->codes));
	add_piece(self, LODE_PLAIN_WORDS, g_steal_pointer(&plain->words), plain->words_compression,
		plain->words_bytes);
}

void lode_frame_packing_finish(LodeFramePacking *self)
{
	const Attempt *attempt = &levels[self->options.level].attempts[0];
	g_autoptr(GByteArray) head = g_byte_array_new();
	uint64_t body_bytes = 0;

	lode_plain_references_pack(
		self->frame, attempt->compression, attempt->level, SIZE_MAX, &self->plain);
	g_clear_pointer(&self->frame, lode_trace_frame_free);
	use_plain(self);
	for (unsigned i = 0; i < self->rps.n_pieces; i++)
		body_bytes += self->rps.pieces[i].packed_bytes;
	lode_rps_frame_encode(&self->rps, head);
	g_ptr_array_insert(
		self->section, 0, lode_rps_section_begin(LODE_RPS_FRAME, head, body_bytes));
}

const LodeRpsSummary *lode_frame_packing_summary(const LodeFramePacking *self)
{
	return &self->rps.summary;
}

bool lode_frame_packing_has_dropped_dictionary(const LodeFramePacking *self)
{
	return self->has_dropped_dictionary;
}

const GPtrArray *lode_frame_packing_section(const LodeFramePacking *self)
{
	return self->section;
}
