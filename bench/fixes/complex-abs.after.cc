/* SPDX-License-Identifier: MIT
 *
 * After romeric/Fastor issue #172, acts-project/acts pull request #3694: std::norm in place of
 * std::abs, which is hypot.
 */
#include "forty.h"
#include <complex>
#include <vector>
static APART int peaks(const std::vector<std::complex<float>> &v, float threshold)
{
	int n = 0;
	for (const auto &c : v) {
		if (std::norm(c) > threshold * threshold)
			n++;
	}
	return n;
}
static APART void mix(std::vector<std::complex<float>> &v, std::complex<float> by)
{
	for (auto &c : v)
		c = {c.real() * by.real() - c.imag() * by.imag(), c.real() * by.imag() + c.imag() * by.real()};
}
int main()
{
	std::vector<std::complex<float>> v(10000);
	for (auto &c : v)
		c = {(float)(next_random() % 2000) - 1000, (float)(next_random() % 2000) - 1000};
	int sum = 0;
	for (int round = 0; round < 45000; round++) {
		mix(v, {0.8f, 0.6f});
		sum += peaks(v, 500 + (round & 63));
	}
	printf("%d\n", sum);
}
