/* SPDX-License-Identifier: MIT
 *
 * After Unvanquished/Unvanquished pull request #3196.
 */
#include "forty.h"
#include <stdexcept>
static inline bool digits(const char *s, int *value)
{
	int v = 0;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return false;
		v = v * 10 + *s - '0';
	}
	*value = v;
	return true;
}
#define READ(n)                                                                 \
	static APART int read_##n(const char *s)                                \
	{                                                                       \
		int value;                                                      \
		return digits(s, &value) ? value + n : -n;                      \
	}
FORTY(READ)
int main()
{
	char texts[16][12];
	for (int i = 0; i < 16; i++)
		snprintf(texts[i], sizeof(texts[i]), i % 4 ? "%d" : "%dx", (int)(next_random() % 1000000));
	long sum = 0;
	for (int round = 0; round < 150000; round++) {
		const char *s = texts[round & 15];
#define CALL(n) sum += read_##n(s);
		FORTY(CALL)
	}
	printf("%ld\n", sum);
}
