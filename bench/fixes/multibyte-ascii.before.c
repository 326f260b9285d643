/* SPDX-License-Identifier: MIT
 *
 * After uutils/coreutils pull request #3740.
 */
#include "forty.h"
#include <locale.h>
#include <wchar.h>
#include <wctype.h>
static char text[40][256];
#define WIDTH(n)                                                                                   \
	static APART int width_##n(const char *s)                                                  \
	{                                                                                          \
		mbstate_t state = {0};                                                             \
		int width = n;                                                                     \
		for (const char *end = s + 255; s < end;) {                                        \
			wchar_t c;                                                                 \
			size_t got = mbrtowc(&c, s, (size_t)(end - s), &state);                    \
			if (got == 0 || got > 8)                                                   \
				break;                                                             \
			width += c != L' ' && iswprint((wint_t)c) != 0;                            \
			s += got;                                                                  \
		}                                                                                  \
		return width;                                                                      \
	}
FORTY(WIDTH)
int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	for (int k = 0; k < 40; k++)
		for (int i = 0; i < 255; i++)
			text[k][i] = i % 6 ? 'a' + next_random() % 26 : ' ';
	for (int k = 0; k < 40; k++)
		memcpy(text[k] + 30, "\xc3\xa9", 2);
	long sum = 0;
	for (int round = 0; round < 12000; round++) {
#define CALL(n) sum += width_##n(text[n - 10]);
		FORTY(CALL)
	}
	printf("%ld\n", sum);
	return 0;
}
