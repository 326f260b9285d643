/* SPDX-License-Identifier: MIT */
/* What can be recorded and what cannot, on files made for the purpose. */
#include "base/error.h"
#include "record/programs/program_check.h"

#include <elf.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct {
	char *directory, *file;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->directory = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	g_assert_nonnull(self->directory);
	self->file = g_build_filename(self->directory, "program", NULL);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	g_remove(self->file);
	g_rmdir(self->directory);
	g_free(self->file);
	g_free(self->directory);
}

typedef struct {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
} Program;

static void make_file(const Fixture *self, const void *bytes, size_t size, unsigned mode)
{
	g_assert_true(g_file_set_contents(self->file, bytes, (gssize)size, NULL));
	g_assert_cmpint(g_chmod(self->file, mode), ==, 0);
}

static Program elf(unsigned char class, Elf64_Half machine)
{
	Program program = {.header = {
				   .e_type = ET_DYN,
				   .e_machine = machine,
				   .e_phoff = sizeof(Elf64_Ehdr),
				   .e_phnum = 1,
			   }};

	memcpy(program.header.e_ident, ELFMAG, SELFMAG);
	program.header.e_ident[EI_CLASS] = class;
	program.header.e_ident[EI_DATA] = ELFDATA2LSB;
	return program;
}

static void make_elf(const Fixture *self, unsigned char class, Elf64_Half machine, unsigned mode)
{
	const Program program = elf(class, machine);

	make_file(self, &program, sizeof(program), mode);
}

static void check_refused(const char *program, int code, const char *word)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_program_check(program, "the tool", &error));
	g_assert_error(error, LODE_ERROR, code);
	g_assert_nonnull(strstr(error->message, program));
	g_assert_nonnull(strstr(error->message, word));
}

static void check_accepted(const char *program, const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *found = lode_program_check(program, "the tool", &error);

	g_assert_no_error(error);
	g_assert_cmpstr(found, ==, path);
}

static void test_accepted(Fixture *self, const void *data)
{
	(void)data;
	g_autofree char *shell = g_find_program_in_path("sh");

	check_accepted("sh", shell);
	make_elf(self, ELFCLASS64, EM_X86_64, 0755);
	check_accepted(self->file, self->file);
	g_assert_true(g_file_set_contents(self->file, "#!/bin/sh\n", -1, NULL));
	g_assert_cmpint(g_chmod(self->file, 0755), ==, 0);
	check_accepted(self->file, self->file);
}

static void test_not_found(Fixture *self, const void *data)
{
	(void)data;
	check_refused("lode-has-no-such-program", LODE_ERROR_NOT_FOUND, "PATH");
	check_refused(self->file, LODE_ERROR_NOT_FOUND, "No such file");
	check_refused(self->directory, LODE_ERROR_NOT_FOUND, "directory");
	make_elf(self, ELFCLASS64, EM_X86_64, 0644);
	check_refused(self->file, LODE_ERROR_NOT_FOUND, "not executable");
	g_assert_true(g_file_set_contents(self->file, "#!/there/is/no/interpreter -x\n", -1, NULL));
	g_assert_cmpint(g_chmod(self->file, 0755), ==, 0);
	check_refused(self->file, LODE_ERROR_NOT_FOUND, "'/there/is/no/interpreter'");
}

/* As one who comes from a system where the folder is searched too would type it. */
static void test_not_in_path(Fixture *self, const void *data)
{
	(void)data;
	g_autofree char *before = g_get_current_dir();
	g_autofree char *name = g_path_get_basename(self->file);
	g_autofree char *meant = g_strdup_printf("did you mean './%s'?", name);

	make_elf(self, ELFCLASS64, EM_X86_64, 0755);
	g_assert_cmpint(g_chdir(self->directory), ==, 0);
	check_refused(name, LODE_ERROR_NOT_FOUND, meant);
	g_assert_cmpint(g_chdir(before), ==, 0);
}

static void test_unsupported(Fixture *self, const void *data)
{
	(void)data;
	make_elf(self, ELFCLASS32, EM_386, 0755);
	check_refused(self->file, LODE_ERROR_UNSUPPORTED, "32-bit");
	make_elf(self, ELFCLASS64, EM_AARCH64, 0755);
	check_refused(self->file, LODE_ERROR_UNSUPPORTED, "architecture");
	make_elf(self, ELFCLASS64, EM_X86_64, 04755);
	check_refused(self->file, LODE_ERROR_UNSUPPORTED,
		"set-user-ID or set-group-ID, which the tool cannot honour");
}

/* What the kernel does not execute a shell would, and be recorded in its place. */
static void test_not_executable(Fixture *self, const void *data)
{
	static const char *const texts[] = {"", "echo word\n", "#!\n", "#!  \necho word\n"};
	Program program = elf(ELFCLASS64, EM_X86_64);

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		make_file(self, texts[i], strlen(texts[i]), 0755);
		check_refused(self->file, LODE_ERROR_UNSUPPORTED, "names its interpreter");
	}
	for (size_t size = SELFMAG; size < sizeof(program); size += 10) {
		make_file(self, &program, size, 0755);
		check_refused(self->file, LODE_ERROR_UNSUPPORTED, "not a whole ELF program");
	}
	program.header.e_phoff = UINT64_MAX;
	make_file(self, &program, sizeof(program), 0755);
	check_refused(self->file, LODE_ERROR_UNSUPPORTED, "not a whole ELF program");
	program = elf(ELFCLASS64, EM_X86_64);
	program.header.e_type = ET_CORE;
	make_file(self, &program, sizeof(program), 0755);
	check_refused(self->file, LODE_ERROR_UNSUPPORTED, "not a whole ELF program");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add(
		"/record/program-check/accepted", Fixture, NULL, set_up, test_accepted, tear_down);
	g_test_add("/record/program-check/not-found", Fixture, NULL, set_up, test_not_found,
		tear_down);
	g_test_add("/record/program-check/not-in-path", Fixture, NULL, set_up, test_not_in_path,
		tear_down);
	g_test_add("/record/program-check/not-executable", Fixture, NULL, set_up,
		test_not_executable, tear_down);
	g_test_add("/record/program-check/unsupported", Fixture, NULL, set_up, test_unsupported,
		tear_down);
	return g_test_run();
}
