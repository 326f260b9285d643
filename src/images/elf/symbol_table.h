/* SPDX-License-Identifier: MIT */
/* Private to images/: the function symbols of an ELF file, and names for its PLT entries. */
#pragma once

#include "images/elf/elf_file.h"

/* Ascending preference where several symbols stand at one address. */
typedef enum {
	LODE_SYMBOL_LABEL, /* global, without a type: assembly */
	LODE_SYMBOL_LOCAL,
	LODE_SYMBOL_WEAK,
	LODE_SYMBOL_GLOBAL,
	LODE_SYMBOL_PLT,
} LodeSymbolRank;

typedef struct {
	uint64_t address, size; /* size 0: unknown */
	const char
		*symbol; /* as linked, borrowed from the file; NULL: a PLT entry without a target */
	LodeSymbolRank rank;
} LodeSymbol;

/* Appends the function symbols of the first table of that type (SHT_SYMTAB or SHT_DYNSYM) to
 * `out_symbols` (LodeSymbol). The file is the image or has symbols of its code. False when the
 * table is broken. */
bool lode_symbol_table_read(
	const LodeElfFile *file, uint32_t type, const LodeElfFile *image, GArray *out_symbols);

/* By address, best symbol of an address first. */
void lode_symbol_table_sort(GArray *symbols);

/*
 * Appends an entry for each slot of .plt, .plt.got and .plt.sec to `symbols` (sorted), named
 * "name@plt" by the relocation of the slot it jumps through, if there is one. Names are kept in
 * `names`.
 */
void lode_symbol_table_add_plt(const LodeElfFile *file, GArray *symbols, GStringChunk *names);

/* Whether that executable range holds PLT entries. */
bool lode_symbol_table_is_plt(const LodeElfRange *range);
