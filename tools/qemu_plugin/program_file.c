/* SPDX-License-Identifier: MIT */
/* As the kernel does it: fs/binfmt_elf.c, fs/binfmt_script.c. */
#include "program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 1024 };

static bool is_x86_64(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64 &&
	       (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

/* The kernel would not start it without. */
static bool has_loader(int descriptor, const Elf64_Phdr *segment)
{
	char path[PATH_MAX];
	Elf64_Ehdr header;

	if (segment->p_filesz < 2 || segment->p_filesz > sizeof(path) ||
		pread(descriptor, path, segment->p_filesz, (off_t)segment->p_offset) !=
			(ssize_t)segment->p_filesz ||
		path[segment->p_filesz - 1] != '\0' || access(path, X_OK) != 0)
		return false;
	int loader = open(path, O_RDONLY | O_CLOEXEC);
	if (loader < 0)
		return false;
	bool is_whole = pread(loader, &header, sizeof(header), 0) == (ssize_t)sizeof(header);
	close(loader);
	return is_whole && is_x86_64(&header);
}

static bool is_loadable(int descriptor, const Elf64_Ehdr *header)
{
	const size_t size = (size_t)header->e_phnum * sizeof(Elf64_Phdr);
	bool is_loadable = false, is_loader_missing = false;

	if (!is_x86_64(header) || header->e_phentsize != sizeof(Elf64_Phdr) ||
		header->e_phnum == 0 || header->e_phnum > MAX_SEGMENTS)
		return false;
	Elf64_Phdr *segments = malloc(size);
	if (segments != NULL &&
		pread(descriptor, segments, size, (off_t)header->e_phoff) == (ssize_t)size) {
		for (int i = 0; i < header->e_phnum; i++) {
			is_loadable |= segments[i].p_type == PT_LOAD;
			is_loader_missing |= segments[i].p_type == PT_INTERP &&
			                     !has_loader(descriptor, &segments[i]);
		}
	}
	free(segments);
	return is_loadable && !is_loader_missing;
}

static char *skip_blanks(char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static char *find_blank(char *at, const char *end)
{
	while (at < end && *at != ' ' && *at != '\t' && *at != '\0')
		at++;
	return at;
}

/* `self->line` has the first `n` bytes of the file. */
static bool read_script(ProgramFile *self, size_t n)
{
	char *end = self->line + n, *newline = memchr(self->line, '\n', n);

	if (n < 2 || self->line[0] != '#' || self->line[1] != '!')
		return false;
	char *name = skip_blanks(self->line + 2, newline != NULL ? newline : end);
	/* A name that reaches to the end of what is read may be longer. */
	if (newline == NULL && n == SCRIPT_LINE_BYTES && find_blank(name, end) == end)
		return false;
	if (newline != NULL)
		end = newline;
	while (end > name && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (name == end || *name == '\0')
		return false;
	*end = '\0';
	char *rest = find_blank(name, end);
	char *argument = *rest != '\0' ? skip_blanks(rest, end) : end;
	*rest = '\0';
	self->interpreter = name;
	self->argument = *argument != '\0' ? argument : NULL;
	return true;
}

/* What it is executed as would be lost in QEMU. */
static bool gains_privileges(int descriptor, const struct stat *status)
{
	const mode_t group = S_ISGID | S_IXGRP;

	return ((status->st_mode & S_ISUID) != 0 && status->st_uid != geteuid()) ||
	       ((status->st_mode & group) == group && status->st_gid != getegid()) ||
	       (geteuid() != 0 && fgetxattr(descriptor, "security.capability", NULL, 0) > 0);
}

void program_file_read(ProgramFile *self, const char *path)
{
	struct stat status;
	Elf64_Ehdr header;
	int descriptor = -1;

	*self = (ProgramFile){.kind = PROGRAM_FILE_OTHER};
	/* looked at before it is opened: that could wait for a pipe's other end */
	if (stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
		descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (descriptor < 0)
		return;
	ssize_t n = pread(descriptor, self->line, SCRIPT_LINE_BYTES, 0);
	if (n >= (ssize_t)sizeof(header)) {
		memcpy(&header, self->line, sizeof(header));
		if (is_loadable(descriptor, &header))
			self->kind = PROGRAM_FILE_ELF;
	}
	if (self->kind == PROGRAM_FILE_OTHER && n > 0 && read_script(self, (size_t)n))
		self->kind = PROGRAM_FILE_SCRIPT;
	if (self->kind == PROGRAM_FILE_ELF &&
		(fstat(descriptor, &status) != 0 || gains_privileges(descriptor, &status)))
		self->kind = PROGRAM_FILE_OTHER;
	close(descriptor);
}
