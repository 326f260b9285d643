/* SPDX-License-Identifier: MIT
 *
 * After ninja-build/ninja pull request #2716, AxioDL/hecl pull request #33.
 */
#include "forty.h"
#include <map>
#include <string>
#include <string_view>
typedef std::map<std::string, int> Settings;
#define KEY(text) text
static Settings settings;
#define USE(n)                                                                                     \
	static APART int use_##n(int v)                                                            \
	{                                                                                          \
		auto at = settings.find(KEY("renderer.shadow.quality." #n));                       \
		return at == settings.end() ? v : at->second + v;                                  \
	}
FORTY(USE)
int main()
{
#define ADD(n) settings["renderer.shadow.quality." #n] = n;
	FORTY(ADD)
	int v = 1;
	for (int round = 0; round < 1200000; round++) {
#define CALL(n) v ^= use_##n(v);
		FORTY(CALL)
	}
	printf("%d\n", v);
}
