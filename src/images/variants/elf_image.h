/* SPDX-License-Identifier: MIT */
/* Private to images/: the files of an ELF image, and their debug information. */
#pragma once

#include "images/dwarf/debug_info.h"
#include "images/elf/image_variant.h"

typedef struct LodeThreadBlock LodeThreadBlock;

typedef enum {
	LODE_SYMBOLS_OF_IMAGE,   /* STT_OBJECT, by address */
	LODE_SYMBOLS_OF_THREADS, /* STT_TLS, by offset */
	LODE_N_SYMBOL_KINDS,
} LodeDataSymbolKind;

typedef struct {
	LodeBinaryImage image;
	LodeElfFile *file;
	LodeElfFile *debug;          /* the separate debug file; NULL: none */
	LodeElfFile *packed_symbols; /* of .gnu_debugdata; NULL: none, or .symtab says more */
	struct LodeGoFunctions *go;  /* where symbols or lines are missing; NULL: none */
	GStringChunk *names;
	char *debug_directory;
	struct LodeSourceLines *lines; /* opened by the first look-up */
	/* of the symbol tables; read by the first look-up */
	struct LodeDataSymbols *variables[LODE_N_SYMBOL_KINDS];
	LodeDebugInfo *info; /* as lode_elf_image_debug_info() opened it */
	bool is_info_tried;
	Dwarf_CFI *unwind, *debug_unwind; /* as lode_elf_image_unwind() opened them; the second is
	                                     of `info` */
	bool is_unwind_tried;
	LodeThreadBlock *thread_block; /* as lode_elf_image_thread_block() read it */
	bool is_thread_block_tried;
} LodeElfImage;

/* The image as one of an ELF file; NULL: it is of another kind. */
LodeElfImage *lode_elf_image_of(LodeBinaryImage *image);

/* The debug information, opened by the first call; NULL: none, or it cannot be read. Borrowed. */
LodeDebugInfo *lode_elf_image_debug_info(LodeElfImage *self);

/* As lode_binary_image_find_data_symbol(), or of thread-local variables (LODE_SYMBOLS_OF_THREADS;
 * addresses are then offsets in their block); *out_linked is the name as linked. */
bool lode_elf_image_find_data_symbol(LodeElfImage *self, LodeDataSymbolKind kind, uint64_t address,
	LodeDataSymbol *out_symbol, const char **out_linked);

/* The unwind table for the code at an address: .eh_frame of the image itself, or .debug_frame where
 * that has no row for it, as for Go; opened by the first call. NULL: none, or it cannot be read, or
 * is of another machine's registers. Borrowed. */
Dwarf_CFI *lode_elf_image_unwind(LodeElfImage *self, uint64_t address);

/* The thread-local variables' block, read by the first call; NULL: none, or another machine's.
 * Borrowed. */
const LodeThreadBlock *lode_elf_image_thread_block(LodeElfImage *self);
