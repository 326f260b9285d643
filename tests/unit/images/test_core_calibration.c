/* SPDX-License-Identifier: MIT */
/* What was measured of a core takes the place of the table's figures. */
#include "images/cores/core_calibration.h"

#include <math.h>

static const char *const processors[] = {"AuthenticAMD,23,49,0", "AuthenticAMD,25,33,0",
	"AuthenticAMD,25,97,2", "AuthenticAMD,26,2,1", "GenuineIntel,6,158,10",
	"GenuineIntel,6,106,6", "GenuineIntel,6,151,2", "GenuineIntel,6,207,2", NULL};

static void set(LodeCoreFigures *figures, LodeCoreFigure figure, double cycles)
{
	figures->of[figure] = (LodeCoreCycles){cycles, cycles, cycles};
}

/* A table that is right stays as it is. */
static void test_right_tables(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(processors); i++) {
		g_autoptr(LodeCore) table = lode_core_new(processors[i]);
		g_autoptr(LodeCore) core = lode_core_new(processors[i]);
		LodeCoreFigures figures = {0};
		for (unsigned k = 0; k < LODE_N_CORE_FIGURES; k++)
			set(&figures, (LodeCoreFigure)k,
				lode_core_table_cycles(table, (LodeCoreFigure)k));
		g_assert_cmpuint(lode_core_calibrate(core, &figures), ==, LODE_N_CORE_FIGURES);
		for (unsigned k = 0; k < LODE_N_CLASSES; k++)
			g_assert_cmpfloat_with_epsilon(
				core->costs[k].latency, table->costs[k].latency, 1e-9);
		g_assert_cmpfloat_with_epsilon(core->forward, table->forward, 1e-9);
		g_assert_cmpfloat_with_epsilon(core->forward_indexed, table->forward_indexed, 1e-9);
		g_assert_cmpfloat_with_epsilon(core->forward_vector, table->forward_vector, 1e-9);
		g_assert_cmpfloat_with_epsilon(core->mispredict, table->mispredict, 1e-9);
	}
}

static void test_none(void)
{
	const LodeCoreFigures none = {0};
	g_autoptr(LodeCore) table = lode_core_new("AuthenticAMD,25,33,0");
	g_autoptr(LodeCore) core = lode_core_new("AuthenticAMD,25,33,0");

	g_assert_cmpuint(lode_core_calibrate(core, &none), ==, 0);
	for (unsigned k = 0; k < LODE_N_CLASSES; k++)
		g_assert_cmpfloat(core->costs[k].latency, ==, table->costs[k].latency);
	g_assert_cmpfloat(core->forward, ==, table->forward);
}

/* Zen 3's table, with which loops of Zen 4 had bounds of two and three times their time. */
static void test_parts(void)
{
	g_autoptr(LodeCore) core = lode_core_new("AuthenticAMD,25,33,0");
	LodeCoreFigures figures = {0};

	g_assert_cmpfloat(core->forward, ==, 7);
	set(&figures, LODE_CORE_STORED, 1.02);
	set(&figures, LODE_CORE_STORED_INDEXED, 3.6);
	set(&figures, LODE_CORE_LOAD, 3.97);
	set(&figures, LODE_CORE_FP_ADD_CHAIN, 2.01);
	set(&figures, LODE_CORE_FP_MUL, 3);
	set(&figures, LODE_CORE_FP_MUL_ADD, 6.06);
	set(&figures, LODE_CORE_STORED_DOUBLE, 12.05);
	set(&figures, LODE_CORE_CONVERT, 8);
	set(&figures, LODE_CORE_CONVERT_INTEGER, 12);
	set(&figures, LODE_CORE_MISPREDICTION, 19.93);
	/* 3 and 3 in the table: either may take the fourth, and so the load before it less */
	set(&figures, LODE_CORE_MOVE_VECTOR, 7);
	set(&figures, LODE_CORE_LOAD_EXTRACT, 13);
	g_assert_cmpuint(lode_core_calibrate(core, &figures), ==, 12);
	g_assert_cmpfloat(core->costs[LODE_CLASS_INSERT].latency, ==, 3);
	g_assert_cmpfloat(core->costs[LODE_CLASS_EXTRACT].latency, ==, 3);
	g_assert_cmpfloat(core->costs[LODE_CLASS_LOAD_VECTOR].latency, ==, 7);
	g_assert_cmpfloat(core->forward, ==, 0);
	g_assert_cmpfloat_with_epsilon(core->forward_indexed, 2.6, 1e-9);
	g_assert_cmpfloat(core->costs[LODE_CLASS_LOAD].latency, ==, 4);
	g_assert_cmpfloat(core->add_after_add, ==, 2);
	g_assert_cmpfloat(core->costs[LODE_CLASS_FP_ADD].latency, ==, 3);
	g_assert_cmpfloat(core->forward_vector, ==, 9);
	g_assert_cmpfloat(core->costs[LODE_CLASS_CONVERT].latency, ==, 4);
	g_assert_cmpfloat(core->costs[LODE_CLASS_CONVERT_FROM_INTEGER].latency, ==, 6);
	g_assert_cmpfloat(core->costs[LODE_CLASS_CONVERT_TO_INTEGER].latency, ==, 6);
	g_assert_cmpfloat(core->mispredict, ==, 15);
}

/* The fastest of several chains with the same parts. */
static void test_least(void)
{
	g_autoptr(LodeCore) core = lode_core_new("AuthenticAMD,25,33,0");
	LodeCoreFigures figures = {0};

	set(&figures, LODE_CORE_STORED, 5);
	set(&figures, LODE_CORE_MODIFIED, 3);
	set(&figures, LODE_CORE_VECTOR_ADD, 1);
	set(&figures, LODE_CORE_STORED_VECTOR, 9);
	set(&figures, LODE_CORE_FP_MUL, 3);
	set(&figures, LODE_CORE_FP_MUL_ADD, 6);
	set(&figures, LODE_CORE_STORED_DOUBLE, 12);
	lode_core_calibrate(core, &figures);
	g_assert_cmpfloat(core->forward, ==, 2);
	g_assert_cmpfloat(core->forward_vector, ==, 8);
}

/* Latencies stay numbers, whatever a recording says. */
static void test_any(void)
{
	GRand *random = g_rand_new_with_seed(20261130);

	for (unsigned round = 0; round < 2000; round++) {
		g_autoptr(LodeCore)
			core = lode_core_new(processors[round % G_N_ELEMENTS(processors)]);
		LodeCoreFigures figures = {0};
		for (unsigned k = 0; k < LODE_N_CORE_FIGURES; k++)
			if (g_rand_boolean(random))
				set(&figures, (LodeCoreFigure)k,
					exp(g_rand_double_range(random, -7, 7)));
		lode_core_calibrate(core, &figures);
		for (unsigned k = 0; k < LODE_N_CLASSES; k++) {
			g_assert_true(isfinite(core->costs[k].latency));
			g_assert_cmpfloat(core->costs[k].latency, >=, 0);
		}
		g_assert_true(core->forward >= 0 && core->forward_indexed >= 0 &&
			      core->forward_vector >= 0 && core->mispredict >= 0);
	}
	g_rand_free(random);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/core_calibration/right-tables", test_right_tables);
	g_test_add_func("/core_calibration/none", test_none);
	g_test_add_func("/core_calibration/parts", test_parts);
	g_test_add_func("/core_calibration/least", test_least);
	g_test_add_func("/core_calibration/any", test_any);
	return g_test_run();
}
