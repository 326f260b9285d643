/* SPDX-License-Identifier: MIT */
/* Mappings that nobody announced, from a /proc of ours: told once, and not earlier than they were
 * looked for. */
#include "record/perf/perf_mappings.h"

#include <glib/gstdio.h>
#include <string.h>

enum { PID = 4711 };

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
		PERF_SAMPLE_CPU)

typedef struct {
	char *proc, *folder, *maps;
	LodePerfMappings *mappings;
} Fixture;

typedef struct {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, size, offset;
	uint64_t device, inode, generation;
	uint32_t protection, flags;
	char path[8];
} Mapping;

typedef struct {
	uint32_t pid, tid;
	uint64_t time, cpu, identifier;
} Trailer;

static void set_up(Fixture *self, gconstpointer data)
{
	(void)data;
	self->proc = g_dir_make_tmp("proc-XXXXXX", NULL);
	self->folder = g_strdup_printf("%s/%d", self->proc, PID);
	self->maps = g_build_filename(self->folder, "maps", NULL);
	g_assert_cmpint(g_mkdir(self->folder, 0700), ==, 0);
	const LodePerfExisting wanted = {.sample_type = SAMPLE_TYPE, .proc = self->proc};
	self->mappings = lode_perf_mappings_new(&wanted);
	lode_perf_mappings_add(self->mappings, PID, 100);
}

static void tear_down(Fixture *self, gconstpointer data)
{
	(void)data;
	lode_perf_mappings_free(self->mappings);
	g_unlink(self->maps);
	g_rmdir(self->folder);
	g_rmdir(self->proc);
	g_free(self->maps);
	g_free(self->folder);
	g_free(self->proc);
}

/* What the kernel announces. */
static void announce(Fixture *self, uint64_t start, uint64_t size)
{
	struct {
		Mapping mapping;
		Trailer trailer;
	} record = {
		.mapping = {.header = {PERF_RECORD_MMAP2, 0, sizeof(record)},
			.pid = PID,
			.tid = PID,
			.start = start,
			.size = size},
		.trailer = {.time = 150},
	};

	lode_perf_mappings_note_record(self->mappings, &record.mapping.header);
}

/* Looks, and gives the only record; {0} when there is none. */
static Mapping look(Fixture *self, const char *maps, uint64_t now_ns, uint64_t *out_time)
{
	g_autoptr(GByteArray) records = g_byte_array_new();
	Mapping found = {0};
	Trailer trailer = {0};

	g_assert_true(g_file_set_contents(self->maps, maps, -1, NULL));
	while (!lode_perf_mappings_survey(self->mappings, now_ns, records))
		g_usleep(1000);
	if (records->len > 0) {
		memcpy(&found, records->data, sizeof(found));
		g_assert_cmpuint(found.header.size, ==, records->len);
		memcpy(&trailer, records->data + records->len - sizeof(trailer), sizeof(trailer));
	}
	*out_time = trailer.time;
	return found;
}

static void test_new(Fixture *self, gconstpointer data)
{
	static const char one[] = "10000-20000 rw-p 00000000 00:00 0 \n";
	static const char grown[] = "10000-30000 rw-p 00000000 00:00 0 \n";
	uint64_t time;

	(void)data;
	Mapping found = look(self, one, 200, &time);
	g_assert_cmpuint(found.header.type, ==, PERF_RECORD_MMAP2);
	g_assert_cmphex(found.start, ==, 0x10000);
	g_assert_cmpuint(time, ==, 100);
	found = look(self, one, 300, &time);
	g_assert_cmpuint(found.header.size, ==, 0);
	found = look(self, grown, 400, &time);
	g_assert_cmphex(found.size, ==, 0x20000);
	g_assert_cmpuint(time, ==, 300);
}

static void test_announced(Fixture *self, gconstpointer data)
{
	uint64_t time;

	(void)data;
	announce(self, 0x10000, 0x8000);
	announce(self, 0x18000, 0x8000);
	Mapping found = look(self, "10000-20000 rw-p 00000000 00:00 0 \n", 200, &time);
	g_assert_cmpuint(found.header.size, ==, 0);
	announce(self, 0x40000, 0x1000);
	found = look(self, "40000-41000 rw-p 00000000 00:00 0 [heap]\n", 300, &time);
	g_assert_cmpstr(found.path, ==, "[heap]");
	found = look(self, "40000-41000 rw-p 00000000 00:00 0 [heap]\n", 400, &time);
	g_assert_cmpuint(found.header.size, ==, 0);
}

/* It has what its parent has. */
static void test_fork(Fixture *self, gconstpointer data)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, parent, tid, parent_tid;
		uint64_t time;
		Trailer trailer;
	} record = {
		.header = {PERF_RECORD_FORK, 0, sizeof(record)},
		.pid = PID,
		.parent = 1,
		.tid = PID,
		.parent_tid = 1,
		.trailer = {.time = 170},
	};
	uint64_t time;

	(void)data;
	lode_perf_mappings_add(self->mappings, 1, 0);
	announce(self, 0x10000, 0x8000);
	record.parent = PID;
	record.pid = record.tid = PID + 1;
	lode_perf_mappings_note_record(self->mappings, &record.header);
	record.pid = record.tid = PID;
	record.parent = PID + 1;
	lode_perf_mappings_note_record(self->mappings, &record.header);
	Mapping found = look(self, "10000-18000 rw-p 00000000 00:00 0 \n", 200, &time);
	g_assert_cmpuint(found.header.size, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/perf_mappings/new", Fixture, NULL, set_up, test_new, tear_down);
	g_test_add("/perf_mappings/announced", Fixture, NULL, set_up, test_announced, tear_down);
	g_test_add("/perf_mappings/fork", Fixture, NULL, set_up, test_fork, tear_down);
	return g_test_run();
}
