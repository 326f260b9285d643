/* SPDX-License-Identifier: MIT */
/*
 * What sums over MPI's ranks cost here: seconds of the fastest of many, by number of doubles.
 * Compiled by bench/ranks.sh with mpicc, run by mpirun. Prints "DOUBLES SECONDS" a line.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 1 << 20 };

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double *values = calloc(LARGEST, sizeof(double));
	if (values == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int n = 1; n <= LARGEST; n *= 32) {
		double best = 1e9;
		for (int round = 0; round < (n < 4096 ? 2000 : 40); round++) {
			MPI_Barrier(MPI_COMM_WORLD);
			double start = MPI_Wtime();
			MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
			double seconds = MPI_Wtime() - start, slowest;
			MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
			best = slowest < best ? slowest : best;
		}
		if (rank == 0)
			printf("%d %.9f\n", n, best);
	}
	free(values);
	MPI_Finalize();
	return 0;
}
