/* SPDX-License-Identifier: MIT */
/* Every way of C that control can flow, with counts that a test knows; built without a sanitizer.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define APART static __attribute__((noinline))
#else
#define APART static __attribute__((noinline, noclone))
#endif

static jmp_buf environment;
static volatile int hits;

static void on_signal(int number)
{
	(void)number;
	hits++;
}

APART int choose(int i)
{
	switch (i) {
	case 0:
		return 7;
	case 1:
		return hits;
	case 2:
		return puts("two");
	case 3:
		return i * 9 + hits;
	case 4:
		return i ^ 77;
	case 5:
		return rand();
	default:
		return i == 6 ? hits : -1;
	}
}

APART int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

APART void jump_from_depth(int n)
{
	if (n < 0)
		return;
	if (n == 0)
		longjmp(environment, 3);
	jump_from_depth(n - 1);
	hits++;
}

APART void copy_bytes(char *to, const char *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	char to[300], from[300];
	int numbers[100];
	volatile int jumps = 0;

	memset(from, 'x', sizeof(from));
	for (int i = 0; i < 50; i++) {
		hits += choose(i % 9);
		copy_bytes(to, from, (size_t)(i < 5 ? 300 - i : 300));
		copy_bytes(to, from, 0);
	}
	if (setjmp(environment) == 0 || jumps < 5) {
		jumps++;
		jump_from_depth(10);
	}
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 7; i++)
		raise(SIGUSR1);
	for (int i = 0; i < 100; i++)
		numbers[i] = rand();
	qsort(numbers, 100, sizeof(int), compare);
	printf("%d %d\n", fibonacci(15), numbers[3]);
	return 0;
}
