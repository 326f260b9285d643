/* SPDX-License-Identifier: MIT */
/*
 * At the start everything that lies below QEMU itself is the program's: QEMU is linked to load far
 * above what it puts programs at, and its libraries and buffers lie higher still.
 */
#include "guest_mappings.h"

#include "guest_memory.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

static const GuestMappingsListener *listener;
static uint64_t guest_base;
static _Atomic uint64_t break_start;

static void read_link(const char *link, char *out_path, size_t size)
{
	ssize_t n = readlink(link, out_path, size - 1);

	out_path[n > 0 ? n : 0] = '\0';
}

static uint64_t whole_pages(uint64_t size)
{
	return (size + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

static unsigned protection_of(const char *letters)
{
	return (letters[0] == 'r' ? PROT_READ : 0u) | (letters[1] == 'w' ? PROT_WRITE : 0u) |
	       (letters[2] == 'x' ? PROT_EXEC : 0u);
}

/* The stack of the program is the first memory with a guard page in front. */
static void send_image(TraceEvent *event, uint64_t *guard_end, bool *has_stack)
{
	bool is_guard = event->protection == 0 && event->path[0] == '\0';

	event->kind = TRACE_MAPPING_FILE;
	if (event->path[0] == '\0')
		event->kind = TRACE_MAPPING_ANONYMOUS;
	if (!*has_stack && !is_guard && event->start == *guard_end && event->path[0] == '\0') {
		event->kind = TRACE_MAPPING_STACK;
		*has_stack = true;
	}
	if (is_guard)
		*guard_end = event->start + event->size;
	else
		listener->send_event(TRACE_EVENT_IMAGE, event, false);
}

/* "4000000000-4000009000 r--p 00000000 fe:00 248056     /usr/bin/sleep" */
static bool read_line(const char *line, TraceEvent *out_event)
{
	unsigned long long start, end, offset;
	char letters[5];
	int path = 0;

	*out_event = (TraceEvent){0};
	if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, letters, &offset, &path) <
			4 ||
		path == 0)
		return false;
	out_event->start = start;
	out_event->size = end - start;
	out_event->offset = offset;
	out_event->protection = protection_of(letters);
	snprintf(out_event->path, sizeof(out_event->path), "%.*s", (int)strcspn(line + path, "\n"),
		line + path);
	return true;
}

void guest_mappings_start(const GuestMappingsListener *new_listener, uint64_t base)
{
	char line[TRACE_EVENT_PATH_BYTES + 128];
	FILE *maps = fopen("/proc/self/maps", "re");
	TraceEvent event;
	uint64_t guard_end = UINT64_MAX;
	bool has_stack = false;
	char emulator[TRACE_EVENT_PATH_BYTES];

	listener = new_listener;
	guest_base = base;
	read_link("/proc/self/exe", emulator, sizeof(emulator));
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (!read_line(line, &event))
			continue;
		if (strcmp(event.path, emulator) == 0)
			break;
		event.start -= base;
		send_image(&event, &guard_end, &has_stack);
	}
	if (maps != NULL)
		fclose(maps);
	/* After this event lode has all files of the start, and can search them for functions. */
	listener->send_event(TRACE_EVENT_START, NULL, listener->awaits_code);
}

static void read_descriptor_path(int descriptor, char *path, size_t size)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
	read_link(link, path, size);
}

static void send_map(const uint64_t *arguments, uint64_t start)
{
	bool is_file = (arguments[3] & MAP_ANONYMOUS) == 0;
	TraceEvent event = {
		.start = start,
		.size = whole_pages(arguments[1]),
		.offset = is_file ? arguments[5] : 0,
		.protection = (uint32_t)arguments[2],
		.kind = is_file ? TRACE_MAPPING_FILE : TRACE_MAPPING_ANONYMOUS,
	};
	bool is_code = is_file && (arguments[2] & PROT_EXEC) != 0;

	if (is_file)
		read_descriptor_path((int)arguments[4], event.path, sizeof(event.path));
	listener->send_event(TRACE_EVENT_MAP, &event, is_code && listener->awaits_code);
}

static void send_protection(const uint64_t *arguments)
{
	const TraceEvent event = {
		.start = arguments[0],
		.size = whole_pages(arguments[1]),
		.protection = (uint32_t)arguments[2],
	};

	listener->send_event(TRACE_EVENT_PROTECT, &event, false);
}

static void send_moved(const uint64_t *arguments, uint64_t start)
{
	const TraceEvent event = {
		.start = start,
		.size = whole_pages(arguments[2]),
		.offset = arguments[0],
		.kind = TRACE_MAPPING_MOVED,
	};

	listener->send_event(TRACE_EVENT_MAP, &event, false);
}

/* The first answer says where the heap begins. */
static void send_break(const uint64_t *arguments, uint64_t end)
{
	uint64_t start = 0;

	if (atomic_compare_exchange_strong(&break_start, &start, end))
		start = arguments[0] == 0 ? end : end & ~(uint64_t)(PAGE_BYTES - 1);
	if (end <= start)
		return;
	const TraceEvent event = {
		.start = start & ~(uint64_t)(PAGE_BYTES - 1),
		.size = whole_pages(end) - (start & ~(uint64_t)(PAGE_BYTES - 1)),
		.protection = PROT_READ | PROT_WRITE,
		.kind = TRACE_MAPPING_HEAP,
	};
	listener->send_event(TRACE_EVENT_MAP, &event, false);
}

static void send_attached(const uint64_t *arguments, uint64_t start)
{
	struct shmid_ds segment;
	TraceEvent event = {
		.start = start,
		.protection = PROT_READ | PROT_WRITE,
		.kind = TRACE_MAPPING_FILE,
	};

	if (shmctl((int)arguments[0], IPC_STAT, &segment) != 0)
		return;
	event.size = whole_pages(segment.shm_segsz);
	snprintf(event.path, sizeof(event.path), "/SYSV%08x", (unsigned)segment.shm_perm.__key);
	listener->send_event(TRACE_EVENT_MAP, &event, false);
}

static void send_name(void)
{
	TraceEvent event = {0};

	if (prctl(PR_GET_NAME, event.path) == 0)
		listener->send_event(TRACE_EVENT_NAME, &event, false);
}

size_t guest_mappings_read(uint64_t address, void *out_bytes, size_t size)
{
	return guest_memory_read_some(guest_base + address, out_bytes, size);
}

static void send_exec(uint64_t path)
{
	TraceEvent event = {0};

	guest_mappings_read(path, event.path, sizeof(event.path) - 1);
	listener->send_event(TRACE_EVENT_EXEC, &event, true);
}

/* QEMU makes a process of whatever is not a thread. */
static bool is_thread(int64_t number, uint64_t flags)
{
	return number == SYS_clone && (flags & CLONE_VM) != 0 && (flags & CLONE_VFORK) == 0;
}

void guest_mappings_before_call(int64_t number, const uint64_t *arguments)
{
	if (number == SYS_execve)
		send_exec(arguments[0]);
	else if (number == SYS_execveat)
		send_exec(arguments[1]);
	else if (is_thread(number, arguments[0]) && listener->expect_threads != NULL)
		listener->expect_threads();
}

void guest_mappings_after_call(int64_t number, const uint64_t *arguments, int64_t result)
{
	bool is_error = result < 0 && result > -PAGE_BYTES;

	if (number == SYS_execve || number == SYS_execveat)
		listener->send_event(TRACE_EVENT_NO_EXEC, NULL, false);
	if (is_error)
		return;
	if (number == SYS_mmap)
		send_map(arguments, (uint64_t)result);
	else if (number == SYS_mprotect)
		send_protection(arguments);
	else if (number == SYS_mremap)
		send_moved(arguments, (uint64_t)result);
	else if (number == SYS_brk)
		send_break(arguments, (uint64_t)result);
	else if (number == SYS_shmat)
		send_attached(arguments, (uint64_t)result);
	else if (number == SYS_prctl && arguments[0] == PR_SET_NAME)
		send_name();
	else if ((number == SYS_fork || number == SYS_vfork || number == SYS_clone) && result > 0 &&
		 !(number == SYS_clone && is_thread(number, arguments[0])))
		listener->send_event(TRACE_EVENT_FORK, NULL, false);
}
