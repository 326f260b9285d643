/* SPDX-License-Identifier: MIT
 *
 * After aaronNGi/jj pull request #5.
 */
#define _GNU_SOURCE
#include "forty.h"
#include <sys/mman.h>
#include <unistd.h>
enum { PIECE = 64 };
static int file;
static unsigned char buffer[65536];
#define SUM(n)                                                                                     \
	static APART uint64_t sum_##n(off_t from, size_t size)                                     \
	{                                                                                          \
		uint64_t sum = n;                                                                  \
		for (size_t at = 0; at < size;) {                                                  \
			ssize_t got = pread(file, buffer, PIECE, from + (off_t)at);                \
			if (got <= 0)                                                              \
				break;                                                             \
			for (ssize_t i = 0; i < got; i++)                                          \
				sum = sum * 31 + buffer[i];                                        \
			at += (size_t)got;                                                         \
		}                                                                                  \
		return sum;                                                                        \
	}
FORTY(SUM)
int main(void)
{
	file = memfd_create("pieces", 0);
	for (int i = 0; i < 64; i++) {
		memset(buffer, i + 1, sizeof(buffer));
		if (write(file, buffer, sizeof(buffer)) < 0)
			return 1;
	}
	uint64_t sum = 0;
	for (int round = 0; round < 90; round++) {
#define CALL(n) sum += sum_##n((off_t)(n)*65536, 65536);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
