/* SPDX-License-Identifier: MIT
 *
 * After vmangos/core issue #2747, esa/pagmo2 pull request #432.
 */
#include "forty.h"
#include <thread>
#include <vector>
static std::vector<float> image(40000);
static APART float blur(int from, int to)
{
	float sum = 0;
	for (int k = 0; k < 4; k++)
		for (int i = from + 1; i < to - 1; i++)
			sum += (image[i - 1] + 2 * image[i] + image[i + 1]) * 0.25f;
	return sum;
}
static APART float frame(int from, int to)
{
	int middle = (from + to) / 2;
	return blur(from, middle) + blur(middle, to);
}
int main()
{
	for (float &f : image)
		f = (float)(next_random() % 1000);
	double sum = 0;
	for (int round = 0; round < 40000; round++)
		sum += frame(round % 30000, round % 30000 + 4000);
	printf("%f\n", sum);
}
