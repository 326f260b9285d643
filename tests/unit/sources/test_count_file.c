/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "sources/counts/count_file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 8, N_BLOCKS = 3, N_EVENTS = 2 };

/* A file in the making. */
typedef struct {
	CountHeader header;
	uint8_t segments[MAX_SEGMENTS][COUNT_SEGMENT_BYTES];
} File;

static uint8_t *add_segment(File *self, CountSegmentKind kind, uint32_t owner, uint32_t sequence)
{
	uint32_t i = self->header.n_segments++;

	self->header.segments[i].kind = kind;
	self->header.segments[i].owner = owner;
	self->header.segments[i].sequence = sequence;
	return self->segments[i];
}

/* The log is the first segment. */
static void add_record(File *self, CountRecordKind kind, const void *bytes, size_t size)
{
	const CountRecord record = {.kind = kind, .bytes = (uint32_t)size};
	uint8_t *at = self->segments[0] + self->header.log_bytes;

	memcpy(at, &record, sizeof(record));
	memcpy(at + sizeof(record), bytes, size);
	self->header.log_bytes += (sizeof(record) + size + 7) & ~(size_t)7;
}

/* Two instructions: nop; ret. */
static void add_block(File *self, uint64_t address)
{
	struct {
		CountBlock block;
		uint8_t sizes[2], bytes[2];
	} record = {
		.block = {.address = address,
			.first_instruction = self->header.n_instructions,
			.n_instructions = 2,
			.n_bytes = 2},
		.sizes = {1, 1},
		.bytes = {0x90, 0xc3},
	};

	add_record(self, COUNT_RECORD_BLOCK, &record, sizeof(CountBlock) + 4);
	self->header.n_blocks++;
	self->header.n_instructions += 2;
}

static void add_mapping(File *self)
{
	struct {
		CountMapping mapping;
		char path[8];
	} record = {
		.mapping = {.start = 0x1000, .size = 0x1000, .protection = 5, .event = 3},
		.path = "/bin/a",
	};

	add_record(self, COUNT_RECORD_MAPPING, &record, sizeof(record));
}

/* Of the block before it. */
static void add_fixed_event(File *self, uint16_t instruction, uint8_t event)
{
	const CountFixedEvent added = {instruction, event, 1};

	add_record(self, COUNT_RECORD_EVENTS, &added, sizeof(added));
}

/* Three blocks, and two threads that went 0 → 1 → 2 → 3 → 1, with different counts. */
static File *make_file(void)
{
	File *self = g_new0(File, 1);

	self->header.magic = COUNT_FILE_MAGIC;
	self->header.pid = 42;
	self->header.n_owners = 2;
	add_segment(self, COUNT_SEGMENT_LOG, 0, 0);
	add_record(self, COUNT_RECORD_PROGRAM, "a\0/bin/a\0-x\0", 13);
	add_mapping(self);
	for (uint64_t i = 1; i <= N_BLOCKS; i++)
		add_block(self, 0x1000 + 0x100 * i);
	for (uint32_t owner = 0; owner < 2; owner++) {
		CountExits *exits = (CountExits *)(void *)add_segment(
			self, COUNT_SEGMENT_EXITS, owner, 0);
		CountTarget *targets = (CountTarget *)(void *)add_segment(
			self, COUNT_SEGMENT_TARGETS, owner, 0);
		exits[0] = (CountExits){.targets = {1}, .counts = {1}};
		exits[1] = (CountExits){.targets = {2, 3}, .counts = {100 * (owner + 1), 5}};
		targets[0] = (CountTarget){
			.source = 3, .target = 1, .count = 7 + owner, .kind = COUNT_TARGET_EXIT};
		targets[1] = (CountTarget){.source = 2,
			.target = 2,
			.handler = 3,
			.count = 2,
			.kind = COUNT_TARGET_FAULTED};
		targets[2] = (CountTarget){.source = 2,
			.target = 3,
			.handler = 3,
			.count = 5,
			.kind = COUNT_TARGET_FAULT};
	}
	return self;
}

static LodeCountFile *read_file(const File *self, size_t size, GError **error)
{
	g_autofree char *path = NULL;
	int file = g_file_open_tmp("counts-XXXXXX", &path, NULL);
	size_t n_header = MIN(size, sizeof(self->header));
	size_t n_rest = size > COUNT_HEADER_BYTES ? size - COUNT_HEADER_BYTES : 0;

	g_assert_true(pwrite(file, &self->header, n_header, 0) == (ssize_t)n_header);
	g_assert_true(pwrite(file, self->segments, n_rest, COUNT_HEADER_BYTES) == (ssize_t)n_rest);
	g_assert_cmpint(ftruncate(file, (off_t)size), ==, 0);
	close(file);
	LodeCountFile *result = lode_count_file_read(path, error);
	g_unlink(path);
	return result;
}

static LodeCountFile *read_whole(const File *self, GError **error)
{
	return read_file(self,
		COUNT_HEADER_BYTES + (size_t)self->header.n_segments * COUNT_SEGMENT_BYTES, error);
}

static void test_counts(void)
{
	static const LodeCountExit expected[] = {{0, 1, 2}, {1, 2, 300}, {1, 3, 10}, {3, 1, 15}};
	static const uint64_t counts[] = {0, 17, 300, 10};
	g_autofree File *file = make_file();
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCountFile) read = read_whole(file, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(read->pid, ==, 42);
	g_assert_cmpuint(read->arguments->len, ==, 3);
	g_assert_cmpstr(read->arguments->pdata[2], ==, "-x");
	g_assert_cmpuint(read->mappings->len, ==, 1);
	g_assert_cmpstr(g_array_index(read->mappings, LodeCountMapping, 0).path, ==, "/bin/a");
	g_assert_cmpuint(g_array_index(read->mappings, LodeCountMapping, 0).time, ==, 1);
	g_assert_cmpuint(read->blocks->len, ==, N_BLOCKS + 1);
	for (guint i = 0; i <= N_BLOCKS; i++)
		g_assert_cmpuint(
			g_array_index(read->blocks, LodeCountBlock, i).count, ==, counts[i]);
	g_assert_cmpuint(read->exits->len, ==, G_N_ELEMENTS(expected));
	g_assert_true(memcmp(read->exits->data, expected, sizeof(expected)) == 0);
	g_assert_cmpuint(read->interruptions->len, ==, 1);
	const LodeCountInterruption *row = &g_array_index(
		read->interruptions, LodeCountInterruption, 0);
	g_assert_cmpuint(row->count, ==, 4);
	g_assert_true(row->is_fault);
	g_assert_cmpuint(read->faults->len, ==, 1);
	const LodeCountFault *fault = &g_array_index(read->faults, LodeCountFault, 0);
	g_assert_cmpuint(fault->source, ==, 2);
	g_assert_cmpuint(fault->handler, ==, 3);
	g_assert_cmpuint(fault->count, ==, 10);
	g_assert_null(read->events);
}

static void test_events(void)
{
	g_autofree File *file = make_file();
	g_autoptr(GError) error = NULL;

	file->header.n_events = N_EVENTS;
	strcpy(file->header.event_names[0], "Dr");
	strcpy(file->header.event_names[1], "D1mr");
	for (uint32_t owner = 0; owner < 2; owner++) {
		uint64_t *events = (uint64_t *)(void *)add_segment(
			file, COUNT_SEGMENT_EVENTS, owner, 0);
		events[2 * N_EVENTS + 1] = 10 + owner; /* D1mr of the third instruction */
	}
	add_fixed_event(file, 1, 0); /* a Dr whenever the last instruction is executed */
	g_autoptr(LodeCountFile) read = read_whole(file, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(read->event_names->pdata[1], ==, "D1mr");
	for (uint32_t i = 0; i < read->n_instructions * N_EVENTS; i++)
		g_assert_cmpuint(read->events[i], ==, i == 2 * N_EVENTS + 1 ? 21 : 0);
	const LodeCountBlock *last = &g_array_index(read->blocks, LodeCountBlock, N_BLOCKS);
	CountFixedEvent fixed;
	g_assert_cmpuint(last->n_fixed, ==, 1);
	memcpy(&fixed, last->fixed, sizeof(fixed));
	g_assert_cmpuint(fixed.instruction, ==, 1);
	g_assert_cmpuint(fixed.event, ==, 0);
	g_assert_cmpuint(fixed.count, ==, 1);
	g_assert_cmpuint(g_array_index(read->blocks, LodeCountBlock, 1).n_fixed, ==, 0);
}

/* What is counted of a block that the log did not have yet when it was read. */
static void test_late(void)
{
	g_autofree File *file = make_file();
	g_autoptr(GError) error = NULL;
	CountExits *exits = (CountExits *)(void *)file->segments[1];

	exits[2] = (CountExits){.targets = {N_BLOCKS + 1}, .counts = {9}};
	g_autoptr(LodeCountFile) read = read_whole(file, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(read->n_late, ==, 9);
}

static void test_limits(void)
{
	g_autofree File *file = make_file();
	g_autoptr(GError) error = NULL;

	for (uint32_t owner = 0; owner < 2; owner++)
		((CountExits *)(void *)file->segments[1 + 2 * owner])[1].counts[0] = UINT64_MAX - 1;
	g_autoptr(LodeCountFile) read = read_whole(file, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(g_array_index(read->blocks, LodeCountBlock, 2).count, ==, UINT64_MAX);
}

static void assert_corrupt(const File *file, const char *message)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(read_whole(file, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, message));
	g_assert_nonnull(strstr(error->message, ": offset "));
}

static void test_damaged(void)
{
	g_autofree File *file = make_file();
	g_autoptr(GError) error = NULL;

	g_assert_null(read_file(file, 1000, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_clear_error(&error);
	g_assert_null(read_file(file, COUNT_HEADER_BYTES + COUNT_SEGMENT_BYTES, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	file->header.segments[1].kind = 77;
	assert_corrupt(file, "not a segment");
	file->header.segments[1] = file->header.segments[3];
	assert_corrupt(file, "there twice");
	g_free(file);
	file = make_file();
	file->header.log_bytes += 8;
	assert_corrupt(file, "not a record");
	file->header.log_bytes = COUNT_SEGMENT_BYTES + 8;
	assert_corrupt(file, "missing");
	g_free(file);
	file = make_file();
	add_fixed_event(file, 0, 0); /* there are no events */
	assert_corrupt(file, "not a record");
	g_free(file);
	file = make_file();
	file->header.n_events = 1;
	strcpy(file->header.event_names[0], "Dr");
	add_fixed_event(file, 2, 0); /* of two instructions */
	assert_corrupt(file, "not a record");
	g_free(file);
	file = make_file();
	file->segments[0][file->header.log_bytes - 8]++; /* a size of the last block's */
	assert_corrupt(file, "not a record");
	file->header.n_events = 1;
	assert_corrupt(file, "name of an event");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/count_file/counts", test_counts);
	g_test_add_func("/count_file/events", test_events);
	g_test_add_func("/count_file/late", test_late);
	g_test_add_func("/count_file/limits", test_limits);
	g_test_add_func("/count_file/damaged", test_damaged);
	return g_test_run();
}
