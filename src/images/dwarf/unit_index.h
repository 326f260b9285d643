/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: what stands at the outside of one unit of the debug information: functions by
 * address and name, variables by address and name, types by name, and the scopes of names.
 *
 * Functions are not entered; declarations inside them belong to function_variables.h.
 */
#pragma once

#include <elfutils/libdw.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t low, high;
	Dwarf_Die die;
} LodeUnitFunction;

typedef struct {
	uint64_t address;
	Dwarf_Die die;
} LodeUnitVariable;

typedef struct LodeUnitIndex {
	bool is_cplusplus;    /* names have no "struct", but namespaces */
	bool is_go;           /* calls preserve no register but rsp, rbp and r14 */
	GArray *functions;    /* LodeUnitFunction, by low */
	GArray *variables;    /* LodeUnitVariable, by address */
	GHashTable *named;    /* name → Dwarf_Die of a variable */
	GHashTable *callable; /* name → Dwarf_Die of a function */
	GHashTable *types;    /* qualified name → Dwarf_Die of a complete structure or class */
	GHashTable *scopes;   /* DIE's address → "ns::Outer::"; those in none are not here */
	GStringChunk *names;
} LodeUnitIndex;

LodeUnitIndex *lode_unit_index_new(Dwarf_Die *unit);
void lode_unit_index_free(LodeUnitIndex *self);

/* The function that an address is in; of several the innermost. NULL: none. */
const LodeUnitFunction *lode_unit_index_find_function(const LodeUnitIndex *self, uint64_t address);
/* The last variable that begins at or before an address; NULL: none. */
const LodeUnitVariable *lode_unit_index_find_variable(const LodeUnitIndex *self, uint64_t address);

/* Calls `visit` for each complete named structure or class of a unit, with its qualified name, and
 * for each variable, both outside of functions. */
typedef void (*LodeUnitVisitor)(void *data, const char *name, Dwarf_Die *die);
void lode_unit_index_visit(Dwarf_Die *unit, LodeUnitVisitor visit, void *data);

/* Calls `visit`, without a name, for each variable inside a function, in blocks and common blocks
 * too. Stops after `limit` entries of the tree; returns how many it went over. */
uint32_t lode_unit_index_visit_locals(
	Dwarf_Die *unit, uint32_t limit, LodeUnitVisitor visit, void *data);

/* Where the location of a variable says that it always is: at an address of the image, or at an
 * offset in the image's thread-local block (DW_OP_form_tls_address). False: elsewhere. */
bool lode_unit_index_static_address(
	Dwarf_Die *variable, uint64_t *out_address, bool *out_is_thread_local);
