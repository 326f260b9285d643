/* SPDX-License-Identifier: MIT */
/* Walks through invocations. A table of lines stands for each first-level cache: where a reference
 * finds its line there, it is left out. */
#include "caches/reference_filter.h"

#include <string.h>

static LodeFilterShape shape_of(const LodeCache *cache, bool classifies)
{
	LodeFilterShape shape = {.is_there = true};

	shape.shift = (uint8_t)g_bit_storage(cache->line_bytes - 1);
	shape.counts_second_use = cache->replacement == LODE_REPLACEMENT_SRRIP;
	/* the fully associative cache beside it wants to know of all but repetitions */
	shape.mask = classifies ? 0 : (uint16_t)(MIN(cache->n_sets, LODE_FILTER_MAX_ENTRIES) - 1);
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

static bool is_plain(const LodeFilterRules *rules)
{
	const LodeFilterShape *fetches = &rules->fetches, *data = &rules->data;

	return data->is_there && !rules->is_unified && !rules->fetch_pages.is_there &&
	       !rules->data_pages.is_there && !fetches->counts_second_use &&
	       !data->counts_second_use && !rules->keeps_data && !rules->keeps_stores &&
	       rules->stores_bring_lines && rules->stores_end_here && !rules->fetches_next &&
	       !rules->loads_next;
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
	rules->is_plain = is_plain(rules);
}

bool lode_filter_rules_merge(LodeFilterRules *self, const LodeFilterRules *other)
{
	LodeFilterRules merged = *self, same = *other;
	LodeFilterShape *const shapes[][2] = {
		{&merged.fetches, &same.fetches},
		{&merged.data, &same.data},
		{&merged.fetch_pages, &same.fetch_pages},
		{&merged.data_pages, &same.data_pages},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
		shapes[i][0]->mask = shapes[i][1]->mask = MIN(
			shapes[i][0]->mask, shapes[i][1]->mask);
	if (memcmp(&merged, &same, sizeof(merged)) != 0)
		return false;
	*self = merged;
	return true;
}

enum { MAX_PER_INVOCATION = LODE_BLOCK_MAX_INSTRUCTIONS + LODE_BLOCK_MAX_SLOTS };

/* No line has this number: lines have 16 bytes at least. */
#define NO_LINE UINT64_MAX

/* For lines of one kind, and for each set of lines that could share a set with each other: the one
 * that was used last, by the low bits of its number, as many as the shape has. `written` are those
 * among them that a store does not change either, `begun` those of which another use still counts.
 */
typedef struct {
	uint64_t used[LODE_FILTER_MAX_ENTRIES], written[LODE_FILTER_MAX_ENTRIES],
		begun[LODE_FILTER_MAX_ENTRIES];
} UsedLines;

/* Whether all lines of bytes [first, last] are there. */
static inline bool used_lines_has(
	const UsedLines *self, const LodeFilterShape *shape, uint64_t first, uint64_t last)
{
	for (uint64_t line = first >> shape->shift;; line++) {
		if (self->used[line & shape->mask] != line)
			return false;
		if (line == last >> shape->shift)
			return true;
	}
}

/* The effect of a reference on the lines that it uses. */
typedef struct {
	bool brings; /* they are there afterwards */
	bool writes; /* and keep what was written */
	bool next;   /* the one after them may have been brought in */
} LineUse;

static inline void used_lines_note_one(
	UsedLines *self, const LodeFilterShape *shape, uint64_t line, LineUse use)
{
	unsigned at = (unsigned)(line & shape->mask);
	bool was_used = self->used[at] == line, was_begun = self->begun[at] == line;
	bool is_there = use.brings || was_used || was_begun;
	bool is_used = is_there && (was_used || was_begun || !shape->counts_second_use);

	self->begun[at] = is_there && !is_used ? line : NO_LINE;
	self->used[at] = is_used ? line : NO_LINE;
	if (self->written[at] != line || !is_used)
		self->written[at] = NO_LINE;
	if (is_used && use.writes)
		self->written[at] = line;
}

static inline void used_lines_forget(UsedLines *self)
{
	memset(self, 0xff, sizeof(*self));
}

static inline void used_lines_forget_one(
	UsedLines *self, const LodeFilterShape *shape, uint64_t line)
{
	unsigned at = (unsigned)(line & shape->mask);

	self->used[at] = self->written[at] = self->begun[at] = NO_LINE;
}

/* Bytes [first, last] were used. */
static inline void used_lines_note(
	UsedLines *self, const LodeFilterShape *shape, uint64_t first, uint64_t last, LineUse use)
{
	uint64_t line = first >> shape->shift, last_line = last >> shape->shift;

	for (; line < last_line; line++)
		used_lines_note_one(self, shape, line, use);
	used_lines_note_one(self, shape, last_line, use);
	if (use.next)
		used_lines_forget_one(self, shape, last_line + 1);
}

struct LodeReferenceFilter {
	LodeFilterRules rules;
	LodeFrameWalk walk;
	uint16_t thread; /* of the invocation */
	LodeFilteredReference *out;
	size_t n_out, room;
	UsedLines fetches, data, fetch_pages, data_pages;
};

static void forget(LodeReferenceFilter *self)
{
	used_lines_forget(&self->fetches);
	used_lines_forget(&self->data);
	used_lines_forget(&self->fetch_pages);
	used_lines_forget(&self->data_pages);
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
	lode_frame_walk_begin(&self->walk, frame, plans);
}

static void follow_switches(LodeReferenceFilter *self)
{
	uint16_t thread = lode_frame_walk_thread(&self->walk);

	if (thread != self->thread && self->rules.forgets_on_switch)
		forget(self);
	self->thread = thread;
}

/* Where data and fetches share a cache, so do their lines. */
static UsedLines *fetch_lines(LodeReferenceFilter *self)
{
	return self->rules.is_unified ? &self->data : &self->fetches;
}

static LodeFilteredReference *append(LodeReferenceFilter *self, uint64_t address, uint16_t extent)
{
	LodeFilteredReference *out = &self->out[self->n_out++];

	out->address = address;
	out->invocation = (uint32_t)self->walk.invocation;
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
		!used_lines_has(&self->fetch_pages, &rules->fetch_pages, address, last))
		parts |= LODE_ACCESS_TLBS;
	if (rules->fetches.is_there &&
		(rules->keeps_fetches ||
			!used_lines_has(fetch_lines(self), &rules->fetches, address, last)))
		parts |= LODE_ACCESS_CACHES;
	if (parts == 0)
		return;
	if (parts & LODE_ACCESS_TLBS)
		used_lines_note(&self->fetch_pages, &rules->fetch_pages, address, last,
			(LineUse){.brings = true});
	if (parts & LODE_ACCESS_CACHES)
		used_lines_note(fetch_lines(self), &rules->fetches, address, last,
			(LineUse){true, false, rules->fetches_next});
	out = append(self, address, (uint16_t)(last - address));
	out->reference = (uint32_t)self->walk.reference + position;
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
		used_lines_note(&self->data_pages, &rules->data_pages, address, last,
			(LineUse){.brings = true});
	if (parts & LODE_ACCESS_CACHES)
		used_lines_note(&self->data, &rules->data, address, last,
			(LineUse){!is_store || rules->stores_bring_lines,
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

/* The lookups that the reference needs; the others would change nothing. */
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
	const uint64_t *addresses = self->walk.frame->addresses + self->walk.address;
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
		out->reference = (uint32_t)self->walk.reference + i +
		                 (plan->n_instructions > 0 ? slots[i].instruction + 1u : 0);
	}
}

/* Instruction by instruction, since one of the fetches counts. */
static void filter_in_order(
	LodeReferenceFilter *self, const LodeBlockPlan *plan, const LodePlanSlot *slots)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->walk.frame->dictionary, self->walk.frame->blocks[self->walk.invocation]);
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
		self->walk.frame->dictionary, self->walk.frame->blocks[self->walk.invocation]);
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
	return (!rules->fetches.is_there ||
		       used_lines_has(&self->fetches, &rules->fetches, plan->first, plan->last)) &&
	       (!rules->fetch_pages.is_there ||
		       used_lines_has(
			       &self->fetch_pages, &rules->fetch_pages, plan->first, plan->last));
}

static void filter_invocations(LodeReferenceFilter *self, size_t end)
{
	while (self->walk.invocation < end) {
		const LodeBlockPlan *plan = lode_frame_walk_plan(&self->walk);
		const LodePlanSlot *slots = lode_frame_walk_slots(&self->walk, plan);

		follow_switches(self);
		if (G_LIKELY(leaves_out_fetches(self, plan)))
			filter_slots(self, plan, slots, 0, plan->n_slots);
		else if (self->rules.is_plain && !plan->is_odd)
			filter_by_lines(self, plan, slots);
		else
			filter_in_order(self, plan, slots);
		lode_frame_walk_advance(&self->walk, plan);
	}
}

bool lode_reference_filter_next(LodeReferenceFilter *self, size_t n_invocations,
	const LodeFilteredReference **out_references, size_t *out_n)
{
	size_t n = MIN(n_invocations, self->walk.frame->n_invocations - self->walk.invocation);

	if (n == 0)
		return false;
	if (n * MAX_PER_INVOCATION > self->room) {
		self->room = n * MAX_PER_INVOCATION;
		g_free(self->out);
		self->out = g_new(LodeFilteredReference, self->room);
	}
	self->n_out = 0;
	filter_invocations(self, self->walk.invocation + n);
	*out_references = self->out;
	*out_n = self->n_out;
	return true;
}

void lode_reference_filter_count(
	const LodeReferenceFilter *self, uint64_t totals[LODE_N_REFERENCE_KINDS])
{
	lode_frame_walk_count(&self->walk, totals);
}
