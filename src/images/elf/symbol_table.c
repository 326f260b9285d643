/* SPDX-License-Identifier: MIT */
/* Reads .symtab and .dynsym as they stand in the file: some millions of symbols a second. */
#include "images/elf/symbol_table.h"

#include "base/arrays/sort_order.h"
#include "images/elf/demangled_name.h"

#include <string.h>

static bool rank_of(const Elf64_Sym *symbol, LodeSymbolRank *out_rank)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info), binding = ELF64_ST_BIND(symbol->st_info);

	/* numbers above the last section stand for constants and the like; one says that the index
	 * is kept elsewhere, as there are too many sections */
	if (symbol->st_shndx == SHN_UNDEF ||
		(symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX))
		return false;
	if (type == STT_NOTYPE && binding != STB_LOCAL) {
		*out_rank = LODE_SYMBOL_LABEL;
		return true;
	}
	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return false;
	*out_rank = binding == STB_LOCAL  ? LODE_SYMBOL_LOCAL
	            : binding == STB_WEAK ? LODE_SYMBOL_WEAK
	                                  : LODE_SYMBOL_GLOBAL;
	return true;
}

/*
 * Where a symbol's code lies. ARM and MIPS mark code of short instructions by an odd address; the
 * first ABI of 64-bit PowerPC has symbols for the descriptors of functions, whose first word is the
 * address. A debug file has no bytes of .opd, so that it is read from the image.
 */
static uint64_t code_address(const LodeElfFile *image, const LodeElfSection *descriptors,
	const LodeElfFile *file, const Elf64_Sym *symbol)
{
	uint64_t offset;

	if (file->machine == EM_ARM || file->machine == EM_MIPS)
		return symbol->st_value & ~UINT64_C(1);
	if (descriptors == NULL)
		return symbol->st_value;
	offset = symbol->st_value - descriptors->address;
	const uint8_t *bytes = lode_elf_section_bytes(descriptors);
	return bytes != NULL && offset < descriptors->size && descriptors->size - offset >= 8
	               ? lode_elf_file_number(image, bytes + offset, 8)
	               : symbol->st_value;
}

bool lode_symbol_table_read(
	const LodeElfFile *file, uint32_t type, const LodeElfFile *image, GArray *out_symbols)
{
	const LodeElfSection *table = lode_elf_file_find_type(file, type);
	const LodeElfSection *descriptors = image->machine == EM_PPC64
	                                            ? lode_elf_file_find_section(image, ".opd")
	                                            : NULL;
	LodeElfSymbols symbols;

	if (table == NULL)
		return true;
	if (!lode_elf_file_symbols(file, table, &symbols))
		return false;
	for (size_t i = 1; i < symbols.n; i++) {
		const Elf64_Sym *raw = &symbols.all[i];
		LodeSymbol symbol = {.address = code_address(image, descriptors, file, raw),
			.size = raw->st_size};

		if (!rank_of(raw, &symbol.rank))
			continue;
		symbol.symbol = lode_elf_symbol_name(&symbols, raw);
		if (symbol.symbol == NULL)
			return false;
		if (symbol.symbol[0] != '\0')
			g_array_append_val(out_symbols, symbol);
	}
	return true;
}

/* malloc before __libc_malloc: names for the implementation begin with underscores. A mangled name
 * does too, but not for that reason. */
static size_t count_underscores(const char *symbol)
{
	return lode_is_mangled_name(symbol) ? 0 : strspn(symbol, "_");
}

static bool is_function(LodeSymbolRank rank)
{
	return rank != LODE_SYMBOL_LABEL && rank != LODE_SYMBOL_PLT;
}

/* Which name of a function people know best. */
static int compare_names(const LodeSymbol *left, const LodeSymbol *right)
{
	return LODE_FIRST_DIFFERENCE(lode_number_order(count_underscores(left->symbol),
					     count_underscores(right->symbol)),
		LODE_DESCENDING(rank),
		lode_number_order(strlen(left->symbol), strlen(right->symbol)),
		strcmp(left->symbol, right->symbol));
}

static int compare_symbols(const void *a, const void *b)
{
	const LodeSymbol *left = a, *right = b;
	bool are_functions = is_function(left->rank) && is_function(right->rank);

	return LODE_FIRST_DIFFERENCE(LODE_ASCENDING(address),
		are_functions ? compare_names(left, right) : LODE_DESCENDING(rank),
		LODE_DESCENDING(size), are_functions ? 0 : g_strcmp0(left->symbol, right->symbol));
}

void lode_symbol_table_sort(GArray *symbols)
{
	if (symbols->len > 1)
		qsort(symbols->data, symbols->len, sizeof(LodeSymbol), compare_symbols);
}
