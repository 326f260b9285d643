/* SPDX-License-Identifier: MIT */
#include "base/text/number_format.h"
#include "seeds.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
	double value;
	const char *text;
} Case;

static void test_count(void)
{
	static const Case cases[] = {{0, "0"}, {7, "7"}, {999, "999"}, {1000, "1,000"},
		{1234567, "1,234,567"}, {-1234, "-1,234"}, {-999, "-999"}, {1234.6, "1,235"},
		{0.4, "0"}, {999.6, "1,000"}, {123456789012345, "123,456,789,012,345"},
		{1e15, "1e+15"}, {1e300, "1e+300"}, {INFINITY, "inf"}};
	char buffer[LODE_NUMBER_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpstr(
			lode_number_format_count(cases[i].value, buffer), ==, cases[i].text);
}

static void test_share(void)
{
	static const Case cases[] = {{0, "0 %"}, {0.1234, "12.3 %"}, {0.00012, "0.012 %"},
		{1, "100.0 %"}, {-0.05, "-5.0 %"}, {1e-12, "0 %"}, {0.001, "0.1 %"},
		{-0.00012, "-0.012 %"}, {5, "500.0 %"}, {6.8e-9, "0.0000 %"}, {0.8e-6, "0.0001 %"},
		{1.2e-6, "0.00012 %"}};
	char buffer[LODE_NUMBER_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpstr(
			lode_number_format_share(cases[i].value, buffer), ==, cases[i].text);
}

static void test_amount(void)
{
	static const Case cases[] = {{0, "0.00"}, {0.0012, "0.0012"}, {1.234, "1.23"},
		{12.34, "12.3"}, {123.4, "123"}, {1234.5, "1,234"}};
	static const Case times[] = {{0, "0"}, {-1, "0"}, {NAN, "–"}, {420, "0.42 µs"},
		{12345, "12.3 µs"}, {4.2e6, "4.20 ms"}, {99e6, "99.0 ms"}, {1e8, "0.10 s"},
		{123e9, "123 s"}, {1.7e308, "1.7e+299 s"}};
	char buffer[LODE_NUMBER_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpstr(
			lode_number_format_amount(cases[i].value, buffer), ==, cases[i].text);
	for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
		g_assert_cmpstr(lode_number_format_time(times[i].value, buffer), ==, times[i].text);
}

static void test_exact_text(void)
{
	static const Case cases[] = {{10, "10"}, {0.1, "0.1"}, {-2.5, "-2.5"},
		{9007199254740992.0, "9007199254740992"}, {1e22, "1e+22"}, {0.3, "0.3"},
		{1.0 / 3, "0.3333333333333333"}, {0.1 + 0.2, "0.30000000000000004"}};
	char buffer[LODE_NUMBER_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpstr(
			lode_number_format_exact(cases[i].value, buffer), ==, cases[i].text);
}

static void assert_reads_back(double value)
{
	char buffer[LODE_NUMBER_SIZE];

	lode_number_format_exact(value, buffer);
	g_assert_cmpuint(strlen(buffer), <, LODE_NUMBER_SIZE);
	g_assert_null(strchr(buffer, ','));
	double again = g_ascii_strtod(buffer, NULL);
	g_assert_cmpfloat(again, ==, value);
}

static void test_exact_reads_back(void)
{
	GRand *rand = g_rand_new_with_seed(soak_seed(1));

	for (int i = 0; i < 100000; i++) {
		union {
			guint64 bits;
			double value;
		} any = {.bits = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand)};
		if (isfinite(any.value))
			assert_reads_back(any.value);
		assert_reads_back(g_rand_double(rand));
		assert_reads_back(floor(g_rand_double(rand) * 1e17));
	}
	assert_reads_back(DBL_MAX);
	assert_reads_back(-DBL_MIN);
	assert_reads_back(4.9406564584124654e-324);
	g_rand_free(rand);
}

/* A decimal comma in the user's language must not get into files. */
static void test_exact_in_other_locale(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
	char buffer[LODE_NUMBER_SIZE];
	bool is_set = false;

	for (size_t i = 0; i < G_N_ELEMENTS(names) && !is_set; i++)
		is_set = setlocale(LC_NUMERIC, names[i]) != NULL;
	if (!is_set) {
		g_test_skip("no locale with a decimal comma is installed");
		return;
	}
	g_assert_cmpstr(lode_number_format_exact(0.5, buffer), ==, "0.5");
	setlocale(LC_NUMERIC, "C");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/number_format/count", test_count);
	g_test_add_func("/number_format/share", test_share);
	g_test_add_func("/number_format/amount", test_amount);
	g_test_add_func("/number_format/exact_text", test_exact_text);
	g_test_add_func("/number_format/exact_reads_back", test_exact_reads_back);
	g_test_add_func("/number_format/exact_in_other_locale", test_exact_in_other_locale);
	return g_test_run();
}
