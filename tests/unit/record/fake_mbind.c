/* SPDX-License-Identifier: MIT */
/*
 * Stands in front of mbind() for a machine that has one memory only: writes each call into the file
 * that MBIND_LOG names and says that it was done, and refuses holes as the kernel does.
 *
 *   ADDRESS END MODE NODES      hexadecimal; the modes of <linux/mempolicy.h>
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long (*real_syscall)(long number, ...);

__attribute__((constructor)) static void begin(void)
{
	real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

/* mincore() knows what is mapped, whatever it says of pages. */
static int is_mapped(uint64_t start, uint64_t size)
{
	static unsigned char pages[1 << 20];

	return size / 4096 <= sizeof(pages) && mincore((void *)start, size, pages) == 0;
}

static long log_mbind(uint64_t start, uint64_t size, long mode, const uint64_t *nodes)
{
	const char *path = getenv("MBIND_LOG");
	int file = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;

	if (!is_mapped(start, size)) {
		if (file >= 0)
			close(file);
		errno = EFAULT;
		return -1;
	}
	if (file >= 0) {
		/* No stream: that would ask for memory, which is where we come from. */
		char line[128];
		int length = snprintf(line, sizeof(line), "%lx %lx %lx %lx\n", (unsigned long)start,
			(unsigned long)(start + size), (unsigned long)mode,
			(unsigned long)nodes[0]);
		if (write(file, line, (size_t)length) != length)
			abort();
		close(file);
	}
	return 0;
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	long values[6];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		values[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number == SYS_mbind)
		return log_mbind((uint64_t)values[0], (uint64_t)values[1], values[2],
			(const uint64_t *)values[3]);
	if (real_syscall == NULL)
		begin();
	return real_syscall(
		number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
