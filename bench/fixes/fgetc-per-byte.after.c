/* SPDX-License-Identifier: MIT
 *
 * After kth-competitive-programming/kactl pull request #140; fastfetch-cli/fastfetch pull request
 * #313.
 */
#include "forty.h"
static FILE *file;
static APART size_t line_of(char *line, size_t size)
{
	return fgets(line, (int)size, file) ? strlen(line) : 0;
}
#define COUNT(n)                                                                                   \
	static APART uint64_t count_##n(void)                                                      \
	{                                                                                          \
		char line[400];                                                                    \
		uint64_t words = 0;                                                                \
		int before = ' ';                                                                  \
		size_t length = line_of(line, sizeof(line));                                       \
		for (size_t i = 0; i + 1 < length; before = line[i++])                             \
			words += before == ' ' && line[i] != (n & 1);                              \
		return words;                                                                      \
	}
FORTY(COUNT)
int main(void)
{
	char *text = malloc(40 * 301 + 1), *at = text;
	for (int line = 0; line < 40; line++, *at++ = '\n')
		for (int i = 0; i < 300; i++)
			*at++ = i % 7 == 3 ? ' ' : 'a' + next_random() % 26;
	file = fmemopen(text, (size_t)(at - text), "r");
	uint64_t sum = 0;
	for (int round = 0; round < 8000; round++) {
		rewind(file);
#define CALL(n) sum += count_##n();
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
