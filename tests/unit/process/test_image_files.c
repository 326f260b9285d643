/* SPDX-License-Identifier: MIT */
/* Which file is taken for a recorded one; tests/e2e/found_files.sh tries it with programs. */
#include "base/error.h"
#include "images/elf/elf_file.h"
#include "process/images/image_files.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

typedef struct {
	char *folder, *file, *build_id;
	struct stat status;
	LodeImageFiles *files;
} Fixture;

/* A copy of this program, whose build-id is what the tests are about. */
static void set_up(Fixture *self, const void *data)
{
	g_autofree char *bytes = NULL;
	size_t size;

	(void)data;
	self->folder = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	self->file = g_build_filename(self->folder, "program", NULL);
	g_assert_true(g_file_get_contents("/proc/self/exe", &bytes, &size, NULL));
	g_assert_true(g_file_set_contents(self->file, bytes, (gssize)size, NULL));
	g_assert_cmpint(stat(self->file, &self->status), ==, 0);
	g_autoptr(LodeElfFile) elf = lode_elf_file_open(self->file, NULL);
	g_assert_nonnull(elf);
	g_assert_nonnull(elf->build_id);
	self->build_id = g_strdup(elf->build_id);
	self->files = lode_image_files_new(false);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_image_files_free(self->files);
	g_unlink(self->file);
	g_rmdir(self->folder);
	g_free(self->folder);
	g_free(self->file);
	g_free(self->build_id);
}

/* Whether the file is taken; `text` is in the note, or in why it is not. NULL: there is none. */
static void check(Fixture *self, const LodeImageIdentity *identity, bool is_taken, const char *text)
{
	LodeFoundImageFile found;

	lode_image_files_find(self->files, identity, &found);
	const char *said = found.path != NULL ? found.note : found.why_not;
	g_assert_cmpint(found.path != NULL, ==, is_taken);
	if (text == NULL)
		g_assert_null(said);
	else if (said == NULL || strstr(said, text) == NULL)
		g_error("'%s' does not say '%s'", said != NULL ? said : "", text);
	lode_found_image_file_clear(&found);
}

static void test_build_id(Fixture *self, const void *data)
{
	g_autofree char *padded = g_strconcat(self->build_id, "0000", NULL);
	g_autofree char *other = g_strdup(self->build_id);

	(void)data;
	other[0] = other[0] == 'a' ? 'b' : 'a';
	check(self, &(LodeImageIdentity){.path = self->file, .build_id = self->build_id}, true,
		NULL);
	check(self, &(LodeImageIdentity){.path = self->file, .build_id = other}, false,
		"not the file that was recorded: its build-id is");
	check(self, &(LodeImageIdentity){.path = self->file, .build_id = padded}, false,
		"build-id");
	check(self,
		&(LodeImageIdentity){
			.path = self->file, .build_id = padded, .is_build_id_padded = true},
		true, NULL);
	check(self, &(LodeImageIdentity){.path = "/nonexistent", .build_id = other}, false, NULL);
}

static LodeImageIdentity identity_of(const Fixture *self)
{
	return (LodeImageIdentity){
		.path = self->file,
		.device_major = major(self->status.st_dev),
		.device_minor = minor(self->status.st_dev),
		.inode = self->status.st_ino,
		.recorded_ns = INT64_MAX,
	};
}

static void test_inode(Fixture *self, const void *data)
{
	LodeImageIdentity identity = identity_of(self);

	(void)data;
	check(self, &identity, true, NULL);
	identity.inode++;
	check(self, &identity, false, "its inode is");
	identity = identity_of(self);
	identity.recorded_ns = 1;
	check(self, &identity, false, "changed after the recording");
}

/* A number of a device says little on another machine, and after the next start. */
static void test_other_device(Fixture *self, const void *data)
{
	LodeImageIdentity identity = identity_of(self);

	(void)data;
	identity.device_minor ^= 1;
	check(self, &identity, true, "taken by its name");
	identity.host = "a-host-that-is-not-this-one";
	check(self, &identity, false, "a-host-that-is-not-this-one");
	identity.host = g_get_host_name();
	check(self, &identity, false, "its inode is");
	identity.host = NULL;
	identity.has_no_build_id = true;
	check(self, &identity, false, "it was none");
}

static void test_path_alone(Fixture *self, const void *data)
{
	LodeImageIdentity identity = {.path = self->file};

	(void)data;
	check(self, &identity, true, NULL);
	identity.recorded_ns = 1;
	check(self, &identity, false, "changed after the recording");
	/* Removed while it ran: what lies there now is another file. */
	g_autofree char *deleted = g_strconcat(self->file, " (deleted)", NULL);
	identity.path = deleted;
	check(self, &identity, false, NULL);
	identity.build_id = self->build_id;
	check(self, &identity, true, NULL);
}

/* Where a path was several files, the inode alone tells which of them lies there. */
static void test_other_builds(Fixture *self, const void *data)
{
	LodeImageIdentity identity = identity_of(self);

	(void)data;
	identity.has_other_builds = true;
	check(self, &identity, true, NULL);
	identity.device_minor ^= 1;
	check(self, &identity, false, "several builds of this path");
	identity.inode = 0;
	check(self, &identity, false, "several builds of this path");
	g_assert_true(lode_image_files_give(self->files, self->file, NULL));
	check(self, &identity, false, "several builds of this path");
	identity.has_other_builds = false;
	check(self, &identity, true, NULL);
	g_assert_true(lode_image_files_add_root(self->files, "/", NULL));
	check(self, &identity, true, "taken by its name");
	identity.has_other_builds = true;
	check(self, &identity, false, "several builds of this path");
}

static void test_given(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	LodeImageIdentity identity = {.path = "/gone/renamed", .build_id = self->build_id};

	(void)data;
	check(self, &identity, false, NULL);
	g_assert_true(lode_image_files_give(self->files, self->folder, &error));
	check(self, &identity, true, NULL);
	identity = (LodeImageIdentity){.path = "/gone/program"};
	check(self, &identity, true, "taken by its name");
	identity.path = "/gone/program (deleted)";
	check(self, &identity, true, "taken by its name");
	identity.build_id = "00112233";
	check(self, &identity, false, NULL);
	g_assert_false(lode_image_files_give(self->files, "/nonexistent", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_clear_error(&error);
	g_assert_false(lode_image_files_add_root(self->files, self->file, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
}

static void test_same(void)
{
	static const LodeImageIdentity a = {.path = "/a/p", .build_id = "1234"},
				       a_elsewhere = {.path = "/b/p", .build_id = "1234"},
				       renamed = {.path = "/a/q", .build_id = "1234"},
				       other_build = {.path = "/a/p", .build_id = "1235"},
				       unknown = {.path = "/a/p"},
				       none = {.path = "/a/p", .has_no_build_id = true},
				       inode = {.path = "/a/p", .inode = 7},
				       other_inode = {.path = "/a/p", .inode = 8},
				       padded = {.path = "/a/p",
					       .build_id = "12340000",
					       .is_build_id_padded = true};
	static const struct {
		const LodeImageIdentity *left, *right;
		bool is_same;
	} rows[] = {{&a, &a, true}, {&a, &a_elsewhere, true}, {&a, &renamed, false},
		{&a, &other_build, false}, {&a, &unknown, true}, {&a, &none, false},
		{&a, &padded, true}, {&a_elsewhere, &unknown, false}, {&inode, &unknown, true},
		{&inode, &other_inode, false}, {&inode, &a, false}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("row %zu", i);
		g_assert_cmpint(lode_image_identity_is_same(rows[i].left, rows[i].right), ==,
			rows[i].is_same);
		g_assert_cmpint(lode_image_identity_is_same(rows[i].right, rows[i].left), ==,
			rows[i].is_same);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} tests[] = {{"build-id", test_build_id}, {"inode", test_inode},
		{"other-device", test_other_device}, {"path-alone", test_path_alone},
		{"other-builds", test_other_builds}, {"given", test_given}};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strdup_printf("/image-files/%s", tests[i].name);
		g_test_add(path, Fixture, NULL, set_up, tests[i].run, tear_down);
	}
	g_test_add_func("/image-files/same", test_same);
	return g_test_run();
}
