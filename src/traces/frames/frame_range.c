/* SPDX-License-Identifier: MIT */
#include "traces/frames/frame_range.h"

typedef struct {
	const LodeTraceFrame *frame;
	GPtrArray *out;
	LodeTraceFrame *open;            /* NULL: none */
	uint32_t *ids;                   /* block of the frame → that of the open one, + 1 */
	uint64_t reference, instruction; /* of the trace, that come next */
	uint64_t first, end;             /* references that are wanted */
	uint16_t thread;
} Cutting;

static void end_frame(Cutting *self)
{
	if (self->open != NULL)
		g_ptr_array_add(self->out, g_steal_pointer(&self->open));
}

static void begin_frame(Cutting *self)
{
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();

	self->open = lode_trace_frame_new(dictionary);
	self->open->first_reference = self->reference;
	self->open->first_instruction = self->instruction;
	g_clear_pointer(&self->ids, g_free);
	self->ids = g_new0(uint32_t, MAX(self->frame->n_blocks, 1));
}

static uint32_t add_block(Cutting *self, const LodeTraceBlock *block)
{
	if (self->open != NULL && lode_block_dictionary_is_full(self->open->dictionary))
		end_frame(self);
	if (self->open == NULL)
		begin_frame(self);
	return lode_block_dictionary_find_or_add(self->open->dictionary, block);
}

static void step(Cutting *self, const LodeTraceBlock *block)
{
	self->reference += (uint64_t)block->n_instructions + block->n_slots;
	self->instruction += block->n_instructions;
}

static void append_whole(Cutting *self, uint32_t id, const uint64_t *addresses)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(self->frame->dictionary, id);

	if (self->open == NULL || self->ids[id] == 0) {
		uint32_t own = add_block(self, block); /* which may begin other ids */
		self->ids[id] = own + 1;
	}
	lode_trace_frame_append(self->open, self->ids[id] - 1, self->thread, addresses);
	step(self, block);
}

/* The selected part of a block, which may be two blocks: data references whose fetch was cut off
 * are a block without instructions. */
typedef struct {
	LodeTraceBlock block;
	uint32_t sizes[LODE_BLOCK_MAX_INSTRUCTIONS];
	LodeTraceSlot slots[LODE_BLOCK_MAX_SLOTS];
	const uint64_t *addresses;
} Part;

static void end_part(Cutting *self, Part *part)
{
	LodeTraceBlock *block = &part->block;

	if (block->n_instructions > 0 || block->n_slots > 0) {
		block->instruction_sizes = part->sizes;
		block->slots = part->slots;
		uint32_t id = add_block(self, block);
		lode_trace_frame_append(self->open, id, self->thread, part->addresses);
		step(self, block);
	}
	part->addresses += block->n_slots;
	*block = (LodeTraceBlock){0};
}

static void add_fetch(Cutting *self, Part *part, uint64_t address, uint32_t size)
{
	if (part->block.n_instructions == 0) {
		end_part(self, part);
		part->block.address = address;
	}
	part->sizes[part->block.n_instructions++] = size;
}

static void add_slot(Part *part, const LodeTraceSlot *slot)
{
	LodeTraceSlot *own = &part->slots[part->block.n_slots++];

	*own = *slot;
	own->instruction = part->block.n_instructions > 0 ? part->block.n_instructions - 1 : 0;
}

static void append_cut(Cutting *self, uint32_t id, const uint64_t *addresses)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(self->frame->dictionary, id);
	const LodeTraceSlot *slot = block->slots, *last = slot + block->n_slots;
	uint64_t at = self->reference, fetch = block->address;
	Part part = {.addresses = addresses};

	for (unsigned i = 0; i == 0 || i < block->n_instructions; i++) {
		if (i < block->n_instructions) {
			if (at < self->first) {
				self->reference++;
				self->instruction++;
			} else if (at < self->end) {
				add_fetch(self, &part, fetch, block->instruction_sizes[i]);
			}
			fetch += block->instruction_sizes[i];
			at++;
		}
		for (; slot < last && slot->instruction == i; slot++, at++) {
			if (at < self->first) {
				self->reference++;
				part.addresses++;
			} else if (at < self->end) {
				add_slot(&part, slot);
			}
		}
	}
	end_part(self, &part);
}

/* Goes through a frame once, for any number of parts. Borrows it. */
typedef struct {
	const LodeTraceFrame *frame;
	size_t invocation, address, next_switch;
	uint64_t reference, instruction; /* of the trace, where the invocation begins */
	uint16_t thread;
} Position;

/* Appends to `out` what the frame has of the references [first, end) of the trace; `first` is not
 * before the end of the part before. */
static void cut_part(Position *self, uint64_t first, uint64_t end, GPtrArray *out)
{
	const LodeTraceFrame *frame = self->frame;
	Cutting cutting = {.frame = frame, .out = out, .first = first, .end = end};

	while (self->invocation < frame->n_invocations && self->reference < end) {
		uint32_t id = frame->blocks[self->invocation];
		const LodeTraceBlock *block = lode_block_dictionary_at(frame->dictionary, id);
		const uint64_t *addresses = frame->addresses + self->address;
		uint64_t after = self->reference + block->n_instructions + block->n_slots;

		if (self->next_switch < frame->n_switches &&
			frame->switches[self->next_switch].invocation == self->invocation)
			self->thread = frame->switches[self->next_switch++].thread;
		cutting.thread = self->thread;
		cutting.reference = self->reference;
		cutting.instruction = self->instruction;
		if (self->reference >= first && after <= end)
			append_whole(&cutting, id, addresses);
		else if (after > first)
			append_cut(&cutting, id, addresses);
		if (after > end) /* the next part may have the rest */
			break;
		self->invocation++;
		self->address += block->n_slots;
		self->reference = after;
		self->instruction += block->n_instructions;
	}
	end_frame(&cutting);
	g_free(cutting.ids);
}

void lode_frame_range_take(LodeTraceFrame *frame, const LodeTraceRange *range, GPtrArray *out)
{
	uint64_t at = frame->first_reference, last = at + frame->n_references;
	LodeTracePart part = lode_trace_range_part(range, at);
	Position position = {
		.frame = frame,
		.reference = frame->first_reference,
		.instruction = frame->first_instruction,
	};

	if (part.kind != LODE_TRACE_LEFT_OUT && part.end >= last) {
		g_ptr_array_add(out, frame);
		return;
	}
	for (; at < last; at = part.end) {
		part = lode_trace_range_part(range, at);
		if (part.kind != LODE_TRACE_LEFT_OUT)
			cut_part(&position, at, part.end, out);
	}
	lode_trace_frame_free(frame);
}
