/* SPDX-License-Identifier: MIT */
/* One walk over namespaces and classes. Counts are limited, for a broken tree may have cycles. */
#include "images/dwarf/unit_index.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"

#include <dwarf.h>
#include <string.h>

enum {
	MAX_DEPTH = 64,
	MAX_VISITED = 50 * 1000 * 1000, /* of one unit */
	MAX_SCOPE = 512,                /* bytes of "ns::Outer::" */
	/* Many functions of two bytes each may point to one long list of ranges. */
	MAX_RANGES = 64, /* of one function */
	MAX_FUNCTIONS = 1 << 20,
};

typedef struct {
	LodeUnitIndex *index; /* NULL: only `visit` is to be called */
	LodeUnitVisitor visit;
	void *data;
	uint32_t n_visited;
} Walk;

/* The number that an operation pushes: an address, or an offset in the thread-local block. */
static bool read_constant(Dwarf_Attribute *attribute, const Dwarf_Op *op, uint64_t *out_value)
{
	Dwarf_Attribute value;
	Dwarf_Word word;

	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu:
		*out_value = op->number;
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return dwarf_getlocation_attr(attribute, op, &value) == 0 &&
		       dwarf_formaddr(&value, out_value) == 0;
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		if (dwarf_getlocation_attr(attribute, op, &value) != 0 ||
			(dwarf_formudata(&value, &word) != 0 && dwarf_formaddr(&value, &word) != 0))
			return false;
		*out_value = word;
		return true;
	default:
		return false;
	}
}

bool lode_unit_index_static_address(
	Dwarf_Die *variable, uint64_t *out_address, bool *out_is_thread_local)
{
	Dwarf_Attribute attribute;
	bool is_thread_local, is_address;
	uint64_t value;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr(variable, DW_AT_location, &attribute) == NULL ||
		dwarf_getlocation(&attribute, &ops, &n) != 0 || n < 1 || n > 2)
		return false;
	is_address = ops[0].atom == DW_OP_addr || ops[0].atom == DW_OP_addrx ||
	             ops[0].atom == DW_OP_GNU_addr_index;
	is_thread_local = n == 2 && (ops[1].atom == DW_OP_form_tls_address ||
					    ops[1].atom == DW_OP_GNU_push_tls_address);
	if ((!is_address && !is_thread_local) || !read_constant(&attribute, &ops[0], &value))
		return false;
	/* variables that a compiler has merged into one */
	if (n == 2 && !is_thread_local) {
		if (ops[1].atom != DW_OP_plus_uconst)
			return false;
		value += ops[1].number;
	}
	*out_address = value;
	*out_is_thread_local = is_thread_local;
	return true;
}

static void keep_name(GHashTable *table, const char *name, const Dwarf_Die *die)
{
	if (name != NULL && !g_hash_table_contains(table, name))
		g_hash_table_insert(table, (char *)name, g_memdup2(die, sizeof *die));
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
}

static void add_variable(LodeUnitIndex *self, Dwarf_Die *die)
{
	LodeUnitVariable variable = {.die = *die};
	Dwarf_Attribute attribute;
	bool is_thread_local;

	/* a static member that is defined outside its class is named inside: _integrate follows
	 * DW_AT_specification */
	keep_name(self->named, linkage_name(die), die);
	keep_name(self->named, dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute)),
		die);
	/* linkers leave discarded variables at address 0 */
	if (lode_unit_index_static_address(die, &variable.address, &is_thread_local) &&
		!is_thread_local && variable.address != 0)
		g_array_append_val(self->variables, variable);
}

static void add_function(LodeUnitIndex *self, Dwarf_Die *die)
{
	LodeUnitFunction function = {.die = *die};
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	keep_name(self->callable, linkage_name(die), die);
	keep_name(self->callable, dwarf_diename(die), die);
	for (int i = 0; i < MAX_RANGES && self->functions->len < MAX_FUNCTIONS; i++) {
		offset = dwarf_ranges(die, offset, &base, &low, &high);
		if (offset <= 0)
			return;
		function.low = low;
		function.high = high;
		if (low < high)
			g_array_append_val(self->functions, function);
	}
}

/* The scope that the children of a namespace or class are in; false where they cannot be named:
 * their class has no name, or the whole is too long. */
static bool extend_scope(const char *scope, Dwarf_Die *die, char out_scope[MAX_SCOPE])
{
	const char *name = dwarf_diename(die);
	int n;

	if (name == NULL)
		name = dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : NULL;
	n = name == NULL ? -1 : g_snprintf(out_scope, MAX_SCOPE, "%s%s::", scope, name);
	return n > 0 && n < MAX_SCOPE;
}

static void add_type(Walk *walk, Dwarf_Die *die, const char *scope)
{
	const char *name = dwarf_diename(die);
	g_autofree char *qualified = NULL;

	if (walk->index != NULL && scope[0] != '\0')
		g_hash_table_insert(walk->index->scopes, die->addr,
			g_string_chunk_insert_const(walk->index->names, scope));
	if (name == NULL || dwarf_hasattr(die, DW_AT_declaration))
		return;
	qualified = g_strconcat(scope, name, NULL);
	if (walk->visit != NULL)
		walk->visit(walk->data, qualified, die);
	if (walk->index != NULL)
		keep_name(walk->index->types,
			g_string_chunk_insert_const(walk->index->names, qualified), die);
}

static void walk_children(Walk *walk, Dwarf_Die *parent, const char *scope, int depth);

static void visit_die(Walk *walk, Dwarf_Die *die, const char *scope, int depth)
{
	char inner[MAX_SCOPE];

	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		add_type(walk, die, scope);
		if (dwarf_haschildren(die) > 0 && extend_scope(scope, die, inner))
			walk_children(walk, die, inner, depth + 1);
		break;
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
		if (walk->index != NULL && scope[0] != '\0')
			g_hash_table_insert(walk->index->scopes, die->addr,
				g_string_chunk_insert_const(walk->index->names, scope));
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
		if (extend_scope(scope, die, inner))
			walk_children(walk, die, inner, depth + 1);
		break;
	case DW_TAG_variable:
		if (walk->index != NULL)
			add_variable(walk->index, die);
		else
			walk->visit(walk->data, NULL, die);
		break;
	case DW_TAG_subprogram:
		if (walk->index != NULL)
			add_function(walk->index, die);
		break;
	default:
		break;
	}
}

static void walk_children(Walk *walk, Dwarf_Die *parent, const char *scope, int depth)
{
	Dwarf_Die die;

	if (depth >= MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		if (walk->n_visited++ >= MAX_VISITED)
			return;
		visit_die(walk, &die, scope, depth);
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* The longer first, so that the last one that begins before an address is the inner one. */
LODE_ORDER(compare_functions, LodeUnitFunction, LODE_ASCENDING(low), LODE_DESCENDING(high))

LODE_ORDER(compare_variables, LodeUnitVariable, LODE_ASCENDING(address))

static bool is_cplusplus(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
	case DW_LANG_D:
		return true;
	default:
		return false;
	}
}

LodeUnitIndex *lode_unit_index_new(Dwarf_Die *unit)
{
	LodeUnitIndex *self = g_new0(LodeUnitIndex, 1);
	Walk walk = {.index = self};

	self->is_cplusplus = is_cplusplus(unit);
	self->is_go = dwarf_srclang(unit) == DW_LANG_Go;
	self->functions = g_array_new(FALSE, FALSE, sizeof(LodeUnitFunction));
	self->variables = g_array_new(FALSE, FALSE, sizeof(LodeUnitVariable));
	self->named = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	self->callable = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	self->types = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	self->scopes = g_hash_table_new(NULL, NULL);
	self->names = g_string_chunk_new(1024);
	walk_children(&walk, unit, "", 0);
	if (self->functions->len > 1)
		qsort(self->functions->data, self->functions->len, sizeof(LodeUnitFunction),
			compare_functions);
	if (self->variables->len > 1)
		qsort(self->variables->data, self->variables->len, sizeof(LodeUnitVariable),
			compare_variables);
	return self;
}

void lode_unit_index_free(LodeUnitIndex *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->functions);
	g_array_unref(self->variables);
	g_hash_table_unref(self->named);
	g_hash_table_unref(self->callable);
	g_hash_table_unref(self->types);
	g_hash_table_unref(self->scopes);
	g_string_chunk_free(self->names);
	g_free(self);
}

void lode_unit_index_visit(Dwarf_Die *unit, LodeUnitVisitor visit, void *data)
{
	Walk walk = {.visit = visit, .data = data};

	walk_children(&walk, unit, "", 0);
}

static void walk_locals(Walk *walk, Dwarf_Die *parent, uint32_t limit, bool is_inside, int depth)
{
	Dwarf_Die die;

	if (depth >= MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		if (walk->n_visited++ >= limit)
			return;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			if (is_inside)
				walk->visit(walk->data, NULL, &die);
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_common_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			walk_locals(walk, &die, limit, true, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			walk_locals(walk, &die, limit, is_inside, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

uint32_t lode_unit_index_visit_locals(
	Dwarf_Die *unit, uint32_t limit, LodeUnitVisitor visit, void *data)
{
	Walk walk = {.visit = visit, .data = data};

	walk_locals(&walk, unit, limit, false, 0);
	return walk.n_visited;
}

const LodeUnitFunction *lode_unit_index_find_function(const LodeUnitIndex *self, uint64_t address)
{
	const LodeUnitFunction *functions = (const void *)self->functions->data;
	size_t low = LODE_PARTITION_POINT(self->functions->len, i, functions[i].low <= address);
	return low > 0 && address < functions[low - 1].high ? &functions[low - 1] : NULL;
}

const LodeUnitVariable *lode_unit_index_find_variable(const LodeUnitIndex *self, uint64_t address)
{
	const LodeUnitVariable *variables = (const void *)self->variables->data;
	size_t low = LODE_PARTITION_POINT(self->variables->len, i, variables[i].address <= address);
	return low > 0 ? &variables[low - 1] : NULL;
}
