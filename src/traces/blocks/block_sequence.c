/* SPDX-License-Identifier: MIT */
/*
 * The invocations of a frame as streams, and back. Symbols of the choice stream: the rank of the
 * block that follows; where the return stack guesses, 0 for a right guess and the rank + 1 for
 * another.
 */
#include "traces/blocks/frame_blocks.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "traces/frames/frame_layout.h"

#include <string.h>
#include <zstd.h>

/* --- return stack --- */

/*
 * Says where a return goes: to the block that followed when last a call from that place returned.
 *
 *   call ──▶ callee … return ──▶ the block after the call
 *
 * For each thread a ring of the blocks that called and were not returned to; a call that is pushed
 * out of it is not predicted any more.
 */

enum { RETURN_STACK_SIZE = 64, RETURN_STACK_SEARCH = 8 };

typedef struct {
	uint32_t top; /* index of the entry above the last */
	uint32_t n;
	uint32_t calls[RETURN_STACK_SIZE]; /* blocks */
} ReturnStack;

static inline void return_stack_push(ReturnStack *self, uint32_t block)
{
	self->calls[self->top++ % RETURN_STACK_SIZE] = block;
	self->n = MIN(self->n + 1, RETURN_STACK_SIZE);
}

/* The block that called last; UINT32_MAX: none is known. */
static inline uint32_t return_stack_last(const ReturnStack *self)
{
	return self->n > 0 ? self->calls[(self->top - 1) % RETURN_STACK_SIZE] : UINT32_MAX;
}

/* A return to an address: removes the call before it, and later calls; gives that call's block, or
 * UINT32_MAX when it is not one of the last ones, which stay. */
static inline uint32_t return_stack_pop(
	ReturnStack *self, const LodeFrameBlock *blocks, uint64_t address)
{
	for (uint32_t i = 1; i <= self->n && i <= RETURN_STACK_SEARCH; i++) {
		uint32_t call = self->calls[(self->top - i) % RETURN_STACK_SIZE];

		if (blocks[call].end == address) {
			self->top -= i;
			self->n -= i;
			return call;
		}
	}
	return UINT32_MAX;
}

/* --- block sequence --- */

/*
 * Which blocks may follow a block in a frame, the most frequent first, and which one a return is
 * expected to go to:
 *
 *   block 17 ─┬─▶ 0: block 18
 *             └─▶ 1: block 4          17 as a return: where the last call came from
 *
 * Where there is but one, nothing needs to be written of the sequence.
 */
typedef struct {
	uint32_t first_edge, n_edges; /* of the targets */
	bool is_guessed;              /* by the return stack */
} FlowNode;

typedef struct {
	uint32_t last_block; /* UINT32_MAX: the thread has not begun */
	ReturnStack returns;
} ThreadFlow;

typedef struct {
	const LodeFrameLayout *layout; /* borrowed */
	FlowNode *nodes;               /* owned; by block */
	uint32_t *targets;             /* owned; blocks, by node and rank */
	uint32_t n_targets;
	uint32_t *returns_to; /* owned; by calling block: the block where a return went; UINT32_MAX
	                         where none is known */
	GPtrArray *threads;   /* of ThreadFlow, by number; NULL: not begun */
} BlockFlow;

/* Where a thread that is at a guessed block is expected to go; UINT32_MAX: nowhere. */
static inline uint32_t block_flow_guess(const BlockFlow *self, const ThreadFlow *thread)
{
	uint32_t call = return_stack_last(&thread->returns);

	return call == UINT32_MAX ? UINT32_MAX : self->returns_to[call];
}

/* The thread, which has begun, goes on to a block. */
static inline void block_flow_advance(BlockFlow *self, ThreadFlow *thread, uint32_t next)
{
	const LodeFrameBlock *blocks = self->layout->blocks;
	uint32_t last = thread->last_block;

	if (self->nodes[last].is_guessed) {
		uint32_t call = return_stack_pop(&thread->returns, blocks, blocks[next].address);

		if (call != UINT32_MAX)
			self->returns_to[call] = next;
	} else if (blocks[last].is_call && blocks[next].address != blocks[last].end) {
		return_stack_push(&thread->returns, last);
	}
	thread->last_block = next;
}

static void forget_returns(BlockFlow *self)
{
	memset(self->returns_to, 0xff, self->layout->n_blocks * sizeof(uint32_t));
}

static void block_flow_init(BlockFlow *self, const LodeFrameLayout *layout)
{
	self->layout = layout;
	self->nodes = g_new0(FlowNode, layout->n_blocks + 1U);
	self->targets = NULL;
	self->n_targets = 0;
	self->returns_to = g_new(uint32_t, layout->n_blocks + 1U);
	self->threads = g_ptr_array_new_with_free_func(g_free);
	forget_returns(self);
}

static void block_flow_clear(BlockFlow *self)
{
	g_free(self->nodes);
	g_free(self->targets);
	g_free(self->returns_to);
	g_clear_pointer(&self->threads, g_ptr_array_unref);
	*self = (BlockFlow){0};
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BlockFlow, block_flow_clear)

static ThreadFlow *block_flow_thread(BlockFlow *self, uint16_t thread)
{
	ThreadFlow *flow;

	if (thread >= self->threads->len)
		g_ptr_array_set_size(self->threads, thread + 1);
	flow = g_ptr_array_index(self->threads, thread);
	if (flow == NULL) {
		flow = g_new0(ThreadFlow, 1);
		flow->last_block = UINT32_MAX;
		g_ptr_array_index(self->threads, thread) = flow;
	}
	return flow;
}

#define NO_SYMBOL UINT32_MAX

enum {
	FAR_SYMBOL = 255, /* the excess over it is in the far stream */
	FORM_BYTES = 0,
	FORM_RUNS = 1, /* runs of 0, and what comes between */
	FAST_TRIAL_LEVEL = 1,
	THOROUGH_TRIAL_LEVEL = 12,
};

/* --- how often each block follows another --- */

/* A hash table: there is one lookup for each invocation. */
typedef struct {
	uint32_t from, to;
	uint32_t count;
	uint32_t rank; /* among those of the same `from`; once listed */
} FlowEdge;

typedef struct {
	FlowEdge *edges; /* owned; by first appearance */
	size_t room;
	uint32_t n;
	uint32_t *table; /* owned; edge + 1 */
	uint32_t mask;
} FlowEdges;

enum { FIRST_SIZE = 1 << 12 };

static void flow_edges_init(FlowEdges *self)
{
	self->edges = NULL;
	self->room = 0;
	self->n = 0;
	self->table = g_new0(uint32_t, FIRST_SIZE);
	self->mask = FIRST_SIZE - 1;
}

static void flow_edges_clear(FlowEdges *self)
{
	g_free(self->edges);
	g_free(self->table);
	*self = (FlowEdges){0};
}

static uint32_t first_place(const FlowEdges *self, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;

	return (uint32_t)lode_hash_slot(key, 32) & self->mask;
}

static void grow_table(FlowEdges *self)
{
	uint32_t size = (self->mask + 1) * 2;

	g_free(self->table);
	self->table = g_new0(uint32_t, size);
	self->mask = size - 1;
	for (uint32_t i = 0; i < self->n; i++) {
		uint32_t at = first_place(self, self->edges[i].from, self->edges[i].to);

		while (self->table[at] != 0)
			at = (at + 1) & self->mask;
		self->table[at] = i + 1;
	}
}

/* Counts one more; gives the number of the edge. */
static uint32_t flow_edges_add(FlowEdges *self, uint32_t from, uint32_t to)
{
	uint32_t at = first_place(self, from, to);

	for (; self->table[at] != 0; at = (at + 1) & self->mask) {
		FlowEdge *edge = &self->edges[self->table[at] - 1];

		if (edge->from == from && edge->to == to) {
			edge->count++;
			return self->table[at] - 1;
		}
	}
	if (self->n == self->room) {
		self->room = MAX(self->room * 2, FIRST_SIZE);
		self->edges = g_renew(FlowEdge, self->edges, self->room);
	}
	self->edges[self->n] = (FlowEdge){from, to, 1, 0};
	self->table[at] = ++self->n;
	if (self->n * 2 > self->mask)
		grow_table(self);
	return self->n - 1;
}

/* By the block that they leave, then the most frequent, then the first to appear. */
LODE_ORDER_OF_INDICES(compare_edges, FlowEdge, LODE_ASCENDING(from), LODE_DESCENDING(count),
	(left > right) - (left < right))

/* Gives the flow its targets, and the edges their ranks. */
static void flow_edges_list(FlowEdges *self, BlockFlow *flow)
{
	g_autofree uint32_t *order = g_new(uint32_t, self->n + 1U);

	for (uint32_t i = 0; i < self->n; i++)
		order[i] = i;
	g_qsort_with_data(order, (int)self->n, sizeof(*order), compare_edges, self->edges);
	g_free(flow->targets);
	flow->targets = g_new(uint32_t, self->n + 1U);
	flow->n_targets = self->n;
	for (uint32_t i = 0; i < self->n; i++) {
		FlowEdge *edge = &self->edges[order[i]];
		FlowNode *node = &flow->nodes[edge->from];

		if (node->n_edges == 0)
			node->first_edge = i;
		edge->rank = node->n_edges++;
		flow->targets[i] = edge->to;
	}
}

/* --- writing --- */

/* Lengths of the pieces, not places: they are small, and alike where threads take turns. */
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

/* Targets as distances from the block after this one: that is the commonest, and is 0. */
static void encode_flow(const BlockFlow *flow, LodeFrameStreams *out)
{
	for (uint32_t i = 0; i < flow->layout->n_blocks; i++) {
		const FlowNode *node = &flow->nodes[i];

		if (flow->layout->blocks[i].n_invocations == 0)
			continue;
		lode_varint_append(out->streams[LODE_STREAM_SEQUENCE_DEGREE],
			(uint64_t)node->n_edges * 2 + node->is_guessed);
		for (uint32_t k = 0; k < node->n_edges; k++)
			lode_varint_append_signed(out->streams[LODE_STREAM_SEQUENCE_EDGE],
				(uint64_t)flow->targets[node->first_edge + k] - i - 1);
	}
}

/* The first two edges of a block, which are most that it has. */
typedef struct {
	uint32_t to[2], edges[2];
} KnownEdges;

/* In place of an edge, where a step takes none; the numbers of edges follow. */
enum { NO_EDGE, GUESSED, FIRST_EDGE };

/* The intermediate form of the sequence before it is written. */
typedef struct {
	const LodeTraceFrame *frame;
	BlockFlow *flow;
	FlowEdges edges;
	uint32_t *edge_of; /* by invocation, that of the step to it; NO_EDGE, GUESSED */
	KnownEdges *known; /* by block */
} SequenceWriter;

/* Guesses for each block that may be a return, as most of them are. */
static void guess_all(BlockFlow *flow)
{
	for (uint32_t i = 0; i < flow->layout->n_blocks; i++)
		flow->nodes[i].is_guessed = flow->layout->blocks[i].is_return;
}

/* Whether the return stack is right at all, of each block that may be a return. */
static void try_guesses(SequenceWriter *self)
{
	BlockFlow *flow = self->flow;
	const LodeFrameLayout *layout = flow->layout;
	g_autofree bool *was_right = g_new0(bool, layout->n_blocks + 1U);
	LodeThreadRun run;

	guess_all(flow);
	for (size_t k = 0; lode_thread_run_at(self->frame, k, &run); k++) {
		ThreadFlow *thread = block_flow_thread(flow, run.thread);

		for (size_t i = run.first; i < run.end; i++) {
			uint32_t last = thread->last_block, next = self->frame->blocks[i];

			if (last == UINT32_MAX) {
				thread->last_block = next;
				continue;
			}
			if (flow->nodes[last].is_guessed && block_flow_guess(flow, thread) == next)
				was_right[last] = true;
			block_flow_advance(flow, thread, next);
		}
	}
	for (uint32_t i = 0; i < layout->n_blocks; i++)
		flow->nodes[i].is_guessed = was_right[i];
	/* The threads begin anew, with nothing learned. */
	forget_returns(flow);
	g_ptr_array_set_size(flow->threads, 0);
}

static uint32_t count_edge(SequenceWriter *self, uint32_t from, uint32_t to)
{
	KnownEdges *known = &self->known[from];
	bool is_second = known->to[1] == to;
	uint32_t edge = known->edges[is_second];

	if (G_LIKELY(is_second || known->to[0] == to)) {
		self->edges.edges[edge].count++;
		return edge;
	}
	edge = flow_edges_add(&self->edges, from, to);
	for (unsigned i = 0; i < G_N_ELEMENTS(known->to); i++) {
		if (known->to[i] != UINT32_MAX)
			continue;
		known->to[i] = to;
		known->edges[i] = edge;
		break;
	}
	return edge;
}

/* The edge that the step takes, counted. A step that the return stack predicts takes none: callers
 * differ, and an edge for each would give the return as many targets. */
static uint32_t find_edge(SequenceWriter *self, ThreadFlow *thread, uint32_t next)
{
	uint32_t last = thread->last_block;
	bool is_right;

	if (last == UINT32_MAX) {
		thread->last_block = next;
		return NO_EDGE;
	}
	is_right = self->flow->nodes[last].is_guessed &&
	           block_flow_guess(self->flow, thread) == next;
	block_flow_advance(self->flow, thread, next);
	return is_right ? GUESSED : FIRST_EDGE + count_edge(self, last, next);
}

static void find_edges(SequenceWriter *self)
{
	LodeThreadRun run;

	for (size_t k = 0; lode_thread_run_at(self->frame, k, &run); k++) {
		ThreadFlow *thread = block_flow_thread(self->flow, run.thread);

		for (size_t i = run.first; i < run.end; i++)
			self->edge_of[i] = find_edge(self, thread, self->frame->blocks[i]);
	}
}

/* By what a step takes: its symbol; NO_SYMBOL: it has none. */
static uint32_t *find_symbols(const SequenceWriter *self)
{
	uint32_t *symbols = g_new(uint32_t, self->edges.n + (size_t)FIRST_EDGE);

	symbols[NO_EDGE] = NO_SYMBOL;
	symbols[GUESSED] = 0;
	for (uint32_t i = 0; i < self->edges.n; i++) {
		const FlowEdge *edge = &self->edges.edges[i];
		const FlowNode *node = &self->flow->nodes[edge->from];

		symbols[FIRST_EDGE + i] = node->n_edges == 1 && !node->is_guessed
		                                  ? NO_SYMBOL
		                                  : edge->rank + node->is_guessed;
	}
	return symbols;
}

/* One symbol for each step that is not certain. */
static GByteArray *choices(const SequenceWriter *self, LodeFrameStreams *out)
{
	GByteArray *far = out->streams[LODE_STREAM_SEQUENCE_FAR];
	GByteArray *result = g_byte_array_sized_new((guint)self->frame->n_invocations + 1);
	g_autofree uint32_t *symbols = find_symbols(self);
	uint8_t *at = result->data;

	for (size_t i = 0; i < self->frame->n_invocations; i++) {
		uint32_t symbol = symbols[self->edge_of[i]];

		*at = (uint8_t)MIN(symbol, FAR_SYMBOL);
		at += symbol != NO_SYMBOL;
		if (G_UNLIKELY(self->edge_of[i] == NO_EDGE))
			lode_varint_append(far, self->frame->blocks[i]);
		else if (G_UNLIKELY(symbol >= FAR_SYMBOL && symbol != NO_SYMBOL))
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

/* Where a program mostly does the commonest thing, zeros are nearly all symbols: their runs are
 * fewer numbers. */
static void split_runs(const GByteArray *symbols, GByteArray *runs, GByteArray *others)
{
	uint64_t run = 0;
	guint n_others = 0;

	g_byte_array_set_size(others, symbols->len);
	for (guint i = 0; i < symbols->len; i++) {
		if (symbols->data[i] == 0) {
			run++;
			continue;
		}
		lode_varint_append(runs, run);
		others->data[n_others++] = symbols->data[i];
		run = 0;
	}
	lode_varint_append(runs, run);
	g_byte_array_set_size(others, n_others);
}

/* Both forms are compressed, quickly, and the smaller is taken: the result depends on how regular
 * the runs are, which counts of symbols do not show. */
static void append_choices(const GByteArray *symbols, LodeCodecEffort effort, LodeFrameStreams *out)
{
	int level = effort == LODE_CODEC_THOROUGH ? THOROUGH_TRIAL_LEVEL : FAST_TRIAL_LEVEL;
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

/* The frame is walked through three times, quickly twice: whether to trust the return stack at a
 * block, which edges there are, and which of them each step takes, as ranks are known only when all
 * are counted.
 */
void lode_block_sequence_encode(const LodeTraceFrame *frame, const LodeFrameLayout *layout,
	LodeCodecEffort effort, LodeFrameStreams *out)
{
	g_auto(BlockFlow) flow = {0};
	g_autoptr(GByteArray) symbols = NULL;
	SequenceWriter writer = {.frame = frame, .flow = &flow};

	encode_switches(frame, out);
	encode_used(layout, out);
	block_flow_init(&flow, layout);
	flow_edges_init(&writer.edges);
	writer.edge_of = g_new(uint32_t, frame->n_invocations + 1);
	writer.known = g_new(KnownEdges, layout->n_blocks + 1U);
	memset(writer.known, 0xff, layout->n_blocks * sizeof(KnownEdges));
	if (effort == LODE_CODEC_QUICK)
		guess_all(&flow);
	else
		try_guesses(&writer);
	find_edges(&writer);
	flow_edges_list(&writer.edges, &flow);
	encode_flow(&flow, out);
	symbols = choices(&writer, out);
	append_choices(symbols, effort, out);
	flow_edges_clear(&writer.edges);
	g_free(writer.edge_of);
	g_free(writer.known);
}

/* --- reading --- */

typedef struct {
	const LodeFrameStreams *streams;
	LodeTraceFrame *frame;
	BlockFlow *flow;
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
				&lengths, "not a possible switch of threads", error);
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

static bool decode_targets(const LodeFrameStreams *streams, BlockFlow *flow, uint32_t block,
	LodeByteCursor *edges, GError **error)
{
	FlowNode *node = &flow->nodes[block];

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
static bool decode_flow(
	const LodeFrameStreams *streams, uint32_t n_invocations, BlockFlow *flow, GError **error)
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

/* With runs, zeros are counted down and the stream has the other symbols only. */
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
static uint32_t next_block(SequenceReader *self, ThreadFlow *thread)
{
	const FlowNode *node;
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
		return block_flow_guess(self->flow, thread);
	return symbol < node->n_edges ? self->flow->targets[node->first_edge + symbol] : UINT32_MAX;
}

static bool decode_run(SequenceReader *self, const LodeThreadRun *run, GError **error)
{
	ThreadFlow *thread = block_flow_thread(self->flow, run->thread);

	for (size_t i = run->first; i < run->end; i++) {
		uint32_t block = next_block(self, thread);

		if (G_UNLIKELY(block == UINT32_MAX))
			return lode_frame_streams_damaged(self->streams,
				LODE_STREAM_SEQUENCE_CHOICE, &self->choice, "no such block", error);
		self->frame->blocks[i] = block;
		if (G_UNLIKELY(thread->last_block == UINT32_MAX))
			thread->last_block = block;
		else
			block_flow_advance(self->flow, thread, block);
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
	g_auto(BlockFlow) flow = {0};
	SequenceReader reader = {.streams = streams, .frame = frame, .flow = &flow};
	LodeThreadRun run;

	if (!decode_switches(streams, head, frame, error))
		return false;
	frame->n_invocations = head->n_invocations;
	block_flow_init(&flow, layout);
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
