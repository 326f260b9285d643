/* SPDX-License-Identifier: MIT */
#include "forty.h"
static const char *const names[] = {"accept", "accept-charset", "accept-encoding",
	"accept-language", "accept-ranges", "age", "allow", "authorization", "cache-control",
	"content-length", "content-type", "cookie", "date", "etag", "expect", "expires", "from",
	"host", "if-match", "location"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };
static unsigned char lengths[NAMES];
#define FIND(n)                                                                                    \
	static APART int find_##n(const char *key)                                                 \
	{                                                                                          \
		size_t length = strlen(key);                                                       \
		for (int i = 0; i < NAMES; i++)                                                    \
			if (lengths[i] == length && names[i][length / 2] == key[length / 2] &&     \
				memcmp(names[i], key, length) == 0)                                \
				return i * n;                                                      \
		return -1;                                                                         \
	}
FORTY(FIND)
int main(void)
{
	for (int i = 0; i < NAMES; i++)
		lengths[i] = (unsigned char)strlen(names[i]);
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
