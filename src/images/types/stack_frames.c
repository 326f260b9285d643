/* SPDX-License-Identifier: MIT */
/* DWARF 5, section 6.4: call frame information. Only rules of register and offset are followed. */
#include "images/types/stack_frames.h"

#include "images/dwarf/function_variables.h"
#include "images/registers/stack_memory.h"
#include "images/types/data_place.h"
#include "images/variants/elf_image.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	RED_ZONE = 128,    /* below the stack pointer, by the System V ABI for x86-64, 3.2.2 */
	MAX_FRAMES = 64,   /* of a dump of some hundred bytes there are fewer */
	MAX_KEPT = 100000, /* rows of the unwind table */
	RETURN_ADDRESS = LODE_N_GENERAL_REGISTERS, /* its column, also in DWARF's numbering */
	N_COLUMNS,
};

typedef enum {
	RULE_SAME,  /* as in the caller, which is also assumed for registers without a rule */
	RULE_SAVED, /* at the CFA plus `offset` */
	RULE_LOST,
} Rule;

/* A row of the unwind table. */
typedef struct {
	bool is_known;
	int frame_register; /* the CFA is this one plus `frame_offset` */
	int64_t frame_offset;
	uint8_t rules[N_COLUMNS]; /* Rule */
	int64_t offsets[N_COLUMNS];
} Row;

struct LodeStackFrames {
	LodeElfImage *image;
	GHashTable *rows; /* pc → Row */
};

LodeStackFrames *lode_stack_frames_new(LodeBinaryImage *image)
{
	LodeElfImage *elf = lode_elf_image_of(image);
	LodeStackFrames *self = elf != NULL ? g_new0(LodeStackFrames, 1) : NULL;

	if (self == NULL)
		return NULL;
	self->image = elf;
	self->rows = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return self;
}

void lode_stack_frames_free(LodeStackFrames *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->rows);
	g_free(self);
}

/* Reads libdw's rule of a column: none (as in the caller), "undefined", or where it is saved. */
static void read_column(Dwarf_Frame *frame, int dwarf_number, Row *row, int column)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	/* Where a table says nothing of them: libdw (0.188) takes rax for rbx, by its number. */
	const int rax = 0, rbx = 3;

	row->rules[column] = RULE_LOST;
	if (dwarf_frame_register(frame, dwarf_number, memory, &ops, &n) != 0)
		return;
	if (n == 0)
		row->rules[column] = (ops == NULL && dwarf_number != rax) || dwarf_number == rbx
		                             ? RULE_SAME
		                             : RULE_LOST;
	if (n < 1 || ops[0].atom != DW_OP_call_frame_cfa)
		return;
	if (n == 1) {
		row->rules[column] = RULE_SAVED;
	} else if (n == 2 && ops[1].atom == DW_OP_plus_uconst) {
		row->rules[column] = RULE_SAVED;
		row->offsets[column] = (int64_t)ops[1].number;
	}
}

static void read_row(LodeStackFrames *self, uint64_t pc, Row *row)
{
	Dwarf_CFI *unwind = lode_elf_image_unwind(self->image, pc);
	Dwarf_Frame *frame = NULL;

	row->is_known = lode_frame_address(unwind, pc, &row->frame_register, &row->frame_offset);
	if (!row->is_known || dwarf_cfi_addrframe(unwind, pc, &frame) != 0)
		return;
	for (int i = 0; i < N_COLUMNS; i++) {
		int column = i == RETURN_ADDRESS ? i : lode_register_from_dwarf((uint64_t)i);

		read_column(frame, i, row, column);
	}
	free(frame);
}

static const Row *row_at(LodeStackFrames *self, uint64_t pc)
{
	Row *row = g_hash_table_lookup(self->rows, &pc);

	if (row != NULL)
		return row;
	if (g_hash_table_size(self->rows) >= MAX_KEPT)
		g_hash_table_remove_all(self->rows);
	row = g_new0(Row, 1);
	read_row(self, pc, row);
	g_hash_table_insert(self->rows, g_memdup2(&pc, sizeof pc), row);
	return row;
}

/* The frame's CFA; false: not known. */
static bool frame_address(const LodeUserRegisters *frame, const Row *row, uint64_t *out_cfa)
{
	if (!row->is_known || (frame->known >> row->frame_register & 1) == 0)
		return false;
	*out_cfa = frame->values[row->frame_register] + (uint64_t)row->frame_offset;
	return true;
}

/* Makes a frame its caller's. */
static bool go_up(const LodeStackMemory *stack, const Row *row, uint64_t cfa,
	LodeUserRegisters *frame, uint64_t *out_return)
{
	uint64_t value;

	for (int i = 0; i < LODE_N_GENERAL_REGISTERS; i++) {
		if (row->rules[i] == RULE_SAME)
			continue;
		frame->known &= ~(1u << i);
		if (row->rules[i] == RULE_LOST ||
			!lode_stack_memory_read(
				stack, cfa + (uint64_t)row->offsets[i], sizeof value, &value))
			continue;
		frame->values[i] = value;
		frame->known |= 1u << i;
	}
	frame->values[LODE_REGISTER_RSP] = cfa;
	frame->known |= 1u << LODE_REGISTER_RSP;
	return row->rules[RETURN_ADDRESS] == RULE_SAVED &&
	       lode_stack_memory_read(stack, cfa + (uint64_t)row->offsets[RETURN_ADDRESS],
		       sizeof *out_return, out_return);
}

bool lode_stack_frames_find(LodeStackFrames *self, const LodeDataAccessQuestion *question,
	uint64_t address, LodeFramePlace *out_place)
{
	LodeUserRegisters frame = *question->registers;
	LodeStackMemory stack;
	uint64_t low, cfa, back, pc = question->pc;

	if ((frame.known >> LODE_REGISTER_RSP & 1) == 0)
		return false;
	low = frame.values[LODE_REGISTER_RSP];
	lode_stack_memory_init(&stack, question->stack, question->stack_size, low);
	if (address < low - RED_ZONE || low < RED_ZONE)
		return false;
	low -= RED_ZONE;
	for (int i = 0; i < MAX_FRAMES; i++) {
		const Row *row = row_at(self, pc);

		/* frames lie above each other */
		if (!frame_address(&frame, row, &cfa) || cfa <= low)
			return false;
		if (address < cfa) {
			*out_place = (LodeFramePlace){pc, (int64_t)(address - cfa), i > 0};
			return address >= low;
		}
		low = cfa;
		if (!go_up(&stack, row, cfa, &frame, &back))
			return false;
		/* inside the call, which may be its function's last instruction */
		pc = back - question->bias - 1;
	}
	return false;
}

LodeFrameStep lode_stack_frames_step(LodeStackFrames *self, uint64_t pc, const LodeStackDump *dump,
	LodeUserRegisters *registers, uint64_t *out_return)
{
	const Row *row = row_at(self, pc);
	LodeStackMemory stack;
	uint64_t cfa;

	if (!row->is_known)
		return LODE_FRAME_NO_RULE;
	if (row->rules[RETURN_ADDRESS] != RULE_SAVED)
		return LODE_FRAME_OUTERMOST;
	/* frames lie above each other */
	if (!frame_address(registers, row, &cfa) ||
		(registers->known >> LODE_REGISTER_RSP & 1) == 0 ||
		cfa <= registers->values[LODE_REGISTER_RSP])
		return LODE_FRAME_LOST;
	lode_stack_memory_init(&stack, dump->bytes, dump->size, dump->start);
	return go_up(&stack, row, cfa, registers, out_return) ? LODE_FRAME_CALLED : LODE_FRAME_LOST;
}
