/* SPDX-License-Identifier: MIT */
#include "images/function_symbol.h"

#include "images/debug_file.h"
#include "images/elf_file.h"

static bool is_function(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx < SHN_LORESERVE;
}

static void add(GArray *offsets, uint64_t offset)
{
	for (guint i = 0; i < offsets->len; i++)
		if (g_array_index(offsets, uint64_t, i) == offset)
			return;
	g_array_append_val(offsets, offset);
}

static void add_address(const LodeElfFile *image, uint64_t address, GArray *offsets)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
			address - segment->p_vaddr < segment->p_filesz)
			add(offsets, segment->p_offset + (address - segment->p_vaddr));
	}
}

typedef struct {
	const LodeElfFile *image; /* whose segments say where an address stands */
	const char *name;
	GArray *offsets;
} Search;

static void find_in(const Search *self, const LodeElfFile *file, uint32_t type)
{
	const LodeElfSection *table = lode_elf_file_find_type(file, type);
	LodeElfSymbols symbols;

	if (table == NULL || !lode_elf_file_symbols(file, table, &symbols))
		return;
	for (size_t i = 1; i < symbols.n; i++) {
		const Elf64_Sym *symbol = &symbols.all[i];
		if (is_function(symbol) &&
			g_strcmp0(lode_elf_symbol_name(&symbols, symbol), self->name) == 0)
			add_address(self->image, symbol->st_value, self->offsets);
	}
}

bool lode_function_symbol_find(
	const char *path, const char *name, GArray *out_offsets, GError **error)
{
	const LodeBinaryImageOptions options = {0};
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, error);

	if (file == NULL)
		return false;
	g_autoptr(LodeElfFile) debug_file = lode_debug_file_find(file, &options);
	const Search search = {.image = file, .name = name, .offsets = out_offsets};
	find_in(&search, file, SHT_SYMTAB);
	find_in(&search, file, SHT_DYNSYM);
	if (debug_file != NULL)
		find_in(&search, debug_file, SHT_SYMTAB);
	return true;
}
