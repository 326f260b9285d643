/* SPDX-License-Identifier: MIT */
/*
 * Costs with all that is called: against examples worked out by hand, and on random stacks against
 * a naive way that walks each sample's stack; and stacks of a profile that means harm.
 */
#include "analyses/calls/function_families.h"
#include "made_profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

enum { MAIN, OFTEN, SELDOM, WORK, N_KNOWN, CALLED = N_KNOWN };

static const char *const known_names[N_KNOWN] = {"main", "often", "seldom", "work"};

/* Functions of one instruction, in an image "program", whose event is "clock". */
static LodeProfile *profile_of(const char *const *names, guint n)
{
	LodeProfile *profile = made_profile("clock", LODE_EVENT_SAMPLED, "program");

	profile->stacks = lode_stacks_new();
	for (guint i = 0; i < n; i++)
		made_small_function(profile, names[i], 0);
	return profile;
}

/* A stack of one of the functions. */
static uint32_t add_stack(LodeProfile *profile, uint32_t function, uint32_t outer)
{
	return made_stack(profile, made_frame(profile, function), outer);
}

/* A stack of code that no function of the profile is. */
static uint32_t add_named_stack(
	LodeProfile *profile, const char *name, const char *image, bool is_inlined, uint32_t outer)
{
	const LodeFrame frame = {
		.function = (char *)name, .image = (char *)image, .is_inlined = is_inlined};

	return made_stack(profile, frame, outer);
}

static void add_samples(LodeProfile *profile, uint32_t stack, guint n)
{
	for (guint i = 0; i < n; i++)
		made_sample(profile, stack, 10);
}

static uint32_t find(const LodeFunctionCosts *costs, const char *name)
{
	for (uint32_t i = 0; i < costs->functions->len; i++)
		if (strcmp(lode_function_cost_at(costs, i)->name, name) == 0)
			return i;
	g_assert_not_reached();
}

static double inclusive_of(const LodeFunctionCosts *costs, const char *name)
{
	return lode_function_cost_at(costs, find(costs, name))->inclusive;
}

/* "often 60, seldom 30": names and costs. */
static char *shares_text(const LodeFunctionCosts *costs, const GArray *shares)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < shares->len; i++) {
		const LodeCallShare *one = &g_array_index(shares, LodeCallShare, i);
		g_string_append_printf(text, "%s%s %g", i > 0 ? ", " : "",
			lode_function_cost_at(costs, one->function)->name, one->cost);
	}
	return g_string_free(text, FALSE);
}

static void check_neighbours(const LodeFunctionCosts *costs, const char *name, bool has_own_callers,
	const char *callers, const char *callees)
{
	g_autofree bool *is_marked = g_new0(bool, costs->functions->len);
	g_auto(LodeNeighbours) found = {0};

	is_marked[find(costs, name)] = true;
	lode_neighbours_init(&found, costs, is_marked, has_own_callers);
	g_autofree char *got_callers = shares_text(costs, found.callers);
	g_autofree char *got_callees = shares_text(costs, found.callees);
	g_assert_cmpstr(got_callers, ==, callers);
	g_assert_cmpstr(got_callees, ==, callees);
}

/* Of 100 samples 60 through often(), 30 through seldom(), 10 through a function inlined in main().
 */
static void test_known_tree(void)
{
	g_autoptr(LodeProfile) profile = profile_of(known_names, N_KNOWN);
	uint32_t start = add_named_stack(profile, "_start", "program", false, LODE_NONE);
	uint32_t main_stack = add_stack(profile, MAIN, start);
	uint32_t inlined = add_named_stack(profile, "inlined", "program", true, main_stack);

	add_samples(profile, add_stack(profile, WORK, add_stack(profile, OFTEN, main_stack)), 6);
	add_samples(profile, add_stack(profile, WORK, add_stack(profile, SELDOM, main_stack)), 3);
	add_samples(profile, add_stack(profile, WORK, inlined), 1);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpint(costs->source, ==, LODE_CALLS_FROM_STACKS);
	g_assert_false(lode_function_costs_are_short(costs));
	g_assert_cmpfloat(inclusive_of(costs, "_start"), ==, 100);
	g_assert_cmpfloat(inclusive_of(costs, "main"), ==, 100);
	g_assert_cmpfloat(inclusive_of(costs, "often"), ==, 60);
	g_assert_cmpfloat(inclusive_of(costs, "seldom"), ==, 30);
	g_assert_cmpfloat(inclusive_of(costs, "inlined"), ==, 10);
	g_assert_cmpfloat(lode_function_cost_at(costs, WORK)->samples, ==, 10);
	check_neighbours(costs, "work", false, "often 60, seldom 30, inlined 10", "");
	check_neighbours(costs, "main", false, "_start 100", "often 60, seldom 30, inlined 10");
	check_neighbours(costs, "inlined", false, "main 10", "work 10");
}

/* main() calls work() through a library of the system and a header of the toolchain, often() calls
 * it directly. */
static void test_own_callers(void)
{
	g_autoptr(LodeProfile) profile = profile_of(known_names, N_KNOWN);
	uint32_t main_stack = add_stack(profile, MAIN, LODE_NONE);
	uint32_t library = add_named_stack(
		profile, "qsort", "/usr/lib/x86_64-linux-gnu/libc.so.6", false, main_stack);
	uint32_t header = add_named_stack(profile, "std::less", "program", true, library);

	LODE_AT(profile->stacks->frames, LodeFrame, profile->stacks->frames->len - 1).file =
		lode_profile_intern(profile, "/usr/include/c++/12/bits/stl_function.h");
	add_samples(profile, add_stack(profile, WORK, header), 6);
	add_samples(profile, add_stack(profile, WORK, add_stack(profile, OFTEN, main_stack)), 3);
	add_samples(profile, add_stack(profile, WORK, LODE_NONE), 1);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	check_neighbours(costs, "work", false, "std::less 60, often 30", "");
	check_neighbours(costs, "work", true, "main 60, often 30", "");
	check_neighbours(costs, "qsort", true, "main 60", "std::less 60");
}

/* A sample counts once for each function, and for each pair of caller and callee. */
static void test_recursion(void)
{
	g_autoptr(LodeProfile) profile = profile_of(known_names, N_KNOWN);
	uint32_t stack = add_stack(profile, MAIN, LODE_NONE);

	for (int i = 0; i < 50; i++)
		stack = add_stack(profile, i % 3 < 2 ? WORK : OFTEN, stack);
	add_samples(profile, stack, 2);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpfloat(inclusive_of(costs, "work"), ==, 20);
	g_assert_cmpfloat(inclusive_of(costs, "often"), ==, 20);
	check_neighbours(costs, "work", false, "main 20, often 20, work 20", "often 20, work 20");
}

/* Both a stub that was sampled and one that is on the way. */
static void test_stub(void)
{
	static const char *const names[] = {"main", "malloc@plt", "malloc"};
	g_autoptr(LodeProfile) profile = profile_of(names, 3);
	uint32_t stub = add_stack(profile, 1, add_stack(profile, 0, LODE_NONE));

	add_samples(profile, stub, 1);
	add_samples(profile, add_stack(profile, 2, stub), 3);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	check_neighbours(costs, "malloc", false, "main 30", "");
	check_neighbours(costs, "malloc@plt", false, "main 40", "");
	check_neighbours(costs, "main", false, "", "malloc@plt 40, malloc 30");
}

static void test_short_stacks(void)
{
	g_autoptr(LodeProfile) profile = profile_of(known_names, N_KNOWN);
	uint32_t alone = add_stack(profile, WORK, LODE_NONE);

	add_samples(profile, add_stack(profile, WORK, add_stack(profile, MAIN, LODE_NONE)), 2);
	add_samples(profile, alone, 1);
	/* The kernel is entered from one function; what is inlined is part of one. */
	add_samples(profile,
		add_named_stack(profile, "do_syscall_64", "[kernel]", false,
			add_named_stack(profile, "inlined", "program", true, alone)),
		2);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpfloat(costs->samples, ==, 5);
	g_assert_cmpfloat(costs->alone, ==, 3);
	g_assert_true(lode_function_costs_are_short(costs));
}

/* Samples without calls: of each function they are known, inclusive costs are not. */
static void test_no_calls(void)
{
	g_autoptr(LodeProfile) profile = profile_of(known_names, N_KNOWN);

	add_samples(profile, add_stack(profile, WORK, LODE_NONE), 7);
	/* A row may stand for several samples. */
	LODE_AT(profile->stacks->samples, LodeStackSample, 3).n_more = 4;
	profile->stacks->has_chains = false;
	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpint(costs->source, ==, LODE_CALLS_UNKNOWN);
	g_assert_true(isnan(inclusive_of(costs, "work")));
	g_assert_cmpfloat(lode_function_cost_at(costs, WORK)->samples, ==, 11);
	check_neighbours(costs, "work", false, "", "");
}

/* --- random stacks --- */

enum { MOST_STACKS = 60, MOST_FUNCTIONS = 7 };

static uint32_t function_of(const LodeProfile *profile, uint32_t stack)
{
	uint32_t frame = LODE_AT(profile->stacks->stacks, LodeStack, stack).frame;

	return (uint32_t)(LODE_AT(profile->stacks->frames, LodeFrame, frame).address / 16) - 1;
}

/* Each function and each pair counts once for a sample. */
static void add_naively(
	const LodeProfile *profile, const LodeStackSample *sample, double *inclusive, double *pairs)
{
	bool is_there[MOST_FUNCTIONS] = {0}, is_pair[MOST_FUNCTIONS * MOST_FUNCTIONS] = {0};

	for (uint32_t at = sample->stack; at != LODE_NONE;) {
		uint32_t outer = LODE_AT(profile->stacks->stacks, LodeStack, at).outer;
		is_there[function_of(profile, at)] = true;
		if (outer != LODE_NONE)
			is_pair[function_of(profile, outer) * MOST_FUNCTIONS +
				function_of(profile, at)] = true;
		at = outer;
	}
	for (guint i = 0; i < MOST_FUNCTIONS; i++)
		inclusive[i] += is_there[i] ? sample->weight : 0;
	for (guint i = 0; i < MOST_FUNCTIONS * MOST_FUNCTIONS; i++)
		pairs[i] += is_pair[i] ? sample->weight : 0;
}

static LodeProfile *random_profile(void)
{
	static const char *const names[MOST_FUNCTIONS] = {"a", "b", "c", "d", "e", "f", "g"};
	LodeProfile *profile = profile_of(names, MOST_FUNCTIONS);
	guint n = (guint)random_int_range(1, MOST_STACKS);

	for (guint i = 0; i < n; i++)
		add_stack(profile, (uint32_t)random_int_range(0, MOST_FUNCTIONS),
			i > 0 && random_int_range(0, 5) > 0
				? (uint32_t)random_int_range(0, (gint32)i)
				: LODE_NONE);
	for (guint i = 0; i < 2 * n; i++)
		add_samples(profile, (uint32_t)random_int_range(0, (gint32)n), 1);
	return profile;
}

static void check_random(void)
{
	g_autoptr(LodeProfile) profile = random_profile();
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	double inclusive[MOST_FUNCTIONS] = {0}, pairs[MOST_FUNCTIONS * MOST_FUNCTIONS] = {0};

	for (guint i = 0; i < profile->stacks->samples->len; i++)
		add_naively(profile, &LODE_AT(profile->stacks->samples, LodeStackSample, i),
			inclusive, pairs);
	for (uint32_t i = 0; i < MOST_FUNCTIONS; i++) {
		bool is_marked[MOST_FUNCTIONS] = {0};
		g_auto(LodeNeighbours) found = {0};
		double by_caller[MOST_FUNCTIONS] = {0}, by_callee[MOST_FUNCTIONS] = {0};
		g_assert_cmpfloat(lode_function_cost_at(costs, i)->inclusive, ==, inclusive[i]);
		is_marked[i] = true;
		lode_neighbours_init(&found, costs, is_marked, false);
		g_assert_cmpfloat(found.inclusive, ==, inclusive[i]);
		for (guint j = 0; j < found.callers->len; j++) {
			const LodeCallShare *one = &g_array_index(found.callers, LodeCallShare, j);
			by_caller[one->function] = one->cost;
			g_assert_cmpfloat(one->samples, ==, one->cost / 10);
		}
		for (guint j = 0; j < found.callees->len; j++) {
			const LodeCallShare *one = &g_array_index(found.callees, LodeCallShare, j);
			by_callee[one->function] = one->cost;
		}
		for (uint32_t j = 0; j < MOST_FUNCTIONS; j++) {
			g_assert_cmpfloat(by_caller[j], ==, pairs[j * MOST_FUNCTIONS + i]);
			g_assert_cmpfloat(by_callee[j], ==, pairs[i * MOST_FUNCTIONS + j]);
		}
	}
}

static void test_random(void)
{
	for (unsigned i = random_rounds(200, 20000); i > 0; i--)
		check_random();
}

/* --- harm --- */

/* The store allows 4,096 frames; whoever makes stacks otherwise gets an answer, too. */
static void test_deep(void)
{
	enum { DEEP = 1000000 };
	g_autoptr(LodeProfile) profile = profile_of(known_names, N_KNOWN);
	uint32_t stack = LODE_NONE;

	for (guint i = 0; i < DEEP; i++)
		stack = add_stack(profile, i % N_KNOWN, stack);
	add_samples(profile, stack, 1);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	for (uint32_t i = 0; i < N_KNOWN; i++)
		g_assert_cmpfloat(lode_function_cost_at(costs, i)->inclusive, ==, 10);
	check_neighbours(costs, "main", false, "work 10", "often 10");
}

/* The ways outward lead in circles. */
static void test_circle(void)
{
	g_autoptr(LodeProfile) profile = profile_of(known_names, N_KNOWN);

	add_stack(profile, MAIN, 2);
	add_stack(profile, OFTEN, 1);
	add_stack(profile, WORK, 0);
	add_samples(profile, 2, 1);
	add_samples(profile, 77, 1);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpfloat(inclusive_of(costs, "main"), ==, 10);
	check_neighbours(costs, "work", false, "main 10", "");
}

static void test_long_name(void)
{
	enum { LONG = 10 << 20 };
	g_autofree char *name = g_strnfill(LONG, '(');
	g_autoptr(LodeProfile) profile = profile_of(known_names, N_KNOWN);
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autofree uint32_t *of = NULL;

	add_samples(profile, add_named_stack(profile, name, name, false, LODE_NONE), 1);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_autoptr(GArray) found = lode_families_costs(families, costs, &of);
	g_assert_cmpfloat(inclusive_of(costs, name), ==, 10);
	g_assert_cmpuint(found->len, ==, 0);
}

/* --- counted calls --- */

static void add_edge(
	LodeProfile *profile, uint32_t source, uint32_t target, LodeEdgeKind kind, double count)
{
	made_edge(profile, source, target, kind, count);
	lode_profile_instruction(profile, target)->count += count;
}

/* In the order of instructions. */
static void add_cost(LodeProfile *profile, uint32_t instruction, double value)
{
	const LodeCost cost = {0, value};

	g_array_append_val(profile->code.costs, cost);
	for (uint32_t i = instruction + 1; i < profile->code.cost_starts->len; i++)
		LODE_AT(profile->code.cost_starts, uint32_t, i) = profile->code.costs->len;
}

static LodeProfile *counted_profile(const char *const *names, guint n)
{
	LodeProfile *profile = profile_of(names, n);

	lode_stacks_free(profile->stacks);
	profile->stacks = NULL;
	profile->run.frequency = LODE_FREQUENCY_EXACT;
	return profile;
}

/* Six calls of work by often(), three by seldom() and one by main(). */
static void test_counted_tree(void)
{
	g_autoptr(LodeProfile) profile = counted_profile(known_names, N_KNOWN);

	add_cost(profile, WORK, 100);
	add_edge(profile, MAIN, OFTEN, LODE_EDGE_CALL, 1);
	add_edge(profile, MAIN, SELDOM, LODE_EDGE_CALL, 1);
	add_edge(profile, MAIN, WORK, LODE_EDGE_CALL, 1);
	add_edge(profile, OFTEN, WORK, LODE_EDGE_CALL, 6);
	add_edge(profile, SELDOM, WORK, LODE_EDGE_CALL, 3);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpint(costs->source, ==, LODE_CALLS_FROM_COUNTS);
	g_assert_cmpfloat(inclusive_of(costs, "main"), ==, 100);
	g_assert_cmpfloat(inclusive_of(costs, "often"), ==, 60);
	g_assert_cmpfloat(inclusive_of(costs, "seldom"), ==, 30);
	check_neighbours(costs, "work", false, "often 60, seldom 30, main 10", "");
	check_neighbours(costs, "main", false, "", "often 60, seldom 30, work 10");
}

/* Inferred counts say nothing about who called. */
static void test_inferred_calls(void)
{
	g_autoptr(LodeProfile) profile = counted_profile(known_names, N_KNOWN);

	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	add_cost(profile, WORK, 100);
	add_edge(profile, MAIN, WORK, LODE_EDGE_CALL, 1);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpint(costs->source, ==, LODE_CALLS_UNKNOWN);
}

/*
 * main and sort call compare through its stub, at first through the dynamic linker; sort was called
 * once. Were the linker's jumps calls, sort and compare would be one cycle.
 */
static void test_bound_functions(void)
{
	enum { TOP, SORT_STUB, STUB, FIRST_STUB, BINDER, SORT, COMPARE, N };
	static const char *const names[N] = {"main", "sort@plt", "compare@plt", "fn_1020",
		"_dl_runtime_resolve_xsave", "sort", "compare"};
	static const uint8_t first_stub[] = {0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4};
	g_autoptr(LodeProfile) profile = counted_profile(names, N);

	lode_profile_function(profile, FIRST_STUB)->source = LODE_FUNCTION_UNWIND;
	lode_profile_function(profile, FIRST_STUB)->code = g_bytes_new_static(
		first_stub, sizeof(first_stub));
	add_cost(profile, SORT, 40);
	add_cost(profile, COMPARE, 100);
	add_edge(profile, TOP, SORT_STUB, LODE_EDGE_CALL, 1);
	add_edge(profile, TOP, STUB, LODE_EDGE_CALL, 20);
	add_edge(profile, SORT_STUB, FIRST_STUB, LODE_EDGE_JUMP, 1);
	add_edge(profile, STUB, FIRST_STUB, LODE_EDGE_CALL, 1);
	add_edge(profile, STUB, COMPARE, LODE_EDGE_JUMP, 99);
	add_edge(profile, FIRST_STUB, BINDER, LODE_EDGE_JUMP, 2);
	add_edge(profile, BINDER, SORT, LODE_EDGE_CALL, 1);
	add_edge(profile, BINDER, COMPARE, LODE_EDGE_JUMP, 1);
	add_edge(profile, SORT, STUB, LODE_EDGE_CALL, 80);
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpfloat(inclusive_of(costs, "main"), ==, 140);
	g_assert_cmpfloat(inclusive_of(costs, "sort"), ==, 120);
	g_assert_cmpfloat(inclusive_of(costs, "_dl_runtime_resolve_xsave"), ==, 0);
	check_neighbours(costs, "sort", false, "main 120", "compare 80");
	check_neighbours(costs, "main", false, "", "sort 120, compare 20");
	check_neighbours(costs, "compare", false, "sort 80, main 20", "");
}

/* A stub with as many callers as callees: each is looked at once. */
static void test_many_calls_of_stub(void)
{
	enum { MANY = 100000, TOP = 0, STUB, BEYOND };
	static const char *const names[] = {"main", "work@plt", "work"};
	g_autoptr(LodeProfile) profile = counted_profile(names, G_N_ELEMENTS(names));

	add_cost(profile, BEYOND, 100);
	for (int i = 0; i < MANY; i++) {
		add_edge(profile, TOP, STUB, LODE_EDGE_CALL, 1);
		add_edge(profile, STUB, BEYOND, LODE_EDGE_JUMP, 1);
	}
	for (uint32_t i = 0; i < 2; i++)
		lode_profile_instruction(profile, i)->count = 1;
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	check_neighbours(costs, "work", true, "main 100", "");
	check_neighbours(costs, "main", true, "", "work 100");
}

/* A call that two threads seem to have made would make a cycle of work and often. */
static void test_rare_call(void)
{
	g_autoptr(LodeProfile) profile = counted_profile(known_names, N_KNOWN);

	add_cost(profile, MAIN, 50);
	add_cost(profile, WORK, 100);
	add_edge(profile, MAIN, OFTEN, LODE_EDGE_CALL, 10000);
	add_edge(profile, OFTEN, WORK, LODE_EDGE_CALL, 10000);
	add_edge(profile, WORK, OFTEN, LODE_EDGE_CALL, 5);
	/* Of a place that is called seldom, each call counts. */
	add_edge(profile, SELDOM, OFTEN, LODE_EDGE_CALL, 5);
	lode_profile_instruction(profile, SELDOM)->count = 5;
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_assert_cmpfloat(inclusive_of(costs, "work"), ==, 100);
	g_assert_cmpfloat(inclusive_of(costs, "often"), ==, 100);
	g_assert_cmpfloat_with_epsilon(inclusive_of(costs, "seldom"), 100 * 5.0 / 10005, 1e-9);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/function_costs/known_tree", test_known_tree);
	g_test_add_func("/function_costs/own_callers", test_own_callers);
	g_test_add_func("/function_costs/recursion", test_recursion);
	g_test_add_func("/function_costs/stub", test_stub);
	g_test_add_func("/function_costs/short_stacks", test_short_stacks);
	g_test_add_func("/function_costs/no_calls", test_no_calls);
	add_random_test("/function_costs/random", test_random,
		"R02S00000000000000000000000000000001", "R02S0000000000000000000000000000002a",
		NULL);
	g_test_add_func("/function_costs/deep", test_deep);
	g_test_add_func("/function_costs/circle", test_circle);
	g_test_add_func("/function_costs/long_name", test_long_name);
	g_test_add_func("/function_costs/counted_tree", test_counted_tree);
	g_test_add_func("/function_costs/inferred_calls", test_inferred_calls);
	g_test_add_func("/function_costs/bound_functions", test_bound_functions);
	g_test_add_func("/function_costs/many_calls_of_stub", test_many_calls_of_stub);
	g_test_add_func("/function_costs/rare_call", test_rare_call);
	return g_test_run();
}
