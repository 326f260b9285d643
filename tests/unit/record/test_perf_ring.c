/* SPDX-License-Identifier: MIT */
/* Records that wrap around the end of a ring are counted and written as they were. */
#include "record/events/perf_event_choice.h"
#include "record/perf/perf_tally.h"
#include "record/perf/perf_writer.h"
#include "record/programs/closed_programs.h"

#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
	LodePerfRing ring;
	struct perf_event_mmap_page *page;
	GByteArray *all; /* whatever was put in */
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)data;
	self->page = g_malloc0(2 * page);
	self->ring = (LodePerfRing){.base = self->page, .size = 2 * page, .mask = page - 1};
	self->all = g_byte_array_new();
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	g_free(self->page);
	g_byte_array_unref(self->all);
}

/* As the kernel does. */
static void put(Fixture *self, uint32_t type, const void *body, size_t size)
{
	struct perf_event_header header = {type, 0, (uint16_t)(sizeof(header) + size)};
	g_autoptr(GByteArray) record = g_byte_array_new();
	guint8 *data = (guint8 *)self->page + self->ring.mask + 1;

	g_byte_array_append(record, (const guint8 *)&header, sizeof(header));
	g_byte_array_append(record, body, (guint)size);
	for (guint i = 0; i < record->len; i++)
		data[(self->page->data_head + i) & self->ring.mask] = record->data[i];
	self->page->data_head += record->len;
	g_byte_array_append(self->all, record->data, record->len);
}

static void put_sample(Fixture *self, uint64_t time_ns)
{
	const uint64_t body[] = {7, 0x401000, 1, time_ns, 0};

	put(self, PERF_RECORD_SAMPLE, body, sizeof(body));
}

static void put_mapping(Fixture *self, const char *path, uint32_t protection)
{
	guint8 body[64 + 256] = {0};
	size_t length = strlen(path);
	const uint64_t inode = 4711;

	memcpy(body + 40, &inode, sizeof(inode));
	memcpy(body + 56, &protection, sizeof(protection));
	memcpy(body + 64, path, length);
	put(self, PERF_RECORD_MMAP2, body, 64 + (length + 8) / 8 * 8);
}

static void put_round(Fixture *self, unsigned i)
{
	const uint64_t lost[] = {7, 3}, lost_samples[] = {2}, throttled[] = {1, 7, 7};
	g_autofree char *path = g_strdup_printf("/usr/lib/a-file-of-some-length-%u.so", i % 5);

	put_sample(self, 1000 + i);
	put_mapping(self, path, i % 5 == 4 ? PROT_READ : PROT_READ | PROT_EXEC);
	put_mapping(self, "//anon", PROT_EXEC);
	put(self, PERF_RECORD_LOST, lost, sizeof(lost));
	put(self, PERF_RECORD_LOST_SAMPLES, lost_samples, sizeof(lost_samples));
	put(self, PERF_RECORD_THROTTLE, throttled, sizeof(throttled));
}

/* Rounds of some 350 bytes, so that each kind of record wraps somewhere. */
static void test_tally(Fixture *self, const void *data)
{
	enum { N_ROUNDS = 1000 };
	g_auto(LodePerfTally) tally;

	(void)data;
	lode_perf_tally_init(&tally);
	g_assert_false(lode_perf_ring_update(&self->ring));
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		put_round(self, i);
		if (i % 7 != 0)
			continue;
		g_assert_true(lode_perf_ring_update(&self->ring));
		lode_perf_tally_add(&tally, &self->ring);
		lode_perf_ring_release(&self->ring);
		g_assert_cmpuint(self->page->data_tail, ==, self->page->data_head);
	}
	lode_perf_ring_update(&self->ring);
	lode_perf_tally_add(&tally, &self->ring);
	g_assert_cmpuint(tally.n_samples, ==, N_ROUNDS);
	g_assert_cmpuint(tally.n_lost, ==, 5 * N_ROUNDS);
	g_assert_cmpuint(tally.n_throttled, ==, N_ROUNDS);
	g_assert_cmpuint(tally.first_time_ns, ==, 1000);
	g_assert_cmpuint(tally.last_time_ns, ==, 1000 + N_ROUNDS - 1);
	const GPtrArray *files = lode_kept_files_list(tally.files);
	g_assert_cmpuint(files->len, ==, 4);
	const LodeKeptFile *last = files->pdata[3];
	g_assert_cmpstr(last->mapped.path, ==, "/usr/lib/a-file-of-some-length-3.so");
	g_assert_cmpuint(last->mapped.inode, ==, 4711);
	g_assert_false(last->is_found);
}

/* The fields with which each record ends. */
typedef struct {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t identifier;
} RecordEnd;

static void put_execution(Fixture *self, uint32_t pid, const char *name, uint64_t time_ns)
{
	struct {
		uint32_t pid, tid;
		char name[16];
		RecordEnd end;
	} body = {pid, pid, "", {pid, pid, time_ns, 0, 0, 7}};
	guint8 *data = (guint8 *)self->page + self->ring.mask + 1;
	uint64_t start = self->page->data_head;

	g_strlcpy(body.name, name, sizeof(body.name));
	put(self, PERF_RECORD_COMM, &body, sizeof(body));
	((struct perf_event_header *)(data + (start & self->ring.mask)))->misc =
		PERF_RECORD_MISC_COMM_EXEC;
}

static void put_file(Fixture *self, uint32_t pid, uint64_t time_ns)
{
	struct {
		uint32_t pid, tid;
		uint64_t fields[7];
		char path[8];
		RecordEnd end;
	} body = {pid, pid, {0}, "/a", {pid, pid, time_ns, 0, 0, 7}};

	put(self, PERF_RECORD_MMAP2, &body, sizeof(body));
}

static void put_end(Fixture *self, uint32_t pid, uint64_t time_ns)
{
	struct {
		uint32_t pid, parent, tid, parent_tid;
		uint64_t time;
		RecordEnd end;
	} body = {pid, 1, pid, 1, time_ns, {pid, pid, time_ns, 0, 0, 7}};

	put(self, PERF_RECORD_EXIT, &body, sizeof(body));
}

/* A program that ends before it maps its file was closed, in whatever order its records come. */
static void test_closed(Fixture *self, const void *data)
{
	g_auto(LodePerfTally) tally;
	const char *name;

	(void)data;
	lode_perf_tally_init(&tally);
	/* 10 is a shell that executes something else, 11 maps on another CPU, 12 still runs */
	put_execution(self, 10, "sh", 100);
	put_file(self, 10, 110);
	put_execution(self, 11, "plain", 100);
	put_end(self, 11, 300);
	put_file(self, 11, 120);
	put_execution(self, 12, "runs", 100);
	lode_perf_ring_update(&self->ring);
	lode_perf_tally_add(&tally, &self->ring);
	lode_perf_ring_release(&self->ring);
	g_assert_cmpuint(lode_closed_programs_count(tally.closed, &name), ==, 0);
	g_assert_null(name);
	put_execution(self, 13, "sudo", 250);
	put_end(self, 13, 251);
	put_execution(self, 10, "ping", 200);
	put_end(self, 10, 201);
	lode_perf_ring_update(&self->ring);
	lode_perf_tally_add(&tally, &self->ring);
	g_assert_cmpuint(lode_closed_programs_count(tally.closed, &name), ==, 2);
	g_assert_cmpstr(name, ==, "ping");
}

static void test_written(Fixture *self, const void *data)
{
	g_autofree char *directory = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "x.data", NULL);
	g_autofree char *text = NULL;
	g_autoptr(GPtrArray) choices = g_ptr_array_new(), features = g_ptr_array_new();
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfWriter) writer = lode_perf_writer_open(path, &error);
	gsize size;

	(void)data;
	g_assert_no_error(error);
	g_assert_true(lode_perf_writer_publish(writer, choices, &error));
	for (unsigned i = 0; i < 100; i++) {
		put_round(self, i);
		lode_perf_ring_update(&self->ring);
		g_assert_true(lode_perf_writer_add_ring(writer, &self->ring, &error));
		lode_perf_ring_release(&self->ring);
	}
	g_assert_true(lode_perf_writer_finish(writer, features, NULL, NULL, &error));
	g_assert_no_error(error);
	g_assert_true(g_file_get_contents(path, &text, &size, NULL));
	g_assert_true(g_str_has_prefix(text, "PERFILE2"));
	uint64_t offset, data_size;
	memcpy(&offset, text + 40, sizeof(offset));
	memcpy(&data_size, text + 48, sizeof(data_size));
	g_assert_cmpuint(offset, <=, size);
	g_assert_cmpuint(data_size, ==, self->all->len);
	g_assert_cmpint(memcmp(text + offset, self->all->data, self->all->len), ==, 0);
	g_remove(path);
	g_rmdir(directory);
}

static void add(const char *name, void (*test)(Fixture *, const void *))
{
	g_autofree char *path = g_strconcat("/record/perf-ring/", name, NULL);

	g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add("tally", test_tally);
	add("closed", test_closed);
	add("written", test_written);
	return g_test_run();
}
