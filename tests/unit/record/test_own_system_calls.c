/* SPDX-License-Identifier: MIT */
/* System calls in machine code are found by their numbers, and bytes that only look like one are
 * not. */
#include "record/windows/own_system_calls.h"

#include <string.h>
#include <sys/syscall.h>

enum { PADDING = 200, MAX_CODE = 64 };

/* Code between plain instructions (nop). */
static bool is_found(const uint8_t *code, size_t size)
{
	uint8_t all[2 * PADDING + MAX_CODE];

	g_assert_cmpuint(size, <=, MAX_CODE);
	memset(all, 0x90, sizeof(all));
	memcpy(all + PADDING, code, size);
	return lode_own_system_calls_in_code(all, sizeof(all));
}

static bool is_number_found(uint32_t number)
{
	/* mov eax, number; xor edi, edi; syscall */
	uint8_t code[] = {0xb8, 0, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05};

	memcpy(code + 1, &number, sizeof(number));
	return is_found(code, sizeof(code));
}

static void test_numbers(void)
{
	static const uint32_t watched[] = {
		SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_prctl, SYS_seccomp, SYS_ptrace};
	static const uint32_t others[] = {SYS_read, SYS_futex, SYS_getpid, SYS_exit_group};

	for (size_t i = 0; i < G_N_ELEMENTS(watched); i++)
		g_assert_true(is_number_found(watched[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		g_assert_false(is_number_found(others[i]));
}

static void test_forms(void)
{
	/* mov rax, 157 in seven bytes; mov rax, rdi; xor eax, eax (read); after a call */
	static const uint8_t wide[] = {0x48, 0xc7, 0xc0, 0x9d, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t given[] = {0x48, 0x89, 0xf8, 0x0f, 0x05};
	static const uint8_t none[] = {0x31, 0xc0, 0x0f, 0x05};
	static const uint8_t called[] = {0xb8, 1, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x0f, 0x05};

	g_assert_true(is_found(wide, sizeof(wide)));
	g_assert_true(is_found(given, sizeof(given)));
	g_assert_false(is_found(none, sizeof(none)));
	g_assert_true(is_found(called, sizeof(called)));
}

static void test_bytes_within(void)
{
	/* mov ecx, 0x050f; lea rax, [rip + 0x050f00] */
	static const uint8_t constant[] = {0xb9, 0x0f, 0x05, 0, 0};
	static const uint8_t distance[] = {0x48, 0x8d, 0x05, 0, 0x0f, 0x05, 0};

	g_assert_false(is_found(constant, sizeof(constant)));
	g_assert_false(is_found(distance, sizeof(distance)));
	g_assert_false(lode_own_system_calls_in_code(constant, 0));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/own-system-calls/numbers", test_numbers);
	g_test_add_func("/record/own-system-calls/forms", test_forms);
	g_test_add_func("/record/own-system-calls/bytes-within", test_bytes_within);
	return g_test_run();
}
