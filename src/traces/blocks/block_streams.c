/* SPDX-License-Identifier: MIT */
/* New blocks of a frame as streams, and back. */
#include "traces/blocks/frame_blocks.h"

#include "base/arrays/hash.h"
#include "traces/blocks/block_dictionary.h"

#include <string.h>

/* --- what is known of the instruction at an address from earlier blocks --- */

typedef struct {
	uint64_t address;
	const LodeTraceSlot *slots; /* borrowed */
	uint32_t size;
	uint8_t n_slots;
	bool ends; /* some block */
	bool is_used;
} KnownInstruction;

typedef struct {
	KnownInstruction *table; /* owned */
	uint32_t mask, n;
} KnownInstructions;

enum { FIRST_SIZE = 1 << 10 };

static void known_instructions_init(KnownInstructions *self)
{
	self->table = g_new0(KnownInstruction, FIRST_SIZE);
	self->mask = FIRST_SIZE - 1;
	self->n = 0;
}

static void known_instructions_clear(KnownInstructions *self)
{
	g_free(self->table);
	*self = (KnownInstructions){0};
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KnownInstructions, known_instructions_clear)

/* Where an address is, or would be. */
static KnownInstruction *place_of(const KnownInstructions *self, uint64_t address)
{
	uint32_t at = (uint32_t)lode_hash_slot(address, 32) & self->mask;

	while (self->table[at].is_used && self->table[at].address != address)
		at = (at + 1) & self->mask;
	return &self->table[at];
}

/* NULL: not known. Valid until the next block is added. */
static const KnownInstruction *known_instructions_find(
	const KnownInstructions *self, uint64_t address)
{
	const KnownInstruction *place = place_of(self, address);

	return place->is_used ? place : NULL;
}

static void grow(KnownInstructions *self)
{
	KnownInstruction *old = self->table;
	uint32_t size = self->mask + 1;

	self->table = g_new0(KnownInstruction, (size_t)size * 2);
	self->mask = size * 2 - 1;
	for (uint32_t i = 0; i < size; i++) {
		if (old[i].is_used)
			*place_of(self, old[i].address) = old[i];
	}
	g_free(old);
}

/* Adds the instructions of a block that does not change; a later block replaces them. */
static void known_instructions_add(KnownInstructions *self, const LodeTraceBlock *block)
{
	uint64_t address = block->address;
	unsigned slot = 0;

	for (unsigned i = 0; i < block->n_instructions; i++) {
		KnownInstruction *place = place_of(self, address);
		unsigned first = slot;

		while (slot < block->n_slots && block->slots[slot].instruction == i)
			slot++;
		self->n += !place->is_used;
		*place = (KnownInstruction){.address = address,
			.slots = block->slots == NULL ? NULL : block->slots + first,
			.size = block->instruction_sizes[i],
			.n_slots = (uint8_t)(slot - first),
			.ends = (place->is_used && place->ends) || i + 1U == block->n_instructions,
			.is_used = true};
		address += block->instruction_sizes[i];
		if (self->n * 2 > self->mask)
			grow(self);
	}
}

/* --- blocks --- */

/* The codes of an instruction's accesses: none, one of a kind, or more than one, whose kinds
 * follow. */
enum { NO_ACCESS, SEVERAL_ACCESSES = LODE_N_REFERENCE_KINDS };

/* The number of instructions until one that ended a block before; 0: not all of them are known. */
static unsigned expected_length(const KnownInstructions *known, uint64_t address)
{
	const KnownInstruction *instruction;

	for (unsigned n = 1; n <= LODE_BLOCK_MAX_INSTRUCTIONS; n++) {
		instruction = known_instructions_find(known, address);
		if (instruction == NULL)
			return 0;
		if (instruction->ends)
			return n;
		address += instruction->size;
	}
	return 0;
}

/* One number for the usual cases: no access, or one of a kind. */
static void append_accesses(LodeFrameStreams *out, const LodeTraceSlot *slots, unsigned n)
{
	GByteArray *accesses = out->streams[LODE_STREAM_BLOCK_ACCESSES];
	GByteArray *sizes = out->streams[LODE_STREAM_BLOCK_ACCESS_SIZE];

	if (n == 0)
		lode_varint_append(accesses, NO_ACCESS);
	if (n > 1)
		lode_varint_append(accesses, SEVERAL_ACCESSES + n - 2);
	for (unsigned i = 0; i < n; i++) {
		lode_varint_append(accesses, slots[i].kind);
		lode_varint_append(sizes, slots[i].size);
	}
}

static bool is_same(
	const KnownInstruction *known, uint32_t size, const LodeTraceSlot *slots, unsigned n_slots)
{
	if (known->size != size || known->n_slots != n_slots)
		return false;
	for (unsigned i = 0; i < n_slots; i++) {
		if (known->slots[i].kind != slots[i].kind || known->slots[i].size != slots[i].size)
			return false;
	}
	return true;
}

/* A bit says whether an instruction is as it was in an earlier block, which it nearly always is; it
 * is not where the accesses differ, as those of a conditional move. */
static void encode_instructions(
	const LodeTraceBlock *block, const KnownInstructions *known, LodeFrameStreams *out)
{
	uint64_t address = block->address;
	unsigned first = 0, end = 0;

	for (unsigned i = 0; i < block->n_instructions; i++, first = end) {
		uint32_t size = block->instruction_sizes[i];
		const KnownInstruction *before = known_instructions_find(known, address);
		bool is_known;

		while (end < block->n_slots && block->slots[end].instruction == i)
			end++;
		is_known = before != NULL &&
		           is_same(before, size, &block->slots[first], end - first);
		if (before != NULL)
			lode_varint_append(out->streams[LODE_STREAM_BLOCK_KNOWN], is_known);
		address += size;
		if (is_known)
			continue;
		lode_varint_append(out->streams[LODE_STREAM_BLOCK_INSTRUCTION_SIZE], size);
		append_accesses(out, &block->slots[first], end - first);
	}
}

void lode_block_streams_encode(const LodeTraceFrame *frame, LodeFrameStreams *out)
{
	g_auto(KnownInstructions) known = {0};
	uint64_t end = 0;

	known_instructions_init(&known);
	for (uint32_t id = frame->first_new_block; id < frame->n_blocks; id++) {
		const LodeTraceBlock *block = lode_block_dictionary_at(frame->dictionary, id);
		unsigned n = block->n_instructions, expected = 0;

		lode_varint_append_signed(
			out->streams[LODE_STREAM_BLOCK_ADDRESS], block->address - end);
		expected = expected_length(&known, block->address);
		lode_varint_append(
			out->streams[LODE_STREAM_BLOCK_LENGTH], n > 0 && n == expected ? 0 : n + 1);
		if (n == 0)
			append_accesses(out, block->slots, block->n_slots);
		encode_instructions(block, &known, out);
		known_instructions_add(&known, block);
		end = block->address + block->n_bytes;
	}
}

/* Blocks being read, and the one that is put together. */
typedef struct {
	LodeByteCursor at[LODE_STREAM_BLOCK_ACCESS_SIZE + 1]; /* by stream */
	KnownInstructions known;
	uint32_t sizes[LODE_BLOCK_MAX_INSTRUCTIONS];
	LodeTraceSlot slots[LODE_BLOCK_MAX_SLOTS];
	LodeTraceBlock block; /* its arrays are the two above */
	uint64_t end;         /* of the block before */
} BlockReader;

G_STATIC_ASSERT(LODE_STREAM_BLOCK_ADDRESS == 0);

/* Checks what the format allows, as the numbers come from a file. */
static bool add_slot(BlockReader *self, unsigned instruction, uint64_t kind, uint64_t size)
{
	LodeTraceBlock *block = &self->block;

	if (block->n_slots >= LODE_BLOCK_MAX_SLOTS || size > UINT32_MAX ||
		kind == LODE_REFERENCE_FETCH || kind >= LODE_N_REFERENCE_KINDS)
		return false;
	self->slots[block->n_slots++] = (LodeTraceSlot){
		(uint32_t)size, (uint8_t)instruction, (uint8_t)kind};
	return true;
}

static bool read_accesses(BlockReader *self, unsigned instruction)
{
	LodeByteCursor *accesses = &self->at[LODE_STREAM_BLOCK_ACCESSES];
	LodeByteCursor *sizes = &self->at[LODE_STREAM_BLOCK_ACCESS_SIZE];
	uint64_t n = lode_varint_read(accesses);

	if (n == NO_ACCESS)
		return true;
	if (n < SEVERAL_ACCESSES)
		return add_slot(self, instruction, n, lode_varint_read(sizes));
	n -= SEVERAL_ACCESSES - 2;
	if (n > LODE_BLOCK_MAX_SLOTS)
		return false;
	for (unsigned i = 0; i < n; i++) {
		uint64_t kind = lode_varint_read(accesses);

		if (!add_slot(self, instruction, kind, lode_varint_read(sizes)))
			return false;
	}
	return true;
}

static bool read_instruction(BlockReader *self, unsigned i, uint64_t address)
{
	const KnownInstruction *known = known_instructions_find(&self->known, address);
	uint64_t size;

	if (known == NULL || lode_varint_read(&self->at[LODE_STREAM_BLOCK_KNOWN]) == 0) {
		size = lode_varint_read(&self->at[LODE_STREAM_BLOCK_INSTRUCTION_SIZE]);
		self->sizes[i] = (uint32_t)size;
		return size <= UINT32_MAX && read_accesses(self, i);
	}
	self->sizes[i] = known->size;
	for (unsigned k = 0; k < known->n_slots; k++) {
		if (!add_slot(self, i, known->slots[k].kind, known->slots[k].size))
			return false;
	}
	return true;
}

/* False: not a block. An overrun of a stream gives zeros here and is found by has_overrun(). */
static bool read_block(BlockReader *self)
{
	LodeTraceBlock *block = &self->block;
	uint64_t length, address;

	block->address = self->end + lode_varint_read_signed(&self->at[LODE_STREAM_BLOCK_ADDRESS]);
	length = lode_varint_read(&self->at[LODE_STREAM_BLOCK_LENGTH]);
	length = length == 0 ? expected_length(&self->known, block->address) : length - 1;
	block->n_slots = 0;
	if (length > LODE_BLOCK_MAX_INSTRUCTIONS)
		return false;
	if (length == 0 && (!read_accesses(self, 0) || block->n_slots == 0 || block->address != 0))
		return false;
	block->n_instructions = (uint8_t)length;
	address = block->address;
	for (unsigned i = 0; i < length; i++) {
		if (!read_instruction(self, i, address))
			return false;
		address += self->sizes[i];
	}
	self->end = address;
	return true;
}

static void block_reader_init(BlockReader *self, const LodeFrameStreams *streams)
{
	memset(self, 0, sizeof(*self));
	for (unsigned i = 0; i < G_N_ELEMENTS(self->at); i++)
		self->at[i] = lode_frame_streams_read(streams, i);
	known_instructions_init(&self->known);
	self->block.instruction_sizes = self->sizes;
	self->block.slots = self->slots;
}

static void block_reader_clear(BlockReader *self)
{
	known_instructions_clear(&self->known);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BlockReader, block_reader_clear)

static bool has_overrun(const BlockReader *self)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(self->at); i++) {
		if (self->at[i].is_overrun)
			return true;
	}
	return false;
}

/* A stream that is too short is named, as it is the cause; otherwise the first one. */
static bool damaged_block(
	const LodeFrameStreams *streams, const BlockReader *self, uint32_t id, GError **error)
{
	unsigned stream = LODE_STREAM_BLOCK_ADDRESS;

	while (stream + 1 < G_N_ELEMENTS(self->at) && !self->at[stream].is_overrun)
		stream++;
	if (!self->at[stream].is_overrun)
		stream = LODE_STREAM_BLOCK_ADDRESS;
	lode_frame_streams_damaged(
		streams, stream, &self->at[stream], "not a possible block", error);
	g_prefix_error(error, "block %u: ", id);
	return false;
}

/* A block that the dictionary has already gets another id than the one it must have: so equal
 * blocks are refused, too, and what a reader makes of the file is what the writer had. */
bool lode_block_streams_decode(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error)
{
	g_auto(BlockReader) reader;

	block_reader_init(&reader, streams);
	for (uint32_t id = head->first_new_block; id < head->n_blocks; id++) {
		if (!read_block(&reader) || has_overrun(&reader) ||
			!lode_block_dictionary_has_room(dictionary, &reader.block) ||
			lode_block_dictionary_find_or_add(dictionary, &reader.block) != id)
			return damaged_block(streams, &reader, id, error);
		known_instructions_add(&reader.known, lode_block_dictionary_at(dictionary, id));
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(reader.at); i++) {
		if (!lode_frame_streams_end(streams, i, &reader.at[i], error))
			return false;
	}
	return true;
}
