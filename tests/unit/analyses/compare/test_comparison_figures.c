/* SPDX-License-Identifier: MIT */
/* Changes are divided into their parts, and told by their standard errors. */
#include "analyses/compare/comparison_figures.h"
#include "seeds.h"

#include <math.h>

/* The parts are the change, whichever profile is the base. */
static void test_divide(void)
{
	for (int i = 0; i < 1000; i++) {
		LodeComparedRow row = {0}, back = {0};
		for (int side = 0; side < 2; side++) {
			LodeComparedSide *one = &row.sides[side];
			one->executed = (LodeEstimate){
				random_int_range(0, 4) * 1e3, random_int_range(0, 100)};
			one->each = (LodeEstimate){
				random_int_range(0, 50) / 7.0, random_int_range(0, 9) / 11.0};
			one->time.value = one->executed.value * one->each.value;
			back.sides[1 - side] = *one;
		}
		lode_compared_row_divide(&row);
		lode_compared_row_divide(&back);
		if (row.sides[0].executed.value + row.sides[1].executed.value == 0) {
			g_assert_true(isnan(row.more_often.value));
			continue;
		}
		g_assert_cmpfloat_with_epsilon(
			row.more_often.value + row.costs_more.value, row.change.value, 1e-6);
		g_assert_cmpfloat_with_epsilon(row.more_often.value, -back.more_often.value, 1e-6);
		g_assert_cmpfloat_with_epsilon(row.costs_more.value, -back.costs_more.value, 1e-6);
		g_assert_cmpfloat(row.more_often.error, >=, 0);
	}
}

static void test_deviations(void)
{
	g_assert_cmpfloat_with_epsilon(lode_comparison_deviations(0), 2, 1e-9);
	g_assert_cmpfloat_with_epsilon(lode_comparison_deviations(1), 2, 1e-9);
	g_assert_cmpfloat_with_epsilon(lode_comparison_deviations(100), 3.50, 0.01);
	g_assert_cmpfloat_with_epsilon(lode_comparison_deviations(1000), 4.07, 0.01);
	g_assert_cmpfloat(lode_comparison_deviations(100000000), <, 8);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/analyses/comparison_figures/divide", test_divide);
	g_test_add_func("/analyses/comparison_figures/deviations", test_deviations);
	return g_test_run();
}
