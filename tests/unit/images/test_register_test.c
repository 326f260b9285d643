/* SPDX-License-Identifier: MIT */
/* Instructions that compare a register or set it to a constant, jumps, and those that do not. */
#include "images/instructions/register_test.h"

#include <glib.h>

typedef struct {
	const char *text;
	uint8_t code[12];
	LodeRegisterTest expected; /* width 0: it is no such */
} Case;

static const Case cases[] = {
	{"cmp rax, 4096", {0x48, 0x3d, 0, 0x10, 0, 0}, {0, 16, 64, false, 4096}},
	{"cmp ecx, -1", {0x83, 0xf9, 0xff}, {1, 16, 32, false, -1}},
	{"cmp rax, rdx", {0x48, 0x39, 0xd0}, {0, 2, 64, false, 0}},
	{"sub ecx, 1", {0x83, 0xe9, 0x01}, {1, 16, 32, false, 1}},
	{"add rax, 1", {0x48, 0x83, 0xc0, 0x01}, {0, 16, 64, true, -1}},
	{"inc ebx", {0xff, 0xc3}, {3, 16, 32, true, -1}},
	{"dec r12", {0x49, 0xff, 0xcc}, {12, 16, 64, true, 1}},
	{"test edi, edi", {0x85, 0xff}, {7, 16, 32, false, 0}},
	{"test edi, esi", {0x85, 0xf7}, {0}},
	{"cmp al, 1", {0x3c, 0x01}, {0}},
	{"cmp rax, [rdx]", {0x48, 0x3b, 0x02}, {0}},
	{"and eax, 1", {0x83, 0xe0, 0x01}, {0}},
};

static void test_cases(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const Case *at = &cases[i];
		LodeRegisterTest found = {0};
		g_test_message("%s", at->text);
		bool is_found = lode_register_test_decode(&found, at->code, sizeof(at->code));
		g_assert_cmpint(is_found, ==, at->expected.width > 0);
		g_assert_cmpuint(found.left, ==, at->expected.left);
		g_assert_cmpuint(found.right, ==, at->expected.right);
		g_assert_cmpuint(found.width, ==, at->expected.width);
		g_assert_cmpint(found.is_equality, ==, at->expected.is_equality);
		g_assert_cmpint(found.constant, ==, at->expected.constant);
	}
}

static void test_constants(void)
{
	static const uint8_t zero[] = {0x31, 0xc0}, other[] = {0x31, 0xc8};
	static const uint8_t minus_one[] = {0xb9, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t whole[] = {0x48, 0xc7, 0xc1, 0xff, 0xff, 0xff, 0xff};
	uint8_t number = 99;
	uint64_t value = 99;

	g_assert_true(lode_register_constant_decode(&number, &value, zero, sizeof(zero)));
	g_assert_cmpuint(number, ==, 0);
	g_assert_cmpuint(value, ==, 0);
	g_assert_true(lode_register_constant_decode(&number, &value, minus_one, sizeof(minus_one)));
	g_assert_cmpuint(number, ==, 1);
	g_assert_cmpuint(value, ==, UINT32_MAX);
	g_assert_true(lode_register_constant_decode(&number, &value, whole, sizeof(whole)));
	g_assert_cmpuint(value, ==, UINT64_MAX);
	g_assert_false(lode_register_constant_decode(&number, &value, other, sizeof(other)));
}

static void test_jumps(void)
{
	static const uint8_t jne[] = {0x75, 0}, jle[] = {0x7e, 0}, js[] = {0x78, 0};
	LodeTestJump jump;

	g_assert_true(lode_test_jump_decode(&jump, jne, sizeof(jne)));
	g_assert_cmpint(jump.kind, ==, LODE_TEST_EQUAL);
	g_assert_true(jump.is_negated);
	g_assert_true(lode_test_jump_decode(&jump, jle, sizeof(jle)));
	g_assert_cmpint(jump.kind, ==, LODE_TEST_LESS_OR_EQUAL);
	g_assert_false(jump.is_negated);
	g_assert_false(lode_test_jump_decode(&jump, js, sizeof(js)));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/register_test/cases", test_cases);
	g_test_add_func("/images/register_test/constants", test_constants);
	g_test_add_func("/images/register_test/jumps", test_jumps);
	return g_test_run();
}
