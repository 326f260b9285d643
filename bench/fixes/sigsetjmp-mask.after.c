/* SPDX-License-Identifier: MIT
 *
 * After DynamoRIO/dynamorio issue #226, wryun/es-shell pull request #237: the mask of signals is
 * not saved for each protected call.
 */
#include "forty.h"
#include <setjmp.h>
static sigjmp_buf top;
static APART uint64_t evaluate(const uint32_t *program, int n, uint64_t x)
{
	for (int i = 0; i < n; i++) {
		if (program[i] == 0xffffffffu)
			siglongjmp(top, 1);
		x = x * 5 + (program[i] ^ x >> 7);
	}
	return x;
}
static APART uint64_t protected_call(const uint32_t *program, int n, uint64_t x)
{
	if (sigsetjmp(top, 0) == 0)
		return evaluate(program, n, x);
	return 1;
}
int main(void)
{
	uint32_t program[120];
	for (int i = 0; i < 120; i++)
		program[i] = (uint32_t)next_random() >> 1;
	program[118] = 0xffffffffu;
	uint64_t x = 1;
	for (int i = 0; i < 7000000; i++)
		x += protected_call(program, 80 + (i & 31) + (i % 50 == 0) * 9, x);
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
