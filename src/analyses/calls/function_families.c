/* SPDX-License-Identifier: MIT */
#include "analyses/calls/function_families.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/lines/own_lines.h"
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char builtin_families[] =
#include "analyses/calls/families_ini.h"
	;

enum { MAX_MEMBERS = G_N_ELEMENTS(((LodeFamilyCost *)0)->members) };

/* Most are told apart by what stands before the first wildcard. */
typedef struct {
	char *begin;
	size_t length;
	GPatternSpec *spec;
} Pattern;

/* A group of the file. Several may be of one family. */
typedef struct {
	char *group;
	uint32_t family;
	bool is_common;                /* programs have functions of these names */
	bool has_inlined;              /* they count where they are inlined, too */
	GHashTable *names;             /* functions without wildcards */
	GPtrArray *functions, *images; /* Pattern; no images: all */
} Rule;

struct LodeFamilies {
	GPtrArray *rules;      /* Rule */
	GArray *families;      /* LodeFamily */
	GStringChunk *strings; /* theirs */
};

static void rule_free(void *data)
{
	Rule *self = data;

	g_hash_table_unref(self->names);
	g_ptr_array_unref(self->functions);
	g_ptr_array_unref(self->images);
	g_free(self->group);
	g_free(self);
}

static void pattern_free(void *data)
{
	Pattern *self = data;

	g_pattern_spec_free(self->spec);
	g_free(self->begin);
	g_free(self);
}

static GPtrArray *pattern_list(void)
{
	return g_ptr_array_new_with_free_func(pattern_free);
}

static Pattern *pattern_new(const char *glob)
{
	Pattern *self = g_new0(Pattern, 1);

	self->length = strcspn(glob, "*?");
	self->begin = g_strndup(glob, self->length);
	self->spec = g_pattern_spec_new(glob);
	return self;
}

static bool fail(GError **error, const Rule *rule, const char *what, const char *key)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "group '%s': %s '%s'", rule->group, what,
		key);
	return false;
}

/* The family that an earlier group has begun; LODE_NONE: none. */
static uint32_t family_named(const LodeFamilies *self, const char *name)
{
	for (uint32_t i = 0; i < self->families->len; i++)
		if (strcmp(lode_families_at(self, i)->name, name) == 0)
			return i;
	return LODE_NONE;
}

/* `names` gets those without wildcards; NULL: all are patterns. */
static bool add_patterns(GPtrArray *patterns, GHashTable *names, GKeyFile *file, const Rule *rule,
	const char *key, GError **error)
{
	g_auto(GStrv) globs = g_key_file_get_string_list(file, rule->group, key, NULL, NULL);

	for (char **glob = globs; glob != NULL && *glob != NULL; glob++) {
		g_strstrip(*glob);
		if (**glob == '\0')
			return fail(error, rule, "an empty pattern in", key);
		if (names != NULL && strpbrk(*glob, "*?") == NULL)
			g_hash_table_add(names, g_strdup(*glob));
		else
			g_ptr_array_add(patterns, pattern_new(*glob));
	}
	return true;
}

/* A family is described by the first of its groups. */
static bool take_family(LodeFamilies *self, Rule *rule, GKeyFile *file, GError **error)
{
	g_autofree char *name = g_key_file_get_string(file, rule->group, "family", NULL);
	g_autofree char *text = g_key_file_get_string(file, rule->group, "description", NULL);
	g_autofree char *time = g_key_file_get_string(file, rule->group, "time", NULL);

	g_autofree char *names = g_key_file_get_string(file, rule->group, "names", NULL);
	g_autofree char *inlined = g_key_file_get_string(file, rule->group, "inlined", NULL);

	if (inlined != NULL && strcmp(inlined, "yes") != 0)
		return fail(error, rule, "the only word for 'inlined' is 'yes', not", inlined);
	rule->has_inlined = inlined != NULL;
	if (names != NULL && strcmp(names, "common") != 0)
		return fail(error, rule, "the only word for 'names' is 'common', not", names);
	rule->is_common = names != NULL;
	if (time != NULL && strcmp(time, "self") != 0)
		return fail(error, rule, "the only word for 'time' is 'self', not", time);
	rule->family = family_named(self, name != NULL ? name : rule->group);
	if (rule->family != LODE_NONE)
		return (text == NULL && time == NULL) ||
		       fail(error, rule, "an earlier group describes the family",
			       name != NULL ? name : rule->group);
	if (name != NULL)
		return fail(error, rule, "no earlier group has the family", name);
	if (text == NULL || text[0] == '\0')
		return fail(error, rule, "nothing is given for", "description");
	g_autofree char *images = g_key_file_get_string(file, rule->group, "images", NULL);
	const LodeFamily family = {g_string_chunk_insert(self->strings, rule->group),
		g_string_chunk_insert(self->strings, text), time != NULL,
		g_strcmp0(images, "[kernel]") == 0};
	rule->family = self->families->len;
	g_array_append_val(self->families, family);
	return true;
}

static bool parse_rule(LodeFamilies *self, Rule *rule, GKeyFile *file, GError **error)
{
	static const char *const known[] = {
		"family", "description", "time", "names", "inlined", "functions", "images", NULL};
	g_auto(GStrv) keys = g_key_file_get_keys(file, rule->group, NULL, NULL);

	for (char **key = keys; *key != NULL; key++)
		if (!g_strv_contains(known, *key))
			return fail(error, rule, "unknown key", *key);
	if (!take_family(self, rule, file, error) ||
		!add_patterns(rule->functions, rule->names, file, rule, "functions", error) ||
		!add_patterns(rule->images, NULL, file, rule, "images", error))
		return false;
	return rule->functions->len + g_hash_table_size(rule->names) > 0 ||
	       fail(error, rule, "nothing is given for", "functions");
}

LodeFamilies *lode_families_parse(const char *text, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) reason = NULL;
	g_autoptr(LodeFamilies) self = g_new0(LodeFamilies, 1);

	self->rules = g_ptr_array_new_with_free_func(rule_free);
	self->families = g_array_new(FALSE, FALSE, sizeof(LodeFamily));
	self->strings = g_string_chunk_new(1 << 10);
	if (!g_key_file_load_from_data(file, text, (gsize)-1, G_KEY_FILE_NONE, &reason)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s", reason->message);
		return NULL;
	}
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	for (char **group = groups; *group != NULL; group++) {
		Rule *rule = g_new0(Rule, 1);
		rule->group = g_strdup(*group);
		rule->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
		rule->functions = pattern_list();
		rule->images = pattern_list();
		g_ptr_array_add(self->rules, rule);
		if (!parse_rule(self, rule, file, error))
			return NULL;
	}
	return g_steal_pointer(&self);
}

LodeFamilies *lode_families_new(void)
{
	g_autoptr(GError) error = NULL;
	LodeFamilies *self = lode_families_parse(builtin_families, &error);

	g_assert_no_error(error);
	return self;
}

void lode_families_free(LodeFamilies *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->rules);
	g_array_unref(self->families);
	g_string_chunk_free(self->strings);
	g_free(self);
}

uint32_t lode_families_n(const LodeFamilies *self)
{
	return self->families->len;
}

const LodeFamily *lode_families_at(const LodeFamilies *self, uint32_t family)
{
	return &g_array_index(self->families, LodeFamily, family);
}

static bool matches_one(const GPtrArray *patterns, const char *text, size_t length)
{
	for (guint i = 0; i < patterns->len; i++) {
		const Pattern *one = g_ptr_array_index(patterns, i);
		if (strncmp(text, one->begin, one->length) == 0 &&
			g_pattern_spec_match(one->spec, length, text, NULL))
			return true;
	}
	return false;
}

/* The length of a name without "@plt", a version, and what compilers append to parts and copies of
 * a function. */
static size_t length_of(const char *name)
{
	static const char *const appended[] = {
		".constprop.", ".part.", ".isra.", ".cold", ".lto_priv.", ".llvm."};
	const char *at = strchr(name, '@');
	size_t length = strlen(name);

	if (at != NULL && at > name && strpbrk(at, "/ ") == NULL)
		length = (size_t)(at - name);
	for (size_t i = 0; i < G_N_ELEMENTS(appended); i++) {
		const char *found = g_strstr_len(name, (gssize)length, appended[i]);
		if (found != NULL && found > name)
			length = (size_t)(found - name);
	}
	return length;
}

/* Where the name of a C++ function begins, after what it returns: "bool std::has_facet<…>(…)". */
static const char *after_result(const char *name)
{
	const char *begin = name;
	int depth = 0;

	for (const char *at = name; *at != '\0' && (*at != '(' || depth > 0); at++) {
		depth += *at == '<' || *at == '(';
		depth -= *at == '>' || *at == ')';
		if (*at == ' ' && depth == 0 && !g_str_has_prefix(begin, "operator"))
			begin = at + 1;
	}
	return strstr(begin, "::") != NULL ? begin : name;
}

static bool matches_name(const Rule *rule, const char *name, const char *begin)
{
	return g_hash_table_contains(rule->names, name) ||
	       matches_one(rule->functions, name, strlen(name)) ||
	       (begin > name && matches_one(rule->functions, begin, strlen(begin)));
}

static uint32_t find_family(const LodeFamilies *self, const char *function, const char *image,
	bool is_own, bool is_inlined)
{
	size_t image_length = strlen(image);
	g_autofree char *name = g_strndup(function, length_of(function));
	const char *begin = after_result(name);

	for (guint i = 0; i < self->rules->len; i++) {
		const Rule *rule = g_ptr_array_index(self->rules, i);
		if (!(rule->is_common && is_own) && (rule->has_inlined || !is_inlined) &&
			matches_name(rule, name, begin) &&
			(rule->images->len == 0 || matches_one(rule->images, image, image_length)))
			return rule->family;
	}
	return LODE_NONE;
}

uint32_t lode_families_find(
	const LodeFamilies *self, const char *function, const char *image, bool is_own)
{
	return find_family(self, function, image, is_own, false);
}

double lode_family_cost_time(const LodeFamilyCost *self)
{
	return isnan(self->inclusive) ? self->self : self->inclusive;
}

LODE_ORDER(compare_costs, LodeFamilyCost,
	lode_compare_doubles_descending(
		&(double){lode_family_cost_time(left)}, &(double){lode_family_cost_time(right)}),
	LODE_ASCENDING(family))

/* Keeps the costliest, by falling cost. */
static void add_member(LodeFamilyCost *self, const LodeFunctionCosts *costs, uint32_t function)
{
	uint32_t added = function;

	self->n++;
	self->self += lode_function_cost_at(costs, function)->self;
	for (unsigned i = 0; i < MAX_MEMBERS && added != LODE_NONE; i++) {
		uint32_t member = self->members[i];
		if (member != LODE_NONE && lode_function_cost_at(costs, member)->self >=
						   lode_function_cost_at(costs, added)->self)
			continue;
		self->members[i] = added;
		added = member;
	}
}

/* Whether a C library was loaded; where none was, it is part of the program. */
static bool has_loaded_library(const LodeProfile *profile)
{
	for (guint i = 0; i < profile->images->len; i++) {
		const char *path = lode_profile_image(profile, i)->path;
		if (strstr(path, "/libc.so") != NULL || strstr(path, "/libc-2.") != NULL ||
			strstr(path, "/ld-") != NULL)
			return true;
	}
	return false;
}

/* Whether code is the user's own, by its image, and where that has the C library by its lines. */
static bool is_own(const LodeFunctionCosts *costs, uint32_t function, bool has_library)
{
	const LodeProfile *profile = costs->profile;
	const LodeFunctionCost *one = lode_function_cost_at(costs, function);

	if (one->is_stub || lode_is_system_library(one->image))
		return false;
	if (has_library || function >= profile->functions->len)
		return has_library;
	const LodeFunction *row = lode_profile_function(profile, function);
	for (uint32_t i = 0; i < row->n_instructions; i++) {
		uint32_t location =
			lode_profile_instruction(profile, row->first_instruction + i)->location;
		const char *file =
			location != LODE_NONE
				? LODE_AT(profile->locations, LodeLocation, location).file
				: NULL;
		if (file != NULL && !lode_is_toolchain_file(file))
			return true;
	}
	return false;
}

GArray *lode_families_costs(
	const LodeFamilies *self, const LodeFunctionCosts *costs, uint32_t **out_of)
{
	uint32_t n = self->families->len;
	GArray *all = g_array_sized_new(FALSE, FALSE, sizeof(LodeFamilyCost), n);
	uint32_t *of = g_new(uint32_t, MAX(costs->functions->len, 1));
	g_autofree double *inclusive = g_new(double, MAX(n, 1));
	bool has_library = has_loaded_library(costs->profile);

	for (uint32_t i = 0; i < n; i++) {
		const LodeFamilyCost none = {.family = i,
			.inclusive = (double)NAN,
			.members = {LODE_NONE, LODE_NONE, LODE_NONE}};
		g_array_append_val(all, none);
	}
	for (uint32_t i = 0; i < costs->functions->len; i++) {
		const LodeFunctionCost *one = lode_function_cost_at(costs, i);
		bool has_cost = one->self > 0 || one->inclusive > 0;
		of[i] = has_cost ? find_family(self, one->called != NULL ? one->called : one->name,
					   one->image, is_own(costs, i, has_library),
					   one->is_inlined)
		                 : LODE_NONE;
		if (of[i] != LODE_NONE && one->self > 0)
			add_member(&g_array_index(all, LodeFamilyCost, of[i]), costs, i);
	}
	bool is_known = lode_function_costs_of_groups(costs, of, n, inclusive);
	for (uint32_t i = n; i-- > 0;) {
		LodeFamilyCost *one = &g_array_index(all, LodeFamilyCost, i);
		const LodeFamily *family = lode_families_at(self, i);
		if (is_known && family->is_kernel)
			*one = (LodeFamilyCost){.family = i,
				.self = inclusive[i],
				.inclusive = inclusive[i],
				.members = {LODE_NONE, LODE_NONE, LODE_NONE}};
		else if (is_known && !family->is_self_only)
			one->inclusive = MAX(inclusive[i], one->self);
		if (!(lode_family_cost_time(one) > 0))
			g_array_remove_index(all, i);
	}
	g_array_sort(all, compare_costs);
	*out_of = of;
	return all;
}
