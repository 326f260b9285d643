/* SPDX-License-Identifier: MIT */
/*
 * How near to exact counts those inferred from timer samples come. The truth is a profile that
 * callgrind counted; the samples are simulated from it: an instruction draws them in proportion to
 * its executions times a cost of its own (fractions of a cycle for most, tens for divisions, atomic
 * ones and some of the loads). A block's measured count
 * is the mean of its instructions' samples; edges are not measured.
 *
 *   infer_overlap PROFILE.lode [SAMPLES]
 *
 * Overlap: Σ min(p, q) over the shares of two sets of counts; 1 when they agree.
 */
#include "images/control_flow.h"
#include "ingest/flow_inference.h"
#include "store/profile_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
	const LodeProfile *profile;
	LodeControlFlow flow;
	GRand *random;
	double samples_per_cost;
	GArray *hints, *leaders;          /* LodeFlowHint, uint64_t */
	GArray *blocks, *edges;           /* of the function at hand */
	GArray *true_blocks, *true_edges; /* double */
	GArray *all[2][3];   /* of all functions: blocks, edges; truth, naive, inferred */
	double within[2][2]; /* blocks, edges; naive, inferred: weighted overlaps */
	double true_sum[2];
} Bench;

enum { BLOCKS, EDGES };
enum { TRUTH, NAIVE, INFERRED };

static const double unit = 1.0 / 128; /* of a sample */

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Cycles, the same for an instruction each time. */
static double cost_of(const LodeStaticInstruction *instruction)
{
	uint32_t kinds = instruction->decoded.kinds;
	uint64_t draw = mix(instruction->address);
	double cost = 0.25 * (double)(1 + draw % 4);

	if (kinds & 1u << LODE_KIND_LOAD && draw >> 32 & 1)
		cost += (draw >> 40) % 8 == 0 ? 12 : 1;
	if (kinds & 1u << LODE_KIND_MUL)
		cost += 2;
	if (kinds & 1u << LODE_KIND_DIV)
		cost += 22;
	if (kinds & 1u << LODE_KIND_ATOMIC)
		cost += 18;
	return cost;
}

/* The instruction of the profile at an address of a function, or LODE_NONE. */
static uint32_t find_instruction(
	const LodeProfile *profile, const LodeFunction *function, uint64_t address)
{
	uint32_t low = function->first_instruction, high = low + function->n_instructions;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (LODE_AT(profile->instructions, LodeInstruction, middle).address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < function->first_instruction + function->n_instructions &&
		LODE_AT(profile->instructions, LodeInstruction, low).address == address)
		return low;
	return LODE_NONE;
}

static double true_count(const Bench *self, const LodeFunction *function, uint64_t address)
{
	uint32_t i = find_instruction(self->profile, function, address);

	return i == LODE_NONE ? 0 : LODE_AT(self->profile->instructions, LodeInstruction, i).count;
}

static guint first_edge_of(const LodeProfile *profile, uint32_t source)
{
	guint low = 0, high = profile->edges->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		if (LODE_AT(profile->edges, LodeEdge, middle).source < source)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double true_edge(const Bench *self, const LodeFunction *function, uint64_t from, uint64_t to)
{
	const LodeProfile *profile = self->profile;
	uint32_t source = find_instruction(profile, function, from);
	uint32_t target = find_instruction(profile, function, to);
	double count = 0;

	if (source == LODE_NONE || target == LODE_NONE)
		return 0;
	if (target == source + 1)
		count = fmax(0, LODE_AT(profile->instructions, LodeInstruction, source).next_count);
	for (guint i = first_edge_of(profile, source); i < profile->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->edges, LodeEdge, i);
		if (edge->source != source)
			break;
		if (edge->target == target && edge->kind <= LODE_EDGE_JUMP)
			count += edge->count;
	}
	return count;
}

/* What a recording shows: where instructions are, and where jumps inside the function went. */
static void build_flow(Bench *self, const LodeFunction *function)
{
	const LodeProfile *profile = self->profile;
	uint32_t first = function->first_instruction, end = first + function->n_instructions;

	g_array_set_size(self->hints, 0);
	g_array_set_size(self->leaders, 0);
	for (uint32_t i = first; i < end; i++)
		g_array_append_val(
			self->leaders, LODE_AT(profile->instructions, LodeInstruction, i).address);
	for (guint e = first_edge_of(profile, first); e < profile->edges->len; e++) {
		const LodeEdge *edge = &LODE_AT(profile->edges, LodeEdge, e);
		if (edge->source >= end)
			break;
		if (edge->kind != LODE_EDGE_JUMP || edge->target < first || edge->target >= end)
			continue;
		LodeFlowHint hint = {
			LODE_AT(profile->instructions, LodeInstruction, edge->source).address,
			LODE_AT(profile->instructions, LodeInstruction, edge->target).address};
		g_array_append_val(self->hints, hint);
	}
	LodeSeenFlow seen = {(LodeFlowHint *)(void *)self->hints->data, self->hints->len,
		(uint64_t *)(void *)self->leaders->data, self->leaders->len};
	gsize size;
	const uint8_t *code = g_bytes_get_data(function->code, &size);
	lode_control_flow_build(&self->flow, code, size, function->address, &seen);
}

static const LodeStaticInstruction *instruction_at(const Bench *self, uint32_t i)
{
	return &LODE_AT(self->flow.instructions, LodeStaticInstruction, i);
}

static const LodeStaticBlock *block_at(const Bench *self, uint32_t b)
{
	return &LODE_AT(self->flow.blocks, LodeStaticBlock, b);
}

/* What all instructions of a program cost; samples are shared out by it. */
static double block_cost(const Bench *self, const LodeFunction *function, uint32_t b)
{
	const LodeStaticBlock *block = block_at(self, b);
	double cost = 0;

	for (uint32_t i = block->first; i < block->first + block->n; i++)
		cost += true_count(self, function, instruction_at(self, i)->address) *
		        cost_of(instruction_at(self, i));
	return cost;
}

static double draw_samples(Bench *self, double mean)
{
	double limit = exp(-mean), product = g_rand_double(self->random), n = 0;

	if (mean > 500)
		return round(mean + sqrt(mean) * (2 * g_rand_double(self->random) - 1) * 1.7);
	while (product > limit) {
		product *= g_rand_double(self->random);
		n++;
	}
	return n;
}

static bool leaves_function(const Bench *self, const LodeStaticBlock *block)
{
	const LodeDecodedInstruction *last =
		&instruction_at(self, block->first + block->n - 1)->decoded;

	if (last->branch == LODE_BRANCH_RETURN || last->branch == LODE_BRANCH_STOP)
		return true;
	return (last->branch == LODE_BRANCH_JUMP || last->branch == LODE_BRANCH_CONDITIONAL) &&
	       block->successors[1] == UINT32_MAX;
}

static void add_edge(Bench *self, const LodeFunction *function, uint32_t b, uint32_t to, bool falls)
{
	const LodeStaticBlock *block = block_at(self, b);
	LodeInferenceEdge edge = {b, to, .is_fall_through = falls, .count = -1};

	if (to == UINT32_MAX)
		return;
	for (guint e = self->edges->len; e-- > 0;) {
		const LodeInferenceEdge *other = &LODE_AT(self->edges, LodeInferenceEdge, e);
		if (other->source != b)
			break;
		if (other->target == to)
			return;
	}
	double count = true_edge(self, function,
		instruction_at(self, block->first + block->n - 1)->address,
		instruction_at(self, block_at(self, to)->first)->address);
	g_array_append_val(self->edges, edge);
	g_array_append_val(self->true_edges, count);
}

static void add_block(Bench *self, const LodeFunction *function, uint32_t b)
{
	const LodeStaticBlock *block = block_at(self, b);
	double samples = 0, count = 0, mean = 0;

	for (uint32_t i = block->first; i < block->first + block->n; i++)
		count += true_count(self, function, instruction_at(self, i)->address) / block->n;
	mean = block_cost(self, function, b) * self->samples_per_cost;
	samples = draw_samples(self, mean);
	LodeInferenceBlock measured = {
		.count = samples / block->n, .is_exit = leaves_function(self, block)};
	g_array_append_val(self->blocks, measured);
	g_array_append_val(self->true_blocks, count);
	add_edge(self, function, b, block->successors[0], true);
	add_edge(self, function, b, block->successors[1], false);
	uint64_t last = instruction_at(self, block->first + block->n - 1)->address;
	for (guint h = 0; h < self->flow.hints->len; h++) {
		const LodeFlowHint *hint = &LODE_AT(self->flow.hints, LodeFlowHint, h);
		uint32_t to = lode_control_flow_find(&self->flow, hint->target);
		if (hint->source == last && to != UINT32_MAX)
			add_edge(self, function, b, instruction_at(self, to)->block, false);
	}
}

/* Code that nothing inside the function leads to is entered from outside. */
static void mark_entries(Bench *self)
{
	g_autofree bool *has_source = g_new0(bool, self->blocks->len);

	for (guint e = 0; e < self->edges->len; e++)
		has_source[LODE_AT(self->edges, LodeInferenceEdge, e).target] = true;
	for (guint b = 0; b < self->blocks->len; b++)
		LODE_AT(self->blocks, LodeInferenceBlock, b).is_entry = !has_source[b];
}

static double overlap(const double *a, const double *b, guint n)
{
	double sum_a = 0, sum_b = 0, both = 0;

	for (guint i = 0; i < n; i++) {
		sum_a += a[i];
		sum_b += b[i];
	}
	for (guint i = 0; i < n && sum_a > 0 && sum_b > 0; i++)
		both += fmin(a[i] / sum_a, b[i] / sum_b);
	return both;
}

static void compare(Bench *self, int what, const double *truth, const double *naive,
	const double *inferred, guint n)
{
	double sum = 0, sampled = 0;

	for (guint i = 0; i < n; i++) {
		sum += truth[i];
		sampled += naive[i];
	}
	g_array_append_vals(self->all[what][TRUTH], truth, n);
	g_array_append_vals(self->all[what][NAIVE], naive, n);
	g_array_append_vals(self->all[what][INFERRED], inferred, n);
	if (sampled == 0)
		return;
	self->true_sum[what] += sum;
	self->within[what][0] += sum * overlap(truth, naive, n);
	self->within[what][1] += sum * overlap(truth, inferred, n);
}

static void infer(Bench *self)
{
	guint n_blocks = self->blocks->len, n_edges = self->edges->len;
	LodeInferenceGraph graph = {(LodeInferenceBlock *)(void *)self->blocks->data, n_blocks,
		(LodeInferenceEdge *)(void *)self->edges->data, n_edges};
	g_autofree double *blocks = g_new0(double, n_blocks), *edges = g_new0(double, n_edges);
	g_autofree double *naive = g_new0(double, n_blocks), *even = g_new0(double, n_edges);
	g_autofree uint32_t *degree = g_new0(uint32_t, n_blocks);

	if (!lode_flow_inference_run(&graph, unit, blocks, edges, NULL))
		g_error("no memory");
	for (guint e = 0; e < n_edges; e++)
		degree[graph.edges[e].source]++;
	for (guint b = 0; b < n_blocks; b++)
		naive[b] = graph.blocks[b].count;
	for (guint e = 0; e < n_edges; e++)
		even[e] = naive[graph.edges[e].source] / degree[graph.edges[e].source];
	compare(self, BLOCKS, (double *)(void *)self->true_blocks->data, naive, blocks, n_blocks);
	compare(self, EDGES, (double *)(void *)self->true_edges->data, even, edges, n_edges);
}

static void visit(Bench *self, const LodeFunction *function, double *cost)
{
	build_flow(self, function);
	if (cost != NULL) {
		for (guint b = 0; b < self->flow.blocks->len; b++)
			*cost += block_cost(self, function, b);
		return;
	}
	g_array_set_size(self->blocks, 0);
	g_array_set_size(self->edges, 0);
	g_array_set_size(self->true_blocks, 0);
	g_array_set_size(self->true_edges, 0);
	for (guint b = 0; b < self->flow.blocks->len; b++)
		add_block(self, function, b);
	mark_entries(self);
	infer(self);
}

static void visit_all(Bench *self, double *cost)
{
	for (guint f = 0; f < self->profile->functions->len; f++) {
		const LodeFunction *function = &LODE_AT(self->profile->functions, LodeFunction, f);
		if (function->code != NULL && function->n_instructions > 0)
			visit(self, function, cost);
	}
}

static void print_line(const Bench *self, const char *name, int what)
{
	const double *truth = (double *)(void *)self->all[what][TRUTH]->data;
	guint n = self->all[what][TRUTH]->len;

	printf("%-8s %10u %12.4f %12.4f %12.4f %12.4f\n", name, n,
		overlap(truth, (double *)(void *)self->all[what][NAIVE]->data, n),
		overlap(truth, (double *)(void *)self->all[what][INFERRED]->data, n),
		self->within[what][0] / self->true_sum[what],
		self->within[what][1] / self->true_sum[what]);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = argc < 2 ? NULL
	                                          : lode_profile_store_read(argv[1], NULL, &error);
	double n_samples = argc > 2 ? atof(argv[2]) : 20000, cost = 0;

	if (profile == NULL) {
		fprintf(stderr, "%s\n",
			error == NULL ? "usage: infer_overlap PROFILE.lode [SAMPLES]"
				      : error->message);
		return 2;
	}
	Bench bench = {.profile = profile, .random = g_rand_new_with_seed(11)};
	GArray **arrays[] = {&bench.true_blocks, &bench.true_edges, &bench.all[0][0],
		&bench.all[0][1], &bench.all[0][2], &bench.all[1][0], &bench.all[1][1],
		&bench.all[1][2]};
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		*arrays[i] = g_array_new(FALSE, FALSE, sizeof(double));
	bench.hints = g_array_new(FALSE, FALSE, sizeof(LodeFlowHint));
	bench.leaders = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	bench.blocks = g_array_new(FALSE, FALSE, sizeof(LodeInferenceBlock));
	bench.edges = g_array_new(FALSE, FALSE, sizeof(LodeInferenceEdge));
	lode_control_flow_init(&bench.flow);
	visit_all(&bench, &cost);
	bench.samples_per_cost = n_samples / cost;
	visit_all(&bench, NULL);
	printf("%-8s %10s %25s %25s\n%-8s %10s %12s %12s %12s %12s\n", "", "", "overlap, program",
		"overlap, in a function", "", "number", "naive", "inferred", "naive", "inferred");
	print_line(&bench, "blocks", BLOCKS);
	print_line(&bench, "edges", EDGES);
	return 0;
}
