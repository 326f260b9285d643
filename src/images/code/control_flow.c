/* SPDX-License-Identifier: MIT */
/*
 * Decoding, then blocks, then edges, then loops, each one pass over the arrays.
 *
 *   starts (hints' targets, executed addresses) ──▶ linear decoding, resumed at each start it
 * misses branches, targets, hints ──▶ first instruction of each block ──▶ successors ──▶ loop_nest
 *
 * A start inside an instruction means data in code, whose last decoded bytes are then given up; but
 * where only prefixes are jumped over (`je 1f; lock; 1: cmpxchg …`) both instructions are real.
 */
#include "images/code/control_flow.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/code/loop_nest.h"

#include <Zydis/Zydis.h>
#include <string.h>

enum {
	NO_BLOCK = UINT32_MAX,
	PADDING_ALIGNMENT = 8, /* bytes: the least that compilers align loops and labels to */
};

/* Why an instruction begins a block. */
enum {
	HEAD_AFTER = 1 << 0,   /* the one before it ends a block */
	HEAD_REACHED = 1 << 1, /* a known way leads to it */
	HEAD_PADDING = 1 << 2,
};

/* The state of one build. */
typedef struct {
	LodeControlFlow *flow;
	LodeInstructionDecoder decoder;
	const uint8_t *code;
	uint64_t start, size;
	LodeSeenFlow seen;
	GArray *starts; /* uint64_t, ascending, distinct, inside the function */
	uint8_t *heads; /* of each instruction: HEAD_*, 0: begins no block */
} Build;

void lode_control_flow_init(LodeControlFlow *self)
{
	self->instructions = g_array_new(FALSE, FALSE, sizeof(LodeStaticInstruction));
	self->blocks = g_array_new(FALSE, FALSE, sizeof(LodeStaticBlock));
	self->hints = g_array_new(FALSE, FALSE, sizeof(LodeFlowHint));
	self->undecoded_bytes = 0;
	self->cache = NULL;
}

void lode_control_flow_clear(LodeControlFlow *self)
{
	g_clear_pointer(&self->instructions, g_array_unref);
	g_clear_pointer(&self->blocks, g_array_unref);
	g_clear_pointer(&self->hints, g_array_unref);
	g_clear_pointer(&self->cache, lode_decode_cache_free);
}

static LodeStaticInstruction *instruction_at(const LodeControlFlow *flow, size_t i)
{
	return &g_array_index(flow->instructions, LodeStaticInstruction, i);
}

static LodeStaticBlock *block_at(const LodeControlFlow *flow, size_t i)
{
	return &g_array_index(flow->blocks, LodeStaticBlock, i);
}

uint32_t lode_control_flow_find(const LodeControlFlow *self, uint64_t address)
{
	uint32_t low = LODE_PARTITION_POINT(
		self->instructions->len, i, instruction_at(self, i)->address < address);
	if (low < self->instructions->len && instruction_at(self, low)->address == address)
		return low;
	return UINT32_MAX;
}

static bool is_inside(const Build *build, uint64_t address)
{
	return address - build->start < build->size;
}

static void collect_starts(Build *build)
{
	const LodeSeenFlow *seen = &build->seen;
	GArray *starts = build->starts;
	guint n = 0;

	for (size_t i = 0; i < seen->n_hints; i++) {
		if (is_inside(build, seen->hints[i].target))
			g_array_append_val(starts, seen->hints[i].target);
	}
	for (size_t i = 0; i < seen->n_leaders; i++) {
		if (is_inside(build, seen->leaders[i]))
			g_array_append_val(starts, seen->leaders[i]);
	}
	if (starts->len == 0)
		return;
	qsort(starts->data, starts->len, sizeof(uint64_t), lode_compare_u64);
	for (guint i = 0; i < starts->len; i++) {
		uint64_t address = g_array_index(starts, uint64_t, i);

		if (n == 0 || g_array_index(starts, uint64_t, n - 1) != address)
			g_array_index(starts, uint64_t, n++) = address;
	}
	g_array_set_size(starts, n);
}

static bool decode_at(Build *build, uint64_t address, LodeStaticInstruction *out)
{
	uint64_t offset = address - build->start;

	memset(out, 0, sizeof *out);
	out->address = address;
	return lode_instruction_decoder_decode(&build->decoder, build->code + offset,
		build->size - offset, address, &out->decoded);
}

/* Whether `address`, inside `instruction`, is the same instruction with fewer prefixes. */
static bool is_prefix_skipped(
	Build *build, const LodeStaticInstruction *instruction, uint64_t address)
{
	LodeStaticInstruction shorter;

	return decode_at(build, address, &shorter) &&
	       shorter.decoded.mnemonic == instruction->decoded.mnemonic &&
	       address + shorter.decoded.length ==
	               instruction->address + instruction->decoded.length;
}

/* Linear decoding from start to start; where one is missed, what crosses it goes. */
static void decode_all(Build *build)
{
	const uint64_t *starts = (const uint64_t *)(const void *)build->starts->data;
	uint64_t address = build->start, end = build->start + build->size;
	LodeStaticInstruction instruction;
	guint next = 0;

	while (address - build->start < build->size) {
		uint64_t limit, after;
		bool is_start = false;

		for (; next < build->starts->len && starts[next] <= address; next++)
			is_start |= starts[next] == address;
		limit = next < build->starts->len ? starts[next] : end;
		if (!decode_at(build, address, &instruction)) {
			build->flow->undecoded_bytes++;
			address++;
			continue;
		}
		after = address + instruction.decoded.length;
		/* where both this address and the next were seen to run, both instructions stay */
		if (after - build->start > limit - build->start && !is_start &&
			!is_prefix_skipped(build, &instruction, limit)) {
			build->flow->undecoded_bytes += limit - address;
			address = limit;
			continue;
		}
		g_array_append_val(build->flow->instructions, instruction);
		address = after - build->start > limit - build->start ? limit : after;
	}
}

/* A branch over a prefix, never taken in the recording: its target is an instruction as well. */
static void add_skipped_prefixes(Build *build)
{
	LodeControlFlow *flow = build->flow;
	guint n = flow->instructions->len, n_found = 0;

	for (guint i = 0; i < n; i++) {
		const LodeDecodedInstruction *decoded = &instruction_at(flow, i)->decoded;
		uint64_t target = decoded->target;
		uint32_t before;

		if (!decoded->has_target || !is_inside(build, target) || target == build->start ||
			decoded->branch == LODE_BRANCH_CALL ||
			lode_control_flow_find(flow, target) != UINT32_MAX)
			continue;
		/* a prefix is one byte, and only a single one is jumped over (lock) */
		before = lode_control_flow_find(flow, target - 1);
		if (before == UINT32_MAX ||
			!is_prefix_skipped(build, instruction_at(flow, before), target))
			continue;
		g_array_append_val(build->starts, target);
		n_found++;
	}
	if (n_found == 0)
		return;
	/* The starts stay as they were before; decoding again takes the new ones in. */
	qsort(build->starts->data, build->starts->len, sizeof(uint64_t), lode_compare_u64);
	g_array_set_size(flow->instructions, 0);
	flow->undecoded_bytes = 0;
	decode_all(build);
}

/* The instruction that follows in execution: not always the next one, instructions may overlap. */
static uint32_t find_next(const Build *build, uint32_t i)
{
	const LodeStaticInstruction *instruction = instruction_at(build->flow, i);
	uint64_t address = instruction->address + instruction->decoded.length;

	if (i + 1 < build->flow->instructions->len &&
		instruction_at(build->flow, i + 1)->address == address)
		return i + 1;
	return lode_control_flow_find(build->flow, address);
}

static bool falls_through(LodeBranch branch)
{
	switch (branch) {
	case LODE_BRANCH_NONE:
	case LODE_BRANCH_CONDITIONAL:
	case LODE_BRANCH_CALL:
	case LODE_BRANCH_INDIRECT_CALL:
		return true;
	default:
		return false;
	}
}

static bool has_branch_target(const LodeDecodedInstruction *decoded)
{
	return decoded->has_target &&
	       (decoded->branch == LODE_BRANCH_CONDITIONAL || decoded->branch == LODE_BRANCH_JUMP);
}

static bool is_call(LodeBranch branch)
{
	return branch == LODE_BRANCH_CALL || branch == LODE_BRANCH_INDIRECT_CALL;
}

static void mark_head(Build *build, uint64_t address)
{
	uint32_t i = lode_control_flow_find(build->flow, address);

	if (i != UINT32_MAX)
		build->heads[i] |= HEAD_REACHED;
}

static void mark_after(Build *build, uint32_t i)
{
	if (i + 1 < build->flow->instructions->len)
		build->heads[i + 1] |= HEAD_AFTER;
}

static void mark_instruction(Build *build, uint32_t i)
{
	const LodeStaticInstruction *instruction = instruction_at(build->flow, i);
	const LodeDecodedInstruction *decoded = &instruction->decoded;
	uint32_t next = find_next(build, i);

	if (has_branch_target(decoded) && is_inside(build, decoded->target))
		mark_head(build, decoded->target);
	if ((decoded->branch != LODE_BRANCH_NONE && !is_call(decoded->branch)) || next != i + 1)
		mark_after(build, i);
	if (falls_through(decoded->branch) && next != UINT32_MAX && next != i + 1)
		build->heads[next] |= HEAD_REACHED;
	if (is_call(decoded->branch) && next != UINT32_MAX)
		instruction_at(build->flow, next)->is_return_point = true;
}

static bool is_filling(const LodeDecodedInstruction *decoded)
{
	return (decoded->kinds & 1U << LODE_KIND_NOP) != 0 &&
	       decoded->mnemonic != ZYDIS_MNEMONIC_ENDBR64 &&
	       decoded->mnemonic != ZYDIS_MNEMONIC_ENDBR32;
}

/*
 * Padding is apart from what follows it, which an indirect jump may reach that was not seen:
 *
 *   jmp, ret … │ nop … │ ▶ aligned
 */
static void mark_padding(Build *build, uint32_t i)
{
	uint32_t n = build->flow->instructions->len, next = i + 1;

	if (falls_through(instruction_at(build->flow, i)->decoded.branch) ||
		find_next(build, i) != next)
		return;
	while (next < n && (build->heads[next] & HEAD_REACHED) == 0 &&
		is_filling(&instruction_at(build->flow, next)->decoded) &&
		find_next(build, next) == next + 1)
		next++;
	if (next == i + 1 || instruction_at(build->flow, next)->address % PADDING_ALIGNMENT != 0)
		return;
	build->heads[i + 1] |= HEAD_PADDING;
	build->heads[next] |= HEAD_AFTER;
}

static void mark_heads(Build *build)
{
	uint32_t n = build->flow->instructions->len;

	build->heads = g_new0(uint8_t, (size_t)n + 1);
	build->heads[0] = HEAD_REACHED;
	for (uint32_t i = 0; i < n; i++)
		mark_instruction(build, i);
	for (size_t i = 0; i < build->seen.n_hints; i++) {
		uint32_t source = lode_control_flow_find(build->flow, build->seen.hints[i].source);

		if (is_inside(build, build->seen.hints[i].target))
			mark_head(build, build->seen.hints[i].target);
		if (source != UINT32_MAX && is_inside(build, build->seen.hints[i].target))
			mark_after(build, source);
	}
	for (uint32_t i = 0; i < n; i++)
		mark_padding(build, i);
}

static void make_blocks(Build *build)
{
	LodeControlFlow *flow = build->flow;

	for (uint32_t i = 0; i < flow->instructions->len; i++) {
		if (build->heads[i] != 0) {
			LodeStaticBlock block = {.first = i,
				.successors = {NO_BLOCK, NO_BLOCK},
				.is_padding = (build->heads[i] & HEAD_PADDING) != 0};

			g_array_append_val(flow->blocks, block);
		}
		block_at(flow, flow->blocks->len - 1)->n++;
		instruction_at(flow, i)->block = flow->blocks->len - 1;
	}
}

static uint32_t block_of(const Build *build, uint64_t address)
{
	uint32_t i = is_inside(build, address) ? lode_control_flow_find(build->flow, address)
	                                       : UINT32_MAX;

	return i == UINT32_MAX ? NO_BLOCK : instruction_at(build->flow, i)->block;
}

static void link_blocks(Build *build)
{
	for (guint i = 0; i < build->flow->blocks->len; i++) {
		LodeStaticBlock *block = block_at(build->flow, i);
		uint32_t last = block->first + block->n - 1;
		const LodeDecodedInstruction *decoded = &instruction_at(build->flow, last)->decoded;
		uint32_t next = find_next(build, last);

		if (falls_through(decoded->branch) && next != UINT32_MAX)
			block->successors[0] = instruction_at(build->flow, next)->block;
		if (has_branch_target(decoded))
			block->successors[1] = block_of(build, decoded->target);
	}
}

/* Keeps the hints that are edges inside the function and not already a block's successor. */
static void keep_hints(Build *build)
{
	for (size_t i = 0; i < build->seen.n_hints; i++) {
		LodeFlowHint hint = build->seen.hints[i];
		uint32_t source = block_of(build, hint.source);
		uint32_t target = block_of(build, hint.target);
		const LodeFlowHint *last = NULL;

		if (source == NO_BLOCK || target == NO_BLOCK)
			continue;
		if (block_at(build->flow, source)->successors[0] == target ||
			block_at(build->flow, source)->successors[1] == target)
			continue;
		/* they are sorted: equal ones follow each other */
		if (build->flow->hints->len > 0)
			last = &g_array_index(
				build->flow->hints, LodeFlowHint, build->flow->hints->len - 1);
		if (last == NULL || last->source != hint.source || last->target != hint.target)
			g_array_append_val(build->flow->hints, hint);
	}
}

static uint32_t add_successors(const LodeStaticBlock *block, uint32_t *targets, uint32_t n)
{
	for (int k = 0; k < 2; k++) {
		if (block->successors[k] != NO_BLOCK)
			targets[n++] = block->successors[k];
	}
	return n;
}

/* Successor lists of the blocks; hints follow the blocks' order as both are by address. */
static void fill_graph(const Build *build, uint32_t *offsets, uint32_t *targets)
{
	const LodeControlFlow *flow = build->flow;
	guint hint = 0;
	uint32_t n = 0;

	for (guint i = 0; i < flow->blocks->len; i++) {
		offsets[i] = n;
		n = add_successors(block_at(flow, i), targets, n);
		for (; hint < flow->hints->len; hint++) {
			const LodeFlowHint *edge = &g_array_index(flow->hints, LodeFlowHint, hint);

			if (block_of(build, edge->source) != i)
				break;
			targets[n++] = block_of(build, edge->target);
		}
	}
	offsets[flow->blocks->len] = n;
}

static void find_loops(Build *build)
{
	LodeControlFlow *flow = build->flow;
	guint n = flow->blocks->len, n_hints = flow->hints->len;
	g_autofree uint32_t *offsets = g_new(uint32_t, n + 1);
	g_autofree uint32_t *targets = g_new(uint32_t, 2 * (size_t)n + n_hints + 1);
	g_autofree uint32_t *roots = g_new(uint32_t, n_hints + 1);
	g_autofree LodeLoopVertex *vertices = g_new(LodeLoopVertex, n);
	LodeLoopGraph graph = {.n = n, .offsets = offsets, .targets = targets};

	fill_graph(build, offsets, targets);
	/* what a jump was seen to go to is reached, even if no edge leads to the jump */
	roots[0] = 0;
	for (guint i = 0; i < n_hints; i++)
		roots[i + 1] = block_of(build, g_array_index(flow->hints, LodeFlowHint, i).target);
	lode_loop_nest_find(&graph, roots, n_hints + 1, vertices);
	for (guint i = 0; i < n; i++) {
		LodeStaticBlock *block = block_at(flow, i);

		block->loop_depth = (uint8_t)MIN(vertices[i].loop_depth, UINT8_MAX);
		block->is_loop_head = vertices[i].is_loop_head;
		block->is_reachable = vertices[i].is_reachable;
	}
}

static void reset(LodeControlFlow *self)
{
	g_array_set_size(self->instructions, 0);
	g_array_set_size(self->blocks, 0);
	g_array_set_size(self->hints, 0);
	self->undecoded_bytes = 0;
}

void lode_control_flow_build(LodeControlFlow *self, const uint8_t *code, size_t size,
	uint64_t address, const LodeSeenFlow *seen)
{
	static const LodeSeenFlow nothing = {0};
	Build build = {.flow = self,
		.code = code,
		.start = address,
		.size = size,
		.seen = seen != NULL ? *seen : nothing};

	reset(self);
	lode_instruction_decoder_init(&build.decoder);
	if (self->cache == NULL)
		self->cache = lode_decode_cache_new();
	build.decoder.cache = self->cache;
	lode_instruction_decoder_begin(&build.decoder, code, size, address);
	build.starts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	collect_starts(&build);
	decode_all(&build);
	add_skipped_prefixes(&build);
	if (self->instructions->len > 0) {
		mark_heads(&build);
		make_blocks(&build);
		link_blocks(&build);
		keep_hints(&build);
		find_loops(&build);
	}
	g_free(build.heads);
	g_array_unref(build.starts);
}
