/* SPDX-License-Identifier: MIT
 *
 * After Nition/UnityOctree pull request #13; mousebird-consulting-inc/WhirlyGlobe pull request
 * #1254.
 */
#include "forty.h"
#include <math.h>
static float xs[1024], ys[1024];
#define NEAR(n)                                                                                    \
	static APART int near_##n(float x, float y, float radius)                                  \
	{                                                                                          \
		int count = n & 1;                                                                 \
		for (int i = 0; i < 1024; i++) {                                                   \
			double dx = xs[i] - x, dy = ys[i] - y;                                     \
			if (sqrt(dx * dx + dy * dy) < radius)                                      \
				count++;                                                           \
		}                                                                                  \
		return count;                                                                      \
	}
FORTY(NEAR)
int main(void)
{
	for (int i = 0; i < 1024; i++)
		xs[i] = (float)(next_random() % 1000), ys[i] = (float)(next_random() % 1000);
	long sum = 0;
	for (int round = 0; round < 14000; round++) {
#define CALL(n) sum += near_##n((float)(round & 511), (float)(n * 10), 30);
		FORTY(CALL)
	}
	printf("%ld\n", sum);
	return 0;
}
