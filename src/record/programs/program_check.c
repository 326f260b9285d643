/* SPDX-License-Identifier: MIT */
#include "record/programs/program_check.h"

#include "base/error.h"
#include "base/files/regular_file.h"
#include "record/programs/script_program.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program_here(const char *name)
{
	return g_file_test(name, G_FILE_TEST_IS_REGULAR) && access(name, X_OK) == 0;
}

/* Commands of POSIX.1 and bash that are built in, not files. */
static bool is_shell_command(const char *name)
{
	static const char *const all[] = {"alias", "bg", "cd", "command", "eval", "exec", "exit",
		"export", "fg", "for", "if", "jobs", "read", "set", "source", "type", "ulimit",
		"umask", "unset", "wait", "while", NULL};

	return g_strv_contains(all, name);
}

char *lode_program_find(const char *program, GError **error)
{
	char *path = g_find_program_in_path(program);

	if (path != NULL)
		return path;
	if (strchr(program, '/') == NULL && is_program_here(program))
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"program '%s' is not in PATH; did you mean './%s'?", program, program);
	else if (is_shell_command(program))
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"'%s' is a command of the shell, not a program: give the shell, as in "
			"sh -c '%s …'",
			program, program);
	else if (strchr(program, '/') == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "program '%s' is not in PATH",
			program);
	else if (g_file_test(program, G_FILE_TEST_IS_DIR))
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"'%s' is a directory, not a program", program);
	else if (access(program, F_OK) == 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "'%s' is not executable: %s",
			program, g_strerror(EACCES));
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "cannot find program '%s': %s",
			program, g_strerror(errno));
	return NULL;
}

static bool unsupported(const char *path, const char *reason, GError **error)
{
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, "cannot record '%s': %s", path, reason);
	return false;
}

static bool check_mode(const char *path, const char *tool, GError **error)
{
	struct stat status;

	if (stat(path, &status) != 0 || (status.st_mode & (S_ISUID | S_ISGID)) == 0)
		return true;
	g_autofree char *reason = g_strdup_printf(
		"it is set-user-ID or set-group-ID, which %s cannot honour; "
		"record a copy without that bit",
		tool);
	return unsupported(path, reason, error);
}

/* A program that may be executed but not read gives none; the tool will say so. */
static bool read_start(const char *path, Elf64_Ehdr *out_header, size_t *out_size)
{
	int file = lode_regular_file_open(path, 0, NULL);

	memset(out_header, 0, sizeof(*out_header));
	if (file < 0)
		return false;
	ssize_t size = pread(file, out_header, sizeof(*out_header), 0);
	close(file);
	*out_size = (size_t)MAX(size, 0);
	return size >= 0;
}

/* Whether the table of what to load, without which nothing starts, is within the file. */
static bool has_segments(const char *path, const Elf64_Ehdr *header)
{
	struct stat status;
	uint64_t table_bytes = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);

	return stat(path, &status) != 0 ||
	       (header->e_phnum > 0 && header->e_phoff <= (uint64_t)status.st_size &&
		       table_bytes <= (uint64_t)status.st_size - header->e_phoff);
}

/*
 * execvp(3) runs a file that the kernel does not execute by a shell, and so does QEMU: then the
 * shell would be recorded.
 */
static bool check_format(const char *path, GError **error)
{
	Elf64_Ehdr header;
	size_t size;

	if (!read_start(path, &header, &size))
		return true;
	if (size < SELFMAG || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return unsupported(path,
			"it is neither an ELF program nor a script that names its interpreter "
			"(#!); what is written for a shell is recorded as 'sh FILE'",
			error);
	if (header.e_ident[EI_CLASS] == ELFCLASS32)
		return unsupported(
			path, "it is a 32-bit program; lode reads x86-64 code only", error);
	if (size < sizeof(header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return unsupported(path, "it is not a whole ELF program", error);
	/* The byte order is the file's; a foreign one cannot read as EM_X86_64. */
	if (header.e_machine != EM_X86_64)
		return unsupported(path,
			"it is built for another architecture; lode reads x86-64 code only", error);
	return has_segments(path, &header) ||
	       unsupported(path, "it is not a whole ELF program", error);
}

/* For a script, checks its interpreter. */
static bool check_executed(const char *path, GError **error)
{
	const char *const argv[] = {path, NULL};
	g_autofree char *name = NULL;
	g_autoptr(GPtrArray) line = lode_script_program(path, argv, &name);
	const char *executed = line->pdata[0];

	if (access(executed, X_OK) == 0)
		return check_format(executed, error);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"cannot record '%s': its interpreter '%s' cannot be executed: %s", path, executed,
		g_strerror(errno));
	return false;
}

char *lode_program_check(const char *program, const char *tool, GError **error)
{
	g_autofree char *path = lode_program_find(program, error);

	if (path == NULL || !check_mode(path, tool, error) || !check_executed(path, error))
		return NULL;
	return g_steal_pointer(&path);
}
