/* SPDX-License-Identifier: MIT */
/*
 * Every kind of control flow and of access, without any library: loops, recursion, direct and
 * indirect calls, tail calls, a jump table, a repeat prefix, read-modify-write, and a walk over
 * memory whose lines are known.
 */
typedef unsigned long word;

enum { N_CELLS = 4096, N_ROUNDS = 50, CELLS_PER_LINE = 8 };

static word cells[N_CELLS] __attribute__((aligned(64)));
static volatile word kept = 1; /* valgrind knows a program by its data */

#define APART __attribute__((noinline))

static APART word first(word n)
{
	return n + kept;
}

static APART word second(word n)
{
	kept += n;
	return first(n + 1);
}

static APART word third(word n)
{
	return n * 3;
}

static word (*const table[])(word) = {first, second, third};

static APART word descend(word n)
{
	if (n == 0)
		return kept;
	return descend(n - 1) * 3 + n;
}

static APART word choose(word n)
{
	switch (n % 7) {
	case 0:
		return first(n);
	case 1:
		kept ^= n;
		return 5;
	case 2:
		return kept + 9;
	case 3:
		kept -= 3;
		return n;
	case 4:
		return second(n);
	case 5:
		kept |= 1;
		return 77;
	default:
		return third(n);
	}
}

static APART void fill(word value, word n)
{
	word *to = cells;

	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(value) : "memory");
}

/* One load from each line of `cells`. */
static APART word stride(void)
{
	word sum = 0;

	for (word i = 0; i < N_CELLS; i += CELLS_PER_LINE)
		sum += *(volatile word *)&cells[i];
	return sum;
}

static APART void add_up(word n)
{
	for (word i = 0; i < n; i++)
		__asm__ volatile("addq %1, %0" : "+m"(cells[i % 64]) : "r"(n));
}

static APART __attribute__((used)) void work(void)
{
	for (word i = 0; i < N_ROUNDS; i++) {
		kept += table[i % 3](i);
		kept += choose(i);
		kept += descend(i % 9);
	}
	fill(kept, N_CELLS);
	kept += stride();
	kept += stride();
	add_up(1000);
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	call work\n"
	"	mov $60, %eax\n"
	"	xor %edi, %edi\n"
	"	syscall\n"
	"	hlt\n"
	".size _start, . - _start\n");
