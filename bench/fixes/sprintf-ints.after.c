/* SPDX-License-Identifier: MIT
 *
 * After fmtlib/fmt issue #193.
 */
#include "forty.h"
static char out[64];
static inline int put_number(char *to, unsigned v)
{
	char digits[12];
	int count = 0, at = 0;
	do {
		digits[count++] = (char)('0' + v % 10);
	} while (v /= 10);
	while (count)
		to[at++] = digits[--count];
	to[at] = 0;
	return at;
}
#define WRITE(n)                                                                                   \
	static APART int write_##n(unsigned v)                                                     \
	{                                                                                          \
		int length = put_number(out, v);                                                   \
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
