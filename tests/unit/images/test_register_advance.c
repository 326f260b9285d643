/* SPDX-License-Identifier: MIT */
/* Instructions that set a register to another one and a constant, and those that do not. */
#include "images/instructions/register_advance.h"

#include <glib.h>
#include <string.h>

typedef struct {
	const char *text;
	uint8_t code[12];
	LodeRegisterAdvance expected; /* width 0: it is no such */
} Case;

static const Case cases[] = {
	{"add rax, 8", {0x48, 0x83, 0xc0, 0x08}, {0, 0, 64, 8}},
	{"add eax, -1", {0x83, 0xc0, 0xff}, {0, 0, 32, -1}},
	{"sub esi, 1", {0x83, 0xee, 0x01}, {6, 6, 32, -1}},
	{"sub rdx, -128", {0x48, 0x83, 0xea, 0x80}, {2, 2, 64, 128}},
	{"sub r9, -2147483648", {0x49, 0x81, 0xe9, 0, 0, 0, 0x80}, {9, 9, 64, 2147483648}},
	{"inc r15", {0x49, 0xff, 0xc7}, {15, 15, 64, 1}},
	{"dec ecx", {0xff, 0xc9}, {1, 1, 32, -1}},
	{"mov rcx, r10", {0x4c, 0x89, 0xd1}, {1, 10, 64, 0}},
	{"mov ecx, r10d", {0x44, 0x89, 0xd1}, {1, 10, 32, 0}},
	{"lea rcx, [rax + 1]", {0x48, 0x8d, 0x48, 0x01}, {1, 0, 64, 1}},
	{"lea ecx, [rax - 4]", {0x8d, 0x48, 0xfc}, {1, 0, 32, -4}},
	{"lea rcx, [rax*1 + 16]", {0x48, 0x8d, 0x0c, 0x05, 0x10, 0, 0, 0}, {1, 0, 64, 16}},
	{"lea rcx, [rax + rdx]", {0x48, 0x8d, 0x0c, 0x10}, {0}},
	{"lea rcx, [rax*8 + 16]", {0x48, 0x8d, 0x0c, 0xc5, 0x10, 0, 0, 0}, {0}},
	{"lea rcx, [rip + 16]", {0x48, 0x8d, 0x0d, 0x10, 0, 0, 0}, {0}},
	{"lea ecx, [eax + 1]", {0x67, 0x8d, 0x48, 0x01}, {0}},
	{"add rax, rdx", {0x48, 0x01, 0xd0}, {0}},
	{"add ax, 8", {0x66, 0x83, 0xc0, 0x08}, {0}},
	{"add al, 8", {0x04, 0x08}, {0}},
	{"add rax, [rdx]", {0x48, 0x03, 0x02}, {0}},
	{"add [rax], 8", {0x48, 0x83, 0x00, 0x08}, {0}},
	{"inc [rax]", {0x48, 0xff, 0x00}, {0}},
	{"adc rax, 8", {0x48, 0x83, 0xd0, 0x08}, {0}},
	{"mov rax, 8", {0x48, 0xc7, 0xc0, 0x08, 0, 0, 0}, {0}},
	{"mov rax, [rdx]", {0x48, 0x8b, 0x02}, {0}},
	{"mov ch, dl", {0x88, 0xd5}, {0}},
	{"movsxd rax, ecx", {0x48, 0x63, 0xc1}, {0}},
	{"cmovne rax, rdx", {0x48, 0x0f, 0x45, 0xc2}, {0}},
	{"xadd rax, rdx", {0x48, 0x0f, 0xc1, 0xd0}, {0}},
	{"xchg rax, rdx", {0x48, 0x92}, {0}},
	{"push rax", {0x50}, {0}},
	{"call", {0xe8, 0, 0, 0, 0}, {0}},
	{"no instruction", {0x06}, {0}},
};

static void test_cases(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const Case *at = &cases[i];
		LodeRegisterAdvance found = {0};
		g_test_message("%s", at->text);
		bool is_found = lode_register_advance_decode(&found, at->code, sizeof(at->code));
		g_assert_cmpint(is_found, ==, at->expected.width > 0);
		g_assert_cmpuint(found.target, ==, at->expected.target);
		g_assert_cmpuint(found.source, ==, at->expected.source);
		g_assert_cmpuint(found.width, ==, at->expected.width);
		g_assert_cmpint(found.constant, ==, at->expected.constant);
	}
}

static void test_cut(void)
{
	LodeRegisterAdvance found;

	for (size_t size = 0; size < 4; size++)
		g_assert_false(lode_register_advance_decode(&found, cases[0].code, size));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/register-advance/cases", test_cases);
	g_test_add_func("/images/register-advance/cut", test_cut);
	return g_test_run();
}
