/* SPDX-License-Identifier: MIT */
/* Files that are gone at the end of a recording are in it, as the reader of perf.data finds them.
 */
#include "base/error.h"
#include "images/elf/vdso_image.h"
#include "record/perf/perf_writer.h"
#include "sources/perf_data/perf_data.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
	char *directory, *path, *copy; /* of perf.data; of a copy out of it */
	LodeKeptFiles *files;
	GPtrArray *features;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->directory = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	self->path = g_build_filename(self->directory, "x.data", NULL);
	self->copy = g_build_filename(self->directory, "copy", NULL);
	self->files = lode_kept_files_new();
	self->features = g_ptr_array_new();
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_kept_files_free(self->files);
	g_remove(self->path);
	g_assert_cmpint(g_rmdir(self->directory), ==, 0);
	g_free(self->directory);
	g_free(self->path);
	g_free(self->copy);
	g_ptr_array_unref(self->features);
}

static char *contents(const char *path, gsize *out_size)
{
	char *bytes = NULL;

	g_assert_true(g_file_get_contents(path, &bytes, out_size, NULL));
	return bytes;
}

/* A binary: this test's own. */
static char *make_binary(const Fixture *self, const char *name)
{
	char *path = g_build_filename(self->directory, name, NULL);
	gsize size;
	g_autofree char *bytes = contents("/proc/self/exe", &size);

	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
	return path;
}

static void add(Fixture *self, const char *path, const char *recorded_path, uint64_t generation)
{
	struct stat status = {0};

	g_assert_cmpint(stat(path, &status), ==, 0);
	const LodeMappedFile mapped = {
		.pid = getpid(),
		.start = 1,
		.end = 2,
		.device_major = major(status.st_dev),
		.device_minor = minor(status.st_dev),
		.inode = status.st_ino,
		.generation = generation,
		.path = recorded_path,
	};
	lode_kept_files_add(self->files, &mapped);
}

static bool write_recording(Fixture *self, uint64_t limit, GError **error)
{
	const struct rlimit tight = {limit, RLIM_INFINITY};
	struct rlimit before;
	g_autoptr(GPtrArray) choices = g_ptr_array_new();
	g_autoptr(LodePerfWriter) writer = lode_perf_writer_open(self->path, error);
	g_autofree char *records = g_malloc0(8);
	const uint16_t size = 8;

	g_assert_nonnull(writer);
	memcpy(records + 6, &size, sizeof(size));
	g_assert_true(lode_perf_writer_publish(writer, choices, error));
	g_assert_true(lode_perf_writer_add(writer, records, size, error));
	getrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &tight);
	bool is_done = lode_perf_writer_finish(writer, self->features, self->files, NULL, error);
	setrlimit(RLIMIT_FSIZE, &before);
	return is_done;
}

static LodePerfData *read_recording(const Fixture *self)
{
	g_autoptr(GError) error = NULL;
	LodePerfData *data = lode_perf_data_open(self->path, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(lode_perf_data_info(data)->left_out.n_damaged_features, ==, 0);
	return data;
}

static LodePerfData *record_and_read(Fixture *self)
{
	g_autoptr(GError) error = NULL;

	g_assert_true(write_recording(self, RLIM_INFINITY, &error));
	g_assert_no_error(error);
	return read_recording(self);
}

static const LodePerfFile *find(LodePerfData *data, const char *path)
{
	const GArray *files = lode_perf_data_info(data)->files;

	for (guint i = 0; i < files->len; i++)
		if (strcmp(g_array_index(files, LodePerfFile, i).path, path) == 0)
			return &g_array_index(files, LodePerfFile, i);
	return NULL;
}

static void check_copy(const Fixture *self, LodePerfData *data, const LodePerfFile *file,
	const char *expected, gsize expected_size)
{
	g_autoptr(GError) error = NULL;
	gsize size;

	g_assert_nonnull(file);
	g_assert_true(lode_perf_data_unpack(data, file, self->copy, &error));
	g_assert_no_error(error);
	g_autofree char *bytes = contents(self->copy, &size);
	g_assert_cmpuint(size, ==, expected_size);
	g_assert_true(memcmp(bytes, expected, size) == 0);
	g_remove(self->copy);
}

/* One stays, one is removed, one is replaced, one is not a binary, one tells of code made at run
 * time. */
static void test_what_is_copied(Fixture *self, const void *unused)
{
	g_autofree char *stays = make_binary(self, "stays");
	g_autofree char *removed = make_binary(self, "removed");
	g_autofree char *replaced = make_binary(self, "replaced");
	g_autofree char *other = g_build_filename(self->directory, "other", NULL);
	g_autofree char *text = g_build_filename(self->directory, "text", NULL);
	g_autofree char *dump = g_build_filename(self->directory, "jit-77.dump", NULL);
	gsize size;
	g_autofree char *binary = contents("/proc/self/exe", &size);

	(void)unused;
	g_assert_true(g_file_set_contents(text, "text", -1, NULL));
	g_assert_true(g_file_set_contents(dump, "", 0, NULL));
	for (int i = 0; i < 3; i++) {
		add(self, stays, stays, 0);
		add(self, removed, removed, 0);
		add(self, replaced, replaced, 0);
		add(self, text, text, 0);
		add(self, dump, dump, 0);
	}
	g_assert_cmpuint(lode_kept_files_count(self->files), ==, 5);
	g_assert_cmpint(g_remove(removed), ==, 0);
	g_assert_cmpint(g_remove(text), ==, 0);
	/* in place, as by who has it open */
	int descriptor = open(dump, O_WRONLY | O_CLOEXEC);
	g_assert_cmpint(write(descriptor, "dump", 4), ==, 4);
	close(descriptor);
	g_assert_cmpint(g_remove(dump), ==, 0);
	g_assert_true(g_file_set_contents(other, "other", -1, NULL));
	g_assert_cmpint(rename(other, replaced), ==, 0);

	g_autoptr(LodePerfData) data = record_and_read(self);
	g_assert_cmpuint(lode_perf_data_info(data)->files->len, ==, 5);
	const LodePerfFile *file = find(data, stays);
	g_assert_nonnull(file);
	g_assert_cmpuint(file->content_size, ==, 0);
	g_assert_cmpuint(file->size, ==, size);
	g_assert_cmpuint(find(data, text)->content_size, ==, 0);
	check_copy(self, data, find(data, dump), "dump", 4);
	check_copy(self, data, find(data, removed), binary, size);
	check_copy(self, data, find(data, replaced), binary, size);
	g_assert_cmpstr(find(data, removed)->build_id, ==, file->build_id);
	g_remove(stays);
	g_remove(replaced);
}

/* As the kernel calls it otherwise in another mount namespace, or from another place of its own. */
static void test_one_file_by_several_names(Fixture *self, const void *unused)
{
	g_autofree char *path = make_binary(self, "a");
	g_autofree char *second = g_build_filename(self->directory, "b", NULL);
	gsize size;
	g_autofree char *binary = contents("/proc/self/exe", &size);

	(void)unused;
	g_assert_cmpint(link(path, second), ==, 0);
	add(self, path, path, 0);
	add(self, second, second, 0);
	g_remove(path);
	g_remove(second);
	g_autoptr(LodePerfData) data = record_and_read(self);
	g_assert_cmpuint(lode_perf_data_info(data)->files->len, ==, 2);
	g_assert_cmpuint(find(data, path)->content_offset, ==, find(data, second)->content_offset);
	check_copy(self, data, find(data, second), binary, size);
}

static void test_vdso(Fixture *self, const void *unused)
{
	const LodeMappedFile mapped = {
		.pid = getpid(), .start = UINT64_C(1) << 46, .path = "[vdso]"};
	const LodeMappedFile narrow = {.pid = getpid(), .start = 1 << 20, .path = "[vdso]"};
	const LodeMappedFile anonymous = {.pid = getpid(), .start = 1 << 20, .path = "//anon"};
	g_autofree char *build_id = lode_vdso_image_build_id();
	size_t size = 0;
	const uint8_t *bytes = lode_vdso_image_bytes(&size);

	(void)unused;
	if (bytes == NULL) {
		g_test_skip("the kernel maps no vDSO here");
		return;
	}
	lode_kept_files_add(self->files, &anonymous);
	lode_kept_files_add(self->files, &narrow);
	g_assert_cmpuint(lode_kept_files_count(self->files), ==, 0);
	lode_kept_files_add(self->files, &mapped);
	g_autoptr(LodePerfData) data = record_and_read(self);
	g_assert_cmpstr(find(data, "[vdso]")->build_id, ==, build_id);
	check_copy(self, data, find(data, "[vdso]"), (const char *)bytes, size);
}

/* What cannot be found is not listed, and then there is no section. */
static void test_not_found(Fixture *self, const void *unused)
{
	LodeMappedFile mapped = {.start = 1, .end = 2, .inode = 1, .path = "/nowhere/a"};

	(void)unused;
	lode_kept_files_add(self->files, &mapped);
	g_autoptr(LodePerfData) data = record_and_read(self);
	g_assert_cmpuint(lode_perf_data_info(data)->files->len, ==, 0);
	g_assert_cmpuint(lode_perf_data_info(data)->left_out.n_unknown_features, ==, 0);
}

/* The process that mapped it has ended, and so has its path; another one still executes it. */
static void test_guide(Fixture *self, const void *unused)
{
	struct stat status;
	LodeMappedFile mapped = {.start = 1, .end = 2, .path = "/nowhere/a"};
	pid_t ended = fork();

	(void)unused;
	if (ended == 0)
		_exit(0);
	g_assert_cmpint(waitpid(ended, NULL, 0), ==, ended);
	g_assert_cmpint(stat("/proc/self/exe", &status), ==, 0);
	mapped.device_major = major(status.st_dev);
	mapped.device_minor = minor(status.st_dev);
	mapped.inode = status.st_ino;
	mapped.pid = ended;
	lode_kept_files_add(self->files, &mapped);
	const LodeKeptFile *file = lode_kept_files_list(self->files)->pdata[0];
	g_assert_false(file->is_found);
	mapped.path = "/nowhere/b";
	mapped.pid = getpid();
	lode_kept_files_add(self->files, &mapped);
	mapped.path = "/nowhere/a";
	mapped.pid = ended;
	lode_kept_files_add(self->files, &mapped);
	g_assert_true(file->is_found);
	g_assert_cmpuint(lode_kept_files_count(self->files), ==, 2);
}

static void test_too_large(Fixture *self, const void *unused)
{
	g_autofree char *path = make_binary(self, "large");
	const char *too_large = NULL;

	(void)unused;
	/* sparse */
	g_assert_cmpint(truncate(path, (off_t)513 << 20), ==, 0);
	add(self, path, path, 0);
	g_remove(path);
	g_autoptr(LodePerfData) data = record_and_read(self);
	g_assert_cmpuint(lode_kept_files_too_large(self->files, &too_large), ==, 1);
	g_assert_cmpstr(too_large, ==, path);
	g_assert_cmpuint(find(data, path)->content_size, ==, 0);
	g_assert_cmpuint(find(data, path)->size, ==, UINT64_C(513) << 20);
}

/* More than are held open: those that are at their path are let go. */
static void test_many(Fixture *self, const void *unused)
{
	enum { N = 400 };
	g_autofree char *first = make_binary(self, "first");
	g_autofree char *last = NULL;
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	gsize size;
	g_autofree char *binary = contents("/proc/self/exe", &size);

	(void)unused;
	add(self, first, first, 0);
	g_remove(first);
	for (int i = 0; i < N; i++) {
		g_autofree char *name = g_strdup_printf("%d", i);
		char *path = g_build_filename(self->directory, name, NULL);
		/* a header is enough for libelf */
		g_assert_true(g_file_set_contents(path, binary, 4096, NULL));
		add(self, path, path, 0);
		g_ptr_array_add(paths, path);
	}
	last = make_binary(self, "last");
	add(self, last, last, 0);
	g_remove(last);
	g_autoptr(LodePerfData) data = record_and_read(self);
	check_copy(self, data, find(data, first), binary, size);
	check_copy(self, data, find(data, last), binary, size);
	for (guint i = 0; i < paths->len; i++)
		g_remove(paths->pdata[i]);
}

/* The disk is full when the copies are written: all else is there. */
static void test_full_disk(Fixture *self, const void *unused)
{
	static const char host[] = "\5\0\0\0host";
	g_autofree char *path = make_binary(self, "gone");
	g_autoptr(GError) error = NULL;

	(void)unused;
	g_ptr_array_set_size(self->features, 4);
	self->features->pdata[3] = g_bytes_new_static(host, sizeof(host));
	add(self, path, path, 0);
	g_remove(path);
	g_assert_false(write_recording(self, 1024, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(error->message, "x.data: "));
	g_autoptr(LodePerfData) data = read_recording(self);
	g_assert_cmpstr(lode_perf_data_info(data)->host, ==, "host");
	g_assert_cmpuint(lode_perf_data_info(data)->files->len, ==, 0);
	g_bytes_unref(self->features->pdata[3]);
}

static void add_test(const char *name, void (*test)(Fixture *, const void *))
{
	g_autofree char *path = g_strconcat("/record/kept-files/", name, NULL);

	g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_test("what-is-copied", test_what_is_copied);
	add_test("one-file-by-several-names", test_one_file_by_several_names);
	add_test("vdso", test_vdso);
	add_test("not-found", test_not_found);
	add_test("guide", test_guide);
	add_test("too-large", test_too_large);
	add_test("many", test_many);
	add_test("full-disk", test_full_disk);
	return g_test_run();
}
