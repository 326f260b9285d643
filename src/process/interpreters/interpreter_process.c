/* SPDX-License-Identifier: MIT */
#include "process/interpreters/interpreter.h"

#include "base/monotonic_clock.h"
#include "base/text/maps_line.h"
#include "images/elf/elf_file.h"
#include "images/elf/mapped_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINE = 8192, MAX_FILES = 1 << 10 };

/* What a file has of an interpreter's symbols. */
typedef struct {
	uint64_t found[LODE_INTERPRETER_MAX_SYMBOLS], loaded_start;
	bool is_whole, is_fixed;
} Known;

static void find_in_table(
	const LodeElfFile *file, uint32_t type, const LodeInterpreter *wanted, uint64_t *out)
{
	const LodeElfSection *table = lode_elf_file_find_type(file, type);
	LodeElfSymbols symbols;

	if (table == NULL || !lode_elf_file_symbols(file, table, &symbols))
		return;
	for (size_t i = 1; i < symbols.n; i++) {
		const Elf64_Sym *symbol = &symbols.all[i];
		const char *name = lode_elf_symbol_name(&symbols, symbol);
		if (name == NULL || symbol->st_shndx == SHN_UNDEF)
			continue;
		for (size_t k = 0; k < LODE_INTERPRETER_MAX_SYMBOLS; k++)
			if (wanted->symbols[k] != NULL && out[k] == 0 &&
				strcmp(wanted->symbols[k], name) == 0)
				out[k] = symbol->st_value;
	}
}

void lode_interpreter_files_init(LodeInterpreterFiles *self)
{
	*self = (LodeInterpreterFiles){
		.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
}

void lode_interpreter_files_clear(LodeInterpreterFiles *self)
{
	g_clear_pointer(&self->known, g_hash_table_unref);
}

static Known *search_file(const char *path, const LodeInterpreter *wanted)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, NULL);
	Known *self = g_new0(Known, 1);

	if (file == NULL || file->is_32 || file->is_big_endian)
		return self;
	find_in_table(file, SHT_DYNSYM, wanted, self->found);
	if (self->found[0] == 0)
		find_in_table(file, SHT_SYMTAB, wanted, self->found);
	self->is_fixed = file->is_fixed;
	self->loaded_start = file->loaded_start;
	self->is_whole = true;
	for (unsigned i = 0; i < wanted->n_needed; i++)
		self->is_whole &= self->found[i] != 0;
	return self;
}

/* The file of a mapping; NULL: it cannot be opened. */
static const Known *find_file(
	LodeInterpreterFiles *self, const LodeMappedFile *mapped, const LodeInterpreter *wanted)
{
	g_autofree char *path = NULL;
	g_autofree char *key = g_strdup_printf("%s:%x:%x:%" G_GINT64_MODIFIER "x:%s", wanted->file,
		mapped->device_major, mapped->device_minor, mapped->inode, mapped->path);
	const Known *known = g_hash_table_lookup(self->known, key);

	if (known != NULL || g_hash_table_size(self->known) >= MAX_FILES)
		return known;
	int descriptor = lode_mapped_file_open(mapped, &path);
	if (descriptor < 0)
		return NULL;
	close(descriptor);
	uint64_t begin_ns = lode_thread_ns();
	Known *added = search_file(path, wanted);
	self->spent_ns += lode_thread_ns() - begin_ns;
	g_hash_table_insert(self->known, g_steal_pointer(&key), added);
	return added;
}

/* Whether the file has all that is wanted. */
static bool take_file(
	const Known *file, uint64_t start, const LodeInterpreter *wanted, LodeFoundInterpreter *out)
{
	if (file == NULL || !file->is_whole)
		return false;
	out->interpreter = wanted;
	for (size_t i = 0; i < LODE_INTERPRETER_MAX_SYMBOLS && wanted->symbols[i] != NULL; i++)
		out->symbols[i] = file->found[i] == 0 ? 0
		                  : file->is_fixed    ? file->found[i]
		                                      : file->found[i] + start - file->loaded_start;
	return true;
}

/* In the file of a mapping, if it begins there and is named as an interpreter's. */
static bool find_in_mapping(
	LodeInterpreterFiles *files, pid_t pid, const char *line, LodeFoundInterpreter *out)
{
	LodeMapsLine mapping;

	if (!lode_maps_line_read(line, &mapping) || mapping.inode == 0 || mapping.offset != 0)
		return false;
	const char *name = strrchr(line + mapping.path, '/');
	const LodeMappedFile mapped = {
		.pid = pid,
		.start = mapping.start,
		.end = mapping.end,
		.device_major = mapping.device_major,
		.device_minor = mapping.device_minor,
		.inode = mapping.inode,
		.path = line + mapping.path,
	};
	for (size_t i = 0; i < LODE_N_INTERPRETERS && name != NULL; i++) {
		const LodeInterpreter *wanted = &lode_interpreters[i];
		if (strstr(name, wanted->file) != NULL &&
			take_file(find_file(files, &mapped, wanted), mapping.start, wanted, out))
			return true;
	}
	return false;
}

LodeFoundInterpreter lode_interpreter_find(LodeInterpreterFiles *files, pid_t pid)
{
	LodeFoundInterpreter found = {0};
	char path[64], line[MAX_LINE];
	bool is_found = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	while (maps != NULL && !is_found && fgets(line, sizeof(line), maps) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		is_found = find_in_mapping(files, pid, line, &found);
	}
	if (maps != NULL)
		fclose(maps);
	return found;
}
