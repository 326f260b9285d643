/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the symbols that distributions leave in stripped programs (gdb's manual,
 * "Debugging information in a special section"): .gnu_debugdata holds an ELF file, packed by xz,
 * whose .symtab has the functions that .dynsym lacks.
 */
#pragma once

#include "images/elf/elf_file.h"

/* That file, unpacked; NULL: none, or, with a static phrase in *out_warning, it cannot be read. */
LodeElfFile *lode_packed_symbols_open(const LodeElfFile *image, const char **out_warning);
