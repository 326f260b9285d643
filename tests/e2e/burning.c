/* SPDX-License-Identifier: MIT */
/* burning SECONDS computes for so long, of its own processor time. */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static double processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;

	while (processor_time() < seconds)
		for (unsigned long i = 0; i < 20000; i++)
			sink += i;
	return 0;
}
