/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static RealFunctions found;
static bool is_found;
/* No variable of the thread's own: those would make each thread's memory larger. */
static long searching; /* the number of the thread that does; 0: none */

static void search(void)
{
	const struct {
		const char *name;
		void *slot;
	} wanted[] = {
		{"malloc", &found.malloc},
		{"calloc", &found.calloc},
		{"realloc", &found.realloc},
		{"reallocarray", &found.reallocarray},
		{"aligned_alloc", &found.aligned_alloc},
		{"posix_memalign", &found.posix_memalign},
		{"memalign", &found.memalign},
		{"valloc", &found.valloc},
		{"pvalloc", &found.pvalloc},
		{"free", &found.free},
		{"mmap", &found.mmap},
		{"munmap", &found.munmap},
		{"mremap", &found.mremap},
		{"brk", &found.brk},
		{"sbrk", &found.sbrk},
		{"pthread_create", &found.pthread_create},
		{"thrd_create", &found.thrd_create},
		{"dlclose", &found.dlclose},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		__atomic_store_n((void **)wanted[i].slot, dlsym(RTLD_NEXT, wanted[i].name),
			__ATOMIC_RELAXED);
}

/* Two threads at once would find the same. */
const RealFunctions *real_functions(void)
{
	if (__builtin_expect(__atomic_load_n(&is_found, __ATOMIC_ACQUIRE), true))
		return &found;
	int code = errno;
	long thread = syscall(SYS_gettid);
	if (__atomic_load_n(&searching, __ATOMIC_RELAXED) == thread)
		return NULL;
	__atomic_store_n(&searching, thread, __ATOMIC_RELAXED);
	search();
	__atomic_store_n(&searching, 0, __ATOMIC_RELAXED);
	errno = code;
	__atomic_store_n(&is_found, true, __ATOMIC_RELEASE);
	return &found;
}
