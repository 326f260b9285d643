/* SPDX-License-Identifier: MIT */
/* Names of functions without what makes them long. */
#include "views/code/function_name.h"

#include <glib.h>
#include <string.h>

static void check(const char *name, const char *expected)
{
	g_autofree char *brief = lode_function_name_short(name);

	g_assert_cmpstr(brief, ==, expected);
}

static void test_names(void)
{
	check("f(int, long)", "f(int, long)");
	check("a_function_of_c_with_a_name_that_is_long_all_by_itself",
		"a_function_of_c_with_a_name_that_is_long_all_by_itself");
	check("lookups(std::map<int, long, std::less<int>, std::allocator<int> > const&, int)",
		"lookups(…)");
	check("std::_Rb_tree<int, long>::_M_erase(std::_Rb_tree_node<long>*) [clone .isra.0]",
		"std::_Rb_tree<…>::_M_erase(…) [clone .isra.0]");
	check("(anonymous namespace)::Table<int>::find(std::vector<int> const&) const",
		"(anonymous namespace)::Table<int>::find(…) const");
	check("std::function<int (std::vector<int>)>::operator()(std::vector<int>) const",
		"std::function<…>::operator()(…) const");
	check("int visit<66>(std::vector<int, std::allocator<int> > const&, unsigned)",
		"int visit<66>(…)");
	check("std::ostream& operator<< <char>(std::ostream&, std::basic_string<char> const&)",
		"std::ostream& operator<< <char>(…)");
	check("void apply<decltype(std::declval<Value>()->size())>(Value&&, unsigned int)",
		"void apply<…>(…)");
	check("a_long_name_of_a_method_without_any_parameters_at_all()",
		"a_long_name_of_a_method_without_any_parameters_at_all()");
	check("my_operator<std::vector<int, std::allocator<int> >, true>()", "my_operator<…>()");
}

static void check_library(const char *path, LodeFunctionSource source, const char *expected)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	LodeImage image = {.kind = LODE_IMAGE_FILE};
	LodeFunction function = {.source = source};

	image.path = lode_profile_intern(profile, path);
	g_array_append_val(profile->images, image);
	g_autofree char *library = lode_function_library(profile, &function);
	g_assert_cmpstr(library, ==, expected);
}

/* Where the address alone would not say whose function it is. */
static void test_libraries(void)
{
	check_library("/lib/libgcc_s.so.1", LODE_FUNCTION_UNWIND, "libgcc_s.so.1");
	check_library("/usr/lib/app/plugin.so", LODE_FUNCTION_UNWIND, "plugin.so");
	check_library("/lib/libgcc_s.so.1", LODE_FUNCTION_SYMBOL, NULL);
	check_library("/usr/bin/python3.11", LODE_FUNCTION_UNWIND, NULL);
	check_library("/opt/x.source/tool", LODE_FUNCTION_UNWIND, NULL);
}

/* Brackets that do not match are none. */
static void test_unmatched(void)
{
	static const char *const names[] = {
		"one_that_is_never_closed_although_it_should_be<int, long",
		"one_that_is_closed_by_the_wrong_bracket<int, long)>_or_so",
		"one_that_is_only_closed_and_was_never_opened_before>_or_so",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		check(names[i], names[i]);
	g_autofree char *deep = g_strnfill(100000, '(');
	check(deep, deep);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/function-name/names", test_names);
	g_test_add_func("/function-name/libraries", test_libraries);
	g_test_add_func("/function-name/unmatched", test_unmatched);
	return g_test_run();
}
