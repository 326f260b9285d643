/* SPDX-License-Identifier: MIT */
/* Libraries that are opened while lode runs. */
#include "base/error.h"
#include "machine/late_library.h"

#include <dlfcn.h>

static void test_opened(void)
{
	double (*cosine)(double) = NULL;
	const LodeLateSymbol symbols[] = {{"cos", &cosine}};
	g_autoptr(GError) error = NULL;

	g_assert_true(lode_late_library_open(
		"libm.so.6", RTLD_LAZY, symbols, G_N_ELEMENTS(symbols), &error));
	g_assert_no_error(error);
	g_assert_cmpfloat(cosine(0), ==, 1);
}

static void test_missing_library(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_false(lode_late_library_open("libnone.so.99", RTLD_LAZY, NULL, 0, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	g_assert_nonnull(strstr(error->message, "libnone.so.99"));
}

static void test_missing_symbol(void)
{
	double (*cosine)(double) = NULL;
	void (*none)(void) = NULL;
	const LodeLateSymbol symbols[] = {{"cos", &cosine}, {"lode_none", &none}};
	g_autoptr(GError) error = NULL;

	g_assert_false(lode_late_library_open(
		"libm.so.6", RTLD_LAZY, symbols, G_N_ELEMENTS(symbols), &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	g_assert_cmpstr(error->message, ==,
		"the library libm.so.6 is of another version: it has no lode_none");
	g_assert_null(none);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/late-library/opened", test_opened);
	g_test_add_func("/late-library/missing-library", test_missing_library);
	g_test_add_func("/late-library/missing-symbol", test_missing_symbol);
	return g_test_run();
}
