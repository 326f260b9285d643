/* SPDX-License-Identifier: MIT */
#include "forty.h"
static const char *const names[] = {"accept", "accept-charset", "accept-encoding",
	"accept-language", "accept-ranges", "age", "allow", "authorization", "cache-control",
	"content-length", "content-type", "cookie", "date", "etag", "expect", "expires", "from",
	"host", "if-match", "location"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };
#define FIND(n)                                                                                    \
	static APART int find_##n(const char *key)                                                 \
	{                                                                                          \
		for (int i = 0; i < NAMES; i++)                                                    \
			if (strcmp(names[i], key) == 0)                                            \
				return i * n;                                                      \
		return -1;                                                                         \
	}
FORTY(FIND)
int main(void)
{
	char *keys[64];
	for (int i = 0; i < 64; i++)
		keys[i] = strdup(names[next_random() % NAMES]);
	long sum = 0;
	for (int round = 0; round < 1250000; round++) {
		const char *key = keys[round & 63];
#define CALL(n) sum += find_##n(key);
		FORTY(CALL)
	}
	printf("%ld\n", sum);
	return 0;
}
