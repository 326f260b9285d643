/* SPDX-License-Identifier: MIT */
/* A simulation spends its time in the two loops of this file: their data is copied close together,
 * and rare cases are not inlined. */
#include "caches/sets/direct_replay.h"

#include "caches/sets/cache_access.h"

/* The fields of a first-level cache that every reference needs: close together, and no store into
 * the cache can alias this. */
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
	LodeFrameWalk walk;
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
	lode_frame_walk_begin(&self->walk, frame, plans);
}

/* The way of all references. `place` has what is known of it: address, extent, kind, instruction
 * and slot; `position` is its number in the invocation. */
static void access_caches(LodeDirectReplay *self, LodeFilteredReference *place, unsigned position)
{
	place->reference = (uint32_t)self->walk.reference + position;
	place->invocation = (uint32_t)self->walk.invocation;
	place->thread = lode_frame_walk_thread(&self->walk);
	place->extent = (uint16_t)MIN((uint64_t)place->extent, UINT64_MAX - place->address);
	place->parts = LODE_ACCESS_CACHES;
	lode_filtered_reference_access(place, self->walk.frame, self->machine, self->core);
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
	uint64_t address = self->walk.frame->addresses[self->walk.address + number], *entry = NULL;
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
	const uint64_t *addresses = self->walk.frame->addresses + self->walk.address;
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

/* Uses all lines of a block up to the first that misses. False: one misses. */
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

/* Instruction by instruction, since a fetch misses: the later levels see data in between. Lines
 * that were used before this was known are used again in the same order. */
static G_GNUC_NO_INLINE void replay_in_order(
	LodeDirectReplay *self, const LodeBlockPlan *plan, const LodePlanSlot *slots)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->walk.frame->dictionary, self->walk.frame->blocks[self->walk.invocation]);
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
	while (self->walk.invocation < end) {
		const LodeBlockPlan *plan = lode_frame_walk_plan(&self->walk);
		const LodePlanSlot *slots = lode_frame_walk_slots(&self->walk, plan);

		if (G_LIKELY(fetch_lines(self, plan)))
			replay_slots(self, plan, slots, 0, plan->n_slots);
		else
			replay_in_order(self, plan, slots);
		lode_frame_walk_advance(&self->walk, plan);
	}
}

bool lode_direct_replay_next(LodeDirectReplay *self, size_t n_invocations)
{
	size_t n = MIN(n_invocations, self->walk.frame->n_invocations - self->walk.invocation);

	if (n > 0)
		replay_invocations(self, self->walk.invocation + n);
	return n > 0;
}

void lode_direct_replay_count(const LodeDirectReplay *self, uint64_t totals[LODE_N_REFERENCE_KINDS])
{
	lode_frame_walk_count(&self->walk, totals);
}
