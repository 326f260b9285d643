/* SPDX-License-Identifier: MIT
 *
 * After kimwalisch/primecount pull request #97; ihhub/fheroes2 pull request #4107.
 */
#include "forty.h"
#include <charconv>
#include <sstream>
#include <string>
#define FORMAT(n)                                                               \
	static APART size_t format_##n(int value)                               \
	{                                                                       \
		std::ostringstream out;                                         \
		out << value << ':' << n;                                       \
		return out.str().size();                                        \
	}
FORTY(FORMAT)
int main()
{
	size_t sum = 0;
	for (int round = 0; round < 119000; round++) {
#define CALL(n) sum += format_##n(round * n);
		FORTY(CALL)
	}
	printf("%zu\n", sum);
}
