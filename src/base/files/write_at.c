/* SPDX-License-Identifier: MIT */
#include "base/files/write_at.h"

#include <errno.h>
#include <unistd.h>

bool lode_write_at(int descriptor, const void *data, size_t size, uint64_t offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(
			descriptor, (const char *)data + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		done += (size_t)n;
	}
	return true;
}
