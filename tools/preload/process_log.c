/* SPDX-License-Identifier: MIT */
#include "process_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_SAME_PID = 10000 };

char *append_text(char *at, const char *end, const char *text)
{
	while (*text != '\0' && at < end - 1)
		*at++ = *text++;
	*at = '\0';
	return at;
}

char *append_number(char *at, const char *end, uint32_t number)
{
	char digits[11];
	char *first = &digits[sizeof(digits) - 1];

	*first = '\0';
	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	return append_text(at, end, first);
}

/* Owner and mode are checked when it is open: a file of a name may be exchanged meanwhile. */
int process_log_open_folder(const char *directory)
{
	struct stat status;
	long descriptor = syscall(
		SYS_openat, AT_FDCWD, directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (descriptor < 0)
		return -1;
	if (fstat((int)descriptor, &status) == 0 && status.st_uid == geteuid() &&
		(status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return (int)descriptor;
	syscall(SYS_close, descriptor);
	errno = EPERM;
	return -1;
}

int process_log_create(const char *directory, const char *name,
	char out_path[PROCESS_LOG_PATH_BYTES], uint32_t *out_number)
{
	const uint32_t pid = (uint32_t)syscall(SYS_getpid);
	const char *end = out_path + PROCESS_LOG_PATH_BYTES;
	const int folder = process_log_open_folder(directory);
	char *file = append_text(append_text(out_path, end, directory), end, "/");
	long descriptor = -1;

	if (folder < 0)
		return -1;
	for (int i = 0; i < MAX_SAME_PID && descriptor < 0; i++) {
		char *at = append_text(append_text(file, end, name), end, "-");
		at = append_number(at, end, pid);
		if (i > 0)
			at = append_number(append_text(at, end, "."), end, (uint32_t)i);
		append_text(at, end, ".log");
		descriptor = syscall(SYS_openat, folder, file,
			O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (descriptor < 0 && errno != EEXIST)
			break;
		*out_number = (uint32_t)i;
	}
	const int code = errno;
	syscall(SYS_close, folder);
	errno = code;
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
