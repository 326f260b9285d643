/* SPDX-License-Identifier: MIT */
/* What is mapped now, after what has happened. */
#include "process/live_mappings.h"

#include <sys/mman.h>

enum { PID = 7, CHILD = 8 };

static void map(LodeLiveMappings *mappings, uint64_t start, uint64_t end, const char *name)
{
	const LodeLiveMapping mapping = {start, end, 0x100, PROT_READ, name};

	lode_live_mappings_map(mappings, PID, &mapping);
}

static const char *name_at(const LodeLiveMappings *mappings, uint32_t pid, uint64_t address)
{
	LodeLiveMapping found;

	return lode_live_mappings_find(mappings, pid, address, &found) ? found.name : NULL;
}

static void test_over(void)
{
	g_autoptr(LodeLiveMappings) mappings = lode_live_mappings_new();
	LodeLiveMapping found;

	map(mappings, 0x1000, 0x9000, "/a");
	map(mappings, 0x3000, 0x4000, "/b");
	map(mappings, 0x5000, 0x5000, "/empty");
	g_assert_cmpstr(name_at(mappings, PID, 0x2fff), ==, "/a");
	g_assert_cmpstr(name_at(mappings, PID, 0x3000), ==, "/b");
	g_assert_cmpstr(name_at(mappings, PID, 0x5000), ==, "/a");
	g_assert_null(name_at(mappings, PID, 0x9000));
	g_assert_null(name_at(mappings, CHILD, 0x3000));
	g_assert_true(lode_live_mappings_find(mappings, PID, 0x4001, &found));
	g_assert_cmphex(found.start, ==, 0x4000);
	g_assert_cmphex(found.end, ==, 0x9000);
	g_assert_cmphex(found.offset, ==, 0x3100);
	g_assert_cmpuint(found.protection, ==, PROT_READ);
}

static void test_processes(void)
{
	g_autoptr(LodeLiveMappings) mappings = lode_live_mappings_new();

	map(mappings, 0x1000, 0x2000, "/a");
	lode_live_mappings_fork(mappings, CHILD, PID);
	g_assert_cmpstr(name_at(mappings, CHILD, 0x1000), ==, "/a");
	uint64_t before = lode_live_mappings_generation(mappings);
	lode_live_mappings_exec(mappings, CHILD);
	g_assert_cmpuint(lode_live_mappings_generation(mappings), !=, before);
	g_assert_null(name_at(mappings, CHILD, 0x1000));
	g_assert_cmpstr(name_at(mappings, PID, 0x1000), ==, "/a");
	/* A thread is no process of its own. */
	lode_live_mappings_fork(mappings, PID, PID);
	g_assert_cmpstr(name_at(mappings, PID, 0x1000), ==, "/a");
}

static void test_stacks(void)
{
	g_autoptr(LodeLiveMappings) mappings = lode_live_mappings_new();

	map(mappings, 0x1000, 0x2000, "//anon");
	map(mappings, 0x8000, 0x9000, "/file");
	g_assert_cmpstr(name_at(mappings, PID, 0x1000), ==, "[anon]");
	lode_live_mappings_set_stack(mappings, PID, 0x1800, 3);
	lode_live_mappings_set_stack(mappings, PID, 0x8800, 4);
	lode_live_mappings_set_stack(mappings, PID, 0xf000, 5);
	g_assert_cmpstr(name_at(mappings, PID, 0x1000), ==, "[stack of thread 3]");
	g_assert_cmpstr(name_at(mappings, PID, 0x8000), ==, "/file");
	/* It is told of again, larger. */
	map(mappings, 0x0800, 0x2000, "//anon");
	g_assert_cmpstr(name_at(mappings, PID, 0x0800), ==, "[stack of thread 3]");
	map(mappings, 0x1000, 0x2000, "[heap]");
	g_assert_cmpstr(name_at(mappings, PID, 0x1000), ==, "[heap]");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live_mappings/over", test_over);
	g_test_add_func("/live_mappings/processes", test_processes);
	g_test_add_func("/live_mappings/stacks", test_stacks);
	return g_test_run();
}
