/* SPDX-License-Identifier: MIT */
#include "ingest/memory/allocator_names.h"

#include <string.h>

struct LodeAllocatorNames {
	GPtrArray *functions, *libraries, *skipped; /* GPatternSpec */
};

/* Globs. A function named like one of the C library's is assumed to do the same. */
static const char *const functions[] = {
	/* C */
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"aligned_alloc",
	"posix_memalign",
	"memalign",
	"valloc",
	"pvalloc",
	"strdup",
	"strndup",
	"asprintf",
	"vasprintf",
	"mmap",
	"mmap64",
	"mremap",
	/* wrappers by their usual names: xmalloc, zcalloc, my_malloc, CRYPTO_zalloc, git's xmallocz
         */
	"?malloc*",
	"?calloc*",
	"?realloc*",
	"?zalloc*",
	"?nmalloc*",
	"?2nrealloc",
	"?palloc",
	"?memdup*",
	"?strdup*",
	"?strndup*",
	"?asprintf",
	"*_malloc",
	"*_calloc",
	"*_realloc",
	"*_zalloc",
	"*_memalign",
	"*_strdup",
	"*_strndup",
	"*_memdup",
	"*_malloc0",
	"*_mallocz",
	"*_Malloc",
	"*_Calloc",
	"*_Realloc",
	"do_xmalloc*",
	"je_*",
	"tc_*",
	"mi_*",
	/* C++ */
	"operator new*",
	"std::*",
	"__gnu_cxx::*",
	"boost::container::*",
	/* Rust */
	"__rust_*alloc*",
	"__rdl_*",
	"__rg_*",
	"alloc::*",
	"<alloc::*",
	"core::*",
	"<core::*",
	"<std::*",
	"hashbrown::*",
	"<hashbrown::*",
	/* GLib */
	"g_malloc*",
	"g_realloc*",
	"g_try_malloc*",
	"g_try_realloc*",
	"g_try_new*",
	"g_aligned_alloc*",
	"g_slice_*",
	"g_strdup*",
	"g_strndup",
	"g_strconcat",
	"g_memdup*",
	"g_array_*",
	"g_byte_array_*",
	"g_ptr_array_*",
	"g_hash_table_*",
	"g_list_*",
	"g_slist_*",
	"g_queue_*",
	"g_tree_*",
	"g_string_*",
	"g_type_create_instance",
	"g_object_new*",
	/* SQLite */
	"sqlite3_malloc*",
	"sqlite3_realloc*",
	"sqlite3Malloc*",
	"sqlite3Realloc*",
	"sqlite3MemMalloc",
	"sqlite3MemRealloc",
	"sqlite3DbMalloc*",
	"sqlite3DbRealloc*",
	"sqlite3DbStrDup",
	"sqlite3DbStrNDup",
	"sqlite3PageMalloc",
	"pcache1Alloc*",
	"mallocWithAlarm",
	"dbMallocRawFinish",
	"dbReallocFinish",
	/* CPython */
	"PyMem_*",
	"_PyMem_*",
	"PyObject_Malloc",
	"PyObject_Calloc",
	"PyObject_Realloc",
	"_PyObject_Malloc",
	"_PyObject_Calloc",
	"_PyObject_Realloc",
	"_PyObject_GC_Alloc",
	"_PyObject_GC_Malloc",
	"_PyObject_GC_New*",
	"_PyObject_New*",
	"PyType_GenericAlloc",
	"pymalloc_alloc",
	"new_arena",
	"allocate_from_new_pool",
	/* OCaml, Perl, Ruby, Lua, Go */
	"caml_alloc*",
	"caml_stat_alloc*",
	"caml_stat_resize*",
	"caml_stat_calloc*",
	"caml_malloc*",
	"Perl_safesys*",
	"Perl_sv_grow",
	"Perl_more_bodies",
	"ruby_x*alloc*",
	"objspace_x*alloc*",
	"l_alloc",
	"luaM_*",
	"runtime.sysAlloc*",
	"runtime.sysReserve*",
	"runtime.mmap*",
	"runtime.persistentalloc*",
};

static const char *const libraries[] = {"libc.so*", "libc-*.so", "ld-linux*", "ld-musl*",
	"libpthread*", "libdl.so*", "libstdc++.so*", "libc++.so*", "libc++abi.so*", "libgcc_s.so*",
	"libstd-*.so", "libjemalloc.so*", "libtcmalloc*.so*", "libmimalloc.so*", "liblode-*.so"};

static void free_pattern(void *data)
{
	g_pattern_spec_free(data);
}

static GPtrArray *compile(const char *const *globs, size_t n)
{
	GPtrArray *compiled = g_ptr_array_new_with_free_func(free_pattern);

	for (size_t i = 0; i < n; i++)
		g_ptr_array_add(compiled, g_pattern_spec_new(globs[i]));
	return compiled;
}

LodeAllocatorNames *lode_allocator_names_new(const char *const *skipped)
{
	LodeAllocatorNames *self = g_new0(LodeAllocatorNames, 1);

	self->functions = compile(functions, G_N_ELEMENTS(functions));
	self->libraries = compile(libraries, G_N_ELEMENTS(libraries));
	self->skipped = compile(skipped, skipped != NULL ? g_strv_length((char **)skipped) : 0);
	return self;
}

void lode_allocator_names_free(LodeAllocatorNames *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->functions);
	g_ptr_array_unref(self->libraries);
	g_ptr_array_unref(self->skipped);
	g_free(self);
}

static bool matches(const GPtrArray *patterns, const char *text)
{
	size_t length = strlen(text);

	for (guint i = 0; i < patterns->len; i++)
		if (g_pattern_spec_match(patterns->pdata[i], length, text, NULL))
			return true;
	return false;
}

/*
 * The name alone: of "void std::vector<int>::push_back(int const&)" what stands between the result
 * and the parameters. "operator new" and Rust's "<T as U>::f" keep their blanks.
 */
static char *bare_name(const char *function)
{
	const char *begin = function, *at = function;
	unsigned depth = 0;

	for (; *at != '\0'; at++) {
		bool is_arrow = *at == '>' && at > function && at[-1] == '-';
		if (*at == '<')
			depth++;
		else if (*at == '>' && depth > 0 && !is_arrow)
			depth--;
		if (depth > 0)
			continue;
		if (g_str_has_prefix(at, "operator"))
			return g_strdup(begin);
		if (*at == '(' && !g_str_has_prefix(at, "(anonymous namespace)"))
			break;
		if (*at == '(')
			at += strlen("(anonymous namespace)") - 1;
		else if (*at == ' ')
			begin = at + 1;
	}
	return g_strndup(begin, (gsize)(at - begin));
}

/* The T of Rust's "<T as U>::f", without references and brackets; NULL: a name of a different form.
 */
static const char *implementing_type(const char *name, const char **out_trait)
{
	unsigned depth = 0;
	const char *at = name;

	for (; *at != '\0'; at++) {
		depth += *at == '<';
		depth -= *at == '>' && at[-1] != '-' && depth > 0;
		if (depth == 0)
			return NULL;
		if (depth == 1 && g_str_has_prefix(at, " as "))
			break;
	}
	*out_trait = at + strlen(" as ");
	name += strspn(name, "<&*[(");
	while (g_str_has_prefix(name, "mut ") || g_str_has_prefix(name, "const ") ||
		g_str_has_prefix(name, "dyn "))
		name = strchr(name, ' ') + 1 + strspn(strchr(name, ' ') + 1, "<&*[(");
	return *at == '\0' ? NULL : name;
}

static bool is_of_rust_library(const char *path)
{
	return g_str_has_prefix(path, "alloc::") || g_str_has_prefix(path, "core::") ||
	       g_str_has_prefix(path, "std::") || g_str_has_prefix(path, "hashbrown::");
}

/* Whether it is a trait of Rust's libraries for one of their types, a built-in type ("u8", "[T]")
 * or a parameter ("T"), which have no path. A type of the program's has its crate's name. */
static bool is_rust_library_method(const char *name)
{
	const char *trait, *type = name[0] == '<' ? implementing_type(name, &trait) : NULL;

	if (type == NULL || !is_of_rust_library(trait))
		return false;
	size_t length = strcspn(type, " <>[](),;:");
	return is_of_rust_library(type) || !g_str_has_prefix(type + length, "::");
}

bool lode_allocator_names_is_allocator(const LodeAllocatorNames *self, const char *function)
{
	g_autofree char *bare = bare_name(function);

	return matches(self->functions, bare) || is_rust_library_method(bare);
}

bool lode_allocator_names_is_runtime_source(const char *file)
{
	static const char *const parts[] = {
		"/library/alloc/src/", "/library/core/src/", "/library/std/src/", "/rust/deps/"};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (strstr(file, parts[i]) != NULL)
			return true;
	return g_str_has_prefix(file, "/rustc/");
}

bool lode_allocator_names_is_runtime(const LodeAllocatorNames *self, const char *library)
{
	return matches(self->libraries, library);
}

bool lode_allocator_names_is_skipped(
	const LodeAllocatorNames *self, const char *function, const char *library)
{
	if (self->skipped->len == 0)
		return false;
	if (matches(self->skipped, library))
		return true;
	if (function == NULL)
		return false;
	g_autofree char *bare = bare_name(function);
	return matches(self->skipped, function) || matches(self->skipped, bare);
}
