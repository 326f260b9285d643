/* SPDX-License-Identifier: MIT */
#include "caches/filter/filtered_references.h"

#include "caches/sets/cache_access.h"

static uint64_t instruction_address(const LodeTraceFrame *frame, const LodeFilteredReference *at)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		frame->dictionary, frame->blocks[at->invocation]);
	uint64_t address = block->address;

	for (unsigned i = 0; i < at->instruction && i < block->n_instructions; i++)
		address += block->instruction_sizes[i];
	return address;
}

/* The size that the trace gives, not the part of it that is looked up. */
static uint32_t traced_size(const LodeTraceFrame *frame, const LodeFilteredReference *at)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		frame->dictionary, frame->blocks[at->invocation]);

	return at->kind == LODE_REFERENCE_FETCH ? block->instruction_sizes[at->instruction]
	                                        : block->slots[at->slot].size;
}

static void place_miss(
	LodeCacheMiss *miss, const LodeTraceFrame *frame, const LodeFilteredReference *at)
{
	miss->block = frame->blocks[at->invocation];
	miss->thread = at->thread;
	miss->instruction = at->instruction;
	miss->slot = at->slot;
	miss->kind = at->kind;
	miss->size = traced_size(frame, at);
	miss->address = at->address;
	miss->reference = frame->first_reference + at->reference;
	miss->has_store = false;
}

/* Whether it is a hit of a machine whose hits are simple, which is done with then. */
static inline bool hits(
	const LodeCacheMachine *machine, LodeCacheCore *core, const LodeFilteredReference *at)
{
	LodeCacheCopy *copy = at->kind == LODE_REFERENCE_FETCH ? core->fetches[0] : core->data[0];
	uint64_t line, *entry;

	if (!machine->hits_only_touch || at->parts != LODE_ACCESS_CACHES)
		return false;
	line = at->address >> copy->line_shift;
	if ((at->address + at->extent) >> copy->line_shift != line)
		return false;
	entry = lode_cache_sets_touch_by_age(&copy->sets, line);
	if (entry != NULL &&
		(at->kind == LODE_REFERENCE_STORE || at->kind == LODE_REFERENCE_MODIFY))
		*entry |= LODE_LINE_DIRTY;
	return entry != NULL;
}

void lode_filtered_reference_access(const LodeFilteredReference *self, const LodeTraceFrame *frame,
	LodeCacheMachine *machine, LodeCacheCore *core)
{
	LodeCacheMiss miss;
	LodeCacheAccess access = {.first = self->address,
		.last = self->address + self->extent,
		.kind = self->kind,
		.miss = &miss};

	if (machine->has_strides || machine->names_stores)
		access.instruction = instruction_address(frame, self);
	if (machine->on_miss != NULL)
		place_miss(&miss, frame, self);
	lode_cache_access(machine, core, &access, self->parts);
}

bool lode_filtered_references_replay(const LodeFilteredReference *references, size_t n,
	const LodeTraceFrame *frame, LodeCacheMachine *machine)
{
	LodeCacheCore *core = NULL;
	uint16_t thread = 0;

	for (size_t i = 0; i < n; i++) {
		const LodeFilteredReference *at = &references[i];

		if (core == NULL || at->thread != thread) {
			core = lode_cache_machine_core(machine, at->thread);
			thread = at->thread;
		}
		if (core == NULL)
			return false;
		if (!hits(machine, core, at))
			lode_filtered_reference_access(at, frame, machine, core);
	}
	return true;
}
