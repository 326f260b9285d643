/* SPDX-License-Identifier: MIT */
/* Which mappings are stacks: by shape, by who was in them, and whose they are at what time. */
#include "process/thread_stacks.h"

#include "model/index.h"
#include "model/process.h"

enum { MS = 1000 * 1000, N_THREADS = 5 };

#define MIB (UINT64_C(1) << 20)
#define START UINT64_C(0x7f0000000000)

/* Mapping 0: 8 MiB above a guard; 1: 8 MiB without one; 2: 64 MiB; 3: an empty range. */
static LodeStackMapping mapping_of(void *data, uint32_t mapping, uint64_t time_ns)
{
	static const LodeStackMapping mappings[] = {{START, START + 8 * MIB, true},
		{START, START + 8 * MIB, false}, {START, START + 64 * MIB, false},
		{START, START, false}};

	(void)data;
	(void)time_ns;
	g_assert_cmpuint(mapping, <, G_N_ELEMENTS(mappings));
	return mappings[mapping];
}

/* Thread 0 is the first one; 1 lives to 100 ms, 2 from just before that to the end; 3 and 4 live
 * all the time. */
static GArray *threads_new(void)
{
	static const LodeThread all[N_THREADS] = {{.pid = 7, .tid = 7, .end_ns = UINT64_MAX},
		{.pid = 7, .tid = 8, .begin_ns = MS, .end_ns = 100 * MS},
		{.pid = 7, .tid = 9, .begin_ns = 99 * MS, .end_ns = UINT64_MAX},
		{.pid = 7, .tid = 10, .begin_ns = MS, .end_ns = 900 * MS},
		{.pid = 7, .tid = 11, .begin_ns = MS, .end_ns = 900 * MS}};
	GArray *threads = g_array_new(FALSE, FALSE, sizeof(LodeThread));

	g_array_append_vals(threads, all, N_THREADS);
	return threads;
}

typedef struct {
	uint32_t mapping, thread;
	uint64_t from_end; /* of the stack pointer */
	uint64_t time_ms;
} Seen;

/* "mapping:thread@ms …" of what is found. */
static void check(const Seen *seen, size_t n, const char *expected)
{
	g_autoptr(LodeThreadStacks) stacks = lode_thread_stacks_new();
	g_autoptr(GArray) threads = threads_new(), found = NULL;
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < n; i++)
		lode_thread_stacks_note(stacks, seen[i].mapping, seen[i].thread,
			mapping_of(NULL, seen[i].mapping, 0).end - seen[i].from_end,
			seen[i].time_ms * MS);
	found = lode_thread_stacks_find(stacks, threads, mapping_of, NULL);
	for (guint i = 0; i < found->len; i++) {
		const LodeThreadStack *stack = &g_array_index(found, LodeThreadStack, i);

		g_string_append_printf(text, "%s%u:%u@%u", i > 0 ? " " : "", stack->mapping,
			stack->thread, (unsigned)(stack->since_ns / MS));
	}
	g_assert_cmpstr(text->str, ==, expected);
}

#define CHECK(expected, ...)                                                                       \
	check((const Seen[]){__VA_ARGS__}, G_N_ELEMENTS(((const Seen[]){__VA_ARGS__})), expected)

static void test_shapes(void)
{
	CHECK("1:1@0", {1, 1, 4096, 5}, {1, 1, 5 * MIB, 6});
	/* above a guard, however large the frames were */
	CHECK("0:1@0", {0, 1, 7 * MIB, 5});
	/* in the middle of a heap */
	CHECK("", {1, 1, 5 * MIB, 5});
	CHECK("", {2, 1, 40 * MIB, 5}, {2, 1, 63 * MIB, 6});
	CHECK("2:1@0", {2, 1, 7 * MIB, 5});
	/* what cannot be */
	CHECK("", {3, 1, 0, 5}, {1, 1, 0, 5});
	check(NULL, 0, "");
}

static void test_shared(void)
{
	/* goroutines of several threads, also where each was seen but once */
	CHECK("", {1, 1, 4096, 5}, {1, 3, 8192, 6}, {1, 1, 4096, 7});
	CHECK("", {1, 3, 4096, 5}, {1, 4, 8192, 6});
	/* the first thread has its stack elsewhere */
	CHECK("", {1, 0, 4096, 5});
	CHECK("", {1, 1, 4096, 5}, {1, 0, 4096, 500});
	/* two stacks */
	CHECK("0:3@0 1:4@0", {0, 3, 4096, 5}, {1, 4, 4096, 5});
}

static void test_reused(void)
{
	/* from its beginning on it is the later thread's, though the first one's end is told late
	 */
	CHECK("0:1@0 0:2@99", {0, 2, 4096, 150}, {0, 1, 4096, 90}, {0, 1, 8192, 5},
		{0, 2, 4096, 120});
	/* the first one was seen after the later one began: from when that was seen itself */
	CHECK("0:1@0 0:2@120", {0, 1, 4096, 100}, {0, 2, 4096, 120});
	/* without times it cannot be told whose it was */
	CHECK("", {0, 1, 4096, 0}, {0, 2, 4096, 0});
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/process/thread_stacks/shapes", test_shapes);
	g_test_add_func("/process/thread_stacks/shared", test_shared);
	g_test_add_func("/process/thread_stacks/reused", test_reused);
	return g_test_run();
}
