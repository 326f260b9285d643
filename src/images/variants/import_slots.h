/* SPDX-License-Identifier: MIT */
/*
 * The functions that an image calls by way of the global offset table, `call [rip + slot]`, as Rust
 * does and C with -fno-plt: the relocation of a slot has the address of a function of the image, or
 * the name of one elsewhere.
 */
#pragma once

#include "images/elf/binary_image.h"

typedef struct LodeImportSlots LodeImportSlots;

/* NULL: not an ELF file of x86-64, or without sections. Borrows from the image. */
LodeImportSlots *lode_import_slots_new(LodeBinaryImage *image);
void lode_import_slots_free(LodeImportSlots *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeImportSlots, lode_import_slots_free)

/* The name of the function whose address the word at `slot` has, demangled; NULL: not known. */
const char *lode_import_slots_find(const LodeImportSlots *self, uint64_t slot);
