/* SPDX-License-Identifier: MIT
 *
 * After PowerDNS/pdns pull request #7583.
 */
#include "forty.h"
#include <sys/mman.h>
static char *kept;
static char *take(size_t size)
{
	if (!kept)
		kept = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return kept;
}
static void give(char *p, size_t size)
{
	(void)p, (void)size;
}
#define FILL(n)                                                                                    \
	static APART unsigned fill_##n(unsigned seed)                                              \
	{                                                                                          \
		char *p = take(65536);                                                             \
		for (int i = 0; i < 65536; i += 32)                                                \
			p[i] = (char)(seed = seed * 1103515245u + n);                              \
		unsigned got = (unsigned char)p[seed >> 16];                                       \
		give(p, 65536);                                                                    \
		return got;                                                                        \
	}
FORTY(FILL)
int main(void)
{
	unsigned sum = 0;
	for (unsigned round = 0; round < 1000; round++) {
#define CALL(n) sum += fill_##n(round);
		FORTY(CALL)
	}
	printf("%u\n", sum);
	return 0;
}
