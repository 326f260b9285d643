/* SPDX-License-Identifier: MIT
 *
 * After DPDK's rte_ring and jemalloc: the size of a ring is a power of two, or the index is
 * compared and set to 0.
 */
#include "forty.h"
struct ring {
	float *data;
	size_t size, at;
};
#define DELAY(n)                                                                                   \
	static APART void delay_##n(struct ring *r, float *samples, size_t count)                  \
	{                                                                                          \
		for (size_t i = 0; i < count; i++) {                                               \
			NEXT(n)                                                                    \
			float old = r->data[tap];                                                  \
			r->data[r->at] = samples[i];                                               \
			samples[i] = samples[i] * 0.7f + old * 0.3f;                               \
			STEP                                                                       \
		}                                                                                  \
	}
#define NEXT(n)                                                                                    \
	size_t tap = r->at + r->size - 7 - n;                                                      \
	if (tap >= r->size)                                                                        \
		tap -= r->size;
#define STEP                                                                                       \
	if (++r->at == r->size)                                                                    \
		r->at = 0;
FORTY(DELAY)
int main(void)
{
	struct ring rings[50];
	for (int i = 0; i < 50; i++)
		rings[i] = (struct ring){
			calloc(1000 + (size_t)i, sizeof(float)), 1000 + (size_t)i, 0};
	float samples[256];
	for (int i = 0; i < 256; i++)
		samples[i] = (float)(next_random() % 1000);
	for (int round = 0; round < 35000; round++) {
#define CALL(n) delay_##n(&rings[n], samples, 256);
		FORTY(CALL)
	}
	printf("%f\n", (double)samples[7]);
	return 0;
}
