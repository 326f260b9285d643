/* SPDX-License-Identifier: MIT
 *
 * After apache/trafficserver issue #8781, MariaDB/server pull request #1248.
 */
#include "forty.h"
#include <pthread.h>
struct context {
	uint64_t stack[64];
	int depth;
};
static _Thread_local struct context *current;
#define CURRENT current
static APART void push(uint64_t v)
{
	struct context *c = CURRENT;
	c->stack[c->depth++ & 63] = v;
}
static APART uint64_t pop(void)
{
	struct context *c = CURRENT;
	return c->stack[--c->depth & 63];
}
static APART void add(void)
{
	uint64_t a = pop();
	push(a + pop());
}
static APART void multiply(void)
{
	uint64_t a = pop();
	push(a * pop());
}
int main(void)
{
	struct context context = {.depth = 1};
	current = &context;
	uint64_t sum = 0;
	for (int i = 0; i < 90000000; i++) {
		push((uint64_t)i);
		push(3);
		if (i & 1)
			add();
		else
			multiply();
		sum ^= pop();
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
