/* SPDX-License-Identifier: MIT */
/* All opcodes with all bytes after them, against the full decoder. */
#include "images/targets/plain_length.h"

#include <Zydis/Zydis.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

static void check(const ZydisDecoder *decoder, const uint8_t *code, guint *inout_n)
{
	const unsigned length = lode_plain_length(code);
	ZydisDecodedInstruction full;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (length == 0)
		return;
	++*inout_n;
	const bool is_valid = ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(decoder, code, LODE_PLAIN_BYTES, &full, operands));
	if (!is_valid || full.length != length)
		g_error("%02x %02x %02x %02x %02x: %u, not %u", code[0], code[1], code[2], code[3],
			code[4], length, is_valid ? full.length : 0);
	g_assert_false(full.raw.imm[0].is_relative);
	g_assert_cmpint(full.mnemonic, !=, ZYDIS_MNEMONIC_JMP);
	g_assert_false(
		full.mnemonic == ZYDIS_MNEMONIC_LEA && operands[1].mem.base == ZYDIS_REGISTER_RIP);
}

/* Each opcode of the maps, with each REX and none, each ModRM, and random bytes after it. */
static void test_all_opcodes(void)
{
	static const uint8_t prefixes[] = {0, 0x66, 0xf2, 0xf3};
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	ZydisDecoder decoder;
	guint n = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (guint i = 0; i < G_N_ELEMENTS(prefixes) * 17 * 2 * 65536; i++) {
		const guint rex = (i >> 17) % 17, prefix = i / (17 << 17);
		uint8_t code[LODE_PLAIN_BYTES], *at = code;

		for (guint k = 0; k < sizeof code; k += 3) {
			const guint32 random = g_rand_int(rand);
			memcpy(code + k, &random, 3);
		}
		if (prefixes[prefix] != 0)
			*at++ = prefixes[prefix];
		if (rex != 16)
			*at++ = (uint8_t)(0x40 + rex);
		if ((i >> 16 & 1) != 0)
			*at++ = 0x0f;
		*at++ = (uint8_t)(i >> 8);
		*at = (uint8_t)i;
		check(&decoder, code, &n);
	}
	g_assert_cmpuint(n, >, 1000000);
}

static void test_random_bytes(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(2);
	ZydisDecoder decoder;
	guint n = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (guint i = 0; i < 300000; i++) {
		uint8_t code[LODE_PLAIN_BYTES];

		for (guint k = 0; k < sizeof code; k++)
			code[k] = (uint8_t)g_rand_int(rand);
		check(&decoder, code, &n);
	}
	g_assert_cmpuint(n, >, 100000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/plain_length/all_opcodes", test_all_opcodes);
	g_test_add_func("/plain_length/random_bytes", test_random_bytes);
	return g_test_run();
}
