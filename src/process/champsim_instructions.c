/* SPDX-License-Identifier: MIT */
#include "process/champsim_instructions.h"

#include "images/instructions/instruction_decoder.h"
#include "images/instructions/register_use.h"

#include <sys/mman.h>

/* Bits of LodeRegisterMask, by their encoding: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 … */
static const uint8_t general_registers[16] = {
	10, 9, 8, 7, LODE_CHAMPSIM_STACK_POINTER, 5, 4, 3, 11, 12, 13, 14, 15, 16, 17, 18};

enum { BIT_STACK_POINTER = 4, N_WRITTEN = 2, N_READ = 4 };

static uint8_t number_of(unsigned bit)
{
	if (bit < G_N_ELEMENTS(general_registers))
		return general_registers[bit];
	if (bit == LODE_BIT_FLAGS)
		return LODE_CHAMPSIM_FLAGS;
	if (bit >= LODE_BIT_VECTOR && bit < LODE_BIT_OPMASK)
		return (uint8_t)(LODE_CHAMPSIM_VECTORS + bit - LODE_BIT_VECTOR);
	return (uint8_t)(LODE_CHAMPSIM_OTHERS + bit);
}

/* As many as there is room for, after those that are there. */
static void add(uint8_t *registers, unsigned room, LodeRegisterMask mask)
{
	unsigned n = 0;

	while (n < room && registers[n] != 0)
		n++;
	for (unsigned bit = 0; bit < LODE_N_REGISTER_BITS && n < room; bit++)
		if (mask & lode_register_bit(bit))
			registers[n++] = number_of(bit);
}

/* The registers that tell its kind come first. */
static void describe_branch(
	LodeReferenceInstruction *out, LodeBranch branch, const LodeRegisterUse *use)
{
	LodeRegisterMask others = use->reads & ~lode_register_bit(LODE_BIT_FLAGS) &
	                          ~lode_register_bit(BIT_STACK_POINTER);
	bool is_call = branch == LODE_BRANCH_CALL || branch == LODE_BRANCH_INDIRECT_CALL;
	bool is_indirect = branch == LODE_BRANCH_INDIRECT_JUMP ||
	                   branch == LODE_BRANCH_INDIRECT_CALL;
	unsigned n_written = 0, n_read = 0;

	out->is_branch = true;
	out->is_conditional = branch == LODE_BRANCH_CONDITIONAL;
	out->written[n_written++] = LODE_CHAMPSIM_INSTRUCTION_POINTER;
	if (is_call || branch == LODE_BRANCH_RETURN) {
		out->written[n_written++] = LODE_CHAMPSIM_STACK_POINTER;
		out->read[n_read++] = LODE_CHAMPSIM_STACK_POINTER;
	}
	if (is_call || out->is_conditional)
		out->read[n_read++] = LODE_CHAMPSIM_INSTRUCTION_POINTER;
	if (out->is_conditional) {
		add(out->read, N_READ, use->reads);
		add(out->written, N_WRITTEN, use->writes);
	} else if (is_indirect && others != 0) {
		add(out->read, N_READ, others);
	} else if (is_indirect) {
		out->read[n_read] = LODE_CHAMPSIM_VALUE;
	}
}

bool lode_champsim_instruction_decode(
	LodeReferenceInstruction *out, const uint8_t *code, size_t size, uint64_t address)
{
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction decoded;
	LodeRegisterUse use;

	lode_instruction_decoder_init(&decoder);
	if (!lode_instruction_decoder_decode(&decoder, code, size, address, &decoded) ||
		!lode_register_use_decode(&use, code, size, address))
		return false;
	*out = (LodeReferenceInstruction){.target = decoded.has_target ? decoded.target : 0};
	if (decoded.branch != LODE_BRANCH_NONE && decoded.branch != LODE_BRANCH_STOP) {
		describe_branch(out, decoded.branch, &use);
		return true;
	}
	/* Results before the flags, which nearly all write. */
	add(out->written, N_WRITTEN, use.writes);
	add(out->read, N_READ, use.reads);
	if (use.changes & ~use.writes & lode_register_bit(BIT_STACK_POINTER)) {
		add(out->written, N_WRITTEN, lode_register_bit(BIT_STACK_POINTER));
		add(out->read, N_READ, lode_register_bit(BIT_STACK_POINTER));
	}
	return true;
}

struct LodeChampsimInstructions {
	const LodeTraceDescription *description;
	uint64_t first_reference;
	LodeCodeImages *images;
	LodePlaces *places; /* time is the number of the reference */
	GHashTable *known;  /* uint64_t address → LodeReferenceInstruction, while mappings stay */
	uint64_t next_change;
};

LodeChampsimInstructions *lode_champsim_instructions_new(
	const LodeTraceDescription *description, uint64_t first_reference)
{
	LodeChampsimInstructions *self = g_new0(LodeChampsimInstructions, 1);

	self->description = description;
	self->first_reference = first_reference;
	self->images = lode_code_images_new(NULL, false);
	const LodePlacesOptions placing = {.images = self->images, .is_for_code = true};
	self->places = lode_places_new(&placing);
	lode_places_begin(self->places);
	for (guint i = 0; i < description->mappings->len; i++) {
		const LodeTraceMapping *mapping = &g_array_index(
			description->mappings, LodeTraceMapping, i);
		lode_places_note_traced(self->places, 0, mapping, mapping->first_reference);
	}
	lode_places_freeze(self->places, NULL, NULL, NULL);
	self->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return self;
}

void lode_champsim_instructions_free(LodeChampsimInstructions *self)
{
	if (self == NULL)
		return;
	lode_places_free(self->places);
	lode_code_images_free(self->images);
	g_hash_table_unref(self->known);
	g_free(self);
}

static bool is_code(const LodeTraceMapping *mapping)
{
	return (mapping->protection & PROT_EXEC) != 0;
}

/* Other code may lie at addresses that are known. */
static void follow_changes(LodeChampsimInstructions *self, uint64_t reference)
{
	const GArray *mappings = self->description->mappings;

	if (reference < self->next_change)
		return;
	g_hash_table_remove_all(self->known);
	self->next_change = UINT64_MAX;
	for (guint i = 0; i < mappings->len; i++) {
		const LodeTraceMapping *mapping = &g_array_index(mappings, LodeTraceMapping, i);

		if (is_code(mapping) && mapping->first_reference > reference)
			self->next_change = MIN(self->next_change, mapping->first_reference);
	}
}

/* The bytes of the file that was mapped last at the address; NULL: no such file. */
static const uint8_t *code_at(
	LodeChampsimInstructions *self, uint64_t address, uint64_t reference, size_t *out_n)
{
	LodePlace place;

	if (lode_places_find_at(self->places, 0, reference, LODE_JIT_TIME_UNKNOWN, address,
		    &place) != LODE_PLACE_FOUND)
		return NULL;
	return lode_code_image_bytes(
		lode_code_images_at(self->images, place.image), place.address, out_n);
}

bool lode_champsim_instructions_find(
	uint64_t address, uint64_t n_before, LodeReferenceInstruction *out, void *user_data)
{
	LodeChampsimInstructions *self = user_data;
	uint64_t reference = self->first_reference + n_before;

	follow_changes(self, reference);
	LodeReferenceInstruction *known = g_hash_table_lookup(self->known, &address);
	if (known == NULL) {
		size_t n = 0;
		const uint8_t *code = code_at(self, address, reference, &n);

		known = g_new0(LodeReferenceInstruction, 1);
		known->is_unknown = code == NULL ||
		                    !lode_champsim_instruction_decode(known, code, n, address);
		g_hash_table_insert(self->known, g_memdup2(&address, sizeof(address)), known);
	}
	*out = *known;
	return !known->is_unknown;
}
