/* SPDX-License-Identifier: MIT */
/* A program with a malloc of its own: pieces of what it maps, never given back. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char *room, *end;

void *malloc(size_t size)
{
	size_t rounded = (size + 31) / 16 * 16;

	if (end - room < (long)rounded) {
		room = mmap(
			NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED)
			return NULL;
		end = room + (1 << 20);
	}
	memcpy(room, &size, sizeof(size));
	room += rounded;
	return room - rounded + 16;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void *realloc(void *block, size_t size)
{
	size_t old = 0;
	void *moved = malloc(size);

	if (block != NULL && moved != NULL) {
		memcpy(&old, (char *)block - 16, sizeof(old));
		memcpy(moved, block, old < size ? old : size);
	}
	return moved;
}

int main(void)
{
	unsigned sum = 0;

	for (unsigned i = 1; i < 10000; i++) {
		char *block = malloc(i % 1000 + 1);
		block[0] = (char)i;
		sum += (unsigned char)block[0];
		free(block);
	}
	printf("%u\n", sum);
	return 0;
}
