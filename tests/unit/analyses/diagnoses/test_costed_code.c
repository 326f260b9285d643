/* SPDX-License-Identifier: MIT */
/* What is known of code around its instructions: ways and loops against naive computations on
 * random graphs, and facts on code made by hand. */
#include "analyses/diagnoses/costed_code.h"

#include "model/memory.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include "code_profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

enum { MAX_NODES = 24 };

/* --- ways and loops --- */

/* A function whose instructions are blocks of their own. */
typedef struct {
	uint32_t n;
	bool has_edge[MAX_NODES][MAX_NODES];
	bool in_loop[MAX_NODES][MAX_NODES]; /* [head]: its natural loop */
} Graph;

static void reach(const Graph *self, uint32_t from, uint32_t without, bool *out)
{
	uint32_t list[MAX_NODES], n = 0;

	if (from == without || out[from])
		return;
	out[from] = true;
	list[n++] = from;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < self->n; k++)
			if (self->has_edge[list[i]][k] && k != without && !out[k]) {
				out[k] = true;
				list[n++] = k;
			}
}

/* By the definition: an edge to a node without which its source cannot be reached, and all from
 * which that source can be reached without the node. */
static void find_natural_loops(Graph *self)
{
	for (uint32_t head = 0; head < self->n; head++) {
		bool is_free[MAX_NODES] = {false};
		reach(self, 0, head, is_free);
		for (uint32_t source = 0; source < self->n; source++) {
			if (!self->has_edge[source][head] || is_free[source])
				continue;
			self->in_loop[head][head] = true;
			for (uint32_t i = 0; i < self->n; i++) {
				bool reached[MAX_NODES] = {false};
				reach(self, i, head, reached);
				self->in_loop[head][i] |= reached[source];
			}
		}
	}
}

static uint32_t depth_of(const Graph *self, uint32_t node)
{
	uint32_t depth = 0;

	for (uint32_t head = 0; head < self->n; head++)
		depth += self->in_loop[head][node];
	return depth;
}

/* All nodes are reached; `n_any` edges go anywhere, the others keep it reducible. */
static void draw_graph(Graph *self, GRand *rand, uint32_t n_any)
{
	*self = (Graph){.n = (uint32_t)g_rand_int_range(rand, 1, MAX_NODES + 1)};
	for (uint32_t i = 1; i < self->n; i++) {
		self->has_edge[i - 1][i] = true;
		if (i > 1 && g_rand_int_range(rand, 0, 3) == 0)
			self->has_edge[g_rand_int_range(rand, 0, (gint32)i)][i] = true;
	}
	for (uint32_t i = 0; i < self->n; i++)
		if (g_rand_int_range(rand, 0, 3) == 0)
			self->has_edge[i][g_rand_int_range(rand, 0, (gint32)i + 1)] = true;
	for (; n_any > 0; n_any--)
		self->has_edge[g_rand_int_range(rand, 0, (gint32)self->n)]
			      [g_rand_int_range(rand, 0, (gint32)self->n)] = true;
}

static void add_graph(LodeProfile *profile, const Graph *graph, GRand *rand)
{
	uint32_t first = profile->code.instructions->len;

	code_profile_function(profile, "f");
	for (uint32_t i = 0; i < graph->n; i++) {
		code_profile_block(profile, (uint8_t)depth_of(graph, i), graph->in_loop[i][i]);
		uint32_t at = code_profile_add(profile, "op:nop", g_rand_int_range(rand, 0, 9));
		if (graph->in_loop[i][i])
			lode_loops_add(profile, at);
		for (uint32_t k = 0; k < graph->n; k++)
			if (graph->has_edge[i][k] && k == i + 1 && g_rand_boolean(rand))
				made_fall(profile, at, g_rand_int_range(rand, 0, 5));
			else if (graph->has_edge[i][k])
				made_edge(profile, at, first + k,
					g_rand_boolean(rand) ? LODE_EDGE_TAKEN : LODE_EDGE_JUMP,
					g_rand_int_range(rand, 0, 5));
	}
	for (int i = g_rand_int_range(rand, 0, 4); i > 0; i--)
		made_edge(profile,
			(uint32_t)g_rand_int_range(
				rand, 0, (gint32)profile->code.instructions->len),
			(uint32_t)g_rand_int_range(
				rand, 0, (gint32)profile->code.instructions->len),
			g_rand_boolean(rand) ? LODE_EDGE_CALL : LODE_EDGE_RETURN, 1);
}

static void check_ways(const LodeProfile *profile, const LodeCostedCode *code)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		g_assert_cmpuint(code->way_starts[i], ==, at);
		double count = i > 0 ? lode_profile_instruction(profile, i - 1)->next_count : -1;
		if (count >= 0) {
			g_assert_cmpuint(code->ways[at].source, ==, i - 1);
			g_assert_cmpint(code->ways[at].kind, ==, LODE_EDGE_FALL_THROUGH);
			g_assert_cmpfloat(code->ways[at++].count, ==, count);
		}
		for (guint e = 0; e < profile->code.edges->len; e++) {
			const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, e);
			if (edge->target != i)
				continue;
			g_assert_cmpuint(code->ways[at].source, ==, edge->source);
			g_assert_cmpint(code->ways[at].kind, ==, edge->kind);
			g_assert_cmpfloat(code->ways[at++].count, ==, edge->count);
		}
	}
	g_assert_cmpuint(code->way_starts[profile->code.instructions->len], ==, at);
}

static void check_loops(
	const LodeProfile *profile, const LodeCostedCode *code, const Graph *graph, uint32_t first)
{
	for (uint32_t i = 0; i < graph->n; i++) {
		uint32_t innermost = LODE_NONE, depth = 0;
		for (uint32_t head = 0; head < graph->n; head++)
			if (graph->in_loop[head][i] && depth_of(graph, head) > depth) {
				innermost = first + head;
				depth = depth_of(graph, head);
			}
		uint32_t loop = code->loops[first + i];
		g_assert_cmpuint(loop != LODE_NONE ? LODE_AT(profile->loops, LodeLoop, loop).head
						   : LODE_NONE,
			==, innermost);
	}
	for (guint k = 0; k < profile->loops->len; k++) {
		uint32_t head = LODE_AT(profile->loops, LodeLoop, k).head;
		double weight = 0;
		if (head < first || head >= first + graph->n)
			continue;
		for (uint32_t i = 0; i < graph->n; i++)
			weight += graph->in_loop[head - first][i] ? code->weights[first + i] : 0;
		g_assert_cmpfloat(code->loop_weights[k], ==, weight);
	}
}

static void test_random(void)
{
	for (unsigned round = 0; round < random_rounds(400, 20000); round++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(round));
		g_autoptr(LodeProfile) profile = code_profile_new();
		Graph graphs[2];
		uint32_t first[2];
		for (int i = 0; i < 2; i++) {
			draw_graph(&graphs[i], rand, round % 3);
			find_natural_loops(&graphs[i]);
			first[i] = profile->code.instructions->len;
			add_graph(profile, &graphs[i], rand);
		}
		code_profile_finish(profile);
		g_auto(CodeContext) context;
		code_context_init(&context, profile);
		g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
		check_ways(profile, code);
		for (int i = 0; i < 2; i++)
			check_loops(profile, code, &graphs[i], first[i]);
	}
}

/* --- facts --- */

/* The facts of an instruction, separated by blanks. The caller frees it. */
static char *facts_at(const LodeCostedCode *code, uint32_t at)
{
	GString *out = g_string_new(NULL);

	for (unsigned i = 0; i < LODE_N_CODE_FACTS; i++) {
		g_autofree char *name = lode_code_fact_name(i);
		if ((code->facts[at] >> i & 1) != 0)
			g_string_append_printf(out, "%s%s", out->len > 0 ? " " : "", name);
	}
	return g_string_free(out, FALSE);
}

static void check_facts(const LodeProfile *profile, const char *const *expected)
{
	g_auto(CodeContext) context;

	code_context_init(&context, profile);
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		g_autofree char *facts = facts_at(code, i);
		g_assert_cmpstr(facts, ==, expected[i] != NULL ? expected[i] : "");
	}
}

/* One of one instruction, on a machine of 4 cycles a ns, whose memory gives 10 bytes in it and
 * takes 5. */
static LodeLoop *add_loop(LodeProfile *profile)
{
	code_profile_function(profile, "f");
	code_profile_block(profile, 1, true);
	uint32_t head = code_profile_add(profile, "op:nop", 1);
	made_edge(profile, head, head, LODE_EDGE_TAKEN, 100);
	code_profile_finish(profile);
	profile->run.cycles_per_ns = 4;
	profile->run.rates.read[LODE_RATE_MEMORY] = 10;
	profile->run.rates.write[LODE_RATE_MEMORY] = 5;
	return lode_loops_add(profile, head);
}

/* Bounds of an iteration, and its time in cycles. */
static void test_limits(void)
{
	static const struct {
		double cycles, chain, other, divider, unmodelled, loads, stores;
		const char *recurrence, *facts;
		double calls;
	} cases[] = {
		{10, 8.4, 0, 0, 0, 0, 0, "fp", ""},
		{10, 8.6, 0, 0, 0, 0, 0, "fp", "limit:fp"},
		{10, 10.5, 0, 0, 0, 0, 0, "fp", "limit:fp"},
		{10, 10.7, 0, 0, 0, 0, 0, "fp", ""}, /* above the time */
		{10, 10, 0, 0, 0, 0, 0, "unknown", ""},
		{10, 10, 0, 0, 0, 0, 0, NULL, ""},
		{10, -1, 0, 8.4, 0, 0, 0, NULL, ""},
		{10, -1, 0, 8.6, 0, 0, 0, NULL, "busy:divider"},
		{10, -1, 0, 10.5, 0, 0, 0, NULL, "busy:divider"},
		{10, -1, 0, 10.7, 0, 0, 0, NULL, ""},
		{10, 18, 0, 9, 0, 0, 0, "store", "busy:divider"},
		{10, 9, 0, 9, 0, 0, 0, "load", "loop:chase limit:load busy:divider"},
		/* arithmetic: counters, and what a unit takes as long for */
		{1, 1, 0, 0, 0, 0, 0, "alu", ""},
		{2, 2, 0, 1.6, 0, 0, 0, "alu", "limit:alu"},
		{2, 2, 0, 1.7, 0, 0, 0, "alu", "busy:divider"},
		/* the time is not known */
		{-1, 4, 0, 2.6, 0, 0, 0, "fp", "limit:fp"},
		{-1, 4, 0, 2.7, 0, 0, 0, "fp", ""},
		{-1, 4, 2.6, 0, 0, 0, 0, "fp", "limit:fp"},
		{-1, 4, 2.7, 0, 0, 0, 0, "fp", ""},
		{-1, 2, 0, 0, 0, 0, 0, "fp", "limit:fp"},
		{-1, 1.9, 0, 0, 0, 0, 0, "fp", ""},
		{-1, 4, 0, 0, 1, 0, 0, "fp", ""},
		{-1, 4, 0, 0, 0, 0, 0, "fp", "", 1},
		{-1, 4, 0, 0, 0, 0, 0, "load", "loop:chase limit:load", 1},
		{-1, -1, -1, 9, 0, 0, 0, NULL, ""},
		/* 10 ns; memory gives 10 bytes, and takes 5 */
		{40, -1, 0, 20, 0, 49, 0, NULL, ""},
		{40, -1, 0, 20, 0, 51, 0, NULL, "limit:reading"},
		{40, -1, 0, 20, 0, 299, 0, NULL, "limit:reading"},
		{40, -1, 0, 20, 0, 301, 0, NULL, ""},
		{40, -1, 0, 20, 0, 0, 26, NULL, "limit:writing"},
		{40, -1, 0, 20, 0, 60, 20, NULL, "limit:reading"},
		{40, -1, 0, 20, 0, -1, -1, NULL, ""},
		{40, -1, 0, 26.6, 0, 51, 0, NULL, "limit:reading"},
		{40, -1, 0, 26.7, 0, 51, 0, NULL, ""},
		{40, 26.7, 0, 0, 0, 51, 0, "load", ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		LodeLoop *loop = add_loop(profile);
		loop->iteration_ns = cases[i].cycles / 4;
		loop->recurrence = lode_profile_intern(profile, cases[i].recurrence);
		loop->recurrence_cycles = cases[i].chain;
		loop->other_cycles = cases[i].other;
		loop->cycles[LODE_UNIT_DIVIDER] = cases[i].divider;
		loop->unmodelled = cases[i].unmodelled;
		loop->calls = cases[i].calls;
		loop->load_bytes = cases[i].loads;
		loop->store_bytes = cases[i].stores;
		check_facts(profile, &cases[i].facts);
		/* another recurrence of the same kind is no other limit */
		if (cases[i].recurrence != NULL && cases[i].other > 0) {
			loop->other_recurrence = loop->recurrence;
			check_facts(profile, &(const char *){"limit:fp"});
		}
		profile->run.cycles_per_ns = 0;
		loop->unmodelled = 1;
		check_facts(profile, &(const char *){""});
	}
}

/* A loop that moves as much as memory can, by its rate, over blocks of 64 KiB. */
static void test_footprints(void)
{
	static const struct {
		uint32_t samples, blocks;
		const char *facts;
	} cases[] = {
		{0, 1, "limit:reading"},
		{39, 1, "limit:reading"},
		{40, 1, ""},
		{40, 31, ""},
		{40, 32, "limit:reading"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		LodeLoop *loop = add_loop(profile);
		loop->iteration_ns = 10;
		loop->load_bytes = 100;
		profile->memory = lode_memory_new();
		for (uint32_t k = 0; k < cases[i].samples + 2; k++) {
			/* Two have no address, or are of no known instruction. */
			const LodeMemorySample sample = {
				.address = k == 0 ? 0
			                          : (1 << 20) +
			                                    (uint64_t)(k % cases[i].blocks << 16) +
			                                    k,
				.access_instruction = k == 1 ? LODE_NONE : loop->head,
			};
			g_array_append_val(profile->memory->samples, sample);
		}
		g_test_message("%zu", i);
		check_facts(profile, &cases[i].facts);
	}
}

/* Columns of a matrix of 100 rows, or one field of structures in arrays: by the sampled addresses.
 */
static void test_walks(void)
{
	static const struct {
		const char *attributes;
		uint64_t row, column; /* bytes from sample to sample */
		const char *facts;
		uint32_t columns;
	} cases[] = {
		{"stride:16384", 16384, 8, "walk:across", 4},
		{"stride:-64", 64, 8, "walk:across", 4},
		/* eight pairs of accesses that are nearer than a step tell */
		{"stride:16384", 16384, 8, "walk:across", 2},
		{"stride:16384", 16384, 8, "", 1},
		/* structures of 128 bytes, in arrays one after the other */
		{"stride:128", 128, 10 * 128 + 16, "", 4},
		/* along the memory; by no step; elsewhere */
		{"stride:8", 8, 800, "", 4},
		{"stride:none", 16384, 8, "", 4},
		/* known without addresses */
		{"stride:128 lines:dense", 128, 10 * 128 + 16, "walk:across", 4},
		{"stride:32 lines:dense", 32, 10 * 32 + 16, "", 4},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		code_profile_function(profile, "f");
		code_profile_block(profile, 1, true);
		uint32_t head = code_profile_add(profile, cases[i].attributes, 1);
		made_edge(profile, head, head, LODE_EDGE_TAKEN, 100);
		code_profile_finish(profile);
		lode_loops_add(profile, head);
		profile->memory = lode_memory_new();
		for (uint32_t k = 0; k < 10 * cases[i].columns; k++) {
			const LodeMemorySample sample = {
				.address = (1 << 20) + k / 10 * cases[i].column +
			                   k % 10 * cases[i].row,
				.access_instruction = head,
			};
			g_array_append_val(profile->memory->samples, sample);
		}
		g_test_message("%zu", i);
		check_facts(profile, &cases[i].facts);
	}
}

/* An atomic operation, by what is inlined there. */
static void test_references(void)
{
	static const struct {
		const char *attributes, *inlined, *facts;
	} cases[] = {
		{"kind:atomic op:lock_add",
			"std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::"
			"_M_release",
			"atomic:references"},
		{"kind:atomic op:lock_inc", "<alloc::sync::Arc<T> as core::clone::Clone>::clone",
			"atomic:references"},
		{"kind:atomic op:lock_inc", "core::sync::atomic::AtomicUsize::fetch_add", ""},
		{"kind:store op:add",
			"std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)1>::"
			"_M_release",
			""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		code_profile_function(profile, "f");
		code_profile_block(profile, 0, false);
		uint32_t at = code_profile_add(profile, cases[i].attributes, 1);
		lode_profile_instruction(profile, at)->location = lode_profile_location(
			profile, "/usr/include/c++/12/bits/shared_ptr_base.h", 9, cases[i].inlined);
		code_profile_finish(profile);
		check_facts(profile, &cases[i].facts);
	}
}

/* A loop of 10 cycles, with 9.1 of one unit unless stated otherwise. */
static void test_busy_units(void)
{
	static const struct {
		double recurrence, width, vector, load, calls;
		const char *facts;
	} cases[] = {
		{2, 7.4, 9.1, 7.4, 0, "busy:one busy:vector"},
		{2, 7.4, 8.9, 7.4, 0, "busy:vector"},
		{2, 7.4, 10.7, 7.4, 0, ""}, /* above the time */
		{2, 7.6, 9.1, 7.4, 0, "busy:vector"},
		{2, 7.4, 9.1, 7.6, 0, "busy:vector"},
		{2, 7.4, 7.4, 9.1, 0, "busy:one busy:load"},
		{7.6, 7.4, 9.1, 7.4, 0, "busy:vector"},
		{-1, 7.4, 9.1, 7.4, 0, "busy:vector"},
		{2, 7.4, 9.1, 7.4, 1, "busy:vector"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		LodeLoop *loop = add_loop(profile);
		loop->iteration_ns = 2.5;
		loop->recurrence_cycles = cases[i].recurrence;
		loop->cycles[LODE_UNIT_WIDTH] = cases[i].width;
		loop->cycles[LODE_UNIT_VECTOR] = cases[i].vector;
		loop->cycles[LODE_UNIT_LOAD] = cases[i].load;
		loop->calls = cases[i].calls;
		g_test_message("%zu", i);
		check_facts(profile, &cases[i].facts);
	}
}

/* A recurrence of loads that follows pointers, or looks something up. */
static void test_chases(void)
{
	static const struct {
		const char *step, *facts;
	} cases[] = {
		{"op:mov carried:load", "loop:chase limit:load"},
		{"op:lea carried:load", "loop:chase limit:load"},
		{"op:and carried:load", "limit:load"},
		{"op:mov kind:load mem:indexed carried:load", "limit:load"},
		{"op:and carried:alu", "loop:chase limit:load"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		code_profile_function(profile, "f");
		code_profile_block(profile, 1, true);
		uint32_t head = code_profile_add(profile, "op:mov kind:load carried:load", 1);
		made_fall(profile, head, 100);
		code_profile_add(profile, cases[i].step, 1);
		made_edge(profile, head + 1, head, LODE_EDGE_TAKEN, 100);
		code_profile_finish(profile);
		LodeLoop *loop = lode_loops_add(profile, head);
		loop->recurrence = lode_profile_intern(profile, "load");
		loop->recurrence_cycles = 4;
		check_facts(profile, (const char *const[]){cases[i].facts, cases[i].facts});
	}
}

/* Facts of the windows, in ascending order of the instructions. */
static void add_seen(LodeProfile *profile, const LodeObservedInstruction *seen)
{
	if (profile->windows == NULL)
		profile->windows = lode_windows_new();
	g_array_append_val(profile->windows->instructions, *seen);
}

/*
 *   0 entry  1 cmp  2 branch ─┬─ 3 first way   4 rest
 *                             └─ 5 second way  6 rest
 */
static LodeProfile *fork_new(const double *weights, bool compares_memory)
{
	static const char *const attributes[] = {"at:entry", "op:cmp", "kind:branch", "after:fork",
		"op:nop", "after:fork", "op:nop"};
	LodeProfile *profile = code_profile_new();

	code_profile_function(profile, "f");
	for (uint32_t i = 0; i < G_N_ELEMENTS(attributes); i++) {
		code_profile_add(profile,
			i == 1 && compares_memory ? "op:cmp kind:load" : attributes[i], weights[i]);
		if (i < 6)
			made_fall(profile, i, i == 4 ? -1 : 50);
	}
	made_edge(profile, 2, 5, LODE_EDGE_TAKEN, 50);
	code_profile_finish(profile);
	return profile;
}

static void test_forks(void)
{
#define HARD "fork:hard"
#define OPEN "fork:open"
	static const struct {
		double weights[7];
		bool compares_memory;
		int seen; /* outcomes of 1000 that were not foretold; −1: no windows */
		const char *facts[7];
	} cases[] = {
		/* nothing is known: both ways must have weight */
		{{0, 0, 0, 50, 0, 50, 0}, false, -1, {[3] = OPEN, [5] = OPEN}},
		{{0, 0, 0, 81, 0, 19, 0}, false, -1, {NULL}},
		{{0, 0, 0, 79, 0, 21, 0}, false, -1, {[3] = OPEN, [5] = OPEN}},
		/* a compare that waits */
		{{0, 24, 0, 50, 0, 50, 0}, false, -1, {[3] = OPEN, [5] = OPEN}},
		{{0, 13, 13, 50, 0, 50, 0}, false, -1,
			{[1] = OPEN, [2] = OPEN, [3] = OPEN, [5] = OPEN}},
		{{0, 99, 0, 50, 0, 50, 0}, true, -1,
			{[1] = OPEN, [2] = OPEN, [3] = OPEN, [5] = OPEN}},
		{{0, 101, 0, 50, 0, 50, 0}, true, -1, {NULL}},
		/* samples that are taken one late */
		{{0, 0, 0, 50, 51, 50, 49}, false, -1, {[3] = OPEN, [4] = NULL, [5] = OPEN}},
		{{0, 0, 0, 50, 0, 50, 51}, false, -1, {[3] = OPEN, [5] = OPEN, [6] = OPEN}},
		/* observed: (n + shared · 30) ÷ 1030, of which 4 % or more */
		{{0, 0, 0, 90, 0, 10, 0}, false, 41, {[3] = HARD, [5] = HARD}},
		{{0, 0, 0, 50, 0, 50, 0}, false, 39, {NULL}},
		{{0, 0, 0, 50, 0, 50, 0}, false, 0, {NULL}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProfile *profile = fork_new(cases[i].weights, cases[i].compares_memory);
		if (i == 7) /* the first way does not go on to the next instruction */
			made_fall(profile, 3, -1);
		if (cases[i].seen >= 0)
			add_seen(profile, &(LodeObservedInstruction){.instruction = 2,
						  .outcomes = 1000,
						  .unforetold = (uint32_t)cases[i].seen});
		check_facts(profile, cases[i].facts);
		lode_profile_free(profile);
	}
}

/* Few outcomes say nothing, and so do windows with few in all. */
static void test_few_outcomes(void)
{
	static const double weights[7] = {[3] = 50, [5] = 50};
	static const char *const open[7] = {[3] = OPEN, [5] = OPEN},
				 *const hard[7] = {[3] = HARD, [5] = HARD};

	LodeProfile *profile = fork_new(weights, false);
	add_seen(profile, &(LodeObservedInstruction){.instruction = 0, .outcomes = 529});
	add_seen(profile,
		&(LodeObservedInstruction){.instruction = 2, .outcomes = 70, .unforetold = 70});
	check_facts(profile, open); /* 599 in all */
	LODE_AT(profile->windows->instructions, LodeObservedInstruction, 0).outcomes = 530;
	check_facts(profile, hard);
	LODE_AT(profile->windows->instructions, LodeObservedInstruction, 0).outcomes = 600;
	LODE_AT(profile->windows->instructions, LodeObservedInstruction, 1).outcomes = 69;
	check_facts(profile, open);
	lode_profile_free(profile);
}

/* Events of a counting run decide, not what is observed. */
static void test_counted(void)
{
	static const double weights[7] = {[3] = 50, [5] = 50};
	static const char *const none[7] = {NULL}, *const hard[7] = {[3] = HARD, [5] = HARD};

	LodeProfile *profile = fork_new(weights, false);
	uint32_t misses = lode_profile_add_event(
		profile, "branch-miss", NULL, LODE_EVENT_RECORDED, NULL, 0);
	profile->run.frequency = LODE_FREQUENCY_EXACT;
	lode_profile_instruction(profile, 2)->count = 100;
	check_facts(profile, none);
	/* charged to the compare; 4 of 100 */
	LodeCost cost = {misses, 3.9};
	g_array_insert_val(profile->code.costs, 0, cost);
	for (uint32_t i = 2; i < profile->code.cost_starts->len; i++)
		LODE_AT(profile->code.cost_starts, uint32_t, i)++;
	check_facts(profile, none);
	LODE_AT(profile->code.costs, LodeCost, 0).value = 4;
	check_facts(profile, hard);
	lode_profile_instruction(profile, 2)->count = 0;
	check_facts(profile, none);
	lode_profile_free(profile);
}

/* A call, and the entry that it leads to, which has other calls too. */
static void test_targets(void)
{
	static const struct {
		const char *call;
		double indirect, direct;
		const char *facts[4];
	} cases[] = {
		{"kind:indirect", 50, 50, {[0] = "target:open", [3] = "target:open"}},
		{"kind:indirect", 49, 51, {[0] = "target:open"}},
		/* a linkage table, or a slot in it */
		{"kind:indirect mem:global", 100, 0, {NULL}},
		{"kind:call", 50, 50, {NULL}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		code_profile_function(profile, "caller");
		code_profile_add(profile, cases[i].call, 10);
		code_profile_add(profile, "kind:call", 10);
		code_profile_add(profile, "op:nop", 10);
		code_profile_function(profile, "callee");
		code_profile_add(profile, "at:entry", 10);
		made_edge(profile, 0, 3, LODE_EDGE_CALL, cases[i].indirect);
		made_edge(profile, 1, 3, LODE_EDGE_CALL, cases[i].direct);
		code_profile_finish(profile);
		check_facts(profile, cases[i].facts);
	}
}

/* Entries to which no call is known, where pointers are called: two of about equal weight count. */
static void test_entries(void)
{
	static const char *const none[5] = {NULL},
				 *const both[5] = {[1] = "target:open", [3] = "target:open"};
	static const struct {
		double weight;
		const char *call, *second;
		const char *const *facts;
	} cases[] = {
		{50, "kind:indirect", "at:entry", both},
		{10, "kind:indirect", "at:entry", none},
		{50, "kind:indirect kind:jump", "at:entry", none},
		{50, "kind:call", "at:entry", none},
		/* may wait for what it loads */
		{50, "kind:indirect", "at:entry kind:load", none},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		code_profile_function(profile, "caller");
		code_profile_add(profile, cases[i].call, 10);
		code_profile_function(profile, "first");
		code_profile_add(profile, "at:entry", 50);
		code_profile_add(profile, "op:nop", 70);
		code_profile_function(profile, "second");
		code_profile_add(profile, cases[i].second, cases[i].weight);
		code_profile_function(profile, "called");
		code_profile_add(profile, "at:entry", 50);
		made_edge(profile, 2, 4, LODE_EDGE_CALL, 10);
		code_profile_finish(profile);
		check_facts(profile, cases[i].facts);
	}
}

static void test_splits_and_roots(void)
{
	static const char *const facts[6] = {
		[0] = "split:most", [3] = "divider:roots", [4] = "divider:roots"};
	g_autoptr(LodeProfile) profile = code_profile_new();

	code_profile_function(profile, "divides");
	code_profile_add(profile, "kind:div op:sqrtsd", 1);
	code_profile_add(profile, "kind:div op:divsd", 1);
	code_profile_add(profile, "op:nop", 1);
	code_profile_function(profile, "takes_roots");
	code_profile_add(profile, "op:nop", 1);
	code_profile_add(profile, "kind:div op:vsqrtpd", 1);
	code_profile_function(profile, "neither");
	code_profile_add(profile, "op:nop", 1);
	code_profile_finish(profile);
	add_seen(profile, &(LodeObservedInstruction){.instruction = 0, .accesses = 30, .split = 9});
	add_seen(
		profile, &(LodeObservedInstruction){.instruction = 1, .accesses = 29, .split = 29});
	add_seen(
		profile, &(LodeObservedInstruction){.instruction = 2, .accesses = 40, .split = 11});
	check_facts(profile, facts);
}

/* A loop calls a small function through its stub, whose jump is known or not. */
static void test_small_calls(void)
{
	static const char *const all[7] = {"called:small", NULL, "called:small", "called:small",
		"called:small", "called:small"},
				 *const but_load[7] = {"called:small", NULL, "called:small", NULL,
					 "called:small", "called:small"},
				 *const none[7] = {NULL};
	static const struct {
		bool has_loop, has_jump;
		double load;
		const char *last, *name;
		const char *const *facts;
		bool is_near;
	} cases[] = {
		{true, true, 40, "kind:ret", "getter", all},
		{true, false, 40, "kind:ret", "getter", all},
		{true, true, 2000, "kind:ret", "getter", but_load},
		{true, true, 2000, "kind:ret", "getter", all, true},
		{false, true, 40, "kind:ret", "getter", none},
		{true, true, 40, "kind:call", "getter", none},
		{true, false, 40, "kind:ret", "other", none},
		/* A service. */
		{true, true, 40, "kind:ret", "strlen", none},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		const LodeLoop loop = {.head = 0, .iteration_ns = (double)NAN};
		code_profile_function(profile, "row");
		code_profile_block(profile, cases[i].has_loop, cases[i].has_loop);
		code_profile_add(profile, "kind:call", 5);
		code_profile_add(profile, "kind:branch", 10);
		code_profile_function(profile,
			strcmp(cases[i].name, "strlen") == 0 ? "strlen@plt" : "getter@plt");
		code_profile_add(profile, "kind:jump", 10);
		code_profile_function(profile, cases[i].name);
		code_profile_add(profile,
			cases[i].is_near ? "kind:load spread:first-level" : "kind:load",
			cases[i].load);
		code_profile_add(profile, "op:add needs:mul", 30);
		code_profile_add(profile, cases[i].last, 10);
		code_profile_function(profile, "main");
		code_profile_add(profile, "op:nop", 10);
		made_fall(profile, 0, 9);
		made_edge(profile, 1, 0, LODE_EDGE_TAKEN, 8);
		made_edge(profile, 0, 2, LODE_EDGE_CALL, 9);
		if (cases[i].has_jump)
			made_edge(profile, 2, 3, LODE_EDGE_JUMP, 9);
		code_profile_finish(profile);
		if (cases[i].has_loop)
			g_array_append_val(profile->loops, loop);
		check_facts(profile, cases[i].facts);
	}
}

static void test_empty(void)
{
	g_autoptr(LodeProfile) profile = code_profile_new();

	code_profile_finish(profile);
	check_facts(profile, NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/costed_code/random", test_random);
	g_test_add_func("/costed_code/limits", test_limits);
	g_test_add_func("/costed_code/footprints", test_footprints);
	g_test_add_func("/costed_code/walks", test_walks);
	g_test_add_func("/costed_code/references", test_references);
	g_test_add_func("/costed_code/busy_units", test_busy_units);
	g_test_add_func("/costed_code/chases", test_chases);
	g_test_add_func("/costed_code/forks", test_forks);
	g_test_add_func("/costed_code/few_outcomes", test_few_outcomes);
	g_test_add_func("/costed_code/counted", test_counted);
	g_test_add_func("/costed_code/targets", test_targets);
	g_test_add_func("/costed_code/entries", test_entries);
	g_test_add_func("/costed_code/small_calls", test_small_calls);
	g_test_add_func("/costed_code/splits_and_roots", test_splits_and_roots);
	g_test_add_func("/costed_code/empty", test_empty);
	return g_test_run();
}
