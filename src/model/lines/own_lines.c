/* SPDX-License-Identifier: MIT */
/* All locations and inlinings are judged once, outer ones before inner ones. */
#include "model/lines/own_lines.h"

#include "model/memory.h"

#include <string.h>

struct LodeOwnLines {
	const LodeProfile *profile;
	GPtrArray *globs; /* GPatternSpec */
	bool *is_own;     /* of each location */
	uint32_t *lines;  /* of each inlining: the own line nearest to it; LODE_NONE: none */
};

bool lode_is_toolchain_folder(const char *path)
{
	static const char *const starts[] = {"/usr/include/", "/usr/local/include/",
		"/usr/lib/gcc/", "/usr/lib/gcc-cross/", "/usr/lib/clang/", "/usr/lib64/clang/",
		"/usr/lib/llvm-", "/usr/lib/llvm/", "/usr/lib/rustlib/", "/usr/lib/go/",
		"/usr/lib/go-", "/usr/lib/golang/", "/usr/share/go-", "/usr/local/go/",
		"/usr/src/"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(path, starts[i]))
			return true;
	return false;
}

/* Whether the file is of a package that Cargo or Go downloaded: "cargo/registry/src/…",
 * "pkg/mod/golang.org/x/text@v0.3.7/…". With -trimpath only the latter part is known. */
static bool is_dependency(const char *path)
{
	const char *version = g_str_has_suffix(path, ".go") ? strstr(path, "@v") : NULL;

	return strstr(path, "cargo/registry/src/") != NULL ||
	       strstr(path, "cargo/git/checkouts/") != NULL ||
	       (version != NULL && version > path && g_ascii_isdigit(version[2]) &&
		       strchr(version, '/') != NULL);
}

bool lode_is_toolchain_file(const char *path)
{
	static const char *const packages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};

	for (size_t i = 0; i < G_N_ELEMENTS(packages) && g_str_has_suffix(path, ".java"); i++)
		if (g_str_has_prefix(path, packages[i]))
			return true;
	if (g_str_has_prefix(path, "/rustc/") || strstr(path, "/rustlib/src/rust/") != NULL)
		return true;
	if (is_dependency(path))
		return true;
	if (path[0] != '/' || strstr(path, "/../") == NULL)
		return lode_is_toolchain_folder(path);
	/* clang finds the headers of gcc from its own folder on. */
	g_autofree char *plain = g_canonicalize_filename(path, NULL);
	return lode_is_toolchain_folder(plain);
}

bool lode_is_system_library(const char *path)
{
	static const char *const folders[] = {"/lib", "/usr/lib", "/usr/local/lib"};

	for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
		if (g_str_has_prefix(path, folders[i]))
			return strstr(path, ".so") != NULL;
	return strcmp(path, "[vdso]") == 0;
}

static bool is_own_file(const LodeOwnLines *self, const char *path)
{
	for (guint i = 0; i < self->globs->len; i++)
		if (g_pattern_spec_match_string(self->globs->pdata[i], path))
			return true;
	return !lode_is_toolchain_file(path);
}

/* A file is judged once, as locations share few. */
static void judge_locations(LodeOwnLines *self)
{
	g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
	const GArray *locations = self->profile->locations;

	for (guint i = 0; i < locations->len; i++) {
		const LodeLocation *location = &LODE_AT(locations, LodeLocation, i);
		void *is_own;
		if (location->file == NULL || location->line == 0)
			continue;
		if (!g_hash_table_lookup_extended(known, location->file, NULL, &is_own)) {
			is_own = GINT_TO_POINTER(is_own_file(self, location->file));
			g_hash_table_insert(known, location->file, is_own);
		}
		self->is_own[i] = GPOINTER_TO_INT(is_own) != 0;
	}
}

LodeOwnLines *lode_own_lines_new(const LodeProfile *profile, const char *const *globs)
{
	LodeOwnLines *self = g_new0(LodeOwnLines, 1);

	self->profile = profile;
	self->globs = g_ptr_array_new_with_free_func((GDestroyNotify)g_pattern_spec_free);
	for (; globs != NULL && *globs != NULL; globs++)
		g_ptr_array_add(self->globs, g_pattern_spec_new(*globs));
	self->is_own = g_new0(bool, MAX(profile->locations->len, 1));
	self->lines = g_new(uint32_t, MAX(profile->inlinings->len, 1));
	judge_locations(self);
	for (guint i = 0; i < profile->inlinings->len; i++) {
		const LodeInlining *inlining = &LODE_AT(profile->inlinings, LodeInlining, i);
		self->lines[i] = self->is_own[inlining->location] ? inlining->location
		                 : inlining->outer != LODE_NONE   ? self->lines[inlining->outer]
		                                                  : LODE_NONE;
	}
	return self;
}

void lode_own_lines_free(LodeOwnLines *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->globs);
	g_free(self->is_own);
	g_free(self->lines);
	g_free(self);
}

uint32_t lode_own_lines_find(const LodeOwnLines *self, uint32_t instruction)
{
	uint32_t location = lode_profile_instruction(self->profile, instruction)->location;
	uint32_t inlining = lode_profile_inlining_of(self->profile, instruction);

	if (inlining == LODE_NONE || (location != LODE_NONE && self->is_own[location]) ||
		self->lines[inlining] == LODE_NONE)
		return location;
	return self->lines[inlining];
}

uint32_t lode_own_lines_find_access(const LodeOwnLines *self, const LodeMemorySample *sample)
{
	return sample->access_instruction < self->profile->instructions->len
	               ? lode_own_lines_find(self, sample->access_instruction)
	               : sample->access_location;
}

bool lode_own_lines_is_own(const LodeOwnLines *self, uint32_t location)
{
	return self->is_own[location];
}

GArray *lode_own_lines_chain(const LodeOwnLines *self, uint32_t instruction)
{
	const LodeProfile *profile = self->profile;
	const LodeInstruction *row = lode_profile_instruction(profile, instruction);
	uint32_t own = lode_own_lines_find(self, instruction);
	uint32_t inlining = lode_profile_inlining_of(profile, instruction);
	GArray *chain = g_array_new(FALSE, FALSE, sizeof(LodeInlinedLine));

	for (uint32_t id = row->location; id != LODE_NONE;) {
		const LodeLocation *location = &LODE_AT(profile->locations, LodeLocation, id);
		bool is_outermost = inlining == LODE_NONE;
		LodeInlinedLine line = {location,
			location->inlined != NULL ? location->inlined
			: is_outermost ? lode_profile_function(profile, row->function)->name
				       : "?",
			id == own};
		own = id == own ? LODE_NONE : own;
		g_array_prepend_val(chain, line);
		if (is_outermost)
			break;
		id = LODE_AT(profile->inlinings, LodeInlining, inlining).location;
		inlining = LODE_AT(profile->inlinings, LodeInlining, inlining).outer;
	}
	return chain;
}
