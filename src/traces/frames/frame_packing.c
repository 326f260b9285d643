/* SPDX-License-Identifier: MIT */
#include "traces/frames/frame_packing.h"

#include "traces/blocks/plain_references.h"
#include "traces/rps/rps_format.h"
#include "traces/rps/rps_section.h"

enum {
	SMALL_BYTES = 1 << 10,   /* streams below are packed with their neighbours */
	QUICK_LEVEL = 3,         /* of zstd */
	QUICK_FACTOR = 4,        /* what it may be larger by than a harder attempt */
	DOUBT_INSTRUCTIONS = 8,  /* fewer than one of so many references: hardly a program */
	DOUBT_BITS = 1,          /* a reference; no program's frame is worse, or few are */
	HOPELESS_REFERENCES = 2, /* for a new block: no code that is run, rather anything */
};

struct LodeFramePacking {
	LodeFramePackingOptions options;
	LodeTraceFrame *frame; /* NULL once it is encoded */
	LodeBlockDictionary *dictionary;
	LodeFrameStreams streams;
	LodeRpsFrame rps;
	uint8_t order[LODE_FRAME_MAX_STREAMS];      /* of the pieces, the largest first */
	GByteArray *packed[LODE_FRAME_MAX_STREAMS]; /* the pieces */
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

	g_assert(lode_frame_codec_n_streams() <= LODE_PLAIN_FIRST_STREAM);
	self->options = *options;
	self->frame = frame;
	self->dictionary = lode_block_dictionary_ref(frame->dictionary);
	self->section = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	lode_rps_summary_set(&self->rps.summary, frame);
	self->rps.summary.dictionary = options->dictionary;
	return self;
}

static void drop_pieces(LodeFramePacking *self, unsigned from)
{
	for (unsigned i = from; i < LODE_FRAME_MAX_STREAMS; i++)
		g_clear_pointer(&self->packed[i], g_byte_array_unref);
}

void lode_frame_packing_free(LodeFramePacking *self)
{
	if (self == NULL)
		return;
	lode_trace_frame_free(self->frame);
	lode_block_dictionary_unref(self->dictionary);
	lode_frame_streams_clear(&self->streams);
	lode_rps_frame_clear(&self->rps);
	lode_plain_references_clear(&self->plain);
	drop_pieces(self, 0);
	g_ptr_array_unref(self->section);
	g_free(self);
}

/* The memory of the frame. */
static size_t frame_bytes(const LodeFramePacking *self)
{
	return lode_frame_head_bytes(&self->rps.summary.head);
}

size_t lode_frame_packing_bytes(const LodeFramePacking *self)
{
	/* a dictionary that ends with the frame is held by it */
	size_t bytes = lode_frame_head_block_bytes(&self->rps.summary.head);

	if (self->frame != NULL)
		bytes += frame_bytes(self);
	for (unsigned i = 0; i < LODE_FRAME_MAX_STREAMS; i++) {
		if (self->streams.streams[i] != NULL)
			bytes += self->streams.streams[i]->len;
		if (self->packed[i] != NULL)
			bytes += self->packed[i]->len;
	}
	for (guint i = 0; i < self->section->len; i++)
		bytes += ((const GByteArray *)g_ptr_array_index(self->section, i))->len;
	return bytes;
}

size_t lode_frame_packing_encode_memory(const LodeFramePacking *self)
{
	return frame_bytes(self) * (self->options.level == LODE_TRACE_LEVEL_FAST ? 3 : 4);
}

/* Appends a stream, to the last piece where both are small. */
static void add_stream(LodeFramePacking *self, unsigned stream, uint64_t bytes)
{
	LodeRpsFrame *rps = &self->rps;
	LodeRpsPiece *last = rps->n_pieces > 0 ? &rps->pieces[rps->n_pieces - 1] : NULL;
	bool is_dictionary = lode_rps_frame_is_dictionary_stream(stream);

	if (last == NULL || last->bytes >= SMALL_BYTES || bytes >= SMALL_BYTES ||
		is_dictionary != (rps->n_dictionary_pieces == rps->n_pieces)) {
		last = &rps->pieces[rps->n_pieces++];
		rps->n_dictionary_pieces += is_dictionary;
	}
	last->n_streams++;
	last->bytes += bytes;
	rps->streams[rps->n_streams] = (uint8_t)stream;
	rps->stream_bytes[rps->n_streams++] = bytes;
}

/* By insertion, as they are few. The largest takes longest: begun first, it is not the one that all
 * other threads wait for at the end. */
static void order_pieces(LodeFramePacking *self)
{
	const LodeRpsPiece *pieces = self->rps.pieces;

	for (unsigned i = 0; i < self->rps.n_pieces; i++) {
		unsigned at = i;

		for (; at > 0 && pieces[self->order[at - 1]].bytes < pieces[i].bytes; at--)
			self->order[at] = self->order[at - 1];
		self->order[at] = (uint8_t)i;
	}
}

/* Whether the codec need not be tried. */
static bool is_hopeless(const LodeFramePacking *self)
{
	const LodeFrameHead *head = &self->rps.summary.head;

	return self->options.is_dictionary_droppable &&
	       (uint64_t)(head->n_blocks - head->first_new_block) * HOPELESS_REFERENCES >
	               head->n_references;
}

void lode_frame_packing_encode(LodeFramePacking *self)
{
	LodeCodecEffort effort = self->options.level == LODE_TRACE_LEVEL_FAST ? LODE_CODEC_QUICK
	                                                                      : LODE_CODEC_THOROUGH;

	if (is_hopeless(self))
		return;
	lode_frame_streams_init(&self->streams);
	lode_frame_codec_encode(self->frame, effort, &self->streams);
	g_clear_pointer(&self->frame, lode_trace_frame_free);
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		GByteArray **stream = &self->streams.streams[i];

		*stream = lode_trimmed_bytes(*stream);
		if ((*stream)->len > 0)
			add_stream(self, i, (*stream)->len);
	}
	order_pieces(self);
}

unsigned lode_frame_packing_n_pieces(const LodeFramePacking *self)
{
	return self->rps.n_pieces;
}

size_t lode_frame_packing_piece_memory(const LodeFramePacking *self, unsigned piece)
{
	uint64_t bytes = self->rps.pieces[self->order[piece]].bytes;
	size_t most = 0;

	for (unsigned i = 0; i < levels[self->options.level].n_attempts; i++) {
		const Attempt *attempt = &levels[self->options.level].attempts[i];
		size_t memory = lode_stream_compressor_memory(
			attempt->compression, attempt->level, bytes);

		most = MAX(most, memory);
	}
	return most;
}

/* Packs a piece's streams one after the other. */
static GByteArray *pack_streams(
	const LodeFramePacking *self, unsigned piece, LodeCompression compression, int level)
{
	const LodeRpsFrame *rps = &self->rps;
	g_autoptr(LodeStreamCompressor) compressor = lode_stream_compressor_new(
		compression, level, rps->pieces[piece].bytes);
	unsigned first = 0;

	for (unsigned i = 0; i < piece; i++)
		first += rps->pieces[i].n_streams;
	for (unsigned i = first; i < first + rps->pieces[piece].n_streams; i++) {
		const GByteArray *stream = self->streams.streams[rps->streams[i]];

		lode_stream_compressor_add(compressor, stream->data, stream->len);
	}
	return lode_stream_compressor_finish(compressor);
}

/* Takes the bytes where they are fewer than those that there are. */
static void keep_smaller(
	LodeFramePacking *self, unsigned piece, LodeCompression compression, GByteArray *bytes)
{
	GByteArray **kept = &self->packed[piece];

	if (*kept != NULL && (*kept)->len <= bytes->len) {
		g_byte_array_unref(bytes);
		return;
	}
	if (*kept != NULL)
		g_byte_array_unref(*kept);
	*kept = bytes;
	self->rps.pieces[piece].compression = (uint8_t)compression;
	self->rps.pieces[piece].packed_bytes = bytes->len;
}

size_t lode_frame_packing_pack_piece(LodeFramePacking *self, unsigned number)
{
	unsigned piece = self->order[number];
	LodeRpsPiece *place = &self->rps.pieces[piece];

	for (unsigned i = 0; i < levels[self->options.level].n_attempts; i++) {
		const Attempt *attempt = &levels[self->options.level].attempts[i];

		keep_smaller(self, piece, attempt->compression,
			pack_streams(self, piece, attempt->compression, attempt->level));
	}
	if (place->packed_bytes >= place->bytes)
		keep_smaller(self, piece, LODE_COMPRESSION_STORED,
			pack_streams(self, piece, LODE_COMPRESSION_STORED, 0));
	place->checksum = lode_rps_piece_checksum(self->packed[piece]->data, place->packed_bytes);
	return place->packed_bytes;
}

/* The packed bytes of pieces from … up to. */
static uint64_t packed_bytes(const LodeFramePacking *self, unsigned from, unsigned to)
{
	uint64_t bytes = 0;

	for (unsigned i = from; i < to; i++)
		bytes += self->rps.pieces[i].packed_bytes;
	return bytes;
}

static bool is_doubtful(const LodeFramePacking *self)
{
	const LodeFrameHead *head = &self->rps.summary.head;

	return packed_bytes(self, 0, self->rps.n_pieces) * 8 > head->n_references * DOUBT_BITS ||
	       head->n_instructions * DOUBT_INSTRUCTIONS < head->n_references;
}

/* Plain words of fewer than `limit` bytes into self->plain, where one of the attempts makes them.
 */
static void try_plain(LodeFramePacking *self, const LodeTraceFrame *frame, size_t limit)
{
	unsigned n = levels[self->options.level].n_attempts;

	for (unsigned i = 0; i < n && limit > 0; i++) {
		const Attempt *attempt = &levels[self->options.level].attempts[i];
		g_auto(LodePlainReferences) plain = {0};

		if (!lode_plain_references_pack(
			    frame, attempt->compression, attempt->level, limit - 1, &plain))
			continue;
		limit = plain.words->len;
		lode_plain_references_clear(&self->plain);
		self->plain = plain;
		plain = (LodePlainReferences){0};
	}
}

/* Whether a quick attempt gives hope. */
static bool is_hopeful(const LodeFramePacking *self, const LodeTraceFrame *frame, size_t limit)
{
	g_auto(LodePlainReferences) plain = {0};

	return self->options.level == LODE_TRACE_LEVEL_FAST ||
	       lode_plain_references_pack(
		       frame, LODE_COMPRESSION_ZSTD, QUICK_LEVEL, QUICK_FACTOR * limit, &plain);
}

/* The bytes, packed where that is smaller; nothing for none. */
static void add_plain_stream(LodeFramePacking *self, unsigned stream, GByteArray *bytes)
{
	if (bytes->len == 0)
		return;
	self->streams.streams[stream] = g_byte_array_ref(bytes);
	self->rps.pieces[self->rps.n_pieces] = (LodeRpsPiece){.n_streams = 1, .bytes = bytes->len};
	self->rps.streams[self->rps.n_streams] = (uint8_t)stream;
	self->rps.stream_bytes[self->rps.n_streams++] = bytes->len;
	self->order[self->rps.n_pieces] = (uint8_t)self->rps.n_pieces;
	lode_frame_packing_pack_piece(self, self->rps.n_pieces++);
}

static void add_plain_words(LodeFramePacking *self)
{
	LodePlainReferences *plain = &self->plain;

	self->rps.streams[self->rps.n_streams] = LODE_PLAIN_WORDS;
	self->rps.stream_bytes[self->rps.n_streams++] = plain->words_bytes;
	self->rps.pieces[self->rps.n_pieces] = (LodeRpsPiece){
		.n_streams = 1,
		.compression = (uint8_t)plain->words_compression,
		.checksum = lode_rps_piece_checksum(plain->words->data, plain->words->len),
		.bytes = plain->words_bytes,
		.packed_bytes = plain->words->len,
	};
	self->packed[self->rps.n_pieces++] = g_byte_array_ref(plain->words);
}

/* Puts plain references in the place of all streams, or of all but the dictionary's. */
static void use_plain(LodeFramePacking *self)
{
	LodeRpsFrame *rps = &self->rps;

	self->has_dropped_dictionary = self->options.is_dictionary_droppable;
	if (self->has_dropped_dictionary) {
		rps->summary.head.n_blocks = rps->summary.head.first_new_block;
		rps->n_dictionary_pieces = 0;
	}
	rps->summary.form = self->plain.form;
	rps->n_pieces = rps->n_dictionary_pieces;
	rps->n_streams = 0;
	for (unsigned i = 0; i < rps->n_pieces; i++)
		rps->n_streams += rps->pieces[i].n_streams;
	drop_pieces(self, rps->n_pieces);
	add_plain_stream(self, LODE_PLAIN_HEAD, self->plain.head);
	add_plain_stream(self, LODE_PLAIN_CODES, self->plain.codes);
	add_plain_words(self);
}

/* The frame is decoded from its streams: it was freed after its encoding to save memory. */
static void prefer_plain(LodeFramePacking *self)
{
	unsigned kept = self->options.is_dictionary_droppable ? 0 : self->rps.n_dictionary_pieces;
	size_t limit = packed_bytes(self, kept, self->rps.n_pieces);
	g_autoptr(LodeTraceFrame) frame = lode_frame_codec_decode(
		&self->streams, &self->rps.summary.head, self->dictionary, NULL);

	g_assert(frame != NULL);
	if (!is_hopeful(self, frame, limit))
		return;
	try_plain(self, frame, limit);
	if (self->plain.words != NULL)
		use_plain(self);
}

size_t lode_frame_packing_finish_memory(const LodeFramePacking *self)
{
	return self->frame != NULL || is_doubtful(self) ? frame_bytes(self) * 3 : 0;
}

void lode_frame_packing_finish(LodeFramePacking *self)
{
	g_autoptr(GByteArray) head = g_byte_array_new();

	if (self->frame != NULL) {
		try_plain(self, self->frame, SIZE_MAX);
		use_plain(self);
		g_clear_pointer(&self->frame, lode_trace_frame_free);
	} else if (is_doubtful(self)) {
		prefer_plain(self);
	}
	lode_frame_streams_clear(&self->streams);
	lode_rps_frame_encode(&self->rps, head);
	g_ptr_array_add(self->section, lode_rps_section_begin(LODE_RPS_FRAME, head,
					       packed_bytes(self, 0, self->rps.n_pieces)));
	for (unsigned i = 0; i < self->rps.n_pieces; i++)
		g_ptr_array_add(self->section, g_steal_pointer(&self->packed[i]));
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
