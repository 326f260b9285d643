/* SPDX-License-Identifier: MIT */
/* Names of functions, types and data, as short as they are shown to people. */
#pragma once

#include "base/text/json_stream.h"
#include "views/form/format.h"

typedef struct LodeFunction LodeFunction;
typedef struct LodeProfile LodeProfile;

/*
 * A name without its parameters, the type of its result, the default template arguments of the
 * standard library, its namespaces of one version, the path of a package of Go, of Rust hashes and
 * the paths of types and traits, and what run-time compilers say of how they compiled it:
 *
 *   lookups(std::map<int, long, std::less<int>, …> const&, int)    lookups(…)
 *   std::__cxx11::basic_string<char, …>::append(char const*)       std::string::append(…)
 *   std::map<int, long, std::less<int>, …>::find(int const&)       std::map<int, long>::find(…)
 *   int visit<66>(std::vector<int, …> const&, unsigned)            visit<66>(…)
 *   core::slice::sort::heapsort::h0123456789abcdef                 core::slice::sort::heapsort
 *   <alloc::vec::Vec<T> as core::clone::Clone>::clone              <Vec<T> as Clone>::clone
 *   encoding/json.(*encodeState).string                            json.(*encodeState).string
 *   JS:*parse /srv/app/lib/read.js:3:15                            parse read.js:3
 *   shop.Cart.price(int) [tier 4, OSR]                             shop.Cart.price(…)
 *
 *   Node<std::pair<std::string const, Record<long, 4> > >.key      Node<std::pair<…>>.key
 *
 * Template arguments of a name that is still longer than 48 bytes become "<…>", those inside others
 * first; the member after a type does not count. Those of up to 8 bytes stay everywhere. A name
 * whose brackets do not match stays as it is. Linear in its length. The caller frees the result.
 */
char *lode_function_name_short(const char *name);

/* Only what is called: no result, no parameters, no template arguments: "Cache::find" of
 * "long Cache::find<int>(…) const", "Iter::next" of "<core::slice::Iter<T> as Iterator>::next",
 * "[T]::len" of "core::slice::<impl [T]>::len"; of a function that V8 compiled the short name. The
 * caller frees it. */
char *lode_function_name_bare(const char *name);

/* The name as the terminal has it, short unless whole ones are wanted. The caller frees it. */
char *lode_function_name_text(const char *name, const LodeTerminal *terminal);

/* Whether two names are of one function that was compiled several times while the program ran: the
 * same but for the " [tier 4]" that lode's agent for Java puts after them, and V8's "JS:*" before.
 */
bool lode_function_name_is_version(const char *name, const char *other);

/* The same of two functions: a compiler made both while the program ran, into one dump. */
bool lode_function_is_version(
	const LodeProfile *profile, const LodeFunction *function, const LodeFunction *other);

/* Appends the same, harmless. */
void lode_function_name_append(GString *out, const char *name, const LodeTerminal *terminal);

/* A member with the whole name (NULL: null), and if the short one is shorter, a member "short_" of
 * it; the latter alone. */
void lode_function_name_json(LodeJsonStream *json, const char *member, const char *name);
void lode_function_name_json_short(LodeJsonStream *json, const char *member, const char *name);

/*
 * The file name of the shared library, as "libgcc_s.so.1", of a function that is only known by its
 * address; NULL for any other function. The caller frees the result.
 */
char *lode_function_library(const LodeProfile *profile, const LodeFunction *function);
