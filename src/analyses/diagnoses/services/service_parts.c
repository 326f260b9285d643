/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/services/service_parts.h"

#include "analyses/calls/script_lines.h"
#include "analyses/calls/special_members.h"
#include "analyses/diagnoses/services/service_summary.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "model/profile.h"

#include <string.h>

/* Services with a smaller share are left out. */
#define LEAST_PART 0.0002

/* A call of an implicit member. */
typedef struct {
	uint32_t function, instruction;
	double count;
} MemberCall;

LODE_ORDER(compare_member_calls, MemberCall, LODE_ASCENDING(function), LODE_ASCENDING(instruction))

/* --- names --- */

/* "T::method" of "<T as Trait>::method", as Rust has it; else a copy. The caller frees it. */
static char *without_trait(const char *name)
{
	const char *trait = NULL, *at = name;
	int depth = 0;

	for (; *name == '<' && *at != '\0'; at++) {
		depth += *at == '<';
		depth -= *at == '>' && at[-1] != '-';
		if (depth == 1 && trait == NULL && g_str_has_prefix(at, " as "))
			trait = at;
		if (depth <= 0)
			break;
	}
	return trait == NULL || *at == '\0'
	               ? g_strdup(name)
	               : g_strdup_printf("%.*s%s", (int)(trait - name) - 1, name + 1, at + 1);
}

char *lode_service_short_name(const char *whole_name)
{
	g_autofree char *name = without_trait(whole_name);
	GString *out = g_string_new(NULL);
	int depth = 0;

	for (const char *at = name; *at != '\0'; at++) {
		bool is_operator = g_str_has_suffix(out->str, "operator") ||
		                   g_str_has_suffix(out->str, "operator<") ||
		                   (*at == '>' && g_str_has_suffix(out->str, "operator>"));
		bool is_local = g_str_has_prefix(at, "(anonymous ") || g_str_has_prefix(at, "(*");
		/* Java's constructors have a name in brackets: "java.lang.Object.<init>()". */
		is_operator |= depth == 0 && g_str_has_suffix(out->str, ".") &&
		               (g_str_has_prefix(at, "<init>") || g_str_has_prefix(at, "<clinit>"));
		if (depth == 0 && *at == '(' && !is_operator && !is_local && out->len > 0)
			break;
		/* The impl block of "map::<impl Map>::get" (Rust) is dropped. */
		if (depth == 0 && g_str_has_prefix(at, "::") && g_str_has_suffix(out->str, "::") &&
			at[-1] == '>')
			at++;
		else if (!is_operator && (*at == '<' || *at == '>') && at[1] != '=' &&
			 out->len > 0 && !(*at == '>' && depth == 0))
			depth += *at == '<' ? 1 : -1;
		else if (depth <= 0 && *at == ' ' && !g_str_has_suffix(out->str, "operator"))
			g_string_truncate(out, 0);
		else if (depth <= 0)
			g_string_append_c(out, *at);
	}
	if (out->len == 0)
		g_string_assign(out, name);
	return g_string_free(out, FALSE);
}

/* --- parts --- */

static const LodeServiceRule *find_rule(const LodeServiceParts *self, const char *called,
	const char *image, uint32_t family, const char *file)
{
	const char *name = family != LODE_NONE
	                           ? lode_families_at(self->context->families, family)->name
	                           : NULL;

	return lode_service_rules_find(self->rules, called, image, name, file);
}

static bool is_in_script(const LodeServiceParts *self, const LodeServiceCaller *caller)
{
	return caller->function != LODE_NONE &&
	       lode_function_cost_at(self->context->costs, caller->function)->language != NULL;
}

static void add_part(LodeServiceParts *self, uint32_t function, const char *called, uint32_t family,
	const LodeServiceCaller *caller, uint32_t call, double cost)
{
	const LodeFamilies *families = self->context->families;
	const LodeFunctionCost *one = lode_function_cost_at(self->context->costs, function);
	const LodeServiceRule *rule = NULL;

	/* A program's own library may call the service last, too. Of a service that is known, what
	 * it calls says nothing. */
	uint32_t of_called = caller->called != NULL ? lode_families_find(families, caller->called,
							      one->image, false)
	                                            : LODE_NONE;
	if (caller->called != NULL && (of_called != LODE_NONE || family == LODE_NONE)) {
		rule = find_rule(self, caller->called, one->image, of_called, caller->file);
		called = rule != NULL ? caller->called : called;
	}
	if (rule == NULL)
		rule = find_rule(self, called, one->image, family, caller->file);
	if (rule == NULL || rule->cause == NULL ||
		(rule->in_scripts == 0 && is_in_script(self, caller)))
		return;
	/* Those that differ in their parameters alone are one name: operator new and its kin. */
	g_autofree char *name = lode_service_short_name(called);
	LodeServicePart part = {rule, rule->whole, function, called,
		g_string_chunk_insert_const(self->strings, name), *caller, call};

	part.caller.cost = cost;
	g_array_append_val(self->parts, part);
}

/* --- who makes and ends objects --- */

/* Whether a function is a template of the library, made for the program: what it does with objects
 * its caller asked for. */
static bool is_of_library(const char *name)
{
	static const char *const prefixes[] = {"std::", "__gnu_cxx::", "core::", "alloc::"};
	g_autofree char *short_name = lode_service_short_name(name);
	bool is_any = false;

	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		is_any |= g_str_has_prefix(short_name, prefixes[i]);
	return is_any;
}

static bool has_inlined(const LodeServiceParts *self, GHashTable *implicit, uint32_t instruction)
{
	g_autoptr(GArray) chain = lode_own_lines_chain(self->context->own, instruction);
	bool has = false;

	for (guint i = 1; i < chain->len && !has; i++)
		has = g_hash_table_contains(
			implicit, g_array_index(chain, LodeInlinedLine, i).function);
	return has;
}

/* Of the functions that are called, those that are implicit members, or call some and are the
 * library's. The caller frees it. */
static bool *mark_members(const LodeServiceParts *self, GHashTable *implicit)
{
	const LodeProfile *profile = self->context->profile;
	bool *is_member = g_new0(bool, MAX(profile->code.functions->len, 1));

	for (uint32_t i = 0; i < profile->code.functions->len; i++)
		is_member[i] = g_hash_table_contains(
			implicit, lode_profile_function(profile, i)->name);
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		uint32_t caller = lode_profile_instruction(profile, edge->source)->function,
			 called = lode_profile_instruction(profile, edge->target)->function;
		if (edge->kind == LODE_EDGE_CALL && !is_member[caller] &&
			(is_member[called] || has_inlined(self, implicit, edge->source)) &&
			is_of_library(lode_profile_function(profile, caller)->name))
			is_member[caller] = true;
	}
	return is_member;
}

/* The function of the costs that is inlined under a name; LODE_NONE: none is. */
static uint32_t inlined_function(const LodeFunctionCosts *costs, const char *name)
{
	for (uint32_t i = 0; i < costs->functions->len; i++)
		if (lode_function_cost_at(costs, i)->is_inlined &&
			strcmp(lode_function_cost_at(costs, i)->name, name) == 0)
			return i;
	return LODE_NONE;
}

/* The user's line that has an instruction, without implicit members that are inlined there; its
 * function, or the one around. NULL: there is none. */
static const LodeLocation *line_of_maker(
	const LodeServiceParts *self, GHashTable *implicit, uint32_t instruction, uint32_t *out)
{
	const LodeLocation *found = NULL;
	g_autoptr(GArray) chain = lode_own_lines_chain(self->context->own, instruction);

	*out = lode_profile_instruction(self->context->profile, instruction)->function;
	for (guint i = 0; i < chain->len; i++) {
		const LodeInlinedLine *one = &g_array_index(chain, LodeInlinedLine, i);
		if (one->location->file == NULL ||
			!lode_own_lines_is_own_file(self->context->own, one->location->file))
			continue;
		if (g_hash_table_contains(implicit, one->function))
			break;
		found = one->location;
		uint32_t inlined = i > 0 ? inlined_function(self->context->costs, one->function)
		                         : LODE_NONE;
		*out = inlined != LODE_NONE ? inlined : *out;
	}
	return found;
}

/* Adds the calls in what implicit members are inlined into, as calls of them. */
static void add_inlined_members(
	const LodeServiceParts *self, GHashTable *implicit, const LodeEdge *edge, GArray *calls)
{
	g_autoptr(GArray) chain = lode_own_lines_chain(self->context->own, edge->source);

	for (guint i = 1; i < chain->len; i++) {
		const LodeInlinedLine *one = &g_array_index(chain, LodeInlinedLine, i);
		MemberCall call = {LODE_NONE, edge->source, edge->count};
		if (g_hash_table_contains(implicit, one->function))
			call.function = inlined_function(self->context->costs, one->function);
		if (call.function != LODE_NONE)
			g_array_append_val(calls, call);
	}
}

/* The calls of implicit members; the caller unrefs it. */
static GArray *list_members(const LodeServiceParts *self, GHashTable *implicit)
{
	const LodeProfile *profile = self->context->profile;
	GArray *calls = g_array_new(FALSE, FALSE, sizeof(MemberCall));

	if (g_hash_table_size(implicit) == 0)
		return calls;
	g_autofree bool *is_member = mark_members(self, implicit);
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		const MemberCall call = {lode_profile_instruction(profile, edge->target)->function,
			edge->source, edge->count};
		if (edge->kind != LODE_EDGE_CALL || !(edge->count > 0))
			continue;
		if (is_member[call.function])
			g_array_append_val(calls, call);
		else
			add_inlined_members(self, implicit, edge, calls);
	}
	g_array_sort(calls, compare_member_calls);
	return calls;
}

/* Objects have objects in them: members that call each other are followed so far. */
enum { MOST_MEMBERS = 4 };

/* Adds a part; one that an implicit member calls is divided among those that call the member, by
 * how often they do. */
static void add_part_of_maker(LodeServiceParts *self, uint32_t service, const char *called,
	uint32_t family, const LodeServiceCaller *caller, uint32_t call, double cost,
	unsigned depth)
{
	const MemberCall *calls = (const MemberCall *)(void *)self->members->data;
	guint first = LODE_PARTITION_POINT(
		self->members->len, i, calls[i].function < caller->function);
	double all = 0;

	for (guint i = first; i < self->members->len && calls[i].function == caller->function; i++)
		all += calls[i].count;
	if (!(all > 0) || depth == MOST_MEMBERS) {
		add_part(self, service, called, family, caller, call, cost);
		return;
	}
	for (guint i = first; i < self->members->len && calls[i].function == caller->function;
		i++) {
		uint32_t at = calls[i].instruction;
		LodeServiceCaller maker = *caller;
		const LodeLocation *line = line_of_maker(self, self->implicit, at, &maker.function);
		maker.file = line != NULL ? line->file : NULL;
		maker.line = line != NULL ? line->line : 0;
		add_part_of_maker(self, service, called, family, &maker, at,
			cost * calls[i].count / all, depth + 1);
	}
}

static void take_service(LodeServiceParts *self, const LodeService *service)
{
	const LodeDiagnosisContext *context = self->context;
	const LodeServiceCaller nobody = {.function = LODE_NONE};
	const LodeFunctionCost *one = lode_function_cost_at(context->costs, service->function);
	g_autofree char *name = lode_service_called_name(one);
	const char *called = g_string_chunk_insert_const(self->strings, name);
	double rest = service->nearest;

	for (guint i = 0; i < service->n_callers; i++) {
		const LodeServiceCaller *caller = lode_service_caller(
			context->services, service, i);
		rest -= caller->nearest;
		if (caller->nearest > 0)
			add_part_of_maker(self, service->function, called, service->family, caller,
				LODE_NONE, caller->nearest, 0);
	}
	for (guint i = 0; i < service->n_nameless; i++) {
		const LodeServiceCaller *caller = &g_array_index(context->services->nameless,
			LodeServiceCaller, service->first_nameless + i);
		rest -= caller->nearest;
		if (caller->nearest > 0)
			add_part(self, service->function, called, service->family, caller,
				LODE_NONE, caller->nearest);
	}
	if (rest > 1e-9 * self->total)
		add_part(
			self, service->function, called, service->family, &nobody, LODE_NONE, rest);
}

static uint64_t line_key(uint32_t function, uint32_t line)
{
	return (uint64_t)function << 32 | line;
}

/* What the interpreter does for lines of the user's scripts, without what is another service. */
static void take_steps(LodeServiceParts *self)
{
	g_autoptr(GArray)
		lines = lode_script_lines_costs(self->context->costs, self->context->family_of);
	g_autoptr(GHashTable)
		taken = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);

	for (guint i = 0; lines->len > 0 && i < self->parts->len; i++) {
		const LodeServiceCaller *caller = &lode_service_part_at(self, i)->caller;
		const uint64_t key = line_key(caller->function, caller->line);
		*lode_sum_at_copy(taken, &key, sizeof key) += caller->cost;
	}
	for (guint i = 0; i < lines->len; i++) {
		const LodeScriptLine *line = &g_array_index(lines, LodeScriptLine, i);
		const uint64_t key = line_key(line->function, line->line);
		double rest = line->cost - *lode_sum_at_copy(taken, &key, sizeof key);
		const LodeServiceCaller caller = {
			.function = line->function, .file = line->file, .line = line->line};
		const char *language =
			lode_function_cost_at(self->context->costs, line->function)->language;
		if (rest > 0 && language != NULL)
			add_part(self, line->function, language, LODE_NONE, &caller, LODE_NONE,
				rest);
	}
}

LODE_ORDER(compare_parts, LodeServicePart, strcmp(left->whole->name, right->whole->name),
	LODE_DESCENDING(caller.cost), LODE_ASCENDING(service), LODE_ASCENDING(caller.function),
	LODE_ASCENDING(caller.line))

void lode_service_parts_sort(LodeServiceParts *self)
{
	g_array_sort(self->parts, compare_parts);
}

guint lode_service_parts_end(const LodeServiceParts *self, guint begin, double *out_cost)
{
	const LodeServiceRule *whole = lode_service_part_at(self, begin)->whole;
	guint end = begin;

	*out_cost = 0;
	for (; end < self->parts->len && lode_service_part_at(self, end)->whole == whole; end++)
		*out_cost += lode_service_part_at(self, end)->caller.cost;
	return end;
}

/* --- all --- */

/* As samples of equal weight. */
static double equal_samples(const LodeFunctionCosts *costs)
{
	const LodeProfile *profile = costs->profile;
	double n = costs->samples > 0 ? costs->samples : profile->run.n_samples;

	return profile->run.n_samples > 0
	               ? n * lode_profile_equal_samples(profile) / profile->run.n_samples
	               : n;
}

void lode_service_parts_init(LodeServiceParts *self, const LodeCostedCode *code)
{
	const LodeDiagnosisContext *context = code->context;
	const LodeFunctionCosts *costs = context->costs;

	*self = (LodeServiceParts){.code = code,
		.context = context,
		.rules = lode_service_rules_new(context->families),
		.strings = g_string_chunk_new(1 << 10),
		.parts = g_array_new(FALSE, FALSE, sizeof(LodeServicePart)),
		.facts_of = lode_service_facts_of(context->profile),
		.total = costs->event != LODE_NONE
	                         ? lode_profile_event(costs->profile, costs->event)->total
	                         : 0,
		.samples = equal_samples(costs)};
	self->implicit = lode_implicit_members(context->profile, context->own);
	self->members = list_members(self, self->implicit);
	for (guint i = 0; i < context->services->services->len; i++) {
		const LodeService *service = &g_array_index(
			context->services->services, LodeService, i);
		if (service->function != LODE_NONE && service->nearest > LEAST_PART * self->total)
			take_service(self, service);
	}
	take_steps(self);
	lode_service_parts_join(self);
}

void lode_service_parts_clear(LodeServiceParts *self)
{
	lode_service_rules_free(self->rules);
	g_string_chunk_free(self->strings);
	g_array_unref(self->parts);
	g_array_unref(self->members);
	g_hash_table_unref(self->implicit);
	g_free(self->facts_of);
}
