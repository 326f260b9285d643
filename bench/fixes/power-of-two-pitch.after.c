/* SPDX-License-Identifier: MIT
 *
 * After igraph/igraph issue #2822.
 */
#include "forty.h"
enum { PITCH = 4096 + 64 };
static unsigned char *image;
#define BLUR(n)                                                                                    \
	static APART unsigned blur_##n(int x)                                                      \
	{                                                                                          \
		unsigned sum = n;                                                                  \
		for (int pass = 0; pass < 8; pass++)                                               \
			for (int y = 0; y < 200; y++) {                                            \
				unsigned char *p = image + y * PITCH + x;                          \
				sum += *p;                                                         \
				*p = (unsigned char)(sum >> 3);                                    \
			}                                                                          \
		return sum;                                                                        \
	}
FORTY(BLUR)
int main(void)
{
	image = aligned_alloc(4096, 200 * 8192);
	for (int i = 0; i < 200 * 8192; i++)
		image[i] = (unsigned char)next_random();
	unsigned long sum = 0;
	for (int round = 0; round < 1575; round++) {
#define CALL(n) sum += blur_##n(round * 8 % 4000 + n);
		FORTY(CALL)
	}
	printf("%lu\n", sum);
	return 0;
}
