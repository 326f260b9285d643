/* SPDX-License-Identifier: MIT */
#include "process_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_SAME_PID = 10000 };

/* Not by snprintf(), which needs more stack than a signal handler may have. */
static char *put_text(const char *path, char *at, const char *text)
{
	while (*text != '\0' && at < path + PROCESS_LOG_PATH_BYTES - 1)
		*at++ = *text++;
	*at = '\0';
	return at;
}

static char *put_number(const char *path, char *at, uint32_t number)
{
	char digits[11];
	char *first = &digits[sizeof(digits) - 1];

	*first = '\0';
	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	return put_text(path, at, first);
}

int process_log_create(const char *directory, const char *name,
	char out_path[PROCESS_LOG_PATH_BYTES], uint32_t *out_number)
{
	const uint32_t pid = (uint32_t)syscall(SYS_getpid);
	long descriptor = -1;

	for (int i = 0; i < MAX_SAME_PID && descriptor < 0; i++) {
		char *at = put_text(out_path, out_path, directory);
		at = put_text(out_path, put_text(out_path, at, "/"), name);
		at = put_number(out_path, put_text(out_path, at, "-"), pid);
		if (i > 0)
			at = put_number(out_path, put_text(out_path, at, "."), (uint32_t)i);
		put_text(out_path, at, ".log");
		descriptor = syscall(SYS_openat, AT_FDCWD, out_path,
			O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (descriptor < 0 && errno != EEXIST)
			return -1;
		*out_number = (uint32_t)i;
	}
	return (int)descriptor;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t process_log_allowed_bytes(size_t most)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		most = smaller(most, limit.rlim_cur / 16);
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		most = smaller(most, limit.rlim_cur);
	return most;
}

void *map_far(void *place, size_t size, int protection, int flags, int descriptor)
{
	long at = syscall(
		SYS_mmap, place, size, protection, flags | MAP_FIXED_NOREPLACE, descriptor, 0L);

	if (at == -1)
		at = syscall(SYS_mmap, NULL, size, protection, flags, descriptor, 0L);
	return at == -1 ? NULL : (void *)at;
}
