/* SPDX-License-Identifier: MIT */
#include "guest_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

/* The kernel looks whether it is an address. Where it refuses to (a container's rules), we cannot
 * know, and believe the program. */
static size_t read_memory(const struct iovec *to, const struct iovec *from, unsigned long n_from)
{
	ssize_t got = process_vm_readv(getpid(), to, 1, from, n_from, 0);

	if (got < 0 && (errno == EPERM || errno == ENOSYS)) {
		memcpy(to->iov_base, from[0].iov_base, to->iov_len);
		return to->iov_len;
	}
	return got > 0 ? (size_t)got : 0;
}

bool guest_memory_read(uint64_t address, void *out, size_t n)
{
	const struct iovec to = {.iov_base = out, .iov_len = n};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)address, .iov_len = n};

	return read_memory(&to, &from, 1) == n;
}

/* The kernel gives all of a range or nothing of it. */
size_t guest_memory_read_some(uint64_t address, void *out, size_t n)
{
	const size_t page_rest = PAGE_BYTES - address % PAGE_BYTES;
	const size_t n_first = page_rest < n ? page_rest : n;
	const struct iovec to = {.iov_base = out, .iov_len = n};
	const struct iovec from[] = {
		{.iov_base = (void *)(uintptr_t)address, .iov_len = n_first},
		{.iov_base = (void *)(uintptr_t)(address + n_first), .iov_len = n - n_first},
	};

	return read_memory(&to, from, 2);
}

bool guest_memory_read_text(uint64_t address, char *out, size_t size)
{
	size_t n = 0;

	while (n < size) {
		size_t some = PAGE_BYTES - (address + n) % PAGE_BYTES;
		if (some > size - n)
			some = size - n;
		if (!guest_memory_read(address + n, out + n, some))
			return false;
		if (memchr(out + n, '\0', some) != NULL)
			return true;
		n += some;
	}
	return false;
}
