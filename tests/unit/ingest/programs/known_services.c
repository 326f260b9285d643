/* SPDX-License-Identifier: MIT */
/*
 * Functions of libraries, each called by two functions of which one has 70 % of the cost:
 *
 *   known_services strlen|malloc|pow|print|sort|bare ROUNDS
 *
 * sort: by_name() is called back by qsort(), and calls strcmp().
 * bare: functions without unwind tables, one without a frame, one with a frame pointer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 4096, NAMES = 64, NAME = 400 };

static char text[TEXT];
static char names[NAMES][NAME];
static char *order[NAMES];
static const char *volatile input = text;
static void *volatile kept[8];
static volatile double sum;

#ifdef __x86_64__
__asm__(".text\n"
	".globl bare_leaf\n"
	".type bare_leaf, @function\n"
	"bare_leaf:\n"
	"	mov $3000, %eax\n"
	"1:	dec %eax\n"
	"	jnz 1b\n"
	"	ret\n"
	".size bare_leaf, . - bare_leaf\n"
	".globl bare_framed\n"
	".type bare_framed, @function\n"
	"bare_framed:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $64, %rsp\n"
	"	movq $0, (%rsp)\n"
	"	mov $3000, %eax\n"
	"1:	dec %eax\n"
	"	jnz 1b\n"
	"	leave\n"
	"	ret\n"
	".size bare_framed, . - bare_framed\n");
void bare_leaf(void);
void bare_framed(void);
#else
static void bare_leaf(void)
{
}
static void bare_framed(void)
{
}
#endif

static int by_name(const void *a, const void *b)
{
	int order_of_names = strcmp(*(char *const *)a, *(char *const *)b);

	/* No jump: the caller would be qsort(). */
	__asm__ volatile("" : "+r"(order_of_names));
	return order_of_names;
}

/* Two functions with a loop of their own. */
#define CALLERS(name, times, statements)                                                           \
	__attribute__((noinline)) static void name##_often(void)                                   \
	{                                                                                          \
		for (int i = 0; i < 7 * (times); i++) {                                            \
			statements                                                                 \
		}                                                                                  \
	}                                                                                          \
	__attribute__((noinline)) static void name##_seldom(void)                                  \
	{                                                                                          \
		for (int i = 0; i < 3 * (times); i++) {                                            \
			statements __asm__ volatile("" : : "r"(i));                                \
		}                                                                                  \
	}

CALLERS(strlen, 10, sum += (double)strlen(input);)
CALLERS(malloc, 200, free(kept[i % 8]); kept[i % 8] = malloc(100);)
CALLERS(bare, 10, bare_leaf(); bare_framed();)
CALLERS(pow, 100, sum += pow(1.5 + i, 1.7);)
CALLERS(print, 10, sum += snprintf(names[0], NAME, "%d %s %g", i, "name", 1.5 * i);)
CALLERS(sort, 1, for (int k = 0; k < NAMES; k++) order[k] = names[(k * 37) % NAMES];
	qsort(order, NAMES, sizeof *order, by_name);)

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*often)(void), (*seldom)(void);
	} all[] = {{"strlen", strlen_often, strlen_seldom}, {"malloc", malloc_often, malloc_seldom},
		{"pow", pow_often, pow_seldom}, {"print", print_often, print_seldom},
		{"sort", sort_often, sort_seldom}, {"bare", bare_often, bare_seldom}};
	long rounds = argc > 2 ? atol(argv[2]) : 0;

	memset(text, 'x', TEXT - 1);
	for (int i = 0; i < NAMES; i++)
		snprintf(names[i], NAME, "%0380d", (i * 29) % NAMES);
	for (size_t at = 0; argc > 1 && at < sizeof all / sizeof *all; at++)
		for (long i = 0; i < rounds && strcmp(argv[1], all[at].name) == 0; i++) {
			all[at].often();
			all[at].seldom();
		}
	printf("%g\n", sum);
	return 0;
}
