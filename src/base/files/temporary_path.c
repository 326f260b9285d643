/* SPDX-License-Identifier: MIT */
#include "base/files/temporary_path.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_PATHS = 64, BLOCK_BYTES = 4096, NAME_OFFSET = 19, RECORD_SIZE_OFFSET = 16 };

static const char *paths[MAX_PATHS];

/* Not a mutex: a signal handler takes it too. Nothing between lock and unlock can fail or wait. */
static atomic_flag is_locked = ATOMIC_FLAG_INIT;

static void lock(void)
{
	while (atomic_flag_test_and_set_explicit(&is_locked, memory_order_acquire))
		sched_yield();
}

static void unlock(void)
{
	atomic_flag_clear_explicit(&is_locked, memory_order_release);
}

void lode_temporary_path_add(const char *path)
{
	size_t i = 0;

	lock();
	while (i < MAX_PATHS && paths[i] != NULL)
		i++;
	if (i < MAX_PATHS)
		paths[i] = path;
	unlock();
}

void lode_temporary_path_forget(const char *path)
{
	lock();
	for (size_t i = 0; i < MAX_PATHS; i++)
		if (paths[i] == path)
			paths[i] = NULL;
	unlock();
}

/* By the system call, as readdir() allocates. The records are as getdents64(2) describes them. */
static void empty_directory(int directory)
{
	char block[BLOCK_BYTES];
	long size;

	while ((size = syscall(SYS_getdents64, directory, block, sizeof(block))) > 0) {
		uint16_t record_bytes;
		for (long at = 0; at < size; at += record_bytes) {
			memcpy(&record_bytes, block + at + RECORD_SIZE_OFFSET,
				sizeof(record_bytes));
			unlinkat(directory, block + at + NAME_OFFSET, 0);
		}
	}
}

static void remove_path(const char *path)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (directory < 0) {
		unlink(path);
		return;
	}
	empty_directory(directory);
	close(directory);
	rmdir(path);
}

void lode_temporary_paths_remove(void)
{
	/* Never unlocked: a thread that would forget a path now, and free it, waits for the end. */
	lock();
	for (size_t i = 0; i < MAX_PATHS; i++)
		if (paths[i] != NULL)
			remove_path(paths[i]);
}
