/* SPDX-License-Identifier: MIT */
#include "process/interpreters/python_frames.h"

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

/* Whether the file has all that is wanted. */
static bool find_in_file(
	const char *path, uint64_t start, const LodeForeignMemory *memory, LodePythonSymbols *out)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, NULL);
	uint64_t found[N_NAMES] = {0};

	if (file == NULL || file->is_32 || file->is_big_endian)
		return false;
	find_in_table(file, SHT_DYNSYM, found);
	if (found[RUNTIME] == 0)
		find_in_table(file, SHT_SYMTAB, found);
	for (size_t i = 0; i < N_NAMES; i++) {
		if (found[i] == 0)
			return false;
		found[i] += file->is_fixed ? 0 : start - file->loaded_start;
	}
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

bool lode_python_process_find(
	pid_t pid, const LodeForeignMemory *memory, LodePythonSymbols *out_symbols)
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
		g_autofree char *found = NULL;
		int descriptor = lode_mapped_file_open(&mapped, &found);
		if (descriptor < 0)
			continue;
		close(descriptor);
		is_found = find_in_file(found, mapping.start, memory, out_symbols);
	}
	if (maps != NULL)
		fclose(maps);
	return is_found;
}
