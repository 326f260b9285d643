/* SPDX-License-Identifier: MIT */
/* A handler that never returns to what had faulted, in the middle of a block, 10 times. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

enum { TIMES = 10 };

static sigjmp_buf back;

void on_fault(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

__attribute__((noinline)) void fault(volatile int *at)
{
	at[0] = 1;
	at[1] = 2;
}

int main(void)
{
	signal(SIGSEGV, on_fault);
	for (volatile int i = 0; i < TIMES; i++)
		if (sigsetjmp(back, 1) == 0)
			fault(NULL);
	puts("left");
	return 0;
}
