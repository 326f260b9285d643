/* SPDX-License-Identifier: MIT */
/* Logs of processes that are watched from outside, written and read. */
#include "record/probes/probe_log.h"

#include "seeds.h"
#include "sources/windows/window_log.h"

#include <string.h>

enum { STEPS = 200, WINDOWS = 20 };

static LodeProbeStep random_step(GRand *random, const LodeProbeStep *before)
{
	LodeProbeStep step = *before;

	step.address += (uint64_t)(int64_t)g_rand_int_range(random, -100, 100);
	for (unsigned i = 0; i < LODE_WINDOW_REGISTERS; i++)
		if (g_rand_boolean(random))
			step.registers[i] = (uint64_t)g_rand_int(random)
			                    << g_rand_int_range(random, 0, 33);
	step.raised = g_rand_boolean(random) ? (uint8_t)g_rand_int_range(random, 0, 64) : 0;
	step.is_gap = g_rand_boolean(random);
	step.time_ns += (uint64_t)g_rand_int_range(random, 0, 100000);
	return step;
}

static void test_round_trip(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(7));
	g_autoptr(LodeProbeLog) log = lode_probe_log_new(42);
	g_autofree LodeProbeStep *steps = g_new0(LodeProbeStep, STEPS * WINDOWS);
	uint64_t n_hits = 0, n = 0;
	size_t size;

	for (unsigned w = 0; w < WINDOWS; w++) {
		const LodeWindowHead head = {.tid = 43 + w,
			.flags = LODE_WINDOW_HAS_REGISTERS |
		                 (w % 2 == 0 ? LODE_WINDOW_IS_PROBES : 0) |
		                 (w % 3 == 0 ? LODE_WINDOW_HAS_TIMES : 0),
			.begin_ns = 1000 * w};
		LodeProbeStep before = {.address = 0x555555554000};
		lode_probe_log_begin(log, &head);
		for (unsigned i = 0; i < w * 10; i++) {
			before = steps[n++] = random_step(random, &before);
			g_assert_true(lode_probe_log_add(log, &before));
			n_hits += w % 2 == 0 && before.is_gap;
		}
		lode_probe_log_end(log, 1000 * w + 500, LODE_WINDOW_END_LENGTH);
	}
	lode_probe_log_charge(log, 3, 5);
	const uint8_t *bytes = lode_probe_log_bytes(log, &size);
	g_autoptr(GBytes) copy = g_bytes_new(bytes, size);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeWindowLog) read = lode_window_log_new(copy, "log", &error);
	g_assert_no_error(error);
	const LodeWindowLogHeader *header = lode_window_log_header(read);
	g_assert_cmpuint(header->pid, ==, 42);
	g_assert_cmpuint(header->n_windows, ==, WINDOWS - 1); /* one has no step */
	g_assert_cmpuint(header->n_steps, ==, n);
	g_assert_cmpuint(header->n_hits, ==, n_hits);
	g_assert_cmpuint(header->user_ns, ==, 3);
	g_assert_cmpuint(header->system_ns, ==, 5);
	g_assert_cmpuint(header->window_ns, ==, (WINDOWS - 1) * 500);
	LodeWindow window;
	uint64_t at = 0;
	for (unsigned w = 1; lode_window_log_next(read, &window); w++) {
		g_assert_cmpuint(window.head.tid, ==, 43 + w);
		g_assert_cmpuint(window.head.n_steps, ==, w * 10);
		for (; lode_window_next(&window); at++) {
			g_assert_cmphex(window.step.address, ==, steps[at].address);
			g_assert_true(memcmp(window.step.registers, steps[at].registers,
					      sizeof(window.step.registers)) == 0);
			g_assert_cmpuint(window.step.raised, ==, steps[at].raised);
			g_assert_cmpint(window.step.is_gap, ==, steps[at].is_gap);
			g_assert_cmpuint(
				window.step.time_ns, ==, w % 3 == 0 ? steps[at].time_ns : 0);
		}
	}
	g_assert_cmpuint(at, ==, n);
	g_assert_cmpuint(lode_window_log_damaged(read), ==, 0);
}

/* A window has so many steps at most; those that come after are refused. */
static void test_full(void)
{
	g_autoptr(LodeProbeLog) log = lode_probe_log_new(1);
	const LodeWindowHead head = {.tid = 1};
	const LodeProbeStep step = {.address = 1};

	lode_probe_log_begin(log, &head);
	for (unsigned i = 0; i < LODE_WINDOW_MAX_STEPS; i++)
		g_assert_true(lode_probe_log_add(log, &step));
	g_assert_false(lode_probe_log_add(log, &step));
	lode_probe_log_end(log, 1, LODE_WINDOW_END_LENGTH);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/probe_log/round_trip", test_round_trip);
	g_test_add_func("/record/probe_log/full", test_full);
	return g_test_run();
}
