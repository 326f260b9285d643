/* SPDX-License-Identifier: MIT
 *
 * After envoyproxy/envoy issue #10088.
 */
#include "forty.h"
#include <cctype>
#include <string>
#include <vector>
struct Token {
	std::size_t from, size;
	unsigned hash;
};
static APART void tokens_of(const std::string &text, std::vector<Token> &out)
{
	out.clear();
	std::size_t i = 0, n = text.size();
	while (i < n) {
		while (i < n && !std::isalnum((unsigned char)text[i]))
			i++;
		std::size_t from = i;
		unsigned hash = 5381;
		for (; i < n && std::isalnum((unsigned char)text[i]); i++)
			hash = hash * 33 + std::tolower((unsigned char)text[i]);
		if (i > from)
			out.push_back({from, i - from, hash});
	}
}
int main()
{
	std::string text;
	for (int i = 0; i < 400000; i++)
		text += i % 7 == 3 ? ' ' : (next_random() & 1 ? 'a' : 'A') + next_random() % 26;
	std::vector<Token> tokens;
	uint64_t sum = 0;
	for (int round = 0; round < 1100; round++) {
		tokens_of(text, tokens);
		for (const Token &t : tokens)
			sum += t.hash ^ t.size;
	}
	printf("%llu\n", (unsigned long long)sum);
}
