/* SPDX-License-Identifier: MIT */
/* That slices have the part of the time that the budget affords, however late they are looked at.
 */
#include "record/budgets/budgets.h"

typedef struct {
	double part, weight; /* of the time; of all samples, over the time */
	unsigned n_slices;
} Outcome;

/* A program that runs for `seconds`; lode looks when it is due, and up to `late_us` later. */
static Outcome run(const LodeSliceCosts *costs, double switches, int seconds, gint32 late_us)
{
	LodeSampleSlices slices;
	const gint64 begin_us = 1000, end_us = begin_us + (gint64)seconds * G_USEC_PER_SEC;
	gint64 now_us = begin_us;
	Outcome out = {0};
	bool is_on = false;

	lode_sample_slices_init(&slices, now_us);
	while (now_us < end_us) {
		gint64 due_us = MAX(lode_sample_slices_due_us(&slices), now_us + 1);
		gint64 next_us = MIN(due_us, now_us + 250000) + g_random_int_range(0, late_us + 1);
		/* drained before the next look changes what it stands for */
		out.part += is_on ? (double)(next_us - now_us) : 0;
		out.weight += is_on ? (double)(next_us - now_us) / slices.part : 0;
		now_us = next_us;
		bool was_on = is_on;
		is_on = lode_sample_slices_update(&slices, costs, switches, now_us);
		out.n_slices += is_on && !was_on;
	}
	out.part /= (double)(end_us - begin_us);
	out.weight /= (double)(end_us - begin_us);
	return out;
}

static void test_parts(void)
{
	static const LodeSliceCosts costs = {4000, 45e3, 0.03};
	static const struct {
		double switches, part;
	} cases[] = {{3000, 0.145}, {20000, 0.0833}, {100000, 0.0278}, {1e7, 0.01}};
	static const gint32 late_us[] = {0, 1000, 30000};

	g_random_set_seed(1);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		for (size_t k = 0; k < G_N_ELEMENTS(late_us); k++) {
			Outcome out = run(&costs, cases[i].switches, 400, late_us[k]);
			g_assert_cmpfloat_with_epsilon(
				out.part, cases[i].part, 0.05 * cases[i].part);
			g_assert_cmpfloat_with_epsilon(out.weight, 1, 0.05);
			g_assert_cmpuint(out.n_slices, >, 200);
		}
}

/* Where samples cost next to nothing, there is one slice. */
static void test_cheap(void)
{
	static const LodeSliceCosts costs = {4000, 100, 0.03};
	Outcome out = run(&costs, 100, 10, 0);

	g_assert_cmpfloat(out.part, >, 0.99);
	g_assert_cmpuint(out.n_slices, ==, 1);
}

/* What was sampled otherwise is not made up for, and a clock that goes back counts as none. */
static void test_skipped(void)
{
	static const LodeSliceCosts costs = {4000, 45e3, 0.03};
	LodeSampleSlices slices;

	lode_sample_slices_init(&slices, 1000);
	g_assert_false(lode_sample_slices_update(&slices, &costs, 100000, 1000));
	lode_sample_slices_skip(&slices, 100 * G_USEC_PER_SEC);
	g_assert_false(
		lode_sample_slices_update(&slices, &costs, 100000, 100 * G_USEC_PER_SEC + 1000));
	g_assert_false(lode_sample_slices_update(&slices, &costs, 100000, 5));
	g_assert_cmpfloat(slices.passed_us, ==, 1000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/sample-slices/parts", test_parts);
	g_test_add_func("/record/sample-slices/cheap", test_cheap);
	g_test_add_func("/record/sample-slices/skipped", test_skipped);
	return g_test_run();
}
