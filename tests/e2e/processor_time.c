/* SPDX-License-Identifier: MIT */
/* Computes, and has the kernel fill a buffer with zeros, in turn: so long that the kernel has a
 * share of the processor time that the argument gives in percent. Prints the share that it has
 * measured. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_NS = 500000, ROUNDS = 2000 };

static char buffer[16 * 1024];
static volatile unsigned sum;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void compute(int zeros)
{
	(void)zeros;
	for (unsigned i = 0; i < 1000; i++)
		sum += i * i;
}

static void fill(int zeros)
{
	if (read(zeros, buffer, sizeof(buffer)) != sizeof(buffer))
		abort();
}

/* How often it fits in so many nanoseconds; the clock is a system call, too, and seldom asked. */
static long times_in(double ns, void (*work)(int), int zeros)
{
	enum { TRIALS = 500 };
	double begin = now_ns();

	for (int i = 0; i < TRIALS; i++)
		work(zeros);
	return (long)(ns * TRIALS / (now_ns() - begin)) + 1;
}

int main(int argc, char **argv)
{
	double share = argc > 1 ? atof(argv[1]) / 100 : 0.5, kernel = 0;
	int zeros = open("/dev/zero", O_RDONLY);
	long n_computed = times_in(ROUND_NS * (1 - share), compute, zeros);
	long n_filled = times_in(ROUND_NS * share, fill, zeros);
	double begin = now_ns();

	for (int i = 0; i < ROUNDS; i++) {
		for (long k = 0; k < n_computed; k++)
			compute(zeros);
		double filled = now_ns();
		for (long k = 0; k < n_filled; k++)
			fill(zeros);
		kernel += now_ns() - filled;
	}
	printf("%.2f\n", 100 * kernel / (now_ns() - begin));
	return 0;
}
