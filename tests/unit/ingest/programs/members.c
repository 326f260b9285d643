/* SPDX-License-Identifier: MIT */
/* Structures in each other, functions that access one member each, and blocks that are allocated
 * for one structure each. */
#include <stdlib.h>

struct inner {
	int x, y;
};
struct outer {
	int id;
	struct inner in;
	short low, high;
	struct inner many[3];
};
struct other {
	int a, b, c, x;
};

struct outer whole;
struct inner alone;
struct other apart;

int get_x(struct inner *p);
int get_y(struct inner *p);
int get_id(struct outer *p);
int get_in_y(struct outer *p);
int get_many_x(struct outer *p);
int get_a(struct other *p);
int get_other_x(struct other *p);
struct outer *make_outer(void);
struct inner *make_inner(void);
struct other *make_other(void);

int get_x(struct inner *p)
{
	return p->x;
}

int get_y(struct inner *p)
{
	return p->y;
}

int get_id(struct outer *p)
{
	return p->id;
}

int get_in_y(struct outer *p)
{
	return p->in.y;
}

int get_many_x(struct outer *p)
{
	return p->many[2].x;
}

int get_a(struct other *p)
{
	return p->a;
}

int get_other_x(struct other *p)
{
	return p->x;
}

struct outer *make_outer(void)
{
	struct outer *p = malloc(4 * sizeof *p);

	p->id = 1;
	return p;
}

struct inner *make_inner(void)
{
	struct inner *p = malloc(4 * sizeof *p);

	p->y = 1;
	return p;
}

struct other *make_other(void)
{
	struct other *p = malloc(4 * sizeof *p);

	p->c = 1;
	return p;
}

int main(void)
{
	struct outer *o = make_outer();
	struct inner *i = make_inner();
	struct other *t = make_other();

	return get_x(i) + get_y(&alone) + get_id(o) + get_in_y(&whole) + get_many_x(o) + get_a(t) +
	       get_other_x(&apart);
}
