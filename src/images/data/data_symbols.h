/* SPDX-License-Identifier: MIT */
/* Private to images/: the variables of an ELF file's symbol tables (STT_OBJECT, STT_TLS). */
#pragma once

#include "images/dwarf/data_types.h"
#include "images/elf/elf_image.h"

typedef struct LodeDataSymbols LodeDataSymbols;

/* The symbols of one kind in the image's .symtab, else .dynsym, and in its separate debug file.
 * Names are interned in the image's, which must outlive the result, as must its files. */
LodeDataSymbols *lode_data_symbols_new(const LodeElfImage *image, LodeDataSymbolKind kind);
void lode_data_symbols_free(LodeDataSymbols *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDataSymbols, lode_data_symbols_free)

/* The variable at an address; of several the innermost, else the one people know best. NULL: none.
 * *out_linked is its name as linked. */
bool lode_data_symbols_find(const LodeDataSymbols *self, uint64_t address,
	LodeDataSymbol *out_symbol, const char **out_linked);
