/* SPDX-License-Identifier: MIT */
/* Comparisons of sorts, by stacks that reach to the sort, and by tops that do not. */
#include "analyses/calls/sort_comparisons.h"
#include "called_profile.h"
#include "made_profile.h"
#include "model/lines/own_lines.h"
#include "model/stacks.h"

#define OWN "/home/me/program"
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define HEADER "/usr/include/c++/12/bits/stl_algo.h"

enum { MAIN, SORT, PASSED_ON, LESS, KEY, MOVE, OTHER, MALLOC, N_FUNCTIONS };

static const CalledFunction functions[N_FUNCTIONS] = {
	[MAIN] = {"main", OWN, "main.cc", 10},
	[SORT] = {"void std::__introsort_loop<int*>(int*)", OWN, HEADER, 1},
	[PASSED_ON] = {"operator()<int*>", OWN, HEADER, 2},
	[LESS] = {"before(A const&, A const&)", OWN, "main.cc", 20},
	[KEY] = {"key(A const&)", OWN, "main.cc", 30},
	[MOVE] = {"A::operator=(A const&)", OWN, "main.cc", 5},
	[OTHER] = {"std::find_if<int*>(int*)", OWN, HEADER, 3},
	[MALLOC] = {"malloc", LIBC, NULL, 0},
};

/* `by_main`: samples in key() that main() calls. Stacks of malloc end at key(). */
static LodeProfile *sorting_profile(guint by_main, uint32_t sort)
{
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);

	profile->stacks = lode_stacks_new();
	profile->stacks->has_tops = true;
	uint32_t in_main = add_stack(profile, MAIN, 10, LODE_NONE);
	uint32_t in_sort = add_stack(profile, sort, 1, in_main);
	uint32_t less = add_stack(profile, LESS, 20, add_stack(profile, PASSED_ON, 2, in_sort));
	uint32_t alone = add_stack(profile, KEY, 30, LODE_NONE);
	add_samples(profile, in_sort, 7);
	add_samples(profile, less, 10);
	add_samples(profile, add_stack(profile, KEY, 30, less), 6);
	add_samples(profile, add_stack(profile, MOVE, 5, in_sort), 9);
	add_samples(profile, add_stack(profile, MALLOC, 0, alone), 14);
	if (by_main > 0)
		add_samples(profile, add_stack(profile, KEY, 30, in_main), by_main);
	return profile;
}

static void check(LodeProfile *profile, double cost, bool has_key)
{
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	g_auto(LodeSortComparisons) found = {0};

	lode_sort_comparisons_init(&found, costs, own);
	g_assert_cmpfloat(found.cost, ==, cost);
	g_assert_cmpuint(found.lines->len, ==, cost > 0);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		g_assert_cmpint(
			found.is_of[i], ==, cost > 0 && (i == LESS || (i == KEY && has_key)));
	if (cost > 0) {
		const LodeSortComparison *line = &g_array_index(found.lines, LodeSortComparison, 0);
		g_assert_cmpuint(line->function, ==, LESS);
		g_assert_cmpuint(line->line, ==, 20);
		g_assert_cmpfloat(line->cost, ==, cost);
	}
}

static void test_found(void)
{
	g_autoptr(LodeProfile) alone = sorting_profile(0, SORT);
	g_autoptr(LodeProfile) once = sorting_profile(1, SORT);
	g_autoptr(LodeProfile) often = sorting_profile(6, SORT);
	g_autoptr(LodeProfile) other = sorting_profile(0, OTHER);

	/* A sample weighs 10. */
	check(alone, 300, true);
	check(once, 310, true);
	check(often, 160, false);
	check(other, 0, false);
}

static void test_nothing(void)
{
	g_autoptr(LodeProfile) profile = called_profile_new(functions, N_FUNCTIONS);

	check(profile, 0, false);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sort_comparisons/found", test_found);
	g_test_add_func("/sort_comparisons/nothing", test_nothing);
	return g_test_run();
}
