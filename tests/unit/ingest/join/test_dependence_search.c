/* SPDX-License-Identifier: MIT */
/*
 * What instructions depend on, against an interpreter that runs random code and looks at what was
 * executed before each instruction; and cases by hand.
 */
#include "ingest/join/attributes/dependence_search.h"

#include "seeds.h"

#include <string.h>

enum {
	CASES = 80,
	MAX_NODES = 32,
	STEPS = 30000,
	REGISTERS = 5,
	FEW = 400, /* executions of which a share says nothing */
};

typedef struct {
	LodeDependenceNode nodes[MAX_NODES];
	uint32_t n;
	uint32_t jump[MAX_NODES]; /* another successor than the next one */
	double jumps[MAX_NODES];  /* how likely it is */
	double leaves[MAX_NODES]; /* that the function is left, and entered again at its begin */
	double count[MAX_NODES];  /* executions */
	double passed[MAX_NODES][MAX_NODES];
	/* Of the executions of a node, in how many a register, or (the last) memory, came from what
	 */
	double came[MAX_NODES][LODE_N_REGISTER_BITS + 1][LODE_N_NEEDS];
} Program;

static void draw_memory(GRand *random, LodeDependenceNode *node)
{
	static const uint32_t sizes[] = {1, 2, 4, 8};
	LodeMemoryUse *memory = &node->use.memory;

	memory->registers = lode_register_bit((unsigned)g_rand_int_range(random, 0, 2));
	memory->form = (uint16_t)memory->registers;
	memory->size = sizes[g_rand_int_range(random, 0, G_N_ELEMENTS(sizes))];
	memory->displacement = g_rand_int_range(random, -4, 4) * 2;
	memory->is_load = g_rand_int_range(random, 0, 3) > 0;
	memory->is_store = !memory->is_load || g_rand_int_range(random, 0, 4) == 0;
	node->use.address = memory->registers;
	node->use.reads |= memory->registers;
}

static void draw_node(GRand *random, LodeDependenceNode *node)
{
	const LodeRegisterMask x87 = lode_register_bit(LODE_BIT_X87);

	*node = (LodeDependenceNode){.is_known = g_rand_int_range(random, 0, 40) > 0};
	for (int i = g_rand_int_range(random, 0, 3); i > 0; i--)
		node->use.reads |= lode_register_bit(
			(unsigned)g_rand_int_range(random, 0, REGISTERS));
	if (g_rand_int_range(random, 0, 3) > 0)
		node->use.writes = lode_register_bit(
			(unsigned)g_rand_int_range(random, 0, REGISTERS));
	if (g_rand_int_range(random, 0, 8) == 0)
		node->use.reads |= x87;
	if (g_rand_int_range(random, 0, 8) == 0)
		node->use.writes |= x87;
	node->use.results = node->use.kills = node->use.changes = node->use.writes;
	node->use.kills &= node->use.reads | ~x87;
	if (g_rand_int_range(random, 0, 6) == 0)
		node->use.results = 0;
	if (g_rand_boolean(random))
		node->makes = (uint16_t)(1u << g_rand_int_range(random, 0, LODE_NEED_STORE));
	if (g_rand_int_range(random, 0, 3) == 0)
		draw_memory(random, node);
	if (g_rand_int_range(random, 0, 20) == 0) {
		node->is_call = true;
		node->use.kills |= 7;
		node->use.changes |= 7;
	}
}

static void draw_program(GRand *random, Program *program)
{
	static const double chances[] = {0.05, 0.3, 0.5, 0.5, 0.9};

	memset(program, 0, sizeof(*program));
	program->n = (uint32_t)g_rand_int_range(random, 1, MAX_NODES + 1);
	for (uint32_t i = 0; i < program->n; i++) {
		draw_node(random, &program->nodes[i]);
		program->jump[i] = (uint32_t)g_rand_int_range(random, 0, (gint32)program->n);
		if (g_rand_int_range(random, 0, 5) == 0)
			program->jumps[i] =
				chances[g_rand_int_range(random, 0, G_N_ELEMENTS(chances))];
		program->leaves[i] = i + 1 == program->n ? 1 : 0;
		if (g_rand_int_range(random, 0, 25) == 0)
			program->leaves[i] = 0.2;
	}
}

/* Which bytes of the load a store has, one by one. */
static int compare_bytes(const LodeMemoryUse *store, const LodeMemoryUse *load)
{
	uint32_t shared = 0;

	for (int64_t at = load->displacement; at < load->displacement + load->size; at++)
		shared += at >= store->displacement && at < store->displacement + store->size;
	if (shared == 0)
		return LODE_N_NEEDS;
	return shared == load->size ? LODE_NEED_STORE : LODE_NEED_PART_STORE;
}

/* trace[0] is executed; before it were trace[−1] … */
static void look_back(Program *program, const uint32_t *trace, uint32_t length, unsigned number)
{
	uint32_t own = trace[0];
	const LodeMemoryUse *load = &program->nodes[own].use.memory;
	double *came = program->came[own][number];

	for (uint32_t i = 1; i <= MIN(length, LODE_NEED_DISTANCE); i++) {
		const LodeDependenceNode *node = &program->nodes[*(trace - i)];
		const LodeRegisterUse *use = &node->use;
		if (!node->is_known)
			return;
		if (number < LODE_N_REGISTER_BITS) {
			for (unsigned need = 0; need < LODE_N_NEEDS; need++)
				came[need] += (use->results >> number & 1) != 0 &&
				              (node->makes >> need & 1) != 0;
			if ((use->kills >> number & 1) != 0)
				return;
			continue;
		}
		if (node->is_call || (use->changes & load->registers) != 0)
			return;
		int found = use->memory.is_store && use->memory.form == load->form
		                    ? compare_bytes(&use->memory, load)
		                    : LODE_N_NEEDS;
		if (found == LODE_N_NEEDS)
			continue;
		came[found]++;
		return;
	}
}

static void interpret(GRand *random, Program *program)
{
	g_autofree uint32_t *trace = g_new(uint32_t, STEPS);
	uint32_t at = 0, entered = 0;

	for (uint32_t step = 0; step < STEPS; step++) {
		const LodeRegisterUse *use = &program->nodes[at].use;
		trace[step] = at;
		program->count[at]++;
		if (step > entered)
			program->passed[trace[step - 1]][at]++;
		for (unsigned r = 0; r < LODE_N_REGISTER_BITS; r++)
			if ((use->reads >> r & 1) != 0)
				look_back(program, trace + step, step - entered, r);
		if (use->memory.is_load)
			look_back(program, trace + step, step - entered, LODE_N_REGISTER_BITS);
		if (g_rand_double(random) < program->leaves[at]) {
			at = 0;
			entered = step + 1;
		} else if (g_rand_double(random) < program->jumps[at]) {
			at = program->jump[at];
		} else {
			at = at + 1 < program->n ? at + 1 : 0;
		}
	}
}

static void search(const Program *program, LodeDependence *out)
{
	LodeDependenceSearch *search = lode_dependence_search_new();
	LodeDependenceWay ways[MAX_NODES * MAX_NODES];
	uint32_t firsts[MAX_NODES + 1] = {0}, n = 0;

	for (uint32_t to = 0; to < program->n; to++) {
		for (uint32_t from = 0; from < program->n; from++)
			if (program->passed[from][to] > 0)
				ways[n++] = (LodeDependenceWay){
					from, program->passed[from][to] / program->count[to]};
		firsts[to + 1] = n;
	}
	lode_dependence_search_run(
		search, &(LodeDependenceGraph){program->nodes, program->n, firsts, ways}, out);
	lode_dependence_search_free(search);
}

/* −1: too near to a half to say, or to what ways that are not followed may take from it. */
static int expected(
	const Program *program, uint32_t node, LodeNeed need, LodeRegisterMask registers)
{
	double most = 0;

	for (unsigned r = 0; r < LODE_N_REGISTER_BITS; r++)
		if ((registers >> r & 1) != 0)
			most = MAX(most, program->came[node][r][need]);
	if (need >= LODE_NEED_STORE && registers == program->nodes[node].use.reads)
		most = program->came[node][LODE_N_REGISTER_BITS][need];
	most /= program->count[node];
	return most > 0.62 ? 1 : most < 0.44 ? 0 : -1;
}

static void test_interpreter(void)
{
	guint n_checked = 0, n_held[LODE_N_NEEDS] = {0}, n_address = 0;
	g_autofree Program *program = g_new(Program, 1);

	for (guint32 seed = 1; seed <= CASES; seed++) {
		GRand *random = g_rand_new_with_seed(soak_seed(seed));
		LodeDependence found[MAX_NODES];
		draw_program(random, program);
		interpret(random, program);
		search(program, found);
		g_rand_free(random);
		for (uint32_t i = 0; i < program->n; i++) {
			const LodeDependenceNode *node = &program->nodes[i];
			for (unsigned need = 0; need < LODE_N_NEEDS; need++) {
				int needs = expected(program, i, need, node->use.reads);
				int address = expected(program, i, need, node->use.address);
				int is_needed = found[i].needs >> need & 1;
				int is_address = found[i].address >> need & 1;
				if (program->count[i] < FEW || !node->is_known)
					continue;
				n_checked++;
				n_held[need] += needs == 1;
				n_address += need < LODE_NEED_STORE && address == 1;
				if ((needs < 0 || needs == is_needed) &&
					(address < 0 || need >= LODE_NEED_STORE ||
						address == is_address))
					continue;
				g_test_message("seed %u, node %u, %s: needs %d, expected %d; "
					       "address %d, expected %d",
					seed, i, lode_need_name(need), is_needed, needs, is_address,
					address);
				g_test_fail();
				return;
			}
		}
	}
	g_assert_cmpuint(n_checked, >, 10000);
	g_assert_cmpuint(n_address, >, 20);
	for (unsigned need = 0; need < LODE_N_NEEDS; need++)
		g_assert_cmpuint(n_held[need], >, 5);
}

/* Nodes in a row, each of which reads what the one before it writes. */
static void make_row(Program *program, uint32_t n)
{
	memset(program, 0, sizeof(*program));
	program->n = n;
	for (uint32_t i = 0; i < n; i++) {
		LodeRegisterUse *use = &program->nodes[i].use;
		program->nodes[i].is_known = true;
		program->nodes[i].is_block_start = i == 0;
		use->reads = use->writes = use->kills = use->results = lode_register_bit(3);
		program->count[i] = 100;
		if (i > 0)
			program->passed[i - 1][i] = 100;
	}
}

static void assert_chains(const Program *program, const char *logarithms)
{
	LodeDependence found[MAX_NODES];
	g_autoptr(GString) text = g_string_new(NULL);

	search(program, found);
	for (uint32_t i = 0; i < program->n; i++)
		g_string_append_c(text, (char)('0' + found[i].chain));
	g_assert_cmpstr(text->str, ==, logarithms);
}

static void test_chains(void)
{
	g_autofree Program *program = g_new(Program, 1);

	make_row(program, 17);
	assert_chains(program, "01122223333333344");
	program->nodes[6].is_block_start = true; /* in no loop */
	assert_chains(program, "01122201122223333");
	for (uint32_t i = 0; i < program->n; i++)
		program->nodes[i].loop_depth = 1; /* in the loop that begins … */
	program->nodes[2].is_loop_head = true;
	assert_chains(program, "01011222233333333");
	program->nodes[2].use = (LodeRegisterUse){0};
	assert_chains(program, "01001122223333333");
	program->nodes[2].loop_depth = 2; /* … in another one, which the way goes through */
	assert_chains(program, "01012222333333334");
	make_row(program, 8);
	program->nodes[4].is_call = true;
	assert_chains(program, "01122011");
	make_row(program, 8);
	program->nodes[4].use.reads = 0;
	assert_chains(program, "01120112");
	make_row(program, 8);
	program->passed[3][4] = 40; /* the rest came from elsewhere */
	assert_chains(program, "01120112");
	/* Around a loop that has no head, once. */
	make_row(program, 3);
	for (uint32_t i = 0; i < 3; i++) {
		program->nodes[i].loop_depth = 1;
		program->nodes[i].is_block_start = false;
	}
	program->passed[2][0] = 99;
	assert_chains(program, "211");
}

/* Distance and shares, at their limits. */
static void test_limits(void)
{
	g_autofree Program *program = g_new(Program, 1);
	LodeDependence found[MAX_NODES];

	make_row(program, LODE_NEED_DISTANCE + 2);
	for (uint32_t i = 0; i < program->n; i++)
		program->nodes[i].use = (LodeRegisterUse){.reads = 1};
	program->nodes[0].use.results = program->nodes[0].use.kills = 1;
	program->nodes[0].makes = 1u << LODE_NEED_DIV;
	search(program, found);
	g_assert_cmpuint(found[LODE_NEED_DISTANCE].needs, ==, 1u << LODE_NEED_DIV);
	g_assert_cmpuint(found[LODE_NEED_DISTANCE + 1].needs, ==, 0);
	program->passed[3][4] = 50;
	search(program, found);
	g_assert_cmpuint(found[8].needs, ==, 1u << LODE_NEED_DIV);
	program->passed[3][4] = 49;
	search(program, found);
	g_assert_cmpuint(found[8].needs, ==, 0);
	g_assert_cmpuint(found[3].needs, ==, 1u << LODE_NEED_DIV);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/dependence_search/interpreter", test_interpreter);
	g_test_add_func("/dependence_search/chains", test_chains);
	g_test_add_func("/dependence_search/limits", test_limits);
	return g_test_run();
}
