/* SPDX-License-Identifier: MIT */
/* Compares the stepping library's kind of an instruction, by its first bytes, with that of a whole
 * decoder, on random bytes. */
#include "../../../../tools/preload/windows/next_instruction.h"

#include "seeds.h"

#include <Zydis/Zydis.h>
#include <glib.h>
#include <stdbool.h>

enum { BYTES = 15, ROUNDS = 400000, THOROUGH_ROUNDS = 20000000 };

typedef struct {
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
} Instruction;

/* Instructions of processors that are not met, or for which STATUS or PLAIN does no harm. */
static bool is_left_out(const Instruction *self)
{
	switch (self->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_CLRSSBSY:
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_PTWRITE:
	case ZYDIS_MNEMONIC_JKNZD:
	case ZYDIS_MNEMONIC_JKZD:
	case ZYDIS_MNEMONIC_MONTMUL:
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_XCRYPT_CBC:
	case ZYDIS_MNEMONIC_XCRYPT_CFB:
	case ZYDIS_MNEMONIC_XCRYPT_CTR:
	case ZYDIS_MNEMONIC_XCRYPT_ECB:
	case ZYDIS_MNEMONIC_XCRYPT_OFB:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_XSHA1:
	case ZYDIS_MNEMONIC_XSHA256:
	case ZYDIS_MNEMONIC_XSTORE:
		return true;
	default:
		return false;
	}
}

static bool is_to_segment(const Instruction *self)
{
	return self->decoded.mnemonic == ZYDIS_MNEMONIC_MOV && self->decoded.opcode == 0x8e &&
	       self->decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
}

static NextInstruction by_mnemonic(const Instruction *self)
{
	switch (self->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
		return NEXT_SYSTEM_CALL;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_LSS:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_WRFSBASE:
		return NEXT_UNSAFE;
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_UMWAIT:
	case ZYDIS_MNEMONIC_TPAUSE:
	case ZYDIS_MNEMONIC_UMONITOR:
		return NEXT_ATOMIC;
	case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FNINIT:
	case ZYDIS_MNEMONIC_FNCLEX:
	case ZYDIS_MNEMONIC_FRSTOR:
	case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FNSTSW:
	case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_STMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR:
	case ZYDIS_MNEMONIC_VSTMXCSR:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
	case ZYDIS_MNEMONIC_XSAVES:
	case ZYDIS_MNEMONIC_XSAVES64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
	case ZYDIS_MNEMONIC_XRSTORS:
	case ZYDIS_MNEMONIC_XRSTORS64:
		return NEXT_STATUS;
	default:
		return NEXT_PLAIN;
	}
}

static NextInstruction by_decoder(const Instruction *self)
{
	const ZydisInstructionAttributes attributes = self->decoded.attributes;
	NextInstruction kind = by_mnemonic(self);

	if (kind != NEXT_PLAIN)
		return kind;
	if ((attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 ||
		(self->decoded.mnemonic == ZYDIS_MNEMONIC_XCHG &&
			self->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY))
		return NEXT_ATOMIC;
	if ((attributes &
		    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0)
		return NEXT_REPEAT;
	if (self->decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || is_to_segment(self))
		return NEXT_UNSAFE;
	switch (self->decoded.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_RET:
		return NEXT_BRANCH;
	default:
		return NEXT_PLAIN;
	}
}

/* Some prefixes before random bytes, of which the first is 0f in every third round. */
static void draw_bytes(uint8_t bytes[BYTES])
{
	static const uint8_t prefixes[] = {0xf0, 0xf2, 0xf3, 0x66, 0x67, 0x2e, 0x64, 0x48, 0x41};
	int n = random_int_range(0, 4);

	for (int i = 0; i < BYTES; i++)
		bytes[i] = i < n ? prefixes[random_int_range(0, G_N_ELEMENTS(prefixes))]
		                 : (uint8_t)random_int_range(0, 256);
	if (random_int_range(0, 3) == 0)
		bytes[n] = 0x0f;
}

static void test_random(void)
{
	ZydisDecoder decoder;
	const unsigned rounds = random_rounds(ROUNDS, THOROUGH_ROUNDS);

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (unsigned i = 0; i < rounds; i++) {
		uint8_t bytes[BYTES];
		Instruction decoded;
		draw_bytes(bytes);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(
			    &decoder, bytes, BYTES, &decoded.decoded, decoded.operands)) ||
			is_left_out(&decoded))
			continue;
		NextInstruction expected = by_decoder(&decoded);
		if (next_instruction(bytes, BYTES) != expected ||
			next_instruction(bytes, decoded.decoded.length) != expected)
			g_error("%02x %02x %02x %02x %02x %02x (%s): %d, not %d", bytes[0],
				bytes[1], bytes[2], bytes[3], bytes[4], bytes[5],
				ZydisMnemonicGetString(decoded.decoded.mnemonic),
				next_instruction(bytes, BYTES), expected);
	}
}

int main(int n, char **words)
{
	g_test_init(&n, &words, NULL);
	add_random_test("/windows/next-instruction", test_random,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	return g_test_run();
}
