/* SPDX-License-Identifier: MIT */
#include "images/variable_symbol.h"

#include "base/error.h"
#include "images/elf_file.h"

static bool is_variable(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx < SHN_LORESERVE && symbol->st_size > 0;
}

static bool find_in(const LodeElfFile *file, uint32_t type, const char *name, Elf64_Sym *out_symbol)
{
	const LodeElfSection *table = lode_elf_file_find_type(file, type);
	LodeElfSymbols symbols;

	if (table == NULL || !lode_elf_file_symbols(file, table, &symbols))
		return false;
	for (size_t i = 1; i < symbols.n; i++) {
		const Elf64_Sym *symbol = &symbols.all[i];
		if (!is_variable(symbol) ||
			g_strcmp0(lode_elf_symbol_name(&symbols, symbol), name) != 0)
			continue;
		*out_symbol = *symbol;
		return true;
	}
	return false;
}

bool lode_variable_symbol_find(const char *path, const char *name, uint64_t *out_address,
	uint64_t *out_size, GError **error)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, error);
	Elf64_Sym symbol;

	if (file == NULL)
		return false;
	if (!find_in(file, SHT_SYMTAB, name, &symbol) &&
		!find_in(file, SHT_DYNSYM, name, &symbol)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "%s: has no variable '%s'",
			path, name);
		return false;
	}
	*out_address = symbol.st_value;
	*out_size = symbol.st_size;
	return true;
}
