/* SPDX-License-Identifier: MIT */
#include "record/programs/preloaded_library.h"

#include "base/error.h"
#include "base/files/regular_file.h"

#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_VARIABLE "LODE_PRELOAD_DIRECTORY"
#define PRELOAD "LD_PRELOAD"

static char *readable(char *path)
{
	if (access(path, R_OK) == 0)
		return g_canonicalize_filename(path, NULL);
	return NULL;
}

static char *find_built(const char *folder, const char *name)
{
	g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *directory = program != NULL ? g_path_get_dirname(program) : NULL;

	if (directory == NULL)
		return NULL;
	g_autofree char *path = g_build_filename(
		directory, "..", "..", "tools", folder, name, NULL);
	return readable(path);
}

static char *find_any(const char *folder, const char *name)
{
	const char *given = g_getenv(DIRECTORY_VARIABLE);
	g_autofree char *path = g_build_filename(
		given != NULL ? given : LODE_LIBRARY_DIRECTORY, name, NULL);
	char *built = given == NULL ? find_built(folder, name) : NULL;

	return built != NULL ? built : readable(path);
}

char *lode_preloaded_library_locate(const char *folder, const char *name, GError **error)
{
	char *path = find_any(folder, name);

	if (path == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s is not installed: it is neither in %s nor in the directory "
			"of " DIRECTORY_VARIABLE,
			name, LODE_LIBRARY_DIRECTORY);
	return path;
}

char *lode_preloaded_library_find(const char *folder, const char *name, GError **error)
{
	g_autofree char *path = lode_preloaded_library_locate(folder, name, error);

	if (path == NULL)
		return NULL;
	if (strpbrk(path, ": \t\n") != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: a space or a colon in its path ends the name in " PRELOAD, path);
		return NULL;
	}
	return g_steal_pointer(&path);
}

char **lode_preloaded_library_environment(const char *const *environment, const char *library)
{
	char **copy = environment != NULL ? g_strdupv((char **)environment) : g_get_environ();
	const char *given = g_environ_getenv(copy, PRELOAD);
	g_autofree char *both = given != NULL && *given != '\0'
	                                ? g_strconcat(library, ":", given, NULL)
	                                : g_strdup(library);

	return g_environ_setenv(copy, PRELOAD, both, TRUE);
}

static bool has_interpreter(Elf *elf)
{
	size_t n = 0;
	GElf_Phdr segment;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &segment) != NULL && segment.p_type == PT_INTERP)
			return true;
	return false;
}

static bool is_sanitizer(const char *library)
{
	static const char *const names[] = {"libasan.so", "libtsan.so", "libmsan.so", "liblsan.so",
		"libhwasan.so", "libclang_rt."};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_has_prefix(library, names[i]))
			return true;
	return false;
}

static bool names_sanitizer(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn entry;

	for (int i = 0; data != NULL && gelf_getdyn(data, i, &entry) != NULL; i++) {
		const char *library = entry.d_tag == DT_NEEDED
		                              ? elf_strptr(elf, header->sh_link, entry.d_un.d_val)
		                              : NULL;
		if (library != NULL && is_sanitizer(library))
			return true;
	}
	return false;
}

/* Linked statically, as clang does, it exports its functions. */
static bool exports_sanitizer(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	static const char *const names[] = {
		"__asan_init", "__tsan_init", "__msan_init", "__lsan_init", "__hwasan_init"};
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
		const char *name = symbol.st_shndx != SHN_UNDEF
		                           ? elf_strptr(elf, header->sh_link, symbol.st_name)
		                           : NULL;
		for (size_t k = 0; name != NULL && k < G_N_ELEMENTS(names); k++)
			if (strcmp(name, names[k]) == 0)
				return true;
	}
	return false;
}

static bool needs_sanitizer(Elf *elf)
{
	GElf_Shdr header;

	for (Elf_Scn *at = NULL; (at = elf_nextscn(elf, at)) != NULL;)
		if (gelf_getshdr(at, &header) != NULL &&
			((header.sh_type == SHT_DYNAMIC && names_sanitizer(elf, at, &header)) ||
				(header.sh_type == SHT_DYNSYM &&
					exports_sanitizer(elf, at, &header))))
			return true;
	return false;
}

/* A file that is not ELF is a script, whose interpreter is ELF. */
static const char *obstacle_in(Elf *elf)
{
	if (elf_kind(elf) != ELF_K_ELF)
		return NULL;
	if (gelf_getclass(elf) != ELFCLASS64)
		return "is a 32-bit program";
	/* it is the dynamic loader that reads LD_PRELOAD */
	if (!has_interpreter(elf))
		return "is linked statically";
	return needs_sanitizer(elf) ? "is built with a sanitizer, whose library must come first"
	                            : NULL;
}

static const char *read_obstacle(const char *path)
{
	struct stat status;
	const char *obstacle = NULL;
	int descriptor = lode_regular_file_open(path, 0, NULL);

	/* for these the loader ignores paths in LD_PRELOAD (ld.so(8), secure-execution mode) */
	if (stat(path, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
		obstacle = "is set-user-ID or set-group-ID";
	elf_version(EV_CURRENT);
	Elf *elf = descriptor >= 0 ? elf_begin(descriptor, ELF_C_READ_MMAP, NULL) : NULL;
	if (elf != NULL && obstacle == NULL)
		obstacle = obstacle_in(elf);
	elf_end(elf);
	if (descriptor >= 0)
		close(descriptor);
	return obstacle;
}

bool lode_preloaded_library_is_static(const char *path)
{
	int descriptor = lode_regular_file_open(path, 0, NULL);

	elf_version(EV_CURRENT);
	Elf *elf = descriptor >= 0 ? elf_begin(descriptor, ELF_C_READ_MMAP, NULL) : NULL;
	bool is_static = elf_kind(elf) == ELF_K_ELF && !has_interpreter(elf);
	elf_end(elf);
	if (descriptor >= 0)
		close(descriptor);
	return is_static;
}

char *lode_preloaded_library_obstacle(const char *program)
{
	g_autofree char *path = g_find_program_in_path(program);
	const char *obstacle = path != NULL ? read_obstacle(path) : NULL;

	return obstacle != NULL ? g_strdup_printf("'%s' %s", path, obstacle) : NULL;
}
