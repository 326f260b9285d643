/* SPDX-License-Identifier: MIT
 *
 * After rbock/sqlpp11 pull request #520; bauripalash/mewmew pull request #3.
 */
#include "forty.h"
#include <cctype>
#include <regex>
#include <string>
#define CHECK(n)                                                                \
	static APART bool check_##n(const std::string &s)                       \
	{                                                                       \
		static const std::regex number("-?[0-9]+(\\.[0-9]+)?");         \
		return std::regex_match(s, number) && n > 0;                    \
	}
FORTY(CHECK)
int main()
{
	std::string strings[32];
	for (int i = 0; i < 32; i++)
		strings[i] = std::to_string((int)(next_random() % 100000) - 5000) + (i % 3 ? ".25" : i % 5 ? "" : "x");
	long sum = 0;
	for (int round = 0; round < 192000; round++) {
		const std::string &s = strings[round & 31];
#define CALL(n) sum += check_##n(s);
		FORTY(CALL)
	}
	printf("%ld\n", sum);
}
