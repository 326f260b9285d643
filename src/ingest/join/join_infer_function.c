/* SPDX-License-Identifier: MIT */
/*
 * The evidence of one function becomes a graph of measured counts, the inference makes a flow of
 * it, and the flow is written as rows, jumps and calls:
 *
 *   samples only     a block's count is the mean of its instructions'; no edge is measured
 *   branch stacks    a block's count is that of the ranges over its first instruction; edges are
 *                    the recorded branches, and what ranges ran through
 *   windows          as samples only; then the ways of branches that were executed step by step
 *
 * The model and its costs: docs/inside/inference.md.
 */
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "ingest/inference/branch_outcomes.h"
#include "ingest/inference/flow_inference.h"
#include "ingest/join/join_infer.h"

#include <math.h>

typedef LodeInferenceScratch Scratch;
typedef LodeInferredEvidence Evidence;

enum {
	NOT_FOUND = UINT32_MAX,
	/* Instructions of a caller that is in the profile with all of them: so many, and so many
	 * more for each sample in what it called. */
	MAX_WHOLE = 512,
	MAX_WHOLE_FOR_SAMPLE = 16,
};

/* Times the usual weight of a block: above it an instruction waited. */
#define MIN_PEAK 8.0

void lode_inference_scratch_init(Scratch *self, const LodeRecording *recording)
{
	*self = (Scratch){.recording = recording};
	lode_control_flow_init(&self->flow);
	lode_instruction_decoder_init(&self->decoder);
	self->hints = g_array_new(FALSE, FALSE, sizeof(LodeFlowHint));
	self->leaders = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->blocks = g_array_new(FALSE, FALSE, sizeof(LodeInferenceBlock));
	self->edges = g_array_new(FALSE, FALSE, sizeof(LodeInferenceEdge));
	self->covered = g_array_new(FALSE, TRUE, sizeof(double));
	self->begun = g_array_new(FALSE, TRUE, sizeof(double));
	self->is_seen = g_array_new(FALSE, TRUE, sizeof(bool));
}

void lode_inference_scratch_clear(Scratch *self)
{
	lode_control_flow_clear(&self->flow);
	g_array_unref(self->hints);
	g_array_unref(self->leaders);
	g_array_unref(self->blocks);
	g_array_unref(self->edges);
	g_array_unref(self->covered);
	g_array_unref(self->begun);
	g_array_unref(self->is_seen);
	g_free(self->block_counts);
	g_free(self->edge_counts);
}

static const LodeStaticInstruction *instruction_at(const Scratch *self, uint32_t index)
{
	return &g_array_index(self->flow.instructions, LodeStaticInstruction, index);
}

static const LodeStaticBlock *block_at(const Scratch *self, uint32_t index)
{
	return &g_array_index(self->flow.blocks, LodeStaticBlock, index);
}

static const LodeStaticInstruction *last_of(const Scratch *self, const LodeStaticBlock *block)
{
	return instruction_at(self, block->first + block->n - 1);
}

static bool is_inside(const Evidence *evidence, uint64_t address)
{
	return address - evidence->function->address < evidence->function->size;
}

/* Instructions begin where samples were taken and where branches came from or went to. */
static void collect_leaders(Scratch *self, const Evidence *evidence)
{
	g_array_set_size(self->leaders, 0);
	for (uint32_t i = 0; i < evidence->n_sites; i++)
		g_array_append_val(self->leaders, evidence->sites[i].address);
	for (uint32_t i = 0; i < evidence->n_entries; i++)
		g_array_append_val(self->leaders, evidence->entries[i].last);
	for (uint32_t i = 0; i < evidence->n_branches; i++)
		g_array_append_val(self->leaders, evidence->branches[i].first);
	for (uint32_t i = 0; i < evidence->n_steps; i++)
		g_array_append_val(self->leaders, evidence->steps[i].first);
	for (uint32_t i = 0; i < evidence->n_arrivals; i++)
		g_array_append_val(self->leaders, evidence->arrivals[i].last);
	g_array_sort(self->leaders, lode_compare_u64);
}

/* LODE_BRANCH_NONE also where nothing decodes. */
static LodeBranch branch_of(Scratch *self, const Evidence *evidence, uint64_t address)
{
	uint64_t offset = address - evidence->function->address;
	LodeDecodedInstruction decoded;

	if (offset >= self->code_size ||
		!lode_instruction_decoder_decode(&self->decoder, self->code + offset,
			self->code_size - offset, address, &decoded))
		return LODE_BRANCH_NONE;
	return decoded.branch;
}

static bool is_jump(LodeBranch branch)
{
	return branch == LODE_BRANCH_CONDITIONAL || branch == LODE_BRANCH_JUMP ||
	       branch == LODE_BRANCH_INDIRECT_JUMP;
}

static bool stays_inside(const Evidence *evidence, const LodeInferredSpan *branch)
{
	return branch->image == evidence->image && branch->target_image == evidence->image &&
	       is_inside(evidence, branch->first) && is_inside(evidence, branch->last);
}

/* Calls and returns do not end a block: their targets inside are not edges of it. A step
 * to the next instruction is not a jump, and direct jumps are known from the code. */
static void collect_hints(Scratch *self, const Evidence *evidence)
{
	g_array_set_size(self->hints, 0);
	for (uint32_t i = 0; i < evidence->n_branches; i++) {
		const LodeInferredSpan *branch = &evidence->branches[i];
		const LodeFlowHint hint = {branch->first, branch->last};
		if (stays_inside(evidence, branch) &&
			is_jump(branch_of(self, evidence, branch->first)))
			g_array_append_val(self->hints, hint);
	}
	for (uint32_t i = 0; i < evidence->n_steps; i++) {
		const LodeInferredSpan *step = &evidence->steps[i];
		const LodeFlowHint hint = {step->first, step->last};
		if (stays_inside(evidence, step) &&
			branch_of(self, evidence, step->first) == LODE_BRANCH_INDIRECT_JUMP)
			g_array_append_val(self->hints, hint);
	}
}

static void build_flow(Scratch *self, const Evidence *evidence, const uint8_t *code, size_t size)
{
	self->code = code;
	self->code_size = size;
	collect_leaders(self, evidence);
	collect_hints(self, evidence);
	const LodeSeenFlow seen = {(const LodeFlowHint *)self->hints->data, self->hints->len,
		(const uint64_t *)self->leaders->data, self->leaders->len};
	lode_control_flow_build(&self->flow, code, size, evidence->function->address, &seen);
}

/* Executions of each instruction by the ranges that cover it. */
static void cover(Scratch *self, const Evidence *evidence)
{
	guint n = self->flow.instructions->len;

	g_array_set_size(self->covered, 0);
	g_array_set_size(self->begun, 0);
	g_array_set_size(self->covered, n + 1);
	g_array_set_size(self->begun, n + 1);
	double *covered = (double *)self->covered->data, *begun = (double *)self->begun->data;
	for (uint32_t i = 0; i < evidence->n_ranges; i++) {
		const LodeInferredSpan *range = &evidence->ranges[i];
		uint32_t first = lode_control_flow_find(&self->flow, range->first);
		uint32_t last = lode_control_flow_find(&self->flow, range->last);
		if (first == NOT_FOUND)
			continue;
		/* It ran on into the next function. */
		if (last == NOT_FOUND && !is_inside(evidence, range->last))
			last = n - 1;
		if (last == NOT_FOUND || last < first)
			continue;
		/* A difference array: summed up below, it is the number of ranges over each. */
		covered[first] += range->count;
		covered[last + 1] -= range->count;
		begun[first] += range->count;
	}
	for (guint i = 1; i <= n; i++)
		covered[i] += covered[i - 1];
}

static double site_weight(const Scratch *self, const LodeJoinSite *site)
{
	const LodeRecordedInstruction *row = &g_array_index(
		self->recording->instructions, LodeRecordedInstruction, site->row);

	return self->recording->values[row->first_value + self->weight_column];
}

/* The executions that one sample stands for. */
static double sample_count(const Scratch *self)
{
	return self->sample * (self->branch_scale > 0 ? self->branch_scale : 1);
}

/* Waits for long, other than for what comes before it. */
static bool can_wait(const LodeStaticInstruction *own)
{
	const uint32_t kinds = 1u << LODE_KIND_LOAD | 1u << LODE_KIND_DIV | 1u << LODE_KIND_ATOMIC |
	                       1u << LODE_KIND_FENCE;

	return own->decoded.branch == LODE_BRANCH_NONE && (own->decoded.kinds & kinds) != 0;
}

/* A block without samples that a branch goes around. */
static bool is_passed(const Scratch *self, uint32_t index)
{
	const LodeStaticBlock *before = block_at(self, index - 1), *own = block_at(self, index);

	return own->successors[0] == index + 1 && before->successors[0] == index &&
	       before->successors[1] == index + 1 &&
	       last_of(self, before)->decoded.branch == LODE_BRANCH_CONDITIONAL &&
	       g_array_index(self->blocks, LodeInferenceBlock, index).count == 0;
}

static uint32_t *count_ways(const Scratch *self)
{
	uint32_t *n_ways = g_new0(uint32_t, self->blocks->len + 1);

	for (guint i = 0; i < self->blocks->len; i++) {
		const LodeStaticBlock *block = block_at(self, i);
		n_ways[i] += g_array_index(self->blocks, LodeInferenceBlock, i).is_entry;
		for (size_t j = 0; j < G_N_ELEMENTS(block->successors); j++)
			if (block->successors[j] != NOT_FOUND)
				n_ways[block->successors[j]]++;
	}
	return n_ways;
}

/*
 * Where a branch goes around instructions that have no samples, and then far more was sampled than
 * after it, what waited was the last of these:
 *
 *        jae v ──────▶ v      many samples, and few on what follows
 *          │           ▲
 *          ▼           │
 *          …  load ────┘      no samples
 *
 * These samples are then the load's. Until then a block's count is the sum of the logarithms.
 */
static void credit_passed_loads(Scratch *self, const double *first_samples)
{
	g_autofree uint32_t *n_ways = count_ways(self);

	for (guint i = 1; i + 1 < self->blocks->len; i++) {
		LodeInferenceBlock *own = &g_array_index(self->blocks, LodeInferenceBlock, i);
		LodeInferenceBlock *next = own + 1;
		double samples = first_samples[i + 1];
		double mean = expm1(next->count / block_at(self, i + 1)->n);
		if (samples < MIN_PEAK || samples < MIN_PEAK * mean || n_ways[i + 1] != 2 ||
			!is_passed(self, i) || !can_wait(last_of(self, block_at(self, i))))
			continue;
		own->count += log1p(samples);
		next->count -= log1p(samples);
	}
}

/*
 * A block's count from the samples of its instructions, also of those without: the geometric mean
 * of their samples and one more, less one, as one instruction that waits has most of them. Where
 * branches were seen too their counts are to be believed, and the block's own is one among them.
 */
static void measure_by_samples(Scratch *self, const Evidence *evidence)
{
	g_autofree double *first_samples = g_new0(double, self->blocks->len + 1);

	for (uint32_t i = 0; i < evidence->n_sites; i++) {
		uint32_t at = lode_control_flow_find(&self->flow, evidence->sites[i].address);
		if (at == NOT_FOUND)
			continue;
		uint32_t block = instruction_at(self, at)->block;
		double samples = site_weight(self, &evidence->sites[i]) / self->sample;
		g_array_index(self->blocks, LodeInferenceBlock, block).count += log1p(samples);
		if (at == block_at(self, block)->first)
			first_samples[block] = samples;
	}
	credit_passed_loads(self, first_samples);
	for (guint i = 0; i < self->blocks->len; i++) {
		LodeInferenceBlock *block = &g_array_index(self->blocks, LodeInferenceBlock, i);
		uint32_t n = block_at(self, i)->n;
		block->count = sample_count(self) * expm1(block->count / n);
		block->weight = evidence->n_branches == 0 ? n : 0;
	}
}

static void measure_by_ranges(Scratch *self)
{
	for (guint i = 0; i < self->blocks->len; i++)
		g_array_index(self->blocks, LodeInferenceBlock, i).count = MAX(
			0, g_array_index(self->covered, double, block_at(self, i)->first));
}

static bool can_leave(const Evidence *evidence, const LodeStaticInstruction *last)
{
	const LodeDecodedInstruction *decoded = &last->decoded;

	switch (decoded->branch) {
	case LODE_BRANCH_RETURN:
	case LODE_BRANCH_INDIRECT_JUMP:
	case LODE_BRANCH_STOP:
		return true;
	case LODE_BRANCH_CONDITIONAL:
	case LODE_BRANCH_JUMP:
		return decoded->has_target && !is_inside(evidence, decoded->target);
	default:
		return false;
	}
}

/* The block that a branch from outside leads to; the return point of a call is reached from the
 * call.
 */
static uint32_t entered_block(
	const Scratch *self, const Evidence *evidence, const LodeInferredSpan *entry)
{
	uint32_t at = lode_control_flow_find(&self->flow, entry->last);

	return at == NOT_FOUND || stays_inside(evidence, entry) ||
	                       instruction_at(self, at)->is_return_point
	               ? NOT_FOUND
	               : instruction_at(self, at)->block;
}

static void mark_entries(Scratch *self, const Evidence *evidence)
{
	for (uint32_t i = 0; i < evidence->n_entries + evidence->n_arrivals; i++) {
		uint32_t block = entered_block(self, evidence,
			i < evidence->n_entries ? &evidence->entries[i]
						: &evidence->arrivals[i - evidence->n_entries]);
		if (block != NOT_FOUND)
			g_array_index(self->blocks, LodeInferenceBlock, block).is_entry = true;
	}
}

static void describe_blocks(Scratch *self, const Evidence *evidence)
{
	g_array_set_size(self->blocks, 0);
	for (guint i = 0; i < self->flow.blocks->len; i++) {
		const LodeStaticBlock *block = block_at(self, i);
		const LodeInferenceBlock described = {
			/* Only an unseen indirect jump can reach it: entered from outside. No jump
		         * leads to padding. */
			.is_entry = i == 0 || (!block->is_reachable && !block->is_padding),
			.is_exit = can_leave(evidence, last_of(self, block)),
		};
		g_array_append_val(self->blocks, described);
	}
	mark_entries(self, evidence);
}

/* What looks like padding and was sampled, or ran by a recorded range, was jumped to. */
static void enter_executed_padding(Scratch *self)
{
	for (guint i = 0; i < self->blocks->len; i++) {
		LodeInferenceBlock *block = &g_array_index(self->blocks, LodeInferenceBlock, i);
		block->is_entry |= block_at(self, i)->is_padding && block->count > 0;
	}
}

/* The count of all spans from one instruction to another; they are sorted by their first. */
static double sum_spans(const LodeInferredSpan *spans, uint32_t n, uint64_t source, uint64_t target)
{
	double count = 0;

	uint32_t first = LODE_PARTITION_POINT(n, i, spans[i].first < source);
	for (uint32_t i = first; i < n && spans[i].first == source; i++)
		if (spans[i].last == target)
			count += spans[i].count;
	return count;
}

/* The branches seen from one instruction to another; −1 where no stacks were recorded. */
static double seen_count(
	const Evidence *evidence, bool has_ranges, uint64_t source, uint64_t target)
{
	return has_ranges ? sum_spans(evidence->branches, evidence->n_branches, source, target)
	                  : -1;
}

static void add_edge(Scratch *self, uint32_t source, uint32_t target, bool falls, double count)
{
	const LodeInferenceEdge edge = {source, target, falls, count};

	g_array_append_val(self->edges, edge);
}

/* How often a block ran into the next one. After a call, ranges begin where it returns. */
static double fallen_count(
	const Scratch *self, const Evidence *evidence, uint32_t source, uint32_t target)
{
	const double *covered = (const double *)self->covered->data;
	const LodeStaticBlock *from = block_at(self, source);
	uint32_t first = block_at(self, target)->first;

	if (evidence->n_ranges == 0)
		return -1;
	if (instruction_at(self, first)->is_return_point)
		return MAX(0, MIN(covered[first], covered[from->first + from->n - 1]));
	return MAX(0, covered[first] - g_array_index(self->begun, double, first));
}

static void describe_edges(Scratch *self, const Evidence *evidence)
{
	uint32_t hint = 0;

	g_array_set_size(self->edges, 0);
	for (guint i = 0; i < self->flow.blocks->len; i++) {
		const LodeStaticBlock *block = block_at(self, i);
		uint64_t source = last_of(self, block)->address;
		uint32_t direct = block->successors[1];
		if (block->successors[0] != NOT_FOUND)
			add_edge(self, i, block->successors[0], true,
				fallen_count(self, evidence, i, block->successors[0]));
		if (direct != NOT_FOUND)
			add_edge(self, i, direct, false,
				seen_count(evidence, evidence->n_ranges > 0, source,
					instruction_at(self, block_at(self, direct)->first)
						->address));
		for (; hint < self->flow.hints->len; hint++) {
			const LodeFlowHint *seen = &g_array_index(
				self->flow.hints, LodeFlowHint, hint);
			uint32_t at = lode_control_flow_find(&self->flow, seen->target);
			if (seen->source > source)
				break;
			if (seen->source == source && at != NOT_FOUND &&
				instruction_at(self, at)->block != direct)
				add_edge(self, i, instruction_at(self, at)->block, false,
					seen_count(evidence, evidence->n_steps == 0, source,
						seen->target));
		}
	}
}

/* The old content is not kept. */
static void reserve(double **array, size_t *room, size_t n)
{
	if (n <= *room)
		return;
	g_free(*array);
	*room = n + n / 2;
	*array = g_new(double, *room);
}

static bool infer(Scratch *self)
{
	const LodeInferenceGraph graph = {
		.blocks = (const LodeInferenceBlock *)self->blocks->data,
		.n_blocks = self->blocks->len,
		.edges = (const LodeInferenceEdge *)self->edges->data,
		.n_edges = self->edges->len,
	};

	reserve(&self->block_counts, &self->blocks_room, graph.n_blocks);
	reserve(&self->edge_counts, &self->edges_room, graph.n_edges);
	const LodeInferenceOptions options = {.unit = self->unit, .sample = sample_count(self)};
	LodeInferenceResult result = {.blocks = self->block_counts, .edges = self->edge_counts};
	return lode_flow_inference_solve(&graph, &options, &result, NULL);
}

static void mark_seen(Scratch *self, const Evidence *evidence)
{
	g_array_set_size(self->is_seen, 0);
	g_array_set_size(self->is_seen, self->flow.instructions->len);
	for (uint32_t i = 0; i < evidence->n_steps + evidence->n_arrivals; i++) {
		uint64_t address = i < evidence->n_steps
		                           ? evidence->steps[i].first
		                           : evidence->arrivals[i - evidence->n_steps].last;
		uint32_t at = lode_control_flow_find(&self->flow, address);
		if (at != NOT_FOUND)
			g_array_index(self->is_seen, bool, at) = true;
	}
}

/* Steps from the end of a block to outside; a call comes back to the block or the next one. */
static void count_left(const Scratch *self, const Evidence *evidence, double *out_left)
{
	for (uint32_t i = 0; i < evidence->n_steps; i++) {
		const LodeInferredSpan *step = &evidence->steps[i];
		uint32_t at = lode_control_flow_find(&self->flow, step->first);
		if (at == NOT_FOUND)
			continue;
		const LodeStaticInstruction *own = instruction_at(self, at);
		bool is_exit = own->decoded.branch == LODE_BRANCH_RETURN ||
		               (is_jump(own->decoded.branch) && !stays_inside(evidence, step));
		if (is_exit)
			out_left[own->block] += step->count;
	}
}

/* Joins the inferred flow with the ways that branches were seen to take. */
static void observe(Scratch *self, const Evidence *evidence, bool *out_is_relative)
{
	enum { UNIT_PARTS = 256 };
	guint n = self->blocks->len, n_edges = self->edges->len;
	g_autofree uint32_t *sizes = g_new(uint32_t, n);
	g_autofree double *edges = g_new0(double, MAX(n_edges, 1));
	g_autofree double *left = g_new0(double, n), *entered = g_new0(double, n);
	const LodeInferenceGraph graph = {(const LodeInferenceBlock *)self->blocks->data, n,
		(const LodeInferenceEdge *)self->edges->data, n_edges};
	LodeInferenceResult flow = {.blocks = self->block_counts, .edges = self->edge_counts};
	double executed = 0;

	for (guint i = 0; i < n; i++) {
		sizes[i] = block_at(self, i)->n;
		executed += self->block_counts[i];
	}
	for (guint i = 0; i < n_edges; i++) {
		const LodeInferenceEdge *edge = &graph.edges[i];
		bool is_parallel = i > 0 && graph.edges[i - 1].source == edge->source &&
		                   graph.edges[i - 1].target == edge->target;
		if (!is_parallel)
			edges[i] = sum_spans(evidence->steps, evidence->n_steps,
				last_of(self, block_at(self, edge->source))->address,
				instruction_at(self, block_at(self, edge->target)->first)->address);
	}
	count_left(self, evidence, left);
	for (uint32_t i = 0; i < evidence->n_arrivals; i++) {
		uint32_t block = entered_block(self, evidence, &evidence->arrivals[i]);
		if (block != NOT_FOUND)
			entered[block] += evidence->arrivals[i].count;
	}
	const LodeBranchOutcomes outcomes = {&graph, sizes, edges, left, entered};
	*out_is_relative = executed == 0;
	lode_branch_outcomes_apply(&outcomes, self->unit / UNIT_PARTS, &flow);
}

/* Whether the time of a loop around calls may be known by samples in what it calls: the function is
 * in the profile with all of its code then. Callers are many, so only those with a loop, and long
 * ones only where many samples pay for them. */
static bool is_whole(const Scratch *self, const Evidence *evidence)
{
	guint n = self->flow.instructions->len;
	uint64_t most = MAX_WHOLE + (uint64_t)evidence->n_called * MAX_WHOLE_FOR_SAMPLE;

	if (evidence->n_called < LODE_INFERRED_CALLED || n > most)
		return false;
	for (guint i = 0; i < n; i++) {
		const LodeStaticInstruction *own = instruction_at(self, i);
		bool is_jump = own->decoded.branch == LODE_BRANCH_CONDITIONAL ||
		               own->decoded.branch == LODE_BRANCH_JUMP;
		if (is_jump && own->decoded.has_target && own->decoded.target <= own->address &&
			own->decoded.target >= instruction_at(self, 0)->address)
			return true;
	}
	return false;
}

/* Both ascend; a sample inside an instruction, or where nothing decodes, has a row of its own. */
static void emit_rows(const Scratch *self, const Evidence *evidence, GArray *rows)
{
	uint32_t at = 0, site = 0;
	guint n = self->flow.instructions->len;
	bool has_all = is_whole(self, evidence);

	while (at < n || site < evidence->n_sites) {
		const LodeStaticInstruction *own = at < n ? instruction_at(self, at) : NULL;
		const LodeJoinSite *sampled = site < evidence->n_sites ? &evidence->sites[site]
		                                                       : NULL;
		if (own == NULL || (sampled != NULL && sampled->address < own->address)) {
			const LodeInferredRow row = {sampled->address, sampled->row, 0};
			g_array_append_val(rows, row);
			site++;
			continue;
		}
		bool is_sampled = sampled != NULL && sampled->address == own->address;
		const LodeInferredRow row = {own->address, is_sampled ? sampled->row : LODE_NONE,
			self->block_counts[own->block]};
		if (is_sampled || row.count > 0 || g_array_index(self->is_seen, bool, at) ||
			(has_all && block_at(self, own->block)->is_reachable))
			g_array_append_val(rows, row);
		at++;
		site += is_sampled;
	}
}

static void emit_span(
	GArray *spans, const Evidence *evidence, uint64_t source, uint64_t target, double count)
{
	const LodeInferredSpan span = {evidence->image, evidence->image, source, target, count, 0};

	if (count > 0)
		g_array_append_val(spans, span);
}

/* Where an indirect branch went when it was stepped, in proportion to the steps; a jump that stays
 * inside is an edge. */
static void emit_stepped(
	GArray *spans, const Evidence *evidence, const LodeStaticInstruction *branch, double count)
{
	bool is_call = branch->decoded.branch == LODE_BRANCH_INDIRECT_CALL;
	const LodeInferredSpan *steps = evidence->steps;
	uint32_t first = LODE_PARTITION_POINT(
		evidence->n_steps, i, steps[i].first < branch->address);
	double sum = 0;

	for (uint32_t i = first; i < evidence->n_steps && steps[i].first == branch->address; i++)
		sum += is_call || !stays_inside(evidence, &steps[i]) ? steps[i].count : 0;
	for (uint32_t i = first; i < evidence->n_steps && steps[i].first == branch->address; i++) {
		LodeInferredSpan span = steps[i];
		span.count = count * (steps[i].count / sum);
		if ((is_call || !stays_inside(evidence, &steps[i])) && span.count > 0)
			g_array_append_val(spans, span);
	}
}

/* Taken edges, and what leaves by a direct jump to another function, or by a stepped one. */
static void emit_jumps(const Scratch *self, const Evidence *evidence, GArray *jumps)
{
	g_autofree double *left = g_memdup2(self->block_counts, self->blocks->len * sizeof(double));

	for (guint i = 0; i < self->edges->len; i++) {
		const LodeInferenceEdge *edge = &g_array_index(self->edges, LodeInferenceEdge, i);
		const LodeStaticBlock *target = block_at(self, edge->target);
		left[edge->source] -= self->edge_counts[i];
		if (!edge->is_fall_through)
			emit_span(jumps, evidence,
				last_of(self, block_at(self, edge->source))->address,
				instruction_at(self, target->first)->address, self->edge_counts[i]);
	}
	for (guint i = 0; i < self->blocks->len; i++) {
		const LodeStaticInstruction *last = last_of(self, block_at(self, i));
		if (last->decoded.has_target && can_leave(evidence, last))
			emit_span(jumps, evidence, last->address, last->decoded.target, left[i]);
		else if (last->decoded.branch == LODE_BRANCH_INDIRECT_JUMP)
			emit_stepped(jumps, evidence, last, left[i]);
	}
}

/* Direct calls as often as they ran; indirect ones where branch stacks or steps saw them go. */
static void emit_calls(const Scratch *self, const Evidence *evidence, GArray *calls)
{
	for (guint i = 0; i < self->flow.instructions->len; i++) {
		const LodeStaticInstruction *own = instruction_at(self, i);
		if (own->decoded.branch == LODE_BRANCH_CALL && own->decoded.has_target)
			emit_span(calls, evidence, own->address, own->decoded.target,
				self->block_counts[own->block]);
		else if (own->decoded.branch == LODE_BRANCH_INDIRECT_CALL)
			emit_stepped(calls, evidence, own, self->block_counts[own->block]);
	}
	for (uint32_t i = 0; i < evidence->n_branches; i++) {
		const LodeInferredSpan *branch = &evidence->branches[i];
		uint32_t at = lode_control_flow_find(&self->flow, branch->first);
		if (at != NOT_FOUND &&
			instruction_at(self, at)->decoded.branch == LODE_BRANCH_INDIRECT_CALL)
			g_array_append_vals(calls, branch, 1);
	}
}

void lode_join_infer_function(Scratch *self, const Evidence *evidence, const uint8_t *code,
	size_t size, LodeInferredFunction *out)
{
	build_flow(self, evidence, code, size);
	cover(self, evidence);
	mark_seen(self, evidence);
	describe_blocks(self, evidence);
	if (evidence->n_ranges > 0)
		measure_by_ranges(self);
	else
		measure_by_samples(self, evidence);
	enter_executed_padding(self);
	describe_edges(self, evidence);
	/* Too large a graph: only the measured counts are known, which do not conserve flow. */
	if (self->blocks->len == 0 || !infer(self)) {
		reserve(&self->block_counts, &self->blocks_room, self->blocks->len);
		for (guint i = 0; i < self->blocks->len; i++)
			self->block_counts[i] =
				g_array_index(self->blocks, LodeInferenceBlock, i).count;
		emit_rows(self, evidence, out->rows);
		out->has_failed = true;
		return;
	}
	if (evidence->n_steps > 0)
		observe(self, evidence, &out->is_relative);
	emit_rows(self, evidence, out->rows);
	emit_jumps(self, evidence, out->jumps);
	emit_calls(self, evidence, out->calls);
}
