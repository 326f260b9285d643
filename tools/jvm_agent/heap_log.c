/* SPDX-License-Identifier: MIT */
#include "heap_log.h"

#include "sources/allocations/heap_log_format.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 1 };

#define MAX_LOG_BYTES ((uint64_t)256 << 20)
#define RESERVED_BYTES ((uint64_t)1 << 20) /* not for walks: for collections */

typedef struct {
	char magic[8];
	uint32_t version, pid;
	uint64_t begin_ns, end_ns; /* end 0: the log goes on as long as the process */
	char heap[16];             /* "[Java heap]" */
} Header;

typedef struct {
	uint32_t type, size; /* of the whole record */
} RecordHead;

/* A virtual machine has one agent, and the agent one log. */
static struct {
	pthread_mutex_t lock;
	int fd; /* −1: not open, or closed */
	pid_t pid;
	uint64_t size;
} heap_log = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

uint64_t heap_log_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The header has its place in the file already: a full disk does not matter. */
static void end(void)
{
	uint64_t now_ns = heap_log_now_ns();

	if (heap_log.fd < 0 || heap_log.pid != getpid())
		return;
	if (pwrite(heap_log.fd, &now_ns, sizeof now_ns, offsetof(Header, end_ns)) < 0)
		now_ns = 0;
	close(heap_log.fd);
	heap_log.fd = -1;
}

static void write_parts(const struct iovec *parts, int n)
{
	size_t size = 0;

	for (int i = 0; i < n; i++)
		size += parts[i].iov_len;
	/* a forked child shares the file, but not the heap */
	if (heap_log.fd < 0 || heap_log.pid != getpid())
		return;
	if (writev(heap_log.fd, parts, n) == (ssize_t)size)
		heap_log.size += size;
	else
		end();
}

static void add(
	uint32_t type, const void *fields, size_t fields_size, const void *rest, size_t size)
{
	const RecordHead head = {type, (uint32_t)(sizeof head + fields_size + size)};
	const struct iovec parts[] = {
		{(void *)&head, sizeof head}, {(void *)fields, fields_size}, {(void *)rest, size}};

	pthread_mutex_lock(&heap_log.lock);
	if (heap_log.size + head.size >
		MAX_LOG_BYTES - (type == LODE_HEAP_RECORD_MOVE ? 0 : RESERVED_BYTES))
		end();
	else
		write_parts(parts, 3);
	pthread_mutex_unlock(&heap_log.lock);
}

bool heap_log_open(const char *directory, const char *heap)
{
	Header header = {.version = VERSION, .begin_ns = heap_log_now_ns()};
	const struct iovec part = {&header, sizeof header};
	char path[PATH_MAX];
	int length;

	memcpy(header.magic, "lodeheap", sizeof header.magic);
	snprintf(header.heap, sizeof header.heap, "%s", heap);
	heap_log.pid = getpid();
	header.pid = (uint32_t)heap_log.pid;
	length = snprintf(path, sizeof path, "%s/heap-%d.log", directory, (int)heap_log.pid);
	if (length < 0 || (size_t)length >= sizeof path)
		return false;
	pthread_mutex_lock(&heap_log.lock);
	if (heap_log.fd < 0) {
		heap_log.fd = open(
			path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
		write_parts(&part, 1);
	}
	pthread_mutex_unlock(&heap_log.lock);
	return heap_log.fd >= 0;
}

void heap_log_add_name(uint32_t id, const char *name)
{
	add(LODE_HEAP_RECORD_NAME, &id, sizeof id, name, strlen(name));
}

void heap_log_add_move(uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t times[] = {begin_ns, end_ns};

	add(LODE_HEAP_RECORD_MOVE, times, sizeof times, NULL, 0);
}

void heap_log_add_range(uint64_t start, uint64_t end)
{
	const uint64_t range[] = {start, end};

	add(LODE_HEAP_RECORD_RANGE, range, sizeof range, NULL, 0);
}

void heap_log_add_walk(uint64_t time_ns)
{
	add(LODE_HEAP_RECORD_WALK, &time_ns, sizeof time_ns, NULL, 0);
}

void heap_log_add_site(uint32_t id, uint32_t interval, const char *name, const char *stack)
{
	const uint32_t fields[] = {id, interval};
	char text[8192];
	int n = snprintf(text, sizeof text, "%s%c%s", name, '\0', stack);

	add(LODE_HEAP_RECORD_SITE, fields, sizeof fields, text,
		n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

void heap_log_add_samples(const uint8_t *samples, size_t size)
{
	add(LODE_HEAP_RECORD_SAMPLES, NULL, 0, samples, size);
}

size_t heap_log_put_number(uint8_t *at, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		at[n++] = (uint8_t)(value | 0x80);
	at[n++] = (uint8_t)value;
	return n;
}

void heap_log_add_block(uint64_t address, uint64_t first, const uint8_t *runs, size_t size)
{
	const uint64_t fields[] = {address, first};

	add(LODE_HEAP_RECORD_BLOCK, fields, sizeof fields, runs, size);
}

bool heap_log_has_room(size_t size)
{
	return heap_log.fd >= 0 && heap_log.size + size < MAX_LOG_BYTES - RESERVED_BYTES;
}

void heap_log_close(void)
{
	pthread_mutex_lock(&heap_log.lock);
	end();
	pthread_mutex_unlock(&heap_log.lock);
}
