/* SPDX-License-Identifier: MIT */
/*
 * A function gives the same again for the same arguments if it changes nothing that it reads:
 *
 *   - it stores to its own frame alone, or where it loads nothing by the same register or copies of
 *     it (a result that is returned in memory), or its parameters are pointers and references to
 *     const (C++);
 *   - it stores to no variable at a fixed address, and has no atomic operation or system call;
 *   - what it calls is such a function, or one of a library that computes, compares, copies or
 *     allocates.
 *
 * The loop around may store only along an array, and call only such functions. It goes round often
 * if samples within it and in what it calls take turns: a loop that repeats a whole program to
 * measure it does not.
 */
#include "analyses/diagnoses/code_diagnoses.h"

#include "analyses/calls/function_families.h"
#include "analyses/diagnoses/code/code_shapes.h"
#include "analyses/diagnoses/sampled_turns.h"
#include "analyses/diagnoses/services/service_parts.h"
#include "base/arrays/partition_point.h"
#include "base/bits.h"
#include "images/instructions/register_use.h"
#include "model/findings.h"
#include "model/profile.h"
#include "model/stacks.h"

#include <math.h>
#include <string.h>

enum {
	RSP = 4,
	RSI = 6,
	RDI = 7,
	MOST_DEPTH = 5,
	LEAST_TURNS = 10,
	FEW_CALLS = 2,
	BEFORE = 16,
	MOST_ACCESSES = 500
};

/* Shares of the time. */
static const double LEAST_TIME = 0.1, LEAST_OF_RECURSION = 0.5, MOST_SAVED = 0.99;

typedef enum { NOT_KNOWN, AT_WORK, IS_PURE, IS_IMPURE } Purity;

typedef struct {
	LodeDiagnoses *out;
	const LodeCostedCode *code;
	const LodeProfile *profile;
	const LodeCauseRules *rules;
	uint8_t *purities; /* Purity of each function */
	bool *is_told;     /* likewise: it has a diagnosis */
} Search;

static const LodeInstruction *row_of(const Search *self, uint32_t instruction)
{
	return lode_profile_instruction(self->profile, instruction);
}

static bool use_at(const Search *self, uint32_t at, LodeRegisterUse *out)
{
	size_t size;
	const uint8_t *bytes = lode_code_bytes(self->profile, at, &size);

	return bytes != NULL &&
	       lode_register_use_decode(out, bytes, size, row_of(self, at)->address);
}

static const char *name_of(const Search *self, uint32_t function)
{
	return lode_profile_function(self->profile, function)->name;
}

/* --- functions that give the same again --- */

/* Whether a demangled name of C++ has parameters, of which all that are pointers or references are
 * to const, and is no method that may change its object. */
static bool has_const_parameters(const char *name)
{
	const char *open = strchr(name, '('), *end = name + strlen(name);
	bool is_const_method = g_str_has_suffix(name, ") const"), is_const = false;
	int depth = 0;

	if (open == NULL || strstr(name, "lambda") != NULL || g_str_has_prefix(name, "(anonymous"))
		return false;
	for (const char *at = name; at < open; at++) {
		depth += *at == '<';
		depth -= *at == '>';
		if (depth == 0 && at[0] == ':' && at[1] == ':' && !is_const_method)
			return false;
	}
	for (const char *at = open + 1; at < end; at++) {
		if (g_str_has_prefix(at, "const"))
			is_const = true;
		if (*at == '<' || *at == ',')
			is_const = false;
		if ((*at == '&' || *at == '*') && !is_const)
			return false;
	}
	return open[1] != ')';
}

/* Whether a function of a library computes, compares, copies or allocates, and that is all. */
static bool is_harmless(const Search *self, uint32_t function)
{
	static const char *const families[] = {"mathematics", "strings and memory", "allocator",
		"hashing", "search trees", "sorting by templates", NULL};
	static const char *const numbers[] = {
		"strto*", "__strto*", "ato?", "std::from_chars*", "std::to_chars*", NULL};
	static const char *const others[] = {"*random*", "*mersenne*", "*rand*", "*mutex*",
		"*thread*", "*atomic*", "*stream*", "*chrono*", "*::io::*", "*::time::*", NULL};
	const LodeDiagnosisContext *context = self->code->context;
	const LodeFunctionCost *cost = lode_function_cost_at(context->costs, function);
	g_autofree char *name = lode_service_called_name(cost);
	char *stub = strstr(name, "@plt");
	uint32_t family = context->family_of[function];
	if (cost->is_stub && stub != NULL)
		*stub = '\0';
	if (family == LODE_NONE && cost->is_stub)
		family = lode_families_find(context->families, name, "/lib/libm.so.6", false);
	if (family == LODE_NONE && cost->is_stub)
		family = lode_families_find(context->families, name, "/lib/libc.so.6", false);
	bool is_harmless = family != LODE_NONE &&
	                   g_strv_contains(
				   families, lode_families_at(context->families, family)->name);

	for (size_t i = 0; numbers[i] != NULL; i++)
		is_harmless |= g_pattern_match_simple(numbers[i], name);
	is_harmless |= strstr(name, "std::vector<") != NULL;
	for (size_t i = 0; others[i] != NULL; i++)
		is_harmless &= !g_pattern_match_simple(others[i], name);
	return is_harmless;
}

static bool is_own(const Search *self, uint32_t function)
{
	const LodeFunction *row = lode_profile_function(self->profile, function);

	return row->code != NULL && self->code->context->family_of[function] == LODE_NONE &&
	       !lode_costed_code_is_run_time(self->code->context, function) &&
	       !lode_is_of_others(lode_profile_image(self->profile, row->image)->path);
}

static bool is_pure(Search *self, uint32_t function, unsigned depth);

/* Whether all that an instruction calls or jumps to in other functions gives the same again. */
static bool calls_pure(Search *self, uint32_t instruction, unsigned depth)
{
	const GArray *edges = self->profile->code.edges;
	uint32_t around = row_of(self, instruction)->function;

	for (guint i = LODE_PARTITION_POINT(
		     edges->len, k, LODE_AT(edges, LodeEdge, k).source < instruction);
		i < edges->len && LODE_AT(edges, LodeEdge, i).source == instruction; i++) {
		const LodeEdge *edge = &LODE_AT(edges, LodeEdge, i);
		uint32_t called = row_of(self, edge->target)->function;
		if (edge->kind == LODE_EDGE_RETURN ||
			(called == around && edge->kind != LODE_EDGE_CALL))
			continue;
		if (!is_harmless(self, called) &&
			!(is_own(self, called) && is_pure(self, called, depth)))
			return false;
	}
	/* A call without a known target was in no sample, and does next to nothing. */
	return true;
}

static bool is_forbidden(const Search *self, uint32_t instruction)
{
	uint32_t set = row_of(self, instruction)->attribute_set;

	return lode_profile_set_has(self->profile, set, "kind:syscall") ||
	       lode_profile_set_has(self->profile, set, "kind:atomic");
}

/* Accesses outside of the frame, and which general registers are copies of each other. */
typedef struct {
	GArray *uses; /* LodeMemoryUse */
	uint8_t classes[LODE_BIT_FLAGS];
} Accesses;

static void join_classes(Accesses *self, uint8_t first, uint8_t second)
{
	uint8_t from = self->classes[second], to = self->classes[first];

	for (unsigned i = 0; i < G_N_ELEMENTS(self->classes); i++)
		self->classes[i] = self->classes[i] == from ? to : self->classes[i];
}

/* A move from one general register to another, or a sum of one and a constant. */
static void take_copy(Accesses *self, const LodeRegisterUse *use)
{
	const LodeRegisterMask general = LODE_BIT(LODE_BIT_FLAGS) - 1;
	LodeRegisterMask from = use->reads & general & ~LODE_BIT(RSP), to = use->results & general;

	if (use->is_linear && use->memory.size == 0 && from != 0 && to != 0 &&
		(from & (from - 1)) == 0 && (to & (to - 1)) == 0)
		join_classes(self, (uint8_t)g_bit_nth_lsf((gulong)from, -1),
			(uint8_t)g_bit_nth_lsf((gulong)to, -1));
}

/* Whether two accesses may be to the same place: of equal bases at overlapping distances. */
static bool may_meet(const Accesses *self, const LodeMemoryUse *load, const LodeMemoryUse *store)
{
	bool is_indexed = load->index != LODE_NO_BIT || store->index != LODE_NO_BIT;
	bool overlaps = load->displacement < store->displacement + (int64_t)store->size &&
	                store->displacement < load->displacement + (int64_t)load->size;

	if (load->base >= LODE_BIT_FLAGS || store->base >= LODE_BIT_FLAGS)
		return load->base == store->base && (is_indexed || overlaps);
	return self->classes[load->base] == self->classes[store->base] && (is_indexed || overlaps);
}

static bool stores_what_it_loads(const Accesses *self)
{
	for (guint i = 0; i < self->uses->len; i++)
		for (guint k = 0; k < self->uses->len; k++) {
			const LodeMemoryUse *load = &g_array_index(self->uses, LodeMemoryUse, i);
			const LodeMemoryUse *store = &g_array_index(self->uses, LodeMemoryUse, k);
			if (load->is_load && store->is_store && may_meet(self, load, store))
				return true;
		}
	return false;
}

/* Whether code of a function, inlined or its own, is of a line of the user's; `loop`: in this one,
 * LODE_NONE: anywhere. */
static bool has_line(
	const Search *self, uint32_t function, uint32_t loop, const LodeServiceCaller *caller)
{
	const LodeFunction *row = lode_profile_function(self->profile, function);

	for (uint32_t i = 0; i < row->n_instructions && caller->file != NULL; i++) {
		uint32_t at = row->first_instruction + i;
		uint32_t line = loop == LODE_NONE || self->code->loops[at] == loop
		                        ? lode_own_lines_find(self->code->context->own, at)
		                        : LODE_NONE;
		const LodeLocation *location = line != LODE_NONE
		                                       ? &LODE_AT(self->profile->code.locations,
								 LodeLocation, line)
		                                       : NULL;
		if (location != NULL && location->line == caller->line &&
			g_strcmp0(location->file, caller->file) == 0)
			return true;
	}
	return false;
}

/* Whether samples are in a service that a function or a loop of it calls, and that does more than
 * compute. */
static bool calls_others(const Search *self, uint32_t function, uint32_t loop)
{
	const LodeServices *services = self->code->context->services;

	for (guint i = 0; i < services->services->len; i++) {
		const LodeService *service = &g_array_index(services->services, LodeService, i);
		for (guint k = 0; k < service->n_callers && service->function != LODE_NONE; k++) {
			const LodeServiceCaller *caller = lode_service_caller(services, service, k);
			bool is_all = loop == LODE_NONE && caller->function == function;
			if (!is_harmless(self, service->function) &&
				(is_all || has_line(self, function, loop, caller)))
				return true;
		}
	}
	return false;
}

static bool find_purity(Search *self, uint32_t function, unsigned depth)
{
	const LodeFunction *row = lode_profile_function(self->profile, function);
	g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(LodeMemoryUse));
	Accesses accesses = {uses, {0}};
	LodeRegisterUse use;

	if (calls_others(self, function, LODE_NONE))
		return false;
	for (uint8_t i = 0; i < G_N_ELEMENTS(accesses.classes); i++)
		accesses.classes[i] = i;
	for (uint32_t i = 0; i < row->n_instructions; i++) {
		uint32_t at = row->first_instruction + i;
		if (is_forbidden(self, at) || !calls_pure(self, at, depth + 1))
			return false;
		if (!use_at(self, at, &use))
			continue;
		take_copy(&accesses, &use);
		if (use.memory.size == 0 || (use.memory.registers & LODE_BIT(RSP)) != 0)
			continue;
		if (use.memory.is_store && use.memory.registers == 0)
			return false;
		if (use.memory.registers != 0)
			g_array_append_val(uses, use.memory);
	}
	return has_const_parameters(row->name) ||
	       (uses->len <= MOST_ACCESSES && !stores_what_it_loads(&accesses));
}

static bool is_pure(Search *self, uint32_t function, unsigned depth)
{
	uint8_t *known = &self->purities[function];

	if (depth > MOST_DEPTH)
		return false;
	if (*known == NOT_KNOWN) {
		*known = AT_WORK;
		*known = find_purity(self, function, depth) ? IS_PURE : IS_IMPURE;
	}
	return *known != IS_IMPURE;
}

/* --- what they cost --- */

typedef struct {
	const Search *search;
	uint32_t function, loop;
} Asked;

static bool is_function(uint32_t function, const void *data)
{
	return function == ((const Asked *)data)->function;
}

/* Whether samples of a stack are at the loop's own instructions or in what these call. */
static bool is_of_loop(uint32_t stack, const void *data)
{
	const Asked *asked = data;
	const Search *self = asked->search;
	const LodeStacks *stacks = self->profile->stacks;
	uint32_t at = lode_stacks_instruction(stacks, stack),
		 n = self->profile->code.instructions->len;
	bool is_of = at < n && self->code->loops[at] == asked->loop;

	for (; stack != LODE_NONE && !is_of;
		stack = LODE_AT(stacks->stacks, LodeStack, stack).outer) {
		at = lode_function_costs_call_around(self->code->context->costs, stack);
		is_of = at < n && self->code->loops[at] == asked->loop;
	}
	return is_of;
}

/* --- diagnoses --- */

/* What is in the function, or called in it, is of this cause. */
static void drop_inside(Search *self, uint32_t function, double time)
{
	GPtrArray *all = self->out->diagnoses;

	for (guint i = all->len; i-- > 0;) {
		const LodeDiagnosis *one = lode_diagnoses_at(self->out, i);
		uint32_t at = one->at->len > 0
		                      ? g_array_index(one->at, LodeFindingPlace, 0).instruction
		                      : one->site.instruction;
		if (at < self->profile->code.instructions->len &&
			row_of(self, at)->function == function && one->time <= 1.1 * time &&
			(one->scope == LODE_SCOPE_SERVICE || one->scope == LODE_SCOPE_LOOP ||
				one->scope == LODE_SCOPE_FUNCTION))
			g_ptr_array_remove_index(all, i);
	}
}

static void add_diagnosis(
	Search *self, const LodeCauseRule *rule, uint32_t called, uint32_t at, double weight)
{
	const LodeDiagnosisContext *context = self->code->context;
	double samples = lode_profile_equal_samples(self->profile), share = weight / context->total;
	g_autofree char *name = lode_service_short_name(name_of(self, called));

	if (rule == NULL || !(share > 0))
		return;
	self->is_told[called] = true;
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_LOOP);
	const LodeFindingPlace place = {at, share * context->user};
	diagnosis->time = share * context->user;
	diagnosis->time_error = samples > 0 ? sqrt(share * (1 - MIN(share, 1)) / samples) : 0;
	drop_inside(self, called, diagnosis->time);
	diagnosis->title = g_strdup_printf("%s: %s", rule->title, name);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	diagnosis->places = diagnosis->functions = 1;
	g_array_append_val(diagnosis->at, place);
	lode_diagnosis_set_saves(diagnosis, rule->least, rule->most, MOST_SAVED);
	lode_diagnosis_add_evidence(diagnosis, 100 * diagnosis->time, "%",
		"%.1f %% of the time is in %s, which changes nothing that it reads",
		100 * diagnosis->time, name);
	g_ptr_array_add(self->out->diagnoses, diagnosis);
}

/* --- loops --- */

/* Whether a loop stores along arrays or to the frame alone, and calls nothing that may change what
 * it reads; it has no loops in it. */
static bool is_quiet_loop(Search *self, uint32_t loop, uint32_t function)
{
	const LodeFunction *row = lode_profile_function(self->profile, function);
	uint32_t first = LODE_NONE, last = 0;
	LodeRegisterUse use;

	for (uint32_t at = row->first_instruction;
		at < row->first_instruction + row->n_instructions; at++)
		if (self->code->loops[at] == loop) {
			first = MIN(first, at);
			last = at;
		}
	for (uint32_t at = first; at <= last && first != LODE_NONE; at++) {
		const char *stride = lode_profile_set_value(
			self->profile, row_of(self, at)->attribute_set, "stride:");
		if (self->code->loops[at] != loop)
			continue;
		if (is_forbidden(self, at) || !calls_pure(self, at, 0))
			return false;
		if (use_at(self, at, &use) && use.memory.size > 0 && use.memory.is_store &&
			(use.memory.registers & LODE_BIT(RSP)) == 0 &&
			(stride == NULL || strcmp(stride, "0") == 0) && row_of(self, at)->count > 0)
			return false;
	}
	return first != LODE_NONE && !calls_others(self, function, loop);
}

static void look_at_call(Search *self, const LodeEdge *edge)
{
	uint32_t called = row_of(self, edge->target)->function,
		 around = row_of(self, edge->source)->function,
		 loop = self->code->loops[edge->source];

	if (edge->kind != LODE_EDGE_CALL || called == around || self->is_told[called] ||
		loop == LODE_NONE ||
		!lode_profile_set_has(self->profile, row_of(self, edge->source)->attribute_set,
			"repeats:unchanged") ||
		!is_own(self, called) || !is_own(self, around) || !is_pure(self, called, 0) ||
		!is_quiet_loop(self, loop, around))
		return;
	const Asked asked = {self, called, loop};
	LodeSampledTurns sampled = lode_sampled_turns(
		self->code->context->costs, is_function, is_of_loop, &asked);
	if (sampled.weight >= LEAST_TIME * self->code->context->total &&
		sampled.turns >= LEAST_TURNS)
		add_diagnosis(self, lode_cause_rules_named(self->rules, "the same call again"),
			called, edge->source, sampled.weight);
}

/* --- recursion --- */

/* Whether an argument of a call is loaded before it from what a pointer leads to: from a node of a
 * tree to the next. */
static bool follows_pointer(const Search *self, uint32_t call)
{
	uint32_t first = lode_profile_function(self->profile, row_of(self, call)->function)
	                         ->first_instruction;
	LodeRegisterUse use;

	for (uint32_t i = 1; i <= BEFORE && call >= first + i; i++) {
		if (!use_at(self, call - i, &use))
			return true;
		bool is_pointer = use.memory.is_load && use.memory.size == sizeof(uint64_t) &&
		                  use.memory.registers != 0 &&
		                  (use.memory.registers & LODE_BIT(RSP)) == 0;
		if (is_pointer && (use.results & (LODE_BIT(RDI) | LODE_BIT(RSI))) != 0)
			return true;
		if (lode_profile_set_has(
			    self->profile, row_of(self, call - i)->attribute_set, "kind:call"))
			break;
	}
	return false;
}

/* Whether all that it stores outside of its frame is nothing. */
static bool stores_nothing(const Search *self, uint32_t function)
{
	const LodeFunction *row = lode_profile_function(self->profile, function);
	LodeRegisterUse use;
	bool stores = false;

	for (uint32_t i = 0; i < row->n_instructions && !stores; i++)
		stores = use_at(self, row->first_instruction + i, &use) && use.memory.size > 0 &&
		         use.memory.is_store && (use.memory.registers & LODE_BIT(RSP)) == 0;
	return !stores;
}

static void look_at_recursion(Search *self, uint32_t function)
{
	const LodeFunction *row = lode_profile_function(self->profile, function);
	double weight = 0;
	guint calls = 0;
	uint32_t first = LODE_NONE;

	for (uint32_t i = 0; i < row->n_instructions; i++)
		weight += self->code->weights[row->first_instruction + i];
	if (weight < LEAST_OF_RECURSION * self->code->context->total || !is_own(self, function))
		return;
	for (guint i = 0; i < self->profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(self->profile->code.edges, LodeEdge, i);
		if (edge->kind != LODE_EDGE_CALL ||
			row_of(self, edge->source)->function != function ||
			row_of(self, edge->target)->function != function)
			continue;
		if (self->code->loops[edge->source] != LODE_NONE ||
			follows_pointer(self, edge->source))
			return;
		first = calls == 0 ? edge->source : first;
		calls++;
	}
	if (calls >= FEW_CALLS && stores_nothing(self, function) && is_pure(self, function, 0))
		add_diagnosis(self, lode_cause_rules_named(self->rules, "recursion without memory"),
			function, first, weight);
}

void lode_repeated_calls_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules)
{
	const LodeProfile *profile = code->context->profile;
	g_autofree uint8_t *purities = g_new0(uint8_t, MAX(profile->code.functions->len, 1));
	g_autofree bool *is_told = g_new0(bool, MAX(profile->code.functions->len, 1));
	Search self = {out, code, profile, rules, purities, is_told};

	if (!(code->context->total > 0))
		return;
	for (guint i = 0; i < profile->code.edges->len; i++)
		look_at_call(&self, &LODE_AT(profile->code.edges, LodeEdge, i));
	for (uint32_t i = 0; i < profile->code.functions->len; i++)
		look_at_recursion(&self, i);
}
