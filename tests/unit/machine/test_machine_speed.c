/* SPDX-License-Identifier: MIT */
/* The machine's speed, with a /proc that the test writes. */
#include "machine/machine_speed.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

static char *proc;

/* user nice system idle iowait irq softirq steal, in ticks of the clock. */
static void write_stat(const char *text)
{
	g_autofree char *path = g_build_filename(proc, "stat", NULL);

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static LodeMachineSpeed measure(const char *before, const char *after, uint64_t program_ns)
{
	write_stat(before);
	LodeSpeedMeter *meter = lode_speed_meter_new(proc);
	lode_speed_meter_update(meter);
	/* It is not yet time for another one. */
	lode_speed_meter_update(meter);
	write_stat(after);
	LodeMachineSpeed found = lode_speed_meter_end(meter, program_ns);
	lode_speed_meter_free(meter);
	return found;
}

/* 10,000 ticks in all, of which others took 2,000 and the hypervisor 500. */
static void test_shares(void)
{
	uint64_t program_ns = 1000 * 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK);
	LodeMachineSpeed found = measure("cpu  100 0 50 1000 10 0 0 20 0 0\n",
		"cpu  2600 100 250 7400 110 0 200 520 0 0\n", program_ns);

	g_assert_cmpfloat_with_epsilon(found.steal, 0.05, 1e-9);
	/* Less what this test itself takes. */
	g_assert_cmpfloat_with_epsilon(found.others, 0.2, 0.02);
}

static void test_times(void)
{
	LodeMachineSpeed found = measure("cpu  1 1 1 1 1 1 1 1\n", "cpu  9 9 9 9 9 9 9 9\n", 0);

	g_assert_cmpfloat(found.runs, >=, 1);
	/* An addition takes a cycle, of 0.1 ns at least; a step of the walk a load at least. */
	g_assert_cmpfloat(found.chain_ns, >, 0.1);
	g_assert_cmpfloat(found.walk_ns, >, found.chain_ns);
	g_assert_cmpfloat(found.chain_scatter, >=, 0);
	g_assert_cmpfloat(found.walk_scatter, >=, 0);
}

static void test_bad_stat(void)
{
	static const char *const texts[] = {"", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8\n",
		"cpu  nan nan nan nan nan nan nan nan\n", "cpu  0 0 0 0 0 0 0 0\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		LodeMachineSpeed found = measure(texts[i], texts[i], 0);
		g_assert_cmpfloat(found.runs, >=, 1);
		g_assert_cmpfloat(found.steal, ==, 0);
		g_assert_cmpfloat(found.others, ==, 0);
	}
	/* Time that goes backwards, and a program that took more than there was. */
	LodeMachineSpeed found = measure(
		"cpu  100 0 0 100 0 0 0 9\n", "cpu  110 0 0 200 0 0 0 0\n", G_MAXUINT64 / 2);
	g_assert_cmpfloat(found.steal, ==, 0);
	g_assert_cmpfloat(found.others, ==, 0);
}

static void test_not_measured(void)
{
	LodeSpeedMeter *meter = lode_speed_meter_new(proc);

	g_assert_cmpfloat(lode_speed_meter_end(meter, 0).runs, ==, 0);
	lode_speed_meter_free(meter);
	lode_speed_meter_free(NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	proc = g_dir_make_tmp("lode-speed-XXXXXX", NULL);
	g_assert_nonnull(proc);
	g_test_add_func("/machine_speed/shares", test_shares);
	g_test_add_func("/machine_speed/times", test_times);
	g_test_add_func("/machine_speed/bad_stat", test_bad_stat);
	g_test_add_func("/machine_speed/not_measured", test_not_measured);
	int status = g_test_run();
	g_autofree char *path = g_build_filename(proc, "stat", NULL);
	g_unlink(path);
	g_rmdir(proc);
	g_free(proc);
	return status;
}
