/* SPDX-License-Identifier: MIT */
#include "analyses/calls/function_families.h"

#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/lines/own_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char builtin_families[] =
#include "analyses/calls/families_ini.h"
	;

enum { MAX_MEMBERS = G_N_ELEMENTS(((LodeFamilyCost *)0)->members) };

/* A group of the file. Several may be of one family, which the first of them begins. */
typedef struct Rule {
	const char *group;
	const struct Rule *first; /* NULL: it is the first */
	const char *description;
	LodeGlobs *functions, *images; /* no images: all */
	bool is_self_only;
	bool is_common;   /* programs have functions of these names */
	bool has_inlined; /* they count where they are inlined, too */
	uint32_t family;
} Rule;

static const LodeRuleKey keys[] = {
	{"family", offsetof(Rule, first), LODE_RULE_KEY_OTHER},
	{"description", offsetof(Rule, description), LODE_RULE_KEY_TEXT},
	{"time", offsetof(Rule, is_self_only), LODE_RULE_KEY_WORD, .word = "self"},
	{"names", offsetof(Rule, is_common), LODE_RULE_KEY_WORD, .word = "common"},
	{"inlined", offsetof(Rule, has_inlined), LODE_RULE_KEY_WORD, .word = "yes"},
	{"functions", offsetof(Rule, functions), LODE_RULE_KEY_GLOBS, .is_needed = true},
	{"for ", offsetof(Rule, functions), LODE_RULE_KEY_GLOBS_FOR},
	{"images", offsetof(Rule, images), LODE_RULE_KEY_GLOBS},
};
static const LodeRuleForm form = {"families.ini", sizeof(Rule), keys, G_N_ELEMENTS(keys)};

struct LodeFamilies {
	LodeRuleFile *rules; /* Rule */
	GArray *families;    /* LodeFamily */
};

/* A family is described by the first of its groups. */
static bool take_family(LodeFamilies *self, Rule *rule, GError **error)
{
	const Rule *first = rule->first;

	if (first != NULL && (first > rule || first->first != NULL))
		return lode_rule_file_fail(self->rules, rule, "family",
			"an earlier group that begins a family", error);
	if ((first == NULL) != (rule->description != NULL) || (first != NULL && rule->is_self_only))
		return lode_rule_file_fail(self->rules, rule,
			rule->is_self_only ? "time" : "description",
			"a text of the first group of a family, and of no other one", error);
	rule->family = first != NULL ? first->family : self->families->len;
	const LodeFamily family = {rule->group, rule->description, rule->is_self_only,
		rule->images != NULL && lode_globs_match(rule->images, "[kernel]")};
	if (first == NULL)
		g_array_append_val(self->families, family);
	return true;
}

LodeFamilies *lode_families_parse(const char *text, GError **error)
{
	g_autoptr(LodeFamilies) self = g_new0(LodeFamilies, 1);

	self->rules = lode_rule_file_read(&form, text, error);
	self->families = g_array_new(FALSE, FALSE, sizeof(LodeFamily));
	if (self->rules == NULL)
		return NULL;
	for (guint i = 0; i < self->rules->n; i++)
		if (!take_family(self, lode_rule_file_at(self->rules, i), error))
			return NULL;
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
	lode_rule_file_free(self->rules);
	g_array_unref(self->families);
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

void lode_families_add_names(const LodeFamilies *self, const char *service, LodeGlobs **names)
{
	for (guint i = 0; i < self->rules->n; i++) {
		const Rule *rule = lode_rule_file_at(self->rules, i);
		lode_globs_add_for(names, rule->functions, service);
	}
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

static uint32_t find_family(const LodeFamilies *self, const char *function, const char *image,
	bool is_own, bool is_inlined)
{
	g_autofree char *name = g_strndup(function, length_of(function));
	const char *begin = after_result(name);

	for (guint i = 0; i < self->rules->n; i++) {
		const Rule *rule = lode_rule_file_at(self->rules, i);
		if (!(rule->is_common && is_own) && (rule->has_inlined || !is_inlined) &&
			(lode_globs_match(rule->functions, name) ||
				(begin > name && lode_globs_match(rule->functions, begin))) &&
			(rule->images == NULL || lode_globs_match(rule->images, image)))
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
	for (guint i = 0; i < lode_code_of(profile)->images->len; i++) {
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
	if (has_library || function >= lode_code_of(profile)->functions->len)
		return has_library;
	const LodeFunction *row = lode_profile_function(profile, function);
	for (uint32_t i = 0; i < row->n_instructions; i++) {
		uint32_t location =
			lode_profile_instruction(profile, row->first_instruction + i)->location;
		const char *file = location != LODE_NONE ? LODE_AT(lode_code_of(profile)->locations,
								   LodeLocation, location)
		                                                   .file
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
