/* SPDX-License-Identifier: MIT */
/*
 * Small functions that are called in loops, and could be part of these:
 *
 *   row ── call grid_at@plt ─▶ jmp *slot ─▶ grid_at: some instructions, ret
 *
 */
#include "analyses/diagnoses/costed_code.h"

#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "model/code.h"
#include "model/stacks.h"

#include <string.h>

enum { MOST_BYTES = 64, MOST_INSTRUCTIONS = 16 };

/* A load, or what waits for one, that has this part of the time is what costs, not the call: data
 * come from afar. */
static const double MOST_OF_IT = 0.9;

/* A function that is called directly counts from this share of the time on: many a program has some
 * that are kept apart with reason. */
static const double LEAST_DIRECT = 0.05;

enum { IS_SMALL = 1, IS_CALLED_IN_LOOP = 2 };

/* Marks of attribute sets. */
enum {
	CALLS = 1,
	INDIRECT = 2,
	LOADS = 4,
	WAITS = 8, /* for a load */
	OF_STACK = 16,
	NEAR = 32, /* its data are in the first level */
};

static const LodeAttributeMark marked[] = {{"kind:call", CALLS}, {"kind:indirect", INDIRECT},
	{"kind:load", LOADS}, {"needs:load", WAITS}, {"needs:miss", WAITS}, {"mem:stack", OF_STACK},
	{"spread:first-level", NEAR}};

/* A call that leads to a small function. */
typedef struct {
	uint32_t instruction, small;
	bool is_kept_apart; /* through a pointer or a stub, or to another image, so that the
	                       compiler cannot inline it by itself; or to a function that looks
	                       something up, of another file probably */
} Source;

typedef struct {
	LodeCostedCode *code;
	uint8_t *kinds;  /* of each function */
	double *weights; /* of each small function, with its stubs and calls */
	uint32_t *leads; /* of each function: the small one that it is, or that it leads to as a
	                    stub; LODE_NONE */
	GArray *calls;   /* LodeCountedCall */
	GArray *sources; /* Source, no two equal */
	uint16_t *sets;  /* marks of each attribute set */
} Marking;

static const LodeFunction *function_at(const Marking *self, uint32_t function)
{
	return lode_profile_function(self->code->context->profile, function);
}

static uint32_t set_of(const Marking *self, uint32_t instruction)
{
	return lode_profile_instruction(self->code->context->profile, instruction)->attribute_set;
}

/* By its block: not all loops have bounds. */
static bool is_in_loop(const Marking *self, uint32_t instruction)
{
	const LodeProfile *profile = self->code->context->profile;
	uint32_t block = lode_profile_instruction(profile, instruction)->block;

	return block != LODE_NONE && lode_profile_block(profile, block)->loop_depth > 0;
}

static uint16_t marks_of(const Marking *self, uint32_t instruction)
{
	return self->sets[set_of(self, instruction)];
}

/* Whether it loads, or waits for a load, of data not known to be near. */
static bool may_wait(const Marking *self, uint32_t instruction)
{
	uint16_t marks = marks_of(self, instruction);

	return (marks & (LOADS | WAITS)) != 0 && (marks & NEAR) == 0;
}

static bool looks_up(const Marking *self, uint32_t function)
{
	const LodeFunction *one = function_at(self, function);
	double weight = 0;
	bool loads = false;

	for (uint32_t i = 0; i < one->n_instructions; i++) {
		loads |= (marks_of(self, one->first_instruction + i) & (LOADS | OF_STACK)) == LOADS;
		weight += self->code->weights[one->first_instruction + i];
	}
	return loads && weight >= LEAST_DIRECT * self->code->context->total;
}

static bool is_small(const Marking *self, uint32_t function)
{
	const LodeDiagnosisContext *context = self->code->context;
	const LodeFunction *one = function_at(self, function);

	if (one->size == 0 || one->size > MOST_BYTES || one->n_instructions > MOST_INSTRUCTIONS ||
		context->family_of[function] != LODE_NONE ||
		lode_profile_image(context->profile, one->image)->kind != LODE_IMAGE_FILE ||
		lode_function_is_stub(one, one->name) ||
		lode_costed_code_is_run_time(context, function))
		return false;
	for (uint32_t i = 0; i < one->n_instructions; i++) {
		uint32_t at = one->first_instruction + i;
		if (is_in_loop(self, at) || (marks_of(self, at) & CALLS) != 0)
			return false;
	}
	return true;
}

/* A stub of which no jump is known leads to what it is named after. */
static void find_small(Marking *self)
{
	guint n = lode_code_of(self->code->context->profile)->functions->len;
	g_autoptr(GHashTable) stubs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (uint32_t i = 0; i < n; i++) {
		if (!is_small(self, i))
			continue;
		self->kinds[i] = IS_SMALL;
		self->leads[i] = i;
		g_hash_table_insert(stubs, g_strconcat(function_at(self, i)->name, "@plt", NULL),
			GUINT_TO_POINTER(i + 1));
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t small = GPOINTER_TO_UINT(
			g_hash_table_lookup(stubs, function_at(self, i)->name));
		self->leads[i] = small > 0 ? small - 1 : self->leads[i];
	}
	for (guint i = 0; i < self->calls->len; i++) {
		const LodeCountedCall *call = &g_array_index(self->calls, LodeCountedCall, i);
		const LodeFunction *caller = function_at(self, call->caller);
		if (lode_function_is_stub(caller, caller->name) &&
			self->kinds[call->callee] == IS_SMALL)
			self->leads[call->caller] = call->callee;
	}
}

LODE_ORDER(compare_sources, Source, LODE_ASCENDING(instruction), LODE_ASCENDING(small))

static void add_source(Marking *self, uint32_t instruction, uint32_t called)
{
	const LodeDiagnosisContext *context = self->code->context;
	Source added = {instruction, self->leads[called], false};

	if (instruction == LODE_NONE || added.small == LODE_NONE ||
		(marks_of(self, instruction) & CALLS) == 0)
		return;
	uint32_t caller = lode_profile_instruction(context->profile, instruction)->function;
	added.is_kept_apart = called != added.small ||
	                      (marks_of(self, instruction) & INDIRECT) != 0 ||
	                      function_at(self, caller)->image !=
	                              function_at(self, called)->image ||
	                      looks_up(self, called);
	if (context->family_of[caller] == LODE_NONE &&
		!lode_costed_code_is_run_time(context, caller))
		g_array_append_val(self->sources, added);
}

/* By edges, and by stacks, which know calls through pointers. */
static void find_sources(Marking *self)
{
	const LodeProfile *profile = self->code->context->profile;
	const LodeFunctionCosts *costs = self->code->context->costs;
	guint n_stacks = costs->stacks != NULL ? lode_stacks_of(profile)->stacks->len : 0, n = 0;

	for (guint i = 0; i < self->calls->len; i++) {
		const LodeCountedCall *call = &g_array_index(self->calls, LodeCountedCall, i);
		if (call->edge != LODE_NONE)
			add_source(self,
				LODE_AT(lode_code_of(profile)->edges, LodeEdge, call->edge).source,
				call->callee);
	}
	for (guint i = 0; i < n_stacks; i++) {
		uint32_t function = lode_function_costs_at_stack(costs, i);
		if (function < lode_code_of(profile)->functions->len)
			add_source(self, lode_function_costs_call_around(costs, i), function);
	}
	g_array_sort(self->sources, compare_sources);
	for (guint i = 0; i < self->sources->len; i++) {
		const Source one = g_array_index(self->sources, Source, i);
		if (n > 0 &&
			compare_sources(&g_array_index(self->sources, Source, n - 1), &one) == 0) {
			g_array_index(self->sources, Source, n - 1).is_kept_apart |=
				one.is_kept_apart;
			continue;
		}
		g_array_index(self->sources, Source, n++) = one;
	}
	g_array_set_size(self->sources, n);
}

/* Adds the weight of a function's instructions to that of the small one that it leads to. */
static void add_weight(Marking *self, uint32_t function)
{
	const LodeFunction *one = function_at(self, function);

	for (uint32_t i = 0; i < one->n_instructions; i++)
		self->weights[self->leads[function]] +=
			self->code->weights[one->first_instruction + i];
}

static void mark_function(Marking *self, uint32_t function)
{
	const LodeFunction *one = function_at(self, function);
	double all = self->weights[self->leads[function]];

	for (uint32_t i = 0; i < one->n_instructions; i++) {
		uint32_t at = one->first_instruction + i;
		if (!may_wait(self, at) || self->code->weights[at] < MOST_OF_IT * all)
			self->code->facts[at] |= LODE_BIT(LODE_CODE_SMALL);
	}
}

void lode_small_calls_mark(LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	guint n = lode_code_of(profile)->functions->len;
	g_autofree uint8_t *kinds = g_new0(uint8_t, MAX(n, 1));
	g_autofree double *weights = g_new0(double, MAX(n, 1));
	g_autofree uint32_t *leads = g_new(uint32_t, MAX(n, 1));
	g_auto(LodeCallCosts) costs = {0};

	code->small_calls = g_array_new(FALSE, FALSE, sizeof(LodeSmallCall));
	lode_call_costs_init(&costs, profile, code->context->event, true);
	g_autoptr(GArray) sources = g_array_new(FALSE, FALSE, sizeof(Source));
	Marking self = {code, kinds, weights, leads, costs.calls, sources, NULL};
	for (guint i = 0; i < n; i++)
		leads[i] = LODE_NONE;
	self.sets = lode_profile_mark_sets(code->context->profile, marked, G_N_ELEMENTS(marked));
	find_small(&self);
	find_sources(&self);
	for (guint i = 0; i < sources->len; i++) {
		const Source *one = &g_array_index(sources, Source, i);
		bool is_repeated = one->is_kept_apart && is_in_loop(&self, one->instruction);
		weights[one->small] += code->weights[one->instruction];
		kinds[one->small] |= is_repeated ? IS_CALLED_IN_LOOP : 0;
		if (!is_repeated)
			continue;
		const LodeSmallCall call = {one->instruction, one->small};
		code->facts[one->instruction] |= LODE_BIT(LODE_CODE_SMALL);
		g_array_append_val(code->small_calls, call);
	}
	for (uint32_t i = 0; i < n; i++)
		if (leads[i] != LODE_NONE)
			add_weight(&self, i);
	for (uint32_t i = 0; i < n; i++)
		if (leads[i] != LODE_NONE && (kinds[leads[i]] & IS_CALLED_IN_LOOP) != 0)
			mark_function(&self, i);
	g_free(self.sets);
}
