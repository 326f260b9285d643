/* SPDX-License-Identifier: MIT
 *
 * After pezmaster31/bamtools pull request #202; stormchecker/storm pull request #178; tunnuz/json pull request #2.
 */
#include "forty.h"
#include <fstream>
#define LIST(n)                                                                 \
	static APART void list_##n(std::ostream &out, int size)                 \
	{                                                                       \
		for (int i = 0; i < size; i++)                                  \
			out << "item " << i * n << '\n';                        \
	}
FORTY(LIST)
int main()
{
	std::ofstream out("/dev/null");
	for (int round = 0; round < 500; round++) {
#define CALL(n) list_##n(out, 200);
		FORTY(CALL)
	}
	return !out;
}
