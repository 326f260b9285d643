/* SPDX-License-Identifier: MIT
 *
 * After gperftools/gperftools issue #330 and jemalloc/jemalloc pull request #2712:
 * fewer stacks are unwound; the latter follows frame pointers.
 */
#include "forty.h"
#include <execinfo.h>
APART uint64_t note(uint64_t x)
{
	void *frames[16];
	int n = backtrace(frames, 16);
	return x + n + ((uintptr_t)frames[0] & 1);
}
APART uint64_t deeper(uint64_t x, int depth)
{
	return depth ? deeper(x, depth - 1) + 1 : note(x);
}
int main(void)
{
	uint64_t sum = 0;
	for (int i = 0; i < 700000; i++)
		sum += deeper(other_work(i, 2500), 4);
	printf("%d\n", sum != 0);
}
