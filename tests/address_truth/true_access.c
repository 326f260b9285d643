/* SPDX-License-Identifier: MIT */
#include "true_access.h"

#include "model/address_rule.h"

#include <Zydis/Zydis.h>
#include <string.h>

typedef struct {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t values[17];
	const struct user_regs_struct *registers;
} Decoded;

void true_registers(const struct user_regs_struct *registers, uint64_t out_values[17])
{
	const uint64_t values[17] = {
		registers->rax,
		registers->rcx,
		registers->rdx,
		registers->rbx,
		registers->rsp,
		registers->rbp,
		registers->rsi,
		registers->rdi,
		registers->r8,
		registers->r9,
		registers->r10,
		registers->r11,
		registers->r12,
		registers->r13,
		registers->r14,
		registers->r15,
		registers->eflags,
	};

	memcpy(out_values, values, sizeof(values));
}

/* Not of a vector register, nor of ah … bh. */
static bool is_general(ZydisRegister name)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(name);

	return (class == ZYDIS_REGCLASS_GPR8 &&
		       !(name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH)) ||
	       class == ZYDIS_REGCLASS_GPR16 || class == ZYDIS_REGCLASS_GPR32 ||
	       class == ZYDIS_REGCLASS_GPR64;
}

static unsigned index_of(ZydisRegister name)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

	return (unsigned)(whole - ZYDIS_REGISTER_RAX);
}

static uint64_t truncated(uint64_t value, unsigned bytes)
{
	return bytes >= 8 ? value : value & (((uint64_t)1 << (8 * bytes)) - 1);
}

static uint64_t register_value(const Decoded *self, ZydisRegister name)
{
	if (name == ZYDIS_REGISTER_NONE || !is_general(name))
		return 0;
	return truncated(self->values[index_of(name)],
		ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name) / 8);
}

static uint64_t segment_base(const Decoded *self, ZydisRegister segment)
{
	if (segment == ZYDIS_REGISTER_FS)
		return self->registers->fs_base;
	return segment == ZYDIS_REGISTER_GS ? self->registers->gs_base : 0;
}

/* bt m, r and its kin: the register counts bits from the operand's address, either way. */
static uint64_t bit_string_offset(const Decoded *self, const ZydisDecodedOperand *operand)
{
	const ZydisDecodedOperand *bit = &self->operands[1];
	ZydisMnemonic mnemonic = self->instruction.mnemonic;
	int64_t number;

	if ((mnemonic != ZYDIS_MNEMONIC_BT && mnemonic != ZYDIS_MNEMONIC_BTS &&
		    mnemonic != ZYDIS_MNEMONIC_BTR && mnemonic != ZYDIS_MNEMONIC_BTC) ||
		bit->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	number = (int64_t)(register_value(self, bit->reg.value) << (64 - bit->size)) >>
	         (64 - bit->size);
	return (uint64_t)((number >> (operand->size == 64          ? 6
					     : operand->size == 32 ? 5
								   : 4)) *
			  (operand->size / 8));
}

static uint64_t address_of(const Decoded *self, const ZydisDecodedOperand *operand)
{
	const ZydisDecodedOperandMem *memory = &operand->mem;
	uint64_t address = (uint64_t)memory->disp.value;

	if (memory->base == ZYDIS_REGISTER_RIP || memory->base == ZYDIS_REGISTER_EIP)
		address += self->registers->rip + self->instruction.length;
	else
		address += register_value(self, memory->base);
	address += register_value(self, memory->index) * memory->scale;
	/* pop [rsp + n] counts from where the stack pointer is afterwards. */
	if (self->instruction.mnemonic == ZYDIS_MNEMONIC_POP && memory->base == ZYDIS_REGISTER_RSP)
		address += operand->size / 8;
	address += bit_string_offset(self, operand);
	address = truncated(address, self->instruction.address_width / 8);
	return address + segment_base(self, memory->segment);
}

static bool is_hint(const Decoded *self)
{
	switch (self->instruction.meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_CLDEMOTE:
		return true;
	default:
		return self->instruction.mnemonic == ZYDIS_MNEMONIC_NOP;
	}
}

static bool is_string(const Decoded *self)
{
	return self->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

/* A repeated one that has nothing left to do. */
static bool is_idle_string(const Decoded *self)
{
	const ZydisInstructionAttributes repeated = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
	                                            ZYDIS_ATTRIB_HAS_REPNE;

	return is_string(self) && (self->instruction.attributes & repeated) != 0 &&
	       truncated(self->values[1], self->instruction.address_width / 8) == 0;
}

static uint8_t access_of(const ZydisDecodedOperand *operand)
{
	return (uint8_t)((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ ? LODE_ACCESS_LOAD
									    : 0) |
			 (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? LODE_ACCESS_STORE
									     : 0));
}

static void add_operand(TrueAccess *out, const Decoded *self, const ZydisDecodedOperand *operand)
{
	bool is_meant = operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT || is_string(self);

	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || !is_meant || access_of(operand) == 0)
		return;
	if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		out->has_vector_index = true;
	if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM || out->n_operands == TRUE_MAX_OPERANDS)
		return;
	out->operands[out->n_operands++] = (TrueOperand){
		.address = address_of(self, operand),
		.size = operand->size / 8u,
		.access = access_of(operand),
	};
}

static void set_store_proof(TrueAccess *out, const Decoded *self)
{
	const ZydisDecodedOperand *source = &self->operands[1];

	out->proof = TRUE_PROOF_CHANGED;
	if (self->instruction.mnemonic != ZYDIS_MNEMONIC_MOV)
		return;
	if (source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		out->value = source->imm.value.u;
	else if (source->type == ZYDIS_OPERAND_TYPE_REGISTER && is_general(source->reg.value))
		out->value = register_value(self, source->reg.value);
	else
		return;
	out->proof = TRUE_PROOF_STORED;
}

static void set_load_proof(TrueAccess *out, const Decoded *self)
{
	const ZydisDecodedOperand *target = &self->operands[0];
	ZydisMnemonic mnemonic = self->instruction.mnemonic;
	bool is_signed = mnemonic == ZYDIS_MNEMONIC_MOVSX || mnemonic == ZYDIS_MNEMONIC_MOVSXD;

	if ((mnemonic != ZYDIS_MNEMONIC_MOV && mnemonic != ZYDIS_MNEMONIC_MOVZX && !is_signed) ||
		target->type != ZYDIS_OPERAND_TYPE_REGISTER || !is_general(target->reg.value))
		return;
	out->proof = TRUE_PROOF_LOADED;
	out->is_signed = is_signed;
	out->register_index = (uint8_t)index_of(target->reg.value);
	out->register_size = (uint8_t)(target->size / 8);
}

static void set_proof(TrueAccess *out, const Decoded *self)
{
	if (out->n_operands == 0 || out->operands[0].size > TRUE_MAX_PROOF)
		return;
	if (out->operands[0].access & LODE_ACCESS_STORE)
		set_store_proof(out, self);
	else
		set_load_proof(out, self);
}

/* cmp and test of memory and a register: one with a conditional jump after it. */
static bool is_pair_of_memory(const Decoded *self)
{
	const ZydisDecodedOperand *a = &self->operands[0], *b = &self->operands[1];

	if (self->instruction.mnemonic != ZYDIS_MNEMONIC_CMP &&
		self->instruction.mnemonic != ZYDIS_MNEMONIC_TEST)
		return false;
	return (a->type == ZYDIS_OPERAND_TYPE_MEMORY && b->type == ZYDIS_OPERAND_TYPE_REGISTER) ||
	       (b->type == ZYDIS_OPERAND_TYPE_MEMORY && a->type == ZYDIS_OPERAND_TYPE_REGISTER);
}

bool true_access_read(
	TrueAccess *out, const uint8_t *code, size_t size, const struct user_regs_struct *registers)
{
	Decoded decoded = {.registers = registers};
	ZydisDecoder decoder;

	*out = (TrueAccess){.pc = registers->rip};
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(
		    &decoder, code, size, &decoded.instruction, decoded.operands)))
		return false;
	true_registers(registers, decoded.values);
	out->is_system_call = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
	out->is_conditional_jump = decoded.instruction.meta.category == ZYDIS_CATEGORY_COND_BR;
	out->is_direct_jump = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_JMP &&
	                      decoded.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	out->fuses_with_jump = is_pair_of_memory(&decoded);
	if (is_hint(&decoded) || is_idle_string(&decoded))
		return true;
	for (unsigned i = 0; i < decoded.instruction.operand_count; i++)
		add_operand(out, &decoded, &decoded.operands[i]);
	set_proof(out, &decoded);
	return true;
}

static uint64_t number_at(const uint8_t *bytes, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, bytes, size < sizeof(value) ? size : sizeof(value));
	return value;
}

static bool has_loaded(const TrueAccess *self, const uint8_t *before, const uint64_t values[17])
{
	unsigned shift = 64 - 8 * self->operands[0].size;
	uint64_t expected = number_at(before, self->operands[0].size);

	if (self->is_signed)
		expected = (uint64_t)((int64_t)(expected << shift) >> shift);
	return truncated(expected, self->register_size) ==
	       truncated(values[self->register_index], self->register_size);
}

TrueVerdict true_access_verify(const TrueAccess *self, const uint8_t *before, const uint8_t *after,
	const struct user_regs_struct *registers_after)
{
	uint32_t size = self->operands[0].size;
	uint64_t values[17];
	bool is_right = false;

	if (self->proof == TRUE_PROOF_NONE)
		return TRUE_UNPROVEN;
	if (self->proof == TRUE_PROOF_CHANGED)
		return memcmp(before, after, size) != 0 ? TRUE_PROVEN : TRUE_UNPROVEN;
	true_registers(registers_after, values);
	if (self->proof == TRUE_PROOF_LOADED)
		is_right = has_loaded(self, before, values);
	else
		is_right = number_at(after, size) == truncated(self->value, size);
	return is_right ? TRUE_PROVEN : TRUE_REFUTED;
}
