/* SPDX-License-Identifier: MIT */
/*
 * Where the stack pointer and the frame pointer point is followed from the entry along the blocks;
 * offsets are from the stack pointer at the entry, which has the return address.
 */
#include "images/code/frame_use.h"

#include "base/arrays/sort_order.h"
#include "images/instructions/full_instruction.h"

#include <stdlib.h>
#include <string.h>

enum {
	RBX = 3,
	RSP = 4,
	RBP = 5,
	R12 = 12,
	CANARY = 0x28,   /* of the thread's block, where the stack protector's value is */
	NEEDLESS_OF = 8, /* one in so many reads: the function is not optimised */
	MAX_INSTRUCTIONS = 1 << 16,
	MAX_VISIBLE_OPERANDS = 3, /* more have vector instructions alone */
	R14 = 14,
	GO_STACK_LIMIT = 16, /* in the goroutine, which r14 points to */
};

#define UNKNOWN INT64_MIN

/* The part of an instruction that is looked at; there may be many. */
typedef struct {
	uint16_t mnemonic;                                  /* ZydisMnemonic */
	uint8_t n_visible;                                  /* operands; of `operands` at most */
	uint8_t stack_bytes;                                /* of a push or pop */
	bool moves_stack;                                   /* push, pop, call, ret, leave */
	uint64_t read, written;                             /* 1 << value_register() */
	ZydisDecodedOperand operands[MAX_VISIBLE_OPERANDS]; /* unused: of no type */
} Instruction;

/* Where the two registers point, before an instruction. */
typedef struct {
	int64_t rsp, rbp; /* UNKNOWN */
} Pointers;

/* An access of the frame. */
typedef struct {
	uint32_t instruction;
	uint32_t size;
	int64_t offset;
	int register_number; /* that is stored whole, or loaded; vectors from 16 on; −1: none */
	bool is_load, is_store;
} Access;

typedef struct {
	const LodeControlFlow *flow;
	Instruction *full; /* of each instruction */
	uint8_t *out;
	GArray *states; /* Pointers at each block's beginning */
	bool *is_reached;
	GArray *accesses;     /* Access */
	int64_t lowest_taken; /* of the frame: a pointer to there is made; else INT64_MAX */
	int64_t lowest_taken_argument; /* likewise above it */
	uint32_t pushed, popped;       /* 1 << register */
	bool has_conflict;             /* a block is reached with the stack pointer at two places */
} Frame;

static const LodeStaticBlock *block_at(const Frame *self, uint32_t i)
{
	return &g_array_index(self->flow->blocks, LodeStaticBlock, i);
}

/* General registers by their number, vectors after them; −1: of neither kind. */
static int value_register(const ZydisDecodedOperand *operand)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return -1;
	if (operand->reg.value == ZYDIS_REGISTER_RFLAGS)
		return -1;
	int number = lode_operand_register(operand);
	if (number >= 0)
		return number;
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(
		ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value);
	return whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31
	               ? 16 + (int)(whole - ZYDIS_REGISTER_ZMM0)
	               : -1;
}

static uint64_t bit_of(int number)
{
	return number < 0 ? 0 : UINT64_C(1) << number;
}

static void decode(const uint8_t *code, size_t size, Instruction *out)
{
	LodeFullInstruction full;
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, code,
		    MIN(size, ZYDIS_MAX_INSTRUCTION_LENGTH), &full.instruction)))
		return;
	/* the flags are the last of the hidden operands, and mostly the only one */
	const uint8_t n_visible = full.instruction.operand_count_visible;
	const bool has_only_flags = full.instruction.operand_count - n_visible <= 1 &&
	                            full.instruction.cpu_flags != NULL;
	if (has_only_flags)
		full.instruction.operand_count = n_visible;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &full.instruction,
		    full.operands, full.instruction.operand_count)))
		return;
	out->mnemonic = (uint16_t)full.instruction.mnemonic;
	out->n_visible = MIN(full.instruction.operand_count_visible, MAX_VISIBLE_OPERANDS);
	out->moves_stack = lode_full_instruction_moves_stack(&full);
	out->stack_bytes = out->moves_stack ? (uint8_t)lode_full_instruction_stack_bytes(&full) : 0;
	memcpy(out->operands, full.operands, out->n_visible * sizeof *out->operands);
	for (uint8_t i = 0; i < full.instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &full.operands[i];
		int number = value_register(operand);

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
			out->read |= bit_of(lode_general_register(operand->mem.base)) |
			             bit_of(lode_general_register(operand->mem.index));
		if (lode_operand_is_written(operand))
			out->written |= bit_of(number);
		if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
			out->read |= bit_of(number);
	}
	/* `xor eax, eax` needs nothing */
	if (out->n_visible >= 2 && out->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		out->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		(out->mnemonic == ZYDIS_MNEMONIC_XOR || out->mnemonic == ZYDIS_MNEMONIC_PXOR ||
			out->mnemonic == ZYDIS_MNEMONIC_XORPS) &&
		out->operands[0].reg.value == out->operands[1].reg.value)
		out->read = 0;
}

static bool is_register(const ZydisDecodedOperand *operand, int number)
{
	return lode_operand_register(operand) == number && operand->size == 64;
}

static bool is_frame_register(int number)
{
	return number == RSP || number == RBP;
}

static int64_t add(int64_t base, int64_t by)
{
	int64_t sum;

	return base == UNKNOWN || __builtin_add_overflow(base, by, &sum) ? UNKNOWN : sum;
}

/* The place of a memory operand in the frame; UNKNOWN: elsewhere. */
static int64_t place_of(const Pointers *at, const ZydisDecodedOperand *operand)
{
	int base = lode_general_register(operand->mem.base);

	if (!is_frame_register(base) || operand->mem.segment == ZYDIS_REGISTER_FS ||
		operand->mem.segment == ZYDIS_REGISTER_GS)
		return UNKNOWN;
	return add(base == RSP ? at->rsp : at->rbp, operand->mem.disp.value);
}

/* --- where the registers point --- */

static int64_t immediate(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? operand->imm.value.s : UNKNOWN;
}

/* The value of a frame register that the instruction writes. */
static int64_t written_value(const Pointers *at, const Instruction *full, int64_t old)
{
	const ZydisDecodedOperand *operands = full->operands;
	int64_t by = immediate(&operands[1]);

	switch (full->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		return by == UNKNOWN ? UNKNOWN : add(old, by);
	case ZYDIS_MNEMONIC_SUB:
		return by == UNKNOWN ? UNKNOWN : add(old, -by);
	case ZYDIS_MNEMONIC_LEA:
		return operands[1].mem.index == ZYDIS_REGISTER_NONE ? place_of(at, &operands[1])
		                                                    : UNKNOWN;
	case ZYDIS_MNEMONIC_MOV:
		if (is_register(&operands[1], RSP))
			return at->rsp;
		return is_register(&operands[1], RBP) ? at->rbp : UNKNOWN;
	case ZYDIS_MNEMONIC_AND: /* to an alignment: it was at least as far up */
		return old;
	default:
		return UNKNOWN;
	}
}

static void step(Pointers *at, const Instruction *full)
{
	const Pointers before = *at;

	switch (full->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		at->rsp = add(at->rsp, -full->stack_bytes);
		return;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		at->rsp = add(at->rsp, full->stack_bytes);
		if (is_register(&full->operands[0], RBP))
			at->rbp = UNKNOWN;
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		at->rsp = add(at->rbp, 8);
		at->rbp = UNKNOWN;
		return;
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		return;
	default:
		break;
	}
	for (int number = RSP; number <= RBP; number++) {
		int64_t *own = number == RSP ? &at->rsp : &at->rbp;

		if ((full->written >> number & 1) != 0)
			*own = is_register(&full->operands[0], number)
			               ? written_value(&before, full, *own)
			               : UNKNOWN;
	}
}

/* A block that is to be followed, with the pointers at its beginning. */
typedef struct {
	uint32_t block;
	Pointers at;
} Due;

static bool pop(GArray *due, Due *out)
{
	if (due->len == 0)
		return false;
	*out = g_array_index(due, Due, due->len - 1);
	g_array_set_size(due, due->len - 1);
	return true;
}

/* The way on after a call is followed last: it may not return, and then the next instruction is
 * reached from elsewhere, if at all; as that after a return, which only fills up, is. */
static void follow(Frame *self, uint32_t first, Pointers *inout_indirect)
{
	g_autoptr(GArray) sure = g_array_new(FALSE, FALSE, sizeof(Due));
	g_autoptr(GArray) unsure = g_array_new(FALSE, FALSE, sizeof(Due));
	Due next = {first, *inout_indirect};
	bool is_sure = true;

	do {
		Pointers *own = &g_array_index(self->states, Pointers, next.block);
		const LodeStaticBlock *block = block_at(self, next.block);

		if (self->is_reached[next.block]) {
			self->has_conflict |= is_sure && first == 0 && own->rsp != next.at.rsp;
			/* one that is known on one way only is accessed by on that way only */
			if (own->rbp == UNKNOWN)
				own->rbp = next.at.rbp;
			continue;
		}
		self->is_reached[next.block] = true;
		*own = next.at;
		for (uint32_t i = block->first; i < block->first + block->n; i++)
			step(&next.at, &self->full[i]);
		const uint8_t branch = (uint8_t)g_array_index(self->flow->instructions,
			LodeStaticInstruction, block->first + block->n - 1)
		                               .decoded.branch;
		if (branch == LODE_BRANCH_INDIRECT_JUMP)
			*inout_indirect = next.at;
		for (int k = 0; k < 2; k++) {
			const Due after = {block->successors[k], next.at};

			if (after.block != UINT32_MAX)
				g_array_append_vals(
					branch == LODE_BRANCH_CALL ||
							branch == LODE_BRANCH_INDIRECT_CALL
						? unsure
						: sure,
					&after, 1);
		}
	} while ((is_sure = pop(sure, &next)) || pop(unsure, &next));
}

/* Blocks that no known way leads to are reached by tables of jumps. */
static void follow_all(Frame *self)
{
	Pointers at = {0, UNKNOWN};

	for (uint32_t i = 0; i < self->flow->blocks->len; i++)
		if (!self->is_reached[i])
			follow(self, i, &at);
}

/* --- entering and leaving --- */

static bool is_preserved(int number)
{
	return number == RBX || number == RBP || number >= R12;
}

/* A load, store or comparison of the stack protector's value. */
static bool is_of_canary(const Instruction *full)
{
	for (uint8_t i = 0; i < full->n_visible; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			operand->mem.segment == ZYDIS_REGISTER_FS &&
			operand->mem.base == ZYDIS_REGISTER_NONE &&
			operand->mem.disp.value == CANARY)
			return true;
	}
	return false;
}

static LodeFrameUse use_of_rsp(const Pointers *at, const Instruction *full)
{
	Pointers after = *at;

	if (full->mnemonic == ZYDIS_MNEMONIC_AND)
		return LODE_FRAME_USE_ENTER;
	step(&after, full);
	if (after.rsp == UNKNOWN || at->rsp == UNKNOWN)
		return full->mnemonic == ZYDIS_MNEMONIC_SUB ? LODE_FRAME_USE_ENTER
		                                            : LODE_FRAME_USE_LEAVE;
	return after.rsp < at->rsp ? LODE_FRAME_USE_ENTER : LODE_FRAME_USE_LEAVE;
}

/* Whether the instruction stores rbp where the next one makes it point, as Go's functions do. */
static bool is_go_frame(const Instruction *store, const Instruction *lea)
{
	return store->mnemonic == ZYDIS_MNEMONIC_MOV && lea->mnemonic == ZYDIS_MNEMONIC_LEA &&
	       store->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       is_register(&store->operands[1], RBP) && is_register(&lea->operands[0], RBP) &&
	       store->operands[0].mem.base == lea->operands[1].mem.base &&
	       store->operands[0].mem.disp.value == lea->operands[1].mem.disp.value;
}

/* The use that an instruction has by itself. */
static LodeFrameUse own_use(const Frame *self, const Pointers *at, const Instruction *full)
{
	const ZydisDecodedOperand *operands = full->operands;
	int number = lode_operand_register(&operands[0]);
	bool is_both = number >= 0 && ((self->pushed & self->popped) >> number & 1) != 0;

	switch (full->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		return is_both && is_preserved(number) ? LODE_FRAME_USE_ENTER : LODE_FRAME_USE_NONE;
	case ZYDIS_MNEMONIC_POP:
		return is_both && is_preserved(number) ? LODE_FRAME_USE_LEAVE : LODE_FRAME_USE_NONE;
	case ZYDIS_MNEMONIC_LEAVE:
		return LODE_FRAME_USE_LEAVE;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_LEA:
		return is_register(&operands[0], RSP) ? use_of_rsp(at, full) : LODE_FRAME_USE_NONE;
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_XOR:
		if (is_of_canary(full))
			return LODE_FRAME_USE_LEAVE;
		return full->mnemonic == ZYDIS_MNEMONIC_SUB && is_register(&operands[0], RSP)
		               ? use_of_rsp(at, full)
		               : LODE_FRAME_USE_NONE;
	case ZYDIS_MNEMONIC_MOV:
		if (is_register(&operands[0], RBP) && is_register(&operands[1], RSP))
			return LODE_FRAME_USE_ENTER;
		if (is_register(&operands[0], RSP) && is_register(&operands[1], RBP))
			return LODE_FRAME_USE_LEAVE;
		return is_of_canary(full) ? LODE_FRAME_USE_ENTER : LODE_FRAME_USE_NONE;
	default:
		return LODE_FRAME_USE_NONE;
	}
}

/* Whether an instruction moves 8 bytes between the register and the frame. */
static bool is_move(const Instruction *full, int number, bool is_store)
{
	const ZydisDecodedOperand *memory = &full->operands[is_store ? 0 : 1];

	return full->mnemonic == ZYDIS_MNEMONIC_MOV && memory->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       is_frame_register(lode_general_register(memory->mem.base)) &&
	       is_register(&full->operands[is_store ? 1 : 0], number);
}

/* Whether it compares the stack pointer, or one that lies lower (`lea r12, [rsp-200]`), with the
 * limit of the goroutine's stack. */
static bool is_go_check(const Instruction *full)
{
	const ZydisDecodedOperand *limit = &full->operands[1];

	return full->mnemonic == ZYDIS_MNEMONIC_CMP && limit->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       lode_general_register(limit->mem.base) == R14 &&
	       limit->mem.index == ZYDIS_REGISTER_NONE && limit->mem.disp.value == GO_STACK_LIMIT &&
	       (is_register(&full->operands[0], RSP) || is_register(&full->operands[0], R12));
}

/* The use of two neighbours together: the stack protector's value on its way between a register and
 * the frame, and Go's frame pointer. */
static void add_pairs(Frame *self)
{
	int64_t saved = UNKNOWN; /* displacement of Go's frame pointer */

	for (uint32_t i = 0; i < self->flow->instructions->len; i++) {
		const Instruction *full = &self->full[i];
		const Instruction *next = i + 1 < self->flow->instructions->len ? &self->full[i + 1]
		                                                                : NULL;

		if (i == 0 && full->mnemonic == ZYDIS_MNEMONIC_ENDBR64)
			self->out[i] = LODE_FRAME_USE_ENTER;
		if (next != NULL && is_go_frame(full, next)) {
			self->out[i] = self->out[i + 1] = LODE_FRAME_USE_ENTER;
			saved = full->operands[0].mem.disp.value;
		}
		if (i < 2 && is_go_check(full))
			for (uint32_t k = 0; k <= i; k++)
				self->out[k] = LODE_FRAME_USE_ENTER;
		if (saved != UNKNOWN && is_move(full, RBP, false) &&
			full->operands[1].mem.disp.value == saved)
			self->out[i] = LODE_FRAME_USE_LEAVE;
		if (next == NULL)
			continue;
		if (is_of_canary(full) && self->out[i] == LODE_FRAME_USE_ENTER &&
			is_move(next, lode_operand_register(&full->operands[0]), true))
			self->out[i + 1] = LODE_FRAME_USE_ENTER;
		if (is_of_canary(next) && self->out[i + 1] == LODE_FRAME_USE_LEAVE &&
			is_move(full, lode_operand_register(&next->operands[0]), false))
			self->out[i] = LODE_FRAME_USE_LEAVE;
	}
}

/* A push that only makes room for alignment, of any register, and its pop before the return. */
static void add_alignment(Frame *self)
{
	uint32_t n = self->flow->instructions->len, i = 0;

	while (i < n && self->out[i] == LODE_FRAME_USE_ENTER)
		i++;
	if (i < n && self->full[i].mnemonic == ZYDIS_MNEMONIC_PUSH &&
		is_register(&self->full[i].operands[0], 0))
		self->out[i] = LODE_FRAME_USE_ENTER;
	for (i = n; i-- > 1;) {
		const bool is_end = self->full[i].mnemonic == ZYDIS_MNEMONIC_RET ||
		                    self->out[i] == LODE_FRAME_USE_LEAVE;
		if (is_end && self->full[i - 1].mnemonic == ZYDIS_MNEMONIC_POP)
			self->out[i - 1] = LODE_FRAME_USE_LEAVE;
	}
}

/* --- what is kept in the frame --- */

static void note_taken(Frame *self, int64_t place)
{
	if (place == UNKNOWN)
		return;
	if (place < 0)
		self->lowest_taken = MIN(self->lowest_taken, place);
	else
		self->lowest_taken_argument = MIN(self->lowest_taken_argument, place);
}

/* A register of the frame that is read for its value: something gets a pointer to what lies there.
 */
static void note_pointers(Frame *self, const Pointers *at, const Instruction *full)
{
	const ZydisDecodedOperand *operands = full->operands;

	if (full->moves_stack && full->mnemonic != ZYDIS_MNEMONIC_PUSH)
		return;
	if (full->mnemonic == ZYDIS_MNEMONIC_LEA) {
		note_taken(self, place_of(at, &operands[1]));
		return;
	}
	for (uint8_t i = 0; i < full->n_visible; i++) {
		int number = lode_operand_register(&operands[i]);

		/* the saved frame pointer is the caller's, and so is rbp before it is set */
		if (number == RSP && (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
			note_taken(self, at->rsp);
		if (number == RBP && (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
			note_taken(self, at->rbp);
	}
}

static void note_access(
	Frame *self, const Pointers *at, const ZydisDecodedOperand *operand, uint32_t i)
{
	const Instruction *full = &self->full[i];
	const ZydisDecodedOperand *other = &full->operands[operand == &full->operands[0] ? 1 : 0];
	Access access = {.instruction = i,
		.size = operand->size / 8,
		.offset = place_of(at, operand),
		.register_number = -1,
		.is_load = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
		.is_store = lode_operand_is_written(operand)};

	if (access.offset == UNKNOWN)
		return;
	if (operand->mem.index != ZYDIS_REGISTER_NONE) {
		note_taken(self, access.offset);
		return;
	}
	if (access.is_load != access.is_store && full->n_visible == 2 &&
		other->size == operand->size)
		access.register_number = value_register(other);
	g_array_append_val(self->accesses, access);
}

static void note_instruction(Frame *self, const Pointers *at, uint32_t i)
{
	const Instruction *full = &self->full[i];

	if (self->out[i] != LODE_FRAME_USE_NONE)
		return;
	note_pointers(self, at, full);
	for (uint8_t k = 0; k < full->n_visible; k++) {
		const ZydisDecodedOperand *operand = &full->operands[k];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			operand->mem.type == ZYDIS_MEMOP_TYPE_MEM)
			note_access(self, at, operand, i);
	}
}

/* Whether a block reads a register that a block before it has made. */
static bool takes_registers(const Frame *self, const LodeStaticBlock *block)
{
	uint64_t made = bit_of(RSP) | bit_of(RBP);

	for (uint32_t i = block->first; i < block->first + block->n; i++) {
		const Instruction *own = &self->full[i];

		if ((own->read & ~made) != 0)
			return true;
		made |= own->written;
		if (own->mnemonic == ZYDIS_MNEMONIC_CALL)
			made |= ~UINT64_C(0); /* its result, and nothing else */
	}
	return false;
}

/* Whether hardly a block takes over a register from an earlier one: all variables are in memory. */
static bool keeps_no_registers(const Frame *self)
{
	enum { ONE_OF = 4, FEWEST = 2 };
	uint32_t n = 0, n_taking = 0;

	for (uint32_t i = 1; i < self->flow->blocks->len; i++) {
		const LodeStaticBlock *block = block_at(self, i);

		if (self->full[block->first].mnemonic == ZYDIS_MNEMONIC_NOP)
			continue;
		n++;
		n_taking += takes_registers(self, block);
	}
	return n >= FEWEST && n_taking * ONE_OF < n;
}

/* Reads of a slot although a register has its value, in the same block. */
static bool has_needless_reads(const Frame *self)
{
	enum { N_HELD = 48 };
	int64_t held[N_HELD]; /* the slot that a register has the value of */
	uint32_t n_loads = 0, n_needless = 0, at = 0;

	for (uint32_t b = 0; b < self->flow->blocks->len; b++) {
		const LodeStaticBlock *block = block_at(self, b);

		for (int r = 0; r < N_HELD; r++)
			held[r] = UNKNOWN;
		for (uint32_t i = block->first; i < block->first + block->n; i++) {
			const Instruction *full = &self->full[i];
			const Access *access = NULL;

			while (at < self->accesses->len &&
				g_array_index(self->accesses, Access, at).instruction < i)
				at++;
			if (at < self->accesses->len &&
				g_array_index(self->accesses, Access, at).instruction == i)
				access = &g_array_index(self->accesses, Access, at);
			for (int r = 0; access != NULL && access->is_load && r < N_HELD; r++)
				if (held[r] == access->offset) {
					n_needless++;
					break;
				}
			n_loads += access != NULL && access->is_load;
			for (int r = 0; access != NULL && access->is_store && r < N_HELD; r++)
				if (held[r] == access->offset)
					held[r] = UNKNOWN;
			for (int r = 0; r < N_HELD; r++)
				if ((full->written >> r & 1) != 0 ||
					full->mnemonic == ZYDIS_MNEMONIC_CALL)
					held[r] = UNKNOWN;
			if (access != NULL && access->register_number >= 0 &&
				(access->is_store || full->mnemonic == ZYDIS_MNEMONIC_MOV))
				held[access->register_number] = access->offset;
		}
	}
	return n_needless > 0 && n_needless * NEEDLESS_OF >= n_loads;
}

LODE_ORDER(compare_accesses, Access, LODE_ASCENDING(offset), LODE_ASCENDING(instruction))

/* Whether the accesses of one slot, which begin at one offset, are of a spilled register. */
static bool is_spilled(const Frame *self, const Access *accesses, size_t n)
{
	const int64_t taken = accesses->offset < 0 ? self->lowest_taken
	                                           : self->lowest_taken_argument;
	bool is_saved = false, is_loaded = false;

	if (accesses->offset >= taken || accesses->offset + accesses->size > taken)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (accesses[i].size != accesses[0].size)
			return false;
		is_saved |= accesses[i].is_store &&
		            (accesses[i].is_load || accesses[i].register_number >= 0);
		is_loaded |= accesses[i].is_load;
	}
	return is_saved && is_loaded;
}

static void name_spills(Frame *self)
{
	Access *accesses = (Access *)(void *)self->accesses->data;
	size_t n = self->accesses->len, end;
	int64_t covered = INT64_MIN; /* up to where accesses that begin lower reach */

	for (size_t i = 0; i < n; i = end) {
		int64_t reach_end = accesses[i].offset;

		for (end = i; end < n && accesses[end].offset == accesses[i].offset; end++)
			reach_end = MAX(reach_end, accesses[end].offset + accesses[end].size);
		const bool is_alone = covered <= accesses[i].offset &&
		                      (end == n || reach_end <= accesses[end].offset);
		covered = MAX(covered, reach_end);
		if (!is_alone || !is_spilled(self, &accesses[i], end - i))
			continue;
		for (size_t k = i; k < end; k++)
			self->out[accesses[k].instruction] = accesses[k].is_load
			                                             ? LODE_FRAME_USE_RELOAD
			                                             : LODE_FRAME_USE_SAVE;
	}
}

static void note_block(
	Frame *self, uint32_t number, void (*note)(Frame *, const Pointers *, uint32_t))
{
	const LodeStaticBlock *block = block_at(self, number);
	Pointers at = g_array_index(self->states, Pointers, number);

	for (uint32_t i = block->first; i < block->first + block->n; i++) {
		note(self, &at, i);
		step(&at, &self->full[i]);
	}
}

static void note_own_use(Frame *self, const Pointers *at, uint32_t i)
{
	self->out[i] = (uint8_t)own_use(self, at, &self->full[i]);
}

static void note_saved(Frame *self)
{
	for (uint32_t i = 0; i < self->flow->instructions->len; i++) {
		int number = lode_operand_register(&self->full[i].operands[0]);

		if (number < 0)
			continue;
		if (self->full[i].mnemonic == ZYDIS_MNEMONIC_PUSH)
			self->pushed |= 1u << number;
		if (self->full[i].mnemonic == ZYDIS_MNEMONIC_POP)
			self->popped |= 1u << number;
		if (self->full[i].mnemonic == ZYDIS_MNEMONIC_LEAVE)
			self->popped |= 1u << RBP;
	}
}

void lode_frame_use_find(const LodeControlFlow *flow, const uint8_t *code, size_t size,
	uint64_t address, uint8_t *out)
{
	const uint32_t n = flow->instructions->len, n_blocks = flow->blocks->len;
	Frame frame = {.flow = flow,
		.out = out,
		.lowest_taken = INT64_MAX,
		.lowest_taken_argument = INT64_MAX};

	memset(out, LODE_FRAME_USE_NONE, n);
	if (n == 0 || n > MAX_INSTRUCTIONS)
		return;
	g_autofree Instruction *full = g_new0(Instruction, n);
	g_autofree bool *is_reached = g_new0(bool, n_blocks);
	g_autoptr(GArray) states = g_array_new(FALSE, TRUE, sizeof(Pointers));
	g_autoptr(GArray) accesses = g_array_new(FALSE, FALSE, sizeof(Access));
	g_array_set_size(states, n_blocks);
	frame.full = full;
	frame.is_reached = is_reached;
	frame.states = states;
	frame.accesses = accesses;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t own = g_array_index(flow->instructions, LodeStaticInstruction, i).address;

		if (own - address < size)
			decode(code + (own - address), size - (own - address), &full[i]);
	}
	note_saved(&frame);
	follow_all(&frame);
	for (uint32_t b = 0; b < n_blocks; b++)
		note_block(&frame, b, note_own_use);
	add_pairs(&frame);
	add_alignment(&frame);
	for (uint32_t b = 0; b < n_blocks; b++)
		note_block(&frame, b, note_instruction);
	if (frame.has_conflict || keeps_no_registers(&frame) || has_needless_reads(&frame))
		return;
	if (accesses->len > 1)
		g_array_sort(accesses, compare_accesses);
	name_spills(&frame);
}
