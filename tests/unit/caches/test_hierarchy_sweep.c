/* SPDX-License-Identifier: MIT */
/* Ranges of sizes become one text for each size. */
#include "base/error.h"
#include "caches/hierarchy/hierarchy_sweep.h"

#include <string.h>

static void check(const char *text, const char *expected)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) texts = lode_hierarchy_sweep_expand(text, &error);

	g_assert_no_error(error);
	g_autofree char *joined = g_strjoinv(" ", texts);
	g_assert_cmpstr(joined, ==, expected);
}

static void check_refused(const char *text, LodeErrorCode code)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_hierarchy_sweep_expand(text, &error));
	g_assert_error(error, LODE_ERROR, (int)code);
	g_assert_nonnull(strstr(error->message, text));
}

static void test_ranges(void)
{
	check("host", "host");
	check("", "");
	check("../caches/x", "../caches/x");
	check("d1=8K..32K:8:64", "d1=8K:8:64 d1=16K:8:64 d1=32K:8:64");
	check("d1=512..1K:2:64", "d1=512:2:64 d1=1K:2:64");
	check("d1=512K..2M:8:64", "d1=512K:8:64 d1=1M:8:64 d1=2M:8:64");
	check("d1=32K:1..4:64", "d1=32K:1:64 d1=32K:2:64 d1=32K:4:64");
	check("d1=3K..13K:1:64", "d1=3K:1:64 d1=6K:1:64 d1=12K:1:64");
	check("d1=8K..8K:8:64", "d1=8K:8:64");
	check("i1=1K..2K:2:64,d1=4K..8K:2:64",
		"i1=1K:2:64,d1=4K:2:64 i1=1K:2:64,d1=8K:2:64 i1=2K:2:64,d1=4K:2:64 "
		"i1=2K:2:64,d1=8K:2:64");
}

static void test_mistakes(void)
{
	check_refused("d1=32K..8K:8:64", LODE_ERROR_USAGE);
	check_refused("d1=..8K:8:64", LODE_ERROR_USAGE);
	check_refused("d1=8K..", LODE_ERROR_USAGE);
	check_refused("d1=8K...16K:1:64", LODE_ERROR_USAGE);
	check_refused("d1=0..8K:8:64", LODE_ERROR_USAGE);
	check_refused("d1=8Q..16Q:8:64", LODE_ERROR_USAGE);
	check_refused("d1=1..4294967295T:8:64", LODE_ERROR_USAGE);
	check_refused("..", LODE_ERROR_USAGE);
}

static void test_too_many(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_hierarchy_sweep_expand(
		"i1=1..1T:1..1M:64,d1=1..1T:8:64,l2=1..1T:8:64", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/caches/hierarchy_sweep/ranges", test_ranges);
	g_test_add_func("/caches/hierarchy_sweep/mistakes", test_mistakes);
	g_test_add_func("/caches/hierarchy_sweep/too_many", test_too_many);
	return g_test_run();
}
