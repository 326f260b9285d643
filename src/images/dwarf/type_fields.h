/* SPDX-License-Identifier: MIT */
/* Private to images/: the members of a structure, those of nested ones by their path. */
#pragma once

#include "images/dwarf/type_table.h"

/* Reads the members of the structure `die` as lode_type_table_fields() gives them; names are kept
 * in `names`. */
GArray *lode_type_fields_read(LodeTypeTable *types, Dwarf_Die *die, GStringChunk *names);

/* Bytes of a type by its DIE, elements of an array through all dimensions; 0: unknown. */
uint64_t lode_type_size_of(Dwarf_Die *die);
uint64_t lode_type_count_elements(Dwarf_Die *array);
/* Whether the described object is a descriptor that begins with a pointer to the array: allocated
 * arrays in Fortran, and parameters of any shape. */
bool lode_type_is_descriptor(Dwarf_Die *die);
/* Whether the array that the descriptor leads to is the variable's own, as an allocatable's is; a
 * pointer or parameter leads to others'. */
bool lode_type_is_allocatable(Dwarf_Die *die);
/* Looks through typedefs and qualifiers; false when they do not end, or at no type. */
bool lode_type_peel(Dwarf_Die *die, Dwarf_Die *out_die);
