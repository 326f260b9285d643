/* SPDX-License-Identifier: MIT */
/*
 * The invocations of a frame as streams, and back. Symbols of the choice stream: the rank of the
 * block that follows; where the return stack guesses, 0 for a right guess and the rank + 1 for
 * another.
 */
#include "traces/block_sequence.h"

#include "traces/flow_edges.h"

#include <string.h>
#include <zstd.h>

enum {
	FAR_SYMBOL = 255, /* the excess over it stands in the far stream */
	FORM_BYTES = 0,
	FORM_RUNS = 1, /* runs of 0, and what stands between */
	FAST_TRIAL_LEVEL = 1,
	THOROUGH_TRIAL_LEVEL = 12,
};

static void encode_switches(const LodeTraceFrame *frame, LodeFrameStreams *out)
{
	for (size_t i = 0; i < frame->n_switches; i++) {
		uint32_t before = i > 0 ? frame->switches[i - 1].invocation : 0;

		lode_varint_append(out->streams[LODE_STREAM_SWITCH_LENGTH],
			frame->switches[i].invocation - before);
		lode_varint_append(
			out->streams[LODE_STREAM_SWITCH_THREAD], frame->switches[i].thread);
	}
}

/* The lengths of runs of blocks without and with invocations, by turns. */
static void encode_used(const LodeFrameLayout *layout, LodeFrameStreams *out)
{
	GByteArray *used = out->streams[LODE_STREAM_SEQUENCE_USED];
	bool is_used = false;
	uint32_t first = 0;

	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		if ((layout->blocks[i].n_invocations > 0) == is_used)
			continue;
		lode_varint_append(used, i - first);
		first = i;
		is_used = !is_used;
	}
	lode_varint_append(used, layout->n_blocks - first);
}

static void encode_flow(const LodeBlockFlow *flow, LodeFrameStreams *out)
{
	for (uint32_t i = 0; i < flow->layout->n_blocks; i++) {
		const LodeFlowNode *node = &flow->nodes[i];

		if (flow->layout->blocks[i].n_invocations == 0)
			continue;
		lode_varint_append(out->streams[LODE_STREAM_SEQUENCE_DEGREE],
			(uint64_t)node->n_edges * 2 + node->is_guessed);
		for (uint32_t k = 0; k < node->n_edges; k++)
			lode_varint_append_signed(out->streams[LODE_STREAM_SEQUENCE_EDGE],
				(uint64_t)flow->targets[node->first_edge + k] - i - 1);
	}
}

/* What is made of the sequence before it is written. */
typedef struct {
	const LodeTraceFrame *frame;
	LodeBlockFlow *flow;
	LodeFlowEdges edges;
	uint32_t *edge_of; /* by invocation, that of the step to it; NO_EDGE, GUESSED */
} SequenceWriter;

static const uint32_t NO_EDGE = UINT32_MAX, GUESSED = UINT32_MAX - 1;

/* Whether the return stack is right at all, of each block that may be a return. */
static void try_guesses(SequenceWriter *self)
{
	LodeBlockFlow *flow = self->flow;
	const LodeFrameLayout *layout = flow->layout;
	g_autofree bool *was_right = g_new0(bool, layout->n_blocks + 1U);
	LodeThreadRun run;

	for (uint32_t i = 0; i < layout->n_blocks; i++)
		flow->nodes[i].is_guessed = layout->blocks[i].is_return;
	for (size_t k = 0; lode_thread_run_at(self->frame, k, &run); k++) {
		LodeThreadFlow *thread = lode_block_flow_thread(flow, run.thread);

		for (size_t i = run.first; i < run.end; i++) {
			uint32_t last = thread->last_block, next = self->frame->blocks[i];

			if (last == UINT32_MAX) {
				thread->last_block = next;
				continue;
			}
			if (flow->nodes[last].is_guessed &&
				lode_block_flow_guess(flow, thread) == next)
				was_right[last] = true;
			lode_block_flow_advance(flow, thread, next);
		}
	}
	for (uint32_t i = 0; i < layout->n_blocks; i++)
		flow->nodes[i].is_guessed = was_right[i];
	lode_block_flow_rewind(flow);
}

static uint32_t find_edge(SequenceWriter *self, LodeThreadFlow *thread, uint32_t next)
{
	uint32_t last = thread->last_block;
	bool is_right;

	if (last == UINT32_MAX) {
		thread->last_block = next;
		return NO_EDGE;
	}
	is_right = self->flow->nodes[last].is_guessed &&
	           lode_block_flow_guess(self->flow, thread) == next;
	lode_block_flow_advance(self->flow, thread, next);
	return is_right ? GUESSED : lode_flow_edges_add(&self->edges, last, next);
}

static void find_edges(SequenceWriter *self)
{
	LodeThreadRun run;

	for (size_t k = 0; lode_thread_run_at(self->frame, k, &run); k++) {
		LodeThreadFlow *thread = lode_block_flow_thread(self->flow, run.thread);

		for (size_t i = run.first; i < run.end; i++)
			self->edge_of[i] = find_edge(self, thread, self->frame->blocks[i]);
	}
}

/* One symbol for each step that is not certain. */
static GByteArray *choices(const SequenceWriter *self, LodeFrameStreams *out)
{
	GByteArray *far = out->streams[LODE_STREAM_SEQUENCE_FAR];
	GByteArray *result = g_byte_array_sized_new((guint)self->frame->n_invocations + 1);
	uint8_t *at = result->data;

	for (size_t i = 0; i < self->frame->n_invocations; i++) {
		uint32_t edge = self->edge_of[i];
		const LodeFlowNode *node;
		uint32_t symbol = 0;

		if (edge == NO_EDGE) {
			lode_varint_append(far, self->frame->blocks[i]);
			continue;
		}
		if (edge != GUESSED) {
			node = &self->flow->nodes[self->edges.edges[edge].from];
			if (node->n_edges == 1 && !node->is_guessed)
				continue;
			symbol = self->edges.edges[edge].rank + node->is_guessed;
		}
		*at++ = (uint8_t)MIN(symbol, FAR_SYMBOL);
		if (symbol >= FAR_SYMBOL)
			lode_varint_append(far, symbol - FAR_SYMBOL);
	}
	g_byte_array_set_size(result, (guint)(at - result->data));
	return result;
}

static size_t size_packed(const GByteArray *bytes, int level)
{
	size_t bound = ZSTD_compressBound(bytes->len);
	g_autofree uint8_t *packed = g_malloc(bound);

	return ZSTD_compress(packed, bound, bytes->data, bytes->len, level);
}

static void split_runs(const GByteArray *symbols, GByteArray *runs, GByteArray *others)
{
	uint64_t run = 0;

	for (guint i = 0; i < symbols->len; i++) {
		if (symbols->data[i] == 0) {
			run++;
			continue;
		}
		lode_varint_append(runs, run);
		g_byte_array_append(others, &symbols->data[i], 1);
		run = 0;
	}
	lode_varint_append(runs, run);
}

static void append_choices(const GByteArray *symbols, LodeCodecEffort effort, LodeFrameStreams *out)
{
	int level = effort == LODE_CODEC_FAST ? FAST_TRIAL_LEVEL : THOROUGH_TRIAL_LEVEL;
	g_autoptr(GByteArray) runs = g_byte_array_new();
	g_autoptr(GByteArray) others = g_byte_array_new();
	GByteArray *choice = out->streams[LODE_STREAM_SEQUENCE_CHOICE];
	bool is_runs;

	split_runs(symbols, runs, others);
	is_runs = size_packed(runs, level) + size_packed(others, level) <
	          size_packed(symbols, level);
	lode_varint_append(choice, is_runs ? FORM_RUNS : FORM_BYTES);
	g_byte_array_append(choice, is_runs ? others->data : symbols->data,
		is_runs ? others->len : symbols->len);
	if (is_runs)
		g_byte_array_append(out->streams[LODE_STREAM_SEQUENCE_RUN], runs->data, runs->len);
}

void lode_block_sequence_encode(const LodeTraceFrame *frame, const LodeFrameLayout *layout,
	LodeCodecEffort effort, LodeFrameStreams *out)
{
	g_auto(LodeBlockFlow) flow = {0};
	g_autoptr(GByteArray) symbols = NULL;
	SequenceWriter writer = {.frame = frame, .flow = &flow};

	encode_switches(frame, out);
	encode_used(layout, out);
	lode_block_flow_init(&flow, layout);
	lode_flow_edges_init(&writer.edges);
	writer.edge_of = g_new(uint32_t, frame->n_invocations + 1);
	try_guesses(&writer);
	find_edges(&writer);
	lode_flow_edges_list(&writer.edges, &flow);
	encode_flow(&flow, out);
	symbols = choices(&writer, out);
	append_choices(symbols, effort, out);
	lode_flow_edges_clear(&writer.edges);
	g_free(writer.edge_of);
}
