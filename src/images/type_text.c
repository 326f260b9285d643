/* SPDX-License-Identifier: MIT */
/* Declarators are written from the inside out, as the language reads them. */
#include "images/type_text.h"

#include "images/type_fields.h"

#include <dwarf.h>
#include <string.h>

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

char *lode_type_text(LodeTypeTable *types, Dwarf_Die *die)
{
	return declare(types, die, g_strdup(""), 0);
}
