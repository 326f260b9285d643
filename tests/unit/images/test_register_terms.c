/* SPDX-License-Identifier: MIT */
/* Instructions that compute sums and products of registers, and those that do not. */
#include "images/instructions/register_advance.h"

#include <glib.h>

typedef struct {
	const char *text;
	uint8_t code[12];
	bool is_found;
	LodeRegisterTerms expected;
} Case;

static const Case cases[] = {
	{"mov rcx, r10", {0x4c, 0x89, 0xd1}, true, {1, 1, true, false, {{10, 1}}}},
	{"mov ecx, 7", {0xb9, 7}, true, {1, 0, false, false, {{0, 0}}}},
	{"movsxd rax, ecx", {0x48, 0x63, 0xc1}, true, {0, 1, true, false, {{1, 1}}}},
	{"cdqe", {0x48, 0x98}, true, {0, 1, true, false, {{0, 1}}}},
	{"add rax, 8", {0x48, 0x83, 0xc0, 0x08}, true, {0, 1, false, false, {{0, 1}}}},
	{"add rax, rdx", {0x48, 0x01, 0xd0}, true, {0, 2, false, false, {{0, 1}, {2, 1}}}},
	{"add rax, rax", {0x48, 0x01, 0xc0}, true, {0, 2, false, false, {{0, 1}, {0, 1}}}},
	{"sub rax, rdx", {0x48, 0x29, 0xd0}, true, {0, 2, false, false, {{0, 1}, {2, -1}}}},
	{"sub eax, eax", {0x29, 0xc0}, true, {0, 0, false, false, {{0, 0}}}},
	{"xor edx, edx", {0x31, 0xd2}, true, {2, 0, false, false, {{0, 0}}}},
	{"xor edx, eax", {0x31, 0xc2}, false, {0}},
	{"inc r15", {0x49, 0xff, 0xc7}, true, {15, 1, false, false, {{15, 1}}}},
	{"neg rcx", {0x48, 0xf7, 0xd9}, true, {1, 1, false, false, {{1, -1}}}},
	{"shl rcx, 4", {0x48, 0xc1, 0xe1, 0x04}, true, {1, 1, false, false, {{1, 16}}}},
	{"shl rcx, cl", {0x48, 0xd3, 0xe1}, false, {0}},
	{"shl rcx, 40", {0x48, 0xc1, 0xe1, 0x28}, false, {0}},
	{"imul rsi, rcx, 112", {0x48, 0x6b, 0xf1, 0x70}, true, {6, 1, false, false, {{1, 112}}}},
	{"imul rdx, rdi", {0x48, 0x0f, 0xaf, 0xd7}, true, {2, 2, false, true, {{2, 1}, {7, 1}}}},
	{"imul rdi", {0x48, 0xf7, 0xef}, false, {0}},
	{"imul rdx, [rdi]", {0x48, 0x0f, 0xaf, 0x17}, false, {0}},
	{"lea rcx, [rax + rdx*8 + 16]", {0x48, 0x8d, 0x4c, 0xd0, 0x10}, true,
		{1, 2, false, false, {{0, 1}, {2, 8}}}},
	{"lea rcx, [rax*8 + 16]", {0x48, 0x8d, 0x0c, 0xc5, 0x10, 0, 0, 0}, true,
		{1, 1, false, false, {{0, 8}}}},
	{"lea rcx, [rip + 16]", {0x48, 0x8d, 0x0d, 0x10, 0, 0, 0}, true,
		{1, 0, false, false, {{0, 0}}}},
	{"add rax, [rdx]", {0x48, 0x03, 0x02}, false, {0}},
	{"add [rax], 8", {0x48, 0x83, 0x00, 0x08}, false, {0}},
	{"add ax, 8", {0x66, 0x83, 0xc0, 0x08}, false, {0}},
	{"mov rax, [rdx]", {0x48, 0x8b, 0x02}, false, {0}},
	{"mov cl, dl", {0x88, 0xd1}, false, {0}},
	{"movzx eax, cl", {0x0f, 0xb6, 0xc1}, false, {0}},
	{"cmovne rax, rdx", {0x48, 0x0f, 0x45, 0xc2}, false, {0}},
	{"adc rax, 8", {0x48, 0x83, 0xd0, 0x08}, false, {0}},
	{"call", {0xe8, 0, 0, 0, 0}, false, {0}},
	{"no instruction", {0x06}, false, {0}},
};

static void test_cases(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeRegisterTerms *expected = &cases[i].expected;
		LodeRegisterTerms found = {0};
		g_test_message("%s", cases[i].text);
		g_assert_true(lode_register_terms_decode(&found, cases[i].code,
				      sizeof(cases[i].code)) == cases[i].is_found);
		if (!cases[i].is_found)
			continue;
		g_assert_cmpuint(found.target, ==, expected->target);
		g_assert_cmpuint(found.n, ==, expected->n);
		g_assert_true(found.is_copy == expected->is_copy);
		g_assert_true(found.is_product == expected->is_product);
		for (unsigned k = 0; k < found.n; k++) {
			g_assert_cmpuint(found.terms[k].number, ==, expected->terms[k].number);
			g_assert_cmpint(found.terms[k].factor, ==, expected->terms[k].factor);
		}
	}
}

static void test_cut_short(void)
{
	const uint8_t add[] = {0x48, 0x01, 0xd0};
	LodeRegisterTerms found;

	for (size_t size = 0; size < sizeof(add); size++)
		g_assert_false(lode_register_terms_decode(&found, add, size));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/register-terms/cases", test_cases);
	g_test_add_func("/images/register-terms/cut-short", test_cut_short);
	return g_test_run();
}
