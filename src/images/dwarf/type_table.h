/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: types of the debug information, read at the first use, and their units.
 *
 *   DIE ──▶ number of a type ──▶ kind, size, name, target (of a pointer or array)
 *                            ──▶ fields (of a structure): nested ones by path, by offset
 *
 * Typedefs and qualifiers are looked through; a typedef of a scalar, and of a structure without a
 * name, gives the name.
 */
#pragma once

#include "images/dwarf/debug_info.h"
#include "model/data_type.h"

typedef struct LodeUnitIndex LodeUnitIndex;

#define LODE_NO_TYPE UINT32_MAX

typedef enum {
	LODE_TYPE_OTHER, /* functions, void, damaged types */
	LODE_TYPE_SCALAR,
	LODE_TYPE_POINTER, /* and references */
	LODE_TYPE_ARRAY,
	LODE_TYPE_AGGREGATE, /* structures, classes, unions */
} LodeTypeKind;

enum { LODE_MAX_FIELD_ARRAYS = 4 };

/* An array that a member is in, or is. */
typedef struct {
	uint64_t stride; /* bytes from one element to the next */
	uint64_t extent; /* bytes of all; UINT64_MAX: a flexible array member */
} LodeFieldArray;

/* A member that is not itself a structure. */
typedef struct {
	const char *name; /* "next", "position.x", "slots[]", "points[].x" */
	uint32_t type;    /* as declared: of an array the array's */
	uint64_t offset;  /* of an array of structures: in the first of them */
	uint64_t size;    /* bytes of the member */
	uint64_t stride;  /* of the elements of the outermost array that it is in; 0: none */
	uint64_t extent;  /* bytes from `offset` on in which it recurs; UINT64_MAX: a flexible array
	                   */
	uint32_t bit_offset, bit_size;                /* size 0: no bit field */
	LodeFieldArray arrays[LODE_MAX_FIELD_ARRAYS]; /* from the outermost, its own the last */
	uint8_t n_arrays;
	uint8_t value;         /* LodeNumberKind */
	uint64_t element_size; /* of one of its own elements, else as `size` */
} LodeTypeField;

typedef struct {
	Dwarf_Die die; /* without typedefs and qualifiers */
	LodeTypeKind kind;
	uint64_t size;       /* 0: unknown */
	uint64_t n_elements; /* of an array, all dimensions; 0: unknown */
	uint32_t canonical;  /* the same for all names of one structure */
	const char *name;    /* as a person writes it; borrowed from the table */
	bool is_target_read;
	uint32_t target; /* see lode_type_table_target() */
	GArray *fields;  /* see lode_type_table_fields() */
} LodeType;

typedef struct LodeTypeTable LodeTypeTable;

LodeTypeTable *lode_type_table_new(LodeDebugInfo *info);
void lode_type_table_free(LodeTypeTable *self);

/* The index of a unit; read once. NULL: broken. */
const LodeUnitIndex *lode_type_table_unit(LodeTypeTable *self, Dwarf_CU *unit);

/* The number of the type that is `die`; always the same for one DIE. */
uint32_t lode_type_table_add(LodeTypeTable *self, Dwarf_Die *die);
/* Adds the type of a variable, parameter, member or function; LODE_NO_TYPE: none.
 */
uint32_t lode_type_table_add_type_of(LodeTypeTable *self, Dwarf_Die *die);

/* Valid until the next type is added. */
const LodeType *lode_type_table_get(const LodeTypeTable *self, uint32_t type);
/* The type that a pointer points to, or of an array's elements; LODE_NO_TYPE: unknown (void). */
uint32_t lode_type_table_target(LodeTypeTable *self, uint32_t type);
/* LodeTypeField by offset, of one offset as declared; NULL where it is not a structure, or
 * nowhere complete. Declarations are completed from other units. */
const GArray *lode_type_table_fields(LodeTypeTable *self, uint32_t type);
uint64_t lode_type_table_size(LodeTypeTable *self, uint32_t type);
/* The type of an array's elements through all dimensions; another type itself. */
uint32_t lode_type_table_element(LodeTypeTable *self, uint32_t type);

/* Whether a variable of this type owns data that lie elsewhere: an allocatable array of Fortran,
 * one whose length is computed, a map of Go. */
bool lode_type_table_is_owned(LodeTypeTable *self, uint32_t type);

/* "main.table.rows": a member with its structure's name, without "struct ". Borrowed. */
const char *lode_type_table_member_text(
	LodeTypeTable *self, uint32_t type, const LodeTypeField *field);

/* A complete structure or class by its qualified name, without "struct "; LODE_NO_TYPE. */
uint32_t lode_type_table_find_name(LodeTypeTable *self, const char *name);

/* A type of Go's maps, `map[string]int`, which is a pointer to the map's header. */
typedef struct {
	uint32_t map, key, value; /* LODE_NO_TYPE: not known, of the last two */
} LodeGoMapType;

/* Whether it is a pointer to the header of a map. */
bool lode_type_table_is_go_map(LodeTypeTable *self, uint32_t type);

/* The one whose descriptor, which functions of Go's runtime get, lies so many bytes into its
 * section; false: none. */
bool lode_type_table_find_go_map(LodeTypeTable *self, uint64_t descriptor, LodeGoMapType *out_type);

/* The variables that lode_type_table_find_variable() searches. */
typedef enum {
	LODE_VARIABLES_OF_UNITS,     /* at addresses of the image, declared outside of functions */
	LODE_VARIABLES_OF_FUNCTIONS, /* declared inside of them: static ones, common blocks */
	LODE_VARIABLES_OF_THREADS,   /* at offsets in the thread-local block, declared anywhere */
	LODE_N_VARIABLE_LISTS,
} LodeVariableList;

/* The variable that some unit defines around an address, and where it begins; of several the one
 * that begins last. NULL: none. Borrowed. Functions are read, in all units, at the first search of
 * their variables. */
const Dwarf_Die *lode_type_table_find_variable(
	LodeTypeTable *self, LodeVariableList list, uint64_t address, uint64_t *out_begin);
