/* SPDX-License-Identifier: MIT */
/*
 * Recurrences of random loops against a search that unrolls them and tries every cycle; and loops
 * by hand: what belongs to them, and which addresses do not change.
 */
#include "ingest/join/loops/loop_dependences.h"

#include "seeds.h"

#include <string.h>

enum { MAX_NODES = 8, MAX_WAYS = 4 * MAX_NODES, CASES = 4000, REGISTERS = 4 };

typedef struct {
	LodeDependenceNode nodes[MAX_NODES];
	uint32_t n;
	double passed[MAX_NODES][MAX_NODES]; /* share of the target's executions */
} Loop;

/* The loops too, where they are wanted. */
static void search(const Loop *loop, LodeLoopDependence *out, GArray *loops)
{
	g_autoptr(LodeCore) core = lode_core_new(NULL);
	LodeLoopDependences *search = lode_loop_dependences_new();
	LodeDependenceWay ways[MAX_NODES * MAX_NODES];
	uint32_t firsts[MAX_NODES + 1] = {0}, n = 0;

	for (uint32_t to = 0; to < loop->n; to++) {
		for (uint32_t from = 0; from < loop->n; from++)
			if (loop->passed[from][to] > 0)
				ways[n++] = (LodeDependenceWay){from, loop->passed[from][to]};
		firsts[to + 1] = n;
	}
	lode_loop_dependences_run(search,
		&(LodeDependenceGraph){loop->nodes, loop->n, firsts, ways, core}, out, 0, loops);
	lode_loop_dependences_free(search);
}

/* One after the other, and back to the first. */
static void make_loop(Loop *loop, uint32_t n)
{
	memset(loop, 0, sizeof(*loop));
	loop->n = n;
	for (uint32_t i = 0; i < n; i++) {
		loop->nodes[i].is_known = true;
		loop->nodes[i].loop_depth = 1;
		loop->nodes[i].count = 10;
		loop->passed[i][(i + 1) % n] = i + 1 == n ? 0.9 : 1;
	}
	loop->nodes[0].is_loop_head = true;
}

/* --- random loops --- */

static void draw(GRand *random, Loop *loop)
{
	make_loop(loop, (uint32_t)g_rand_int_range(random, 1, MAX_NODES + 1));
	for (uint32_t i = 0; i < loop->n; i++) {
		LodeRegisterUse *use = &loop->nodes[i].use;
		LodeRegisterMask written = lode_register_bit(
			(unsigned)g_rand_int_range(random, 0, REGISTERS));
		loop->nodes[i].work = (uint8_t)g_rand_int_range(random, 0, LODE_STEP_OF_LOAD + 1);
		if (loop->nodes[i].work == LODE_STEP_OF_LOAD)
			loop->nodes[i].work = LODE_STEP_OF_DIV;
		loop->nodes[i].latency = g_rand_int_range(random, 1, 16);
		loop->nodes[i].chained_latency = g_rand_int_range(random, 1, 16);
		use->work.work = (uint8_t)g_rand_int_range(random, 0, 3);
		loop->nodes[i].merge_latency = g_rand_int_range(random, 1, 16);
		loop->nodes[i].load_latency = g_rand_int_range(random, 4, 8);
		loop->nodes[i].forward_latency = g_rand_int_range(random, 0, 9);
		for (int k = g_rand_int_range(random, 0, 3); k > 0; k--)
			use->reads |= lode_register_bit(
				(unsigned)g_rand_int_range(random, 0, REGISTERS));
		if (g_rand_int_range(random, 0, 3) > 0)
			use->writes = use->kills = use->results = use->changes = written;
		if (g_rand_int_range(random, 0, 6) == 0 && use->writes != 0 &&
			(use->reads & written) == 0) {
			use->reads |= written;
			use->merges |= written;
		}
		if (g_rand_int_range(random, 0, 3) == 0) {
			use->memory.registers = lode_register_bit(
				(unsigned)g_rand_int_range(random, 0, 2));
			use->memory.form = (uint16_t)use->memory.registers;
			use->memory.size = g_rand_boolean(random) ? 4 : 8;
			use->memory.displacement = 4 * g_rand_int_range(random, 0, 3);
			use->memory.is_load = g_rand_boolean(random);
			use->memory.is_store = !use->memory.is_load || g_rand_boolean(random);
			use->address = use->memory.registers;
			use->reads |= use->address;
			use->merges &= ~use->address;
		}
		if (g_rand_int_range(random, 0, 30) == 0) {
			loop->nodes[i].is_call = true;
			use->kills |= 3;
			use->changes |= 3;
		}
	}
}

typedef struct {
	uint32_t source, target;
	double latency;
	LodeStepOf step;
	bool is_crossing;
} Dependence;

static void put(GArray *all, const Loop *loop, uint32_t at, uint32_t maker, LodeStepOf first)
{
	const LodeDependenceNode *node = &loop->nodes[at % loop->n];
	const LodeDependenceNode *before = &loop->nodes[maker % loop->n];
	bool is_chained = before->use.work.work == node->use.work.work;
	Dependence found = {maker % loop->n, at % loop->n,
		first == LODE_STEP_OF_ALU && is_chained ? node->chained_latency : node->latency,
		(LodeStepOf)node->work, maker / loop->n != at / loop->n};
	double access = first == LODE_STEP_OF_LOAD ? node->load_latency : node->forward_latency;

	if (first == LODE_STEP_OF_MERGE) {
		found.step = first;
		found.latency = node->merge_latency;
	}
	if (first == LODE_STEP_OF_LOAD || first == LODE_STEP_OF_STORE) {
		found.step = access >= node->latency ? first : found.step;
		found.latency += access;
	}
	g_array_append_val(all, found);
}

static void unroll_register(GArray *all, const Loop *loop, uint32_t at, LodeRegisterMask bit)
{
	const LodeRegisterUse *own = &loop->nodes[at % loop->n].use;

	if (own->memory.is_store && !own->memory.is_load && own->writes == 0 &&
		(own->address & bit) != 0)
		return;
	for (uint32_t i = at; i-- > 0;) {
		const LodeRegisterUse *use = &loop->nodes[i % loop->n].use;
		if ((use->writes & bit) != 0) {
			put(all, loop, at, i,
				(own->address & bit) != 0 && own->memory.is_load ? LODE_STEP_OF_LOAD
				: (own->merges & bit) != 0 ? LODE_STEP_OF_MERGE
							   : LODE_STEP_OF_ALU);
			return;
		}
		if ((use->kills & bit) != 0)
			return;
	}
}

/* Byte by byte. */
static void unroll_memory(GArray *all, const Loop *loop, uint32_t at)
{
	const LodeMemoryUse *load = &loop->nodes[at % loop->n].use.memory;

	for (uint32_t i = at; load->is_load && i-- > at - loop->n;) {
		const LodeDependenceNode *node = &loop->nodes[i % loop->n];
		const LodeMemoryUse *store = &node->use.memory;
		bool is_shared = false;
		if (node->is_call || (node->use.changes & load->registers) != 0)
			return;
		for (int64_t byte = 0; byte < load->size; byte++)
			is_shared |= load->displacement + byte >= store->displacement &&
			             load->displacement + byte < store->displacement + store->size;
		if (store->is_store && store->form == load->form && is_shared) {
			put(all, loop, at, i, LODE_STEP_OF_STORE);
			return;
		}
	}
}

typedef struct {
	const GArray *all;
	bool is_visited[MAX_NODES];
	bool is_member[MAX_NODES]; /* of the component */
	const Dependence *way[MAX_NODES];
	guint n_way;
	double best;                 /* latency for each iteration */
	bool steps[LODE_N_STEPS_OF]; /* the longest of the best cycles */
} Cycles;

static void judge(Cycles *self)
{
	double latency = 0, crossings = 0, longest = -1;
	bool steps[LODE_N_STEPS_OF] = {false};

	for (guint i = 0; i < self->n_way; i++) {
		latency += self->way[i]->latency;
		crossings += self->way[i]->is_crossing;
	}
	g_assert_cmpfloat(crossings, >, 0);
	for (guint i = 0; i < self->n_way; i++) {
		double own = self->way[i]->step == LODE_STEP_OF_MERGE ? 1000
		                                                      : self->way[i]->latency;
		if (own > longest)
			memset(steps, 0, sizeof(steps));
		longest = MAX(longest, own);
		steps[self->way[i]->step] |= own == longest;
	}
	if (latency / crossings > self->best + 1e-6)
		memset(self->steps, 0, sizeof(self->steps));
	if (latency / crossings < self->best - 1e-6)
		return;
	self->best = MAX(self->best, latency / crossings);
	for (int i = 0; i < LODE_N_STEPS_OF; i++)
		self->steps[i] |= steps[i];
}

static void try_cycles(Cycles *self, uint32_t start, uint32_t at)
{
	for (guint i = 0; i < self->all->len; i++) {
		const Dependence *next = &g_array_index(self->all, Dependence, i);
		if (next->source != at)
			continue;
		self->way[self->n_way++] = next;
		if (next->target == start) {
			judge(self);
		} else if (!self->is_visited[next->target]) {
			self->is_visited[next->target] = true;
			try_cycles(self, start, next->target);
			self->is_visited[next->target] = false;
		}
		self->n_way--;
	}
}

/* The steps that may carry the members of a node's component; false: it is in no cycle. */
static bool expect(const GArray *all, uint32_t node, uint32_t n, Cycles *out)
{
	bool reaches[MAX_NODES][MAX_NODES] = {{false}};

	for (guint i = 0; i < all->len; i++) {
		const Dependence *edge = &g_array_index(all, Dependence, i);
		reaches[edge->source][edge->target] = true;
	}
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				reaches[i][j] |= reaches[i][k] && reaches[k][j];
	*out = (Cycles){.all = all};
	for (uint32_t i = 0; i < n; i++) {
		if (!reaches[node][i] || !reaches[i][node])
			continue;
		out->is_member[i] = true;
		memset(out->is_visited, 0, sizeof(out->is_visited));
		out->is_visited[i] = true;
		try_cycles(out, i, i);
	}
	return reaches[node][node];
}

/* The two longest recurrences of the loop, of different components. */
static void assert_longest(const GArray *all, const Loop *loop, const GArray *loops)
{
	double most = 0, other = 0;
	bool is_done[MAX_NODES] = {false};
	const LodeLoop *found = &g_array_index(loops, LodeLoop, 0);

	g_assert_cmpuint(loops->len, ==, 1);
	for (uint32_t i = 0; i < loop->n; i++) {
		Cycles expected;
		if (is_done[i] || !expect(all, i, loop->n, &expected))
			continue;
		for (uint32_t k = 0; k < loop->n; k++)
			is_done[k] |= expected.is_member[k];
		other = MAX(other, MIN(most, expected.best));
		most = MAX(most, expected.best);
	}
	g_assert_cmpfloat_with_epsilon(found->recurrence_cycles, most, 1e-6);
	g_assert_cmpfloat_with_epsilon(found->other_cycles, other, 1e-6);
	g_assert_true((found->recurrence == NULL) == (most <= 0));
	g_assert_true((found->other_recurrence == NULL) == (other <= 0));
}

static void test_random(void)
{
	guint n_members = 0, n_decided[LODE_N_STEPS_OF] = {0};

	for (guint32 seed = 1; seed <= CASES; seed++) {
		GRand *random = g_rand_new_with_seed(soak_seed(seed));
		g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Dependence));
		g_autoptr(GArray) loops = g_array_new(FALSE, FALSE, sizeof(LodeLoop));
		LodeLoopDependence found[MAX_NODES];
		Loop loop;
		draw(random, &loop);
		g_rand_free(random);
		search(&loop, found, loops);
		for (uint32_t at = 2 * loop.n; at < 3 * loop.n; at++) {
			for (LodeRegisterMask left = loop.nodes[at % loop.n].use.reads; left != 0;
				left &= left - 1)
				unroll_register(all, &loop, at, left & -left);
			unroll_memory(all, &loop, at);
		}
		assert_longest(all, &loop, loops);
		for (uint32_t i = 0; i < loop.n; i++) {
			Cycles expected;
			bool is_member = expect(all, i, loop.n, &expected);
			if (is_member != (found[i].carried != 0) ||
				(is_member && !expected.steps[found[i].carried - 1])) {
				g_test_message(
					"seed %u, node %u: carried %u", seed, i, found[i].carried);
				g_test_fail();
				return;
			}
			n_members += is_member;
			n_decided[is_member ? found[i].carried - 1 : 0] += is_member;
		}
	}
	g_assert_cmpuint(n_members, >, CASES / 2);
	for (int i = 0; i < LODE_N_STEPS_OF; i++)
		g_assert_cmpuint(n_decided[i], >, 20);
}

/* --- by hand --- */

static void assert_carried(Loop *loop, const char *expected)
{
	static const double cycles[LODE_N_STEPS_OF] = {1, 1, 3, 4, 5, 5, 5, 15, 0};
	LodeLoopDependence found[MAX_NODES];
	g_autoptr(GString) text = g_string_new(NULL);

	for (uint32_t i = 0; i < loop->n; i++) {
		LodeDependenceNode *node = &loop->nodes[i];
		node->latency = node->merge_latency = cycles[node->work];
		node->chained_latency = node->latency;
		node->load_latency = node->forward_latency = 5;
	}
	search(loop, found, NULL);
	for (uint32_t i = 0; i < loop->n; i++)
		g_string_append_printf(text, "%s%s", i > 0 ? " " : "",
			found[i].carried != 0
				? lode_step_of_name((LodeStepOf)(found[i].carried - 1))
				: "-");
	g_assert_cmpstr(text->str, ==, expected);
}

static void set_registers(LodeDependenceNode *node, LodeRegisterMask reads, LodeRegisterMask writes)
{
	node->use.reads = reads;
	node->use.writes = node->use.kills = node->use.results = node->use.changes = writes;
}

static void set_memory(LodeDependenceNode *node, LodeRegisterMask address, bool is_load)
{
	node->use.memory = (LodeMemoryUse){.registers = address,
		.form = (uint16_t)address,
		.size = 8,
		.is_load = is_load,
		.is_store = !is_load};
	node->use.address = address;
	node->use.reads |= address;
}

/* mov rax, [rax]; add rcx, [rax]; addsd xmm, …; jump */
static void make_list(Loop *loop)
{
	make_loop(loop, 4);
	set_registers(&loop->nodes[0], 0, 1);
	set_memory(&loop->nodes[0], 1, true);
	set_registers(&loop->nodes[1], 2, 2);
	set_memory(&loop->nodes[1], 1, true);
	set_registers(&loop->nodes[2], 4, 4);
	loop->nodes[2].work = LODE_STEP_OF_FP;
}

static void test_kinds(void)
{
	Loop loop;

	make_list(&loop);
	assert_carried(&loop, "load alu fp -");
	loop.nodes[1].is_call = true; /* it changes rcx */
	loop.nodes[1].use.writes = 0;
	assert_carried(&loop, "load - fp -");
	make_list(&loop);
	loop.nodes[2].is_known = false;
	assert_carried(&loop, "- - - -");
	/* A counter in memory. */
	make_loop(&loop, 2);
	set_memory(&loop.nodes[0], 8, true);
	loop.nodes[0].use.memory.is_store = true;
	assert_carried(&loop, "store -");
	set_registers(&loop.nodes[1], 8, 8); /* its address moves on */
	assert_carried(&loop, "- alu");
	/* Only the old value of the destination. */
	make_loop(&loop, 1);
	set_registers(&loop.nodes[0], 1, 1);
	loop.nodes[0].use.merges = 1;
	loop.nodes[0].work = LODE_STEP_OF_CONVERT;
	assert_carried(&loop, "merge");
}

/* Most iterations leave something out. */
static void test_ways(void)
{
	Loop loop;

	make_list(&loop);
	loop.passed[0][2] = 0.6;
	loop.passed[1][2] = 0.4;
	assert_carried(&loop, "load - fp -");
	loop.passed[3][0] =
		0.2; /* nearly all came from outside: of the iterations it is the same */
	assert_carried(&loop, "load - fp -");
	loop.passed[0][2] = loop.passed[1][2] = 0.4;
	assert_carried(&loop, "- - - -");
	make_list(&loop);
	loop.nodes[0].is_loop_head = false;
	assert_carried(&loop, "- - - -");
	/* A loop inside, of node 1 alone: most iterations go by, or through it. */
	make_list(&loop);
	loop.nodes[1].is_loop_head = true;
	loop.nodes[1].loop_depth = 2;
	loop.passed[1][1] = 0.5;
	loop.passed[0][1] = 0.5;
	loop.passed[0][2] = 0.8;
	loop.passed[1][2] = 0.2;
	assert_carried(&loop, "load alu fp -");
	loop.passed[0][2] = 0.2;
	loop.passed[1][2] = 0.8;
	assert_carried(&loop, "- alu - -");
}

/* 0: outer head; 1, 2: inner loop; 3: outer loop's end. Address 16 changes in 3, 8 nowhere. */
static void test_invariants(void)
{
	const bool expected[] = {false, true, true, true};
	LodeLoopDependence found[MAX_NODES];
	Loop loop;

	make_loop(&loop, 4);
	loop.nodes[1].is_loop_head = true;
	loop.nodes[1].loop_depth = loop.nodes[2].loop_depth = 2;
	loop.passed[0][1] = 0.1;
	loop.passed[2][1] = 0.9;
	set_registers(&loop.nodes[3], 16, 16);
	set_memory(&loop.nodes[0], 16, true);
	set_memory(&loop.nodes[1], 16, true);
	set_memory(&loop.nodes[2], 8, false);
	set_memory(&loop.nodes[3], 8, true);
	search(&loop, found, NULL);
	for (uint32_t i = 0; i < loop.n; i++)
		g_assert_cmpint(found[i].is_invariant, ==, expected[i]);
	/* Two loops one after the other: the first is not a part of the second. */
	make_loop(&loop, 4);
	loop.passed[3][0] = 0;
	loop.passed[1][0] = 0.9;
	loop.passed[1][2] = 0.1;
	loop.passed[3][2] = 0.9;
	loop.nodes[2].is_loop_head = true;
	set_registers(&loop.nodes[1], 8, 8);
	set_memory(&loop.nodes[3], 8, true);
	search(&loop, found, NULL);
	g_assert_true(found[3].is_invariant);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/loop_dependences/random", test_random);
	g_test_add_func("/loop_dependences/kinds", test_kinds);
	g_test_add_func("/loop_dependences/ways", test_ways);
	g_test_add_func("/loop_dependences/invariants", test_invariants);
	return g_test_run();
}
