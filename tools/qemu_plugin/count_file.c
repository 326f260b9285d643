/* SPDX-License-Identifier: MIT */
#include "count_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LOG_MAX_BYTES = 1 << 30,
	PATH_BYTES = 4096,
	MAX_TRIES = 10000,
	ALIGNMENT = 8,
};

/* Guards what is below, but for what is in the file. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CountHeader *header;
static CountArray log_array;
static char folder[PATH_BYTES], path[PATH_BYTES + 64];
static struct stat identity; /* of the file at the path */
static bool is_off;          /* counts are discarded: there is no file */
/* As in the header, where a forked process would find what its parent did meanwhile. */
static uint32_t n_segments;
static size_t n_log_bytes;
/* Where each segment is mapped, for a forked process to put its own there. */
static void *places[COUNT_FILE_MAX_SEGMENTS];

CountHeader *count_file_header(void)
{
	return header;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * A program may close any descriptor, or open a file under the number that ours had. So none is
 * kept open: the file is found again by its path.
 */
static int reopen(void)
{
	int descriptor = is_off ? -1 : open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat found;

	if (descriptor < 0)
		return -1;
	if (fstat(descriptor, &found) == 0 && found.st_dev == identity.st_dev &&
		found.st_ino == identity.st_ino)
		return descriptor;
	close(descriptor);
	return -1;
}

static int create(void)
{
	int descriptor = -1;

	errno = EEXIST;
	for (unsigned i = 0; i < MAX_TRIES && descriptor < 0 && errno == EEXIST; i++) {
		snprintf(path, sizeof(path), "%s/counts.%u.%u", folder, (unsigned)getpid(), i);
		descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (descriptor >= 0 && fstat(descriptor, &identity) == 0)
		return descriptor;
	if (descriptor >= 0)
		close(descriptor);
	return -1;
}

static void *map_file(int descriptor, void *at, size_t offset, size_t n_bytes)
{
	return mmap(at, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at != NULL ? MAP_FIXED : 0),
		descriptor, (off_t)offset);
}

static void begin_header(void)
{
	header->pid = (uint32_t)getpid();
	header->parent_pid = (uint32_t)getppid();
	header->start_ns = now_ns();
	header->magic = COUNT_FILE_MAGIC;
}

bool count_file_create(const char *in_folder)
{
	void *place = MAP_FAILED;

	if (strlen(in_folder) >= sizeof(folder))
		return false;
	strcpy(folder, in_folder);
	int descriptor = create();
	if (descriptor < 0)
		return false;
	if (posix_fallocate(descriptor, 0, COUNT_HEADER_BYTES) == 0 ||
		ftruncate(descriptor, COUNT_HEADER_BYTES) == 0)
		place = map_file(descriptor, NULL, 0, COUNT_HEADER_BYTES);
	close(descriptor);
	if (place == MAP_FAILED)
		return false;
	header = place;
	begin_header();
	return count_array_init(&log_array, COUNT_SEGMENT_LOG, 0, LOG_MAX_BYTES);
}

static size_t segment_offset(uint32_t segment)
{
	return COUNT_HEADER_BYTES + (size_t)segment * COUNT_SEGMENT_BYTES;
}

/* A full disk is found here rather than by SIGBUS later; where that cannot be asked for, a hole
 * has to do. */
static bool make_room(int descriptor, uint32_t segment)
{
	off_t end = (off_t)segment_offset(segment + 1);
	int code = posix_fallocate(descriptor, (off_t)segment_offset(segment), COUNT_SEGMENT_BYTES);

	return code == 0 || (code != ENOSPC && code != EFBIG && code != EDQUOT &&
				    ftruncate(descriptor, end) == 0);
}

static bool add_segment(CountArray *array)
{
	uint32_t segment = n_segments;
	uint8_t *place = array->base + array->n_bytes;
	int descriptor = segment < COUNT_FILE_MAX_SEGMENTS ? reopen() : -1;

	if (descriptor < 0)
		return false;
	bool is_mapped = make_room(descriptor, segment) &&
	                 map_file(descriptor, place, segment_offset(segment),
				 COUNT_SEGMENT_BYTES) != MAP_FAILED;
	close(descriptor);
	if (!is_mapped)
		return false;
	CountSegment *entry = &header->segments[segment];
	entry->owner = array->owner;
	entry->sequence = (uint32_t)(array->n_bytes / COUNT_SEGMENT_BYTES);
	atomic_store(&entry->kind, array->kind);
	atomic_store(&header->n_segments, ++n_segments);
	places[segment] = place;
	array->n_bytes += COUNT_SEGMENT_BYTES;
	return true;
}

bool count_array_init(CountArray *array, CountSegmentKind kind, uint32_t owner, size_t max_bytes)
{
	void *base = mmap(
		NULL, max_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return false;
	*array = (CountArray){
		.base = base,
		.max_bytes = max_bytes,
		.kind = kind,
		.owner = owner,
	};
	return true;
}

bool count_array_extend(CountArray *array, size_t n_bytes)
{
	bool has_room = array->base != NULL && n_bytes <= array->max_bytes;

	pthread_mutex_lock(&lock);
	while (has_room && array->n_bytes < n_bytes)
		has_room = add_segment(array);
	pthread_mutex_unlock(&lock);
	return has_room;
}

bool count_file_log(CountRecordKind kind, const void *first, size_t first_bytes, const void *second,
	size_t second_bytes)
{
	CountRecord record = {.kind = kind, .bytes = (uint32_t)(first_bytes + second_bytes)};
	size_t at = n_log_bytes;
	size_t size = (sizeof(record) + record.bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);

	if (size > COUNT_RECORD_MAX_BYTES || !count_array_extend(&log_array, at + size)) {
		atomic_fetch_add(&header->n_lost_records, 1);
		return false;
	}
	uint8_t *to = log_array.base + at;
	memcpy(to, &record, sizeof(record));
	if (first_bytes > 0)
		memcpy(to + sizeof(record), first, first_bytes);
	if (second_bytes > 0)
		memcpy(to + sizeof(record) + first_bytes, second, second_bytes);
	n_log_bytes += size;
	atomic_store(&header->log_bytes, n_log_bytes);
	return true;
}

/* ---- in a forked process ---- */

/* Private memory in the place of a mapping of the parent's file, with or without what was there. */
static void leave_file(void *place, size_t n_bytes, bool is_copied)
{
	void *copy = mmap(
		NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		_exit(1);
	if (is_copied)
		memcpy(copy, place, n_bytes);
	if (mremap(copy, n_bytes, n_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED)
		_exit(1);
}

static bool is_log(uint32_t segment)
{
	return atomic_load(&header->segments[segment].kind) == COUNT_SEGMENT_LOG;
}

static bool write_all(int descriptor, const void *bytes, size_t n, size_t offset)
{
	while (n > 0) {
		ssize_t written = pwrite(descriptor, bytes, n, (off_t)offset);
		if (written <= 0)
			return false;
		bytes = (const uint8_t *)bytes + written;
		n -= (size_t)written;
		offset += (size_t)written;
	}
	return true;
}

static bool write_log(int descriptor)
{
	bool is_written = write_all(descriptor, header,
		offsetof(CountHeader, segments) + n_segments * sizeof(CountSegment), 0);

	for (uint32_t i = 0; i < n_segments && is_written; i++)
		is_written = !is_log(i) || write_all(descriptor, places[i], COUNT_SEGMENT_BYTES,
						   segment_offset(i));
	return is_written;
}

/* The new file in the place of the private memory, all of it or nothing. */
static bool move_into_file(void)
{
	int descriptor = create();
	size_t n_bytes = segment_offset(n_segments);
	bool is_moved = descriptor >= 0 &&
	                (posix_fallocate(descriptor, 0, (off_t)n_bytes) == 0 ||
				ftruncate(descriptor, (off_t)n_bytes) == 0) &&
	                write_log(descriptor) &&
	                map_file(descriptor, header, 0, COUNT_HEADER_BYTES) != MAP_FAILED;

	for (uint32_t i = 0; i < n_segments && is_moved; i++)
		if (map_file(descriptor, places[i], segment_offset(i), COUNT_SEGMENT_BYTES) ==
			MAP_FAILED)
			is_moved = false;
	if (descriptor >= 0)
		close(descriptor);
	if (!is_moved && descriptor >= 0)
		unlink(path);
	return is_moved;
}

void count_file_fork(bool is_followed)
{
	pthread_mutex_init(&lock, NULL);
	leave_file(header, COUNT_HEADER_BYTES, true);
	for (uint32_t i = 0; i < n_segments; i++)
		leave_file(places[i], COUNT_SEGMENT_BYTES, is_log(i));
	begin_header();
	header->is_forked = 1;
	atomic_store(&header->log_bytes, n_log_bytes);
	atomic_store(&header->n_segments, n_segments);
	memset(&header->segments[n_segments], 0,
		(COUNT_FILE_MAX_SEGMENTS - n_segments) * sizeof(CountSegment));
	atomic_store(&header->n_lost_threads, 0);
	atomic_store(&header->n_lost_blocks, 0);
	atomic_store(&header->n_lost_records, 0);
	is_off = is_off || !is_followed || !move_into_file();
}
