/* SPDX-License-Identifier: MIT */
/*
 * Functions of this file, as the compiler made them: each calls an allocator that notes its return
 * address, which is then asked about.
 */
#include "images/code/size_arguments.h"

#include <glib.h>

enum { RDI = 1, RSI = 2, RDX = 4 };

#define APART __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline, optnone))
#endif

static uint64_t noted;
static char block[64];

APART static void *allocate(size_t size)
{
	noted = (uint64_t)__builtin_return_address(0);
	__asm__ volatile("" : : "r"(size));
	return block;
}

APART static void *allocate_array(size_t n, size_t size)
{
	char *made = allocate(size);
	made[0] = (char)n;
	return made;
}

APART static void *allocate_again(void *old, size_t size)
{
	noted = (uint64_t)__builtin_return_address(0);
	__asm__ volatile("" : : "r"(old), "r"(size));
	return block;
}

APART static void *pass(size_t size)
{
	char *made = allocate(size);
	return made + 1;
}

APART static void *pass_at_least_one(size_t size)
{
	if (size == 0)
		size = 1;
	char *made = allocate(size);
	if (made == NULL)
		g_error("no memory");
	return made;
}

APART static void *pass_rounded(char *pool, int tag, size_t size)
{
	pool[0] = (char)tag;
	char *made = allocate((size + 16 + 7) & ~(size_t)7);
	made[0] = pool[0];
	return made;
}

APART static void *pass_later(size_t size, char *name)
{
	char *first = allocate_again(name, 3);
	char *made = allocate(size + 1);
	made[0] = first[0];
	return made;
}

APART static void *pass_product(size_t n, size_t size)
{
	char *made = allocate(n * size);
	made[0] = 1;
	return made;
}

APART static void *pass_old(char *tag, char *old, size_t size)
{
	char *made = allocate_again(old, size);
	made[0] = tag[0];
	return made;
}

APART static void *take_one(int key)
{
	char *made = allocate(24);
	made[0] = (char)key;
	return made;
}

APART static void *take_many(size_t n)
{
	char *made = allocate(n * 24);
	made[0] = 1;
	return made;
}

APART static void *take_shifted(size_t n)
{
	char *made = allocate(n << 3);
	made[0] = 1;
	return made;
}

APART static void *take_loaded(const size_t *size)
{
	char *made = allocate(*size);
	made[0] = 1;
	return made;
}

APART static void *take_measured(const char *text)
{
	char *made = allocate(strlen(text) + 1);
	made[0] = 1;
	return made;
}

static LodeArgumentMask ask(const void *function, LodeArgumentMask wanted)
{
	uint64_t start = (uint64_t)function;

	/* A few bytes more than the call: what follows it is not asked for. */
	g_assert_cmpuint(noted, >, start);
	g_assert_cmpuint(noted - start, <, 1000);
	return lode_size_arguments_find(function, noted - start + 16, start, noted, wanted);
}

#define CHECK(call, function, wanted, expected)                                                    \
	G_STMT_START                                                                               \
	{                                                                                          \
		g_assert_nonnull(call);                                                            \
		g_assert_cmpuint(                                                                  \
			ask((const void *)(uintptr_t)(function), (wanted)), ==, expected);         \
	}                                                                                          \
	G_STMT_END

static void test_passed(void)
{
	char tag[] = "x";

	CHECK(pass(10), pass, RDI, RDI);
	CHECK(pass_at_least_one(10), pass_at_least_one, RDI, RDI);
	CHECK(pass_rounded(tag, 1, 10), pass_rounded, RDI, RDX);
	CHECK(pass_later(10, tag), pass_later, RDI, RDI);
	CHECK(pass_product(10, 3), pass_product, RDI, RDI | RSI);
	CHECK(pass_old(tag, tag, 3), pass_old, RSI, RDX);
}

static void test_own(void)
{
	const size_t size = 3;

	CHECK(take_one(10), take_one, RDI, 0);
	CHECK(take_many(10), take_many, RDI, 0);
	CHECK(take_shifted(10), take_shifted, RDI, 0);
	CHECK(take_loaded(&size), take_loaded, RDI, 0);
	CHECK(take_measured("abc"), take_measured, RDI, 0);
}

/* What is not the size is another argument's. */
static void test_other_registers(void)
{
	CHECK(allocate_array(2, 3), allocate_array, RDI, RSI);
}

/* Any bytes: no crash, and an answer that is within the mask. */
static void test_random(void)
{
	uint8_t code[256];

	for (uint32_t seed = 1; seed <= 2000; seed++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		for (size_t i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)g_rand_int(rand);
		for (size_t i = 0; i < sizeof(code); i += 1 + (size_t)g_rand_int_range(rand, 1, 20))
			code[i] = (uint8_t)(g_rand_boolean(rand) ? 0x48 : 0x75);
		code[200] = 0xe8;
		g_assert_cmpuint(
			lode_size_arguments_find(code, sizeof(code), 0x1000, 0x1000 + 205, RDI), <,
			64);
	}
	g_assert_cmpuint(lode_size_arguments_find(code, 0, 0, 0, RDI), ==, 0);
	g_assert_cmpuint(lode_size_arguments_find(code, 16, 0x1000, 0x2000, RDI), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/size_arguments/passed", test_passed);
	g_test_add_func("/size_arguments/own", test_own);
	g_test_add_func("/size_arguments/other_registers", test_other_registers);
	g_test_add_func("/size_arguments/random", test_random);
	return g_test_run();
}
