/* SPDX-License-Identifier: MIT */
/*
 * Sorted by address; symbols that overlap (aliases, parts of an object) are separated at look-up.
 */
#include "images/variants/data_symbols.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/elf/demangled_name.h"

#include <string.h>

/* Aliases of one object, and objects in objects, that a look-up steps over. */
enum { MAX_LOOK_BACK = 64 };

typedef struct {
	uint64_t address, size;
	const char *linked;
	bool is_local;
} Symbol;

struct LodeDataSymbols {
	GArray *symbols; /* Symbol, by address, larger ones first */
	GStringChunk *names;
};

static bool is_variable(const Elf64_Sym *raw, LodeDataSymbolKind kind)
{
	unsigned type = kind == LODE_SYMBOLS_OF_THREADS ? STT_TLS : STT_OBJECT;

	return ELF64_ST_TYPE(raw->st_info) == type && raw->st_size > 0 &&
	       raw->st_shndx != SHN_UNDEF &&
	       (raw->st_shndx < SHN_LORESERVE || raw->st_shndx == SHN_XINDEX) &&
	       raw->st_size <= UINT64_MAX - raw->st_value;
}

static void read_table(
	LodeDataSymbols *self, const LodeElfFile *file, uint32_t type, LodeDataSymbolKind kind)
{
	const LodeElfSection *table = lode_elf_file_find_type(file, type);
	LodeElfSymbols symbols;

	if (table == NULL || !lode_elf_file_symbols(file, table, &symbols))
		return;
	for (size_t i = 1; i < symbols.n; i++) {
		const Elf64_Sym *raw = &symbols.all[i];

		if (!is_variable(raw, kind))
			continue;
		const Symbol symbol = {raw->st_value, raw->st_size,
			lode_elf_symbol_name(&symbols, raw),
			ELF64_ST_BIND(raw->st_info) == STB_LOCAL};
		if (symbol.linked != NULL && symbol.linked[0] != '\0')
			g_array_append_val(self->symbols, symbol);
	}
}

static size_t count_underscores(const char *name)
{
	return lode_is_mangled_name(name) ? 0 : strspn(name, "_");
}

/* The name that a look-up finds first stands last. */
LODE_ORDER(compare_symbols, Symbol, LODE_ASCENDING(address), LODE_DESCENDING(size),
	lode_number_order(count_underscores(right->linked), count_underscores(left->linked)),
	LODE_DESCENDING(is_local), strcmp(right->linked, left->linked))

/* The symbols of one kind in the image's .symtab, else .dynsym, and in its separate debug file.
 * Names are interned in the image's, which must outlive the result, as must its files. */
static LodeDataSymbols *read_symbols(const LodeElfImage *image, LodeDataSymbolKind kind)
{
	LodeDataSymbols *self = g_new0(LodeDataSymbols, 1);

	self->names = image->names;
	self->symbols = g_array_new(FALSE, FALSE, sizeof(Symbol));
	if (lode_elf_file_find_type(image->file, SHT_SYMTAB) != NULL)
		read_table(self, image->file, SHT_SYMTAB, kind);
	else
		read_table(self, image->file, SHT_DYNSYM, kind);
	if (image->debug != NULL)
		read_table(self, image->debug, SHT_SYMTAB, kind);
	if (self->symbols->len > 1)
		qsort(self->symbols->data, self->symbols->len, sizeof(Symbol), compare_symbols);
	return self;
}

void lode_data_symbols_free(LodeDataSymbols *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->symbols);
	g_free(self);
}

/* The variable at an address; of several the innermost, else the one people know best. False: none.
 * *out_linked is its name as linked. */
static bool find_symbol(const LodeDataSymbols *self, uint64_t address, LodeDataSymbol *out_symbol,
	const char **out_linked)
{
	const Symbol *symbols = (const Symbol *)(const void *)self->symbols->data;
	size_t low = LODE_PARTITION_POINT(self->symbols->len, i, symbols[i].address <= address);
	for (size_t i = 0; i < MAX_LOOK_BACK && i < low; i++) {
		const Symbol *symbol = &symbols[low - 1 - i];

		if (address - symbol->address >= symbol->size)
			continue;
		out_symbol->name = lode_demangled_name(symbol->linked, self->names);
		out_symbol->address = symbol->address;
		out_symbol->size = symbol->size;
		*out_linked = symbol->linked;
		return true;
	}
	return false;
}

bool lode_elf_image_find_data_symbol(LodeElfImage *self, LodeDataSymbolKind kind, uint64_t address,
	LodeDataSymbol *out_symbol, const char **out_linked)
{
	if (self->variables[kind] == NULL)
		self->variables[kind] = read_symbols(self, kind);
	return find_symbol(self->variables[kind], address, out_symbol, out_linked);
}

bool lode_binary_image_find_data_symbol(
	LodeBinaryImage *image, uint64_t address, LodeDataSymbol *out_symbol)
{
	LodeElfImage *self = lode_elf_image_of(image);
	const char *linked;

	return self != NULL && lode_elf_image_find_data_symbol(
				       self, LODE_SYMBOLS_OF_IMAGE, address, out_symbol, &linked);
}
