/* SPDX-License-Identifier: MIT */
/*
 * Walks data of every kind for a while, each in a function of its own, so that a profile of it has
 * known answers. Prints where the arrays of its threads lie: "thread K FIRST END".
 *
 *   known_data [MILLISECONDS of each walk]
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { MANY = 1 << 12, N_THREADS = 3 };

#define APART __attribute__((noinline)) static

struct particle {
	double place;
	long speed;
	int kind;
	char tags[4];
};

struct node {
	struct node *next;
	long value;
};

struct particle particles[MANY];
int initialised[MANY] = {1};
int zeroed[MANY];
unsigned scattered[MANY];
static _Thread_local int own[MANY];
static double seconds = 0.1;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What the compiler cannot see through. */
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

/* What it cannot know the value of. */
#define HIDE(value) __asm__ volatile("" : "+r"(value) : : "memory")

#define WHILE_TIME for (double end = now() + seconds; now() < end;)

APART void walk_structs(void)
{
	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		particles[i].speed ^= i;
}

APART void walk_initialised(void)
{
	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		KEEP(initialised[i]);
}

APART void walk_zeroed(void)
{
	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		zeroed[i] ^= i;
}

APART void walk_stack(void)
{
	int local[MANY] = {0};

	WHILE_TIME
	{
		for (int i = 0; i < MANY; i++)
			local[i] ^= i;
		KEEP(&local[0]);
	}
}

APART void walk_own(void)
{
	int *mine = own;

	KEEP(mine);
	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		mine[i] ^= i;
}

/* Nothing at the instruction tells what it is. */
APART void walk_lent(void *lent)
{
	char *bytes = lent;

	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		bytes[i] ^= i;
}

APART void lend(void)
{
	int buffer[MANY / 4] = {0};
	void *lent = buffer;

	HIDE(lent);
	walk_lent(lent);
	KEEP(&buffer[0]);
}

/* Likewise, of the member `kind` in an array of structures. */
APART void walk_hidden(void *hidden)
{
	char *bytes = (char *)hidden + offsetof(struct particle, kind);

	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		bytes[(unsigned)i * sizeof(struct particle)] ^= i;
}

/* The same of memory that is allocated. */
APART void walk_made(void *made)
{
	char *bytes = (char *)made + offsetof(struct particle, kind);

	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		*(int *)(bytes + (unsigned)i * sizeof(struct particle)) ^= i;
}

/* And of what is no structure, allocated on the same line. */
APART void walk_beside(void *beside)
{
	char *bytes = beside;

	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		bytes[i] += i;
}

/* Each load overwrites what its address was computed from; where the array begins is left. */
APART void walk_scattered(const unsigned *array)
{
	unsigned at = 1;

	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		at = array[at % MANY] * 2654435761u >> 7;
	KEEP(at);
}

APART void walk_mapped(void)
{
	long *pages = mmap(NULL, MANY * sizeof(long), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	WHILE_TIME
	for (int i = 0; i < MANY; i++)
		pages[i] ^= i;
	munmap(pages, MANY * sizeof(long));
}

/* A wrapper, which no allocation is named after. */
APART void *xmalloc(size_t size)
{
	void *block = malloc(size);

	if (block == NULL)
		abort();
	return block;
}

static inline __attribute__((always_inline)) long follow(const struct node *node)
{
	long sum = 0;

	for (; node != NULL; node = node->next)
		sum += node->value;
	return sum;
}

APART void walk_list(void)
{
	struct node *first = NULL;

	for (int i = 0; i < MANY; i++) {
		struct node *node = xmalloc(sizeof(*node)); /* the site of the list */
		*node = (struct node){first, i};
		first = node;
	}
	WHILE_TIME
	KEEP(follow(first));
}

/* clang-format off */
struct particle *made; long *beside;

APART void make(void)
{
	made = xmalloc(MANY * sizeof(*made)); beside = xmalloc(MANY * sizeof(*beside));
	void *first = made, *second = beside;
	HIDE(first);
	HIDE(second);
	walk_made(first);
	walk_beside(second);
}
/* clang-format on */

APART void walk_block(unsigned char *block)
{
	WHILE_TIME
	for (int i = 0; i < MANY * 4; i++)
		block[i]++;
}

static void *work(void *data)
{
	unsigned char *block = xmalloc(MANY * 4); /* the site of the threads */

	printf("thread %d %#lx %#lx\n", (int)(intptr_t)data, (unsigned long)(uintptr_t)block,
		(unsigned long)(uintptr_t)block + MANY * 4);
	walk_block(block);
	free(block);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];
	void *hidden = particles;

	if (argc > 1)
		seconds = atof(argv[1]) / 1000;
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)(i + 1));
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	walk_structs();
	walk_initialised();
	walk_zeroed();
	walk_stack();
	walk_own();
	lend();
	HIDE(hidden);
	walk_hidden(hidden);
	for (int i = 0; i < MANY; i++)
		scattered[i] = (unsigned)i * 40503u;
	hidden = scattered;
	HIDE(hidden);
	walk_scattered(hidden);
	walk_mapped();
	make();
	walk_list();
	return 0;
}
