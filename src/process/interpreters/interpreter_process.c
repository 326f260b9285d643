/* SPDX-License-Identifier: MIT */
#include "process/interpreters/interpreter.h"

#include "base/monotonic_clock.h"
#include "base/text/maps_line.h"
#include "images/elf/elf_file.h"
#include "images/elf/mapped_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAX_LINE = 8192, MAX_FILES = 1 << 12 };

/* What a file has of the interpreters' symbols. */
typedef struct {
	char *path; /* as it is mapped */
	uint64_t found[LODE_N_INTERPRETERS][LODE_INTERPRETER_MAX_SYMBOLS], loaded_start;
	bool is_fixed;
} Known;

static void free_known(void *data)
{
	Known *self = data;

	g_free(self->path);
	g_free(self);
}

void lode_interpreter_files_init(LodeInterpreterFiles *self)
{
	*self = (LodeInterpreterFiles){
		.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_known)};
}

void lode_interpreter_files_clear(LodeInterpreterFiles *self)
{
	g_clear_pointer(&self->known, g_hash_table_unref);
}

/* --- files --- */

static void take_symbol(Known *self, const char *name, uint64_t address)
{
	for (size_t i = 0; i < LODE_N_INTERPRETERS; i++)
		for (size_t k = 0; k < LODE_INTERPRETER_MAX_SYMBOLS; k++) {
			const char *wanted = lode_interpreters[i].symbols[k];
			if (wanted != NULL && wanted[0] == name[0] && self->found[i][k] == 0 &&
				strcmp(wanted, name) == 0)
				self->found[i][k] = address;
		}
}

static void find_in_table(Known *self, const LodeElfFile *file, uint32_t type)
{
	const LodeElfSection *table = lode_elf_file_find_type(file, type);
	LodeElfSymbols symbols;

	if (table == NULL || !lode_elf_file_symbols(file, table, &symbols))
		return;
	for (size_t i = 1; i < symbols.n; i++) {
		const Elf64_Sym *symbol = &symbols.all[i];
		const char *name = lode_elf_symbol_name(&symbols, symbol);
		if (name != NULL && symbol->st_shndx != SHN_UNDEF)
			take_symbol(self, name, symbol->st_value);
	}
}

static bool has_all(const Known *self, size_t interpreter)
{
	for (unsigned k = 0; k < lode_interpreters[interpreter].n_needed; k++)
		if (self->found[interpreter][k] == 0)
			return false;
	return true;
}

/* An interpreter's symbols are exported, for extensions. Some builds of it alone have them but in
 * their full table, which is large. */
static Known *search_file(const char *path, const LodeMappedFile *mapped, size_t named)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open_tables(path, NULL);
	Known *self = g_new0(Known, 1);

	self->path = g_strdup(mapped->path);
	if (file == NULL || file->is_32 || file->is_big_endian)
		return self;
	find_in_table(self, file, SHT_DYNSYM);
	if (named < LODE_N_INTERPRETERS && self->found[named][0] == 0)
		find_in_table(self, file, SHT_SYMTAB);
	self->is_fixed = file->is_fixed;
	self->loaded_start = file->loaded_start;
	return self;
}

/* The file of a mapping, named as an interpreter's or not; NULL: it cannot be opened. */
static const Known *find_file(
	LodeInterpreterFiles *self, const LodeMappedFile *mapped, size_t named)
{
	g_autofree char *path = NULL;
	g_autofree char *key = g_strdup_printf("%x:%x:%" G_GINT64_MODIFIER "x:%s",
		mapped->device_major, mapped->device_minor, mapped->inode, mapped->path);
	const Known *known = g_hash_table_lookup(self->known, key);

	if (known != NULL || g_hash_table_size(self->known) >= MAX_FILES)
		return known;
	uint64_t begin_ns = lode_thread_ns();
	int descriptor = lode_mapped_file_open(mapped, &path);
	Known *added = NULL;
	if (descriptor >= 0) {
		added = search_file(path, mapped, named);
		close(descriptor);
		g_hash_table_insert(self->known, g_steal_pointer(&key), added);
	}
	self->spent_ns += lode_thread_ns() - begin_ns;
	return added;
}

/* --- processes --- */

/* The interpreter whose program or library has a file name ("python3.11", "libpython3.11.so.1.0");
 * LODE_N_INTERPRETERS: none's. */
static size_t named_as(const char *base)
{
	size_t i = 0;

	if (g_str_has_prefix(base, "lib"))
		base += strlen("lib");
	while (i < LODE_N_INTERPRETERS && !g_str_has_prefix(base, lode_interpreters[i].file))
		i++;
	return i;
}

/* Whether a program or library is so called whose frames no row reads. */
static bool is_unread_name(const char *base)
{
	return g_str_has_prefix(base, "pypy") || g_str_has_prefix(base, "libpypy");
}

/* The interpreter that the file of a mapping has. */
static void take_file(const Known *file, uint64_t start, LodeFoundInterpreter *out)
{
	uint64_t bias = file->is_fixed ? 0 : start - file->loaded_start;

	for (size_t i = 0; i < LODE_N_INTERPRETERS; i++) {
		if (!has_all(file, i))
			continue;
		out->interpreter = &lode_interpreters[i];
		out->file = file->path;
		for (size_t k = 0; k < LODE_INTERPRETER_MAX_SYMBOLS; k++)
			out->symbols[k] = file->found[i][k] != 0 ? file->found[i][k] + bias : 0;
		return;
	}
}

/* In the file of a mapping, if it begins there and is the program or is named as an interpreter's.
 */
static void find_in_mapping(LodeInterpreterFiles *files, const LodeMapsLine *mapping,
	const LodeMappedFile *mapped, const struct stat *program, LodeFoundInterpreter *out)
{
	const char *slash = strrchr(mapped->path, '/');
	size_t named = slash != NULL ? named_as(slash + 1) : LODE_N_INTERPRETERS;
	bool is_unread = slash != NULL && is_unread_name(slash + 1);
	bool is_program = mapped->inode == program->st_ino &&
	                  mapped->device_major == major(program->st_dev) &&
	                  mapped->device_minor == minor(program->st_dev);

	if (mapping->inode == 0 || mapping->offset != 0 ||
		(named == LODE_N_INTERPRETERS && !is_unread && !is_program))
		return;
	const Known *file = find_file(files, mapped, named);
	if (file == NULL)
		return;
	take_file(file, mapping->start, out);
	out->is_unread |= is_unread;
	if ((named < LODE_N_INTERPRETERS || is_unread) && out->file == NULL)
		out->file = file->path;
}

LodeFoundInterpreter lode_interpreter_find(LodeInterpreterFiles *files, pid_t pid)
{
	LodeFoundInterpreter found = {0};
	char path[64], line[MAX_LINE];
	LodeMapsLine mapping;
	struct stat program = {0};

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &program) != 0)
		program = (struct stat){0};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	while (maps != NULL && found.interpreter == NULL && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		if (!lode_maps_line_read(line, &mapping))
			continue;
		const LodeMappedFile mapped = {
			.pid = pid,
			.start = mapping.start,
			.end = mapping.end,
			.device_major = mapping.device_major,
			.device_minor = mapping.device_minor,
			.inode = mapping.inode,
			.path = line + mapping.path,
		};
		find_in_mapping(files, &mapping, &mapped, &program, &found);
	}
	if (maps != NULL)
		fclose(maps);
	return found;
}
