/* SPDX-License-Identifier: MIT */
#include "traces/blocks/function_region.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"

enum {
	RETURN_BYTES = 8,
	MAX_FRAMES_BYTES = 64 << 20, /* what lies farther up is a different stack */
};

/* A call that has not returned. */
typedef struct {
	uint64_t address; /* of its return address… */
	uint64_t target;  /* …which is this */
} Call;

typedef struct {
	GArray *calls; /* Call, the outermost first */
	bool is_inside;
	uint64_t entry; /* address of the return address of the call that led inside */

	/* The instruction executed last. */
	bool has_last;
	uint64_t start, end;
	bool has_slot; /* its last data reference */
	LodeTraceSlot slot;
	uint64_t address;
} Thread;

typedef struct {
	uint64_t reference;
	uint64_t n_before; /* that came out, once it is passed */
} Boundary;

struct LodeFunctionRegion {
	GArray *addresses;  /* uint64_t */
	GArray *boundaries; /* Boundary, ascending */
	guint n_passed;     /* of those */
	GPtrArray *threads; /* Thread; NULL: nothing was executed yet */
	uint64_t n_kept;

	LodeBlockDictionary *dictionary; /* of what comes out */
	uint32_t n_given;                /* of its blocks, in frames that came out */
	LodeBlockDictionary *source;     /* of the frames that come in */
	GArray *ids;                     /* uint32_t: block of the source → ours, + 1 */
	LodeTraceFrame *open;            /* NULL: none */
};

LODE_ORDER(compare_boundaries, Boundary, LODE_ASCENDING(reference))

LodeFunctionRegion *lode_function_region_new(
	const GArray *addresses, const LodeTraceDescription *description)
{
	LodeFunctionRegion *self = g_new0(LodeFunctionRegion, 1);

	self->addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_array_append_vals(self->addresses, addresses->data, addresses->len);
	self->boundaries = g_array_new(FALSE, FALSE, sizeof(Boundary));
	for (guint i = 0; i < description->mappings->len; i++) {
		const Boundary boundary = {
			g_array_index(description->mappings, LodeTraceMapping, i).first_reference,
			0};
		g_array_append_val(self->boundaries, boundary);
	}
	g_array_sort(self->boundaries, compare_boundaries);
	self->threads = g_ptr_array_new();
	self->ids = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->dictionary = lode_block_dictionary_new();
	return self;
}

void lode_function_region_free(LodeFunctionRegion *self)
{
	if (self == NULL)
		return;
	for (guint i = 0; i < self->threads->len; i++) {
		Thread *thread = self->threads->pdata[i];
		if (thread != NULL)
			g_array_unref(thread->calls);
		g_free(thread);
	}
	g_ptr_array_unref(self->threads);
	g_array_unref(self->addresses);
	g_array_unref(self->boundaries);
	g_array_unref(self->ids);
	lode_trace_frame_free(self->open);
	lode_block_dictionary_unref(self->dictionary);
	g_clear_pointer(&self->source, lode_block_dictionary_unref);
	g_free(self);
}

/* ---- calls and returns ---- */

static Thread *thread_at(LodeFunctionRegion *self, uint16_t number)
{
	if (number >= self->threads->len)
		g_ptr_array_set_size(self->threads, number + 1);
	Thread *thread = self->threads->pdata[number];
	if (thread == NULL) {
		thread = self->threads->pdata[number] = g_new0(Thread, 1);
		thread->calls = g_array_new(FALSE, FALSE, sizeof(Call));
	}
	return thread;
}

static bool is_above(uint64_t address, uint64_t other)
{
	return address >= other && address - other < MAX_FRAMES_BYTES;
}

static Call *last_call(const Thread *self)
{
	return self->calls->len > 0 ? &g_array_index(self->calls, Call, self->calls->len - 1)
	                            : NULL;
}

static void push_call(Thread *self)
{
	const Call call = {self->address, self->end};
	const Call *last;

	while ((last = last_call(self)) != NULL && is_above(call.address, last->address))
		g_array_set_size(self->calls, self->calls->len - 1);
	g_array_append_val(self->calls, call);
}

/* An instruction that loads and jumps may be an indirect jump: a return finds its call's entry. */
static void pop_call(Thread *self, uint64_t target)
{
	guint n = self->calls->len;

	while (n > 0 && g_array_index(self->calls, Call, n - 1).address < self->address)
		n--;
	if (n == 0 || g_array_index(self->calls, Call, n - 1).address != self->address ||
		g_array_index(self->calls, Call, n - 1).target != target)
		return;
	g_array_set_size(self->calls, n - 1);
	self->is_inside &= !is_above(self->address, self->entry);
}

/* The thread goes on there. An instruction that repeats itself goes nowhere else. */
static void note_transfer(Thread *self, uint64_t target)
{
	if (!self->has_last || !self->has_slot || target == self->end || target == self->start ||
		self->slot.size != RETURN_BYTES)
		return;
	if (self->slot.kind == LODE_REFERENCE_STORE)
		push_call(self);
	else if (self->slot.kind == LODE_REFERENCE_LOAD)
		pop_call(self, target);
}

static void enter(Thread *self)
{
	const Call *call = last_call(self);

	if (self->is_inside)
		return;
	self->is_inside = true;
	self->entry = call != NULL ? call->address : UINT64_MAX;
}

static void note_last(Thread *self, const LodeTraceBlock *block, const uint64_t *addresses)
{
	unsigned last = block->n_instructions - 1u;

	if (block->n_instructions > 0) {
		self->has_last = true;
		self->end = block->address + block->n_bytes;
		self->start = self->end - block->instruction_sizes[last];
		self->has_slot = block->n_slots > 0 &&
		                 block->slots[block->n_slots - 1].instruction == last;
	} else {
		self->has_slot = true;
	}
	if (!self->has_slot)
		return;
	self->slot = block->slots[block->n_slots - 1];
	self->address = addresses[block->n_slots - 1];
}

/* The first instruction of a block at which a function begins; n_instructions: none does. */
static unsigned find_entry(const LodeFunctionRegion *self, const LodeTraceBlock *block)
{
	unsigned first = block->n_instructions;

	for (guint i = 0; i < self->addresses->len; i++) {
		uint64_t address = g_array_index(self->addresses, uint64_t, i), at = block->address;
		if (address - block->address >= block->n_bytes)
			continue;
		for (unsigned k = 0; k < first; at += block->instruction_sizes[k++])
			if (at == address)
				first = k;
	}
	return first;
}

/* ---- what comes out ---- */

static void end_frame(LodeFunctionRegion *self, GPtrArray *out)
{
	if (self->open == NULL)
		return;
	self->n_given = MAX(self->n_given, self->open->n_blocks);
	g_ptr_array_add(out, g_steal_pointer(&self->open));
}

static void pass_boundaries(LodeFunctionRegion *self, uint64_t reference, GPtrArray *out)
{
	while (self->n_passed < self->boundaries->len) {
		Boundary *next = &g_array_index(self->boundaries, Boundary, self->n_passed);
		if (next->reference > reference)
			return;
		next->n_before = self->n_kept;
		self->n_passed++;
		end_frame(self, out);
	}
}

/* Where an invocation, or a part of it, lies in the trace. */
typedef struct {
	uint64_t reference, instruction;
	uint16_t thread;
} Place;

static void append(
	LodeFunctionRegion *self, uint32_t id, const Place *place, const uint64_t *addresses)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(self->dictionary, id);

	if (self->open == NULL) {
		self->open = lode_trace_frame_new(self->dictionary);
		self->open->first_new_block = self->n_given;
		self->open->first_reference = place->reference;
		self->open->first_instruction = place->instruction;
	}
	lode_trace_frame_append(self->open, id, place->thread, addresses);
	self->n_kept += (uint64_t)block->n_instructions + block->n_slots;
}

static uint32_t add_block(LodeFunctionRegion *self, const LodeTraceBlock *block, GPtrArray *out)
{
	if (lode_block_dictionary_is_full(self->dictionary)) {
		end_frame(self, out);
		lode_block_dictionary_unref(self->dictionary);
		self->dictionary = lode_block_dictionary_new();
		self->n_given = 0;
		g_array_set_size(self->ids, 0);
	}
	return lode_block_dictionary_find_or_add(self->dictionary, block);
}

static void append_whole(LodeFunctionRegion *self, uint32_t source_id, const Place *place,
	const uint64_t *addresses, GPtrArray *out)
{
	if (source_id >= self->ids->len || g_array_index(self->ids, uint32_t, source_id) == 0) {
		uint32_t id = add_block(
			self, lode_block_dictionary_at(self->source, source_id), out);
		if (source_id >= self->ids->len)
			g_array_set_size(self->ids, source_id + 1);
		g_array_index(self->ids, uint32_t, source_id) = id + 1;
	}
	append(self, g_array_index(self->ids, uint32_t, source_id) - 1, place, addresses);
}

/* From an instruction in the middle of the block on. */
static void append_rest(LodeFunctionRegion *self, const LodeTraceBlock *block, unsigned first,
	Place place, const uint64_t *addresses, GPtrArray *out)
{
	LodeTraceSlot slots[LODE_BLOCK_MAX_SLOTS];
	LodeTraceBlock rest = *block;
	unsigned n_left = 0;

	while (n_left < block->n_slots && block->slots[n_left].instruction < first)
		n_left++;
	rest.n_slots = (uint8_t)(block->n_slots - n_left);
	for (unsigned i = 0; i < rest.n_slots; i++) {
		slots[i] = block->slots[n_left + i];
		slots[i].instruction = (uint8_t)(slots[i].instruction - first);
	}
	rest.slots = slots;
	rest.n_instructions = (uint8_t)(block->n_instructions - first);
	rest.instruction_sizes += first;
	for (unsigned i = 0; i < first; i++) {
		rest.address += block->instruction_sizes[i];
		rest.n_bytes -= block->instruction_sizes[i];
	}
	place.reference += first + n_left;
	place.instruction += first;
	append(self, add_block(self, &rest, out), &place, addresses + n_left);
}

static void take_invocation(LodeFunctionRegion *self, uint32_t id, const Place *place,
	const uint64_t *addresses, GPtrArray *out)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(self->source, id);
	Thread *thread = thread_at(self, place->thread);

	if (block->n_instructions > 0)
		note_transfer(thread, block->address);
	unsigned entry = find_entry(self, block);
	if (thread->is_inside || (entry == 0 && block->n_instructions > 0))
		append_whole(self, id, place, addresses, out);
	else if (entry < block->n_instructions)
		append_rest(self, block, entry, *place, addresses, out);
	if (entry < block->n_instructions)
		enter(thread);
	note_last(thread, block, addresses);
}

void lode_function_region_take(
	LodeFunctionRegion *self, const LodeTraceFrame *frame, GPtrArray *out)
{
	Place place = {frame->first_reference, frame->first_instruction, 0};
	const uint64_t *addresses = frame->addresses;
	size_t next_switch = 0;

	if (self->source != frame->dictionary) {
		g_clear_pointer(&self->source, lode_block_dictionary_unref);
		self->source = lode_block_dictionary_ref(frame->dictionary);
		g_array_set_size(self->ids, 0);
	}
	for (size_t i = 0; i < frame->n_invocations; i++) {
		const LodeTraceBlock *block = lode_block_dictionary_at(
			frame->dictionary, frame->blocks[i]);
		if (next_switch < frame->n_switches && frame->switches[next_switch].invocation == i)
			place.thread = frame->switches[next_switch++].thread;
		pass_boundaries(self, place.reference, out);
		take_invocation(self, frame->blocks[i], &place, addresses, out);
		addresses += block->n_slots;
		place.reference += (uint64_t)block->n_instructions + block->n_slots;
		place.instruction += block->n_instructions;
	}
	end_frame(self, out);
}

uint64_t lode_function_region_n_before(const LodeFunctionRegion *self, uint64_t reference)
{
	const Boundary *all = (const Boundary *)(const void *)self->boundaries->data;
	guint n = LODE_PARTITION_POINT(self->n_passed, i, all[i].reference < reference);

	return n < self->n_passed ? all[n].n_before : self->n_kept;
}
