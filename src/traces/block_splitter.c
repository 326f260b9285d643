/* SPDX-License-Identifier: MIT */
/*
 * Recovers blocks from references. A program repeats itself: after a block and at an address, the
 * block that came there last comes again most of the time, and is only compared.
 */
#include "traces/block_splitter.h"

#include "base/hash.h"

#include <string.h>

enum { EXPECTED_BITS = 13 };

struct LodeBlockSplitter {
	LodeTraceFrame *frame;
	uint32_t expected[1 << EXPECTED_BITS]; /* the block that came last after an address
	                                          another block, by a hash of both; id + 1 */
	uint32_t last_block;
	LodeTraceBlock open; /* its arrays are the two below; empty: none is open */
	/* References of it. Its own two counts would be read together just after one of them was
	 * written, which a processor waits for. */
	unsigned n_open;
	uint64_t next_fetch; /* address after the open block */
	uint16_t thread;
	uint32_t sizes[LODE_BLOCK_MAX_INSTRUCTIONS];
	LodeTraceSlot slots[LODE_BLOCK_MAX_SLOTS];
	uint64_t addresses[LODE_BLOCK_MAX_SLOTS];
};

LodeBlockSplitter *lode_block_splitter_new(void)
{
	LodeBlockSplitter *self = g_new0(LodeBlockSplitter, 1);
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();

	self->frame = lode_trace_frame_new(dictionary);
	self->open.instruction_sizes = self->sizes;
	self->open.slots = self->slots;
	return self;
}

void lode_block_splitter_free(LodeBlockSplitter *self)
{
	if (self == NULL)
		return;
	lode_trace_frame_free(self->frame);
	g_free(self);
}

static bool is_open(const LodeBlockSplitter *self)
{
	return self->n_open > 0;
}

/* The entry of the block that is expected from an address. */
static uint32_t *expected_from(LodeBlockSplitter *self, uint64_t address)
{
	uint64_t key = address ^ (uint64_t)self->last_block << 40;

	return &self->expected[lode_hash_slot(key, EXPECTED_BITS)];
}

static void append_block(LodeBlockSplitter *self, uint32_t id)
{
	lode_trace_frame_append(self->frame, id, self->thread, self->addresses);
	self->last_block = id;
}

static void end_block(LodeBlockSplitter *self)
{
	uint32_t id;

	if (!is_open(self))
		return;
	id = lode_block_dictionary_find_or_add(self->frame->dictionary, &self->open);
	*expected_from(self, self->open.address) = id + 1;
	append_block(self, id);
	self->n_open = 0;
	self->open.n_instructions = 0;
	self->open.n_slots = 0;
	self->open.address = 0;
}

/* Whether the reference may be added to the open block. */
static bool continues(const LodeBlockSplitter *self, const LodeReference *reference)
{
	if (reference->thread != self->thread)
		return false;
	if (reference->kind != LODE_REFERENCE_FETCH)
		return self->open.n_slots < LODE_BLOCK_MAX_SLOTS;
	return self->open.n_instructions > 0 && reference->address == self->next_fetch &&
	       self->open.n_instructions < LODE_BLOCK_MAX_INSTRUCTIONS;
}

static void add_fetch(LodeBlockSplitter *self, const LodeReference *reference)
{
	if (self->open.n_instructions == 0)
		self->open.address = reference->address;
	self->sizes[self->open.n_instructions++] = reference->size;
	self->next_fetch = reference->address + reference->size;
}

static void add_data(LodeBlockSplitter *self, const LodeReference *reference)
{
	unsigned n = self->open.n_slots++;
	unsigned instruction = self->open.n_instructions == 0 ? 0 : self->open.n_instructions - 1U;

	self->slots[n] = (LodeTraceSlot){reference->size, (uint8_t)instruction, reference->kind};
	self->addresses[n] = reference->address;
}

/* Whether another block might pass a bound. */
static bool is_full(const LodeBlockSplitter *self)
{
	return lode_trace_frame_is_full(self->frame) ||
	       lode_block_dictionary_is_full(self->frame->dictionary);
}

static bool is_fetch(const LodeReference *reference, uint64_t address, uint32_t size)
{
	return reference->kind == LODE_REFERENCE_FETCH && reference->address == address &&
	       reference->size == size;
}

/* Whether the references are those of the block, in one thread; their addresses are written. */
static bool matches(const LodeTraceBlock *block, const LodeReference *reference, uint64_t *address)
{
	const LodeTraceSlot *slot = block->slots, *end = slot + block->n_slots;
	uint64_t next = block->address;
	uint16_t thread = reference->thread;
	unsigned n_elsewhere = 0; /* counted: one branch at the end, not one a reference */

	for (unsigned i = 0; i < block->n_instructions; i++, reference++) {
		if (!is_fetch(reference, next, block->instruction_sizes[i]))
			return false;
		n_elsewhere += reference->thread != thread;
		next += reference->size;
		for (; slot < end && slot->instruction == i; slot++) {
			reference++;
			if (reference->kind != slot->kind || reference->size != slot->size)
				return false;
			n_elsewhere += reference->thread != thread;
			*address++ = reference->address;
		}
	}
	return n_elsewhere == 0;
}

/* Whether a block ends before the reference. */
static bool ends_before(const LodeTraceBlock *block, uint16_t thread, const LodeReference *next)
{
	if (next->thread != thread)
		return true;
	if (next->kind != LODE_REFERENCE_FETCH)
		return block->n_slots >= LODE_BLOCK_MAX_SLOTS;
	return block->n_instructions >= LODE_BLOCK_MAX_INSTRUCTIONS ||
	       next->address != block->address + block->n_bytes;
}

/* Takes a whole block where the one that is expected comes; gives its references, or 0. Most are
 * taken so, without the hash of all that a block is. */
static size_t add_expected(LodeBlockSplitter *self, const LodeReference *references, size_t n)
{
	uint32_t id = *expected_from(self, references->address);
	const LodeTraceBlock *block;
	size_t size;

	if (id == 0)
		return 0;
	block = lode_block_dictionary_at(self->frame->dictionary, id - 1);
	size = (size_t)block->n_instructions + block->n_slots;
	/* The reference after the block must be here, too: it may belong to a longer one. */
	if (block->n_instructions == 0 || size >= n ||
		!ends_before(block, references->thread, &references[size]) ||
		!matches(block, references, lode_trace_frame_next_addresses(self->frame)))
		return 0;
	self->thread = references->thread;
	lode_trace_frame_append_placed(self->frame, id - 1, block, self->thread);
	self->last_block = id - 1;
	return size;
}

size_t lode_block_splitter_add(LodeBlockSplitter *self, const LodeReference *references, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (is_open(self) && !continues(self, &references[i]))
			end_block(self);
		if (!is_open(self)) {
			size_t taken;

			if (is_full(self))
				return i;
			taken = add_expected(self, &references[i], n - i);
			if (taken > 0) {
				i += taken - 1;
				continue;
			}
			self->thread = references[i].thread;
		}
		self->n_open++;
		if (references[i].kind == LODE_REFERENCE_FETCH)
			add_fetch(self, &references[i]);
		else
			add_data(self, &references[i]);
	}
	return n;
}

/* Blocks that are neighbours in memory have much in common; so have their ids then. */
static void sort_new_blocks(LodeTraceFrame *frame)
{
	uint32_t first = frame->first_new_block;
	g_autofree uint32_t *ids = lode_block_dictionary_sort(frame->dictionary, first);

	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (frame->blocks[i] >= first)
			frame->blocks[i] = ids[frame->blocks[i] - first];
	}
}

/* Ids have another meaning from here on. */
static void expect_nothing(LodeBlockSplitter *self)
{
	memset(self->expected, 0, sizeof(self->expected));
	self->last_block = 0;
}

LodeTraceFrame *lode_block_splitter_take_frame(LodeBlockSplitter *self)
{
	g_autoptr(LodeBlockDictionary) dictionary = NULL;
	LodeTraceFrame *frame = self->frame;

	end_block(self);
	if (frame->n_invocations == 0)
		return NULL;
	sort_new_blocks(frame);
	expect_nothing(self);
	dictionary = lode_block_dictionary_is_full(frame->dictionary)
	                     ? lode_block_dictionary_new()
	                     : lode_block_dictionary_ref(frame->dictionary);
	self->frame = lode_trace_frame_new(dictionary);
	self->frame->first_reference = frame->first_reference + frame->n_references;
	self->frame->first_instruction = frame->first_instruction + frame->n_instructions;
	return frame;
}

void lode_block_splitter_renew_dictionary(LodeBlockSplitter *self)
{
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();
	LodeTraceFrame *frame = lode_trace_frame_new(dictionary);

	g_assert(self->frame->n_invocations == 0 && !is_open(self));
	frame->first_reference = self->frame->first_reference;
	frame->first_instruction = self->frame->first_instruction;
	lode_trace_frame_free(self->frame);
	self->frame = frame;
}

size_t lode_block_splitter_frame_bytes(const LodeBlockSplitter *self)
{
	const LodeTraceFrame *frame = self->frame;

	return frame->n_invocations * sizeof(*frame->blocks) +
	       frame->n_addresses * sizeof(*frame->addresses) +
	       frame->n_switches * sizeof(*frame->switches);
}

size_t lode_block_splitter_dictionary_bytes(const LodeBlockSplitter *self)
{
	return lode_block_dictionary_bytes(self->frame->dictionary);
}
