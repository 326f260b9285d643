/* SPDX-License-Identifier: MIT */
/* Any bytes as a log of a heap; an object that is found holds the address. */
#include "fuzz_target.h"
#include "sources/allocations/heap_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeHeapLog) log = lode_heap_log_read(fuzz_file(data, size), &error);

	if ((log == NULL) != (error != NULL))
		g_error("a result and an error");
	for (uint64_t i = 0; log != NULL && i < 512; i++) {
		uint64_t address = 0x10000 + 8 * i;
		LodeHeapObject found;
		if (lode_heap_log_find(log, address, 1000 + 3 * i, &found) &&
			address - found.address >= found.size)
			g_error("found where it is not");
		lode_heap_log_is_in(log, address, address + 8);
	}
	return 0;
}
