/* SPDX-License-Identifier: MIT */
#include "images/dwarf/named_symbol.h"

#include "base/error.h"
#include "images/dwarf/debug_file.h"
#include "images/elf/elf_file.h"
#include "images/elf/packed_symbols.h"

typedef struct {
	const char *name;
	unsigned char type; /* STT_FUNC, STT_OBJECT */
} Wanted;

/* The first from `*i` on in a file's table of that kind; *i becomes the one after it. NULL: no
 * more. */
static const Elf64_Sym *next_symbol(
	const Wanted *wanted, const LodeElfFile *file, uint32_t table_type, size_t *i)
{
	const LodeElfSection *table = lode_elf_file_find_type(file, table_type);
	LodeElfSymbols symbols;

	if (table == NULL || !lode_elf_file_symbols(file, table, &symbols))
		return NULL;
	while (++*i < symbols.n) {
		const Elf64_Sym *symbol = &symbols.all[*i];

		/* one that another file has, or that stands for a number, lies nowhere here */
		if (ELF64_ST_TYPE(symbol->st_info) == wanted->type &&
			symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE &&
			g_strcmp0(lode_elf_symbol_name(&symbols, symbol), wanted->name) == 0)
			return symbol;
	}
	return NULL;
}

static void add(GArray *offsets, uint64_t offset)
{
	for (guint i = 0; i < offsets->len; i++)
		if (g_array_index(offsets, uint64_t, i) == offset)
			return;
	g_array_append_val(offsets, offset);
}

/* The segments are the image's: those of a separate debug file are not where they say. */
static void add_functions(const Wanted *wanted, const LodeElfFile *file, uint32_t table_type,
	const LodeElfFile *image, GArray *offsets)
{
	const Elf64_Sym *symbol;
	size_t i = 0;

	while ((symbol = next_symbol(wanted, file, table_type, &i)) != NULL) {
		for (size_t k = 0; k < image->n_segments; k++) {
			const Elf64_Phdr *segment = &image->segments[k];
			uint64_t inside = symbol->st_value - segment->p_vaddr;

			if (segment->p_type == PT_LOAD && symbol->st_value >= segment->p_vaddr &&
				inside < segment->p_filesz)
				add(offsets, segment->p_offset + inside);
		}
	}
}

bool lode_named_symbol_functions(
	const char *path, const char *name, GArray *out_offsets, GError **error)
{
	const LodeBinaryImageOptions options = {0};
	const Wanted wanted = {name, STT_FUNC};
	const char *warning;
	g_autoptr(LodeElfFile) file = lode_elf_file_open_tables(path, error);

	if (file == NULL)
		return false;
	g_autoptr(LodeElfFile) debug_file = lode_debug_file_find(file, &options);
	add_functions(&wanted, file, SHT_SYMTAB, file, out_offsets);
	add_functions(&wanted, file, SHT_DYNSYM, file, out_offsets);
	if (debug_file != NULL)
		add_functions(&wanted, debug_file, SHT_SYMTAB, file, out_offsets);
	g_autoptr(LodeElfFile) packed = lode_packed_symbols_open(file, &warning);
	if (packed != NULL)
		add_functions(&wanted, packed, SHT_SYMTAB, file, out_offsets);
	return true;
}

bool lode_named_symbol_variable(const char *path, const char *name, uint64_t *out_address,
	uint64_t *out_size, GError **error)
{
	static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
	const Wanted wanted = {name, STT_OBJECT};
	g_autoptr(LodeElfFile) file = lode_elf_file_open_tables(path, error);

	if (file == NULL)
		return false;
	for (size_t k = 0; k < G_N_ELEMENTS(tables); k++) {
		const Elf64_Sym *symbol;
		size_t i = 0;

		while ((symbol = next_symbol(&wanted, file, tables[k], &i)) != NULL) {
			if (symbol->st_size == 0)
				continue;
			*out_address = symbol->st_value;
			*out_size = symbol->st_size;
			return true;
		}
	}
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "%s: has no variable '%s'", path, name);
	return false;
}
