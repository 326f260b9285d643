/* SPDX-License-Identifier: MIT */
/* Pages that only the allocator touches, for its own. */
#include <stdlib.h>

static void *volatile sink;

int main(void)
{
	for (int i = 0; i < 50; i++)
		sink = aligned_alloc(4096, 65536); /* site: aligned */
	for (int i = 0; i < 50; i++)
		sink = malloc(20000); /* site: plain */
	char *own = malloc(100000);
	for (int i = 0; i < 100000; i += 64)
		((volatile char *)own)[i] = 1;
	return own[64] != 1;
}
