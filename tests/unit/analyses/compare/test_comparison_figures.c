/* SPDX-License-Identifier: MIT */
/* Changes are divided into their parts, and told by their standard errors. */
#include "analyses/compare/comparison_figures.h"
#include "machine/machine_figures.h"
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

static LodeMachineSpeed machine(double chain_ns, double walk_ns)
{
	return (LodeMachineSpeed){.runs = 100,
		.chain_ns = chain_ns,
		.walk_ns = walk_ns,
		.steal = 0.01,
		.others = 0.2};
}

static void test_speed(void)
{
	LodeMachineSpeed base = machine(0.25, 3), other = machine(0.30, 3.6), none = {0};
	LodeSpeed speed;

	/* Both take a fifth longer. */
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &other}, true, &speed);
	g_assert_true(speed.is_measured && speed.is_different);
	g_assert_cmpfloat_with_epsilon(speed.factor, 1.2, 1e-9);
	double least = speed.error;
	g_assert_cmpfloat(least, <, 0.03);
	/* A factor within its error is none. */
	other = machine(0.252, 3.02);
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &other}, true, &speed);
	g_assert_true(speed.is_measured && !speed.is_different);
	g_assert_cmpfloat_with_epsilon(speed.factor, 1, 1e-9);
	/* They disagree, others had the processors, or the hypervisor: less is known. */
	other = machine(0.25, 3.6);
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &other}, true, &speed);
	g_assert_cmpfloat(speed.error, >=, log(1.2) / 2);
	/* The one that scatters counts for little. */
	other.walk_scatter = 2;
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &other}, true, &speed);
	g_assert_cmpfloat(speed.error, <, 0.03);
	g_assert_false(speed.is_different);
	other = machine(0.25, 3);
	other.others = 0.9;
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &other}, true, &speed);
	g_assert_cmpfloat(speed.error, >, 5 * least);
	other.others = base.others;
	other.steal = 0.3;
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &other}, true, &speed);
	g_assert_cmpfloat(speed.error, >, 5 * least);
	/* Not measured in one, nothing sampled, absurd. */
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &none}, true, &speed);
	g_assert_false(speed.is_measured);
	g_assert_true(isnan(speed.others[1]));
	g_assert_cmpfloat_with_epsilon(speed.factor, 1, 1e-9);
	g_assert_cmpfloat(speed.error, >, 0);
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &base}, false, &speed);
	g_assert_cmpfloat_with_epsilon(speed.error, 0, 1e-9);
	other = machine(0, 1e300);
	lode_speed_find((const LodeMachineSpeed *const[]){&base, &other}, true, &speed);
	g_assert_false(speed.is_measured);
}

/* What takes no time any more is gone at whatever speed. */
static void test_exceeded(void)
{
	const LodeSpeed unknown = {.factor = 1, .error = 0.5};
	const LodeSpeed slower = {.factor = 1.3, .error = 0.02};
	const LodeEstimate ten = {10, 0.1}, thirteen = {13, 0.1}, none = {0, 0.1};

	g_assert_true(lode_speed_is_exceeded(&unknown, ten, none, 4));
	g_assert_true(lode_speed_is_exceeded(&unknown, none, ten, 4));
	g_assert_false(lode_speed_is_exceeded(&unknown, ten, thirteen, 4));
	g_assert_false(lode_speed_is_exceeded(&slower, ten, thirteen, 4));
	g_assert_true(lode_speed_is_exceeded(&slower, ten, (LodeEstimate){16, 0.1}, 4));
	g_assert_false(lode_speed_is_exceeded(&slower, ten, ten, 4));
	g_assert_true(lode_speed_is_exceeded(&slower, ten, (LodeEstimate){8, 0.1}, 4));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/analyses/comparison_figures/divide", test_divide);
	g_test_add_func("/analyses/comparison_figures/deviations", test_deviations);
	g_test_add_func("/analyses/comparison_figures/speed", test_speed);
	g_test_add_func("/analyses/comparison_figures/exceeded", test_exceeded);
	return g_test_run();
}
