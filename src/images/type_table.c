/* SPDX-License-Identifier: MIT */
/* Types are read one level deep when they are added, so that cycles between them end. */
#include "images/type_table.h"

#include "base/partition_point.h"
#include "images/type_fields.h"
#include "images/type_text.h"

#include <dwarf.h>
#include <string.h>

enum {
	MAX_UNITS = 4 * 1000 * 1000,
	MAX_NESTED_ARRAYS = 64,
	MAX_TYPES = 16 * 1000 * 1000,
	MAX_LOCALS = 32 * 1000 * 1000, /* entries of the trees that are gone over for them */
	MAX_LOOK_BACK = 8, /* variables that begin before an address and end before it */
};

struct LodeTypeTable {
	LodeDebugInfo *info;
	GArray *types;       /* LodeType */
	GHashTable *by_die;  /* a DIE's address → number */
	GHashTable *units;   /* Dwarf_CU → LodeUnitIndex */
	GHashTable *by_name; /* name → Dwarf_Die, of all units; NULL before the first question */
	GArray *variables[LODE_N_VARIABLE_LISTS]; /* LodeUnitVariable by address; as by_name */
	bool has_locals;                          /* functions have been read */
	GStringChunk *names;
};

static void free_index(void *index)
{
	lode_unit_index_free(index);
}

LodeTypeTable *lode_type_table_new(LodeDebugInfo *info)
{
	LodeTypeTable *self = g_new0(LodeTypeTable, 1);

	self->info = info;
	self->types = g_array_new(FALSE, TRUE, sizeof(LodeType));
	self->by_die = g_hash_table_new(NULL, NULL);
	self->units = g_hash_table_new_full(NULL, NULL, NULL, free_index);
	self->names = g_string_chunk_new(4096);
	return self;
}

static LodeType *type_at(const LodeTypeTable *self, uint32_t type)
{
	return &g_array_index(self->types, LodeType, type);
}

void lode_type_table_free(LodeTypeTable *self)
{
	if (self == NULL)
		return;
	for (guint i = 0; i < self->types->len; i++)
		g_clear_pointer(&type_at(self, i)->fields, g_array_unref);
	g_array_unref(self->types);
	g_hash_table_unref(self->by_die);
	g_hash_table_unref(self->units);
	g_clear_pointer(&self->by_name, g_hash_table_unref);
	for (int i = 0; i < LODE_N_VARIABLE_LISTS; i++)
		g_clear_pointer(&self->variables[i], g_array_unref);
	g_string_chunk_free(self->names);
	g_free(self);
}

const LodeUnitIndex *lode_type_table_unit(LodeTypeTable *self, Dwarf_CU *unit)
{
	LodeUnitIndex *index = g_hash_table_lookup(self->units, unit);
	Dwarf_Die die;

	if (index != NULL)
		return index;
	if (dwarf_cu_die(unit, &die, NULL, NULL, NULL, NULL, NULL, NULL) == NULL)
		return NULL;
	index = lode_unit_index_new(&die);
	g_hash_table_insert(self->units, unit, index);
	return index;
}

const LodeType *lode_type_table_get(const LodeTypeTable *self, uint32_t type)
{
	return type_at(self, type);
}

static LodeTypeKind kind_of(int tag)
{
	switch (tag) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_ptr_to_member_type:
	case DW_TAG_unspecified_type:
		return LODE_TYPE_SCALAR;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return LODE_TYPE_POINTER;
	case DW_TAG_array_type:
		return LODE_TYPE_ARRAY;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return LODE_TYPE_AGGREGATE;
	default:
		return LODE_TYPE_OTHER;
	}
}

/* The type without qualifiers, but with its typedef where that is what names it. */
static void name_type(LodeTypeTable *self, uint32_t type, Dwarf_Die *declared)
{
	Dwarf_Die die = *declared, peeled = type_at(self, type)->die;
	bool has_tag = type_at(self, type)->kind == LODE_TYPE_AGGREGATE &&
	               dwarf_diename(&peeled) != NULL;
	g_autofree char *text = NULL;

	for (int i = 0; i < MAX_NESTED_ARRAYS && dwarf_tag(&die) != DW_TAG_typedef; i++) {
		Dwarf_Attribute attribute;

		if (die.addr == peeled.addr ||
			dwarf_formref_die(dwarf_attr(&die, DW_AT_type, &attribute), &die) == NULL)
			break;
	}
	text = lode_type_text(self, has_tag || dwarf_tag(&die) != DW_TAG_typedef ? &peeled : &die);
	type_at(self, type)->name = g_string_chunk_insert_const(self->names, text);
}

static uint32_t append_type(LodeTypeTable *self, Dwarf_Die *declared, Dwarf_Die *peeled)
{
	LodeType type = {.die = *peeled, .target = LODE_NO_TYPE};
	gpointer canonical;

	type.kind = lode_type_is_descriptor(peeled) ? LODE_TYPE_POINTER
	                                            : kind_of(dwarf_tag(peeled));
	/* "long" must not be called after the first typedef of it. */
	if (type.kind == LODE_TYPE_SCALAR && declared->addr != peeled->addr &&
		!g_hash_table_contains(self->by_die, peeled->addr))
		append_type(self, peeled, peeled);
	uint32_t number = self->types->len;
	type.size = lode_type_size_of(peeled);
	type.n_elements = type.kind == LODE_TYPE_ARRAY ? lode_type_count_elements(peeled) : 0;
	type.canonical = number;
	if (g_hash_table_lookup_extended(self->by_die, peeled->addr, NULL, &canonical))
		type.canonical = GPOINTER_TO_UINT(canonical);
	else
		g_hash_table_insert(self->by_die, peeled->addr, GUINT_TO_POINTER(number));
	g_hash_table_insert(self->by_die, declared->addr, GUINT_TO_POINTER(number));
	g_array_append_val(self->types, type);
	name_type(self, number, declared);
	return number;
}

uint32_t lode_type_table_add(LodeTypeTable *self, Dwarf_Die *die)
{
	Dwarf_Die peeled;
	gpointer number;

	if (g_hash_table_lookup_extended(self->by_die, die->addr, NULL, &number))
		return GPOINTER_TO_UINT(number);
	if (self->types->len >= MAX_TYPES || !lode_type_peel(die, &peeled))
		return LODE_NO_TYPE;
	return append_type(self, die, &peeled);
}

uint32_t lode_type_table_add_type_of(LodeTypeTable *self, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == NULL ||
		dwarf_formref_die(&attribute, &type) == NULL)
		return LODE_NO_TYPE;
	return lode_type_table_add(self, &type);
}

uint32_t lode_type_table_target(LodeTypeTable *self, uint32_t type)
{
	Dwarf_Die die = type_at(self, type)->die;
	LodeTypeKind kind = type_at(self, type)->kind;
	uint32_t target;

	if (kind != LODE_TYPE_POINTER && kind != LODE_TYPE_ARRAY)
		return LODE_NO_TYPE;
	if (type_at(self, type)->is_target_read)
		return type_at(self, type)->target;
	target = lode_type_table_add_type_of(self, &die);
	type_at(self, type)->is_target_read = true;
	type_at(self, type)->target = target;
	return target;
}

uint32_t lode_type_table_element(LodeTypeTable *self, uint32_t type)
{
	for (int i = 0; i < MAX_NESTED_ARRAYS && type != LODE_NO_TYPE &&
			type_at(self, type)->kind == LODE_TYPE_ARRAY;
		i++)
		type = lode_type_table_target(self, type);
	return type;
}

static void keep_variable(LodeTypeTable *self, LodeVariableList list, Dwarf_Die *die)
{
	LodeUnitVariable variable = {.die = *die};
	bool is_thread_local;

	if (!lode_unit_index_static_address(die, &variable.address, &is_thread_local) ||
		(variable.address == 0 && !is_thread_local))
		return;
	if (is_thread_local)
		list = LODE_VARIABLES_OF_THREADS;
	g_array_append_val(self->variables[list], variable);
}

static void keep_die(void *data, const char *name, Dwarf_Die *die)
{
	LodeTypeTable *self = data;

	if (name == NULL)
		keep_variable(self, LODE_VARIABLES_OF_UNITS, die);
	else if (!g_hash_table_contains(self->by_name, name))
		g_hash_table_insert(self->by_name, g_string_chunk_insert(self->names, name),
			g_memdup2(die, sizeof *die));
}

static void keep_local(void *data, const char *name, Dwarf_Die *die)
{
	(void)name;
	keep_variable(data, LODE_VARIABLES_OF_FUNCTIONS, die);
}

static int compare_variables(const void *a, const void *b)
{
	const LodeUnitVariable *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void sort_variables(LodeTypeTable *self)
{
	for (int i = 0; i < LODE_N_VARIABLE_LISTS; i++)
		if (self->variables[i]->len > 1)
			g_array_sort(self->variables[i], compare_variables);
}

static void read_units(LodeTypeTable *self)
{
	Dwarf_CU *unit = NULL;

	self->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	for (int i = 0; i < LODE_N_VARIABLE_LISTS; i++)
		self->variables[i] = g_array_new(FALSE, FALSE, sizeof(LodeUnitVariable));
	for (int i = 0; i < MAX_UNITS; i++) {
		Dwarf_Die die;

		if (dwarf_get_units(self->info->dwarf, unit, &unit, NULL, NULL, NULL, NULL) != 0)
			break;
		if (lode_debug_info_unit_die(unit, &die))
			lode_unit_index_visit(&die, keep_die, self);
	}
	sort_variables(self);
}

static void read_locals(LodeTypeTable *self)
{
	uint32_t n_left = MAX_LOCALS;
	Dwarf_CU *unit = NULL;

	self->has_locals = true;
	for (int i = 0; i < MAX_UNITS && n_left > 0; i++) {
		Dwarf_Die die;

		if (dwarf_get_units(self->info->dwarf, unit, &unit, NULL, NULL, NULL, NULL) != 0)
			break;
		if (lode_debug_info_unit_die(unit, &die))
			n_left -= MIN(n_left,
				lode_unit_index_visit_locals(&die, n_left, keep_local, self));
	}
	sort_variables(self);
}

static const Dwarf_Die *find_definition(LodeTypeTable *self, const char *name)
{
	if (self->by_name == NULL)
		read_units(self);
	return g_hash_table_lookup(self->by_name, name);
}

static const char *without_keyword(const char *name)
{
	static const char *const KEYWORDS[] = {"struct ", "class ", "union "};

	for (size_t i = 0; i < G_N_ELEMENTS(KEYWORDS); i++)
		if (g_str_has_prefix(name, KEYWORDS[i]))
			return name + strlen(KEYWORDS[i]);
	return name;
}

/* A structure that is only declared where it is used takes the definition of another unit. */
static void complete(LodeTypeTable *self, LodeType *type)
{
	const Dwarf_Die *definition;

	if (!dwarf_hasattr(&type->die, DW_AT_declaration))
		return;
	definition = find_definition(self, without_keyword(type->name));
	if (definition == NULL)
		return;
	type->die = *definition;
	type->size = lode_type_size_of(&type->die);
}

const GArray *lode_type_table_fields(LodeTypeTable *self, uint32_t type)
{
	LodeType *entry;
	GArray *fields;
	Dwarf_Die die;

	type = type_at(self, type)->canonical;
	entry = type_at(self, type);
	if (entry->kind != LODE_TYPE_AGGREGATE)
		return NULL;
	if (entry->fields != NULL)
		return entry->fields;
	complete(self, entry);
	die = entry->die;
	/* reading adds types: `entry` may move */
	fields = lode_type_fields_read(self, &die, self->names);
	type_at(self, type)->fields = fields;
	return fields;
}

uint64_t lode_type_table_size(LodeTypeTable *self, uint32_t type)
{
	type = type_at(self, type)->kind == LODE_TYPE_AGGREGATE ? type_at(self, type)->canonical
	                                                        : type;
	/* perhaps a declaration, which is completed when its fields are read */
	if (type_at(self, type)->size == 0)
		lode_type_table_fields(self, type);
	return type_at(self, type)->size;
}

uint32_t lode_type_table_find_name(LodeTypeTable *self, const char *name)
{
	const Dwarf_Die *definition = find_definition(self, without_keyword(name));
	Dwarf_Die die;

	if (definition == NULL)
		return LODE_NO_TYPE;
	die = *definition;
	return lode_type_table_add(self, &die);
}

/* Bytes of a variable; at least 1. */
static uint64_t variable_size(LodeTypeTable *self, Dwarf_Die *die)
{
	uint32_t type = lode_type_table_add_type_of(self, die);

	return type == LODE_NO_TYPE ? 1 : MAX(lode_type_table_size(self, type), 1);
}

const Dwarf_Die *lode_type_table_find_variable(
	LodeTypeTable *self, LodeVariableList list, uint64_t address, uint64_t *out_begin)
{
	if (self->by_name == NULL)
		read_units(self);
	if (list != LODE_VARIABLES_OF_UNITS && !self->has_locals)
		read_locals(self);
	LodeUnitVariable *variables = (void *)self->variables[list]->data;
	size_t low = LODE_PARTITION_POINT(
		self->variables[list]->len, i, variables[i].address <= address);
	for (size_t i = 0; i < MIN(low, MAX_LOOK_BACK); i++) {
		LodeUnitVariable *variable = &variables[low - 1 - i];

		if (address - variable->address >= variable_size(self, &variable->die))
			continue;
		*out_begin = variable->address;
		return &variable->die;
	}
	return NULL;
}
