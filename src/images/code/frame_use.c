/* SPDX-License-Identifier: MIT */
/*
 * Where the stack pointer and the frame pointer point is followed from the entry along the blocks;
 * offsets are from the stack pointer at the entry, which has the return address.
 */
#include "images/code/frame_use.h"

#include "base/arrays/sort_order.h"
#include "images/instructions/instruction_effect.h"

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
	LodeInstructionEffect *full; /* of each instruction */
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
static int value_register(const LodeEffectOperand *operand)
{
	switch (operand->kind) {
	case LODE_OPERAND_REGISTER:
		return operand->number;
	case LODE_OPERAND_VECTOR:
		return LODE_EFFECT_VECTORS + operand->number;
	default:
		return -1;
	}
}

static bool is_register(const LodeEffectOperand *operand, int number)
{
	return operand->kind == LODE_OPERAND_REGISTER && operand->number == number &&
	       operand->bits == 64;
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
static int64_t place_of(const Pointers *at, const LodeEffectOperand *operand)
{
	if (!is_frame_register(operand->base) || operand->segment != LODE_SEGMENT_NONE)
		return UNKNOWN;
	return add(operand->base == RSP ? at->rsp : at->rbp, operand->constant);
}

/* --- where the registers point --- */

/* The value of a frame register that the instruction writes. */
static int64_t written_value(const Pointers *at, const LodeInstructionEffect *full, int64_t old)
{
	const LodeEffectOperand *operands = full->operands;
	int64_t by = lode_effect_is_constant(full, 1) ? operands[1].constant : UNKNOWN;

	switch (full->operation) {
	case LODE_OPERATION_ADD:
		return by == UNKNOWN ? UNKNOWN : add(old, by);
	case LODE_OPERATION_SUBTRACT:
		return by == UNKNOWN ? UNKNOWN : add(old, -by);
	case LODE_OPERATION_ADDRESS:
		return operands[1].index == LODE_NO_REGISTER ? place_of(at, &operands[1]) : UNKNOWN;
	case LODE_OPERATION_MOVE:
		if (is_register(&operands[1], RSP))
			return at->rsp;
		return is_register(&operands[1], RBP) ? at->rbp : UNKNOWN;
	case LODE_OPERATION_AND: /* to an alignment: it was at least as far up */
		return old;
	default:
		return UNKNOWN;
	}
}

static void step(Pointers *at, const LodeInstructionEffect *full)
{
	const Pointers before = *at;

	switch (full->operation) {
	case LODE_OPERATION_PUSH:
	case LODE_OPERATION_PUSH_FLAGS:
		at->rsp = add(at->rsp, -(int64_t)lode_effect_stack_bytes(full));
		return;
	case LODE_OPERATION_POP:
	case LODE_OPERATION_POP_FLAGS:
		at->rsp = add(at->rsp, lode_effect_stack_bytes(full));
		if (is_register(&full->operands[0], RBP))
			at->rbp = UNKNOWN;
		return;
	case LODE_OPERATION_LEAVE:
		at->rsp = add(at->rbp, 8);
		at->rbp = UNKNOWN;
		return;
	case LODE_OPERATION_CALL:
	case LODE_OPERATION_RETURN:
		return;
	default:
		break;
	}
	for (int number = RSP; number <= RBP; number++) {
		int64_t *own = number == RSP ? &at->rsp : &at->rbp;

		if ((full->writes >> number & 1) != 0)
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
static bool is_of_canary(const LodeInstructionEffect *full)
{
	for (uint8_t i = 0; i < full->n_visible; i++) {
		const LodeEffectOperand *operand = &full->operands[i];

		if (operand->kind == LODE_OPERAND_MEMORY && operand->segment == LODE_SEGMENT_FS &&
			operand->base == LODE_NO_REGISTER && operand->constant == CANARY)
			return true;
	}
	return false;
}

static LodeFrameUse use_of_rsp(const Pointers *at, const LodeInstructionEffect *full)
{
	Pointers after = *at;

	if (full->operation == LODE_OPERATION_AND)
		return LODE_FRAME_USE_ENTER;
	step(&after, full);
	if (after.rsp == UNKNOWN || at->rsp == UNKNOWN)
		return full->operation == LODE_OPERATION_SUBTRACT ? LODE_FRAME_USE_ENTER
		                                                  : LODE_FRAME_USE_LEAVE;
	return after.rsp < at->rsp ? LODE_FRAME_USE_ENTER : LODE_FRAME_USE_LEAVE;
}

/* Whether the instruction stores rbp where the next one makes it point, as Go's functions do. */
static bool is_go_frame(const LodeInstructionEffect *store, const LodeInstructionEffect *lea)
{
	return store->operation == LODE_OPERATION_MOVE &&
	       lea->operation == LODE_OPERATION_ADDRESS &&
	       store->operands[0].kind == LODE_OPERAND_MEMORY &&
	       is_register(&store->operands[1], RBP) && is_register(&lea->operands[0], RBP) &&
	       store->operands[0].base == lea->operands[1].base &&
	       store->operands[0].constant == lea->operands[1].constant;
}

/* The use that an instruction has by itself. */
static LodeFrameUse own_use(
	const Frame *self, const Pointers *at, const LodeInstructionEffect *full)
{
	const LodeEffectOperand *operands = full->operands;
	int number = lode_effect_register(full, 0);
	bool is_both = number >= 0 && ((self->pushed & self->popped) >> number & 1) != 0;

	switch (full->operation) {
	case LODE_OPERATION_PUSH:
		return is_both && is_preserved(number) ? LODE_FRAME_USE_ENTER : LODE_FRAME_USE_NONE;
	case LODE_OPERATION_POP:
		return is_both && is_preserved(number) ? LODE_FRAME_USE_LEAVE : LODE_FRAME_USE_NONE;
	case LODE_OPERATION_LEAVE:
		return LODE_FRAME_USE_LEAVE;
	case LODE_OPERATION_ADD:
	case LODE_OPERATION_AND:
	case LODE_OPERATION_ADDRESS:
		return is_register(&operands[0], RSP) ? use_of_rsp(at, full) : LODE_FRAME_USE_NONE;
	case LODE_OPERATION_SUBTRACT:
	case LODE_OPERATION_COMPARE:
	case LODE_OPERATION_XOR:
		if (is_of_canary(full))
			return LODE_FRAME_USE_LEAVE;
		return full->operation == LODE_OPERATION_SUBTRACT && is_register(&operands[0], RSP)
		               ? use_of_rsp(at, full)
		               : LODE_FRAME_USE_NONE;
	case LODE_OPERATION_MOVE:
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
static bool is_move(const LodeInstructionEffect *full, int number, bool is_store)
{
	const LodeEffectOperand *memory = &full->operands[is_store ? 0 : 1];

	return full->operation == LODE_OPERATION_MOVE && memory->kind == LODE_OPERAND_MEMORY &&
	       is_frame_register(memory->base) &&
	       is_register(&full->operands[is_store ? 1 : 0], number);
}

/* Whether it compares the stack pointer, or one that lies lower (`lea r12, [rsp-200]`), with the
 * limit of the goroutine's stack. */
static bool is_go_check(const LodeInstructionEffect *full)
{
	const LodeEffectOperand *limit = &full->operands[1];

	return full->operation == LODE_OPERATION_COMPARE && limit->kind == LODE_OPERAND_MEMORY &&
	       limit->base == R14 && limit->index == LODE_NO_REGISTER &&
	       limit->constant == GO_STACK_LIMIT &&
	       (is_register(&full->operands[0], RSP) || is_register(&full->operands[0], R12));
}

/* The use of two neighbours together: the stack protector's value on its way between a register and
 * the frame, and Go's frame pointer. */
static void add_pairs(Frame *self)
{
	int64_t saved = UNKNOWN; /* displacement of Go's frame pointer */

	for (uint32_t i = 0; i < self->flow->instructions->len; i++) {
		const LodeInstructionEffect *full = &self->full[i];
		const LodeInstructionEffect *next = i + 1 < self->flow->instructions->len
		                                            ? &self->full[i + 1]
		                                            : NULL;

		if (i == 0 && full->operation == LODE_OPERATION_MARK)
			self->out[i] = LODE_FRAME_USE_ENTER;
		if (next != NULL && is_go_frame(full, next)) {
			self->out[i] = self->out[i + 1] = LODE_FRAME_USE_ENTER;
			saved = full->operands[0].constant;
		}
		if (i < 2 && is_go_check(full))
			for (uint32_t k = 0; k <= i; k++)
				self->out[k] = LODE_FRAME_USE_ENTER;
		if (saved != UNKNOWN && is_move(full, RBP, false) &&
			full->operands[1].constant == saved)
			self->out[i] = LODE_FRAME_USE_LEAVE;
		if (next == NULL)
			continue;
		if (is_of_canary(full) && self->out[i] == LODE_FRAME_USE_ENTER &&
			is_move(next, lode_effect_register(full, 0), true))
			self->out[i + 1] = LODE_FRAME_USE_ENTER;
		if (is_of_canary(next) && self->out[i + 1] == LODE_FRAME_USE_LEAVE &&
			is_move(full, lode_effect_register(next, 0), false))
			self->out[i] = LODE_FRAME_USE_LEAVE;
	}
}

/* A push that only makes room for alignment, of any register, and its pop before the return. */
static void add_alignment(Frame *self)
{
	uint32_t n = self->flow->instructions->len, i = 0;

	while (i < n && self->out[i] == LODE_FRAME_USE_ENTER)
		i++;
	if (i < n && self->full[i].operation == LODE_OPERATION_PUSH &&
		is_register(&self->full[i].operands[0], 0))
		self->out[i] = LODE_FRAME_USE_ENTER;
	for (i = n; i-- > 1;) {
		const bool is_end = self->full[i].operation == LODE_OPERATION_RETURN ||
		                    self->out[i] == LODE_FRAME_USE_LEAVE;
		if (is_end && self->full[i - 1].operation == LODE_OPERATION_POP)
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
static void note_pointers(Frame *self, const Pointers *at, const LodeInstructionEffect *full)
{
	const LodeEffectOperand *operands = full->operands;

	switch (full->operation) {
	case LODE_OPERATION_PUSH_FLAGS:
	case LODE_OPERATION_POP:
	case LODE_OPERATION_POP_FLAGS:
	case LODE_OPERATION_LEAVE:
	case LODE_OPERATION_CALL:
	case LODE_OPERATION_RETURN:
		return;
	case LODE_OPERATION_ADDRESS:
		note_taken(self, place_of(at, &operands[1]));
		return;
	default:
		break;
	}
	for (uint8_t i = 0; i < full->n_visible; i++) {
		int number = lode_effect_register(full, i);

		/* the saved frame pointer is the caller's, and so is rbp before it is set */
		if (number == RSP && operands[i].is_read)
			note_taken(self, at->rsp);
		if (number == RBP && operands[i].is_read)
			note_taken(self, at->rbp);
	}
}

static void note_access(
	Frame *self, const Pointers *at, const LodeEffectOperand *operand, uint32_t i)
{
	const LodeInstructionEffect *full = &self->full[i];
	const LodeEffectOperand *other = &full->operands[operand == &full->operands[0] ? 1 : 0];
	Access access = {.instruction = i,
		.size = operand->bits / 8u,
		.offset = place_of(at, operand),
		.register_number = -1,
		.is_load = operand->is_read,
		.is_store = operand->is_written};

	if (access.offset == UNKNOWN)
		return;
	if (operand->index != LODE_NO_REGISTER) {
		note_taken(self, access.offset);
		return;
	}
	if (access.is_load != access.is_store && full->n_visible == 2 &&
		other->bits == operand->bits)
		access.register_number = value_register(other);
	g_array_append_val(self->accesses, access);
}

static void note_instruction(Frame *self, const Pointers *at, uint32_t i)
{
	const LodeInstructionEffect *full = &self->full[i];

	if (self->out[i] != LODE_FRAME_USE_NONE)
		return;
	note_pointers(self, at, full);
	for (uint8_t k = 0; k < full->n_visible; k++) {
		const LodeEffectOperand *operand = &full->operands[k];

		if (operand->kind == LODE_OPERAND_MEMORY && operand->is_access)
			note_access(self, at, operand, i);
	}
}

/* Whether a block reads a register that a block before it has made. */
static bool takes_registers(const Frame *self, const LodeStaticBlock *block)
{
	uint64_t made = 1u << RSP | 1u << RBP;

	for (uint32_t i = block->first; i < block->first + block->n; i++) {
		const LodeInstructionEffect *own = &self->full[i];

		/* `xor eax, eax` needs nothing */
		bool is_constant = own->operation == LODE_OPERATION_XOR &&
		                   lode_effect_is_of_itself(own);
		if (!is_constant && (own->reads & ~made) != 0)
			return true;
		made |= own->writes;
		if (own->operation == LODE_OPERATION_CALL)
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

		if (self->full[block->first].operation == LODE_OPERATION_NOTHING)
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
			const LodeInstructionEffect *full = &self->full[i];
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
				if ((full->writes >> r & 1) != 0 ||
					full->operation == LODE_OPERATION_CALL)
					held[r] = UNKNOWN;
			if (access != NULL && access->register_number >= 0 &&
				(access->is_store || full->operation == LODE_OPERATION_MOVE))
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
		int number = lode_effect_register(&self->full[i], 0);

		if (number < 0)
			continue;
		if (self->full[i].operation == LODE_OPERATION_PUSH)
			self->pushed |= 1u << number;
		if (self->full[i].operation == LODE_OPERATION_POP)
			self->popped |= 1u << number;
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
	g_autofree LodeInstructionEffect *full = g_new0(LodeInstructionEffect, n);
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
			lode_instruction_effect_decode(
				&full[i], code + (own - address), size - (own - address));
		full[i].n_visible = MIN(full[i].n_visible, MAX_VISIBLE_OPERANDS);
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
