/* SPDX-License-Identifier: MIT */
#include "forty.h"
struct grid {
	int width, height;
	unsigned char *cells;
};
#define GETTER inline
static GETTER int grid_width(const struct grid *g)
{
	return g->width;
}
static GETTER int grid_at(const struct grid *g, int x, int y)
{
	return g->cells[y * g->width + x];
}
#define ROW(n)                                                                                     \
	static APART int row_##n(const struct grid *g, int y)                                      \
	{                                                                                          \
		int sum = n;                                                                       \
		for (int x = 0; x < grid_width(g); x++)                                            \
			sum = (sum ^ grid_at(g, x, y)) + x;                                        \
		return sum;                                                                        \
	}
FORTY(ROW)
int main(void)
{
	struct grid g = {500, 40, malloc(500 * 40)};
	for (int i = 0; i < 500 * 40; i++)
		g.cells[i] = (unsigned char)next_random();
	long sum = 0;
	for (int round = 0; round < 25500; round++) {
#define CALL(n) sum += row_##n(&g, n - 10);
		FORTY(CALL)
	}
	printf("%ld\n", sum);
	return 0;
}
