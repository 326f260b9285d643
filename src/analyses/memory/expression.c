/* SPDX-License-Identifier: MIT */
/* Definitions, and the way from text to program; the machine is in expression_evaluator.c. */
#include "analyses/memory/expression.h"

#include "analyses/memory/expression_fault.h"
#include "analyses/memory/expression_parser.h"
#include "analyses/memory/expression_program.h"
#include "base/error.h"

#include <string.h>

struct LodeExpressionScope {
	GHashTable *definitions; /* name → LodeExpressionTree */
};

static void free_tree(void *data)
{
	lode_expression_tree_free(data);
}

LodeExpressionScope *lode_expression_scope_new(void)
{
	LodeExpressionScope *self = g_new0(LodeExpressionScope, 1);

	self->definitions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_tree);
	return self;
}

void lode_expression_scope_free(LodeExpressionScope *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->definitions);
	g_free(self);
}

static const LodeExpressionNode *find_definition(void *data, const char *name)
{
	const LodeExpressionScope *scope = data;
	const LodeExpressionTree *tree = g_hash_table_lookup(scope->definitions, name);

	return tree != NULL ? tree->root : NULL;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static GPtrArray *list_names(void *data)
{
	const LodeExpressionScope *scope = data;
	GPtrArray *names = g_ptr_array_new();
	GHashTableIter iterator;
	void *name;

	g_hash_table_iter_init(&iterator, scope->definitions);
	while (g_hash_table_iter_next(&iterator, &name, NULL))
		g_ptr_array_add(names, name);
	/* So that one of equally near names is always the same one. */
	g_ptr_array_sort(names, compare_names);
	return names;
}

static LodeNameSource names_of(const LodeExpressionScope *scope)
{
	return (LodeNameSource){find_definition, list_names, (void *)scope};
}

static bool is_name(const char *text, size_t length)
{
	if (length == 0 || g_ascii_isdigit(text[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!g_ascii_isalnum(text[i]) && text[i] != '_')
			return false;
	return true;
}

static bool check_name(const LodeExpressionScope *self, const char *name, GError **error)
{
	const char *what = NULL;

	if (lode_sample_attribute_find(name) >= 0)
		what = "an attribute of samples";
	else if (lode_expression_is_keyword(name))
		what = "a word of the language";
	else if (g_hash_table_contains(self->definitions, name))
		what = "defined already";
	if (what != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "'%s' is %s", name, what);
	return what == NULL;
}

bool lode_expression_scope_define(LodeExpressionScope *self, const char *definition, GError **error)
{
	LodeNameSource names = names_of(self);
	size_t length = strcspn(definition, "=");

	if (definition[length] == '\0' || !is_name(definition, length)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"a definition is NAME=EXPRESSION, the name of letters, digits and _");
		return false;
	}
	g_autofree char *name = g_strndup(definition, length);
	if (!check_name(self, name, error))
		return false;
	LodeExpressionTree *tree = lode_expression_parse(definition + length + 1, &names, error);
	if (tree == NULL) {
		g_prefix_error(error, "%s: ", name);
		return false;
	}
	g_hash_table_insert(self->definitions, g_steal_pointer(&name), tree);
	return true;
}

bool lode_expression_scope_define_all(
	LodeExpressionScope *self, const char *const *definitions, GError **error)
{
	for (size_t i = 0; definitions != NULL && definitions[i] != NULL; i++) {
		if (!lode_expression_scope_define(self, definitions[i], error)) {
			g_prefix_error(error, "--define: ");
			return false;
		}
	}
	return true;
}

LodeExpression *lode_expression_new(
	const char *text, const LodeExpressionScope *scope, GError **error)
{
	LodeNameSource names = names_of(scope);
	g_autoptr(LodeExpressionTree)
		tree = lode_expression_parse(text, scope != NULL ? &names : NULL, error);

	if (tree == NULL)
		return NULL;
	LodeExpression *self = lode_expression_compile(tree->root);
	if (self == NULL)
		lode_expression_fault(
			error, text, tree->root->offset, "the expression is nested too deeply");
	return self;
}
