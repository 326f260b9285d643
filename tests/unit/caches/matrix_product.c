/* SPDX-License-Identifier: MIT */
/* A small program for the comparison with cachegrind: one matrix is walked across its lines. */
#include <stdio.h>

enum { N = 40 };

static double a[N][N], b[N][N], c[N][N];

int main(void)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			a[i][j] = i + j;
			b[i][j] = i - j;
		}
	}
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			for (int k = 0; k < N; k++)
				c[i][j] += a[i][k] * b[k][j];
		}
	}
	printf("%f\n", c[3][5]);
	return 0;
}
