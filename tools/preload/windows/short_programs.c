/* SPDX-License-Identifier: MIT */
#include "short_programs.h"

#include "budget.h"
#include "sources/windows/window_log_format.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

/* An entry is the upper bits of the name's hash, and in the lowest byte the number of short runs.
 */
enum { COUNT_BITS = 0xff, LEAST = 16, MOST = 0xfe, NEVER = 0xff, TRIED_ONE_IN = 32 };
#define SHORT_NS UINT64_C(3000000)

static bool is_child, is_left_out;

/* FNV-1a of what comes after the last slash. */
static uint64_t key_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *at = slash != NULL ? slash + 1 : path; *at != '\0'; at++)
		hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
	return hash & ~(uint64_t)COUNT_BITS;
}

static uint64_t *entry_of(LodeWindowBudget *page, uint64_t key)
{
	return &page->short_programs[(key >> 8) % LODE_WINDOW_SHORT_PROGRAMS];
}

/* A place that a different program has taken stays its own once that is known to be short or not.
 */
static void note(bool is_short)
{
	LodeWindowBudget *page = budget_page();
	const char *path = (const char *)getauxval(AT_EXECFN);

	if (page == NULL || path == NULL || is_child)
		return;
	const uint64_t key = key_of(path);
	uint64_t *entry = entry_of(page, key);
	uint64_t old = __atomic_load_n(entry, __ATOMIC_RELAXED), n = old & COUNT_BITS;
	if ((old & ~(uint64_t)COUNT_BITS) != key) {
		if (n >= LEAST)
			return;
		n = 0;
	}
	if (n == NEVER)
		return;
	const uint64_t count = !is_short ? NEVER : n < MOST ? n + 1 : n;
	__atomic_compare_exchange_n(
		entry, &old, key | count, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool has_had_children(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_maxrss > 0;
}

void short_programs_end(uint64_t worked_ns)
{
	if (!is_left_out)
		note(worked_ns < SHORT_NS && !has_had_children());
}

void short_programs_leave_out(void)
{
	if (is_left_out)
		return;
	is_left_out = true;
	note(false);
}

void short_programs_begin_child(void)
{
	is_child = true;
}

bool short_programs_has(const char *path)
{
	LodeWindowBudget *page = budget_page();

	if (page == NULL || path == NULL)
		return false;
	if (budget_is_over())
		return true;
	const uint64_t key = key_of(path);
	const uint64_t entry = __atomic_load_n(entry_of(page, key), __ATOMIC_RELAXED);
	const uint64_t n = entry & COUNT_BITS;
	if ((entry & ~(uint64_t)COUNT_BITS) != key || n < LEAST || n == NEVER)
		return false;
	return __atomic_add_fetch(&page->n_without, 1, __ATOMIC_RELAXED) % TRIED_ONE_IN != 0;
}
