/* SPDX-License-Identifier: MIT
 *
 * After eclipse-iceoryx/iceoryx2 issue #136; microsoft/verona-rt pull request #83.
 */
#include "forty.h"
#include <time.h>
static uint64_t late;
static APART int expired(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec == 1;
}
#define STEP(n)                                                                                    \
	static APART uint64_t step_##n(uint64_t state, int count)                                  \
	{                                                                                          \
		for (int i = 0; i < count; i++) {                                                  \
			state = (state ^ state >> 7) * 0x9e3779b97f4a7c15u + n;                    \
			state ^= state >> 31;                                                      \
			if ((i & 127) == 127)                                                      \
				late += (uint64_t)expired();                                       \
		}                                                                                  \
		return state;                                                                      \
	}
FORTY(STEP)
int main(void)
{
	uint64_t sum = 1;
	for (int round = 0; round < 2400; round++) {
#define CALL(n) sum = step_##n(sum, 500);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)(sum + late));
	return 0;
}
