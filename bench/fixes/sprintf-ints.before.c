/* SPDX-License-Identifier: MIT
 *
 * After fmtlib/fmt issue #193.
 */
#include "forty.h"
static char out[64];
#define WRITE(n)                                                                                   \
	static APART int write_##n(unsigned v)                                                     \
	{                                                                                          \
		int length = snprintf(out, sizeof(out), "%u", v);                                  \
		return length + out[0] * n;                                                        \
	}
FORTY(WRITE)
int main(void)
{
	uint64_t sum = 0;
	for (unsigned round = 0; round < 800000; round++) {
#define CALL(n) sum += (unsigned)write_##n(round * 7 + n);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
