/* SPDX-License-Identifier: MIT */
/* Any bytes as a log of allocations; what comes out must be found where it says. */
#include "fuzz_target.h"
#include "sources/allocations/allocation_log.h"

static void check_allocation(const LodeAllocationLog *log, const LodeLoggedAllocation *at)
{
	const LodeLoggedAllocation *found;

	if (at->kind >= LODE_N_ALLOCATION_KINDS || at->end_ns < at->begin_ns)
		g_error("an allocation that ends before it begins, or of no kind");
	if (at->stack != UINT32_MAX && at->stack >= lode_allocation_log_n_stacks(log))
		g_error("no such stack");
	/* Another may lie over it, as anything can stand in a log. */
	found = lode_allocation_log_find(log, at->address, at->begin_ns);
	if (found != NULL && (found->address > at->address || found->begin_ns > at->begin_ns ||
				     at->address - found->address >= found->size))
		g_error("found where it is not");
	lode_allocation_log_find(log, at->address + at->size, UINT64_MAX);
}

static uint64_t add_stacks(const LodeAllocationLog *log)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < lode_allocation_log_n_stacks(log); i++) {
		LodeAllocationStack stack = lode_allocation_log_stack(log, i);
		for (size_t k = 0; k < stack.n; k++)
			sum += stack.addresses[k];
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeAllocationLog) log = lode_allocation_log_read(fuzz_file(data, size), &error);
	size_t n;

	if ((log == NULL) != (error != NULL))
		g_error("a result and an error");
	if (log == NULL)
		return 0;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(log, &n);
	for (size_t i = 0; i < n; i++)
		check_allocation(log, &all[i]);
	volatile uint64_t sum = add_stacks(log);
	(void)sum;
	return 0;
}
