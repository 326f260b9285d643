/* SPDX-License-Identifier: MIT
 *
 * After lelanthran/libds issue #5.
 */
#define _GNU_SOURCE
#include "forty.h"
static char words[64][8], line[8192];
#define JOIN(n)                                                                                    \
	static APART size_t join_##n(int count)                                                    \
	{                                                                                          \
		line[0] = 0;                                                                       \
		for (int i = 0; i < count; i++) {                                                  \
			strcat(line, words[(i + n) & 63]);                                         \
			strcat(line, ",");                                                         \
		}                                                                                  \
		return strlen(line) + (size_t)line[n];                                             \
	}
FORTY(JOIN)
int main(void)
{
	for (int i = 0; i < 64; i++)
		for (int k = 0; k < 3 + i % 5; k++)
			words[i][k] = 'a' + next_random() % 26;
	size_t sum = 0;
	for (int round = 0; round < 5200; round++) {
#define CALL(n) sum += join_##n(400);
		FORTY(CALL)
	}
	printf("%zu\n", sum);
	return 0;
}
