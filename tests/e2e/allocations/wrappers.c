/* SPDX-License-Identifier: MIT */
/* Wrappers around malloc of no usual name, functions that are none, and known figures. */
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

struct pool {
	size_t used;
};

struct node {
	struct node *next;
	int key;
};

static void *volatile sink;
static struct pool pool;

APART static void *fetch(size_t n)
{
	if (n == 0)
		n = 1;
	void *block = malloc(n);
	if (block == NULL)
		abort();
	return block;
}

APART static void *pool_take(struct pool *from, size_t n)
{
	from->used += n;
	return (char *)fetch((n + 16 + 15) / 16 * 16) + 16;
}

/* Of one size: a site. */
APART static struct node *node_new(int key)
{
	struct node *node = malloc(sizeof(*node)); /* site: node */
	node->key = key;
	return node;
}

/* A number of things: a site. */
APART static double *matrix_new(size_t n)
{
	double *matrix = calloc(n * n, sizeof(double)); /* site: matrix */
	sink = matrix;
	return matrix;
}

APART static char *read_lines(void)
{
	char *text = fetch(1000); /* site: lines */
	memset(text, 1, 1000);
	return text;
}

APART static void *build(void)
{
	void *nodes[10];
	for (int i = 0; i < 10; i++)
		nodes[i] = node_new(i); /* caller: build */
	sink = nodes[3];
	return sink;
}

int main(void)
{
	char *text = fetch(100000);          /* site: text */
	char *more = pool_take(&pool, 5000); /* site: more */
	sink = pool_take(&pool, 300);        /* site: less */
	for (int i = 0; i < 50; i++)
		sink = node_new(i); /* caller: main */
	build();
	double *big = matrix_new(500);
	free(text);
	double *small = matrix_new(100);
	free(big);
	text = read_lines();
	memset(more, 1, 5000);
	free(more - 16);
	for (int i = 0; i < 100; i++)
		free(fetch(7)); /* site: short */
	return small[3] != 0 || text[0] != 1;
}
