/* SPDX-License-Identifier: MIT */
#include "budget.h"

#include "../process_log.h"
#include "sources/windows/window_log_format.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Near the library, so that both are in one page table, far from the program's mappings. */
#define PLACE ((void *)0x552000100000)

#define MILLION UINT64_C(1000000)
#define FIRST_NS (10 * MILLION)
/* A short program may have a tenth of its time, up to the share of this time. */
#define SHORT_PROGRAM_NS (3333 * MILLION)
/* Loading the library takes as long as starting it; see docs/inside/stepping.md. */
enum { LOAD_FACTOR = 2 };

enum { MAX_TRIES = 8 };

static LodeWindowBudget *shared;
static uint32_t share_ppm;

_Static_assert(sizeof(LodeWindowBudget) <= LODE_WINDOW_LOG_PAGE, "it is one page");

bool budget_open(int folder, uint32_t given_ppm)
{
	const size_t size = LODE_WINDOW_LOG_PAGE;
	long descriptor = syscall(SYS_openat, folder, LODE_WINDOW_BUDGET_NAME,
		O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (descriptor < 0)
		return false;
	struct stat status;
	if (fstat((int)descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
		((size_t)status.st_size >= size || syscall(SYS_ftruncate, descriptor, size) == 0))
		shared = map_far(PLACE, size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)descriptor);
	syscall(SYS_close, descriptor);
	share_ppm = given_ppm;
	return shared != NULL;
}

LodeWindowBudget *budget_page(void)
{
	return shared;
}

void budget_close(void)
{
	if (shared == NULL)
		return;
	syscall(SYS_munmap, shared, LODE_WINDOW_LOG_PAGE);
	shared = NULL;
}

static uint64_t load(const uint64_t *figure)
{
	return __atomic_load_n(figure, __ATOMIC_RELAXED);
}

static void add(uint64_t *figure, uint64_t ns)
{
	__atomic_fetch_add(figure, ns, __ATOMIC_RELAXED);
}

uint64_t budget_used_ns(void)
{
	struct timespec used = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000 * MILLION + (uint64_t)used.tv_nsec;
}

void budget_begin(Budget *self)
{
	self->before_ns = budget_used_ns();
}

void budget_charge_begin(uint64_t began_ns)
{
	if (shared != NULL)
		add(&shared->spent_ns, LOAD_FACTOR * (budget_used_ns() - began_ns));
}

uint64_t budget_tell(Budget *self)
{
	const uint64_t used = budget_used_ns(), other = self->before_ns + self->spent_ns;
	const uint64_t worked = used > other ? used - other : 0;
	const uint64_t told = __atomic_exchange_n(&self->told_ns, worked, __ATOMIC_RELAXED);

	/* the difference may be negative: a window took more than was reserved */
	if (shared != NULL)
		add(&shared->worked_ns, worked - told);
	return worked;
}

static uint64_t share_of(uint64_t ns)
{
	return ns / 1000 * share_ppm / 1000;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t allowed_to_all(uint64_t worked)
{
	const uint64_t most_early = share_of(SHORT_PROGRAM_NS), tenth = worked / 10;

	if (worked < FIRST_NS)
		return 0;
	return larger(share_of(worked), tenth < most_early ? tenth : most_early);
}

bool budget_reserve(Budget *self, uint64_t wanted_ns, uint64_t cost_ns)
{
	const uint64_t own = budget_tell(self);

	if (larger(share_of(own), own / 4) < self->spent_ns + wanted_ns)
		return false;
	const uint64_t allowed = allowed_to_all(load(&shared->worked_ns));
	uint64_t spent = load(&shared->spent_ns);
	for (int i = 0; i < MAX_TRIES; i++) {
		if (spent > allowed || allowed - spent < wanted_ns)
			return false;
		if (__atomic_compare_exchange_n(&shared->spent_ns, &spent, spent + cost_ns, false,
			    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			self->reserved_ns = cost_ns;
			return true;
		}
	}
	return false;
}

void budget_settle(Budget *self, uint64_t cost_ns)
{
	add(&shared->spent_ns, cost_ns - self->reserved_ns);
	self->reserved_ns = 0;
	self->spent_ns += cost_ns;
}

bool budget_is_over(void)
{
	return (__atomic_load_n(&shared->flags, __ATOMIC_RELAXED) & LODE_WINDOW_BUDGET_OVER) != 0;
}
