/* SPDX-License-Identifier: MIT */
#include "window_log.h"

#include "../process_log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Far from where the kernel puts what the program maps, so that its addresses stay as they are. */
#define PLACE ((void *)0x240000000000)

/* Where pages cannot be had beforehand, a full disk would be a SIGBUS: so much is reserved. */
#define MAX_BYTES ((size_t)1 << 28)
#define RESERVED_BYTES ((size_t)1 << 24)

enum { CHUNK = 1 << 16 };

uint64_t window_log_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Makes more of the log writable, at first only its header. False: the log or the disk is full. */
static bool prepare(WindowLog *self)
{
	uint8_t *at = (uint8_t *)self->header + self->prepared;
	size_t size = self->prepared == 0 ? LODE_WINDOW_LOG_PAGE : CHUNK - self->prepared % CHUNK;

	if (self->prepared + size > self->limit ||
		syscall(SYS_mprotect, at, size, PROT_READ | PROT_WRITE) != 0 ||
		(self->is_populated && syscall(SYS_madvise, at, size, MADV_POPULATE_WRITE) != 0))
		return false;
	self->prepared += size;
	return true;
}

/* In a kernel that cannot have pages beforehand the whole log is reserved on the disk. */
static bool prepare_first(WindowLog *self, int descriptor)
{
	self->is_populated = true;
	if (prepare(self))
		return true;
	self->is_populated = false;
	if (self->limit > RESERVED_BYTES)
		self->limit = RESERVED_BYTES;
	return syscall(SYS_fallocate, descriptor, 0, 0L, self->limit) == 0 && prepare(self);
}

/* Without access at first: pages that a program locks in memory must be few. A child, however it is
 * forked, does not have it. */
static bool map_file(WindowLog *self, int descriptor)
{
	self->prepared = 0;
	self->limit = process_log_allowed_bytes(MAX_BYTES) / CHUNK * CHUNK;
	if (self->limit == 0 || syscall(SYS_ftruncate, descriptor, self->limit) != 0)
		return false;
	void *base = map_far(PLACE, self->limit, PROT_NONE, MAP_SHARED, descriptor);
	if (base == NULL)
		return false;
	self->header = base;
	/* The file is one hole: to read ahead in it would fill megabytes with zeros, each time. */
	syscall(SYS_madvise, base, self->limit, MADV_RANDOM);
	if (syscall(SYS_madvise, base, self->limit, MADV_DONTFORK) == 0 &&
		prepare_first(self, descriptor))
		return true;
	self->header = NULL;
	syscall(SYS_munmap, base, self->limit);
	return false;
}

bool window_log_open(WindowLog *self, const char *directory)
{
	/* The stack of a signal handler may be small. */
	static char path[PROCESS_LOG_PATH_BYTES];
	uint32_t number;
	int descriptor = process_log_create(directory, "windows", path, &number);

	if (descriptor < 0)
		return false;
	bool is_open = map_file(self, descriptor);
	syscall(SYS_close, descriptor);
	if (!is_open) {
		/* Readers do not accept a log without a header. */
		syscall(SYS_unlinkat, AT_FDCWD, path, 0);
		return false;
	}
	*self->header = (LodeWindowLogHeader){
		.version = LODE_WINDOW_LOG_VERSION,
		.page = LODE_WINDOW_LOG_PAGE,
		.pid = (uint32_t)syscall(SYS_getpid),
		.parent = (uint32_t)getppid(),
		.begin_ns = window_log_now(),
		.used = LODE_WINDOW_LOG_PAGE,
	};
	memcpy(self->header->magic, LODE_WINDOW_LOG_MAGIC, sizeof(self->header->magic));
	return true;
}

void window_log_begin(WindowLog *self)
{
	self->at = (uint8_t *)self->header + self->header->used + sizeof(LodeWindowHead);
	self->address = 0;
	memset(self->registers, 0, sizeof(self->registers));
}

static uint8_t *put_number(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *put_difference(uint8_t *at, uint64_t value, uint64_t before)
{
	uint64_t difference = value - before;

	return put_number(at, difference << 1 ^ -(difference >> 63));
}

bool window_log_add(WindowLog *self, const WindowStep *step)
{
	/* With the padding of the last step. */
	size_t used = (size_t)(self->at - (uint8_t *)self->header);
	if (used + LODE_WINDOW_STEP_MAX_BYTES + 8 > self->prepared && !prepare(self))
		return false;
	uint32_t mask = (step->raised != 0 ? LODE_WINDOW_STEP_RAISED : 0) |
	                (step->is_gap ? LODE_WINDOW_STEP_GAP : 0);
	for (unsigned i = 0; i < LODE_WINDOW_REGISTERS; i++)
		if (step->registers[i] != self->registers[i])
			mask |= 1u << i;
	uint8_t *at = put_number(put_difference(self->at, step->address, self->address), mask);
	if (step->raised != 0)
		*at++ = step->raised;
	for (uint32_t left = mask & LODE_WINDOW_STEP_REGISTERS; left != 0; left &= left - 1) {
		int i = __builtin_ctz(left);
		at = put_difference(at, step->registers[i], self->registers[i]);
		self->registers[i] = step->registers[i];
	}
	self->address = step->address;
	self->at = at;
	return true;
}

void window_log_end(WindowLog *self, LodeWindowHead head)
{
	uint8_t *base = (uint8_t *)self->header;
	uint64_t begin = self->header->used, end = (uint64_t)(self->at - base);

	for (; end % 8 != 0; end++)
		base[end] = 0;
	head.size = (uint32_t)(end - begin);
	memcpy(base + begin, &head, sizeof(head));
	__atomic_store_n(&self->header->used, end, __ATOMIC_RELEASE);
}
