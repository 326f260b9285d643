/* SPDX-License-Identifier: MIT */
/*
 * huge_pages SECONDS small|huge: reads 64 MiB at random, in pages of 4 KiB or 2 MiB. Prints how
 * many KiB of it lie in huge pages, as the kernel says.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { HUGE_PAGE = 2 << 20, BYTES = 64 << 20, ROUNDS = 1 << 16 };

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long huge_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	long kib = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "AnonHugePages: %ld", &kib);
	if (file != NULL)
		fclose(file);
	return kib;
}

__attribute__((noinline)) static uint64_t gather(const uint64_t *items, uint64_t *state)
{
	uint64_t sum = 0, at = *state;

	for (int i = 0; i < ROUNDS; i++) {
		at = at * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		sum += items[at >> 32 & (BYTES / sizeof(*items) - 1)];
	}
	*state = at;
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t state = 17, sum = 0;

	if (argc != 3)
		return 2;
	/* not by an allocator, which may touch it before */
	char *memory = mmap(NULL, BYTES + HUGE_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	uint64_t *items = (uint64_t *)(void *)(memory + (-(uintptr_t)memory & (HUGE_PAGE - 1)));
	madvise(items, BYTES, strcmp(argv[2], "huge") == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(items, 1, BYTES);
	double end = processor_seconds() + atof(argv[1]);
	while (processor_seconds() < end)
		sum += gather(items, &state);
	printf("%ld\n", huge_kib());
	return sum == 0;
}
