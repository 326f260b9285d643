/* SPDX-License-Identifier: MIT */
/* Each round has four loads: three near each other, and one anywhere in 64 MiB, which waits. */
#include <stdio.h>
#include <stdlib.h>

static volatile long far[1 << 23];
static volatile int near[1024];

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	unsigned long random = 1, sum = 0;

	/* pages of its own, not that of zeros */
	for (long i = 0; i < 1 << 23; i += 512)
		far[i] = i;
	for (long i = 0; i < n; i++) {
		random = random * 6364136223846793005ul + 1442695040888963407ul;
		/* each needs the one before, so that the timer finds every one of them */
		sum += (unsigned long)far[(random >> 41) ^ (sum & 1)];
		sum += (unsigned long)near[(sum + (unsigned long)i) & 1023];
		sum += (unsigned long)near[(sum + 7) & 1023];
		sum += (unsigned long)near[(sum * 5 + 9) & 1023];
	}
	printf("%lu\n", sum);
	return 0;
}
