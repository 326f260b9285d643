/* SPDX-License-Identifier: MIT */
/* Private to images/: the variables of an ELF file's symbol tables (STT_OBJECT, STT_TLS). */
#pragma once

#include "images/variants/elf_image.h"

typedef struct LodeDataSymbols LodeDataSymbols;

/* lode_elf_image_find_data_symbol() reads them. */
void lode_data_symbols_free(LodeDataSymbols *self);
