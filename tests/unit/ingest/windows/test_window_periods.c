/* SPDX-License-Identifier: MIT */
/* Times from one execution to the next, out of hits in turn whose times are known. */
#include "ingest/windows/window_visitors.h"

#include <math.h>

enum { TID = 7, HIT_NS = 3000, EVICTED_NS = 60 };

/* Two neighbours, as they lie in code, and another place. */
static const LodeSteppedCode codes[] = {
	{.place = {.image = 1, .address = 0x1000}},
	{.place = {.image = 1, .address = 0x1004}},
	{.place = {.image = 1, .address = 0x2000}},
	{.place = {.image = 1, .address = 0x2003}},
};

typedef struct {
	LodeWindowPeriods *periods;
	uint32_t n_windows;
} Walk;

/* A window of hits at `first` and the code after it, in turn; each turn takes `turn_ns`. */
static void walk_burst(
	Walk *self, unsigned first, uint64_t begin_ns, unsigned n, uint64_t turn_ns, unsigned flags)
{
	const LodeWindowHead head = {
		.tid = TID,
		.flags = (uint8_t)(LODE_WINDOW_IS_PROBES | flags),
		.begin_ns = begin_ns,
	};
	LodeWindowVisitor visitor = lode_window_periods_visitor(self->periods);
	uint64_t time_ns = 0;

	for (unsigned i = 0; i < 2 * n; i++) {
		const LodeWindowStep step = {.time_ns = time_ns, .is_gap = true};
		const LodeVisitedStep visited = {
			.window = &head,
			.n_window = self->n_windows,
			.index = i,
			.step = &step,
			.code = &codes[first + i % 2],
			.is_hit = true,
		};
		visitor.visit(visitor.data, &visited);
		time_ns += HIT_NS + (i % 2 == 1 ? turn_ns : 0);
	}
	self->n_windows++;
}

static const LodeReadPeriod *find(const LodeWindowPeriods *periods, unsigned code)
{
	const GArray *list = lode_window_periods_list(periods);

	for (guint i = 0; i < list->len; i++) {
		const LodeReadPeriod *at = &g_array_index(list, LodeReadPeriod, i);
		if (at->place.address == codes[code].place.address)
			return at;
	}
	return NULL;
}

/* What hits cost is no part of a period; of bursts at random moments counts how often. */
static void test_known(void)
{
	g_autoptr(LodeWindowPeriods) periods = lode_window_periods_new();
	Walk walk = {periods, 0};

	for (unsigned i = 0; i < 8; i++)
		walk_burst(&walk, 0, 1000 + i, 12, 4000 + EVICTED_NS, LODE_WINDOW_HAS_TIMES);
	/* Half of the moments have turns three times as long. */
	for (unsigned i = 0; i < 40; i++)
		walk_burst(&walk, 2, 2000 + i, 12, (i % 2 == 0 ? 3000 : 9000) + EVICTED_NS,
			LODE_WINDOW_HAS_TIMES);
	lode_window_periods_freeze(periods);
	g_assert_cmpuint(lode_window_periods_list(periods)->len, ==, 2);
	const LodeReadPeriod *first = find(periods, 0), *second = find(periods, 2);
	g_assert_cmpfloat_with_epsilon(first->ns, 4000, 1);
	g_assert_cmpfloat_with_epsilon(first->error_ns, 100, 1);
	g_assert_cmpuint(first->n_bursts, ==, 8);
	g_assert_cmpuint(first->n, ==, 8 * 9);
	g_assert_cmpfloat_with_epsilon(second->ns, 4500, 1);
	g_assert_cmpfloat(second->error_ns, >, 300);
	g_assert_cmpfloat(second->error_ns, <, 600);
}

/* Too short, a single turn, and hits without times. */
static void test_unknown(void)
{
	g_autoptr(LodeWindowPeriods) periods = lode_window_periods_new();
	Walk walk = {periods, 0};

	walk_burst(&walk, 0, 1000, 12, 300, LODE_WINDOW_HAS_TIMES);
	walk_burst(&walk, 2, 2000, 4, 4000, LODE_WINDOW_HAS_TIMES);
	walk_burst(&walk, 2, 3000, 12, 4000, 0);
	lode_window_periods_freeze(periods);
	g_assert_cmpuint(lode_window_periods_list(periods)->len, ==, 0);
}

/* Samples of the thread within 20 ms. */
static void test_near(void)
{
	const uint64_t ms = 1000 * 1000, begin_ns = 100 * ms;
	const LodePlace place = codes[3].place;
	g_autoptr(LodeWindowPeriods) periods = lode_window_periods_new();
	Walk walk = {periods, 0};

	walk_burst(&walk, 0, begin_ns, 12, 4000, LODE_WINDOW_HAS_TIMES);
	walk_burst(&walk, 0, begin_ns + 10 * ms, 12, 4000, LODE_WINDOW_HAS_TIMES);
	lode_window_periods_freeze(periods);
	lode_window_periods_add_sample(periods, TID, begin_ns - 30 * ms, &place, 1);
	lode_window_periods_add_sample(periods, TID, begin_ns - 19 * ms, &place, 2);
	lode_window_periods_add_sample(periods, TID + 1, begin_ns, &place, 4);
	lode_window_periods_add_sample(periods, TID, begin_ns + 5 * ms, &codes[0].place, 8);
	lode_window_periods_add_sample(periods, TID, begin_ns + 29 * ms, &place, 16);
	lode_window_periods_add_sample(periods, TID, begin_ns + 31 * ms, &place, 32);
	const GArray *near = lode_window_periods_near(periods);
	g_assert_cmpfloat(find(periods, 0)->near_weight, ==, 2 + 2 * 8 + 16);
	g_assert_cmpuint(near->len, ==, 2);
	g_assert_cmpfloat(g_array_index(near, LodeNearSample, 0).weight, ==, 2 + 16);
	g_assert_cmpfloat(g_array_index(near, LodeNearSample, 1).weight, ==, 2 * 8);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/window_periods/known", test_known);
	g_test_add_func("/window_periods/unknown", test_unknown);
	g_test_add_func("/window_periods/near", test_near);
	return g_test_run();
}
