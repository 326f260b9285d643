/* SPDX-License-Identifier: MIT
 *
 * After madler/zlib (adler32.c: a remainder once in 5552 bytes).
 */
#include "forty.h"
static APART uint32_t adler(const unsigned char *p, size_t size)
{
	uint32_t a = 1, b = 0;
	for (size_t i = 0; i < size;) {
		for (size_t end = i + 5552 < size ? i + 5552 : size; i < end; i++) {
			a += p[i];
			b += a;
		}
		a %= 65521;
		b %= 65521;
	}
	return b << 16 | a;
}
static APART void filter(unsigned char *p, size_t size)
{
	for (size_t i = size - 1; i > 0; i--)
		p[i] = (unsigned char)(p[i] - p[i - 1]);
}
int main(void)
{
	static unsigned char row[16384];
	for (size_t i = 0; i < sizeof row; i++)
		row[i] = (unsigned char)next_random();
	uint64_t sum = 0;
	for (int round = 0; round < 32000; round++) {
		filter(row, sizeof row);
		sum += adler(row, sizeof row);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
