/* SPDX-License-Identifier: MIT
 *
 * After shermp/MiniVHD pull request #1: fseek before each read throws the buffer away.
 */
#include "forty.h"
#include <unistd.h>
struct record {
	uint32_t key, size;
	char data[56];
};
enum { RECORDS = 20000 };
static APART int load(FILE *file, long i, struct record *r)
{
	(void)i;
	return fread(r, sizeof *r, 1, file) == 1;
}
static APART uint64_t check(const struct record *r)
{
	uint64_t sum = r->key;
	for (uint32_t i = 0; i < r->size; i++)
		sum = sum * 7 + (unsigned char)r->data[i];
	return sum;
}
int main(void)
{
	FILE *file = tmpfile();
	struct record r = {0};
	for (int i = 0; i < RECORDS; i++) {
		r.key = (uint32_t)i, r.size = 20 + i % 30;
		fwrite(&r, sizeof r, 1, file);
	}
	uint64_t sum = 0;
	for (int round = 0; round < 350; round++) {
		rewind(file);
		for (long i = 0; i < RECORDS && load(file, i, &r); i++)
			sum += check(&r);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
