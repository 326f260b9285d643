/* SPDX-License-Identifier: MIT */
/* Instructions that compute sums and products of registers, and those that do not. */
#include "images/instructions/register_terms.h"

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

/* The one register and a constant. */
typedef struct {
	const char *text;
	uint8_t code[12];
	struct {
		uint8_t target, source, width; /* 0: it is no such */
		int64_t constant;
	} expected;
} Advance;

static const Advance advances[] = {
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
};

static void test_advances(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(advances); i++) {
		const Advance *at = &advances[i];
		LodeRegisterTerms found = {0};
		g_test_message("%s", at->text);
		bool is_found = lode_register_terms_decode(&found, at->code, sizeof(at->code)) &&
		                found.width > 0;
		g_assert_cmpint(is_found, ==, at->expected.width > 0);
		if (!is_found)
			continue;
		g_assert_cmpuint(found.n, ==, 1);
		g_assert_cmpuint(found.target, ==, at->expected.target);
		g_assert_cmpuint(found.terms[0].number, ==, at->expected.source);
		g_assert_cmpuint(found.width, ==, at->expected.width);
		g_assert_cmpint(found.constant, ==, at->expected.constant);
	}
}

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
	g_test_add_func("/images/register-terms/advances", test_advances);
	g_test_add_func("/images/register-terms/cut-short", test_cut_short);
	return g_test_run();
}
