/* SPDX-License-Identifier: MIT */
/*
 * Runs code that stores into the page that it stands in, which an emulator has to begin anew each
 * time. Prints where it stands.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static const unsigned char code[] = {
	0xb9, 100, 0, 0, 0,              /*  0: mov  $100, %ecx */
	0x89, 0x0d, 0x20, 0, 0, 0,       /*  5: mov  %ecx, 0x20(%rip) */
	0x01, 0x0d, 0x1a, 0, 0, 0,       /* 11: add  %ecx, 0x1a(%rip) */
	0xf0, 0x01, 0x0d, 0x13, 0, 0, 0, /* 17: lock add %ecx, 0x13(%rip) */
	0x51,                            /* 24: push %rcx */
	0x59,                            /* 25: pop  %rcx */
	0xff, 0xc9,                      /* 26: dec  %ecx */
	0x75, 0xe7,                      /* 28: jnz  5 */
	0xc3,                            /* 30: ret */
};

int main(void)
{
	void *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*run)(void);

	memcpy(page, code, sizeof(code));
	memcpy(&run, &page, sizeof(run));
	run();
	printf("%p\n", page);
	return 0;
}
