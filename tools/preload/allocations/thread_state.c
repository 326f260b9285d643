/* SPDX-License-Identifier: MIT */
#include "thread_state.h"

#include "../process_log.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLACE ((void *)0x218000000000)

enum { N_STATES = 1 << 14, PROBES = 64 };

static ThreadState *states;

bool thread_state_begin(void)
{
	const size_t size = N_STATES * sizeof(ThreadState);
	ThreadState *made = map_far(PLACE, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	__atomic_store_n(&states, made, __ATOMIC_RELEASE);
	return made != NULL;
}

static uintptr_t thread_pointer(void)
{
#if defined(__x86_64__)
	uintptr_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}

/* A place once taken stays its pointer's: as many as there are threads at a time, and little more,
 * as the C library uses the memory of threads again. */
ThreadState *thread_state_find(void)
{
	ThreadState *all = __atomic_load_n(&states, __ATOMIC_ACQUIRE);
	uintptr_t pointer = thread_pointer();
	size_t first = (pointer * UINT64_C(0x9e3779b97f4a7c15) >> 40) % N_STATES;

	for (size_t i = 0; all != NULL && i < PROBES; i++) {
		ThreadState *at = &all[(first + i) % N_STATES];
		uintptr_t there = __atomic_load_n(&at->pointer, __ATOMIC_RELAXED);
		if (there == pointer ||
			(there == 0 && __atomic_compare_exchange_n(&at->pointer, &there, pointer,
					       false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
			return at;
	}
	return NULL;
}
