/* SPDX-License-Identifier: MIT */
/* Names of functions without what makes them long. */
#include "model/profile.h"
#include "views/form/function_name.h"

#include "seeds.h"

#include <glib.h>
#include <string.h>

static void check(const char *name, const char *expected)
{
	g_autofree char *brief = lode_function_name_short(name);

	g_assert_cmpstr(brief, ==, expected);
}

static void test_names(void)
{
	check("f(int)", "f(int)");
	check("worker(long*, unsigned long)", "worker(…)");
	check("a_function_of_c_with_a_name_that_is_long_all_by_itself",
		"a_function_of_c_with_a_name_that_is_long_all_by_itself");
	check("lookups(std::map<int, long, std::less<int>, std::allocator<int> > const&, int)",
		"lookups(…)");
	check("std::_Rb_tree<int, long>::_M_erase(std::_Rb_tree_node<long>*) [clone .isra.0]",
		"std::_Rb_tree<…>::_M_erase(…) [clone .isra.0]");
	check("std::_Rb_tree<a_long_type_of_the_program, long>::_M_erase(long*, int)",
		"std::_Rb_tree<…>::_M_erase(…)");
	check("(anonymous namespace)::Table<int>::find(std::vector<int> const&) const",
		"(anonymous namespace)::Table<int>::find(…) const");
	check("std::function<int (std::vector<int>)>::operator()(std::vector<int>) const",
		"std::function<…>::operator()(…) const");
	check("int visit<66>(std::vector<int, std::allocator<int> > const&, unsigned)",
		"visit<66>(…)");
	check("bool std::operator==<char, std::char_traits<char>, std::allocator<char> >"
	      "(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	      " const&, char const*)",
		"std::operator==<char>(…)");
	check("std::ostream& operator<< <char>(std::ostream&, std::basic_string<char> const&)",
		"operator<< <char>(…)");
	check("void apply<decltype(std::declval<Value>()->size())>(Value&&, unsigned int)",
		"apply<…>(…)");
	check("a_long_name_of_a_method_without_any_parameters_at_all()",
		"a_long_name_of_a_method_without_any_parameters_at_all()");
	check("my_operator<std::vector<int, std::allocator<int> >, true>()",
		"my_operator<std::vector<int>, true>()");
	check("JS:*parse /srv/my app/read.js:3:15", "parse read.js:3");
	check("JS:* /srv/read.js:3:15", "(anonymous) read.js:3");
	check("JS:*parse /srv/read.js", "parse read.js");
	check("shop.Cart.price() [tier 4, OSR]", "shop.Cart.price()");
	check("JS:~get x file:///srv/read.mjs:1:1", "get x read.mjs:1");
	check("JS:^emit node:internal/events:4:2", "emit node:internal/events:4");
	check("JS:*f", "f");
	check("struct bucket<string,*cmd/internal/obj.LSym>.keys[].len",
		"struct bucket<string,*cmd/internal/obj.LSym>.keys[].len");
	check("parse /srv/read.js:3:15", "parse /srv/read.js:3:15");
}

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

/* Only a type before a name with parameters. */
static void test_results(void)
{
	check("std::pair<int, long> const& A::f<int>(long, long, long)", "A::f<int>(…)");
	check("unsigned long f<int>()", "f<int>()");
	check("auto f<int>(int)::{lambda(auto:1)#1}::operator()<long>(long) const",
		"f<int>(int)::{lambda(auto:1)#1}::operator()<long>(long) const");
	check("bool (anonymous namespace)::f<int>()", "(anonymous namespace)::f<int>()");
	check("Table::operator unsigned long() const", "Table::operator unsigned long() const");
	check("non-virtual thunk to A::f(int)", "non-virtual thunk to A::f(int)");
	check("guard variable for f(int)::table", "guard variable for f(int)::table");
	check("void (*f<int>(int))(long)", "void (*f<int>(int))(long)");
	check("vtable stub", "vtable stub");
	check("f [clone .isra.0]", "f [clone .isra.0]");
}

/* A file is none of Go's packages. */
static void test_files(void)
{
	static const char *const names[] = {"src/list.c", "src/list.c:31", "malloc@a/list.c:31",
		"/usr/lib/x.so.1", "operator/(A, B)", "LazyCompile:~f /app/x.handler", "a/.b",
		"a/"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		check(names[i], names[i]);
}

/* In a long name the inner template arguments are left out first. */
static void test_depth(void)
{
	check("std::vector<std::pair<int, " STRING " >, std::allocator<std::pair<int, " STRING
	      " > > >",
		"std::vector<std::pair<int, std::string>>");
	check("std::pair<int, " STRING " >.second._M_string_length",
		"std::pair<int, std::string>.second._M_string_length");
	check("std::_Rb_tree_node<std::pair<" STRING " const, Record<unsigned long, 4> > >.key",
		"std::_Rb_tree_node<std::pair<…>>.key");
	check("A<B<C<Deeply<Nested, Arguments>, Others>, Many>, Arguments>::f(int)",
		"A<B<C<…>, Many>, Arguments>::f(int)");
	check("Table<SomeQuiteLongNameOfAClass, AndTheNameOfAnotherClass>::find(int)",
		"Table<…>::find(int)");
	check("Table<SomeQuiteLongNameOfAClass, AndTheNameOfAnotherClass>.next", "Table<…>.next");
}

/* Only what the standard library itself puts there is left out. */
static void test_defaults(void)
{
	check(STRING "::_M_append(char const*, unsigned long)", "std::string::_M_append(…)");
	check("Cache::find(" STRING " const&)", "Cache::find(…)");
	check("std::vector<" STRING ", std::allocator<" STRING " > >::size() const",
		"std::vector<std::string>::size() const");
	check("std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >",
		"std::map<int, long>");
	check("std::map<int, long, std::less<void>, std::allocator<int> >",
		"std::map<int, long, std::less<void>>");
	check("std::map<int, long, std::less<int>::other, A>",
		"std::map<int, long, std::less<int>::other, A>");
	check("std::unordered_set<int, std::hash<int>, std::equal_to<int>, std::allocator<int> >",
		"std::unordered_set<int>");
	check("std::unique_ptr<Node, std::default_delete<Node> >::~unique_ptr()",
		"std::unique_ptr<Node>::~unique_ptr()");
	check("std::unique_ptr<Node, Pool::Delete>", "std::unique_ptr<Node, Pool::Delete>");
	check("std::vector<int, my::allocator<int> >", "std::vector<int, my::allocator<int>>");
	check("A<std::allocator<int> >", "A<std::allocator<int>>");
	check("std::__1::basic_string_view<wchar_t, std::__1::char_traits<wchar_t> >",
		"std::wstring_view");
	check("std::basic_ios<char, std::char_traits<char> >::init", "std::ios::init");
	check("my_std::basic_string<char>", "my_std::basic_string<char>");
	check("std::chrono::_V2::system_clock::now()", "std::chrono::system_clock::now()");
	check("name[abi:cxx11](int, long, long)", "name(…)");
	check("f<(Kind)3, &(g(int, int, int))>()", "f<(Kind)3, &(g(int, int, int))>()");
}

static void test_languages(void)
{
	check("core::slice::sort::heapsort::h0123456789abcdef", "core::slice::sort::heapsort");
	check("core::hash::h0123456789abcdeg", "core::hash::h0123456789abcdeg");
	check("<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::h0123456789abcdef",
		"<Vec<T,A> as Drop>::drop");
	check("<std::collections::hash::map::HashMap<K,V,S> as core::ops::index::Index>::index",
		"<HashMap<K,V,S> as Index>::index");
	check("<core::iter::adapters::map::Map<I,words::main::{{closure}}> as "
	      "core::iter::traits::iterator::Iterator>::next",
		"<Map<I,main::{{closure}}> as Iterator>::next");
	check("core::slice::cmp::<impl core::cmp::PartialEq<[U]> for [T]>::eq",
		"<impl PartialEq<[U]> for [T]>::eq");
	check("hashbrown::raw::RawTable<T,A>::reserve_rehash",
		"hashbrown::raw::RawTable<T,A>::reserve_rehash");
	check("encoding/json.(*encodeState).string", "json.(*encodeState).string");
	check("github.com/a-b/c.d/v2.Walk.func1", "v2.Walk.func1");
	check("a/b.Map[go.shape.[]c/d.T,int]", "b.Map[go.shape.[]c/d.T,int]");
	check("type..eq.encoding/json.field", "type..eq.encoding/json.field");
	check("main.(*LongNameOfATree).Insert", "main.(*LongNameOfATree).Insert");
	check("main.Map[go.shape.int].find", "main.Map[go.shape.int].find");
	check("java.util.ArrayList.<init>(java.util.Collection)", "java.util.ArrayList.<init>(…)");
	check("push (a remark of more than some bytes) list.h:7",
		"push (a remark of more than some bytes) list.h:7");
}

static void check_bare(const char *name, const char *expected)
{
	g_autofree char *bare = lode_function_name_bare(name);

	g_assert_cmpstr(bare, ==, expected);
}

static void test_bare(void)
{
	check_bare("worker(std::vector<int> const&, long)", "worker");
	check_bare("Cache::find(" STRING " const&) const", "Cache::find");
	check_bare("bool std::operator==<char, std::char_traits<char> >(" STRING " const&)",
		"std::operator==");
	check_bare("int visit<66>(std::vector<int> const&)", "visit");
	check_bare("std::ostream& operator<< <char>(std::ostream&)", "operator<<");
	check_bare("A::operator bool() const", "A::operator bool");
	check_bare("java.util.stream.AbstractPipeline.<init>(int)",
		"java.util.stream.AbstractPipeline.<init>");
	check_bare("std::function<int (int)>::operator()(int) const", "std::function::operator()");
	check_bare("main::{lambda(int, long)#1}::operator()(int, long) const",
		"main::{lambda(…)#1}::operator()");
	check_bare("(anonymous namespace)::Table<int>::find(int)",
		"(anonymous namespace)::Table::find");
	check_bare("node::(anonymous namespace)::worker(void*)",
		"node::(anonymous namespace)::worker");
	check_bare("<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::h0123456789abcdef",
		"Vec::drop");
	check_bare("<T as core::convert::Into<U>>::into", "T::into");
	check_bare("<impl core::fmt::Display for T>::fmt", "T::fmt");
	check_bare("core::slice::<impl [T]>::len", "[T]::len");
	check_bare("<str>::trim", "str::trim");
	check_bare("<&T as core::fmt::Debug>::fmt", "&T::fmt");
	check_bare("<<T as A>::B as C>::f", "<<T as A>::B as C>::f");
	check_bare("core::iter::range::<impl core::iter::Iterator for "
		   "core::ops::range::RangeInclusive<A>>::next",
		"RangeInclusive::next");
	check_bare("main.(*Tree).Insert", "main.(*Tree).Insert");
	check_bare("java.util.Random.next(int)", "java.util.Random.next");
	check_bare("JS:*parse /srv/read.js:3:15", "parse read.js:3");
	check_bare("step.isra.0", "step.isra.0");
	check_bare("", "");
	check_bare("a<b", "a<b");
	check_bare("(", "(");
}

/* Sanitizers look for the end of a text at each comparison. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* Four million bytes take no longer than linear time: the test would not end. */
static void test_large(void)
{
	static const char *const parts[] = {"a<", "std::less<", "a(", "(", "<", "a<b,std::less<b>,",
		"a,", "operator<", "a{", "{}", "a ", "std::basic_string<char>",
		"::h0123456789abcde", "x> "};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		size_t length = strlen(parts[i]), n = (SANITIZED ? 100000 : 1000000) / length;
		g_autofree char *name = g_malloc(n * length + 1);
		for (size_t k = 0; k < n; k++)
			memcpy(name + k * length, parts[i], length);
		name[n * length] = 0;
		g_autofree char *brief = lode_function_name_short(name);
		g_autofree char *bare = lode_function_name_bare(name);
		g_assert_cmpuint(strlen(brief), <=, n * length);
		g_assert_cmpuint(strlen(bare), <=, n * length);
	}
}

/* Never longer, and nothing left to shorten, for any text of these pieces. */
static void test_random(void)
{
	static const char *const parts[] = {"<", ">", "(", ")", ",", " ", "std::", "allocator<",
		"less<", "basic_string<char", "operator", "->", "::", "T", "&", "__cxx11::", "…"};
	g_autoptr(GRand) random = g_rand_new_with_seed(7);

	for (unsigned i = random_rounds(100000, 1000000); i > 0; i--) {
		g_autoptr(GString) name = g_string_new(NULL);
		for (int n = g_rand_int_range(random, 0, 30); n > 0; n--)
			g_string_append(
				name, parts[g_rand_int_range(random, 0, G_N_ELEMENTS(parts))]);
		g_autofree char *brief = lode_function_name_short(name->str);
		g_assert_cmpuint(strlen(brief), <=, name->len);
		g_assert_true(g_utf8_validate(brief, -1, NULL));
		g_autofree char *bare = lode_function_name_bare(name->str);
		g_assert_true(g_utf8_validate(bare, -1, NULL));
	}
}

static void check_library(const char *path, LodeFunctionSource source, const char *expected)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	LodeImage image = {.kind = LODE_IMAGE_FILE};
	LodeFunction function = {.source = source};

	image.path = lode_profile_intern(profile, path);
	g_array_append_val(profile->code.images, image);
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

static void test_versions(void)
{
	static const struct {
		const char *name, *other;
		bool is_version;
	} cases[] = {
		{"A.f(int) [tier 4]", "A.f(int) [tier 3, OSR]", true},
		{"A.f(int) [tier 4]", "A.f(long) [tier 4]", false},
		{"JS:*f /a.js:1:2", "JS:~f /a.js:1:2", true},
		{"JS:*f /a.js:1:2", "JS:f /a.js:1:2", true},
		{"JS:*f /a.js:1:2", "JS:*f /a.js:3:2", false},
		{"JS:", "JS:*", true},
		{"JS:f", "f", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpint(lode_function_name_is_version(cases[i].name, cases[i].other), ==,
			cases[i].is_version);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/function-name/names", test_names);
	g_test_add_func("/function-name/results", test_results);
	g_test_add_func("/function-name/files", test_files);
	g_test_add_func("/function-name/depth", test_depth);
	g_test_add_func("/function-name/defaults", test_defaults);
	g_test_add_func("/function-name/languages", test_languages);
	g_test_add_func("/function-name/bare", test_bare);
	g_test_add_func("/function-name/large", test_large);
	g_test_add_func("/function-name/random", test_random);
	g_test_add_func("/function-name/libraries", test_libraries);
	g_test_add_func("/function-name/unmatched", test_unmatched);
	g_test_add_func("/function-name/versions", test_versions);
	return g_test_run();
}
