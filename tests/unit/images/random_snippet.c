/* SPDX-License-Identifier: MIT */
/* Encoded by Zydis; a combination that cannot be encoded is chosen again. */
#include "random_snippet.h"

#include "model/address_rule.h"

#include <Zydis/Zydis.h>
#include <string.h>

enum { RSP = 4, RBP = 5, RSI = 6, RDI = 7, JUMP_BYTES = 4 };

typedef struct {
	GRand *rand;
	Snippet *snippet;
	ZydisEncoderRequest request;
	SnippetInstruction note;
	int target; /* of a branch, an instruction's number; −1 */
} Maker;

static const ZydisMnemonic TWO[] = {ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB,
	ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_OR, ZYDIS_MNEMONIC_XOR,
	ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_TEST, ZYDIS_MNEMONIC_ADC, ZYDIS_MNEMONIC_SBB,
	ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_IMUL,
	ZYDIS_MNEMONIC_XCHG, ZYDIS_MNEMONIC_BT, ZYDIS_MNEMONIC_BTS, ZYDIS_MNEMONIC_XADD,
	ZYDIS_MNEMONIC_CMPXCHG, ZYDIS_MNEMONIC_POPCNT, ZYDIS_MNEMONIC_TZCNT, ZYDIS_MNEMONIC_LZCNT,
	ZYDIS_MNEMONIC_BSF, ZYDIS_MNEMONIC_BSR, ZYDIS_MNEMONIC_BLSR, ZYDIS_MNEMONIC_BLSI};
static const ZydisMnemonic ONE[] = {ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_DEC, ZYDIS_MNEMONIC_NEG,
	ZYDIS_MNEMONIC_NOT, ZYDIS_MNEMONIC_BSWAP, ZYDIS_MNEMONIC_MUL, ZYDIS_MNEMONIC_IMUL,
	ZYDIS_MNEMONIC_DIV, ZYDIS_MNEMONIC_IDIV};
static const ZydisMnemonic SHIFTS[] = {ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR, ZYDIS_MNEMONIC_SAR,
	ZYDIS_MNEMONIC_ROL, ZYDIS_MNEMONIC_ROR, ZYDIS_MNEMONIC_RCL};
static const ZydisMnemonic ALONE[] = {ZYDIS_MNEMONIC_CBW, ZYDIS_MNEMONIC_CWDE, ZYDIS_MNEMONIC_CDQE,
	ZYDIS_MNEMONIC_CWD, ZYDIS_MNEMONIC_CDQ, ZYDIS_MNEMONIC_CQO, ZYDIS_MNEMONIC_STC,
	ZYDIS_MNEMONIC_CLC, ZYDIS_MNEMONIC_CMC, ZYDIS_MNEMONIC_STD, ZYDIS_MNEMONIC_CLD,
	ZYDIS_MNEMONIC_LAHF, ZYDIS_MNEMONIC_SAHF, ZYDIS_MNEMONIC_PUSHFQ, ZYDIS_MNEMONIC_POPFQ,
	ZYDIS_MNEMONIC_LEAVE};
static const ZydisMnemonic THREE[] = {ZYDIS_MNEMONIC_ANDN, ZYDIS_MNEMONIC_SHLX, ZYDIS_MNEMONIC_SHRX,
	ZYDIS_MNEMONIC_SARX, ZYDIS_MNEMONIC_PDEP};
static const ZydisMnemonic MOVES_IF[] = {ZYDIS_MNEMONIC_CMOVB, ZYDIS_MNEMONIC_CMOVBE,
	ZYDIS_MNEMONIC_CMOVL, ZYDIS_MNEMONIC_CMOVLE, ZYDIS_MNEMONIC_CMOVNB, ZYDIS_MNEMONIC_CMOVNBE,
	ZYDIS_MNEMONIC_CMOVNL, ZYDIS_MNEMONIC_CMOVNLE, ZYDIS_MNEMONIC_CMOVNO, ZYDIS_MNEMONIC_CMOVNP,
	ZYDIS_MNEMONIC_CMOVNS, ZYDIS_MNEMONIC_CMOVNZ, ZYDIS_MNEMONIC_CMOVO, ZYDIS_MNEMONIC_CMOVP,
	ZYDIS_MNEMONIC_CMOVS, ZYDIS_MNEMONIC_CMOVZ};
static const ZydisMnemonic SETS_IF[] = {ZYDIS_MNEMONIC_SETB, ZYDIS_MNEMONIC_SETBE,
	ZYDIS_MNEMONIC_SETL, ZYDIS_MNEMONIC_SETLE, ZYDIS_MNEMONIC_SETNB, ZYDIS_MNEMONIC_SETNBE,
	ZYDIS_MNEMONIC_SETNL, ZYDIS_MNEMONIC_SETNLE, ZYDIS_MNEMONIC_SETO, ZYDIS_MNEMONIC_SETP,
	ZYDIS_MNEMONIC_SETS, ZYDIS_MNEMONIC_SETZ};
static const ZydisMnemonic JUMPS_IF[] = {ZYDIS_MNEMONIC_JB, ZYDIS_MNEMONIC_JBE, ZYDIS_MNEMONIC_JL,
	ZYDIS_MNEMONIC_JLE, ZYDIS_MNEMONIC_JNB, ZYDIS_MNEMONIC_JNBE, ZYDIS_MNEMONIC_JNL,
	ZYDIS_MNEMONIC_JNLE, ZYDIS_MNEMONIC_JNO, ZYDIS_MNEMONIC_JNP, ZYDIS_MNEMONIC_JNS,
	ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_JO, ZYDIS_MNEMONIC_JP, ZYDIS_MNEMONIC_JS,
	ZYDIS_MNEMONIC_JZ};
static const ZydisMnemonic LOADS[] = {ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_ADD,
	ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_IMUL};
static const ZydisMnemonic STORES[] = {ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_XOR};
static const ZydisMnemonic STRINGS[] = {ZYDIS_MNEMONIC_MOVSB, ZYDIS_MNEMONIC_MOVSQ,
	ZYDIS_MNEMONIC_STOSB, ZYDIS_MNEMONIC_STOSD, ZYDIS_MNEMONIC_LODSB, ZYDIS_MNEMONIC_LODSQ};

#define PICK(maker, list) ((list)[g_rand_int_range((maker)->rand, 0, G_N_ELEMENTS(list))])

static bool one_in(Maker *maker, int n)
{
	return g_rand_int_range(maker->rand, 0, n) == 0;
}

/* Few registers, so that what one instruction writes the next ones take. */
static unsigned any_register(Maker *maker)
{
	static const uint8_t OFTEN[] = {0, 1, 2, 3, RBP, RSI, RDI, 8, 13};

	return one_in(maker, 12) ? RSP : PICK(maker, OFTEN);
}

/* rsp is left to push and pop, so that those stay in the stack. */
static unsigned written_register(Maker *maker)
{
	unsigned number = any_register(maker);

	return number == RSP ? 0 : number;
}

static unsigned any_width(Maker *maker)
{
	static const uint8_t WIDTHS[] = {64, 64, 64, 64, 32, 32, 16, 8};

	return PICK(maker, WIDTHS);
}

static ZydisRegister register_named(Maker *maker, unsigned number, unsigned width)
{
	if (width == 8 && number < 4 && one_in(maker, 4))
		return (ZydisRegister)(ZYDIS_REGISTER_AH + number);
	if (width == 8)
		return (ZydisRegister)(number < 4 ? ZYDIS_REGISTER_AL + number
						  : ZYDIS_REGISTER_SPL + number - 4);
	if (width == 16)
		return (ZydisRegister)(ZYDIS_REGISTER_AX + number);
	return (ZydisRegister)((width == 32 ? ZYDIS_REGISTER_EAX : ZYDIS_REGISTER_RAX) + number);
}

static void add_register(Maker *maker, unsigned number, unsigned width)
{
	ZydisEncoderOperand *operand = &maker->request.operands[maker->request.operand_count++];

	operand->type = ZYDIS_OPERAND_TYPE_REGISTER;
	operand->reg.value = register_named(maker, number, width);
}

static void add_immediate(Maker *maker, int64_t value)
{
	ZydisEncoderOperand *operand = &maker->request.operands[maker->request.operand_count++];

	operand->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
	operand->imm.s = value;
}

static int32_t any_number(Maker *maker, unsigned width)
{
	static const int32_t SPECIAL[] = {0, 1, -1, 8, 16, 127, -128};

	if (one_in(maker, 2))
		return PICK(maker, SPECIAL);
	if (width < 32)
		return g_rand_int_range(maker->rand, -100, 100);
	return (int32_t)g_rand_int(maker->rand);
}

static void add_memory(Maker *maker, unsigned bytes)
{
	ZydisEncoderOperand *operand = &maker->request.operands[maker->request.operand_count++];
	SnippetInstruction *note = &maker->note;
	unsigned width = one_in(maker, 20) ? 32 : 64;

	note->has_short_addresses = width == 32;
	note->base = (uint8_t)any_register(maker);
	note->index = SNIPPET_NO_REGISTER;
	note->scale = 0;
	note->displacement = any_number(maker, 8);
	operand->type = ZYDIS_OPERAND_TYPE_MEMORY;
	operand->mem.base = register_named(maker, note->base, width);
	if (one_in(maker, 2)) {
		note->index = (uint8_t)written_register(maker);
		note->scale = (uint8_t)(1 << g_rand_int_range(maker->rand, 0, 4));
		operand->mem.index = register_named(maker, note->index, width);
		operand->mem.scale = note->scale;
	}
	operand->mem.displacement = note->displacement;
	operand->mem.size = (ZyanU16)bytes;
}

static void make_two(Maker *maker)
{
	unsigned width = any_width(maker), number = written_register(maker);

	maker->request.mnemonic = PICK(maker, TWO);
	add_register(maker, number, width);
	if (one_in(maker, 3))
		add_immediate(maker, any_number(maker, width));
	else if (maker->request.mnemonic == ZYDIS_MNEMONIC_XCHG ||
		 maker->request.mnemonic == ZYDIS_MNEMONIC_XADD)
		add_register(maker, written_register(maker), width);
	else
		add_register(maker, one_in(maker, 8) ? number : any_register(maker), width);
}

static void make_one(Maker *maker)
{
	maker->request.mnemonic = PICK(maker, ONE);
	add_register(maker, written_register(maker), any_width(maker));
}

static void make_three(Maker *maker)
{
	unsigned width = one_in(maker, 2) ? 64 : 32;

	if (one_in(maker, 2)) {
		maker->request.mnemonic = one_in(maker, 2) ? ZYDIS_MNEMONIC_IMUL
		                                           : ZYDIS_MNEMONIC_RORX;
		add_register(maker, written_register(maker), width);
		add_register(maker, any_register(maker), width);
		add_immediate(maker, g_rand_int_range(maker->rand, 0, 100));
		return;
	}
	maker->request.mnemonic = PICK(maker, THREE);
	add_register(maker, written_register(maker), width);
	add_register(maker, any_register(maker), width);
	add_register(maker, any_register(maker), width);
}

static void make_shift(Maker *maker)
{
	unsigned width = any_width(maker);
	ZydisEncoderOperand *count = &maker->request.operands[1];

	maker->request.mnemonic = PICK(maker, SHIFTS);
	add_register(maker, written_register(maker), width);
	if (one_in(maker, 2)) {
		add_immediate(maker, g_rand_int_range(maker->rand, 0, 70));
		return;
	}
	maker->request.operand_count = 2;
	count->type = ZYDIS_OPERAND_TYPE_REGISTER;
	count->reg.value = ZYDIS_REGISTER_CL;
}

static void make_extension(Maker *maker)
{
	unsigned width = one_in(maker, 2) ? 64 : 32, from = one_in(maker, 2) ? 8 : 16;

	if (one_in(maker, 3)) {
		maker->request.mnemonic = ZYDIS_MNEMONIC_MOVSXD;
		width = 64;
		from = 32;
	} else {
		maker->request.mnemonic = one_in(maker, 2) ? ZYDIS_MNEMONIC_MOVZX
		                                           : ZYDIS_MNEMONIC_MOVSX;
	}
	add_register(maker, written_register(maker), width);
	add_register(maker, any_register(maker), from);
}

static void make_address(Maker *maker)
{
	unsigned width = one_in(maker, 4) ? 32 : 64;

	maker->request.mnemonic = ZYDIS_MNEMONIC_LEA;
	add_register(maker, written_register(maker), width);
	add_memory(maker, 8);
	if (one_in(maker, 3)) /* the form that can be undone */
		maker->request.operands[0].reg.value = maker->request.operands[1].mem.base;
	if (maker->request.operands[0].reg.value == ZYDIS_REGISTER_RSP)
		maker->request.operands[0].reg.value = ZYDIS_REGISTER_RBP;
}

static void make_condition(Maker *maker)
{
	if (one_in(maker, 2)) {
		maker->request.mnemonic = PICK(maker, SETS_IF);
		add_register(maker, written_register(maker), 8);
		return;
	}
	maker->request.mnemonic = PICK(maker, MOVES_IF);
	add_register(maker, written_register(maker), one_in(maker, 2) ? 64 : 32);
	add_register(maker, any_register(maker),
		maker->request.operands[0].reg.value >= ZYDIS_REGISTER_RAX ? 64 : 32);
}

static void make_stack(Maker *maker)
{
	switch (g_rand_int_range(maker->rand, 0, 4)) {
	case 0:
		maker->request.mnemonic = ZYDIS_MNEMONIC_POP;
		add_register(maker, written_register(maker), 64);
		break;
	case 1:
		maker->request.mnemonic = one_in(maker, 2) ? ZYDIS_MNEMONIC_SUB
		                                           : ZYDIS_MNEMONIC_ADD;
		add_register(maker, RSP, 64);
		add_immediate(maker, 8 * g_rand_int_range(maker->rand, 1, 15));
		break;
	default:
		maker->request.mnemonic = ZYDIS_MNEMONIC_PUSH;
		if (one_in(maker, 3))
			add_immediate(maker, any_number(maker, 32));
		else
			add_register(maker, any_register(maker), one_in(maker, 20) ? 16 : 64);
		break;
	}
}

static void make_alone(Maker *maker)
{
	maker->request.mnemonic = PICK(maker, ALONE);
	if (one_in(maker, 5)) {
		maker->request.mnemonic = ZYDIS_MNEMONIC_NOP;
		add_memory(maker, 4);
	}
}

static void make_branch(Maker *maker)
{
	maker->request.mnemonic = PICK(maker, JUMPS_IF);
	if (one_in(maker, 4))
		maker->request.mnemonic = one_in(maker, 2) ? ZYDIS_MNEMONIC_JMP
		                                           : ZYDIS_MNEMONIC_CALL;
	if (maker->request.mnemonic == ZYDIS_MNEMONIC_CALL && one_in(maker, 2)) {
		maker->request.mnemonic = ZYDIS_MNEMONIC_RET;
		maker->note.kind = SNIPPET_INDIRECT;
		if (one_in(maker, 4))
			add_immediate(maker, 8 * g_rand_int_range(maker->rand, 0, 4));
		return;
	}
	if ((maker->request.mnemonic == ZYDIS_MNEMONIC_JMP ||
		    maker->request.mnemonic == ZYDIS_MNEMONIC_CALL) &&
		one_in(maker, 3)) {
		maker->note.kind = SNIPPET_INDIRECT;
		add_register(maker, written_register(maker), 64);
		return;
	}
	maker->request.branch_type = ZYDIS_BRANCH_TYPE_NEAR;
	maker->request.branch_width = ZYDIS_BRANCH_WIDTH_32;
	add_immediate(maker, 0);
	maker->target = g_rand_int_range(maker->rand, 0, SNIPPET_MAX_INSTRUCTIONS);
}

static void make_load(Maker *maker)
{
	unsigned width = any_width(maker), number = written_register(maker);

	maker->request.mnemonic = PICK(maker, LOADS);
	maker->note.access = LODE_ACCESS_LOAD;
	maker->note.written = (uint8_t)number;
	maker->note.bytes = (uint8_t)(width / 8);
	add_register(maker, number, width);
	add_memory(maker, width / 8);
	if (one_in(maker, 4)) /* loses its own base */
		maker->note.written = maker->note.base == RSP ? 0 : maker->note.base;
	maker->request.operands[0].reg.value = register_named(maker, maker->note.written, width);
}

static void make_store(Maker *maker)
{
	unsigned width = any_width(maker);

	maker->request.mnemonic = PICK(maker, STORES);
	maker->note.access = maker->request.mnemonic == ZYDIS_MNEMONIC_MOV
	                             ? LODE_ACCESS_STORE
	                             : LODE_ACCESS_LOAD | LODE_ACCESS_STORE;
	maker->note.bytes = (uint8_t)(width / 8);
	add_memory(maker, width / 8);
	add_register(maker, any_register(maker), width);
}

static void make_stack_access(Maker *maker)
{
	maker->note.is_pop = one_in(maker, 2);
	maker->request.mnemonic = maker->note.is_pop ? ZYDIS_MNEMONIC_POP : ZYDIS_MNEMONIC_PUSH;
	maker->note.access = maker->note.is_pop ? LODE_ACCESS_STORE : LODE_ACCESS_LOAD;
	maker->note.stack_change = maker->note.is_pop ? 8 : -8;
	maker->note.bytes = 8;
	add_memory(maker, 8);
}

static void make_bit_test(Maker *maker)
{
	unsigned width = one_in(maker, 2) ? 64 : one_in(maker, 2) ? 32 : 16;

	maker->request.mnemonic = ZYDIS_MNEMONIC_BT;
	maker->note.access = LODE_ACCESS_LOAD;
	maker->note.bytes = (uint8_t)(width / 8);
	add_memory(maker, width / 8);
	maker->note.bit_register = (uint8_t)any_register(maker);
	add_register(maker, maker->note.bit_register, width);
}

static void make_access(Maker *maker)
{
	maker->note.kind = SNIPPET_ACCESS;
	switch (g_rand_int_range(maker->rand, 0, 10)) {
	case 0:
		make_stack_access(maker);
		break;
	case 1:
		make_bit_test(maker);
		break;
	case 2:
	case 3:
	case 4:
		make_store(maker);
		break;
	default:
		make_load(maker);
		break;
	}
}

static void make_string(Maker *maker)
{
	ZydisMnemonic mnemonic = PICK(maker, STRINGS);
	SnippetInstruction *note = &maker->note;

	note->kind = SNIPPET_STRING;
	note->is_repeated = one_in(maker, 2);
	note->uses_rsi = mnemonic != ZYDIS_MNEMONIC_STOSB && mnemonic != ZYDIS_MNEMONIC_STOSD;
	note->uses_rdi = mnemonic != ZYDIS_MNEMONIC_LODSB && mnemonic != ZYDIS_MNEMONIC_LODSQ;
	note->written = note->uses_rdi ? SNIPPET_NO_REGISTER : 0;
	note->bytes = mnemonic == ZYDIS_MNEMONIC_STOSD                                       ? 4
	              : mnemonic == ZYDIS_MNEMONIC_MOVSQ || mnemonic == ZYDIS_MNEMONIC_LODSQ ? 8
	                                                                                     : 1;
	maker->request.mnemonic = mnemonic;
	if (note->is_repeated)
		maker->request.prefixes = ZYDIS_ATTRIB_HAS_REP;
}

static void choose(Maker *maker)
{
	static void (*const MAKERS[])(Maker *) = {make_two, make_two, make_two, make_two, make_one,
		make_three, make_shift, make_extension, make_address, make_address, make_condition,
		make_stack, make_stack, make_alone, make_branch, make_branch, make_access,
		make_access, make_access, make_access};

	memset(&maker->request, 0, sizeof maker->request);
	memset(&maker->note, 0, sizeof maker->note);
	maker->request.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
	maker->note.written = SNIPPET_NO_REGISTER;
	maker->note.bit_register = SNIPPET_NO_REGISTER;
	maker->target = -1;
	if (one_in(maker, 60))
		make_string(maker);
	else
		PICK(maker, MAKERS)(maker);
}

static void append(Maker *maker)
{
	Snippet *snippet = maker->snippet;
	ZyanUSize length;

	do {
		choose(maker);
		length = ZYDIS_MAX_INSTRUCTION_LENGTH;
	} while (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(
		&maker->request, snippet->code + snippet->size, &length)));
	maker->note.address = (uint16_t)snippet->size;
	maker->note.length = (uint8_t)length;
	snippet->instructions[snippet->n++] = maker->note;
	snippet->size += (unsigned)length;
}

void snippet_make(Snippet *self, GRand *rand)
{
	Maker maker = {.rand = rand, .snippet = self};
	int targets[SNIPPET_MAX_INSTRUCTIONS];

	memset(self, 0, sizeof *self);
	while (self->n < SNIPPET_MAX_INSTRUCTIONS) {
		append(&maker);
		targets[self->n - 1] = maker.target;
	}
	for (unsigned i = 0; i < self->n; i++) {
		unsigned end = self->instructions[i].address + self->instructions[i].length;
		int32_t distance;

		if (targets[i] < 0)
			continue;
		distance = self->instructions[targets[i]].address - (int32_t)end;
		memcpy(self->code + end - JUMP_BYTES, &distance, JUMP_BYTES);
	}
}

const SnippetInstruction *snippet_at(const Snippet *self, uint64_t offset)
{
	for (unsigned i = 0; i < self->n; i++) {
		if (self->instructions[i].address == offset)
			return &self->instructions[i];
	}
	return NULL;
}
