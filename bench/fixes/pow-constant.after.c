/* SPDX-License-Identifier: MIT
 *
 * After darktable-org/darktable pull request #14368; PX4/PX4-Matrix pull request #86.
 */
#include "forty.h"
#include <math.h>
static double weights[1000];
#define ENERGY(n)                                                                                  \
	static APART double energy_##n(double scale)                                               \
	{                                                                                          \
		double sum = 0;                                                                    \
		for (int i = 0; i < 1000; i++) {                                                   \
			double d = weights[i] * scale;                                             \
			sum += d * sqrt(d) + n;                                                    \
		}                                                                                  \
		return sum;                                                                        \
	}
FORTY(ENERGY)
int main(void)
{
	for (int i = 0; i < 1000; i++)
		weights[i] = 0.001 * (double)(next_random() % 5000 + 1);
	double sum = 0;
	for (int round = 0; round < 3000; round++) {
#define CALL(n) sum += energy_##n(1.0 + round * 0.001);
		FORTY(CALL)
	}
	printf("%g\n", sum);
	return 0;
}
