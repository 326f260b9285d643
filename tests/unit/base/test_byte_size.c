/* SPDX-License-Identifier: MIT */
/* Sizes, and the names of lode's own libraries. */
#include "base/files/own_library.h"
#include "base/text/byte_size.h"

static void test_round_trip(void)
{
	static const struct {
		uint64_t size;
		const char *text;
	} cases[] = {
		{0, "0"},
		{1, "1"},
		{1000, "1000"},
		{1024, "1K"},
		{1536, "1536"},
		{32768, "32K"},
		{UINT64_C(3) << 20, "3M"},
		{UINT64_C(5) << 30, "5G"},
		{UINT64_C(1) << 40, "1T"},
		{UINT64_C(1) << 63, "8388608T"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		char *end;
		lode_byte_size_append(text, cases[i].size);
		g_assert_cmpstr(text->str, ==, cases[i].text);
		uint64_t number = g_ascii_strtoull(text->str, &end, 10);
		g_assert_cmpuint(number << lode_byte_size_shift(*end), ==, cases[i].size);
	}
}

static void test_letters(void)
{
	g_assert_cmpuint(lode_byte_size_shift('k'), ==, 10);
	g_assert_cmpuint(lode_byte_size_shift('T'), ==, 40);
	g_assert_cmpuint(lode_byte_size_shift('B'), ==, 0);
	g_assert_cmpuint(lode_byte_size_shift('\0'), ==, 0);
}

static void test_own_library(void)
{
	g_assert_true(lode_is_own_library("/usr/lib/lode/" LODE_OWN_LIBRARY("placement")));
	g_assert_true(lode_is_own_library("liblode-trace.so"));
	g_assert_false(lode_is_own_library("/usr/lib/liblode-1/libc.so"));
	g_assert_false(lode_is_own_library("/usr/lib/liblode.so"));
	g_assert_false(lode_is_own_library(""));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/base/byte-size/round-trip", test_round_trip);
	g_test_add_func("/base/byte-size/letters", test_letters);
	g_test_add_func("/base/own-library", test_own_library);
	return g_test_run();
}
