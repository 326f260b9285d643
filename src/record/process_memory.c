/* SPDX-License-Identifier: MIT */
#include "record/process_memory.h"

#include <glib.h>
#include <sys/uio.h>

enum { PAGE_BYTES = 4096, MAX_PARTS = 18 };

size_t lode_process_memory_read(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote[MAX_PARTS];
	unsigned n = 0;

	for (size_t at = 0; at < size && n < MAX_PARTS; n++) {
		size_t left = PAGE_BYTES - (address + at) % PAGE_BYTES;
		remote[n] = (struct iovec){(void *)(uintptr_t)(address + at), MIN(left, size - at)};
		at += remote[n].iov_len;
	}
	ssize_t got = process_vm_readv(pid, &local, 1, remote, n, 0);
	return got > 0 ? (size_t)got : 0;
}
