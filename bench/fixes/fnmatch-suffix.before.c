/* SPDX-License-Identifier: MIT
 *
 * X
 */
#include "forty.h"
#include <fnmatch.h>
static const char *const ignored[] = {
	"*.o", "*.a", "*.so", "*.pyc", "*.class", "*.tmp", "*.swp", "*.log"};
static APART int is_ignored(const char *name, size_t size)
{
	for (int i = 0; i < 8; i++) {
		(void)size;
		if (fnmatch(ignored[i], name, 0) == 0)
			return 1;
	}
	return 0;
}
int main(void)
{
	static char names[1000][40];
	static size_t lengths[1000];
	for (int i = 0; i < 1000; i++)
		lengths[i] = (size_t)sprintf(names[i], "src/module%u/part_%d%s",
			(unsigned)next_random() % 100, i, i % 3 ? ".c" : ".o");
	uint64_t sum = 0;
	for (int round = 0; round < 10000; round++)
		for (int i = 0; i < 1000; i++) {
			uint64_t hash = 0;
			for (size_t k = 0; k < lengths[i]; k++)
				hash = hash * 33 + (unsigned char)names[i][k];
			if (!is_ignored(names[i], lengths[i]))
				sum ^= hash;
		}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
