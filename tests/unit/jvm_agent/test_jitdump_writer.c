/* SPDX-License-Identifier: MIT */
/* The agent's dumps, without a virtual machine, as lode reads them. */
#include "jitdump_writer.h"
#include "sources/code/jitdump.h"

#include <glib/gstdio.h>
#include <unistd.h>

typedef struct {
	char *directory, *path;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	g_autofree char *name = g_strdup_printf("jit-%d.dump", (int)getpid());

	(void)data;
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->path = g_build_filename(self->directory, name, NULL);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	g_unlink(self->path);
	g_rmdir(self->directory);
	g_free(self->path);
	g_free(self->directory);
}

static const uint8_t code[64] = {0x90};

static void add(const char *name, const char *const *files, size_t n)
{
	JitdumpLine lines[8];

	g_assert_cmpuint(n, <=, G_N_ELEMENTS(lines));
	for (size_t i = 0; i < n; i++)
		lines[i] = (JitdumpLine){(uint64_t)(uintptr_t)code + i, (uint32_t)i + 1, files[i]};
	jitdump_writer_add(&(JitdumpCode){name, code, sizeof code, lines, n});
}

static LodeJitdump *read_back(const Fixture *self)
{
	g_autoptr(GError) error = NULL;
	LodeJitdump *dump = lode_jitdump_open(self->path, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(dump->n_broken_lines, ==, 0);
	g_assert_false(dump->is_truncated);
	return dump;
}

/* Repeated names are written shorter; those of no letter become longer by it. */
static void test_repeated_files(Fixture *self, const void *data)
{
	static const char *const files[] = {"a/Long.java", "a/Long.java", "B.java", "a/Long.java"};
	static const char *const empty[] = {"", "", "", "", "", "", "", ""};

	(void)data;
	g_assert_true(jitdump_writer_open(self->directory));
	add("long", files, G_N_ELEMENTS(files));
	add("empty", empty, G_N_ELEMENTS(empty));
	add("none", NULL, 0);
	jitdump_writer_close();
	g_autoptr(LodeJitdump) dump = read_back(self);
	g_assert_cmpuint(dump->units->len, ==, 3);
	g_assert_cmpuint(dump->lines->len, ==, G_N_ELEMENTS(files) + G_N_ELEMENTS(empty));
	for (guint i = 0; i < dump->lines->len; i++) {
		const LodeJitLine *line = &g_array_index(dump->lines, LodeJitLine, i);
		guint n = G_N_ELEMENTS(files);
		g_assert_cmpstr(line->file, ==, i < n ? files[i] : "");
		g_assert_cmpuint(line->line, ==, (i < n ? i : i - n) + 1);
	}
}

/* As an agent that is loaded twice would do. */
static void test_opened_twice(Fixture *self, const void *data)
{
	(void)data;
	g_assert_true(jitdump_writer_open(self->directory));
	add("first", NULL, 0);
	g_assert_false(jitdump_writer_open(self->directory));
	add("second", NULL, 0);
	jitdump_writer_close();
	g_autoptr(LodeJitdump) dump = read_back(self);
	g_assert_cmpuint(dump->units->len, ==, 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/jitdump-writer/repeated-files", Fixture, NULL, set_up, test_repeated_files,
		tear_down);
	g_test_add("/jitdump-writer/opened-twice", Fixture, NULL, set_up, test_opened_twice,
		tear_down);
	return g_test_run();
}
