/* SPDX-License-Identifier: MIT */
/*
 * Loops of cheap instructions with one that makes the processor wait, for bench/cause.sh.
 *
 *   cause_kernels                 lists the kernels: name, share, and where the cause is
 *   cause_kernels NAME [SECONDS]  runs one for about so long, and prints nothing
 *
 * The share is that of the time which the same loop takes without the cause. A cause is given as
 * the file address of an instruction, the step to the next one like it, and their number; "branch"
 * says that the front end waits, so that the first instruction after the branch is right as well:
 * where that is follows in the same form, when only running tells (0 0 0: the profile knows).
 * For x86-64.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { N_BLOCKS = 16384, N_TARGETS = 8, TARGET_SIZE = 16, LINE = 64, PAGE = 4096 };
#define MEMORY ((uint64_t)256 << 20)

/* What comes next out of it decides branches; 0: always the same. */
uint64_t random_state = 1;
/* Of the bits that choose a target. */
uint64_t target_mask = (N_TARGETS - 1) * TARGET_SIZE;

typedef void *Kernel(uint64_t n, void *memory);

/* Of cause_kernels.S. */
extern Kernel kernel_nothing, kernel_div, kernel_extend, kernel_clear, kernel_root, kernel_chain,
	kernel_load, kernel_apart, kernel_compare, kernel_compare_two, kernel_forward, kernel_lock,
	kernel_exchange, kernel_fence, kernel_copy, kernel_copy_few, kernel_fill, kernel_cpuid,
	kernel_pause, kernel_clock, kernel_store, kernel_far_store, kernel_visit, kernel_branch,
	kernel_fused, kernel_jump, kernel_call, kernel_fetch;
extern const char cause_div[], cause_extend[], cause_clear[], cause_root[], cause_chain[],
	cause_load[], cause_apart[], cause_compare[], cause_compare_two[], cause_forward[],
	cause_lock[], cause_exchange[], cause_fence[], cause_copy[], cause_copy_few[], cause_fill[],
	cause_cpuid[], cause_pause[], cause_clock[], cause_store[], cause_far_store[],
	cause_visit[], cause_branch[], cause_fused[], cause_jump[], cause_call[];
extern const char targets[], callees[], blocks[], __executable_start[];

/* Instructions at equal distances. */
typedef struct {
	const char *first;
	unsigned step, n;
} Places;

typedef struct {
	const char *name;
	Kernel *run;
	Places cause;
	bool is_branch;
	Places after;        /* a branch: where it leads */
	uint64_t ring, step; /* bytes of a ring of pointers, and from one to the next in memory */
	uint64_t n_waits;    /* in one round; 0: 1 */
	bool is_apart;       /* uses all of the memory, without a ring */
} Row;

static const Row rows[] = {
	{"div", kernel_div, {cause_div, 0, 1}},
	{"cqo and idiv", kernel_extend, {cause_extend, 0, 1}},
	{"xor and div, 32 bits", kernel_clear, {cause_clear, 0, 1}},
	{"square root", kernel_root, {cause_root, 0, 1}},
	{"chain of 4 additions", kernel_chain, {cause_chain, 12, 4}},
	{"load, L1 hit", kernel_load, {cause_load, 0, 1}, .ring = 16 << 10, .step = LINE},
	{"load, L2 hit", kernel_load, {cause_load, 0, 1}, .ring = 256 << 10, .step = LINE},
	{"load, L3 hit", kernel_load, {cause_load, 0, 1}, .ring = 8 << 20, .step = LINE},
	{"load, memory", kernel_load, {cause_load, 0, 1}, .ring = MEMORY, .step = LINE},
	{"load, page walk", kernel_load, {cause_load, 0, 1}, .ring = 64 << 20, .step = PAGE + LINE},
	{"loads that overlap", kernel_apart, {cause_apart, 0, 1}, .is_apart = true},
	{"compare and jump, fused", kernel_compare, {cause_compare, 0, 1}, .is_apart = true},
	{"compare and jump, two", kernel_compare_two, {cause_compare_two, 0, 1}, .is_apart = true},
	{"store forwarding fails", kernel_forward, {cause_forward, 0, 1}},
	{"locked addition", kernel_lock, {cause_lock, 0, 1}},
	{"exchange", kernel_exchange, {cause_exchange, 0, 1}},
	{"fence", kernel_fence, {cause_fence, 0, 1}},
	{"rep movsb, 512", kernel_copy, {cause_copy, 0, 1}},
	{"rep movsb, 8", kernel_copy_few, {cause_copy_few, 0, 1}},
	{"rep stosd, 100", kernel_fill, {cause_fill, 0, 1}},
	{"cpuid", kernel_cpuid, {cause_cpuid, 0, 1}},
	{"pause", kernel_pause, {cause_pause, 0, 1}},
	{"rdtsc", kernel_clock, {cause_clock, 0, 1}},
	{"stores to memory", kernel_store, {cause_store, 0, 1}, .is_apart = true},
	{"store, page walk", kernel_far_store, {cause_far_store, 0, 1}, .step = PAGE + LINE},
	{"store and load, page walk", kernel_visit, {cause_visit, 4, 2}, .ring = 64 << 20,
		.step = PAGE + LINE},
	{"branch, mispredicted", kernel_branch, {cause_branch, 0, 1}, .is_branch = true},
	{"test and branch, fused", kernel_fused, {cause_fused, 0, 1}, .is_branch = true},
	{"jump, mispredicted", kernel_jump, {cause_jump, 0, 1}, .is_branch = true,
		.after = {targets, TARGET_SIZE, N_TARGETS}},
	{"call, mispredicted", kernel_call, {cause_call, 0, 1}, .is_branch = true,
		.after = {callees, TARGET_SIZE, N_TARGETS}},
	{"code not in the L1", kernel_fetch, {blocks + 24, LINE, N_BLOCKS}, .is_branch = true,
		.n_waits = N_BLOCKS},
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* A ring of pointers through places `step` apart, in random order (Sattolo's algorithm). */
static void make_ring(char *memory, uint64_t bytes, uint64_t step)
{
	uint64_t n = bytes / step, state = 1;
	uint32_t *order = malloc(n * sizeof(*order));

	if (order == NULL)
		exit(1);
	for (uint64_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = n - 1; i > 0; i--) {
		uint64_t j = next_random(&state) % i;
		uint32_t kept = order[i];
		order[i] = order[j];
		order[j] = kept;
	}
	for (uint64_t i = 0; i < n; i++)
		*(void **)(memory + order[i] * step) = memory + order[(i + 1) % n] * step;
	free(order);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* With `has_little` a run executes the same code, but need not wait. */
static char *prepare(const Row *row, bool has_little)
{
	char *memory = mmap(
		NULL, MEMORY + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	/* Page walks are the cost of one kernel only. */
	madvise(memory, MEMORY, row->step > PAGE ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	if (row->is_apart && !has_little)
		memset(memory, 1, MEMORY);
	if (row->ring > 0)
		make_ring(memory, has_little ? 16 * row->step : row->ring, row->step);
	return memory;
}

/* The least time of a wait, in seconds; runs for as long as was asked. */
static double run(const Row *row, Kernel *kernel, char *memory, double seconds)
{
	uint64_t n_waits = row->n_waits > 0 ? row->n_waits : 1, n = 20000 / n_waits + 1;
	double start = now(), least = 1e9, begun;
	void *at = memory;

	do {
		begun = now();
		void *last = kernel(n, at);
		at = row->ring > 0 ? last : memory;
		double taken = (now() - begun) / (double)(n * n_waits);
		if (taken < least)
			least = taken;
	} while (begun < start + seconds);
	return least;
}

/* In turn, since other programs may run. Branches are predicted when they always do the same. */
static double share_without_cause(const Row *row)
{
	const Row plain = {.name = "nothing"};
	bool is_random = row->is_branch && row->n_waits == 0;
	char *memory = prepare(row, false);
	double with = 1e9, without = 1e9;

	for (int i = 0; i < 10; i++) {
		double taken = run(row, row->run, memory, 0.03);
		with = taken < with ? taken : with;
		random_state = target_mask = 0;
		taken = is_random ? run(row, row->run, memory, 0.01)
		                  : run(&plain, kernel_nothing, memory, 0.01);
		without = taken < without ? taken : without;
		random_state = 1;
		target_mask = (N_TARGETS - 1) * TARGET_SIZE;
	}
	munmap(memory, MEMORY + PAGE);
	return without / with;
}

static void put_places(const Places *places)
{
	unsigned long address = places->n > 0 ? (unsigned long)(places->first - __executable_start)
	                                      : 0;

	printf(" 0x%lx %u %u", address, places->step, places->n);
}

int main(int n_arguments, char **arguments)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const Row *row = &rows[i];
		if (n_arguments < 2) {
			printf("%s\t%.4f %s", row->name, share_without_cause(row),
				row->is_branch ? "branch" : "wait");
			put_places(&row->cause);
			put_places(&row->after);
			putchar('\n');
		} else if (strcmp(arguments[1], row->name) == 0) {
			double seconds = n_arguments > 2 ? atof(arguments[2]) : 1;
			run(row, row->run, prepare(row, seconds == 0), seconds);
			return 0;
		}
	}
	return n_arguments < 2 ? 0 : 2;
}
