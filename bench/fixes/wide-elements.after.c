/* SPDX-License-Identifier: MIT */
#include "forty.h"
typedef int8_t element;
enum { PART = 512000 };
static element *marks;
#define MARK(n)                                                                                    \
	static APART void mark_##n(element *v)                                                     \
	{                                                                                          \
		for (int i = 0; i < PART; i++)                                                     \
			v[i] ^= n;                                                                 \
	}
FORTY(MARK)
int main(void)
{
	marks = malloc(sizeof(*marks) * PART * 40);
	for (int i = 0; i < PART * 40; i++)
		marks[i] = (element)(i & 63);
	long sum = 0;
	for (int round = 0; round < 40; round++) {
#define CALL(n) mark_##n(marks + (n - 10) * PART);
		FORTY(CALL)
	}
	for (int i = 0; i < PART * 40; i++)
		sum += marks[i];
	printf("%ld\n", sum);
	return 0;
}
