/* SPDX-License-Identifier: MIT */
#include "forty.h"
static double weights[1][256];
#define TALLY(n)                                                                                   \
	static APART void tally_##n(const uint8_t *bytes, int size)                                \
	{                                                                                          \
		for (int i = 0; i < size; i += 4) {                                                \
			weights[0][bytes[i] ^ n] += 1.5;                                           \
			weights[0][bytes[i + 1] ^ n] += 2.5;                                       \
			weights[0][bytes[i + 2] ^ n] += 0.5;                                       \
			weights[0][bytes[i + 3] ^ n] += 3.5;                                       \
		}                                                                                  \
	}
FORTY(TALLY)
int main(void)
{
	static uint8_t bytes[16384];
	for (int i = 0; i < 16384; i++)
		bytes[i] = i % 400 ? 'x' : (uint8_t)next_random();
	for (int round = 0; round < 600; round++) {
#define CALL(n) tally_##n(bytes, 16384);
		FORTY(CALL)
	}
	double sum = 0;
	for (unsigned k = 0; k < sizeof(weights) / sizeof(weights[0]); k++)
		for (int i = 0; i < 256; i++)
			sum += weights[k][i] * i;
	printf("%g\n", sum);
	return 0;
}
