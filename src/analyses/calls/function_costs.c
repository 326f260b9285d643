/* SPDX-License-Identifier: MIT */
/*
 * Stacks are a forest, in which an outer stack is the parent of those that it called. Each cost is
 * the sum of a kind of label over this forest:
 *
 *            main                 labels that are functions: inclusive costs
 *           /    \                labels that are callers of f, on the stacks of f: its callers
 *       often    seldom ← f       labels that are functions called by f: its callees
 *         |        |              labels that are families: their costs
 *       work      work
 *
 * The stacks are numbered in preorder, so that those below one are the next ones after it. One pass
 * sums the costs below each stack whose label is not on the way to it already. It takes time in
 * proportion to the number of stacks, whatever their depth.
 */
#include "analyses/calls/function_costs.h"

#include "analyses/calls/called_names.h"
#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/variants/script_image.h"
#include "model/causes.h"
#include "model/lines/own_lines.h"
#include "model/profile.h"
#include "model/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char unknown[] = "[unknown]";

typedef struct LodeStackSums {
	guint n;
	uint32_t *parents;       /* of each stack; LODE_NONE: none */
	uint32_t *order;         /* the stacks in preorder */
	uint32_t *ends;          /* at each place in it, that after all below the stack there */
	uint32_t *functions;     /* of each stack: what is in the frame, of LodeFunctionCosts */
	double *costs, *samples; /* of each stack with those that it called */
	double *own;             /* of each stack alone: samples */
} Sums;

typedef LodeStackTotal Total;

const char *lode_call_source_to_text(LodeCallSource source)
{
	static const char *const words[] = {NULL, "stacks", "calls", "tops", "inferred"};

	return words[source];
}

/* --- the functions of frames --- */

typedef struct {
	LodeFunctionCosts *costs;
	GHashTable *images; /* path → number + 1 of the first image that has it */
	LodeIdCache known;  /* name, image, whether inlined → function */
} Naming;

static LodeFunctionCost *cost_at(LodeFunctionCosts *self, uint32_t function)
{
	return &g_array_index(self->functions, LodeFunctionCost, function);
}

/* Equal strings of a profile are one. */
static LodeIdSlot *find_name(
	Naming *self, const char *name, const char *image, bool is_inlined, bool *out_is_new)
{
	const LodeIdKey key = {{GPOINTER_TO_SIZE(name), GPOINTER_TO_SIZE(image), is_inlined}};

	return lode_id_cache_find(&self->known, &key, out_is_new);
}

static uint32_t function_at(const Naming *self, const char *image, uint64_t address)
{
	const LodeProfile *profile = self->costs->profile;
	const LodeFunction *functions = (const LodeFunction *)(void *)profile->code.functions->data;
	uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(self->images, image));

	for (; number > 0 && number <= profile->code.images->len; number++) {
		if (strcmp(lode_profile_image(profile, number - 1)->path, image) != 0)
			break;
		size_t end = LODE_PARTITION_POINT(profile->code.functions->len, i,
			functions[i].image < number - 1 ||
				(functions[i].image == number - 1 &&
					functions[i].address <= address));
		if (end > 0 && functions[end - 1].image == number - 1 &&
			address - functions[end - 1].address < functions[end - 1].size)
			return (uint32_t)(end - 1);
	}
	return LODE_NONE;
}

/* A function has no file where it is not known, or where all of its code is inlined. */
static bool is_own(const LodeFrame *frame, bool has_file)
{
	return frame->image != NULL && !lode_is_system_library(frame->image) &&
	       g_strcmp0(frame->function, "_start") != 0 &&
	       (frame->file == NULL ? !has_file && !lode_is_run_time_code(frame->image)
				    : !lode_is_toolchain_file(frame->file));
}

static uint32_t function_of(Naming *self, const LodeFrame *frame)
{
	const char *image = frame->image != NULL ? frame->image : unknown;
	const char *name = frame->function != NULL ? frame->function : unknown;
	uint32_t found = frame->image != NULL && !frame->is_inlined
	                         ? function_at(self, image, frame->address)
	                         : LODE_NONE;
	bool is_new;

	if (found != LODE_NONE)
		return found;
	LodeIdSlot *slot = find_name(self, name, image, frame->is_inlined, &is_new);
	if (is_new) {
		const LodeFunctionCost added = {.name = name,
			.image = image,
			.inclusive = (double)NAN,
			.is_inlined = frame->is_inlined,
			.is_stub = lode_function_is_stub(NULL, name)};
		slot->id = self->costs->functions->len;
		g_array_append_val(self->costs->functions, added);
	}
	return slot->id;
}

/* A number for each frame, which the caller frees. */
static uint32_t *name_frames(LodeFunctionCosts *costs, const LodeStacks *stacks)
{
	const LodeProfile *profile = costs->profile;
	Naming self = {costs, g_hash_table_new(g_str_hash, g_str_equal), {0}};
	uint32_t *functions = g_new(uint32_t, MAX(stacks->frames->len, 1));
	bool is_new;

	lode_id_cache_init(&self.known);
	for (guint i = profile->code.images->len; i-- > 0;)
		g_hash_table_insert(
			self.images, lode_profile_image(profile, i)->path, GUINT_TO_POINTER(i + 1));
	/* A frame without an address is taken for the first function of its name in the image. */
	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunctionCost *one = cost_at(costs, i);
		LodeIdSlot *slot = find_name(&self, one->name, one->image, false, &is_new);
		if (is_new)
			slot->id = i;
	}
	for (guint i = 0; i < stacks->frames->len; i++) {
		const LodeFrame *frame = &LODE_AT(stacks->frames, LodeFrame, i);
		functions[i] = function_of(&self, frame);
	}
	g_autofree bool *has_file = g_new0(bool, MAX(costs->functions->len, 1));
	for (guint i = 0; i < stacks->frames->len; i++)
		has_file[functions[i]] |= LODE_AT(stacks->frames, LodeFrame, i).file != NULL;
	for (guint i = 0; i < stacks->frames->len; i++)
		cost_at(costs, functions[i])->is_own |= is_own(
			&LODE_AT(stacks->frames, LodeFrame, i), has_file[functions[i]]);
	lode_id_cache_clear(&self.known);
	g_hash_table_unref(self.images);
	return functions;
}

/* --- the forest --- */

static Sums *sums_new(const LodeStacks *stacks, const uint32_t *of_frames)
{
	Sums *self = g_new0(Sums, 1);
	guint n = stacks->stacks->len;
	g_autofree uint32_t *sizes = g_new0(uint32_t, MAX(n, 1)); /* with those below */
	g_autofree uint32_t *nexts = g_new(uint32_t, MAX(n, 1));  /* place of the next one below */
	uint32_t next = 0;

	self->n = n;
	self->parents = g_new(uint32_t, MAX(n, 1));
	self->order = g_new(uint32_t, MAX(n, 1));
	self->ends = g_new(uint32_t, MAX(n, 1));
	self->functions = g_new(uint32_t, MAX(n, 1));
	self->costs = g_new0(double, MAX(n, 1));
	self->samples = g_new0(double, MAX(n, 1));
	self->own = g_new0(double, MAX(n, 1));
	for (uint32_t i = 0; i < n; i++) {
		const LodeStack *stack = &LODE_AT(stacks->stacks, LodeStack, i);
		/* The store has checked it. */
		self->parents[i] = stack->outer < i ? stack->outer : LODE_NONE;
		self->functions[i] = of_frames[stack->frame];
	}
	for (uint32_t i = n; i-- > 0;) {
		sizes[i]++;
		if (self->parents[i] != LODE_NONE)
			sizes[self->parents[i]] += sizes[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = self->parents[i];
		uint32_t *at = parent != LODE_NONE ? &nexts[parent] : &next;
		self->order[*at] = i;
		self->ends[*at] = *at + sizes[i];
		nexts[i] = *at + 1;
		*at += sizes[i];
	}
	return self;
}

static void sums_free(Sums *self)
{
	if (self == NULL)
		return;
	g_free(self->parents);
	g_free(self->order);
	g_free(self->ends);
	g_free(self->functions);
	g_free(self->costs);
	g_free(self->samples);
	g_free(self->own);
	g_free(self);
}

static void add_samples(Sums *self, const LodeStacks *stacks, uint32_t event)
{
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != event || sample->stack >= self->n)
			continue;
		self->costs[sample->stack] += sample->weight;
		self->own[sample->stack] += 1.0 + sample->n_more;
	}
	memcpy(self->samples, self->own, self->n * sizeof(double));
	for (uint32_t i = self->n; i-- > 0;) {
		if (self->parents[i] == LODE_NONE)
			continue;
		self->costs[self->parents[i]] += self->costs[i];
		self->samples[self->parents[i]] += self->samples[i];
	}
}

/* The costs of labels, each a number below n or LODE_NONE. The caller frees the result. */
static Total *sum_labels(const Sums *self, const uint32_t *labels, size_t n)
{
	Total *totals = g_new0(Total, MAX(n, 1));
	g_autofree uint32_t *untils = g_new0(
		uint32_t, MAX(n, 1)); /* it is on the way until there */

	for (uint32_t at = 0; at < self->n; at++) {
		uint32_t label = labels[self->order[at]];
		if (label == LODE_NONE || at < untils[label])
			continue;
		untils[label] = self->ends[at];
		totals[label].cost += self->costs[self->order[at]];
		totals[label].samples += self->samples[self->order[at]];
	}
	return totals;
}

/* --- all functions --- */

static bool is_kernel(const LodeFunctionCost *function)
{
	return strcmp(function->image, "[kernel]") == 0;
}

/* The samples in each function and what it is inlined into, and those with nothing around. */
static void count_samples(LodeFunctionCosts *self, const Sums *sums)
{
	g_autofree uint32_t *around = g_new(uint32_t, MAX(sums->n, 1));
	g_autofree uint32_t *depths = g_new(uint32_t, MAX(sums->n, 1)); /* in user mode */

	for (guint i = 0; i < self->functions->len; i++)
		cost_at(self, i)->samples = 0;
	for (uint32_t i = 0; i < sums->n; i++) {
		uint32_t parent = sums->parents[i];
		const LodeFunctionCost *one = cost_at(self, sums->functions[i]);
		bool is_part = one->is_inlined && parent != LODE_NONE;
		around[i] = is_part ? around[parent] : sums->functions[i];
		depths[i] = (parent != LODE_NONE ? depths[parent] : 0) +
		            !(is_part || is_kernel(one));
		cost_at(self, around[i])->samples += sums->own[i];
		self->samples += sums->own[i];
		self->alone += depths[i] == 1 ? sums->own[i] : 0;
	}
}

/* Weight that was moved to the instruction that waited may have come from a caller. */
static void take_stacks(LodeFunctionCosts *self, const LodeStacks *stacks, uint32_t event)
{
	g_autofree uint32_t *of_frames = name_frames(self, stacks);
	Sums *sums = sums_new(stacks, of_frames);

	add_samples(sums, stacks, event);
	count_samples(self, sums);
	for (guint i = 0; i < self->functions->len && !(self->samples > 0); i++)
		cost_at(self, i)->samples = (double)NAN;
	if (!(stacks->has_chains || stacks->has_tops) || !(self->samples > 0)) {
		sums_free(sums);
		return;
	}
	g_autofree Total *totals = sum_labels(sums, sums->functions, self->functions->len);
	for (guint i = 0; i < self->functions->len; i++) {
		LodeFunctionCost *one = cost_at(self, i);
		if (stacks->has_chains || !one->is_own)
			one->inclusive = MAX(totals[i].cost, one->self);
	}
	self->stacks = sums;
	self->source = stacks->has_chains ? LODE_CALLS_FROM_STACKS : LODE_CALLS_FROM_TOPS;
}

/* Where no stacks are known samples have one weight each, as of a timer. */
static void estimate_samples(LodeFunctionCosts *self, uint32_t event)
{
	const LodeProfile *profile = self->profile;
	const LodeEvent *row = lode_profile_event(profile, event);

	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		double weight = 0;
		for (uint32_t j = 0; j < function->n_instructions; j++)
			weight += lode_profile_event_value(
				profile, event, function->first_instruction + j);
		cost_at(self, i)->samples = round(weight / row->total * profile->run.n_samples);
	}
}

static void take_counts(LodeFunctionCosts *self, uint32_t event)
{
	lode_call_costs_init(&self->counted, self->profile, event, true);
	if (self->counted.calls->len == 0)
		return;
	self->source = LODE_CALLS_FROM_COUNTS;
	for (uint32_t i = 0; i < self->profile->code.functions->len; i++)
		cost_at(self, i)->inclusive = self->counted.inclusive[i];
}

LodeFunctionCosts *lode_function_costs_new(const LodeProfile *profile, uint32_t event)
{
	LodeFunctionCosts *self = g_new0(LodeFunctionCosts, 1);

	self->profile = profile;
	self->event = LODE_NONE;
	self->strings = g_string_chunk_new(1 << 8);
	self->functions = g_array_new(FALSE, TRUE, sizeof(LodeFunctionCost));
	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		const LodeImage *image = lode_profile_image(profile, function->image);
		LodeFunctionCost one = {.name = function->name,
			.image = image->path,
			.inclusive = (double)NAN,
			.samples = (double)NAN,
			.is_stub = lode_function_is_stub(function, function->name)};
		if (lode_image_kind_is_script(image->kind)) {
			one.language = lode_image_kind_to_text(image->kind);
			one.script_line = lode_script_image_line(function->address);
		}
		for (uint32_t j = 0; j < function->n_instructions && event != LODE_NONE; j++)
			one.self += lode_profile_event_value(
				profile, event, function->first_instruction + j);
		g_array_append_val(self->functions, one);
	}
	if (event == LODE_NONE)
		return self;
	uint32_t sampled = lode_profile_event_as_sampled(profile, event);
	sampled = sampled != LODE_NONE ? sampled : event;
	self->event = sampled;
	if (profile->stacks != NULL)
		take_stacks(self, profile->stacks, sampled);
	else if (lode_profile_event(profile, sampled)->kind == LODE_EVENT_SAMPLED &&
		 lode_profile_event(profile, sampled)->total > 0 && profile->run.n_samples > 0)
		estimate_samples(self, sampled);
	if (self->source != LODE_CALLS_FROM_STACKS &&
		profile->run.frequency == LODE_FREQUENCY_EXACT)
		take_counts(self, event);
	lode_called_names_find(self);
	return self;
}

void lode_function_costs_free(LodeFunctionCosts *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->functions);
	sums_free(self->stacks);
	g_string_chunk_free(self->strings);
	lode_call_costs_clear(&self->counted);
	g_free(self);
}

bool lode_function_costs_have_scripts(const LodeFunctionCosts *self)
{
	for (guint i = 0; i < self->functions->len; i++)
		if (lode_function_cost_at(self, i)->script_line > 0 &&
			strcmp(lode_function_cost_at(self, i)->language,
				lode_image_kind_to_text(LODE_IMAGE_JAVA)) != 0)
			return true;
	return false;
}

bool lode_function_costs_are_short(const LodeFunctionCosts *self)
{
	return self->source == LODE_CALLS_FROM_STACKS && self->alone > self->samples / 2;
}

LodeStackTotal *lode_function_costs_of_labels(
	const LodeFunctionCosts *self, const uint32_t *labels, size_t n)
{
	return self->stacks != NULL ? sum_labels(self->stacks, labels, n) : NULL;
}

uint32_t lode_function_costs_at_stack(const LodeFunctionCosts *self, uint32_t stack)
{
	return self->stacks->functions[stack];
}

uint32_t lode_function_costs_call_around(const LodeFunctionCosts *self, uint32_t stack)
{
	const LodeProfile *profile = self->profile;
	const LodeInstruction *rows =
		(const LodeInstruction *)(void *)profile->code.instructions->data;
	uint32_t outer = self->stacks->parents[stack];

	if (outer == LODE_NONE)
		return LODE_NONE;
	uint32_t frame = LODE_AT(profile->stacks->stacks, LodeStack, outer).frame;
	uint64_t address = LODE_AT(profile->stacks->frames, LodeFrame, frame).address;
	while (lode_function_cost_at(self, self->stacks->functions[outer])->is_inlined &&
		self->stacks->parents[outer] != LODE_NONE)
		outer = self->stacks->parents[outer];
	if (self->stacks->functions[outer] >= profile->code.functions->len)
		return LODE_NONE;
	const LodeFunction *caller = lode_profile_function(profile, self->stacks->functions[outer]);
	uint32_t first = caller->first_instruction;
	size_t n = LODE_PARTITION_POINT(
		caller->n_instructions, i, rows[first + i].address <= address);
	return n > 0 && address - rows[first + n - 1].address < rows[first + n - 1].size
	               ? first + (uint32_t)n - 1
	               : LODE_NONE;
}

bool lode_function_costs_of_groups(
	const LodeFunctionCosts *self, const uint32_t *group_of, size_t n, double *out_costs)
{
	const Sums *sums = self->stacks;

	if (sums == NULL)
		return false;
	g_autofree uint32_t *labels = g_new(uint32_t, MAX(sums->n, 1));
	for (uint32_t i = 0; i < sums->n; i++) {
		uint32_t parent = sums->parents[i];
		bool is_entered = parent != LODE_NONE &&
		                  is_kernel(lode_function_cost_at(self, sums->functions[parent])) &&
		                  is_kernel(lode_function_cost_at(self, sums->functions[i]));
		labels[i] = is_entered ? LODE_NONE : group_of[sums->functions[i]];
	}
	g_autofree Total *totals = sum_labels(sums, labels, n);
	for (size_t i = 0; i < n; i++)
		out_costs[i] = totals[i].cost;
	return true;
}

/* --- callers and callees --- */

LODE_ORDER(compare_shares, LodeCallShare,
	lode_compare_doubles_descending(&left->cost, &right->cost),
	lode_compare_doubles_descending(&left->calls, &right->calls), LODE_ASCENDING(function))

static void sort_shares(GArray *shares)
{
	if (shares->len > 1)
		qsort(shares->data, shares->len, sizeof(LodeCallShare), compare_shares);
}

static GArray *sum_shares(const LodeFunctionCosts *costs, const uint32_t *labels)
{
	guint n = costs->functions->len;
	g_autofree Total *totals = sum_labels(costs->stacks, labels, n);
	GArray *shares = g_array_new(FALSE, FALSE, sizeof(LodeCallShare));

	for (uint32_t i = 0; i < n; i++) {
		const LodeCallShare one = {i, totals[i].cost, totals[i].samples, (double)NAN};
		if (one.samples > 0)
			g_array_append_val(shares, one);
	}
	sort_shares(shares);
	return shares;
}

static void find_on_stacks(LodeNeighbours *self, const LodeFunctionCosts *costs,
	const bool *is_marked, bool has_own_callers)
{
	const Sums *sums = costs->stacks;
	g_autofree uint32_t *outers = g_new(uint32_t, MAX(sums->n, 1)); /* functions */
	g_autofree uint32_t *owners = g_new(uint32_t, MAX(sums->n, 1)); /* of the user's own */
	g_autofree uint32_t *callers = g_new(uint32_t, MAX(sums->n, 1));
	g_autofree uint32_t *callees = g_new(uint32_t, MAX(sums->n, 1));
	g_autofree uint32_t *marked = g_new(uint32_t, MAX(sums->n, 1));

	for (uint32_t i = 0; i < sums->n; i++) {
		uint32_t parent = sums->parents[i], function = sums->functions[i];
		const LodeFunctionCost *outer = parent != LODE_NONE
		                                        ? lode_function_cost_at(
								  costs, sums->functions[parent])
		                                        : NULL;
		outers[i] = outer == NULL    ? LODE_NONE
		            : outer->is_stub ? outers[parent]
		                             : sums->functions[parent];
		owners[i] = outer == NULL                      ? LODE_NONE
		            : outer->is_own && !outer->is_stub ? sums->functions[parent]
		                                               : owners[parent];
		marked[i] = is_marked[function] ? 0 : LODE_NONE;
		callers[i] = !is_marked[function] ? LODE_NONE
		             : has_own_callers    ? owners[i]
		                                  : outers[i];
		callees[i] = outers[i] != LODE_NONE && is_marked[outers[i]] ? function : LODE_NONE;
	}
	self->callers = sum_shares(costs, callers);
	self->callees = sum_shares(costs, callees);
	g_autofree Total *total = sum_labels(sums, marked, 1);
	bool is_known = costs->source != LODE_CALLS_FROM_TOPS;
	for (guint i = 0; i < costs->functions->len && !is_known; i++)
		is_known = is_marked[i] && !isnan(lode_function_cost_at(costs, i)->inclusive);
	self->inclusive = is_known ? MAX(total->cost, self->self) : (double)NAN;
}

static void add_share(GArray *shares, uint32_t function, double cost, double count)
{
	LodeCallShare *one = &g_array_index(shares, LodeCallShare, function);

	one->cost += cost;
	one->calls += count;
}

/* Looks through the stubs that call marked functions, or that these call: the functions beyond
 * share in them in proportion to their calls. The first stub of a table, which the others jump to
 * for the dynamic linker, is none of them. */
static void add_beyond(
	const LodeFunctionCosts *costs, const bool *is_marked, GArray *shares, bool are_callers)
{
	const GArray *calls = costs->counted.calls;
	guint n = costs->functions->len;
	g_autofree LodeCallShare *through = g_new0(LodeCallShare, n); /* each stub */
	g_autofree double *beyond = g_new0(double, n); /* calls of each stub at its other side */

	for (guint i = 0; i < calls->len; i++) {
		const LodeCountedCall *call = &g_array_index(calls, LodeCountedCall, i);
		uint32_t outer = are_callers ? call->caller : call->callee;
		uint32_t inner = are_callers ? call->callee : call->caller;
		if (is_marked[inner]) {
			through[outer].cost += call->cost;
			through[outer].calls += call->count;
		}
		if (!lode_function_cost_at(costs, outer)->is_stub)
			beyond[inner] += call->count;
	}
	for (guint i = 0; i < calls->len; i++) {
		const LodeCountedCall *call = &g_array_index(calls, LodeCountedCall, i);
		uint32_t outer = are_callers ? call->caller : call->callee;
		uint32_t stub = are_callers ? call->callee : call->caller;
		if (lode_function_cost_at(costs, stub)->is_stub &&
			!lode_function_cost_at(costs, outer)->is_stub)
			add_share(shares, outer, through[stub].cost * (call->count / beyond[stub]),
				through[stub].calls * (call->count / beyond[stub]));
	}
}

/* Only those that make or get calls are left. */
static GArray *take_called(GArray *shares)
{
	GArray *called = g_array_new(FALSE, FALSE, sizeof(LodeCallShare));

	for (guint i = 0; i < shares->len; i++)
		if (g_array_index(shares, LodeCallShare, i).calls > 0)
			g_array_append_val(called, g_array_index(shares, LodeCallShare, i));
	sort_shares(called);
	g_array_unref(shares);
	return called;
}

static GArray *all_shares(guint n)
{
	GArray *shares = g_array_sized_new(FALSE, FALSE, sizeof(LodeCallShare), n);

	for (uint32_t i = 0; i < n; i++) {
		const LodeCallShare one = {i, 0, (double)NAN, 0};
		g_array_append_val(shares, one);
	}
	return shares;
}

static void find_in_counts(
	LodeNeighbours *self, const LodeFunctionCosts *costs, const bool *is_marked)
{
	const GArray *calls = costs->counted.calls;
	GArray *callers = all_shares(costs->functions->len);
	GArray *callees = all_shares(costs->functions->len);

	for (guint i = 0; i < calls->len; i++) {
		const LodeCountedCall *call = &g_array_index(calls, LodeCountedCall, i);
		if (is_marked[call->callee] && !lode_function_cost_at(costs, call->caller)->is_stub)
			add_share(callers, call->caller, call->cost, call->count);
		if (is_marked[call->caller] && !lode_function_cost_at(costs, call->callee)->is_stub)
			add_share(callees, call->callee, call->cost, call->count);
	}
	add_beyond(costs, is_marked, callers, true);
	add_beyond(costs, is_marked, callees, false);
	self->callers = take_called(callers);
	self->callees = take_called(callees);
	for (guint i = 0; i < costs->functions->len; i++)
		if (is_marked[i])
			self->inclusive = MAX(
				self->inclusive, lode_function_cost_at(costs, i)->inclusive);
}

void lode_neighbours_init(LodeNeighbours *self, const LodeFunctionCosts *costs,
	const bool *is_marked, bool has_own_callers)
{
	*self = (LodeNeighbours){0};
	for (guint i = 0; i < costs->functions->len; i++) {
		const LodeFunctionCost *one = lode_function_cost_at(costs, i);
		if (!is_marked[i])
			continue;
		self->self += one->self;
		self->samples += one->samples;
	}
	if (costs->source == LODE_CALLS_FROM_COUNTS) {
		find_in_counts(self, costs, is_marked);
	} else if (costs->stacks != NULL) {
		find_on_stacks(self, costs, is_marked, has_own_callers);
	} else {
		self->inclusive = (double)NAN;
		self->callers = g_array_new(FALSE, FALSE, sizeof(LodeCallShare));
		self->callees = g_array_new(FALSE, FALSE, sizeof(LodeCallShare));
	}
}

void lode_neighbours_clear(LodeNeighbours *self)
{
	if (self->callers != NULL)
		g_array_unref(self->callers);
	if (self->callees != NULL)
		g_array_unref(self->callees);
	*self = (LodeNeighbours){0};
}

/* --- own lines --- */

LODE_ORDER(compare_own_callers, LodeOwnCaller,
	lode_compare_doubles_descending(&left->cost, &right->cost), LODE_ASCENDING(frame->line))

static bool has_own_line(const LodeOwnLines *own, const LodeFrame *frame)
{
	return frame->file != NULL && frame->line > 0 &&
	       (frame->image == NULL || !lode_is_system_library(frame->image)) &&
	       lode_own_lines_is_own_file(own, frame->file);
}

/* Numbers of the own lines of all frames: LODE_NONE where the line is not own. The first frame of
 * each line goes into `callers`. */
static uint32_t *number_lines(const LodeStacks *stacks, const LodeOwnLines *own, GArray *callers)
{
	g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	uint32_t *numbers = g_new(uint32_t, MAX(stacks->frames->len, 1));

	for (guint i = 0; i < stacks->frames->len; i++) {
		const LodeFrame *frame = &LODE_AT(stacks->frames, LodeFrame, i);
		numbers[i] = LODE_NONE;
		if (!has_own_line(own, frame))
			continue;
		char *key = g_strdup_printf("%u %s", frame->line, frame->file);
		void *found = g_hash_table_lookup(known, key);
		if (found == NULL) {
			const LodeOwnCaller caller = {.frame = frame};
			g_array_append_val(callers, caller);
			found = GUINT_TO_POINTER(callers->len);
			g_hash_table_insert(known, g_steal_pointer(&key), found);
		}
		g_free(key);
		numbers[i] = GPOINTER_TO_UINT(found) - 1;
	}
	return numbers;
}

GArray *lode_function_costs_own_callers(
	const LodeFunctionCosts *self, const bool *is_marked, const char *const *own)
{
	const Sums *sums = self->stacks;
	const LodeStacks *stacks = self->profile->stacks;
	GArray *callers = g_array_new(FALSE, FALSE, sizeof(LodeOwnCaller));

	if (sums == NULL)
		return callers;
	g_autoptr(LodeOwnLines) lines = lode_own_lines_new(self->profile, own);
	g_autofree uint32_t *numbers = number_lines(stacks, lines, callers);
	g_autofree uint32_t *nearest = g_new(uint32_t, MAX(sums->n, 1));
	g_autofree uint32_t *labels = g_new(uint32_t, MAX(sums->n, 1));
	for (uint32_t i = 0; i < sums->n; i++) {
		uint32_t parent = sums->parents[i];
		uint32_t number = numbers[LODE_AT(stacks->stacks, LodeStack, i).frame];
		uint32_t around = parent != LODE_NONE ? nearest[parent] : LODE_NONE;
		nearest[i] = number != LODE_NONE ? number : around;
		labels[i] = is_marked[sums->functions[i]] ? around : LODE_NONE;
	}
	g_autofree Total *totals = sum_labels(sums, labels, callers->len);
	guint n = 0;
	for (guint i = 0; i < callers->len; i++) {
		LodeOwnCaller *one = &g_array_index(callers, LodeOwnCaller, i);
		one->cost = totals[i].cost;
		one->samples = totals[i].samples;
		if (one->samples > 0)
			g_array_index(callers, LodeOwnCaller, n++) = *one;
	}
	g_array_set_size(callers, n);
	g_array_sort(callers, compare_own_callers);
	return callers;
}
