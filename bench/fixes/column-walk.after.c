/* SPDX-License-Identifier: MIT */
#include "forty.h"
enum { ROWS = 30000, COLUMNS = 1025 };
static int (*m)[COLUMNS];
#define TOTAL(n)                                                                                   \
	static APART int total_##n(int from)                                                       \
	{                                                                                          \
		int sum = n;                                                                       \
		for (int y = 0; y < ROWS; y++)                                                     \
			for (int x = from; x < from + 64; x++)                                     \
				sum += m[y][x] ^ n;                                                \
		return sum;                                                                        \
	}
FORTY(TOTAL)
int main(void)
{
	m = malloc(sizeof(*m) * ROWS);
	for (int y = 0; y < ROWS; y++)
		for (int x = 0; x < COLUMNS; x++)
			m[y][x] = (x * 7 + y) & 63;
	long sum = 0;
	for (int round = 0; round < 8; round++) {
#define CALL(n) sum += total_##n((n - 10) * 24);
		FORTY(CALL)
	}
	printf("%ld\n", sum);
	return 0;
}
