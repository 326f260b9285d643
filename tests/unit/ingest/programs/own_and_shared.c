/* SPDX-License-Identifier: MIT */
/* Two threads: each waits for its own 32 MiB, and reads a table of 4 KiB that both have. */
#include <pthread.h>
#include <stdlib.h>

enum { N_OWN = 1 << 22 };

static unsigned long own[2][N_OWN] __attribute__((aligned(4096)));
static volatile int table[1024] __attribute__((aligned(4096)));
static long rounds;

static void *work(void *which)
{
	unsigned long *mine = own[which != NULL], random = which != NULL ? 2 : 1, sum = 0;

	/* pages of its own, not that of zeros */
	for (unsigned i = 0; i < N_OWN; i += 512)
		mine[i] = i;
	for (long i = 0; i < rounds; i++) {
		random = random * 6364136223846793005ul + 1442695040888963407ul + (sum & 1);
		sum += mine[random >> 42];
		sum += (unsigned long)table[i & 1023];
	}
	return sum == 1 ? mine : NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	pthread_create(&threads[0], NULL, work, NULL);
	pthread_create(&threads[1], NULL, work, &rounds);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
