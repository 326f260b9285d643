/* SPDX-License-Identifier: MIT
 *
 * After nanocurrency/nano-node pull request #831; mapbox/mapbox-gl-native pull request #4084.
 */
#include "forty.h"
#include <memory>
#include <vector>
struct shape { int kind; uint64_t size; explicit shape(int k) : kind(k), size(next_random()) {} virtual ~shape() = default; };
struct rounded : shape { using shape::shape; };
struct circle : rounded { circle() : rounded(0) {} };
struct ellipse : rounded { ellipse() : rounded(1) {} };
struct square : shape { square() : shape(2) {} };
struct polygon : shape { polygon() : shape(3) {} };
#define MEASURE(n)                                                              \
	static APART uint64_t measure_##n(const shape *s)                       \
	{                                                                       \
		if (s->kind == 0)                                               \
			return s->size * 3 + n;                                 \
		if (s->kind == 1)                                               \
			return s->size * 2 + n;                                 \
		if (s->kind == 2)                                               \
			return s->size ^ n;                                     \
		return s->size;                                                 \
	}
FORTY(MEASURE)
int main()
{
	std::vector<std::unique_ptr<shape>> shapes;
	for (int i = 0; i < 16; i++) {
		shapes.push_back(std::make_unique<circle>());
		shapes.push_back(std::make_unique<ellipse>());
		shapes.push_back(std::make_unique<square>());
		shapes.push_back(std::make_unique<polygon>());
	}
	uint64_t sum = 0;
	for (int round = 0; round < 1200000; round++) {
		const shape *s = shapes[round & 63].get();
#define CALL(n) sum += measure_##n(s);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
}
