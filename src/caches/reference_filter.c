/* SPDX-License-Identifier: MIT */
/* Walks through invocations. A table of lines stands for each first-level cache: where a reference
 * finds its line there, it is left out. */
#include "caches/reference_filter.h"

#include "caches/cache_access.h"
#include "caches/used_lines.h"

#include <string.h>

enum { MAX_PER_INVOCATION = LODE_BLOCK_MAX_INSTRUCTIONS + LODE_BLOCK_MAX_SLOTS };

struct LodeReferenceFilter {
	LodeFilterRules rules;
	const LodeTraceFrame *frame;
	const LodeBlockPlans *plans;
	size_t invocation, address, next_switch;
	uint64_t reference; /* of the invocation, in the frame */
	uint16_t thread;
	uint64_t totals[LODE_N_REFERENCE_KINDS];
	LodeFilteredReference *out;
	size_t n_out, room;
	LodeUsedLines fetches, data, fetch_pages, data_pages;
};

static void forget(LodeReferenceFilter *self)
{
	lode_used_lines_forget(&self->fetches);
	lode_used_lines_forget(&self->data);
	lode_used_lines_forget(&self->fetch_pages);
	lode_used_lines_forget(&self->data_pages);
}

LodeReferenceFilter *lode_reference_filter_new(const LodeFilterRules *rules)
{
	LodeReferenceFilter *self = g_new0(LodeReferenceFilter, 1);

	self->rules = *rules;
	forget(self);
	return self;
}

void lode_reference_filter_free(LodeReferenceFilter *self)
{
	if (self == NULL)
		return;
	g_free(self->out);
	g_free(self);
}

void lode_reference_filter_begin(
	LodeReferenceFilter *self, const LodeTraceFrame *frame, const LodeBlockPlans *plans)
{
	self->frame = frame;
	self->plans = plans;
	self->invocation = self->address = self->next_switch = 0;
	self->reference = 0;
	memset(self->totals, 0, sizeof(self->totals));
}

static void follow_switches(LodeReferenceFilter *self)
{
	const LodeTraceFrame *frame = self->frame;
	uint16_t thread = self->thread;

	while (self->next_switch < frame->n_switches &&
		frame->switches[self->next_switch].invocation <= self->invocation)
		thread = frame->switches[self->next_switch++].thread;
	if (thread != self->thread && self->rules.forgets_on_switch)
		forget(self);
	self->thread = thread;
}

/* Where data and fetches share a cache, so do their lines. */
static LodeUsedLines *fetch_lines(LodeReferenceFilter *self)
{
	return self->rules.is_unified ? &self->data : &self->fetches;
}

static LodeFilteredReference *append(LodeReferenceFilter *self, uint64_t address, uint16_t extent)
{
	LodeFilteredReference *out = &self->out[self->n_out++];

	out->address = address;
	out->invocation = (uint32_t)self->invocation;
	out->thread = self->thread;
	/* memory ends before the access does */
	out->extent = (uint16_t)MIN((uint64_t)extent, UINT64_MAX - address);
	return out;
}

static void filter_fetch(LodeReferenceFilter *self, uint64_t address, uint32_t size,
	unsigned instruction, unsigned position)
{
	const LodeFilterRules *rules = &self->rules;
	uint64_t last = address + MIN((uint64_t)lode_access_extent(size), UINT64_MAX - address);
	unsigned parts = 0;
	LodeFilteredReference *out;

	if (rules->fetch_pages.is_there &&
		!lode_used_lines_has(&self->fetch_pages, &rules->fetch_pages, address, last))
		parts |= LODE_ACCESS_TLBS;
	if (rules->fetches.is_there &&
		(rules->keeps_fetches ||
			!lode_used_lines_has(fetch_lines(self), &rules->fetches, address, last)))
		parts |= LODE_ACCESS_CACHES;
	if (parts == 0)
		return;
	if (parts & LODE_ACCESS_TLBS)
		lode_used_lines_note(&self->fetch_pages, &rules->fetch_pages, address, last,
			(LodeLineUse){true});
	if (parts & LODE_ACCESS_CACHES)
		lode_used_lines_note(fetch_lines(self), &rules->fetches, address, last,
			(LodeLineUse){true, false, rules->fetches_next});
	out = append(self, address, (uint16_t)(last - address));
	out->reference = (uint32_t)self->reference + position;
	out->kind = LODE_REFERENCE_FETCH;
	out->instruction = (uint8_t)instruction;
	out->slot = UINT8_MAX;
	out->parts = (uint8_t)parts;
}

/* Whether a data reference that lies in one line changes something there. */
static inline bool changes_line(const LodeReferenceFilter *self, uint64_t address, unsigned kind)
{
	const LodeFilterRules *rules = &self->rules;
	uint64_t line = address >> rules->data.shift;
	unsigned at = (unsigned)(line & rules->data.mask);

	if (kind == LODE_REFERENCE_LOAD)
		return rules->keeps_data || self->data.used[at] != line;
	return rules->keeps_data || rules->keeps_stores || self->data.written[at] != line;
}

static void keep_data(
	LodeReferenceFilter *self, uint64_t address, const LodePlanSlot *slot, unsigned parts)
{
	const LodeFilterRules *rules = &self->rules;
	uint64_t last = address + MIN((uint64_t)slot->extent, UINT64_MAX - address);
	bool is_store = slot->kind == LODE_REFERENCE_STORE;
	bool writes = is_store || slot->kind == LODE_REFERENCE_MODIFY;
	LodeFilteredReference *out = append(self, address, slot->extent);

	if (parts & LODE_ACCESS_TLBS)
		lode_used_lines_note(
			&self->data_pages, &rules->data_pages, address, last, (LodeLineUse){true});
	if (parts & LODE_ACCESS_CACHES)
		lode_used_lines_note(&self->data, &rules->data, address, last,
			(LodeLineUse){!is_store || rules->stores_bring_lines,
				writes && rules->stores_end_here, rules->loads_next});
	out->kind = slot->kind;
	out->instruction = slot->instruction;
	out->parts = (uint8_t)parts;
}

/* By plain rules: whether a data reference finds its only line and leaves it as it is. */
static inline bool repeats(
	const LodeReferenceFilter *self, uint64_t address, const LodePlanSlot *slot)
{
	const LodeFilterShape *shape = &self->rules.data;
	const uint64_t *lines = slot->kind == LODE_REFERENCE_LOAD ? self->data.used
	                                                          : self->data.written;
	uint64_t line = address >> shape->shift;

	return lines[line & shape->mask] == line &&
	       (address + slot->extent) >> shape->shift == line;
}

/* Which lookups the reference takes; those left out change nothing. */
static inline unsigned needed_parts(
	const LodeReferenceFilter *self, uint64_t address, const LodePlanSlot *slot)
{
	const LodeFilterRules *rules = &self->rules;
	uint64_t crossed = address ^ (address + slot->extent);
	unsigned parts = 0;

	if (rules->data.is_there &&
		(crossed >> rules->data.shift != 0 || changes_line(self, address, slot->kind)))
		parts |= LODE_ACCESS_CACHES;
	if (rules->data_pages.is_there) {
		uint64_t page = address >> rules->data_pages.shift;

		if (crossed >> rules->data_pages.shift != 0 ||
			self->data_pages.used[page & rules->data_pages.mask] != page)
			parts |= LODE_ACCESS_TLBS;
	}
	return parts;
}

static inline void filter_slots(LodeReferenceFilter *self, const LodeBlockPlan *plan,
	const LodePlanSlot *slots, unsigned first, unsigned end)
{
	const uint64_t *addresses = self->frame->addresses + self->address;
	const bool is_plain = self->rules.is_plain;

	for (unsigned i = first; i < end; i++) {
		unsigned parts = LODE_ACCESS_CACHES;
		LodeFilteredReference *out;

		if (is_plain ? repeats(self, addresses[i], &slots[i])
			     : (parts = needed_parts(self, addresses[i], &slots[i])) == 0)
			continue;
		out = &self->out[self->n_out];
		keep_data(self, addresses[i], &slots[i], parts);
		out->slot = (uint8_t)i;
		out->reference = (uint32_t)self->reference + i +
		                 (plan->n_instructions > 0 ? slots[i].instruction + 1u : 0);
	}
}

/* Instruction by instruction, since one of the fetches counts. */
static void filter_in_order(
	LodeReferenceFilter *self, const LodeBlockPlan *plan, const LodePlanSlot *slots)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->frame->dictionary, self->frame->blocks[self->invocation]);
	uint64_t address = block->address;
	unsigned slot = 0;

	for (unsigned i = 0; i < plan->n_instructions; i++) {
		unsigned first = slot;

		filter_fetch(self, address, block->instruction_sizes[i], i, i + slot);
		while (slot < plan->n_slots && slots[slot].instruction == i)
			slot++;
		filter_slots(self, plan, slots, first, slot);
		address += block->instruction_sizes[i];
	}
	filter_slots(self, plan, slots, slot, plan->n_slots);
}

/* By plain rules: of the fetches, only the first one in a line can count, and where it does the
 * data references before it come first. */
static void filter_by_lines(
	LodeReferenceFilter *self, const LodeBlockPlan *plan, const LodePlanSlot *slots)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->frame->dictionary, self->frame->blocks[self->invocation]);
	const uint32_t *sizes = block->instruction_sizes;
	const LodeFilterShape *shape = &self->rules.fetches;
	uint64_t line = plan->first >> shape->shift, address = plan->first, fetched;
	unsigned slot = 0, instruction = 0;

	for (; line <= plan->last >> shape->shift; line++) {
		unsigned first = slot;

		if (self->fetches.used[line & shape->mask] == line)
			continue;
		while ((address + sizes[instruction] - 1) >> shape->shift < line)
			address += sizes[instruction++];
		while (slot < plan->n_slots && slots[slot].instruction < instruction)
			slot++;
		filter_slots(self, plan, slots, first, slot);
		filter_fetch(self, address, sizes[instruction], instruction, instruction + slot);
		/* It used all its lines, also those that its own later ones pushed out of the
		 * table. */
		fetched = (address + sizes[instruction] - 1) >> shape->shift;
		line = MAX(line, fetched);
	}
	filter_slots(self, plan, slots, slot, plan->n_slots);
}

/* Whether all fetches of a block can be left out at once. */
static inline bool leaves_out_fetches(const LodeReferenceFilter *self, const LodeBlockPlan *plan)
{
	const LodeFilterRules *rules = &self->rules;

	if (!rules->fetches.is_there && !rules->fetch_pages.is_there)
		return true;
	if (plan->n_instructions == 0)
		return true;
	if (plan->is_odd || rules->is_unified)
		return false;
	return (!rules->fetches.is_there || lode_used_lines_has(&self->fetches, &rules->fetches,
						    plan->first, plan->last)) &&
	       (!rules->fetch_pages.is_there ||
		       lode_used_lines_has(
			       &self->fetch_pages, &rules->fetch_pages, plan->first, plan->last));
}

static void filter_invocations(LodeReferenceFilter *self, size_t end)
{
	const LodeTraceFrame *frame = self->frame;
	uint64_t n_fetches = 0, n_data = 0, n_stores = 0, n_modifies = 0;
	size_t next_switch = 0;

	for (; self->invocation < end; self->invocation++) {
		const LodeBlockPlan *plan = lode_block_plans_at(
			self->plans, frame->blocks[self->invocation]);
		const LodePlanSlot *slots = &g_array_index(
			self->plans->slots, LodePlanSlot, plan->first_slot);

		if (self->invocation >= next_switch) {
			follow_switches(self);
			next_switch = self->next_switch < frame->n_switches
			                      ? frame->switches[self->next_switch].invocation
			                      : SIZE_MAX;
		}
		if (G_LIKELY(leaves_out_fetches(self, plan)))
			filter_slots(self, plan, slots, 0, plan->n_slots);
		else if (self->rules.is_plain && !plan->is_odd)
			filter_by_lines(self, plan, slots);
		else
			filter_in_order(self, plan, slots);
		self->address += plan->n_slots;
		self->reference += (uint64_t)plan->n_instructions + plan->n_slots;
		n_fetches += plan->n_instructions;
		n_data += plan->n_slots;
		n_stores += plan->n_stores;
		n_modifies += plan->n_modifies;
	}
	self->totals[LODE_REFERENCE_FETCH] += n_fetches;
	self->totals[LODE_REFERENCE_LOAD] += n_data - n_stores - n_modifies;
	self->totals[LODE_REFERENCE_STORE] += n_stores;
	self->totals[LODE_REFERENCE_MODIFY] += n_modifies;
}

bool lode_reference_filter_next(LodeReferenceFilter *self, size_t n_invocations,
	const LodeFilteredReference **out_references, size_t *out_n)
{
	size_t n = MIN(n_invocations, self->frame->n_invocations - self->invocation);

	if (n == 0)
		return false;
	if (n * MAX_PER_INVOCATION > self->room) {
		self->room = n * MAX_PER_INVOCATION;
		g_free(self->out);
		self->out = g_new(LodeFilteredReference, self->room);
	}
	self->n_out = 0;
	filter_invocations(self, self->invocation + n);
	*out_references = self->out;
	*out_n = self->n_out;
	return true;
}

const uint64_t *lode_reference_filter_totals(const LodeReferenceFilter *self)
{
	return self->totals;
}
