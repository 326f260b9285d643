/* SPDX-License-Identifier: MIT */
#include "process/interpreters/python_frames.h"

#include "base/monotonic_clock.h"
#include "base/text/maps_line.h"
#include "images/elf/elf_file.h"
#include "images/elf/mapped_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINE = 8192 };

static const char *const names[] = {
	"_PyRuntime", "PyCode_Type", "PyUnicode_Type", "PyBytes_Type", "Py_Version"};
enum { RUNTIME, CODE_TYPE, TEXT_TYPE, BYTES_TYPE, VERSION, N_NAMES };

static void find_in_table(const LodeElfFile *file, uint32_t type, uint64_t out[N_NAMES])
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
		for (size_t k = 0; k < N_NAMES; k++)
			if (out[k] == 0 && strcmp(names[k], name) == 0)
				out[k] = symbol->st_value;
	}
}

/* What a file has. */
typedef struct {
	uint64_t found[N_NAMES], loaded_start;
	bool is_whole, is_fixed;
} Known;

enum { MAX_FILES = 1 << 10 };

void lode_python_files_init(LodePythonFiles *self)
{
	*self = (LodePythonFiles){
		.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
}

void lode_python_files_clear(LodePythonFiles *self)
{
	g_clear_pointer(&self->known, g_hash_table_unref);
}

static Known *search_file(const char *path)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, NULL);
	Known *self = g_new0(Known, 1);

	if (file == NULL || file->is_32 || file->is_big_endian)
		return self;
	find_in_table(file, SHT_DYNSYM, self->found);
	if (self->found[RUNTIME] == 0)
		find_in_table(file, SHT_SYMTAB, self->found);
	self->is_fixed = file->is_fixed;
	self->loaded_start = file->loaded_start;
	self->is_whole = true;
	for (size_t i = 0; i < N_NAMES; i++)
		self->is_whole &= self->found[i] != 0;
	return self;
}

/* The file of a mapping; NULL: it cannot be opened. */
static const Known *find_file(LodePythonFiles *self, const LodeMappedFile *mapped)
{
	g_autofree char *path = NULL;
	g_autofree char *key = g_strdup_printf("%x:%x:%" G_GINT64_MODIFIER "x:%s",
		mapped->device_major, mapped->device_minor, mapped->inode, mapped->path);
	const Known *known = g_hash_table_lookup(self->known, key);

	if (known != NULL || g_hash_table_size(self->known) >= MAX_FILES)
		return known;
	int descriptor = lode_mapped_file_open(mapped, &path);
	if (descriptor < 0)
		return NULL;
	close(descriptor);
	uint64_t begin_ns = lode_thread_ns();
	Known *added = search_file(path);
	self->spent_ns += lode_thread_ns() - begin_ns;
	g_hash_table_insert(self->known, g_steal_pointer(&key), added);
	return added;
}

/* Whether the file has all that is wanted. */
static bool take_file(
	const Known *file, uint64_t start, const LodeForeignMemory *memory, LodePythonSymbols *out)
{
	uint64_t found[N_NAMES];

	if (!file->is_whole)
		return false;
	for (size_t i = 0; i < N_NAMES; i++)
		found[i] = file->found[i] + (file->is_fixed ? 0 : start - file->loaded_start);
	*out = (LodePythonSymbols){.runtime = found[RUNTIME],
		.code_type = found[CODE_TYPE],
		.text_type = found[TEXT_TYPE],
		.bytes_type = found[BYTES_TYPE]};
	return memory->read(memory->data, found[VERSION], &out->version_hex,
		       sizeof(out->version_hex)) == sizeof(out->version_hex);
}

/* Where a file begins whose name says that it is Python. */
static bool is_wanted(const char *line, LodeMapsLine *out_mapping)
{
	if (!lode_maps_line_read(line, out_mapping) || out_mapping->inode == 0 ||
		out_mapping->offset != 0)
		return false;
	const char *name = strrchr(line + out_mapping->path, '/');
	return name != NULL && strstr(name, "python") != NULL;
}

bool lode_python_process_find(LodePythonFiles *files, pid_t pid, const LodeForeignMemory *memory,
	LodePythonSymbols *out_symbols)
{
	char path[64], line[MAX_LINE];
	bool is_found = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	while (maps != NULL && !is_found && fgets(line, sizeof(line), maps) != NULL) {
		LodeMapsLine mapping;
		line[strcspn(line, "\n")] = '\0';
		if (!is_wanted(line, &mapping))
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
		const Known *file = find_file(files, &mapped);
		is_found = file != NULL && take_file(file, mapping.start, memory, out_symbols);
	}
	if (maps != NULL)
		fclose(maps);
	return is_found;
}
