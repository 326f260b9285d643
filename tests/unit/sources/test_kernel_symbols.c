/* SPDX-License-Identifier: MIT */
/* Lists of the kernel's symbols as different users see them. */
#include "sources/code/kernel_symbols.h"

#include <glib/gstdio.h>

static LodeKernelSymbols *read_text(const char *text)
{
	g_autofree char *path = NULL;
	int descriptor = g_file_open_tmp("lode-test-XXXXXX", &path, NULL);

	g_assert_cmpint(descriptor, >=, 0);
	g_close(descriptor, NULL);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	LodeKernelSymbols *symbols = lode_kernel_symbols_read(path);
	g_remove(path);
	return symbols;
}

static void check(
	const LodeKernelSymbols *symbols, uint64_t address, const char *name, uint64_t start)
{
	uint64_t found_start = 0;

	g_assert_cmpstr(lode_kernel_symbols_find(symbols, address, &found_start), ==, name);
	g_assert_cmpuint(found_start, ==, start);
}

/* Modules come after the kernel and in any order; data is no code; of two names at one place the
 * first by name stands for both. */
static void test_functions(void)
{
	g_autoptr(LodeKernelSymbols) symbols = read_text("0000000000000000 A fixed_percpu_data\n"
							 "ffffffff81000000 T _stext\n"
							 "ffffffff81000000 T _text\n"
							 "ffffffff81000000 T begin\n"
							 "ffffffff81000100 t second\n"
							 "ffffffff81000100 W alias\n"
							 "ffffffff81000200 D data\n"
							 "nonsense\n"
							 "ffffffffc0002000 t late\t[nf_tables]\n"
							 "ffffffffc0001000 t early\t[nf_tables]\n"
							 "ffffffff81000300 t cut");

	g_assert_nonnull(symbols);
	g_assert_cmphex(lode_kernel_symbols_text(symbols), ==, 0xffffffff81000000);
	check(symbols, 0xffffffff81000000, "begin", 0xffffffff81000000);
	check(symbols, 0xffffffff810000ff, "begin", 0xffffffff81000000);
	check(symbols, 0xffffffff81000100, "alias", 0xffffffff81000100);
	check(symbols, 0xffffffff81000208, "alias", 0xffffffff81000100);
	check(symbols, 0xffffffff81000300, "cut", 0xffffffff81000300);
	check(symbols, 0xffffffffc0001fff, "early [nf_tables]", 0xffffffffc0001000);
	check(symbols, 0xffffffffc0002000, "late [nf_tables]", 0xffffffffc0002000);
	check(symbols, 0xffffffff80ffffff, NULL, 0);
	check(symbols, 0xffffffff8f000000, NULL, 0);
	check(symbols, 0, NULL, 0);
	check(symbols, UINT64_MAX, NULL, 0);
}

static void test_none(void)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 T begin\n";
	static const char without_text[] = "ffffffff81000000 T begin\n";

	g_assert_null(read_text(hidden));
	g_assert_null(read_text(without_text));
	g_assert_null(read_text(""));
	g_assert_null(lode_kernel_symbols_read("/nonexistent"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sources/kernel-symbols/functions", test_functions);
	g_test_add_func("/sources/kernel-symbols/none", test_none);
	return g_test_run();
}
