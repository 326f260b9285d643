/* SPDX-License-Identifier: MIT */
/* Faults that end lode, each in a process of its own. */
#include "cli/fatal_faults.h"

#include <glib.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAPPED_BYTES = 1 << 16 };

static void run_again(void)
{
	/* Those of a sanitizer would be left in place. */
	signal(SIGBUS, SIG_DFL);
	lode_fatal_faults_catch();
}

static void test_cut_mapping(void)
{
	if (g_test_subprocess()) {
		g_autofree char *path = NULL;
		int file = g_file_open_tmp("lode-test-XXXXXX", &path, NULL);
		g_assert_cmpint(ftruncate(file, MAPPED_BYTES), ==, 0);
		const volatile char *bytes = mmap(
			NULL, MAPPED_BYTES, PROT_READ, MAP_SHARED, file, 0);
		g_assert_true(bytes != MAP_FAILED);
		g_assert_cmpint(unlink(path), ==, 0);
		run_again();
		g_assert_cmpint(bytes[MAPPED_BYTES - 1], ==, 0);
		g_assert_cmpint(ftruncate(file, 1), ==, 0);
		_exit(bytes[MAPPED_BYTES - 1] == 0 ? 77 : 78);
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_stderr("*lode: a program or debug file was cut short while*\n");
	g_test_trap_assert_failed();
}

static void test_sent_bus_error(void)
{
	if (g_test_subprocess()) {
		const struct rlimit none = {0, 0};
		setrlimit(RLIMIT_CORE, &none);
		run_again();
		raise(SIGBUS);
		_exit(0);
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_assert_false(g_test_trap_has_passed());
	g_test_trap_assert_stderr_unmatched("*cut short*");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/fatal_faults/cut_mapping", test_cut_mapping);
	g_test_add_func("/fatal_faults/sent_bus_error", test_sent_bus_error);
	return g_test_run();
}
