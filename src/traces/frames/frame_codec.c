/* SPDX-License-Identifier: MIT */
/* A frame as streams of bytes, and back: the table of streams, and the checks of a head. */
#include "traces/frames/frame_codec.h"

#include "base/arrays/large_array.h"
#include "base/error.h"
#include "traces/blocks/frame_blocks.h"
#include "traces/frames/frame_streams.h"
#include "traces/slots/slot_columns.h"
#include "traces/slots/slot_predictor.h"

#include <zstd.h>

/* The level of zstd with which two ways to code a frame are compared. */
enum { TRIAL_LEVEL = 6 };

enum { BLOCK_BYTES = 128 }; /* about, of a dictionary */

/* In the order of LodeStream. */
static const char *const STREAM_NAMES[LODE_N_STREAMS] = {
	"dictionary.address",
	"dictionary.length",
	"dictionary.known",
	"dictionary.instruction-size",
	"dictionary.accesses",
	"dictionary.access-size",
	"switches.length",
	"switches.thread",
	"sequence.used",
	"sequence.degree",
	"sequence.edge",
	"sequence.choice",
	"sequence.run",
	"sequence.far",
	"slots.class",
	"slots.address",
	"slots.base",
	"slots.offset",
	"slots.table",
	"global.symbols",
	"global.extra",
	"near.symbols",
	"near.extra",
	"unassigned.symbols",
	"unassigned.extra",
	"stride.symbols",
	"stride.extra",
	"local.symbols",
	"local.extra",
	"content.symbols",
	"content.extra",
	"stack.symbols",
	"stack.extra",
	"history-1.symbols",
	"history-1.extra",
	"history-2.symbols",
	"history-2.extra",
	"history-3.symbols",
	"history-3.extra",
};

/* In the order of LodeSlotClass. */
static const char *const CLASS_NAMES[LODE_N_SLOT_CLASSES] = {"global", "near", "unassigned",
	"stride", "local", "content", "stack", "history-1", "history-2", "history-3"};

G_STATIC_ASSERT((int)LODE_N_STREAMS <= (int)LODE_FRAME_MAX_STREAMS);
G_STATIC_ASSERT(LODE_N_STREAMS == LODE_STREAM_COLUMN + 2 * (int)LODE_N_SLOT_CLASSES);

unsigned lode_frame_codec_n_streams(void)
{
	return LODE_N_STREAMS;
}

const char *lode_frame_codec_stream_name(unsigned stream)
{
	return STREAM_NAMES[stream];
}

void lode_frame_streams_init(LodeFrameStreams *self)
{
	*self = (LodeFrameStreams){0};
	for (unsigned i = 0; i < LODE_N_STREAMS; i++)
		self->streams[i] = g_byte_array_new();
}

void lode_frame_streams_clear(LodeFrameStreams *self)
{
	for (unsigned i = 0; i < LODE_FRAME_MAX_STREAMS; i++)
		g_clear_pointer(&self->streams[i], g_byte_array_unref);
}

bool lode_frame_streams_damaged(const LodeFrameStreams *streams, unsigned stream,
	const LodeByteCursor *at, const char *what, GError **error)
{
	size_t place = streams->streams[stream]->len - lode_byte_cursor_left(at);

	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "stream '%s' at byte %zu: %s",
		STREAM_NAMES[stream], place, at->is_overrun ? "it ends too early" : what);
	return false;
}

bool lode_frame_streams_end(
	const LodeFrameStreams *streams, unsigned stream, const LodeByteCursor *at, GError **error)
{
	if (!at->is_overrun && lode_byte_cursor_left(at) == 0)
		return true;
	return lode_frame_streams_damaged(
		streams, stream, at, "it goes on after the end of the frame", error);
}

static void encode_slots(const LodeTraceFrame *frame, const LodeFrameLayout *layout,
	LodeCodecEffort effort, LodeFrameStreams *out)
{
	g_auto(LodeSlotPredictor) predictor = {0};

	lode_slot_predictor_init(&predictor, layout->n_slots, frame, layout->n_addresses);
	lode_slot_trial(&predictor, frame, layout, effort);
	if (effort == LODE_CODEC_QUICK)
		lode_slot_columns_encode_residuals(&predictor, frame, layout, out);
	else
		lode_slot_columns_encode(&predictor, frame, layout, out);
}

/* The packed size of the streams of slots alone; the others are the same. */
static size_t packed_bytes(const LodeFrameStreams *streams)
{
	size_t bytes = 0;

	for (unsigned i = LODE_STREAM_SLOT_CLASS; i < LODE_N_STREAMS; i++) {
		const GByteArray *stream = streams->streams[i];
		size_t bound = ZSTD_compressBound(stream->len);
		g_autofree uint8_t *packed = g_malloc(bound);

		bytes += ZSTD_compress(packed, bound, stream->data, stream->len, TRIAL_LEVEL);
	}
	return bytes;
}

/* Classes chosen by a whole column may be worse than those chosen by a part of it, as costs are
 * only estimated; so both are made, and what packs better stays. */
static void encode_slots_better(
	const LodeTraceFrame *frame, const LodeFrameLayout *layout, LodeFrameStreams *out)
{
	g_auto(LodeFrameStreams) other = {0};

	encode_slots(frame, layout, LODE_CODEC_THOROUGH, out);
	lode_frame_streams_init(&other);
	encode_slots(frame, layout, LODE_CODEC_FAST, &other);
	if (packed_bytes(out) <= packed_bytes(&other))
		return;
	for (unsigned i = LODE_STREAM_SLOT_CLASS; i < LODE_N_STREAMS; i++) {
		GByteArray *stream = out->streams[i];

		out->streams[i] = other.streams[i];
		other.streams[i] = stream;
	}
}

void lode_frame_codec_encode(
	const LodeTraceFrame *frame, LodeCodecEffort effort, LodeFrameStreams *out)
{
	g_auto(LodeFrameLayout) layout = {0};

	lode_frame_layout_init(&layout, frame->dictionary, frame->n_blocks);
	lode_frame_layout_count(&layout, frame->blocks, frame->n_invocations);
	lode_block_streams_encode(frame, out);
	lode_block_sequence_encode(frame, &layout, effort, out);
	if (effort != LODE_CODEC_THOROUGH)
		encode_slots(frame, &layout, effort, out);
	else
		encode_slots_better(frame, &layout, out);
}

LodeFrameHead lode_frame_head_of(const LodeTraceFrame *frame)
{
	return (LodeFrameHead){
		.first_reference = frame->first_reference,
		.first_instruction = frame->first_instruction,
		.n_references = frame->n_references,
		.n_instructions = frame->n_instructions,
		.first_new_block = frame->first_new_block,
		.n_blocks = frame->n_blocks,
		.n_invocations = (uint32_t)frame->n_invocations,
		.n_addresses = (uint32_t)frame->n_addresses,
		.n_switches = (uint32_t)frame->n_switches,
	};
}

size_t lode_frame_head_bytes(const LodeFrameHead *head)
{
	return head->n_invocations * sizeof(uint32_t) + head->n_addresses * sizeof(uint64_t) +
	       head->n_switches * sizeof(LodeTraceSwitch);
}

size_t lode_frame_head_block_bytes(const LodeFrameHead *head)
{
	return (size_t)(head->n_blocks - head->first_new_block) * BLOCK_BYTES;
}

static bool damaged_head(const char *what, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "head of the frame: %s", what);
	return false;
}

/* Before anything is allocated by these numbers. */
static bool check_head(const LodeFrameHead *head, GError **error)
{
	if (head->n_references > LODE_FRAME_MAX_REFERENCES ||
		head->n_instructions > head->n_references ||
		head->n_invocations > LODE_FRAME_MAX_INVOCATIONS ||
		head->n_addresses > LODE_FRAME_MAX_ADDRESSES ||
		head->n_switches > LODE_FRAME_MAX_SWITCHES)
		return damaged_head("more than a frame may hold", error);
	if (head->first_new_block > head->n_blocks || head->n_blocks > LODE_DICTIONARY_MAX_BLOCKS)
		return damaged_head("more blocks than a dictionary holds", error);
	if ((head->n_invocations > 0) != (head->n_switches > 0))
		return damaged_head("invocations without a thread, or none", error);
	return true;
}

bool lode_frame_codec_decode_blocks(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error)
{
	if (!check_head(head, error))
		return false;
	if (head->first_new_block != lode_block_dictionary_size(dictionary))
		return damaged_head("its blocks do not follow those of the frame before", error);
	return lode_block_streams_decode(streams, head, dictionary, error);
}

/* One more element each, so that no array is NULL. */
static LodeTraceFrame *new_frame(const LodeFrameHead *head, LodeBlockDictionary *dictionary)
{
	LodeTraceFrame *frame = lode_trace_frame_new(dictionary);

	frame->first_new_block = head->first_new_block;
	frame->n_blocks = head->n_blocks;
	frame->first_reference = head->first_reference;
	frame->first_instruction = head->first_instruction;
	frame->n_references = head->n_references;
	frame->n_instructions = head->n_instructions;
	frame->blocks = g_new(uint32_t, head->n_invocations + 1U);
	frame->addresses = g_new(uint64_t, head->n_addresses + 1U);
	frame->switches = g_new(LodeTraceSwitch, head->n_switches + 1U);
	lode_large_array_advise(frame->blocks, head->n_invocations * sizeof(uint32_t));
	lode_large_array_advise(frame->addresses, head->n_addresses * sizeof(uint64_t));
	frame->blocks_room = head->n_invocations + 1U;
	frame->addresses_room = head->n_addresses + 1U;
	frame->switches_room = head->n_switches + 1U;
	return frame;
}

/* Whether the invocations come to what the head says. */
static bool check_counts(const LodeFrameHead *head, const LodeFrameLayout *layout,
	const LodeBlockDictionary *dictionary, GError **error)
{
	uint64_t n_instructions = 0;

	for (uint32_t i = 0; i < layout->n_blocks; i++)
		n_instructions += (uint64_t)layout->blocks[i].n_invocations *
		                  lode_block_dictionary_at(dictionary, i)->n_instructions;
	if (layout->n_addresses != head->n_addresses || n_instructions != head->n_instructions ||
		n_instructions + layout->n_addresses != head->n_references)
		return damaged_head("its counts are not those of its invocations", error);
	return true;
}

static bool can_decode(
	const LodeFrameHead *head, const LodeBlockDictionary *dictionary, GError **error)
{
	if (!check_head(head, error))
		return false;
	if (head->n_blocks > lode_block_dictionary_size(dictionary))
		return damaged_head("it has blocks that are not in the dictionary", error);
	return true;
}

/* A frame without addresses, and its layout. */
static LodeTraceFrame *decode_invocations(const LodeFrameStreams *streams,
	const LodeFrameHead *head, LodeBlockDictionary *dictionary, LodeFrameLayout *layout,
	GError **error)
{
	g_autoptr(LodeTraceFrame) frame = NULL;

	if (!can_decode(head, dictionary, error))
		return NULL;
	frame = new_frame(head, dictionary);
	lode_frame_layout_init(layout, dictionary, head->n_blocks);
	if (!lode_block_sequence_decode(streams, head, layout, frame, error))
		return NULL;
	lode_frame_layout_count(layout, frame->blocks, frame->n_invocations);
	return check_counts(head, layout, dictionary, error) ? g_steal_pointer(&frame) : NULL;
}

LodeTraceFrame *lode_frame_codec_decode(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error)
{
	g_auto(LodeFrameLayout) layout = {0};
	g_autoptr(LodeTraceFrame)
		frame = decode_invocations(streams, head, dictionary, &layout, error);

	if (frame == NULL || !lode_slot_columns_decode(streams, &layout, frame, error))
		return NULL;
	return g_steal_pointer(&frame);
}

static GArray *counts_of(const uint64_t *n_slots, const uint64_t *n_references)
{
	GArray *counts = g_array_new(FALSE, FALSE, sizeof(LodeSlotClassCount));

	for (unsigned i = 0; i < LODE_N_SLOT_CLASSES; i++) {
		LodeSlotClassCount count = {CLASS_NAMES[i], n_slots[i], n_references[i]};

		g_array_append_val(counts, count);
	}
	return counts;
}

GArray *lode_frame_codec_count_classes(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error)
{
	uint64_t n_slots[LODE_N_SLOT_CLASSES] = {0}, n_references[LODE_N_SLOT_CLASSES] = {0};
	g_auto(LodeFrameLayout) layout = {0};
	g_autoptr(LodeTraceFrame)
		frame = decode_invocations(streams, head, dictionary, &layout, error);

	if (frame == NULL ||
		!lode_slot_columns_count(streams, &layout, n_slots, n_references, error))
		return NULL;
	return counts_of(n_slots, n_references);
}
