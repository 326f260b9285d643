/* SPDX-License-Identifier: MIT */
/* Early addresses of random iterations against a search that unrolls them, and by hand. */
#include "ingest/join/attributes/early_addresses.h"

#include "model/index.h"
#include "seeds.h"

#include <string.h>

enum { MAX_NODES = 7, ROUNDS = 24, N = MAX_NODES * ROUNDS, REGISTERS = 4, CASES = 1500 };

typedef struct {
	LodeDependenceNode nodes[MAX_NODES];
	uint32_t forwarders[MAX_NODES];
	uint32_t n;
} Iteration;

static void search_both(const Iteration *it, bool *out_are_early, bool *out_are_linear)
{
	LodeEarlyAddresses search;
	const LodeDependenceGraph graph = {.nodes = it->nodes, .n = it->n};
	uint32_t iteration[MAX_NODES];

	for (uint32_t i = 0; i < it->n; i++)
		iteration[i] = i;
	lode_early_addresses_init(&search);
	lode_early_addresses_find(
		&search, &graph, iteration, it->n, it->forwarders, out_are_early, out_are_linear);
	lode_early_addresses_clear(&search);
}

static void search(const Iteration *it, bool *out_are_early)
{
	bool are_linear[MAX_NODES];

	search_both(it, out_are_early, are_linear);
}

/* --- random iterations --- */

static LodeRegisterMask draw_registers(GRand *random, int most)
{
	LodeRegisterMask mask = 0;

	for (int k = g_rand_int_range(random, 0, most + 1); k > 0; k--)
		mask |= lode_register_bit((unsigned)g_rand_int_range(random, 0, REGISTERS));
	return mask;
}

static void draw(GRand *random, Iteration *it)
{
	memset(it, 0, sizeof(*it));
	it->n = (uint32_t)g_rand_int_range(random, 1, MAX_NODES + 1);
	for (uint32_t i = 0; i < it->n; i++) {
		LodeDependenceNode *node = &it->nodes[i];
		int kind = g_rand_int_range(random, 0, 6);
		node->use.reads = draw_registers(random, 2);
		node->use.writes = draw_registers(random, 1);
		node->use.kills = node->use.writes;
		node->use.is_linear = g_rand_int_range(random, 0, 4) > 0;
		node->is_call = kind == 5 && g_rand_int_range(random, 0, 4) == 0;
		if (kind < 4) {
			node->use.memory.size = 8;
			node->use.memory.is_load = kind != 3;
			node->use.memory.is_store = kind >= 2;
			node->use.address = draw_registers(random, 2);
			node->use.reads |= node->use.address;
			node->makes = kind != 3 ? 1 << LODE_NEED_LOAD : 0;
		}
		if (node->is_call)
			node->use.kills |= draw_registers(random, 2);
	}
	for (uint32_t i = 0; i < it->n; i++) {
		uint32_t store = (uint32_t)g_rand_int_range(random, 0, (gint)it->n);
		bool is_forwarded = it->nodes[i].makes != 0 &&
		                    it->nodes[store].use.memory.is_store && g_rand_boolean(random);
		it->forwarders[i] = is_forwarded ? store : LODE_NONE;
	}
}

/* The sources of an executed instruction's value, or address: any earlier executed one. */
typedef struct {
	bool value[N][N], address[N][N];
} Origins;

static void add_origin(Origins *self, bool *row, uint32_t maker)
{
	row[maker] = true;
	for (uint32_t i = 0; i < N; i++)
		row[i] |= self->value[maker][i];
}

static void add_origins(
	Origins *self, const Iteration *it, bool *row, uint32_t at, LodeRegisterMask registers)
{
	for (; registers != 0; registers &= registers - 1)
		for (uint32_t i = at; i-- > 0;) {
			const LodeRegisterUse *use = &it->nodes[i % it->n].use;
			if (((use->writes | use->kills) & registers & -registers) == 0)
				continue;
			add_origin(self, row, i);
			break;
		}
}

static void unroll(Origins *self, const Iteration *it)
{
	memset(self, 0, sizeof(*self));
	for (uint32_t at = 0; at < it->n * ROUNDS; at++) {
		uint32_t place = at % it->n, forwarder = it->forwarders[place];
		const LodeRegisterUse *use = &it->nodes[place].use;
		add_origins(self, it, self->address[at], at, use->address);
		if (forwarder == LODE_NONE) {
			add_origins(self, it, self->value[at], at, use->reads);
			continue;
		}
		add_origins(self, it, self->value[at], at, use->reads & ~use->address);
		uint32_t store = at - place + forwarder;
		if (forwarder >= place && at < it->n)
			continue;
		add_origin(self, self->value[at], forwarder >= place ? store - it->n : store);
	}
}

/* Whether executions of a load come out of earlier ones. */
static bool is_recurrent(const Origins *origins, const Iteration *it, uint32_t place)
{
	if (it->nodes[place].makes == 0 || it->forwarders[place] != LODE_NONE)
		return false;
	for (uint32_t at = place; at < it->n * ROUNDS; at += it->n)
		for (uint32_t before = place; before < at; before += it->n)
			if (origins->address[at][before])
				return true;
	return false;
}

static bool is_early(const Origins *origins, const Iteration *it, uint32_t place)
{
	for (uint32_t at = place; at < it->n * ROUNDS; at += it->n)
		for (uint32_t i = 0; i < at; i++)
			if (origins->address[at][i] &&
				(it->nodes[i % it->n].is_call ||
					is_recurrent(origins, it, i % it->n)))
				return false;
	return it->nodes[place].use.memory.size > 0 && !is_recurrent(origins, it, place);
}

/* The sources of a sum, and of nothing else. */
static bool is_linear(const Origins *origins, const Iteration *it, uint32_t place)
{
	for (uint32_t at = place; at < it->n * ROUNDS; at += it->n)
		for (uint32_t i = 0; i < at; i++) {
			const LodeDependenceNode *node = &it->nodes[i % it->n];
			bool is_load = node->makes != 0 && it->forwarders[i % it->n] == LODE_NONE;
			if (origins->address[at][i] &&
				(node->is_call || is_load ||
					(!node->use.is_linear && node->use.reads != 0)))
				return false;
		}
	return it->nodes[place].use.memory.size > 0;
}

static void test_random(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(33));
	g_autofree Origins *origins = g_new(Origins, 1);
	uint32_t n_early = 0, n_late = 0;

	for (unsigned k = 0; k < random_rounds(CASES, 10 * CASES); k++) {
		Iteration it;
		bool found[MAX_NODES], are_linear[MAX_NODES];
		draw(random, &it);
		search_both(&it, found, are_linear);
		unroll(origins, &it);
		for (uint32_t i = 0; i < it.n; i++) {
			bool expected = is_early(origins, &it, i);
			g_assert_cmpint(found[i], ==, expected);
			g_assert_cmpint(are_linear[i], ==, is_linear(origins, &it, i));
			n_early += expected;
			n_late += !expected && it.nodes[i].use.memory.size > 0;
		}
	}
	g_assert_cmpuint(n_early, >, 20);
	g_assert_cmpuint(n_late, >, 20);
}

/* --- by hand --- */

enum { A, B, C, D };
#define R(number) lode_register_bit(number)

static void put_load(Iteration *it, LodeRegisterMask address, LodeRegisterMask result)
{
	it->forwarders[it->n] = LODE_NONE;
	it->nodes[it->n++] = (LodeDependenceNode){.use = {.reads = address,
							  .address = address,
							  .writes = result,
							  .kills = result,
							  .memory = {.size = 8, .is_load = true}},
		.makes = 1 << LODE_NEED_LOAD};
}

static void put_add(Iteration *it, LodeRegisterMask of)
{
	it->forwarders[it->n] = LODE_NONE;
	it->nodes[it->n++] = (LodeDependenceNode){.use = {.reads = of, .writes = of, .kills = of}};
}

static void test_gather(void)
{
	Iteration it = {.n = 0};
	bool are_early[MAX_NODES];

	put_load(&it, R(A), R(B)); /* order[i] */
	put_load(&it, R(B), R(C)); /* a[order[i]] */
	put_add(&it, R(A));
	search(&it, are_early);
	g_assert_true(are_early[0]);
	g_assert_true(are_early[1]);
	g_assert_false(are_early[2]);
}

static void test_chase(void)
{
	Iteration it = {.n = 0};
	bool are_early[MAX_NODES];

	put_load(&it, R(A), R(B)); /* p->value */
	put_load(&it, R(D), R(C)); /* beside it: an array */
	put_load(&it, R(A), R(A)); /* p = p->next */
	put_add(&it, R(D));
	search(&it, are_early);
	g_assert_false(are_early[0]);
	g_assert_true(are_early[1]);
	g_assert_false(are_early[2]);
}

/* Without optimisation: the counter is loaded, increased and stored. */
static void test_counter_in_memory(void)
{
	Iteration it = {.n = 0};
	bool are_early[MAX_NODES];

	put_load(&it, R(D), R(A)); /* i, forwarded from its store */
	put_load(&it, R(A), R(B)); /* a[i] */
	put_add(&it, R(A));
	it.forwarders[it.n] = LODE_NONE;
	it.nodes[it.n++] = (LodeDependenceNode){.use = {.reads = R(A) | R(D),
							.address = R(D),
							.memory = {.size = 8, .is_store = true}}};
	it.forwarders[0] = 3;
	search(&it, are_early);
	g_assert_true(are_early[0]);
	g_assert_true(are_early[1]);
	it.forwarders[0] = LODE_NONE; /* from elsewhere: its own address does not change */
	search(&it, are_early);
	g_assert_true(are_early[1]);
	it.nodes[1].use.writes = it.nodes[1].use.kills = R(A); /* i = a[i] */
	it.forwarders[0] = 3;
	search(&it, are_early);
	g_assert_false(are_early[1]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/early-addresses/random", test_random);
	g_test_add_func("/early-addresses/gather", test_gather);
	g_test_add_func("/early-addresses/chase", test_chase);
	g_test_add_func("/early-addresses/counter-in-memory", test_counter_in_memory);
	return g_test_run();
}
