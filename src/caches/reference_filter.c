/* SPDX-License-Identifier: MIT */
/* Walks through invocations. A table of lines stands for each first-level cache: where a reference
 * finds its line there, it is left out. */
#include "caches/reference_filter.h"

#include "caches/cache_access.h"

#include <string.h>

enum {
	MAX_ENTRIES = 1 << 10,
	MAX_PER_INVOCATION = LODE_BLOCK_MAX_INSTRUCTIONS + LODE_BLOCK_MAX_SLOTS,
};

/* No line has this number: lines have 16 bytes at least. */
#define NO_LINE UINT64_MAX

/* Lines of one kind that were used last; `written` are those among them to which a store changes
 * nothing either, `begun` those of which another use still counts. */
typedef struct {
	uint64_t used[MAX_ENTRIES], written[MAX_ENTRIES], begun[MAX_ENTRIES];
} Lines;

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
	Lines fetches, data, fetch_pages, data_pages;
};

static LodeFilterShape shape_of(const LodeCache *cache, bool classifies)
{
	LodeFilterShape shape = {.is_there = true};

	shape.shift = (uint8_t)g_bit_storage(cache->line_bytes - 1);
	shape.counts_second_use = cache->replacement == LODE_REPLACEMENT_SRRIP;
	/* the fully associative cache beside it wants to know of all but repetitions */
	shape.mask = classifies ? 0 : (uint16_t)(MIN(cache->n_sets, MAX_ENTRIES) - 1);
	return shape;
}

static void add_data_rules(LodeFilterRules *rules, const LodeCache *cache, bool is_coherent)
{
	rules->keeps_data = cache->prefetch == LODE_PREFETCH_STRIDE;
	rules->keeps_stores = is_coherent;
	rules->stores_bring_lines = !cache->is_no_allocate;
	rules->stores_end_here = !cache->is_write_through;
	rules->loads_next = cache->prefetch == LODE_PREFETCH_NEXT_LINE;
}

static void add_cache_rules(LodeFilterRules *rules, const LodeCache *cache, bool classifies)
{
	LodeFilterShape shape = shape_of(cache, classifies);

	if (cache->holds & LODE_CACHE_INSTRUCTIONS) {
		*(cache->is_tlb ? &rules->fetch_pages : &rules->fetches) = shape;
		if (!cache->is_tlb)
			rules->fetches_next = cache->prefetch == LODE_PREFETCH_NEXT_LINE;
	}
	if (cache->holds & LODE_CACHE_DATA) {
		*(cache->is_tlb ? &rules->data_pages : &rules->data) = shape;
		if (!cache->is_tlb)
			add_data_rules(rules, cache, classifies && rules->forgets_on_switch);
	}
}

void lode_filter_rules_init(
	LodeFilterRules *out_rules, const LodeHierarchy *hierarchy, bool classifies)
{
	LodeFilterRules *rules = out_rules;

	memset(rules, 0, sizeof(*rules));
	rules->forgets_on_switch = hierarchy->n_cores != 1;
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);

		if (cache->level != 1)
			continue;
		add_cache_rules(rules, cache, classifies);
		if (cache->holds == (LODE_CACHE_INSTRUCTIONS | LODE_CACHE_DATA))
			rules->is_unified = true;
	}
	/* what is brought in by a stride may push out any line */
	rules->keeps_fetches = rules->is_unified && rules->keeps_data;
}

LodeReferenceFilter *lode_reference_filter_new(const LodeFilterRules *rules)
{
	LodeReferenceFilter *self = g_new0(LodeReferenceFilter, 1);

	self->rules = *rules;
	memset(&self->fetches, 0xff, sizeof(Lines));
	memset(&self->data, 0xff, sizeof(Lines));
	memset(&self->fetch_pages, 0xff, sizeof(Lines));
	memset(&self->data_pages, 0xff, sizeof(Lines));
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

static void forget(LodeReferenceFilter *self)
{
	memset(&self->fetches, 0xff, sizeof(Lines));
	memset(&self->data, 0xff, sizeof(Lines));
	memset(&self->fetch_pages, 0xff, sizeof(Lines));
	memset(&self->data_pages, 0xff, sizeof(Lines));
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
static Lines *fetch_lines(LodeReferenceFilter *self)
{
	return self->rules.is_unified ? &self->data : &self->fetches;
}

static bool has_used(
	const Lines *lines, const LodeFilterShape *shape, uint64_t first, uint64_t last)
{
	for (uint64_t line = first >> shape->shift;; line++) {
		if (lines->used[line & shape->mask] != line)
			return false;
		if (line == last >> shape->shift)
			return true;
	}
}

/* What a reference does to the lines that it uses. */
typedef struct {
	bool brings; /* they are there afterwards */
	bool writes; /* and keep what was written */
	bool next;   /* the one behind them may have been brought in */
} Use;

static void note_line(Lines *lines, const LodeFilterShape *shape, uint64_t line, Use use)
{
	unsigned at = (unsigned)(line & shape->mask);
	bool was_used = lines->used[at] == line, was_begun = lines->begun[at] == line;
	bool is_there = use.brings || was_used || was_begun;
	bool is_used = is_there && (was_used || was_begun || !shape->counts_second_use);

	lines->begun[at] = is_there && !is_used ? line : NO_LINE;
	lines->used[at] = is_used ? line : NO_LINE;
	if (lines->written[at] != line || !is_used)
		lines->written[at] = NO_LINE;
	if (is_used && use.writes)
		lines->written[at] = line;
}

static void forget_line(Lines *lines, const LodeFilterShape *shape, uint64_t line)
{
	unsigned at = (unsigned)(line & shape->mask);

	lines->used[at] = lines->written[at] = lines->begun[at] = NO_LINE;
}

static void note_use(
	Lines *lines, const LodeFilterShape *shape, uint64_t first, uint64_t last, Use use)
{
	uint64_t line = first >> shape->shift, last_line = last >> shape->shift;

	for (; line < last_line; line++)
		note_line(lines, shape, line, use);
	note_line(lines, shape, last_line, use);
	if (use.next)
		forget_line(lines, shape, last_line + 1);
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
		!has_used(&self->fetch_pages, &rules->fetch_pages, address, last))
		parts |= LODE_ACCESS_TLBS;
	if (rules->fetches.is_there &&
		(rules->keeps_fetches ||
			!has_used(fetch_lines(self), &rules->fetches, address, last)))
		parts |= LODE_ACCESS_CACHES;
	if (parts == 0)
		return;
	if (parts & LODE_ACCESS_TLBS)
		note_use(&self->fetch_pages, &rules->fetch_pages, address, last, (Use){true});
	if (parts & LODE_ACCESS_CACHES)
		note_use(fetch_lines(self), &rules->fetches, address, last,
			(Use){true, false, rules->fetches_next});
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
		note_use(&self->data_pages, &rules->data_pages, address, last, (Use){true});
	if (parts & LODE_ACCESS_CACHES)
		note_use(&self->data, &rules->data, address, last,
			(Use){!is_store || rules->stores_bring_lines,
				writes && rules->stores_end_here, rules->loads_next});
	out->kind = slot->kind;
	out->instruction = slot->instruction;
	out->parts = (uint8_t)parts;
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

	for (unsigned i = first; i < end; i++) {
		unsigned parts = needed_parts(self, addresses[i], &slots[i]);
		LodeFilteredReference *out;

		if (G_LIKELY(parts == 0))
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
	return (!rules->fetches.is_there ||
		       has_used(&self->fetches, &rules->fetches, plan->first, plan->last)) &&
	       (!rules->fetch_pages.is_there ||
		       has_used(&self->fetch_pages, &rules->fetch_pages, plan->first, plan->last));
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
