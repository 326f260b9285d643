/* SPDX-License-Identifier: MIT */
/*
 * Decoding in two steps: Zydis' minimal decode gives length, mnemonic and control flow; operands
 * are decoded only where a memory operand or a vector register may be, which is what costs.
 */
#include "images/instructions/instruction_decoder.h"

#include "base/arrays/hash.h"
#include "images/instructions/code_key.h"
#include "images/instructions/instruction_effect.h"
#include "images/instructions/instruction_kinds.h"

#include <Zydis/Zydis.h>
#include <string.h>

G_STATIC_ASSERT(sizeof(ZydisDecoder) <= sizeof(((LodeInstructionDecoder *)NULL)->storage));
G_STATIC_ASSERT(LODE_N_KINDS <= 32);
G_STATIC_ASSERT(LODE_N_MEMORY_KINDS <= 8);
G_STATIC_ASSERT(ZYDIS_MNEMONIC_MAX_VALUE <= UINT16_MAX);

/* Compilers' push rbp; mov rbp, rsp comes among so many, perhaps after endbr64 and other pushes. */
enum { FRAME_SEARCH_INSTRUCTIONS = 8 };

typedef enum {
	PREFIX_NONE,
	PREFIX_LOCK,
	PREFIX_REP,
	PREFIX_REPE,
	PREFIX_REPNE,
} Prefix;

static const char *const PREFIX_NAMES[] = {
	[PREFIX_NONE] = "",
	[PREFIX_LOCK] = "lock_",
	[PREFIX_REP] = "rep_",
	[PREFIX_REPE] = "repe_",
	[PREFIX_REPNE] = "repne_",
};

static const char *const KIND_NAMES[LODE_N_KINDS] = {
	[LODE_KIND_LOAD] = "load",
	[LODE_KIND_STORE] = "store",
	[LODE_KIND_BRANCH] = "branch",
	[LODE_KIND_JUMP] = "jump",
	[LODE_KIND_CALL] = "call",
	[LODE_KIND_RET] = "ret",
	[LODE_KIND_INDIRECT] = "indirect",
	[LODE_KIND_FP] = "fp",
	[LODE_KIND_SIMD] = "simd",
	[LODE_KIND_MUL] = "mul",
	[LODE_KIND_DIV] = "div",
	[LODE_KIND_ATOMIC] = "atomic",
	[LODE_KIND_FENCE] = "fence",
	[LODE_KIND_STRING] = "string",
	[LODE_KIND_CONVERT] = "convert",
	[LODE_KIND_SYSCALL] = "syscall",
	[LODE_KIND_NOP] = "nop",
};

static const char *const MEMORY_NAMES[LODE_N_MEMORY_KINDS] = {
	[LODE_MEMORY_STACK] = "stack",
	[LODE_MEMORY_GLOBAL] = "global",
	[LODE_MEMORY_TLS] = "tls",
	[LODE_MEMORY_POINTER] = "pointer",
	[LODE_MEMORY_INDEXED] = "indexed",
};

static const ZydisDecoder *zydis_of(const LodeInstructionDecoder *self)
{
	return (const ZydisDecoder *)(const void *)self->storage;
}

void lode_instruction_decoder_init(LodeInstructionDecoder *self)
{
	memset(self, 0, sizeof *self);
	ZydisDecoderInit((ZydisDecoder *)(void *)self->storage, ZYDIS_MACHINE_MODE_LONG_64,
		ZYDIS_STACK_WIDTH_64);
}

static bool is_push_rbp(const uint8_t *code, size_t length)
{
	return length == 1 && code[0] == 0x55;
}

static bool is_frame_setup(const uint8_t *code, size_t length)
{
	static const uint8_t STORE_FORM[] = {0x48, 0x89, 0xe5}; /* mov rbp, rsp */
	static const uint8_t LOAD_FORM[] = {0x48, 0x8b, 0xec};

	return length == 3 && (memcmp(code, STORE_FORM, 3) == 0 || memcmp(code, LOAD_FORM, 3) == 0);
}

void lode_instruction_decoder_begin(
	LodeInstructionDecoder *self, const uint8_t *code, size_t size, uint64_t address)
{
	LodeDecodedInstruction decoded;
	bool has_push = false;

	self->rbp_is_frame = false;
	for (int i = 0; i < FRAME_SEARCH_INSTRUCTIONS && size > 0; i++) {
		if (!lode_instruction_decoder_decode(self, code, size, address, &decoded))
			return;
		if (has_push && is_frame_setup(code, decoded.length)) {
			self->rbp_is_frame = true;
			return;
		}
		has_push |= is_push_rbp(code, decoded.length);
		if (decoded.branch != LODE_BRANCH_NONE)
			return;
		code += decoded.length;
		size -= decoded.length;
		address += decoded.length;
	}
}

static Prefix prefix_of(const ZydisDecodedInstruction *instruction)
{
	if (instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return PREFIX_LOCK;
	if (instruction->attributes & ZYDIS_ATTRIB_HAS_REP)
		return PREFIX_REP;
	if (instruction->attributes & ZYDIS_ATTRIB_HAS_REPE)
		return PREFIX_REPE;
	if (instruction->attributes & ZYDIS_ATTRIB_HAS_REPNE)
		return PREFIX_REPNE;
	return PREFIX_NONE;
}

static LodeBranch branch_of(const ZydisDecodedInstruction *instruction)
{
	/* not ZYDIS_ATTRIB_IS_RELATIVE, which rip-relative memory sets as well */
	bool is_direct = instruction->raw.imm[0].is_relative;

	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return LODE_BRANCH_CONDITIONAL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (instruction->mnemonic != ZYDIS_MNEMONIC_JMP)
			return LODE_BRANCH_NONE; /* xabort */
		return is_direct ? LODE_BRANCH_JUMP : LODE_BRANCH_INDIRECT_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return is_direct ? LODE_BRANCH_CALL : LODE_BRANCH_INDIRECT_CALL;
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSRET:
		return LODE_BRANCH_RETURN;
	default:
		return lode_instruction_operation(instruction) == LODE_OPERATION_STOP
		               ? LODE_BRANCH_STOP
		               : LODE_BRANCH_NONE;
	}
}

static void set_target(const ZydisDecodedInstruction *instruction, uint64_t address,
	LodeDecodedInstruction *decoded)
{
	if (decoded->branch == LODE_BRANCH_NONE || !instruction->raw.imm[0].is_relative)
		return;
	decoded->has_target = true;
	decoded->target = address + instruction->length + (uint64_t)instruction->raw.imm[0].value.s;
}

static void add_operands(const LodeInstructionDecoder *self, const ZydisDecoderContext *context,
	const ZydisDecodedInstruction *instruction, LodeDecodedInstruction *decoded)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	LodeOperandScope scope = lode_instruction_operand_scope(instruction);
	uint8_t n;

	if (scope == LODE_OPERANDS_NONE)
		return;
	n = scope == LODE_OPERANDS_ALL ? instruction->operand_count
	                               : instruction->operand_count_visible;
	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeOperands(zydis_of(self), context, instruction, operands, n)))
		return;
	lode_instruction_add_operands(instruction, operands, n, self->rbp_is_frame, decoded);
}

static bool decode_by_zydis(LodeInstructionDecoder *self, const uint8_t *code, size_t size,
	uint64_t address, LodeDecodedInstruction *out_instruction)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoderContext context;
	LodeDecodedInstruction decoded = {0};

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		    zydis_of(self), &context, code, size, &instruction)))
		return false;
	decoded.length = instruction.length;
	decoded.mnemonic = (uint16_t)instruction.mnemonic;
	decoded.prefix = (uint8_t)prefix_of(&instruction);
	decoded.is_repeat = decoded.prefix >= PREFIX_REP;
	decoded.branch = branch_of(&instruction);
	set_target(&instruction, address, &decoded);
	decoded.kinds = lode_instruction_kinds(&instruction, decoded.branch);
	add_operands(self, &context, &instruction, &decoded);
	*out_instruction = decoded;
	return true;
}

/* The first bytes nearly always determine the length of an instruction: they give the number of its
 * own bytes, and these give the decoded instruction. */
typedef struct {
	LodeCodeKey key; /* all 0: empty */
	LodeDecodedInstruction decoded;
	bool rbp_is_frame;
} CacheSlot;

enum { LENGTH_BITS = 14, CACHE_BITS = 13 }; /* in all 16 KiB and 480 KiB */

struct LodeDecodeCache {
	uint8_t lengths[1 << LENGTH_BITS];
	CacheSlot slots[1 << CACHE_BITS];
};

LodeDecodeCache *lode_decode_cache_new(void)
{
	return g_new0(LodeDecodeCache, 1);
}

void lode_decode_cache_free(LodeDecodeCache *self)
{
	g_free(self);
}

/* Three bytes have opcode and ModRM, after a prefix of most; where 0f follows one it takes four. */
static uint8_t *length_of(LodeDecodeCache *self, const uint8_t *code)
{
	uint32_t start;

	memcpy(&start, code, sizeof(start));
	start = GUINT32_FROM_LE(start);
	if ((start & 0xff00) != 0x0f00)
		start &= 0xffffff;
	return &self->lengths[lode_hash_slot(start, LENGTH_BITS)];
}

static CacheSlot *slot_of(LodeDecodeCache *self, LodeCodeKey key)
{
	return &self->slots[lode_hash_slot(
		lode_hash_append(key.words[0], key.words[1]), CACHE_BITS)];
}

/* Where a call, jump or branch goes stands in its last bytes, where they are not in the key. */
static void set_own_target(
	const uint8_t *code, uint64_t address, LodeDecodedInstruction *instruction)
{
	size_t n = lode_code_key_jump_bytes(code, instruction->length);
	int32_t distance;

	if (n == 1) {
		distance = (int8_t)code[1];
	} else {
		memcpy(&distance, code + instruction->length - sizeof(distance), sizeof(distance));
		distance = GINT32_FROM_LE(distance);
	}
	instruction->target = address + instruction->length + (uint64_t)(int64_t)distance;
}

/* An instruction whose target is not determined by the key is not cached. */
static bool is_cacheable(const uint8_t *code, const LodeDecodedInstruction *instruction)
{
	return !instruction->has_target || lode_code_key_jump_bytes(code, instruction->length) > 0;
}

bool lode_instruction_decoder_decode(LodeInstructionDecoder *self, const uint8_t *code, size_t size,
	uint64_t address, LodeDecodedInstruction *out_instruction)
{
	if (self->cache == NULL || size < LODE_CODE_KEY_SIZE)
		return decode_by_zydis(self, code, size, address, out_instruction);
	uint8_t *length = length_of(self->cache, code);
	if (*length > 0) {
		LodeCodeKey key = lode_code_key(code, *length, size);
		const CacheSlot *slot = slot_of(self->cache, key);
		if (slot->key.words[0] == key.words[0] && slot->key.words[1] == key.words[1] &&
			slot->rbp_is_frame == self->rbp_is_frame) {
			*out_instruction = slot->decoded;
			if (out_instruction->has_target)
				set_own_target(code, address, out_instruction);
			return true;
		}
	}
	if (!decode_by_zydis(self, code, size, address, out_instruction))
		return false;
	*length = out_instruction->length;
	if (is_cacheable(code, out_instruction)) {
		LodeCodeKey key = lode_code_key(code, *length, size);
		*slot_of(self->cache, key) = (CacheSlot){key, *out_instruction, self->rbp_is_frame};
	}
	return true;
}

bool lode_instruction_constant(
	const LodeInstructionDecoder *self, const uint8_t *code, size_t size, int64_t *out_constant)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeFull(zydis_of(self), code, size, &instruction, operands)) ||
		instruction.operand_count_visible == 0)
		return false;
	const ZydisDecodedOperand *last = &operands[instruction.operand_count_visible - 1];
	if (last->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || last->imm.is_relative)
		return false;
	*out_constant = last->imm.value.s;
	return true;
}

const char *lode_instruction_mnemonic(
	const LodeDecodedInstruction *instruction, char *buffer, size_t size)
{
	const char *name = ZydisMnemonicGetString((ZydisMnemonic)instruction->mnemonic);
	const char *prefix = instruction->prefix < G_N_ELEMENTS(PREFIX_NAMES)
	                             ? PREFIX_NAMES[instruction->prefix]
	                             : "";

	g_strlcpy(buffer, prefix, size);
	g_strlcat(buffer, name == NULL ? "invalid" : name, size);
	return buffer;
}

unsigned lode_instruction_string_width(const LodeDecodedInstruction *instruction)
{
	if (instruction->prefix != PREFIX_REP)
		return 0;
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_STOSB:
	case ZYDIS_MNEMONIC_LODSB:
		return 1;
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_STOSW:
	case ZYDIS_MNEMONIC_LODSW:
		return 2;
	case ZYDIS_MNEMONIC_MOVSD: /* without a prefix the move of a double */
	case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_LODSD:
		return 4;
	case ZYDIS_MNEMONIC_MOVSQ:
	case ZYDIS_MNEMONIC_STOSQ:
	case ZYDIS_MNEMONIC_LODSQ:
		return 8;
	default:
		return 0;
	}
}

const char *lode_instruction_kind_name(LodeInstructionKind kind)
{
	return (unsigned)kind < LODE_N_KINDS ? KIND_NAMES[kind] : NULL;
}

const char *lode_memory_kind_name(LodeMemoryKind kind)
{
	return (unsigned)kind < LODE_N_MEMORY_KINDS ? MEMORY_NAMES[kind] : NULL;
}

bool lode_instruction_disassemble(const LodeInstructionDecoder *self, const uint8_t *code,
	size_t size, uint64_t address, char *buffer, size_t buffer_size)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisFormatter formatter;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeFull(zydis_of(self), code, size, &instruction, operands)))
		return false;
	if (!ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
		return false;
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(
		&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(
		&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(
		&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
	return ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
		instruction.operand_count_visible, buffer, buffer_size, address, NULL));
}
