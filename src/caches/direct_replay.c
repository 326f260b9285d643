/* SPDX-License-Identifier: MIT */
#include "caches/direct_replay.h"

#include "caches/cache_access.h"
#include "caches/filtered_references.h"

#include <string.h>

/* What is asked of a cache of the first level for every reference: close together, and no store
 * into the cache can be taken for a store into this. */
typedef struct {
	uint64_t *words;
	uint64_t set_mask;
	uint32_t set_words;
	uint8_t shift;
} FirstLevel;

struct LodeDirectReplay {
	LodeCacheMachine *machine;
	LodeCacheCore *core;                   /* its only one */
	LodeCacheSets *fetch_sets, *data_sets; /* the former NULL: fetches go nowhere */
	FirstLevel fetches, data;
	const LodeTraceFrame *frame;
	const LodeBlockPlans *plans;
	size_t invocation, address, next_switch;
	uint64_t reference; /* of the invocation, in the frame */
	uint16_t thread;
	uint64_t totals[LODE_N_REFERENCE_KINDS];
};

static FirstLevel first_level_of(const LodeCacheCopy *copy)
{
	return (FirstLevel){
		.words = copy->sets.words,
		.set_mask = copy->sets.set_mask,
		.set_words = (uint32_t)copy->sets.set_words,
		.shift = copy->line_shift,
	};
}

static bool is_usual(const LodeCacheMachine *machine, const LodeCacheCore *core)
{
	return machine->hits_only_touch && core->data[0] != NULL &&
	       core->fetches[0] != core->data[0] && core->fetch_tlbs[0] == NULL &&
	       core->data_tlbs[0] == NULL;
}

LodeDirectReplay *lode_direct_replay_new(LodeCacheMachine *machine)
{
	LodeCacheCore *core = lode_cache_machine_core(machine, 0);
	LodeDirectReplay *self;

	if (core == NULL || !is_usual(machine, core))
		return NULL;
	self = g_new0(LodeDirectReplay, 1);
	self->machine = machine;
	self->core = core;
	self->data_sets = &core->data[0]->sets;
	self->data = first_level_of(core->data[0]);
	if (core->fetches[0] != NULL) {
		self->fetch_sets = &core->fetches[0]->sets;
		self->fetches = first_level_of(core->fetches[0]);
	}
	return self;
}

void lode_direct_replay_free(LodeDirectReplay *self)
{
	g_free(self);
}

void lode_direct_replay_begin(
	LodeDirectReplay *self, const LodeTraceFrame *frame, const LodeBlockPlans *plans)
{
	self->frame = frame;
	self->plans = plans;
	self->invocation = self->address = self->next_switch = 0;
	self->reference = 0;
	memset(self->totals, 0, sizeof(self->totals));
}

static uint16_t thread_of_invocation(LodeDirectReplay *self)
{
	const LodeTraceFrame *frame = self->frame;

	while (self->next_switch < frame->n_switches &&
		frame->switches[self->next_switch].invocation <= self->invocation)
		self->thread = frame->switches[self->next_switch++].thread;
	return self->thread;
}

/* The way of all references. `place` has what is known of it: address, extent, kind, instruction
 * and slot; `position` is its number in the invocation. */
static void access_caches(LodeDirectReplay *self, LodeFilteredReference *place, unsigned position)
{
	place->reference = (uint32_t)self->reference + position;
	place->invocation = (uint32_t)self->invocation;
	place->thread = thread_of_invocation(self);
	place->extent = (uint16_t)MIN((uint64_t)place->extent, UINT64_MAX - place->address);
	place->parts = LODE_ACCESS_CACHES;
	lode_filtered_reference_access(place, self->frame, self->machine, self->core);
}

/* The difference between the line used last in a set and another, and its flags. */
static inline uint64_t difference_from_newest(const FirstLevel *level, uint64_t line)
{
	return level->words[(line & level->set_mask) * level->set_words] ^ lode_line_entry(line);
}

/* A data reference to another line than that used last, or to more than one, or the first store
 * to one. */
static G_GNUC_NO_INLINE void replay_slot(
	LodeDirectReplay *self, const LodePlanSlot *slot, unsigned number, unsigned position)
{
	uint64_t address = self->frame->addresses[self->address + number], *entry = NULL;
	uint64_t line = address >> self->data.shift;

	if ((address + slot->extent) >> self->data.shift == line)
		entry = lode_cache_sets_touch_by_age(self->data_sets, line);
	if (entry == NULL) {
		LodeFilteredReference place = {.address = address,
			.extent = slot->extent,
			.kind = slot->kind,
			.instruction = slot->instruction,
			.slot = (uint8_t)number};

		access_caches(self, &place, position);
	} else if (slot->kind != LODE_REFERENCE_LOAD) {
		*entry |= LODE_LINE_DIRTY;
	}
}

static inline void replay_slots(LodeDirectReplay *self, const LodeBlockPlan *plan,
	const LodePlanSlot *slots, unsigned first, unsigned end)
{
	const uint64_t *addresses = self->frame->addresses + self->address;
	const FirstLevel data = self->data;

	for (unsigned i = first; i < end; i++) {
		uint64_t line = addresses[i] >> data.shift;
		uint64_t flags = difference_from_newest(&data, line);
		bool is_load = slots[i].kind == LODE_REFERENCE_LOAD;

		/* dirty already, or a load, in this line alone: there are no other flags here */
		if (G_LIKELY((flags | is_load) == LODE_LINE_DIRTY &&
			     (addresses[i] + slots[i].extent) >> data.shift == line))
			continue;
		replay_slot(self, &slots[i], i,
			i + (plan->n_instructions > 0 ? slots[i].instruction + 1u : 0));
	}
}

/* Uses all lines of a block up to the first that is not there. False: there is one. */
static inline bool fetch_lines(LodeDirectReplay *self, const LodeBlockPlan *plan)
{
	uint64_t line = plan->first >> self->fetches.shift;
	uint64_t last = plan->last >> self->fetches.shift;

	if (self->fetch_sets == NULL || plan->n_instructions == 0)
		return true;
	if (plan->is_odd)
		return false;
	for (; line <= last; line++) {
		if (difference_from_newest(&self->fetches, line) != 0 &&
			lode_cache_sets_touch_by_age(self->fetch_sets, line) == NULL)
			return false;
	}
	return true;
}

/* Instruction by instruction, since a fetch misses: the levels behind see data in between. Lines
 * that were used before this was known are used again in the same order. */
static G_GNUC_NO_INLINE void replay_in_order(
	LodeDirectReplay *self, const LodeBlockPlan *plan, const LodePlanSlot *slots)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->frame->dictionary, self->frame->blocks[self->invocation]);
	uint64_t address = block->address;
	unsigned slot = 0;

	for (unsigned i = 0; i < plan->n_instructions; i++) {
		LodeFilteredReference place = {.address = address,
			.extent = lode_access_extent(block->instruction_sizes[i]),
			.kind = LODE_REFERENCE_FETCH,
			.instruction = (uint8_t)i,
			.slot = UINT8_MAX};
		unsigned first = slot;

		access_caches(self, &place, i + slot);
		while (slot < plan->n_slots && slots[slot].instruction == i)
			slot++;
		replay_slots(self, plan, slots, first, slot);
		address += block->instruction_sizes[i];
	}
	replay_slots(self, plan, slots, slot, plan->n_slots);
}

static void replay_invocations(LodeDirectReplay *self, size_t end)
{
	const LodeBlockPlan *plans = &g_array_index(self->plans->plans, LodeBlockPlan, 0);
	const LodePlanSlot *all_slots = &g_array_index(self->plans->slots, LodePlanSlot, 0);
	const uint32_t *blocks = self->frame->blocks;
	size_t first_address = self->address;
	uint64_t first_reference = self->reference, n_stores = 0, n_modifies = 0, n_data;

	for (; self->invocation < end; self->invocation++) {
		const LodeBlockPlan *plan = &plans[blocks[self->invocation]];
		const LodePlanSlot *slots = all_slots + plan->first_slot;

		if (G_LIKELY(fetch_lines(self, plan)))
			replay_slots(self, plan, slots, 0, plan->n_slots);
		else
			replay_in_order(self, plan, slots);
		self->address += plan->n_slots;
		self->reference += (uint64_t)plan->n_instructions + plan->n_slots;
		n_stores += plan->n_stores;
		n_modifies += plan->n_modifies;
	}
	n_data = self->address - first_address;
	self->totals[LODE_REFERENCE_FETCH] += self->reference - first_reference - n_data;
	self->totals[LODE_REFERENCE_LOAD] += n_data - n_stores - n_modifies;
	self->totals[LODE_REFERENCE_STORE] += n_stores;
	self->totals[LODE_REFERENCE_MODIFY] += n_modifies;
}

bool lode_direct_replay_next(LodeDirectReplay *self, size_t n_invocations)
{
	size_t n = MIN(n_invocations, self->frame->n_invocations - self->invocation);

	if (n > 0)
		replay_invocations(self, self->invocation + n);
	return n > 0;
}

const uint64_t *lode_direct_replay_totals(const LodeDirectReplay *self)
{
	return self->totals;
}
