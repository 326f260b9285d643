/* SPDX-License-Identifier: MIT */
/*
 * A walk down nested structures, base classes and anonymous members. A broken tree may hold itself:
 * depth and number of members are limited.
 */
#include "images/dwarf/type_fields.h"

#include "base/arrays/sort_order.h"

#include <dwarf.h>
#include <string.h>

enum {
	MAX_DEPTH = 16,
	MAX_TYPEDEFS = 64,
	MAX_FIELDS = 1 << 14,
	MAX_VISITED = 1 << 17,
	MAX_PATH = 1024,
	MAX_DIMENSIONS = 64,
};

#define MAX_SIZE (UINT64_C(1) << 48)

typedef struct {
	LodeTypeTable *types;
	GStringChunk *names;
	GArray *fields;
	uint32_t n_visited;
} Walk;

/* Where in the outermost structure a nested one lies. */
typedef struct {
	const char *path; /* "position." */
	uint64_t offset;
	LodeFieldArray arrays[LODE_MAX_FIELD_ARRAYS]; /* around, from the outermost */
	uint8_t n_arrays;
	int depth;
} Nest;

static void add_array(Nest *nest, const LodeFieldArray *array)
{
	/* deeper arrays are not distinguished: the member is only in their first elements */
	if (array->stride > 0 && nest->n_arrays < LODE_MAX_FIELD_ARRAYS)
		nest->arrays[nest->n_arrays++] = *array;
}

static void walk_structure(Walk *walk, Dwarf_Die *die, const Nest *nest);

static bool read_number(Dwarf_Die *die, unsigned name, uint64_t *out_value)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_attr_integrate(die, name, &attribute) == NULL ||
		dwarf_formudata(&attribute, &value) != 0)
		return false;
	*out_value = value;
	return true;
}

static bool read_type(Dwarf_Die *die, Dwarf_Die *out_type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) != NULL &&
	       dwarf_formref_die(&attribute, out_type) != NULL;
}

/* A declaration of a class whose definition is in a type unit. */
static void follow_signature(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die definition;

	if (dwarf_attr(die, DW_AT_signature, &attribute) != NULL &&
		dwarf_formref_die(&attribute, &definition) != NULL)
		*die = definition;
}

bool lode_type_peel(Dwarf_Die *die, Dwarf_Die *out_die)
{
	Dwarf_Die type = *die;

	for (int i = 0; i < MAX_TYPEDEFS; i++) {
		switch (dwarf_tag(&type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
		case DW_TAG_packed_type:
		case DW_TAG_shared_type:
			if (!read_type(&type, &type))
				return false;
			break;
		default:
			follow_signature(&type);
			*out_die = type;
			return true;
		}
	}
	return false;
}

bool lode_type_is_descriptor(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_tag(die) == DW_TAG_array_type &&
	       dwarf_attr(die, DW_AT_data_location, &attribute) != NULL &&
	       dwarf_getlocation(&attribute, &ops, &n) == 0 && n == 2 &&
	       ops[0].atom == DW_OP_push_object_address && ops[1].atom == DW_OP_deref;
}

bool lode_type_is_allocatable(Dwarf_Die *die)
{
	return lode_type_is_descriptor(die) && dwarf_hasattr(die, DW_AT_allocated);
}

/* The first index of an array that does not say it: 0 but in Fortran (DWARF 5, table 7.17). */
static int64_t default_lower_bound(Dwarf_Die *range)
{
	Dwarf_Die unit;

	if (dwarf_diecu(range, &unit, NULL, NULL) == NULL)
		return 0;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return 1;
	default:
		return 0;
	}
}

/* The elements of an array; 0: without a known end. */
static uint64_t count_of(Dwarf_Die *range)
{
	uint64_t count = 0, first, last;
	int64_t low, high;

	if (read_number(range, DW_AT_count, &count))
		return count;
	if (!read_number(range, DW_AT_upper_bound, &last))
		return 0;
	/* A negative one is of a form with a sign; the forms of fixed size have none. */
	low = read_number(range, DW_AT_lower_bound, &first) ? (int64_t)first
	                                                    : default_lower_bound(range);
	high = (int64_t)last;
	if (low > high || low < INT32_MIN || high >= (int64_t)MAX_SIZE)
		return 0;
	return (uint64_t)(high - low) + 1;
}

uint64_t lode_type_count_elements(Dwarf_Die *array)
{
	uint64_t n = 1;
	int n_dimensions = 0;
	Dwarf_Die child;

	if (dwarf_child(array, &child) != 0)
		return 0;
	do {
		uint64_t count;

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		count = count_of(&child);
		if (count != 0 && n > MAX_SIZE / count)
			return 0;
		n *= count;
		n_dimensions++;
	} while (n_dimensions < MAX_DIMENSIONS && dwarf_siblingof(&child, &child) == 0);
	return n_dimensions > 0 ? n : 0;
}

uint64_t lode_type_size_of(Dwarf_Die *die)
{
	uint64_t n = 1, size;
	Dwarf_Die type = *die;

	for (int i = 0; i < MAX_TYPEDEFS; i++) {
		uint64_t count;

		if (!lode_type_peel(&type, &type))
			return 0;
		if (lode_type_is_descriptor(&type))
			return n <= MAX_SIZE / sizeof(uint64_t) ? n * sizeof(uint64_t) : 0;
		if (read_number(&type, DW_AT_byte_size, &size))
			return size > 0 && size < MAX_SIZE && n <= MAX_SIZE / size ? n * size : 0;
		if (dwarf_tag(&type) == DW_TAG_pointer_type ||
			dwarf_tag(&type) == DW_TAG_reference_type ||
			dwarf_tag(&type) == DW_TAG_rvalue_reference_type)
			return n * sizeof(uint64_t);
		if (dwarf_tag(&type) != DW_TAG_array_type)
			return 0;
		count = lode_type_count_elements(&type);
		if (count == 0 || n > MAX_SIZE / count || !read_type(&type, &type))
			return 0;
		n *= count;
	}
	return 0;
}

/* Where a member begins: a number, or in DWARF 2 an expression that adds one. */
static bool member_offset(Dwarf_Die *die, uint64_t *out_offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;

	*out_offset = 0;
	if (dwarf_attr_integrate(die, DW_AT_data_member_location, &attribute) == NULL)
		return true; /* of a union, or a bit field */
	if (dwarf_formudata(&attribute, out_offset) != 0) {
		if (dwarf_getlocation(&attribute, &ops, &n) != 0 || n != 1 ||
			ops[0].atom != DW_OP_plus_uconst)
			return false;
		*out_offset = ops[0].number;
	}
	return *out_offset < MAX_SIZE;
}

/* Makes a field one of bits; both ways of saying where they are. */
static void set_bits(Dwarf_Die *die, uint64_t storage, LodeTypeField *field)
{
	uint64_t n_bits, position;

	if (!read_number(die, DW_AT_bit_size, &n_bits) || n_bits == 0 || n_bits > 64)
		return;
	if (read_number(die, DW_AT_data_bit_offset, &position) && position < MAX_SIZE) {
		field->offset += position / 8;
	} else if (read_number(die, DW_AT_bit_offset, &position) && storage <= 8 &&
		   position + n_bits <= storage * 8) {
		/* counted from the storage unit's highest bit */
		position = storage * 8 - position - n_bits;
		field->offset += position / 8;
	} else {
		position = 0;
	}
	field->bit_offset = (uint32_t)(position % 8);
	field->bit_size = (uint32_t)n_bits;
	field->size = (field->bit_offset + n_bits + 7) / 8;
}

/* The element type of nested arrays, and their number (0: without a known end). */
static bool peel_arrays(Dwarf_Die *type, uint64_t *out_count, bool *out_is_array)
{
	*out_count = 1;
	*out_is_array = false;
	for (int i = 0; i < MAX_DIMENSIONS; i++) {
		uint64_t count;

		if (!lode_type_peel(type, type))
			return false;
		if (dwarf_tag(type) != DW_TAG_array_type || lode_type_is_descriptor(type))
			return true;
		*out_is_array = true;
		count = lode_type_count_elements(type);
		if (count != 0 && *out_count > MAX_SIZE / count)
			return false;
		*out_count *= count;
		if (!read_type(type, type))
			return false;
	}
	return false;
}

static bool is_structure(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static uint64_t extent_of(uint64_t count, uint64_t stride)
{
	if (count == 0)
		return UINT64_MAX;
	return stride > 0 && count <= MAX_SIZE / stride ? count * stride : 0;
}

static LodeNumberKind value_kind(Dwarf_Die *type)
{
	uint64_t encoding;

	if (dwarf_tag(type) != DW_TAG_base_type)
		return LODE_NUMBER_INTEGER;
	if (!read_number(type, DW_AT_encoding, &encoding))
		return LODE_NUMBER_UNKNOWN;
	switch (encoding) {
	case DW_ATE_float:
	case DW_ATE_complex_float:
	case DW_ATE_imaginary_float:
		return LODE_NUMBER_FLOAT;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return LODE_NUMBER_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_boolean:
	case DW_ATE_UTF:
		return LODE_NUMBER_UNSIGNED;
	default:
		return LODE_NUMBER_INTEGER;
	}
}

/* A member of a plain type, or an array of such: `nest` has the arrays around it, `type` is that of
 * its elements. */
static void add_leaf(Walk *walk, Dwarf_Die *die, const Nest *nest, Dwarf_Die *declared,
	Dwarf_Die *type, const LodeFieldArray *own)
{
	LodeTypeField field = {.offset = nest->offset, .n_arrays = nest->n_arrays};
	const char *name = dwarf_diename(die);
	g_autofree char *path = NULL, *valid = NULL;

	if (name == NULL && dwarf_hasattr(die, DW_AT_artificial))
		name = "{tag}"; /* that says which variant is in use */
	if (name == NULL)
		return; /* padding bits */
	path = g_strdup_printf("%s%s%s", nest->path, name, own->stride > 0 ? "[]" : "");
	valid = g_utf8_make_valid(path, MIN((gssize)strlen(path), MAX_PATH));
	field.name = g_string_chunk_insert_const(walk->names, valid);
	field.type = lode_type_table_add(walk->types, declared);
	field.size = own->stride > 0 ? own->extent : lode_type_size_of(declared);
	if (field.size == UINT64_MAX)
		field.size = 0;
	set_bits(die, field.size, &field);
	field.element_size = own->stride > 0 ? own->stride : field.size;
	field.value = (uint8_t)value_kind(type);
	memcpy(field.arrays, nest->arrays, sizeof field.arrays);
	field.stride = nest->n_arrays > 0 ? nest->arrays[0].stride : 0;
	field.extent = nest->n_arrays > 0 ? nest->arrays[0].extent : MAX(field.size, 1);
	if (walk->fields->len < MAX_FIELDS)
		g_array_append_val(walk->fields, field);
}

static void visit_member(Walk *walk, Dwarf_Die *die, const Nest *nest)
{
	bool is_base = dwarf_tag(die) == DW_TAG_inheritance, is_array;
	const char *name = is_base ? NULL : dwarf_diename(die);
	g_autofree char *path = NULL;
	Dwarf_Die declared, type;
	LodeFieldArray array = {0};
	Nest inner = *nest;
	uint64_t offset, count;

	if (!read_type(die, &declared) || !member_offset(die, &offset))
		return;
	type = declared;
	if (!peel_arrays(&type, &count, &is_array))
		return;
	inner.offset += offset;
	if (is_array) {
		array.stride = lode_type_size_of(&type);
		array.extent = extent_of(count, array.stride);
		add_array(&inner, &array);
	}
	if (!is_structure(&type)) {
		add_leaf(walk, die, &inner, &declared, &type, &array);
		return;
	}
	path = name == NULL ? g_strdup(nest->path)
	                    : g_strdup_printf("%s%s%s.", nest->path, name, is_array ? "[]" : "");
	inner.path = path;
	inner.depth++;
	if (strlen(path) < MAX_PATH)
		walk_structure(walk, &type, &inner);
}

static bool is_member(Dwarf_Die *die)
{
	/* the place of a virtual base is in the object's vtable, not in its type */
	if (dwarf_tag(die) == DW_TAG_inheritance)
		return !dwarf_hasattr(die, DW_AT_virtuality);
	/* static members of classes, in DWARF 4 */
	return dwarf_tag(die) == DW_TAG_member && !dwarf_hasattr(die, DW_AT_external) &&
	       !dwarf_hasattr(die, DW_AT_declaration);
}

static bool is_variant(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_variant_part || tag == DW_TAG_variant;
}

static void walk_structure(Walk *walk, Dwarf_Die *die, const Nest *nest)
{
	Dwarf_Die child;

	if (nest->depth >= MAX_DEPTH || nest->offset >= MAX_SIZE || dwarf_child(die, &child) != 0)
		return;
	do {
		if (walk->n_visited++ >= MAX_VISITED)
			return;
		if (is_member(&child)) {
			visit_member(walk, &child, nest);
		} else if (is_variant(&child)) {
			/* of an enumeration in Rust: its variants lie where a union's members do */
			Nest inner = *nest;

			inner.depth++;
			walk_structure(walk, &child, &inner);
		}
	} while (dwarf_siblingof(&child, &child) == 0);
}

LODE_ORDER(compare_fields, LodeTypeField, LODE_ASCENDING(offset), LODE_ASCENDING(bit_offset))

GArray *lode_type_fields_read(LodeTypeTable *types, Dwarf_Die *die, GStringChunk *names)
{
	Walk walk = {.types = types, .names = names};

	walk.fields = g_array_new(FALSE, FALSE, sizeof(LodeTypeField));
	walk_structure(&walk, die, &(Nest){.path = ""});
	/* a stable sort: what a union holds stays as declared */
	g_array_sort(walk.fields, compare_fields);
	return walk.fields;
}
