/* SPDX-License-Identifier: MIT
 *
 * After rbock/sqlpp11 pull request #520; bauripalash/mewmew pull request #3.
 */
#include "forty.h"
#include <cctype>
#include <regex>
#include <string>
static inline bool is_number(const std::string &s, int least)
{
	size_t i = s[0] == '-';
	size_t digits = i;
	while (i < s.size() && isdigit((unsigned char)s[i]))
		i++;
	if (i == digits)
		return false;
	if (i == s.size())
		return least >= 0;
	if (s[i++] != '.' || i == s.size())
		return false;
	while (i < s.size() && isdigit((unsigned char)s[i]))
		i++;
	return i == s.size();
}
#define CHECK(n)                                                                \
	static APART bool check_##n(const std::string &s)                       \
	{                                                                       \
		return is_number(s, n);                                         \
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
