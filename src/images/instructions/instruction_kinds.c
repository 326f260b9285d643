/* SPDX-License-Identifier: MIT */
/*
 * The kinds of an instruction come from Zydis' category where that is enough, and from the
 * mnemonic's text for vector instructions: their names are systematic (v? stem type), so a few
 * stems stand for some thousand mnemonics.
 */
#include "images/instructions/instruction_kinds.h"

#include <string.h>

#define BIT(kind) (1U << (kind))

/* Stems of floating-point arithmetic before the suffix ss, sd, ps, pd, sh or ph. */
static const char *const FLOAT_STEMS[] = {"add", "comi", "cmp", "cvt", "div", "dp", "exp2",
	"fcmadd", "fcmul", "fixupimm", "fmadd", "fmsub", "fmul", "fnmadd", "fnmsub", "fpclass",
	"frcz", "getexp", "getmant", "hadd", "hsub", "max", "min", "mul", "range", "rcp", "reduce",
	"rndscale", "round", "rsqrt", "scalef", "sqrt", "sub", "ucomi"};

static const char *const MULTIPLY_STEMS[] = {"fcmadd", "fmadd", "fmsub", "fnmadd", "fnmsub",
	"pmadd", "pdpbusd", "pdpwssd", "dpps", "dppd"};

static bool starts_with_any(const char *name, const char *const *stems, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strncmp(name, stems[i], strlen(stems[i])) == 0)
			return true;
	}
	return false;
}

static bool has_float_suffix(const char *name)
{
	size_t n = strlen(name);

	/* vfmadd213sd, vcvtsd2si, cvtsi2ss: a digit form or a conversion's source may stand there
	 */
	return n > 2 && strchr("sp", name[n - 2]) != NULL && strchr("sdh", name[n - 1]) != NULL;
}

static bool is_vector_extension(ZydisISAExt extension)
{
	switch (extension) {
	case ZYDIS_ISA_EXT_BASE:
	case ZYDIS_ISA_EXT_X87:
	case ZYDIS_ISA_EXT_LONGMODE:
	case ZYDIS_ISA_EXT_CET:
	case ZYDIS_ISA_EXT_BMI1:
	case ZYDIS_ISA_EXT_BMI2:
	case ZYDIS_ISA_EXT_LZCNT:
	case ZYDIS_ISA_EXT_ADOX_ADCX:
	case ZYDIS_ISA_EXT_PAUSE:
		return false;
	default:
		return true;
	}
}

static uint32_t vector_kinds(const ZydisDecodedInstruction *instruction)
{
	const char *name = ZydisMnemonicGetString(instruction->mnemonic);
	uint32_t kinds = 0;

	if (name == NULL)
		return 0;
	if (name[0] == 'v')
		name++;
	if (strncmp(name, "cvt", 3) == 0)
		return BIT(LODE_KIND_CONVERT) | BIT(LODE_KIND_FP);
	if (has_float_suffix(name) && starts_with_any(name, FLOAT_STEMS, G_N_ELEMENTS(FLOAT_STEMS)))
		kinds |= BIT(LODE_KIND_FP);
	if (strstr(name, "mul") != NULL ||
		starts_with_any(name, MULTIPLY_STEMS, G_N_ELEMENTS(MULTIPLY_STEMS)))
		kinds |= BIT(LODE_KIND_MUL);
	/* Square roots take the divider; rsqrt and rcp are looked up in a table. */
	if (strncmp(name, "div", 3) == 0 || strncmp(name, "sqrt", 4) == 0)
		kinds |= BIT(LODE_KIND_DIV);
	return kinds;
}

static uint32_t mnemonic_kinds(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_MULX:
	case ZYDIS_MNEMONIC_FMUL:
	case ZYDIS_MNEMONIC_FMULP:
	case ZYDIS_MNEMONIC_FIMUL:
		return BIT(LODE_KIND_MUL);
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_FDIV:
	case ZYDIS_MNEMONIC_FDIVP:
	case ZYDIS_MNEMONIC_FDIVR:
	case ZYDIS_MNEMONIC_FDIVRP:
	case ZYDIS_MNEMONIC_FIDIV:
	case ZYDIS_MNEMONIC_FIDIVR:
	case ZYDIS_MNEMONIC_FSQRT:
		return BIT(LODE_KIND_DIV);
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_SFENCE:
		return BIT(LODE_KIND_FENCE);
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
		return BIT(LODE_KIND_SYSCALL);
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_ENDBR32:
	case ZYDIS_MNEMONIC_ENDBR64:
		return BIT(LODE_KIND_NOP);
	default:
		return 0;
	}
}

static uint32_t branch_kinds(LodeBranch branch)
{
	switch (branch) {
	case LODE_BRANCH_CONDITIONAL:
		return BIT(LODE_KIND_BRANCH);
	case LODE_BRANCH_JUMP:
		return BIT(LODE_KIND_JUMP);
	case LODE_BRANCH_INDIRECT_JUMP:
		return BIT(LODE_KIND_JUMP) | BIT(LODE_KIND_INDIRECT);
	case LODE_BRANCH_CALL:
		return BIT(LODE_KIND_CALL);
	case LODE_BRANCH_INDIRECT_CALL:
		return BIT(LODE_KIND_CALL) | BIT(LODE_KIND_INDIRECT);
	case LODE_BRANCH_RETURN:
		return BIT(LODE_KIND_RET);
	case LODE_BRANCH_NONE:
	case LODE_BRANCH_STOP:
		break;
	}
	return 0;
}

bool lode_instruction_is_string(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	       instruction->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

bool lode_instruction_touches_no_memory(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
		return true;
	default:
		break;
	}
	return instruction->meta.isa_ext == ZYDIS_ISA_EXT_AMD3DNOW_PREFETCH ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_LEA;
}

uint32_t lode_instruction_kinds(const ZydisDecodedInstruction *instruction, LodeBranch branch)
{
	uint32_t kinds = branch_kinds(branch) | mnemonic_kinds(instruction->mnemonic);

	if (instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		kinds |= BIT(LODE_KIND_ATOMIC);
	if (lode_instruction_is_string(instruction))
		kinds |= BIT(LODE_KIND_STRING);
	if (instruction->meta.isa_ext == ZYDIS_ISA_EXT_X87)
		kinds |= BIT(LODE_KIND_FP);
	else if (is_vector_extension(instruction->meta.isa_ext))
		kinds |= vector_kinds(instruction);
	return kinds;
}

bool lode_instruction_has_implicit_memory(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_XLAT:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
		return true;
	default:
		return lode_instruction_is_string(instruction);
	}
}

static bool has_explicit_memory(const ZydisDecodedInstruction *instruction)
{
	if (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		return instruction->raw.modrm.mod != 3;
	/* mov between the accumulator and an absolute address */
	return instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && instruction->opcode >= 0xa0 &&
	       instruction->opcode <= 0xa3;
}

LodeOperandScope lode_instruction_operand_scope(const ZydisDecodedInstruction *instruction)
{
	if (lode_instruction_has_implicit_memory(instruction))
		return LODE_OPERANDS_ALL;
	if (lode_instruction_touches_no_memory(instruction))
		return LODE_OPERANDS_NONE;
	if (has_explicit_memory(instruction) || is_vector_extension(instruction->meta.isa_ext))
		return LODE_OPERANDS_VISIBLE;
	return LODE_OPERANDS_NONE;
}

static LodeMemoryKind memory_kind(const ZydisDecodedOperandMem *memory, bool rbp_is_frame)
{
	if (memory->segment == ZYDIS_REGISTER_FS || memory->segment == ZYDIS_REGISTER_GS)
		return LODE_MEMORY_TLS;
	if (memory->base == ZYDIS_REGISTER_RIP || memory->base == ZYDIS_REGISTER_EIP)
		return LODE_MEMORY_GLOBAL;
	if (memory->index != ZYDIS_REGISTER_NONE)
		return LODE_MEMORY_INDEXED;
	switch (memory->base) {
	case ZYDIS_REGISTER_NONE:
		return LODE_MEMORY_GLOBAL;
	case ZYDIS_REGISTER_RSP:
	case ZYDIS_REGISTER_ESP:
		return LODE_MEMORY_STACK;
	case ZYDIS_REGISTER_RBP:
		return rbp_is_frame ? LODE_MEMORY_STACK : LODE_MEMORY_POINTER;
	default:
		return LODE_MEMORY_POINTER;
	}
}

static bool is_vector_register(ZydisRegister name)
{
	switch (ZydisRegisterGetClass(name)) {
	case ZYDIS_REGCLASS_MMX:
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return true;
	default:
		return false;
	}
}

static void add_memory(
	const ZydisDecodedOperand *operand, bool rbp_is_frame, LodeDecodedInstruction *decoded)
{
	if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM && operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
		return;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		decoded->kinds |= BIT(LODE_KIND_LOAD);
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		decoded->kinds |= BIT(LODE_KIND_STORE);
	if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
		decoded->memory = (uint8_t)(decoded->memory |
					    BIT(memory_kind(&operand->mem, rbp_is_frame)));
}

void lode_instruction_add_operands(const ZydisDecodedInstruction *instruction,
	const ZydisDecodedOperand *operands, uint8_t n, bool rbp_is_frame,
	LodeDecodedInstruction *decoded)
{
	for (uint8_t i = 0; i < n; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(&operands[i], rbp_is_frame, decoded);
		else if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 is_vector_register(operands[i].reg.value))
			decoded->kinds |= BIT(LODE_KIND_SIMD);
	}
	if (instruction->mnemonic == ZYDIS_MNEMONIC_XCHG && decoded->memory != 0)
		decoded->kinds |= BIT(LODE_KIND_ATOMIC);
}
