/* SPDX-License-Identifier: MIT */
/* The product of two matrices of 256 × 256, by rows and columns. */
#include <stdio.h>

enum { N = 256 };

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
			double sum = 0;

			for (int k = 0; k < N; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
	}
	printf("%f\n", c[3][5]);
	return 0;
}
