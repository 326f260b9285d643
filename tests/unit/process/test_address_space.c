/* SPDX-License-Identifier: MIT */
/* Address spaces over time against a naive replay of what happened, in the order of time. */
#include "process/address_space.h"
#include "seeds.h"

#include <gio/gio.h>
#include <sys/mman.h>

enum { CASES = 500, QUERIES = 200, PIDS = 4, MAX_EVENTS = 40, TIMES = 12 };

typedef enum { MAP, EXEC, FORK } Kind;

typedef struct {
	Kind kind;
	uint32_t pid, parent, order;
	uint64_t time_ns;
	LodeMappedRange range;
} Event;

/* Few addresses, so that ranges meet; the last ones lie at the end of the space. */
static uint64_t random_address(GRand *rand)
{
	uint64_t address = (uint64_t)g_rand_int_range(rand, 0, 24);

	return address < 20 ? address : UINT64_MAX - (address - 20);
}

static Event random_event(GRand *rand, uint32_t order)
{
	int choice = g_rand_int_range(rand, 0, 10);

	return (Event){
		.kind = choice < 6   ? MAP
	                : choice < 7 ? EXEC
	                             : FORK,
		.pid = (uint32_t)g_rand_int_range(rand, 0, PIDS),
		.parent = (uint32_t)g_rand_int_range(rand, 0, PIDS + 1),
		.order = order,
		.time_ns = (uint64_t)g_rand_int_range(rand, 0, TIMES),
		.range = {random_address(rand), random_address(rand), g_rand_int(rand), order},
	};
}

static void apply(LodeAddressSpaces *spaces, const Event *event)
{
	if (event->kind == MAP)
		lode_address_spaces_map(spaces, event->pid, event->time_ns, &event->range);
	else if (event->kind == EXEC)
		lode_address_spaces_exec(spaces, event->pid, event->time_ns);
	else
		lode_address_spaces_fork(spaces, event->pid, event->parent, event->time_ns);
}

static int compare_events(const void *a, const void *b)
{
	const Event *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

/* What each process has: the last range that holds an address counts. */
typedef struct {
	LodeMappedRange ranges[MAX_EVENTS * 2];
	unsigned n;
} NaiveSpace;

static void replay(NaiveSpace *spaces, const Event *event)
{
	NaiveSpace *own = &spaces[event->pid];

	if (event->kind == MAP && event->range.start < event->range.end)
		own->ranges[own->n++] = event->range;
	else if (event->kind == EXEC)
		own->n = 0;
	else if (event->kind == FORK)
		*own = spaces[event->parent];
}

static const LodeMappedRange *naive_find(const NaiveSpace *space, uint64_t address)
{
	for (unsigned i = space->n; i-- > 0;)
		if (space->ranges[i].start <= address && address < space->ranges[i].end)
			return &space->ranges[i];
	return NULL;
}

static void check_query(LodeAddressSpaces *spaces, const Event *events, unsigned n, GRand *rand)
{
	static NaiveSpace naive[PIDS + 1];
	uint32_t pid = (uint32_t)g_rand_int_range(rand, 0, PIDS + 1);
	uint64_t address = random_address(rand), time_ns = (uint64_t)g_rand_int_range(rand, 0, 13);

	for (unsigned i = 0; i <= PIDS; i++)
		naive[i].n = 0;
	for (unsigned i = 0; i < n && events[i].time_ns <= time_ns; i++)
		replay(naive, &events[i]);
	const LodeMappedRange *wanted = naive_find(&naive[pid], address);
	LodeMappedPeriod period = {0, 0};
	const LodeMappedRange *found = lode_address_spaces_find(
		spaces, pid, address, time_ns, &period);

	/* What it says of other times is true. */
	if (period.begin_ns < period.end_ns) {
		g_assert_true(time_ns >= period.begin_ns && time_ns < period.end_ns);
		g_assert_true(lode_address_spaces_find(
				      spaces, pid, address, period.begin_ns, NULL) == found);
		g_assert_true(lode_address_spaces_find(
				      spaces, pid, address, period.end_ns - 1, NULL) == found);
	}
	g_assert_cmpint(found != NULL, ==, wanted != NULL);
	if (wanted == NULL)
		return;
	g_assert_cmpuint(found->file, ==, wanted->file);
	g_assert_cmphex(found->start, ==, wanted->start);
	g_assert_cmphex(found->end, ==, wanted->end);
	g_assert_cmphex(found->offset, ==, wanted->offset);
}

static void check_case(GRand *rand)
{
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new();
	Event events[MAX_EVENTS];
	unsigned n = (unsigned)g_rand_int_range(rand, 0, MAX_EVENTS + 1);

	for (unsigned i = 0; i < n; i++) {
		events[i] = random_event(rand, i);
		apply(spaces, &events[i]);
	}
	qsort(events, n, sizeof(Event), compare_events);
	g_assert_cmpuint(lode_address_spaces_freeze(spaces, NULL), ==, 0);
	for (unsigned i = 0; i < QUERIES; i++)
		check_query(spaces, events, n, rand);
}

static void test_random(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(11));

	for (unsigned i = 0; i < random_rounds(150, CASES); i++)
		check_case(rand);
}

/* At one time, what was told first happened first: the child has none of the later mapping. */
static void test_equal_times(void)
{
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new();
	const LodeMappedRange early = {0, 10, 0, 1}, late = {0, 10, 0, 2};

	lode_address_spaces_map(spaces, 1, 5, &early);
	lode_address_spaces_fork(spaces, 2, 1, 5);
	lode_address_spaces_map(spaces, 1, 5, &late);
	g_assert_cmpuint(lode_address_spaces_freeze(spaces, NULL), ==, 0);
	g_assert_cmpuint(lode_address_spaces_find(spaces, 1, 3, 5, NULL)->file, ==, 2);
	g_assert_cmpuint(lode_address_spaces_find(spaces, 2, 3, 5, NULL)->file, ==, 1);
	g_assert_null(lode_address_spaces_find(spaces, 2, 3, 4, NULL));
}

/* Two that were each forked from the other, again and again: it must come to an end. */
static void test_circle(void)
{
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new();
	const LodeMappedRange range = {0, 10, 0, 1};

	for (uint64_t i = 0; i < 100000; i++)
		lode_address_spaces_fork(spaces, i % 2 == 0, i % 2, i / 4);
	lode_address_spaces_map(spaces, 1, 50000, &range);
	g_assert_cmpuint(lode_address_spaces_freeze(spaces, NULL), ==, 0);
	for (uint64_t i = 0; i < 50000; i++)
		g_assert_null(lode_address_spaces_find(spaces, i % 2, 5, i, NULL));
	g_assert_nonnull(lode_address_spaces_find(spaces, 1, 5, 50000, NULL));
	g_assert_null(lode_address_spaces_find(spaces, 3, 5, 50000, NULL));
}

static void test_ends(void)
{
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new();
	const LodeMappedRange top = {UINT64_MAX - 5, UINT64_MAX, 7, 1};
	const LodeMappedRange empty = {20, 20, 0, 2}, backward = {30, 20, 0, 3};

	lode_address_spaces_map(spaces, 1, 0, &top);
	lode_address_spaces_map(spaces, 1, 0, &empty);
	lode_address_spaces_map(spaces, 1, 0, &backward);
	lode_address_spaces_map(spaces, 2, 0, &empty);
	g_assert_cmpuint(lode_address_spaces_freeze(spaces, NULL), ==, 0);
	g_assert_null(lode_address_spaces_find(spaces, 1, UINT64_MAX - 6, 9, NULL));
	g_assert_cmpuint(
		lode_address_spaces_find(spaces, 1, UINT64_MAX - 5, 9, NULL)->offset, ==, 7);
	g_assert_nonnull(lode_address_spaces_find(spaces, 1, UINT64_MAX - 1, 9, NULL));
	g_assert_null(lode_address_spaces_find(spaces, 1, UINT64_MAX, 9, NULL));
	g_assert_null(lode_address_spaces_find(spaces, 1, 20, 9, NULL));
	g_assert_null(lode_address_spaces_find(spaces, 2, 20, 9, NULL));
}

/* A user need not wait for a recording of very many mappings. */
static void test_stopped(void)
{
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new();
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};

	for (uint32_t i = 0; i < 1000; i++) {
		const LodeMappedRange range = {i, i + 1, 0, i};
		lode_address_spaces_map(spaces, 1, i, &range);
	}
	g_cancellable_cancel(cancellable);
	lode_address_spaces_freeze(spaces, &progress);
	g_assert_null(lode_address_spaces_find(spaces, 1, 999, 1000, NULL));
}

/* Each overlaps all others: the pieces grow as their square. Some of what lay there is forgotten,
 * but nothing else is said to have been there; what came last is known. */
static void test_too_many_overlaps(void)
{
	enum { N = 8300, PARENT = 2 };
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new();
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(12));
	const LodeMappedRange of_parent = {0, 2 * N, 0, N};
	unsigned n_known = 0;

	lode_address_spaces_map(spaces, PARENT, 0, &of_parent);
	lode_address_spaces_fork(spaces, 1, PARENT, 0);
	for (uint32_t i = 0; i < N; i++) {
		const LodeMappedRange range = {i, N + i, 0, i};
		lode_address_spaces_map(spaces, 1, i + 1, &range);
	}
	g_assert_cmpuint(lode_address_spaces_freeze(spaces, NULL), >, 0);
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t address = (uint32_t)g_rand_int_range(rand, 0, N);
		uint32_t time_ns = (uint32_t)g_rand_int_range(rand, 1, N + 1);
		const LodeMappedRange *found = lode_address_spaces_find(
			spaces, 1, address, time_ns, NULL);
		if (found != NULL)
			g_assert_cmpuint(found->file, ==, MIN(time_ns - 1, address));
		n_known += found != NULL;
		found = lode_address_spaces_find(spaces, 1, address, N, NULL);
		g_assert_cmpuint(found->file, ==, address);
	}
	g_assert_cmpuint(n_known, >, 0);
}

/* --- the present alone --- */

enum { PID = 7, CHILD = 8 };

static void map_now(LodeAddressSpaces *spaces, uint64_t start, uint64_t end, const char *name)
{
	const LodeMappedRange range = {start, end, 0x100, 0, PROT_READ, name};

	lode_address_spaces_map(spaces, PID, LODE_TIME_NOW, &range);
}

static const char *name_at(LodeAddressSpaces *spaces, uint32_t pid, uint64_t address)
{
	const LodeMappedRange *found = lode_address_spaces_find(
		spaces, pid, address, LODE_TIME_NOW, NULL);

	return found != NULL ? found->name : NULL;
}

static void test_live_over(void)
{
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new_live();

	map_now(spaces, 0x1000, 0x9000, "/a");
	map_now(spaces, 0x3000, 0x4000, "/b");
	map_now(spaces, 0x5000, 0x5000, "/empty");
	g_assert_cmpstr(name_at(spaces, PID, 0x2fff), ==, "/a");
	g_assert_cmpstr(name_at(spaces, PID, 0x3000), ==, "/b");
	g_assert_cmpstr(name_at(spaces, PID, 0x5000), ==, "/a");
	g_assert_null(name_at(spaces, PID, 0x9000));
	g_assert_null(name_at(spaces, CHILD, 0x3000));
	const LodeMappedRange *found = lode_address_spaces_find(
		spaces, PID, 0x4001, LODE_TIME_NOW, NULL);
	g_assert_cmphex(found->start, ==, 0x4000);
	g_assert_cmphex(found->end, ==, 0x9000);
	g_assert_cmphex(found->offset, ==, 0x3100);
	g_assert_cmpuint(found->protection, ==, PROT_READ);
}

static void test_live_processes(void)
{
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new_live();

	map_now(spaces, 0x1000, 0x2000, "/a");
	lode_address_spaces_fork(spaces, CHILD, PID, 0);
	g_assert_cmpstr(name_at(spaces, CHILD, 0x1000), ==, "/a");
	uint64_t before = lode_address_spaces_generation(spaces);
	lode_address_spaces_exec(spaces, CHILD, 0);
	g_assert_cmpuint(lode_address_spaces_generation(spaces), !=, before);
	g_assert_null(name_at(spaces, CHILD, 0x1000));
	g_assert_cmpstr(name_at(spaces, PID, 0x1000), ==, "/a");
	/* A thread is no process of its own. */
	lode_address_spaces_fork(spaces, PID, PID, 0);
	g_assert_cmpstr(name_at(spaces, PID, 0x1000), ==, "/a");
	lode_address_spaces_exit(spaces, PID);
	g_assert_null(name_at(spaces, PID, 0x1000));
}

static void test_live_stacks(void)
{
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new_live();

	map_now(spaces, 0x1000, 0x2000, "//anon");
	map_now(spaces, 0x8000, 0x9000, "/file");
	g_assert_cmpstr(name_at(spaces, PID, 0x1000), ==, "[anon]");
	lode_address_spaces_set_stack(spaces, PID, 0x1800, 3);
	lode_address_spaces_set_stack(spaces, PID, 0x8800, 4);
	lode_address_spaces_set_stack(spaces, PID, 0xf000, 5);
	g_assert_cmpstr(name_at(spaces, PID, 0x1000), ==, "[stack of thread 3]");
	g_assert_cmpstr(name_at(spaces, PID, 0x8000), ==, "/file");
	/* It is told of again, larger. */
	map_now(spaces, 0x0800, 0x2000, "//anon");
	g_assert_cmpstr(name_at(spaces, PID, 0x0800), ==, "[stack of thread 3]");
	map_now(spaces, 0x1000, 0x2000, "[heap]");
	g_assert_cmpstr(name_at(spaces, PID, 0x1000), ==, "[heap]");
}

/* A heap of many gigabytes that grows piece by piece is no attack. */
static void test_growing_heap(void)
{
	enum { N = 100 * 1000 };
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new();
	const uint64_t start = 0x1000000, step = 132 << 10;

	for (uint64_t i = 1; i <= N; i++) {
		const LodeMappedRange range = {
			start, start + i * step, 0, (uint32_t)i, PROT_READ | PROT_WRITE, "[heap]"};
		lode_address_spaces_map(spaces, 1, i, &range);
	}
	g_assert_cmpuint(lode_address_spaces_freeze(spaces, NULL), ==, 0);
	g_assert_null(lode_address_spaces_find(spaces, 1, start + 5 * step, 5, NULL));
	g_assert_cmpuint(
		lode_address_spaces_find(spaces, 1, start + 5 * step, 6, NULL)->file, ==, 6);
	g_assert_nonnull(lode_address_spaces_find(spaces, 1, start, N, NULL));
}

/* The same place over and over: the time is found without going through all of it. */
static void test_mapped_again(void)
{
	enum { N = 1 << 18 };
	g_autoptr(LodeAddressSpaces) spaces = lode_address_spaces_new();

	for (uint32_t i = N; i-- > 0;) {
		const LodeMappedRange range = {0x1000, 0x2000, 0, i, PROT_READ, "//anon"};
		lode_address_spaces_map(spaces, 1, i, &range);
	}
	g_assert_cmpuint(lode_address_spaces_freeze(spaces, NULL), ==, 0);
	for (uint32_t i = 0; i < N; i++) {
		LodeMappedPeriod period;
		g_assert_cmpuint(
			lode_address_spaces_find(spaces, 1, 0x1800, i, &period)->file, ==, i);
		g_assert_cmpuint(period.begin_ns, ==, i);
		g_assert_cmpuint(period.end_ns, ==, i + 1 < N ? i + 1 : UINT64_MAX);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/address-space/random", test_random);
	g_test_add_func("/address-space/equal-times", test_equal_times);
	g_test_add_func("/address-space/circle", test_circle);
	g_test_add_func("/address-space/ends", test_ends);
	g_test_add_func("/address-space/stopped", test_stopped);
	g_test_add_func("/address-space/too-many-overlaps", test_too_many_overlaps);
	g_test_add_func("/address-space/growing-heap", test_growing_heap);
	g_test_add_func("/address-space/mapped-again", test_mapped_again);
	g_test_add_func("/address-space/live-over", test_live_over);
	g_test_add_func("/address-space/live-processes", test_live_processes);
	g_test_add_func("/address-space/live-stacks", test_live_stacks);
	return g_test_run();
}
