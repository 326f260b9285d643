/* SPDX-License-Identifier: MIT */
#include "forty.h"
#include <iostream>
#include <sys/mman.h>
#include <unistd.h>
#define READ(n)                                                                 \
	static APART uint64_t read_##n(int count)                               \
	{                                                                       \
		uint64_t sum = n;                                               \
		for (int value; count-- && std::cin >> value;)                  \
			sum = sum * 31 + (uint64_t)value;                       \
		return sum;                                                     \
	}
FORTY(READ)
int main()
{
	int file = memfd_create("numbers", 0);
	FILE *out = fdopen(dup(file), "w");
	for (int i = 0; i < 40 * 50000; i++)
		fprintf(out, "%u\n", (unsigned)(next_random() % 10000000));
	fclose(out);
	lseek(file, 0, SEEK_SET);
	dup2(file, 0);
	std::ios::sync_with_stdio(false);
	uint64_t sum = 0;
	for (int round = 0; round < 125; round++) {
#define CALL(n) sum += read_##n(1000);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
}
