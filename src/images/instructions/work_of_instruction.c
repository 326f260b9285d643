/* SPDX-License-Identifier: MIT */
/*
 * Classes of general instructions stand by mnemonic; those of vector instructions are told by their
 * names, which are systematic (v? stem type), as in images/instructions/instruction_kinds.c.
 */
#include "images/instructions/work_of_instruction.h"

#include "images/instructions/instruction_kinds.h"
#include "images/instructions/memory_operands.h"

#include <string.h>

static bool is_vector(ZydisRegister name)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(name);

	return class == ZYDIS_REGCLASS_MMX || class == ZYDIS_REGCLASS_XMM ||
	       class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM;
}

static const ZydisDecodedOperand *visible(const LodeFullInstruction *full, unsigned index)
{
	return index < full->instruction.operand_count_visible ? &full->operands[index] : NULL;
}

static bool is_general(const ZydisDecodedOperand *operand)
{
	return operand != NULL && operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       lode_general_register(operand->reg.value) >= 0;
}

static LodeInstructionClass class_of_lea(const LodeFullInstruction *full)
{
	const ZydisDecodedOperandMem *memory = &full->operands[1].mem;
	bool has_base = memory->base != ZYDIS_REGISTER_NONE;
	bool has_index = memory->index != ZYDIS_REGISTER_NONE;

	if (has_base && has_index && memory->disp.value != 0)
		return LODE_CLASS_LEA_THREE;
	return has_index && memory->scale > 1 ? LODE_CLASS_LEA_SCALED : LODE_CLASS_LEA;
}

static bool is_shift_by_register(const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *count = visible(full, 1);

	return count != NULL && count->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static LodeInstructionClass class_of_mov(const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *source = visible(full, 1);
	bool is_narrow = full->instruction.operand_width < 32;

	if (source == NULL || source->type == ZYDIS_OPERAND_TYPE_MEMORY ||
		full->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
		return is_narrow && full->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
		               ? LODE_CLASS_ALU
		               : LODE_CLASS_NONE;
	/* A constant has a unit, a part of a register is merged by one. */
	if (source->type != ZYDIS_OPERAND_TYPE_REGISTER || is_narrow || !is_general(source))
		return LODE_CLASS_ALU;
	return LODE_CLASS_MOVE;
}

static LodeInstructionClass class_of_cmov(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_CMOVL:
	case ZYDIS_MNEMONIC_CMOVNL:
	case ZYDIS_MNEMONIC_CMOVLE:
	case ZYDIS_MNEMONIC_CMOVNLE:
		return LODE_CLASS_CMOV_SIGNED;
	case ZYDIS_MNEMONIC_CMOVBE:
	case ZYDIS_MNEMONIC_CMOVNBE:
		return LODE_CLASS_CMOV_ABOVE;
	default:
		return LODE_CLASS_CMOV;
	}
}

/* LODE_CLASS_UNKNOWN: it is none of these. */
static LodeInstructionClass general_class(const LodeFullInstruction *full)
{
	const ZydisDecodedInstruction *instruction = &full->instruction;
	bool is_load = full->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;

	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return class_of_mov(full);
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return is_load ? LODE_CLASS_NONE : LODE_CLASS_ALU;
	case ZYDIS_MNEMONIC_MOVBE:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_ANDN:
	case ZYDIS_MNEMONIC_BLSI:
	case ZYDIS_MNEMONIC_BLSMSK:
	case ZYDIS_MNEMONIC_BLSR:
	case ZYDIS_MNEMONIC_BSWAP:
	case ZYDIS_MNEMONIC_CBW:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CWD:
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_CQO:
	case ZYDIS_MNEMONIC_CMC:
	case ZYDIS_MNEMONIC_CLC:
	case ZYDIS_MNEMONIC_STC:
		return LODE_CLASS_ALU;
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_ADCX:
	case ZYDIS_MNEMONIC_ADOX:
		return LODE_CLASS_ALU_CARRY;
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
		return is_shift_by_register(full) ? LODE_CLASS_SHIFT_COUNT : LODE_CLASS_SHIFT;
	case ZYDIS_MNEMONIC_SHLX:
	case ZYDIS_MNEMONIC_SHRX:
	case ZYDIS_MNEMONIC_SARX:
	case ZYDIS_MNEMONIC_RORX:
	case ZYDIS_MNEMONIC_BZHI:
		return LODE_CLASS_SHIFT;
	case ZYDIS_MNEMONIC_BT:
		return visible(full, 0)->type == ZYDIS_OPERAND_TYPE_MEMORY ? LODE_CLASS_UNKNOWN
		                                                           : LODE_CLASS_SHIFT;
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return LODE_CLASS_SHIFT_DOUBLE;
	case ZYDIS_MNEMONIC_LEA:
		return class_of_lea(full);
	case ZYDIS_MNEMONIC_POPCNT:
	case ZYDIS_MNEMONIC_LZCNT:
		return LODE_CLASS_BIT_COUNT;
	case ZYDIS_MNEMONIC_TZCNT:
		return LODE_CLASS_TRAILING_ZEROS;
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
		return LODE_CLASS_BIT_SCAN;
	case ZYDIS_MNEMONIC_IMUL:
		return instruction->operand_count_visible > 1 ? LODE_CLASS_MUL
		                                              : LODE_CLASS_MUL_WIDE;
	case ZYDIS_MNEMONIC_CRC32:
		return LODE_CLASS_MUL;
	case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_MULX:
		return LODE_CLASS_MUL_WIDE;
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		return instruction->operand_width > 32 ? LODE_CLASS_DIV_64 : LODE_CLASS_DIV_32;
	case ZYDIS_MNEMONIC_PEXT:
	case ZYDIS_MNEMONIC_PDEP:
		return LODE_CLASS_BIT_FIELD;
	case ZYDIS_MNEMONIC_XCHG:
		return is_general(visible(full, 0)) && is_general(visible(full, 1))
		               ? LODE_CLASS_EXCHANGE
		               : LODE_CLASS_ATOMIC;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
		return LODE_CLASS_NONE;
	case ZYDIS_MNEMONIC_LEAVE:
		return LODE_CLASS_ALU;
	default:
		return LODE_CLASS_UNKNOWN;
	}
}

static LodeInstructionClass class_of_category(const LodeFullInstruction *full)
{
	switch (full->instruction.meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return LODE_CLASS_NOP;
	case ZYDIS_CATEGORY_CMOV:
		return class_of_cmov(full->instruction.mnemonic);
	case ZYDIS_CATEGORY_SETCC:
		return LODE_CLASS_SETCC;
	case ZYDIS_CATEGORY_COND_BR:
		return LODE_CLASS_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return LODE_CLASS_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return LODE_CLASS_CALL;
	case ZYDIS_CATEGORY_RET:
		return LODE_CLASS_RETURN;
	default:
		break;
	}
	if (full->instruction.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		return LODE_CLASS_NOP;
	return LODE_CLASS_UNKNOWN;
}

/* A name begins with `stem`; a longer one goes before one that it begins with. */
typedef struct {
	const char *stem;
	LodeInstructionClass class;
} Stem;

/* Followed by ss, sd, ps or pd. */
static const Stem float_stems[] = {
	{"add", LODE_CLASS_FP_ADD},
	{"sub", LODE_CLASS_FP_ADD},
	{"mul", LODE_CLASS_FP_MUL},
	{"fmadd", LODE_CLASS_FP_FMA},
	{"fmsub", LODE_CLASS_FP_FMA},
	{"fnmadd", LODE_CLASS_FP_FMA},
	{"fnmsub", LODE_CLASS_FP_FMA},
	{"max", LODE_CLASS_FP_COMPARE},
	{"min", LODE_CLASS_FP_COMPARE},
	{"cmp", LODE_CLASS_FP_COMPARE},
	{"comi", LODE_CLASS_FP_FLAGS},
	{"ucomi", LODE_CLASS_FP_FLAGS},
	{"div", LODE_CLASS_FP_DIV_SINGLE},
	{"sqrt", LODE_CLASS_FP_SQRT_SINGLE},
	{"round", LODE_CLASS_FP_ROUND},
	{"rndscale", LODE_CLASS_FP_ROUND},
	{"rcp", LODE_CLASS_FP_RECIPROCAL},
	{"rsqrt", LODE_CLASS_FP_RECIPROCAL},
	{"hadd", LODE_CLASS_FP_HORIZONTAL},
	{"hsub", LODE_CLASS_FP_HORIZONTAL},
	{"and", LODE_CLASS_VECTOR_LOGIC},
	{"or", LODE_CLASS_VECTOR_LOGIC},
	{"xor", LODE_CLASS_VECTOR_LOGIC},
	{"shuf", LODE_CLASS_SHUFFLE},
	{"unpck", LODE_CLASS_SHUFFLE},
	{"blendv", LODE_CLASS_BLEND_VARIABLE},
	{"blend", LODE_CLASS_BLEND},
	{"movh", LODE_CLASS_SHUFFLE}, /* movhlps, movhps */
	{"movlh", LODE_CLASS_SHUFFLE},
	{"movl", LODE_CLASS_SHUFFLE},
};

static const Stem integer_stems[] = {
	{"pandn", LODE_CLASS_VECTOR_LOGIC},
	{"pand", LODE_CLASS_VECTOR_LOGIC},
	{"por", LODE_CLASS_VECTOR_LOGIC},
	{"pxor", LODE_CLASS_VECTOR_LOGIC},
	{"pternlog", LODE_CLASS_VECTOR_LOGIC},
	{"padd", LODE_CLASS_VECTOR_ADD},
	{"psub", LODE_CLASS_VECTOR_ADD},
	{"pcmpistr", LODE_CLASS_UNKNOWN},
	{"pcmpestr", LODE_CLASS_UNKNOWN},
	{"pcmp", LODE_CLASS_VECTOR_COMPARE},
	{"pmax", LODE_CLASS_VECTOR_COMPARE},
	{"pmin", LODE_CLASS_VECTOR_COMPARE},
	{"pavg", LODE_CLASS_VECTOR_COMPARE},
	{"pabs", LODE_CLASS_VECTOR_COMPARE},
	{"psign", LODE_CLASS_VECTOR_COMPARE},
	{"pmulld", LODE_CLASS_VECTOR_MUL_32},
	{"pmul", LODE_CLASS_VECTOR_MUL},
	{"pmadd", LODE_CLASS_VECTOR_MUL},
	{"psadbw", LODE_CLASS_VECTOR_SAD},
	{"pslldq", LODE_CLASS_SHUFFLE},
	{"psrldq", LODE_CLASS_SHUFFLE},
	{"psll", LODE_CLASS_VECTOR_SHIFT},
	{"psrl", LODE_CLASS_VECTOR_SHIFT},
	{"psra", LODE_CLASS_VECTOR_SHIFT},
	{"pshuf", LODE_CLASS_SHUFFLE},
	{"punpck", LODE_CLASS_SHUFFLE},
	{"pack", LODE_CLASS_SHUFFLE},
	{"palignr", LODE_CLASS_SHUFFLE},
	{"pmovzx", LODE_CLASS_SHUFFLE},
	{"pmovsx", LODE_CLASS_SHUFFLE},
	{"pmovmskb", LODE_CLASS_EXTRACT},
	{"movmskp", LODE_CLASS_EXTRACT},
	{"pblendvb", LODE_CLASS_BLEND_VARIABLE},
	{"pblend", LODE_CLASS_BLEND},
	{"permil", LODE_CLASS_SHUFFLE},
	{"perm", LODE_CLASS_SHUFFLE_LANES},
	{"insertf", LODE_CLASS_SHUFFLE_LANES},
	{"inserti", LODE_CLASS_SHUFFLE_LANES},
	{"extractf", LODE_CLASS_SHUFFLE_LANES},
	{"extracti", LODE_CLASS_SHUFFLE_LANES},
	{"broadcast", LODE_CLASS_SHUFFLE_LANES},
	{"pbroadcast", LODE_CLASS_SHUFFLE_LANES},
	{"movddup", LODE_CLASS_SHUFFLE},
	{"movshdup", LODE_CLASS_SHUFFLE},
	{"movsldup", LODE_CLASS_SHUFFLE},
	{"insertps", LODE_CLASS_SHUFFLE},
	{"pinsr", LODE_CLASS_INSERT_ELEMENT},
	{"pextr", LODE_CLASS_EXTRACT_ELEMENT},
	{"extractps", LODE_CLASS_EXTRACT_ELEMENT},
	{"aes", LODE_CLASS_AES},
	{"zeroupper", LODE_CLASS_NOP},
};

static LodeInstructionClass find_stem(const Stem *stems, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(name, stems[i].stem, strlen(stems[i].stem)) == 0)
			return stems[i].class;
	return LODE_CLASS_UNKNOWN;
}

/* movaps, vmovdqu64, movd, movss … */
static LodeInstructionClass class_of_vector_move(const LodeFullInstruction *full, const char *name)
{
	const ZydisDecodedOperand *target = visible(full, 0), *source = visible(full, 1);
	bool is_scalar = strcmp(name, "movss") == 0 || strcmp(name, "movsd") == 0;

	if (target->type == ZYDIS_OPERAND_TYPE_MEMORY || source->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return LODE_CLASS_NONE;
	if (is_general(source))
		return LODE_CLASS_INSERT;
	if (is_general(target))
		return LODE_CLASS_EXTRACT;
	return is_scalar ? LODE_CLASS_BLEND : LODE_CLASS_VECTOR_MOVE;
}

static LodeInstructionClass class_of_conversion(const LodeFullInstruction *full, const char *name)
{
	bool to_single = strstr(name, "2ss") != NULL || strstr(name, "2ps") != NULL;
	bool to_double = strstr(name, "2sd") != NULL || strstr(name, "2pd") != NULL;
	bool is_of_integer = strncmp(name, "cvtsi", 5) == 0 || strncmp(name, "cvtusi", 6) == 0;

	if (is_general(visible(full, 0)))
		return LODE_CLASS_CONVERT_TO_INTEGER;
	if (is_of_integer)
		return LODE_CLASS_CONVERT_FROM_INTEGER;
	if (strncmp(name, "cvtdq2pd", 8) == 0 || strstr(name, "pd2dq") != NULL)
		return LODE_CLASS_CONVERT_WIDTH;
	return (to_single && strstr(name, "d2") != NULL && strstr(name, "dq2") == NULL) ||
	                       (to_double && strstr(name, "s2") != NULL)
	               ? LODE_CLASS_CONVERT_WIDTH
	               : LODE_CLASS_CONVERT;
}

static LodeInstructionClass vector_class(const LodeFullInstruction *full)
{
	const char *name = ZydisMnemonicGetString(full->instruction.mnemonic);
	size_t n = name != NULL ? strlen(name) : 0;

	if (n < 4 || full->instruction.operand_count_visible == 0)
		return n > 0 && strcmp(name, "vzeroupper") == 0 ? LODE_CLASS_NOP
		                                                : LODE_CLASS_UNKNOWN;
	if (name[0] == 'v') {
		name++;
		n--;
	}
	bool is_float = strchr("sp", name[n - 2]) != NULL && strchr("sd", name[n - 1]) != NULL;
	bool is_move = strncmp(name, "mova", 4) == 0 || strncmp(name, "movu", 4) == 0 ||
	               strncmp(name, "movdq", 5) == 0 || strcmp(name, "movss") == 0 ||
	               strcmp(name, "movsd") == 0 || strcmp(name, "movd") == 0 ||
	               strcmp(name, "movq") == 0 || strncmp(name, "movnt", 5) == 0 ||
	               strncmp(name, "lddqu", 5) == 0;
	if (strncmp(name, "pclmul", 6) == 0 || strstr(name, "gather") != NULL ||
		strstr(name, "scatter") != NULL || strstr(name, "compress") != NULL ||
		strstr(name, "expand") != NULL)
		return LODE_CLASS_UNKNOWN;
	if (is_move && full->instruction.operand_count_visible == 2)
		return class_of_vector_move(full, name);
	if (is_move)
		return LODE_CLASS_BLEND;
	if (strncmp(name, "cvt", 3) == 0)
		return class_of_conversion(full, name);
	/* The load itself spreads an element in memory. */
	if (full->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		(strstr(name, "broadcast") != NULL || strcmp(name, "movddup") == 0))
		return LODE_CLASS_NONE;
	LodeInstructionClass class = find_stem(integer_stems, G_N_ELEMENTS(integer_stems), name);
	if (is_float && class == LODE_CLASS_UNKNOWN)
		class = find_stem(float_stems, G_N_ELEMENTS(float_stems), name);
	bool is_double = name[n - 1] == 'd';
	if (class == LODE_CLASS_FP_DIV_SINGLE && is_double)
		return LODE_CLASS_FP_DIV_DOUBLE;
	if (class == LODE_CLASS_FP_SQRT_SINGLE && is_double)
		return LODE_CLASS_FP_SQRT_DOUBLE;
	return class;
}

static LodeInstructionClass class_of(const LodeFullInstruction *full, bool is_constant)
{
	const ZydisDecodedInstruction *instruction = &full->instruction;

	if (is_constant)
		return LODE_CLASS_ZERO;
	if (lode_full_instruction_is_repeated(full) && lode_instruction_is_string(instruction))
		return LODE_CLASS_UNKNOWN;
	if ((instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0)
		return LODE_CLASS_ATOMIC;
	if (instruction->meta.isa_ext == ZYDIS_ISA_EXT_X87)
		return LODE_CLASS_X87;
	LodeInstructionClass class = class_of_category(full);
	if (class == LODE_CLASS_UNKNOWN)
		class = general_class(full);
	if (class == LODE_CLASS_UNKNOWN)
		class = vector_class(full);
	return class;
}

static LodeFusing fusing_of(const LodeFullInstruction *full)
{
	const ZydisDecodedOperand *first = visible(full, 0), *second = visible(full, 1);
	bool has_memory = (first != NULL && first->type == ZYDIS_OPERAND_TYPE_MEMORY) ||
	                  (second != NULL && second->type == ZYDIS_OPERAND_TYPE_MEMORY);
	bool has_constant = second != NULL && second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (has_memory && has_constant)
		return LODE_FUSES_NOT;
	switch (full->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
		return LODE_FUSES_COMPARE;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return has_memory ? LODE_FUSES_NOT : LODE_FUSES_ARITHMETIC;
	default:
		return LODE_FUSES_NOT;
	}
}

static void add_access(LodeInstructionWork *self, const ZydisDecodedOperand *operand, bool is_wide)
{
	bool is_indexed = operand->mem.index != ZYDIS_REGISTER_NONE;
	bool is_scaled = is_indexed && operand->mem.scale > 1;

	if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
		self->load = is_wide      ? LODE_CLASS_LOAD_VECTOR
		             : is_scaled  ? LODE_CLASS_LOAD_SCALED
		             : is_indexed ? LODE_CLASS_LOAD_INDEXED
		                          : LODE_CLASS_LOAD;
	if (lode_operand_is_written(operand))
		self->store = is_wide ? LODE_CLASS_STORE_VECTOR : LODE_CLASS_STORE;
}

LodeInstructionWork lode_work_of_instruction(const LodeFullInstruction *full, bool is_constant)
{
	LodeInstructionClass class = class_of(full, is_constant);
	LodeInstructionWork self = {
		.work = (uint8_t) class,
		.fuses = (uint8_t)fusing_of(full),
		.merge = (uint8_t)(class == LODE_CLASS_CONVERT_FROM_INTEGER
					   ? LODE_CLASS_CONVERT_MERGE
					   : class),
	};
	bool is_wide = false;

	for (unsigned i = 0; i < full->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &full->operands[i];
		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || !is_vector(operand->reg.value))
			continue;
		ZydisRegisterClass width = ZydisRegisterGetClass(operand->reg.value);
		is_wide = true;
		self.is_256 |= width == ZYDIS_REGCLASS_YMM;
		self.is_512 |= width == ZYDIS_REGCLASS_ZMM;
	}
	if (class == LODE_CLASS_NOP || class == LODE_CLASS_UNKNOWN || class == LODE_CLASS_ATOMIC ||
		full->instruction.mnemonic == ZYDIS_MNEMONIC_LEA)
		return self;
	for (unsigned i = 0; i < full->instruction.operand_count; i++)
		if (full->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_access(&self, &full->operands[i], is_wide);
	return self;
}
