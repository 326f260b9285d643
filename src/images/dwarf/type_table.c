/* SPDX-License-Identifier: MIT */
/* Types are read one level deep when they are added, so that cycles between them end. */
#include "images/dwarf/type_table.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/dwarf/type_fields.h"
#include "images/dwarf/unit_index.h"

#include <dwarf.h>
#include <string.h>

/* --- the text of a type --- */

/* A type of the debug information as C or C++ writes it. */

/* Declarators are written from the inside out, as the language reads them. */

enum {
	MAX_DEPTH = 32,
	MAX_TEXT = 1024,
	MAX_PARAMETERS = 16,
};

static char *declare(LodeTypeTable *types, Dwarf_Die *die, char *declarator, int depth);

/* The type that `die` refers to, or NULL. */
static Dwarf_Die *type_of(Dwarf_Die *die, Dwarf_Die *out_type)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == NULL)
		return NULL;
	return dwarf_formref_die(&attribute, out_type);
}

static char *join(const char *name, const char *declarator)
{
	if (declarator[0] == '\0')
		return g_strdup(name);
	return g_strdup_printf("%s %s", name, declarator);
}

static const char *keyword_of(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_class_type:
		return "class ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

static char *name_of(LodeTypeTable *types, Dwarf_Die *die)
{
	const LodeUnitIndex *unit = lode_type_table_unit(types, die->cu);
	const char *keyword = keyword_of(dwarf_tag(die)), *name = dwarf_diename(die);
	const char *scope = unit == NULL ? NULL : g_hash_table_lookup(unit->scopes, die->addr);
	g_autofree char *text = NULL;

	if (name == NULL && dwarf_tag(die) == DW_TAG_unspecified_type)
		name = "decltype(nullptr)";
	if (name == NULL)
		name = keyword[0] != '\0' ? "{…}" : "?";
	else if (unit != NULL && unit->is_cplusplus)
		keyword = "";
	text = g_strdup_printf("%s%s%.*s", keyword, scope == NULL ? "" : scope, MAX_TEXT, name);
	return g_utf8_make_valid(text, -1);
}

/* "*" before what stands there; in parentheses when an array or a function is pointed to. */
static char *declare_pointer(
	LodeTypeTable *types, Dwarf_Die *die, char *declarator, const char *sign, int depth)
{
	Dwarf_Die target;
	bool has_target = type_of(die, &target) != NULL;
	int tag = has_target ? dwarf_tag(&target) : 0;
	bool is_bracketed = tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type;
	char *inner = g_strdup_printf(is_bracketed ? "(%s%s)" : "%s%s", sign, declarator);

	return declare(types, has_target ? &target : NULL, inner, depth + 1);
}

static void append_dimension(GString *text, Dwarf_Die *range)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_attr(range, DW_AT_count, &attribute) != NULL &&
		dwarf_formudata(&attribute, &value) == 0)
		g_string_append_printf(text, "[%" G_GUINT64_FORMAT "]", value);
	else if (dwarf_attr(range, DW_AT_upper_bound, &attribute) != NULL &&
		 dwarf_formudata(&attribute, &value) == 0 && value != UINT64_MAX)
		g_string_append_printf(text, "[%" G_GUINT64_FORMAT "]", value + 1);
	else
		g_string_append(text, "[]");
}

static char *declare_array(LodeTypeTable *types, Dwarf_Die *die, char *declarator, int depth)
{
	GString *text = g_string_new(declarator);
	Dwarf_Die child, target;

	if (dwarf_child(die, &child) == 0) {
		do {
			if (dwarf_tag(&child) == DW_TAG_subrange_type)
				append_dimension(text, &child);
		} while (text->len < MAX_TEXT && dwarf_siblingof(&child, &child) == 0);
	}
	return declare(types, type_of(die, &target), g_string_free(text, FALSE), depth + 1);
}

static char *declare_function(LodeTypeTable *types, Dwarf_Die *die, char *declarator, int depth)
{
	GString *text = g_string_new(declarator);
	Dwarf_Die child, type;
	int n = 0;

	g_string_append_c(text, '(');
	if (dwarf_child(die, &child) == 0) {
		do {
			g_autofree char *parameter = NULL;

			if (dwarf_tag(&child) != DW_TAG_formal_parameter)
				continue;
			parameter = declare(types, type_of(&child, &type), g_strdup(""), depth + 8);
			g_string_append_printf(text, "%s%s", n++ > 0 ? ", " : "", parameter);
		} while (n < MAX_PARAMETERS && text->len < MAX_TEXT &&
			 dwarf_siblingof(&child, &child) == 0);
	}
	g_string_append(text, n == 0 ? "void)" : ")");
	return declare(types, type_of(die, &type), g_string_free(text, FALSE), depth + 1);
}

/* "const" before the type it belongs to, after the star of a pointer. */
static char *declare_qualified(
	LodeTypeTable *types, Dwarf_Die *die, char *declarator, const char *word, int depth)
{
	g_autofree char *inner = NULL;
	Dwarf_Die target;
	bool has_target = type_of(die, &target) != NULL;
	int tag = has_target ? dwarf_tag(&target) : 0;

	if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type)
		return declare(types, &target, join(word, declarator), depth + 1);
	inner = declare(types, has_target ? &target : NULL, g_strdup(declarator), depth + 1);
	return g_strdup_printf("%s %s", word, inner);
}

/* Owns `declarator`. */
static char *declare(LodeTypeTable *types, Dwarf_Die *die, char *declarator, int depth)
{
	G_GNUC_UNUSED g_autofree char *owned = declarator;
	g_autofree char *name = NULL;

	if (depth > MAX_DEPTH || strlen(declarator) > MAX_TEXT)
		return g_strdup("…");
	if (die == NULL)
		return join("void", declarator);
	switch (dwarf_tag(die)) {
	case DW_TAG_pointer_type:
		return declare_pointer(types, die, declarator, "*", depth);
	case DW_TAG_reference_type:
		return declare_pointer(types, die, declarator, "&", depth);
	case DW_TAG_rvalue_reference_type:
		return declare_pointer(types, die, declarator, "&&", depth);
	case DW_TAG_array_type:
		if (lode_type_is_descriptor(die))
			return declare_pointer(types, die, declarator, "*", depth);
		return declare_array(types, die, declarator, depth);
	case DW_TAG_subroutine_type:
		return declare_function(types, die, declarator, depth);
	case DW_TAG_const_type:
		return declare_qualified(types, die, declarator, "const", depth);
	case DW_TAG_volatile_type:
		return declare_qualified(types, die, declarator, "volatile", depth);
	case DW_TAG_restrict_type:
		return declare_qualified(types, die, declarator, "restrict", depth);
	case DW_TAG_atomic_type:
		return declare_qualified(types, die, declarator, "_Atomic", depth);
	default:
		name = name_of(types, die);
		return join(name, declarator);
	}
}

/* "struct node *", "int [4]", "const char *", "int (*)(void *)", "ns::list<int>"; `die` NULL:
 * "void". Free with g_free(). Never NULL, valid UTF-8, bounded. */
static char *type_text(LodeTypeTable *types, Dwarf_Die *die)
{
	return declare(types, die, g_strdup(""), 0);
}

/* --- the table --- */

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
	GHashTable *go_maps; /* descriptor → Dwarf_Die; NULL before the first question */
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
	g_clear_pointer(&self->go_maps, g_hash_table_unref);
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
	text = type_text(self, has_tag || dwarf_tag(&die) != DW_TAG_typedef ? &peeled : &die);
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

LODE_ORDER(compare_variables, LodeUnitVariable, LODE_ASCENDING(address))

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
		if (lode_debug_info_unit_die(self->info, unit, &die))
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
		if (lode_debug_info_unit_die(self->info, unit, &die))
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

bool lode_type_table_is_go_map(LodeTypeTable *self, uint32_t type)
{
	const LodeType *pointer = type != LODE_NO_TYPE ? type_at(self, type) : NULL;

	if (pointer == NULL || pointer->kind != LODE_TYPE_POINTER || pointer->name == NULL)
		return false;
	/* that of a map is a name: it does not end as other pointers' do */
	const size_t length = strlen(pointer->name);
	if (length == 0 || strchr("*&)", pointer->name[length - 1]) != NULL)
		return false;
	const uint32_t header = lode_type_table_target(self, type);
	return header != LODE_NO_TYPE &&
	       g_str_has_prefix(without_keyword(type_at(self, header)->name), "hash<");
}

bool lode_type_table_is_owned(LodeTypeTable *self, uint32_t type)
{
	const LodeType *found = lode_type_table_get(self, type);
	Dwarf_Die die = found->die;

	return lode_type_is_allocatable(&die) ||
	       (found->kind == LODE_TYPE_ARRAY && found->n_elements == 0) ||
	       lode_type_table_is_go_map(self, type);
}

const char *lode_type_table_member_text(
	LodeTypeTable *self, uint32_t type, const LodeTypeField *field)
{
	g_autofree char *text = g_strdup_printf(
		"%s.%s", without_keyword(type_at(self, type)->name), field->name);

	return g_string_chunk_insert_const(self->names, text);
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

enum {
	/* The vendor's attributes of Go, cmd/internal/dwarf. */
	DW_AT_GO_KIND = 0x2900,
	DW_AT_GO_KEY = 0x2901,
	DW_AT_GO_ELEM = 0x2902,
	DW_AT_GO_RUNTIME_TYPE = 0x2904, /* where the descriptor lies in its section */
	GO_KIND_MAP = 21,               /* reflect.Map */
	MAX_GO_TYPES = 1 << 22,
};

static bool read_number(Dwarf_Die *die, unsigned name, uint64_t *out_value)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_attr(die, name, &attribute) == NULL ||
		(dwarf_formudata(&attribute, &value) != 0 &&
			dwarf_formaddr(&attribute, &value) != 0))
		return false;
	*out_value = value;
	return true;
}

/* Go has no types inside of others. */
static void read_go_maps(LodeTypeTable *self, Dwarf_Die *unit, uint32_t *n_left)
{
	Dwarf_Die die;

	if (dwarf_srclang(unit) != DW_LANG_Go || dwarf_child(unit, &die) != 0)
		return;
	do {
		uint64_t kind, descriptor;

		if (dwarf_tag(&die) == DW_TAG_typedef && read_number(&die, DW_AT_GO_KIND, &kind) &&
			kind == GO_KIND_MAP &&
			read_number(&die, DW_AT_GO_RUNTIME_TYPE, &descriptor) && descriptor != 0)
			g_hash_table_insert(self->go_maps,
				g_memdup2(&descriptor, sizeof descriptor),
				g_memdup2(&die, sizeof die));
	} while (--*n_left > 0 && dwarf_siblingof(&die, &die) == 0);
}

static uint32_t type_by(LodeTypeTable *self, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	if (dwarf_attr(die, name, &attribute) == NULL ||
		dwarf_formref_die(&attribute, &type) == NULL)
		return LODE_NO_TYPE;
	return lode_type_table_add(self, &type);
}

bool lode_type_table_find_go_map(LodeTypeTable *self, uint64_t descriptor, LodeGoMapType *out_type)
{
	uint32_t n_left = MAX_GO_TYPES;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	if (self->go_maps == NULL) {
		self->go_maps = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
		for (int i = 0; i < MAX_UNITS && n_left > 0; i++) {
			if (dwarf_get_units(
				    self->info->dwarf, unit, &unit, NULL, NULL, NULL, NULL) != 0)
				break;
			if (lode_debug_info_unit_die(self->info, unit, &die))
				read_go_maps(self, &die, &n_left);
		}
	}
	const Dwarf_Die *found = g_hash_table_lookup(self->go_maps, &descriptor);
	if (found == NULL)
		return false;
	die = *found;
	out_type->map = lode_type_table_add(self, &die);
	out_type->key = type_by(self, &die, DW_AT_GO_KEY);
	out_type->value = type_by(self, &die, DW_AT_GO_ELEM);
	return out_type->map != LODE_NO_TYPE;
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
