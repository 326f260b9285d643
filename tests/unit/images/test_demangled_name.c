/* SPDX-License-Identifier: MIT */
#include "images/elf/demangled_name.h"

#include <string.h>

static void test_names(void)
{
	static const struct {
		const char *symbol, *name;
	} NAMES[] = {
		{"main", "main"},
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]"},
		{"_ZNSt6vectorIiSaIiEE9push_backEOi",
			"std::vector<int, std::allocator<int> >::push_back(int&&)"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"_RNvXs_CslZ3n_5crateNtB4_3FooNtNtCs0_4core3fmt7Display3fmt",
			"<crate::Foo as core::fmt::Display>::fmt"},
		{"_D1p4spinFlZl", "p.spin(long)"},
		{"_Dmain", "D main"},
		{"_D3std5stdio4File5closeMFNeZv", "std.stdio.File.close()"},
		{"_D4test3fooFAyaxiZ3barMFDFNbZvZi",
			"test.foo(immutable(char)[], const(int)).bar(void() nothrow delegate)"},
		{"_D3std5stdio4File11ByChunkImpl5emptyMxFNbNdZb",
			"std.stdio.File.ByChunkImpl.empty() const"},
		{"_D2rt4util7utility__T8_ComplexTdZQm6__initZ",
			"initializer for rt.util.utility._Complex!(double)._Complex"},
		{"_D12notmangled", "_D12notmangled"},
		{"_Data", "_Data"},
		{"_Read", "_Read"},
		{"memcpy@@GLIBC_2.14", "memcpy"},
		{"_ZN3foo3barEi@VERSION_1", "foo::bar(int)"},
		{"_Znotmangled", "_Znotmangled"},
		{"_init", "_init"},
		{"@", "@"},
		{"bad\xff", "bad\xef\xbf\xbd"},
	};
	GStringChunk *names = g_string_chunk_new(64);

	for (size_t i = 0; i < G_N_ELEMENTS(NAMES); i++)
		g_assert_cmpstr(lode_demangled_name(NAMES[i].symbol, names), ==, NAMES[i].name);
	g_string_chunk_free(names);
}

/* Each pair<S, S> doubles the name: 2^60 words from some 300 bytes. */
static void test_explosion(void)
{
	GStringChunk *names = g_string_chunk_new(64);
	g_autoptr(GString) symbol = g_string_new("_Z1f1aI1bS0_E");

	for (int i = 1; i < 60; i++) {
		const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		g_autofree char *last = i < 36 ? g_strdup_printf("S%c_", digits[i])
		                               : g_strdup_printf("S1%c_", digits[i - 36]);

		g_string_append_printf(symbol, "S_I%s%sE", last, last);
	}
	g_assert_cmpstr(lode_demangled_name(symbol->str, names), ==, symbol->str);
	g_string_chunk_free(names);
}

/* Reading one function's type in the other's fails, and twice at each level: 2^250 times. */
static void test_endless(void)
{
	static const char *const parts[] = {"FS1a", "MFS1a", "__T1aS", "__T1aS21", "FQbS1a"};
	GStringChunk *names = g_string_chunk_new(64);

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		g_autoptr(GString) symbol = g_string_new("_D1a");

		for (int k = 0; k < 250; k++)
			g_string_append(symbol, parts[i]);
		g_assert_cmpstr(lode_demangled_name(symbol->str, names), ==, symbol->str);
		g_string_truncate(symbol, 200);
		g_assert_cmpstr(lode_demangled_name(symbol->str, names), ==, symbol->str);
	}
	/* each tuple is two of the one before */
	g_autoptr(GString) doubled = g_string_new("_D1aFB2ii");
	for (int k = 0; k < 60; k++)
		g_string_append(doubled, "B2QdQf");
	g_string_append(doubled, "Zv");
	g_assert_cmpuint(strlen(lode_demangled_name(doubled->str, names)), <, 20000);
	g_string_chunk_free(names);
}

static void test_long(void)
{
	GStringChunk *names = g_string_chunk_new(64);
	g_autofree char *pointers = g_strnfill(3000, 'P');
	g_autofree char *deep = g_strconcat("_Z1f", pointers, "i", NULL);
	g_autofree char *too_long = g_strnfill(100000, 'P');
	const char *name = lode_demangled_name(deep, names);

	g_assert_true(g_str_has_prefix(name, "f(int*") || strcmp(name, deep) == 0);
	memcpy(too_long, "_Z1f", 4);
	g_assert_cmpstr(lode_demangled_name(too_long, names), ==, too_long);
	g_string_chunk_free(names);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/demangled_name/names", test_names);
	g_test_add_func("/images/demangled_name/explosion", test_explosion);
	g_test_add_func("/images/demangled_name/endless", test_endless);
	g_test_add_func("/images/demangled_name/long", test_long);
	return g_test_run();
}
