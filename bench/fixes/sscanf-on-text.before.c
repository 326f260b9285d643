/* SPDX-License-Identifier: MIT
 *
 * After SOCI/soci pull request #803, ERGO-Code/HiGHS pull request #791: sscanf takes the length of
 * all that follows.
 */
#include "forty.h"
struct item {
	int id, price, stock;
};
static APART const char *read_item(const char *at, struct item *item)
{
	sscanf(at, "%d,%d,%d", &item->id, &item->price, &item->stock);
	return strchr(at, '\n') + 1;
}
int main(void)
{
	enum { N = 9000 };
	static char text[N * 40];
	static struct item items[N];
	size_t at = 0;
	for (int i = 0; i < N; i++)
		at += (size_t)sprintf(text + at, "%d,%d,%d\n", (int)(next_random() % 100000),
			(int)(next_random() % 10000), (int)(next_random() % 100));
	long sum = 0;
	for (int round = 0; round < 300; round++) {
		const char *from = text;
		for (int i = 0; i < N; i++)
			from = read_item(from, &items[i]);
		for (int i = 0; i < N; i++)
			sum += items[i].id ^ (items[i].price * items[i].stock);
	}
	printf("%ld\n", sum);
	return 0;
}
