/* SPDX-License-Identifier: MIT
 *
 * After kth-competitive-programming/kactl pull request #140; fastfetch-cli/fastfetch pull request
 * #313.
 */
#include "forty.h"
static FILE *file;
#define COUNT(n)                                                                                   \
	static APART uint64_t count_##n(void)                                                      \
	{                                                                                          \
		uint64_t words = 0;                                                                \
		int before = ' ';                                                                  \
		for (int c; (c = fgetc(file)) != EOF && c != '\n'; before = c)                     \
			words += before == ' ' && c != (n & 1);                                    \
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
