/* SPDX-License-Identifier: MIT */
#include "forty.h"
#include <string>
static std::string words[64];
#define JOIN(n)                                                                 \
	static APART size_t join_##n(int count)                                 \
	{                                                                       \
		std::string line;                                               \
		for (int i = 0; i < count; i++)                                 \
			line = line + words[(i + n) & 63] + ",";                \
		return line.size() + (size_t)line[n];                           \
	}
FORTY(JOIN)
int main()
{
	for (auto &word : words)
		word.assign(3 + next_random() % 5, (char)('a' + next_random() % 26));
	size_t sum = 0;
	for (int round = 0; round < 500; round++) {
#define CALL(n) sum += join_##n(500);
		FORTY(CALL)
	}
	printf("%zu\n", sum);
}
