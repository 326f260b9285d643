/* SPDX-License-Identifier: MIT */
/* The order of a list of sequences, against a sort that compares. */
#include "sample_profile.h"
#include "seeds.h"
#include "views/findings/report_key.h"

#include <stdlib.h>

static double random_value(void)
{
	static const double some[] = {0, -0.0, 1, -1, 0.5, 1e-300, -1e-300, 1e300, -1e300};
	int which = random_int_range(0, 12);

	return which < (int)G_N_ELEMENTS(some) ? some[which] : random_int_range(-1000, 1000) / 7.0;
}

static LodeMiningRun *random_run(guint n)
{
	static const char *const texts[] = {"kind:load", "kind:load > op:add", "op:add kind:load"};
	LodeMiningRun *run = sample_run();

	for (guint i = 0; i < n; i++)
		sample_add_sequence(run, texts[random_int_range(0, G_N_ELEMENTS(texts))],
			random_value(), random_value(), (uint32_t)random_int_range(0, 5));
	return run;
}

static bool comes_before(
	const LodeMiningRun *run, const LodeReportKey *key, uint32_t left, uint32_t right)
{
	double left_value = lode_report_key_value(run, key, left);
	double right_value = lode_report_key_value(run, key, right);
	uint32_t left_items = g_array_index(run->sequences, LodeSequence, left).n_items;
	uint32_t right_items = g_array_index(run->sequences, LodeSequence, right).n_items;

	if (left_value < right_value || left_value > right_value)
		return left_value > right_value;
	return left_items != right_items ? left_items > right_items : left < right;
}

static void check_key(const LodeMiningRun *run, LodeReportKeyKind kind, bool is_reversed)
{
	const LodeReportKey key = {.kind = kind};
	g_autofree uint32_t *indices = g_new(uint32_t, run->sequences->len);
	g_autofree bool *is_seen = g_new0(bool, run->sequences->len);
	size_t n = 0;

	for (uint32_t i = 0; i < run->sequences->len; i++)
		if (random_int_range(0, 4) > 0)
			indices[n++] = i;
	lode_report_key_sort(run, &key, is_reversed, indices, n);
	for (size_t i = 0; i < n; i++) {
		g_assert_cmpuint(indices[i], <, run->sequences->len);
		g_assert_false(is_seen[indices[i]]);
		is_seen[indices[i]] = true;
		if (i > 0)
			g_assert_true(
				is_reversed ? comes_before(run, &key, indices[i], indices[i - 1])
					    : comes_before(run, &key, indices[i - 1], indices[i]));
	}
}

static void test_order(void)
{
	for (unsigned round = 0; round < random_rounds(10, 300); round++) {
		g_autoptr(LodeMiningRun) run = random_run((guint)random_int_range(0, 400));
		for (int is_reversed = 0; is_reversed < 2; is_reversed++) {
			check_key(run, LODE_REPORT_KEY_WEIGHT, is_reversed);
			check_key(run, LODE_REPORT_KEY_EXCESS, is_reversed);
			check_key(run, LODE_REPORT_KEY_PLACES, is_reversed);
		}
	}
}

static void test_none(void)
{
	g_autoptr(LodeMiningRun) run = sample_run();
	const LodeReportKey key = {.kind = LODE_REPORT_KEY_WEIGHT};
	uint32_t index = 3;

	lode_report_key_sort(run, &key, false, &index, 0);
	lode_report_key_sort(run, &key, true, &index, 1);
	g_assert_cmpuint(index, ==, 3);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/report_key/order", test_order, "R02S00000000000000000000000000000001",
		"R02S00000000000000000000000000000002", NULL);
	g_test_add_func("/report_key/none", test_none);
	return g_test_run();
}
