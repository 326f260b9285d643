/* SPDX-License-Identifier: MIT */
/* The invocations of a frame again from their streams. */
#include "traces/block_flow.h"
#include "traces/block_sequence.h"

#include "base/error.h"

#include <string.h>

enum { FAR_SYMBOL = 255, FORM_BYTES = 0, FORM_RUNS = 1 };

typedef struct {
	const LodeFrameStreams *streams;
	LodeTraceFrame *frame;
	LodeBlockFlow *flow;
	LodeByteCursor choice, run, far;
	uint64_t zeros; /* left of the run */
	bool has_runs;
} SequenceReader;

static bool decode_switches(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeTraceFrame *frame, GError **error)
{
	LodeByteCursor lengths = lode_frame_streams_read(streams, LODE_STREAM_SWITCH_LENGTH);
	LodeByteCursor threads = lode_frame_streams_read(streams, LODE_STREAM_SWITCH_THREAD);
	uint64_t invocation = 0;

	for (uint32_t i = 0; i < head->n_switches; i++) {
		uint64_t length = lode_varint_read(&lengths);
		uint64_t thread = lode_varint_read(&threads);

		invocation += length;
		if ((length == 0) != (i == 0) || length >= head->n_invocations ||
			invocation >= head->n_invocations || thread >= LODE_MAX_TRACE_THREADS)
			return lode_frame_streams_damaged(streams, LODE_STREAM_SWITCH_LENGTH,
				&lengths, "no thread runs so", error);
		frame->switches[i] = (LodeTraceSwitch){(uint32_t)invocation, (uint16_t)thread};
	}
	frame->n_switches = head->n_switches;
	return lode_frame_streams_end(streams, LODE_STREAM_SWITCH_LENGTH, &lengths, error) &&
	       lode_frame_streams_end(streams, LODE_STREAM_SWITCH_THREAD, &threads, error);
}

/* Sets bits of the blocks that have invocations. */
static bool decode_used(
	const LodeFrameStreams *streams, uint32_t n_blocks, bool *is_used, GError **error)
{
	LodeByteCursor used = lode_frame_streams_read(streams, LODE_STREAM_SEQUENCE_USED);
	uint64_t at = 0;

	for (bool value = false; lode_byte_cursor_left(&used) > 0; value = !value) {
		uint64_t n = lode_varint_read(&used);

		if (n > n_blocks - at)
			return lode_frame_streams_damaged(
				streams, LODE_STREAM_SEQUENCE_USED, &used, "no such block", error);
		memset(is_used + at, value, n);
		at += n;
	}
	return lode_frame_streams_end(streams, LODE_STREAM_SEQUENCE_USED, &used, error);
}

static bool decode_targets(const LodeFrameStreams *streams, LodeBlockFlow *flow, uint32_t block,
	LodeByteCursor *edges, GError **error)
{
	LodeFlowNode *node = &flow->nodes[block];

	for (uint32_t i = 0; i < node->n_edges; i++) {
		uint64_t target = lode_varint_read_signed(edges) + block + 1;

		if (target >= flow->layout->n_blocks)
			return lode_frame_streams_damaged(
				streams, LODE_STREAM_SEQUENCE_EDGE, edges, "no such block", error);
		flow->targets[flow->n_targets++] = (uint32_t)target;
	}
	return true;
}

/* At most `n_invocations` edges: each is there for one that takes it. */
static bool decode_flow(const LodeFrameStreams *streams, uint32_t n_invocations,
	LodeBlockFlow *flow, GError **error)
{
	LodeByteCursor degrees = lode_frame_streams_read(streams, LODE_STREAM_SEQUENCE_DEGREE);
	LodeByteCursor edges = lode_frame_streams_read(streams, LODE_STREAM_SEQUENCE_EDGE);
	uint32_t n_blocks = flow->layout->n_blocks;
	g_autofree bool *is_used = g_new0(bool, n_blocks + 1U);

	if (!decode_used(streams, n_blocks, is_used, error))
		return false;
	/* An edge takes a byte at least. */
	flow->targets = g_new(uint32_t, MIN(lode_byte_cursor_left(&edges), n_invocations) + 1);
	for (uint32_t i = 0; i < n_blocks; i++) {
		uint64_t degree = is_used[i] ? lode_varint_read(&degrees) : 0;

		if (degree / 2 > lode_byte_cursor_left(&edges) ||
			degree / 2 > n_invocations - flow->n_targets)
			return lode_frame_streams_damaged(streams, LODE_STREAM_SEQUENCE_DEGREE,
				&degrees, "more edges than there are", error);
		flow->nodes[i].is_guessed = degree & 1;
		flow->nodes[i].first_edge = flow->n_targets;
		flow->nodes[i].n_edges = (uint32_t)(degree / 2);
		if (!decode_targets(streams, flow, i, &edges, error))
			return false;
	}
	return lode_frame_streams_end(streams, LODE_STREAM_SEQUENCE_DEGREE, &degrees, error) &&
	       lode_frame_streams_end(streams, LODE_STREAM_SEQUENCE_EDGE, &edges, error);
}

static uint32_t next_symbol(SequenceReader *self)
{
	uint64_t excess;
	uint8_t symbol;

	if (self->has_runs) {
		if (self->zeros > 0) {
			self->zeros--;
			return 0;
		}
		symbol = lode_byte_cursor_u8(&self->choice);
		self->zeros = lode_varint_read(&self->run);
	} else {
		symbol = lode_byte_cursor_u8(&self->choice);
	}
	if (G_LIKELY(symbol < FAR_SYMBOL))
		return symbol;
	excess = lode_varint_read(&self->far);
	return (uint32_t)MIN(excess, INT32_MAX) + FAR_SYMBOL;
}

/* UINT32_MAX: there is none. */
static uint32_t next_block(SequenceReader *self, LodeThreadFlow *thread)
{
	const LodeFlowNode *node;
	uint32_t symbol;

	if (thread->last_block == UINT32_MAX) {
		uint64_t block = lode_varint_read(&self->far);

		return block < self->flow->layout->n_blocks ? (uint32_t)block : UINT32_MAX;
	}
	node = &self->flow->nodes[thread->last_block];
	if (node->n_edges == 1 && !node->is_guessed)
		return self->flow->targets[node->first_edge];
	symbol = next_symbol(self);
	if (node->is_guessed && symbol-- == 0)
		return lode_block_flow_guess(self->flow, thread);
	return symbol < node->n_edges ? self->flow->targets[node->first_edge + symbol] : UINT32_MAX;
}

static bool decode_run(SequenceReader *self, const LodeThreadRun *run, GError **error)
{
	LodeThreadFlow *thread = lode_block_flow_thread(self->flow, run->thread);

	for (size_t i = run->first; i < run->end; i++) {
		uint32_t block = next_block(self, thread);

		if (G_UNLIKELY(block == UINT32_MAX))
			return lode_frame_streams_damaged(self->streams,
				LODE_STREAM_SEQUENCE_CHOICE, &self->choice, "no such block", error);
		self->frame->blocks[i] = block;
		if (G_UNLIKELY(thread->last_block == UINT32_MAX))
			thread->last_block = block;
		else
			lode_block_flow_advance(self->flow, thread, block);
	}
	return true;
}

static bool begin_choices(SequenceReader *self, GError **error)
{
	uint8_t form;

	self->choice = lode_frame_streams_read(self->streams, LODE_STREAM_SEQUENCE_CHOICE);
	self->run = lode_frame_streams_read(self->streams, LODE_STREAM_SEQUENCE_RUN);
	self->far = lode_frame_streams_read(self->streams, LODE_STREAM_SEQUENCE_FAR);
	form = lode_byte_cursor_u8(&self->choice);
	if (form > FORM_RUNS)
		return lode_frame_streams_damaged(self->streams, LODE_STREAM_SEQUENCE_CHOICE,
			&self->choice, "an unknown form", error);
	self->has_runs = form == FORM_RUNS;
	self->zeros = self->has_runs ? lode_varint_read(&self->run) : 0;
	return true;
}

bool lode_block_sequence_decode(const LodeFrameStreams *streams, const LodeFrameHead *head,
	const LodeFrameLayout *layout, LodeTraceFrame *frame, GError **error)
{
	g_auto(LodeBlockFlow) flow = {0};
	SequenceReader reader = {.streams = streams, .frame = frame, .flow = &flow};
	LodeThreadRun run;

	if (!decode_switches(streams, head, frame, error))
		return false;
	frame->n_invocations = head->n_invocations;
	lode_block_flow_init(&flow, layout);
	if (!decode_flow(streams, head->n_invocations, &flow, error) ||
		!begin_choices(&reader, error))
		return false;
	for (size_t k = 0; lode_thread_run_at(frame, k, &run); k++) {
		if (!decode_run(&reader, &run, error))
			return false;
	}
	if (reader.zeros > 0)
		return lode_frame_streams_damaged(streams, LODE_STREAM_SEQUENCE_RUN, &reader.run,
			"more than the frame has", error);
	return lode_frame_streams_end(
		       streams, LODE_STREAM_SEQUENCE_CHOICE, &reader.choice, error) &&
	       lode_frame_streams_end(streams, LODE_STREAM_SEQUENCE_RUN, &reader.run, error) &&
	       lode_frame_streams_end(streams, LODE_STREAM_SEQUENCE_FAR, &reader.far, error);
}
