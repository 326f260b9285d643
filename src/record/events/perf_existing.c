/* SPDX-License-Identifier: MIT */
#include "record/events/perf_existing.h"

#include "base/byte_append.h"
#include "base/error.h"
#include "base/text/maps_line.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
	const LodePerfExisting *wanted;
	GByteArray *records;
	pid_t tid;
} Writer;

/* With its end, padded to 8 bytes. */
static void add_text(GByteArray *bytes, const char *text)
{
	static const guint8 zeros[8];
	guint length = (guint)strlen(text);

	g_byte_array_append(bytes, (const guint8 *)text, length);
	g_byte_array_append(bytes, zeros, 8 - length % 8);
}

/* Adds the fields that sample_id_all puts after each record; an id of 0 is of no event, and so
 * counts as the first event's. */
static void add_sample_id(const Writer *self, GByteArray *body)
{
	uint64_t type = self->wanted->sample_type;

	if (type & PERF_SAMPLE_TID) {
		lode_append_u32(body, (uint32_t)self->wanted->pid);
		lode_append_u32(body, (uint32_t)self->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		lode_append_u64(body, self->wanted->time_ns);
	if (type & PERF_SAMPLE_CPU)
		lode_append_u64(body, 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		lode_append_u64(body, 0);
}

/* Takes the body. */
static void add_record(const Writer *self, uint32_t type, uint16_t misc, GByteArray *body)
{
	add_sample_id(self, body);
	struct perf_event_header header = {type, misc, (uint16_t)(sizeof(header) + body->len)};
	g_byte_array_append(self->records, (const guint8 *)&header, sizeof(header));
	g_byte_array_append(self->records, body->data, body->len);
	g_byte_array_unref(body);
}

static void add_name(const Writer *self)
{
	g_autofree char *path = g_strdup_printf(
		"%s/%d/task/%d/comm", self->wanted->proc, (int)self->wanted->pid, (int)self->tid);
	g_autofree char *name = NULL;
	GByteArray *body;

	if (!g_file_get_contents(path, &name, NULL, NULL))
		return;
	g_strchomp(name);
	name[MIN(strlen(name), 15)] = '\0'; /* as long as the kernel's own (TASK_COMM_LEN) */
	body = g_byte_array_new();
	lode_append_u32(body, (uint32_t)self->wanted->pid);
	lode_append_u32(body, (uint32_t)self->tid);
	add_text(body, name);
	add_record(self, PERF_RECORD_COMM, PERF_RECORD_MISC_USER, body);
}

/* A thread as one that its process began, before all that is recorded. */
static void add_fork(const Writer *self)
{
	GByteArray *body = g_byte_array_new();

	lode_append_u32(body, (uint32_t)self->wanted->pid);
	lode_append_u32(body, (uint32_t)self->wanted->pid);
	lode_append_u32(body, (uint32_t)self->tid);
	lode_append_u32(body, (uint32_t)self->wanted->pid);
	lode_append_u64(body, 0);
	add_record(self, PERF_RECORD_FORK, PERF_RECORD_MISC_USER, body);
}

static uint32_t protection(const char *access)
{
	return (uint32_t)((access[0] == 'r' ? PROT_READ : 0) | (access[1] == 'w' ? PROT_WRITE : 0) |
			  (access[2] == 'x' ? PROT_EXEC : 0));
}

static void add_mapping(const Writer *self, const LodeMapsLine *map, const char *path)
{
	GByteArray *body = g_byte_array_new();
	bool is_code = map->access[2] == 'x';

	lode_append_u32(body, (uint32_t)self->wanted->pid);
	lode_append_u32(body, (uint32_t)self->tid);
	lode_append_u64(body, map->start);
	lode_append_u64(body, map->end - map->start);
	lode_append_u64(body, map->offset);
	lode_append_u32(body, map->device_major);
	lode_append_u32(body, map->device_minor);
	lode_append_u64(body, map->inode);
	lode_append_u64(body, 0);
	lode_append_u32(body, protection(map->access));
	lode_append_u32(body, map->access[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	/* Anonymous memory is called as the kernel calls it. */
	add_text(body, *path != '\0' ? path : "//anon");
	add_record(self, PERF_RECORD_MMAP2,
		(uint16_t)(PERF_RECORD_MISC_USER | (is_code ? 0 : PERF_RECORD_MISC_MMAP_DATA)),
		body);
	if (!is_code || self->wanted->found == NULL)
		return;
	const LodeMappedFile mapped = {
		.pid = self->wanted->pid,
		.start = map->start,
		.end = map->end,
		.device_major = map->device_major,
		.device_minor = map->device_minor,
		.inode = map->inode,
		.path = path,
	};
	self->wanted->found(&mapped, self->wanted->user_data);
}

static void add_line(const Writer *self, char *line)
{
	LodeMapsLine map;

	/* the size of a record has 16 bits; the kernel names no longer paths either */
	if (!lode_maps_line_read(line, &map) || strlen(line + map.path) > PATH_MAX)
		return;
	if (self->wanted->is_wanted != NULL && !self->wanted->is_wanted(map.start, map.end,
						       line + map.path, self->wanted->filter_data))
		return;
	if (map.access[2] == 'x' || self->wanted->has_data)
		add_mapping(self, &map, line + map.path);
}

static void add_mappings(const Writer *self)
{
	g_autofree char *path = g_strdup_printf(
		"%s/%d/maps", self->wanted->proc, (int)self->wanted->pid);
	g_autofree char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		add_line(self, line);
	}
}

/* perf looks for the kernel by this name, and for the address of _text in place of an offset. */
#define KERNEL_NAME "[kernel.kallsyms]_text"

static void add_kernel_mapping(
	const Writer *self, const uint64_t range[2], uint64_t offset, const char *name)
{
	GByteArray *body = g_byte_array_new();

	lode_append_u32(body, (uint32_t)self->wanted->pid);
	lode_append_u32(body, 0);
	lode_append_u64(body, range[0]);
	lode_append_u64(body, range[1] - range[0]);
	lode_append_u64(body, offset);
	add_text(body, name);
	add_record(self, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, body);
}

/* The addresses of _text and _etext; 0 where they are hidden. */
static void read_kernel_range(const char *proc, uint64_t out_range[2])
{
	static const char *const names[] = {"_text", "_etext"};
	g_autofree char *path = g_build_filename(proc, "kallsyms", NULL);
	FILE *file = fopen(path, "re");
	char line[1024], name[1024];
	unsigned long long address;

	out_range[0] = out_range[1] = 0;
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		/* Few of the hundred thousand lines are worth a closer look. */
		if (strstr(line, "text\n") == NULL ||
			sscanf(line, "%llx %*c %1023s", &address, name) != 2)
			continue;
		for (int i = 0; i < 2; i++)
			if (strcmp(name, names[i]) == 0)
				out_range[i] = address;
		if (out_range[0] != 0 && out_range[1] != 0)
			break;
	}
	if (file != NULL)
		fclose(file);
}

/* "nf_tables 311296 84 nft_compat, Live 0xffffffffc0a1d000" */
static void add_module(const Writer *self, const char *line)
{
	char name[256];
	unsigned long long size, address;

	if (sscanf(line, "%253s %llu %*s %*s %*s %llx", name, &size, &address) != 3 || address == 0)
		return;
	g_autofree char *bracketed = g_strdup_printf("[%s]", name);
	const uint64_t range[2] = {address, address + size};
	add_kernel_mapping(self, range, 0, bracketed);
}

GByteArray *lode_perf_existing_kernel(const char *proc, uint64_t sample_type)
{
	const LodePerfExisting wanted = {.pid = -1, .sample_type = sample_type};
	const Writer writer = {.wanted = &wanted, .records = g_byte_array_new()};
	g_autofree char *path = g_build_filename(proc, "modules", NULL);
	g_autofree char *modules = NULL;
	uint64_t range[2];

	read_kernel_range(proc, range);
	if (range[1] <= range[0])
		return writer.records;
	add_kernel_mapping(&writer, range, range[0], KERNEL_NAME);
	g_file_get_contents(path, &modules, NULL, NULL);
	g_auto(GStrv) lines = g_strsplit(modules != NULL ? modules : "", "\n", -1);
	for (size_t i = 0; lines[i] != NULL; i++)
		add_module(&writer, lines[i]);
	return writer.records;
}

static GArray *threads_of(const char *proc, pid_t pid)
{
	g_autofree char *path = g_strdup_printf("%s/%d/task", proc, (int)pid);
	g_autoptr(GDir) listing = g_dir_open(path, 0, NULL);
	GArray *threads = g_array_new(FALSE, FALSE, sizeof(pid_t));
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		pid_t tid = (pid_t)strtol(name, NULL, 10);
		if (tid > 0)
			g_array_append_val(threads, tid);
	}
	return threads;
}

GArray *lode_perf_existing_threads(pid_t pid, GError **error)
{
	GArray *threads = threads_of("/proc", pid);

	if (threads->len > 0)
		return threads;
	g_array_unref(threads);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "process %d does not exist", (int)pid);
	return NULL;
}

GByteArray *lode_perf_existing_records(const LodePerfExisting *wanted)
{
	Writer writer = {.wanted = wanted, .records = g_byte_array_new(), .tid = wanted->pid};
	g_autoptr(GArray) threads = threads_of(wanted->proc, wanted->pid);

	add_name(&writer);
	for (guint i = 0; i < threads->len; i++) {
		writer.tid = g_array_index(threads, pid_t, i);
		if (writer.tid == wanted->pid)
			continue;
		add_fork(&writer);
		add_name(&writer);
	}
	writer.tid = wanted->pid;
	add_mappings(&writer);
	return writer.records;
}

void lode_perf_existing_add_mappings(const LodePerfExisting *wanted, GByteArray *out_records)
{
	const Writer writer = {.wanted = wanted, .records = out_records, .tid = wanted->pid};

	add_mappings(&writer);
}
