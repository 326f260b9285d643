/* SPDX-License-Identifier: MIT */
#include "model/findings.h"
#include "model/profile.h"

static void add(LodeFindings *self, double each, const LodeFindingPlace *places, uint32_t n)
{
	LodeFinding one = {.each = each, .first_place = self->places->len, .n_places = n};

	g_array_append_vals(self->places, places, n);
	g_array_append_val(self->findings, one);
}

/* Of ⟪load⟫ at 1, 2, 3 and 4, ⟪load, miss⟫ at 1 and 2, and ⟪div⟫ at 7. */
static void test_each_in_all(void)
{
	const LodeFindingPlace loads[] = {{1, 0.1}, {2, 0.1}, {3, 0.1}, {4, 0.1}};
	const LodeFindingPlace misses[] = {{2, 0.2}, {1, 0.2}};
	const LodeFindingPlace divisions[] = {{7, 0.1}};
	g_autoptr(LodeFindings) all = lode_findings_new();
	uint32_t other;

	add(all, 3, loads, G_N_ELEMENTS(loads));
	add(all, 6, misses, G_N_ELEMENTS(misses));
	add(all, 9, divisions, G_N_ELEMENTS(divisions));
	add(all, 5, NULL, 0);
	/* Half of the loads cost 6 more. */
	g_assert_cmpfloat_with_epsilon(lode_finding_each_in_all(all, 0, &other), 6, 1e-9);
	g_assert_cmpuint(other, ==, 1);
	g_assert_cmpfloat_with_epsilon(lode_finding_each_in_all(all, 1, &other), 9, 1e-9);
	g_assert_cmpuint(other, ==, 0);
	g_assert_cmpfloat(lode_finding_each_in_all(all, 2, &other), ==, 9);
	g_assert_cmpuint(other, ==, LODE_NONE);
	g_assert_cmpfloat(lode_finding_each_in_all(all, 3, &other), ==, 5);
	g_assert_cmpuint(other, ==, LODE_NONE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/findings/each-in-all", test_each_in_all);
	return g_test_run();
}
