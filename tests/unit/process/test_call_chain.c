/* SPDX-License-Identifier: MIT */
/* How large the frame of compiled code is, by its first bytes: as HotSpot writes them, and others.
 */
#include "process/call_chain.h"

#include "seeds.h"

#include <string.h>

typedef struct {
	const char *name;
	uint8_t code[64];
	size_t n;
	uint64_t offset;
	uint32_t bytes;
} Case;

/* mov %eax,-0x14000(%rsp) */
#define BANG 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff

/* mov 0x8(%rsi),%r10d; cmp %r10,%rax; jne */
#define CHECK 0x44, 0x8b, 0x56, 0x08, 0x49, 0x3b, 0xc2, 0x0f, 0x85, 0x86, 0xae, 0xaa, 0xff

static const Case cases[] = {
	{"method", {CHECK, BANG, 0x55, 0x48, 0x83, 0xec, 0x70}, 64, 40, 0x78},
	{"method that calls nothing deep", {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10},
		64, 40, 0x18},
	{"large frame", {BANG, 0x55, 0x48, 0x81, 0xec, 0x90, 0x01, 0, 0}, 64, 40, 0x198},
	{"large frame without a push", {0x48, 0x81, 0xec, 0x90, 0x01, 0, 0, 0x48, 0x89, 0xac, 0x24},
		64, 40, 0x190},
	{"stub", {0x48, 0x81, 0xec, 0x08, 0, 0, 0, 0x48, 0x89, 0x2c, 0x24}, 64, 40, 8},
	{"with a frame pointer", {BANG, 0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x20}, 64, 40,
		0x28},
	{"before its frame is made", {CHECK, BANG, 0x55, 0x48, 0x83, 0xec, 0x70}, 64, 20, 0},
	{"at its begin", {BANG, 0x55, 0x48, 0x83, 0xec, 0x70}, 64, 0, 0},
	{"no frame", {0x48, 0x8b, 0x06, 0xc3}, 64, 40, 0},
	{"a frame pointer not saved", {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x5c, 0x24, 0x10}, 64,
		40, 0},
	{"a size that no frame has", {BANG, 0x55, 0x48, 0x83, 0xec, 0x71}, 64, 40, 0},
	{"cut", {BANG, 0x55, 0x48, 0x83, 0xec, 0x70}, 12, 40, 0},
	{"empty", {0}, 0, 40, 0},
};

static void test_beginnings(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint32_t bytes = lode_call_chain_frame_bytes(
			cases[i].code, cases[i].n, cases[i].offset);
		if (bytes != cases[i].bytes)
			g_test_message("%s: %u", cases[i].name, bytes);
		g_assert_cmpuint(bytes, ==, cases[i].bytes);
	}
}

/* Any bytes, of the few that begin code: what is read lies in them (the sanitizers see it), and a
 * frame has whole words. */
static void test_random(void)
{
	static const uint8_t usual[] = {
		0x55, 0x48, 0x81, 0x83, 0xec, 0x89, 0x8b, 0x2c, 0x6c, 0x24, 0x08, 0x00};
	unsigned n = random_rounds(50000, 1000000), n_found = 0;

	for (unsigned round = 0; round < n; round++) {
		size_t size = (size_t)random_int_range(0, 80);
		g_autofree uint8_t *code = g_malloc(MAX(size, 1));
		for (size_t k = 0; k < size; k++)
			code[k] = usual[random_int_range(0, (gint32)G_N_ELEMENTS(usual))];
		uint32_t bytes = lode_call_chain_frame_bytes(
			code, size, (uint64_t)random_int_range(0, 100));
		n_found += bytes > 0;
		g_assert_cmpuint(bytes % 8, ==, 0);
	}
	g_assert_cmpuint(n_found, >, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/call_chain/beginnings", test_beginnings);
	add_random_test(
		"/call_chain/random", test_random, "R02S00000000000000000000000000000001", NULL);
	return g_test_run();
}
