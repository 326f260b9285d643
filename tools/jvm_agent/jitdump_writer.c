/* SPDX-License-Identifier: MIT */
#include "jitdump_writer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RECORD_LOAD = 0, RECORD_DEBUG_INFO = 2, RECORD_CLOSE = 3 };

typedef struct {
	uint32_t magic, version, size, machine, reserved, pid;
	uint64_t time_ns, flags;
} Header;

typedef struct {
	uint32_t kind, size;
	uint64_t time_ns;
} RecordHeader;

typedef struct {
	RecordHeader header;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
} LoadRecord;

typedef struct {
	RecordHeader header;
	uint64_t address, n;
} DebugRecord;

typedef struct {
	uint64_t address;
	uint32_t line, discriminator;
} DebugEntry;

/* A virtual machine has one agent, which has one file. */
static struct {
	pthread_mutex_t lock;
	int fd; /* −1: not open, or closed */
	pid_t pid;
	uint64_t n_written; /* pieces of code */
	off_t size;         /* of whole records */
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

typedef struct {
	char *bytes;
	size_t size;
} Record;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Gives up: the program goes on, the file keeps its whole records. */
static void stop(const char *what)
{
	fprintf(stderr, "lode: the JVM agent %s: %s; code compiled from now on stays unknown\n",
		what, strerror(errno));
	if (ftruncate(writer.fd, writer.size) != 0)
		errno = 0; /* a reader copes with a record that is cut short */
	close(writer.fd);
	writer.fd = -1;
}

static void write_bytes(const void *bytes, size_t size)
{
	const char *rest = bytes;
	size_t n_left = size;

	while (n_left > 0 && writer.fd >= 0) {
		ssize_t n = write(writer.fd, rest, n_left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			stop("cannot write its dump");
			return;
		}
		rest += n;
		n_left -= (size_t)n;
	}
	writer.size += (off_t)size;
}

static void write_header(void)
{
	Header header = {
		.magic = 0x4a695444,
		.version = 1,
		.size = sizeof header,
		.machine = EM_X86_64,
		.pid = (uint32_t)writer.pid,
		.time_ns = now_ns(),
	};
	void *marker;

	write_bytes(&header, sizeof header);
	if (writer.fd < 0)
		return;
	/* The mapping is how perf notices the file. Where it is forbidden lode finds it by its
	 * name. */
	marker = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE,
		writer.fd, 0);
	(void)marker;
}

static bool open_file(const char *directory)
{
	char path[PATH_MAX];
	int length;

	writer.pid = getpid();
	length = snprintf(path, sizeof path, "%s/jit-%d.dump", directory, (int)writer.pid);
	if (length < 0 || (size_t)length >= sizeof path)
		errno = ENAMETOOLONG;
	else
		writer.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (writer.fd < 0) {
		fprintf(stderr, "lode: the JVM agent cannot make its dump in '%s': %s\n", directory,
			strerror(errno));
		return false;
	}
	write_header();
	return writer.fd >= 0;
}

bool jitdump_writer_open(const char *directory)
{
	bool is_open = false;

	pthread_mutex_lock(&writer.lock);
	if (writer.fd >= 0)
		fprintf(stderr, "lode: the JVM agent is there already, and writes one dump only\n");
	else
		is_open = open_file(directory);
	pthread_mutex_unlock(&writer.lock);
	return is_open;
}

static void put(Record *record, const void *bytes, size_t size)
{
	memcpy(record->bytes + record->size, bytes, size);
	record->size += size;
}

/* The file of a line as it is written. */
static const char *written_file(const JitdumpCode *code, size_t line)
{
	const char *file = code->lines[line].file;

	/* this stands for the name before */
	return line > 0 && strcmp(file, code->lines[line - 1].file) == 0 ? "\xff" : file;
}

static size_t text_size(const char *text)
{
	return text != NULL ? strlen(text) + 1 : 1;
}

/* Of what the lines are inlined by. */
static size_t inlining_size(const JitdumpCode *code)
{
	size_t size = 2 * sizeof(uint32_t) + code->n_calls * sizeof(JitdumpCall) +
	              code->n_lines * sizeof(uint32_t);

	for (size_t i = 0; i < code->n_methods; i++)
		size += text_size(code->methods[i].name) + text_size(code->methods[i].file);
	return code->n_calls > 0 ? size : 0;
}

static size_t debug_size(const JitdumpCode *code)
{
	size_t size = sizeof(DebugRecord) + inlining_size(code);

	for (size_t i = 0; i < code->n_lines; i++)
		size += sizeof(DebugEntry) + strlen(written_file(code, i)) + 1;
	return code->n_lines > 0 ? size : 0;
}

static void put_number(Record *record, size_t number)
{
	put(record, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
}

static void put_text(Record *record, const char *text)
{
	put(record, text != NULL ? text : "", text_size(text));
}

/* After the lines, where other readers do not look. */
static void put_inlining(Record *record, const JitdumpCode *code)
{
	if (code->n_calls == 0)
		return;
	put_number(record, code->n_methods);
	for (size_t i = 0; i < code->n_methods; i++) {
		put_text(record, code->methods[i].name);
		put_text(record, code->methods[i].file);
	}
	put_number(record, code->n_calls);
	put(record, code->calls, code->n_calls * sizeof *code->calls);
	for (size_t i = 0; i < code->n_lines; i++)
		put_number(record, code->lines[i].call);
}

static void put_lines(Record *record, const JitdumpCode *code, size_t size)
{
	DebugRecord debug = {
		.header = {RECORD_DEBUG_INFO, (uint32_t)size, now_ns()},
		.address = (uint64_t)(uintptr_t)code->code,
		.n = code->n_lines,
	};

	if (size == 0)
		return;
	put(record, &debug, sizeof debug);
	for (size_t i = 0; i < code->n_lines; i++) {
		const JitdumpLine *line = &code->lines[i];
		DebugEntry entry = {line->address, line->line, line->discriminator};
		const char *file = written_file(code, i);

		put(record, &entry, sizeof entry);
		put(record, file, strlen(file) + 1);
	}
	put_inlining(record, code);
}

static void put_load(Record *record, const JitdumpCode *code)
{
	size_t name_size = strlen(code->name) + 1;
	LoadRecord load = {
		.header = {RECORD_LOAD, (uint32_t)(sizeof load + name_size + code->size), now_ns()},
		.pid = (uint32_t)writer.pid,
		.tid = (uint32_t)syscall(SYS_gettid),
		.vma = (uint64_t)(uintptr_t)code->code,
		.address = (uint64_t)(uintptr_t)code->code,
		.size = code->size,
		.index = writer.n_written++,
	};

	put(record, &load, sizeof load);
	put(record, code->name, name_size);
	put(record, code->code, code->size);
}

void jitdump_writer_add(const JitdumpCode *code)
{
	size_t lines_size = debug_size(code);
	size_t size = lines_size + sizeof(LoadRecord) + strlen(code->name) + 1 + code->size;
	Record record = {NULL, 0};

	if (code->size == 0 || size > UINT32_MAX)
		return;
	record.bytes = malloc(size);
	if (record.bytes == NULL)
		return;
	pthread_mutex_lock(&writer.lock);
	/* a child that was forked shares the file, but not the code */
	if (writer.fd >= 0 && writer.pid == getpid()) {
		put_lines(&record, code, lines_size);
		put_load(&record, code);
		write_bytes(record.bytes, record.size);
	}
	pthread_mutex_unlock(&writer.lock);
	free(record.bytes);
}

void jitdump_writer_close(void)
{
	RecordHeader end = {RECORD_CLOSE, sizeof end, now_ns()};

	pthread_mutex_lock(&writer.lock);
	if (writer.fd >= 0)
		write_bytes(&end, sizeof end);
	if (writer.fd >= 0)
		close(writer.fd);
	writer.fd = -1;
	pthread_mutex_unlock(&writer.lock);
}
