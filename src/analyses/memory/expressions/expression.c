/* SPDX-License-Identifier: MIT */
/* From text to a typed tree, by precedence climbing (the grammar is that of
 * docs/reference/expressions.md), and definitions; expression_program.c runs it. */
#include "analyses/memory/expressions/expression.h"

#include "analyses/memory/expressions/expression_fault.h"
#include "analyses/memory/expressions/expression_lexer.h"
#include "analyses/memory/expressions/expression_tree.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/suggestion.h"

#include <string.h>

/* The nodes of one text; those of definitions belong to their own trees. */
typedef struct {
	GPtrArray *nodes;
	GStringChunk *strings;
	LodeExpressionNode *root;
} Tree;

static void free_node(void *data)
{
	LodeExpressionNode *node = data;

	g_clear_pointer(&node->pattern, g_regex_unref);
	g_free(node);
}

static void tree_free(Tree *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->nodes);
	g_string_chunk_free(self->strings);
	g_free(self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tree, tree_free)

struct LodeExpressionScope {
	const LodeExpressionSource *source;
	GHashTable *definitions; /* name → Tree */
};

LodeExpressionScope *lode_expression_scope_new(const LodeExpressionSource *source)
{
	LodeExpressionScope *self = g_new0(LodeExpressionScope, 1);

	self->source = source;
	self->definitions = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, (GDestroyNotify)tree_free);
	return self;
}

void lode_expression_scope_free(LodeExpressionScope *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->definitions);
	g_free(self);
}

/* --- the parser --- */

/* PCRE2 gives up a match after this many steps, so that no pattern runs for ever. */
#define MATCH_LIMITS "(*LIMIT_MATCH=1000000)(*LIMIT_DEPTH=100000)"

enum { MAX_PATTERN_BYTES = 4096 };

typedef struct {
	const char *text;
	const LodeExpressionScope *scope; /* NULL: no definitions */
	Tree *tree;
	LodeToken token; /* the next one */
	unsigned nesting;
} Parser;

typedef struct {
	LodeTokenKind token;
	LodeOperator op;
	unsigned level;
} Infix;

/* A higher level binds tighter. Bits bind tighter than comparisons, which C has the other way. */
enum { LEVEL_OR = 1, LEVEL_AND, LEVEL_COMPARISON, LEVEL_BITS, LEVEL_RANGE_END = LEVEL_BITS };

static const Infix infixes[] = {
	{LODE_TOKEN_OR, LODE_OPERATOR_OR, LEVEL_OR},
	{LODE_TOKEN_AND, LODE_OPERATOR_AND, LEVEL_AND},
	{LODE_TOKEN_EQUAL, LODE_OPERATOR_EQUAL, LEVEL_COMPARISON},
	{LODE_TOKEN_NOT_EQUAL, LODE_OPERATOR_NOT_EQUAL, LEVEL_COMPARISON},
	{LODE_TOKEN_LESS, LODE_OPERATOR_LESS, LEVEL_COMPARISON},
	{LODE_TOKEN_LESS_EQUAL, LODE_OPERATOR_LESS_EQUAL, LEVEL_COMPARISON},
	{LODE_TOKEN_GREATER, LODE_OPERATOR_GREATER, LEVEL_COMPARISON},
	{LODE_TOKEN_GREATER_EQUAL, LODE_OPERATOR_GREATER_EQUAL, LEVEL_COMPARISON},
	{LODE_TOKEN_MATCH, LODE_OPERATOR_MATCH, LEVEL_COMPARISON},
	{LODE_TOKEN_NO_MATCH, LODE_OPERATOR_NO_MATCH, LEVEL_COMPARISON},
	{LODE_TOKEN_BIT_OR, LODE_OPERATOR_BIT_OR, LEVEL_BITS},
	{LODE_TOKEN_BIT_XOR, LODE_OPERATOR_BIT_XOR, LEVEL_BITS + 1},
	{LODE_TOKEN_BIT_AND, LODE_OPERATOR_BIT_AND, LEVEL_BITS + 2},
	{LODE_TOKEN_SHIFT_LEFT, LODE_OPERATOR_SHIFT_LEFT, LEVEL_BITS + 3},
	{LODE_TOKEN_SHIFT_RIGHT, LODE_OPERATOR_SHIFT_RIGHT, LEVEL_BITS + 3},
	{LODE_TOKEN_PLUS, LODE_OPERATOR_ADD, LEVEL_BITS + 4},
	{LODE_TOKEN_MINUS, LODE_OPERATOR_SUBTRACT, LEVEL_BITS + 4},
	{LODE_TOKEN_TIMES, LODE_OPERATOR_MULTIPLY, LEVEL_BITS + 5},
	{LODE_TOKEN_DIVIDE, LODE_OPERATOR_DIVIDE, LEVEL_BITS + 5},
	{LODE_TOKEN_MODULO, LODE_OPERATOR_MODULO, LEVEL_BITS + 5},
};

static const char *const keywords[] = {"basename", "false", "has", "in", "none", "true", NULL};

static LodeExpressionNode *parse_conditional(Parser *self, GError **error);
static LodeExpressionNode *parse_infix(Parser *self, unsigned least, GError **error);
static LodeExpressionNode *parse_unary(Parser *self, GError **error);

static bool advance(Parser *self, GError **error)
{
	return lode_expression_next_token(
		self->text, self->token.offset + self->token.length, &self->token, error);
}

static bool next_is_word(const Parser *self, const char *word)
{
	return self->token.kind == LODE_TOKEN_NAME && self->token.length == strlen(word) &&
	       strncmp(self->text + self->token.offset, word, self->token.length) == 0;
}

static LodeExpressionNode *new_node(Parser *self, LodeOperator op)
{
	LodeExpressionNode *node = g_new0(LodeExpressionNode, 1);

	node->op = op;
	node->offset = self->token.offset;
	g_ptr_array_add(self->tree->nodes, node);
	return node;
}

static LodeExpressionNode *checked(
	Parser *self, LodeExpressionNode *node, const char *sign, GError **error)
{
	return lode_expression_node_check(node, sign, self->text, error) ? node : NULL;
}

/* Takes the sign, or says that it should be there. */
static bool expect(Parser *self, LodeTokenKind kind, GError **error)
{
	if (self->token.kind == kind)
		return advance(self, error);
	lode_expression_fault(error, self->text, self->token.offset, "'%s' is missing here",
		lode_expression_token_text(kind));
	return false;
}

static const char *nearest_name(Parser *self, const char *name)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	GHashTableIter iterator;
	void *defined;
	const LodeExpressionSource *source = self->scope->source;

	g_hash_table_iter_init(&iterator, self->scope->definitions);
	while (g_hash_table_iter_next(&iterator, &defined, NULL))
		g_ptr_array_add(names, defined);
	/* So that one of equally near names is always the same one. */
	g_ptr_array_sort(names, lode_compare_texts);
	for (size_t i = 0; i < source->n; i++)
		g_ptr_array_add(names, (void *)source->attribute(i).name);
	g_ptr_array_add(names, NULL);
	/* Names of definitions live in the scope, those of attributes for ever. */
	return lode_suggestion(name, (const char *const *)names->pdata);
}

static LodeExpressionNode *fail_name(Parser *self, const char *name, size_t offset, GError **error)
{
	const char *nearest = nearest_name(self, name);

	lode_expression_fault(error, self->text, offset, "unknown attribute '%.*s'%s%s%s", 100,
		name, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
		nearest != NULL ? "'?" : "");
	return NULL;
}

/* A definition is put in as a whole, as if it stood in parentheses. */
static LodeExpressionNode *put_in_definition(Parser *self, LodeExpressionNode *node,
	const LodeExpressionNode *definition, GError **error)
{
	size_t offset = node->offset;

	*node = *definition;
	if (node->pattern != NULL)
		g_regex_ref(node->pattern);
	node->offset = offset;
	node->next = NULL;
	return checked(self, node, "", error);
}

static int find_attribute(const LodeExpressionSource *source, const char *name)
{
	for (size_t i = 0; i < source->n; i++)
		if (strcmp(source->attribute(i).name, name) == 0)
			return (int)i;
	return -1;
}

static LodeExpressionNode *parse_name(Parser *self, GError **error)
{
	LodeExpressionNode *node = new_node(self, LODE_OPERATOR_ATTRIBUTE);
	g_autofree char *name = g_strndup(self->text + self->token.offset, self->token.length);
	int number = find_attribute(self->scope->source, name);
	const Tree *definition = NULL;

	if (number < 0)
		definition = g_hash_table_lookup(self->scope->definitions, name);
	if (number < 0 && definition == NULL)
		return fail_name(self, name, node->offset, error);
	if (!advance(self, error))
		return NULL;
	if (definition != NULL)
		return put_in_definition(self, node, definition->root, error);
	const LodeExpressionAttribute attribute = self->scope->source->attribute((size_t)number);
	node->attribute = (size_t)number;
	node->kind = attribute.kind;
	node->is_hex = attribute.is_hex;
	node->text_twin = attribute.grouped_as;
	return checked(self, node, "", error);
}

static LodeExpressionNode *parse_constant(Parser *self, LodeValue value, GError **error)
{
	LodeExpressionNode *node = new_node(self, LODE_OPERATOR_CONSTANT);

	node->constant = value;
	node->kind = value.kind;
	if (!advance(self, error))
		return NULL;
	return checked(self, node, "", error);
}

static LodeExpressionNode *parse_string(Parser *self, GError **error)
{
	g_autofree char *string = lode_expression_token_string(self->text, &self->token);
	const char *own = g_string_chunk_insert_const(self->tree->strings, string);

	return parse_constant(self, lode_value_of_text(own), error);
}

static LodeExpressionNode *parse_parentheses(Parser *self, GError **error)
{
	if (!expect(self, LODE_TOKEN_OPEN, error))
		return NULL;
	LodeExpressionNode *node = parse_conditional(self, error);
	if (node == NULL || !expect(self, LODE_TOKEN_CLOSE, error))
		return NULL;
	return node;
}

static LodeExpressionNode *parse_call(
	Parser *self, LodeOperator op, const char *sign, GError **error)
{
	LodeExpressionNode *node = new_node(self, op);

	if (!advance(self, error))
		return NULL;
	node->operands[0] = parse_parentheses(self, error);
	return node->operands[0] != NULL ? checked(self, node, sign, error) : NULL;
}

static LodeExpressionNode *parse_word(Parser *self, GError **error)
{
	if (next_is_word(self, "has"))
		return parse_call(self, LODE_OPERATOR_HAS, "has", error);
	if (next_is_word(self, "basename"))
		return parse_call(self, LODE_OPERATOR_BASENAME, "basename", error);
	if (next_is_word(self, "true") || next_is_word(self, "false"))
		return parse_constant(
			self, lode_value_of_boolean(next_is_word(self, "true")), error);
	if (next_is_word(self, "none"))
		return parse_constant(self, lode_value_none(), error);
	if (!next_is_word(self, "in"))
		return parse_name(self, error);
	lode_expression_fault(
		error, self->text, self->token.offset, "'in' needs a value on its left");
	return NULL;
}

static LodeExpressionNode *parse_primary(Parser *self, GError **error)
{
	switch (self->token.kind) {
	case LODE_TOKEN_NAME:
		return parse_word(self, error);
	case LODE_TOKEN_NUMBER:
		return parse_constant(self, self->token.number, error);
	case LODE_TOKEN_STRING:
		return parse_string(self, error);
	case LODE_TOKEN_OPEN:
		return parse_parentheses(self, error);
	case LODE_TOKEN_END:
		lode_expression_fault(
			error, self->text, self->token.offset, "a value is missing at the end");
		return NULL;
	default:
		lode_expression_fault(error, self->text, self->token.offset,
			"a value is missing before '%s'",
			lode_expression_token_text(self->token.kind));
		return NULL;
	}
}

static LodeExpressionNode *parse_prefix(Parser *self, GError **error)
{
	LodeTokenKind kind = self->token.kind;
	LodeOperator op = kind == LODE_TOKEN_NOT          ? LODE_OPERATOR_NOT
	                  : kind == LODE_TOKEN_COMPLEMENT ? LODE_OPERATOR_COMPLEMENT
	                                                  : LODE_OPERATOR_NEGATE;

	if (kind != LODE_TOKEN_NOT && kind != LODE_TOKEN_COMPLEMENT && kind != LODE_TOKEN_MINUS)
		return parse_primary(self, error);
	LodeExpressionNode *node = new_node(self, op);
	if (!advance(self, error))
		return NULL;
	node->operands[0] = parse_unary(self, error);
	if (node->operands[0] == NULL)
		return NULL;
	return checked(self, node, lode_expression_token_text(kind), error);
}

/* Each way down passes here, so that no input can exhaust the stack. */
static LodeExpressionNode *parse_unary(Parser *self, GError **error)
{
	if (self->nesting >= LODE_EXPRESSION_MAX_NESTING) {
		lode_expression_fault(error, self->text, self->token.offset,
			"the expression is nested too deeply here");
		return NULL;
	}
	self->nesting++;
	LodeExpressionNode *node = parse_prefix(self, error);
	self->nesting--;
	return node;
}

static const Infix *find_infix(const Parser *self, unsigned least)
{
	for (size_t i = 0; i < G_N_ELEMENTS(infixes); i++)
		if (infixes[i].token == self->token.kind && infixes[i].level >= least)
			return &infixes[i];
	return NULL;
}

/* A pattern may cost far more than it seems to: it is bounded in length and in steps. */
static GRegex *compile_pattern(Parser *self, const char *pattern, size_t offset, GError **error)
{
	g_autoptr(GError) fault = NULL;
	g_autofree char *limited = g_strconcat(MATCH_LIMITS, pattern, NULL);

	if (strlen(pattern) > MAX_PATTERN_BYTES) {
		lode_expression_fault(error, self->text, offset, "a pattern has at most %d bytes",
			MAX_PATTERN_BYTES);
		return NULL;
	}
	/* First without the limits, for a message that counts from the pattern's begin. */
	g_autoptr(GRegex) plain = g_regex_new(pattern, 0, 0, &fault);
	GRegex *compiled = plain != NULL ? g_regex_new(limited, 0, 0, &fault) : NULL;
	if (compiled != NULL)
		return compiled;
	const char *where = strstr(fault->message, " at char ");
	lode_expression_fault(error, self->text, offset, "not a pattern: %s",
		where != NULL ? where + 1 : fault->message);
	return NULL;
}

static bool parse_pattern(Parser *self, LodeExpressionNode *node, GError **error)
{
	size_t offset = self->token.offset;

	if (self->token.kind != LODE_TOKEN_STRING) {
		lode_expression_fault(error, self->text, offset,
			"a pattern is text in quotes, such as \"^parse\"");
		return false;
	}
	g_autofree char *pattern = lode_expression_token_string(self->text, &self->token);
	node->pattern = compile_pattern(self, pattern, offset, error);
	return node->pattern != NULL && advance(self, error);
}

static LodeExpressionNode *parse_item(Parser *self, GError **error)
{
	LodeExpressionNode *first = parse_infix(self, LEVEL_RANGE_END, error);

	if (first == NULL || self->token.kind != LODE_TOKEN_RANGE)
		return first;
	LodeExpressionNode *range = new_node(self, LODE_OPERATOR_RANGE);
	range->operands[0] = first;
	if (!advance(self, error))
		return NULL;
	range->operands[1] = parse_infix(self, LEVEL_RANGE_END, error);
	return range->operands[1] != NULL ? checked(self, range, "..", error) : NULL;
}

/* "(a, b..c)", or one item alone: "a..b". */
static bool parse_items(Parser *self, LodeExpressionNode *node, GError **error)
{
	LodeExpressionNode **last = &node->items;
	bool is_list = self->token.kind == LODE_TOKEN_OPEN;

	if (is_list && !advance(self, error))
		return false;
	for (;;) {
		*last = parse_item(self, error);
		if (*last == NULL)
			return false;
		last = &(*last)->next;
		if (!is_list || self->token.kind != LODE_TOKEN_COMMA)
			break;
		if (!advance(self, error))
			return false;
	}
	return !is_list || expect(self, LODE_TOKEN_CLOSE, error);
}

/* C reads a < b < c as (a < b) < c, which is never meant. */
static bool check_chain(const Parser *self, unsigned level, GError **error)
{
	bool is_comparison = next_is_word(self, "in") ||
	                     (find_infix(self, 0) != NULL &&
				     find_infix(self, 0)->level == LEVEL_COMPARISON);

	if (level != LEVEL_COMPARISON || !is_comparison)
		return true;
	lode_expression_fault(error, self->text, self->token.offset,
		"comparisons do not chain; join two with '&&', or use 'in LEAST..MOST'");
	return false;
}

/* `infix` NULL: "in". */
static bool parse_right(Parser *self, const Infix *infix, LodeExpressionNode *node, GError **error)
{
	if (infix == NULL)
		return parse_items(self, node, error);
	if (infix->op == LODE_OPERATOR_MATCH || infix->op == LODE_OPERATOR_NO_MATCH)
		return parse_pattern(self, node, error);
	node->operands[1] = parse_infix(self, infix->level + 1, error);
	return node->operands[1] != NULL;
}

/* Parses operators that bind at least as tightly as `least`; operators of one level from the left.
 */
static LodeExpressionNode *parse_infix(Parser *self, unsigned least, GError **error)
{
	LodeExpressionNode *left = parse_unary(self, error);

	while (left != NULL) {
		const Infix *infix = find_infix(self, least);
		bool is_in = least <= LEVEL_COMPARISON && next_is_word(self, "in");
		if (infix == NULL && !is_in)
			break;
		LodeExpressionNode *node = new_node(self, is_in ? LODE_OPERATOR_IN : infix->op);
		const char *sign = is_in ? "in" : lode_expression_token_text(infix->token);
		unsigned level = is_in ? LEVEL_COMPARISON : infix->level;
		node->operands[0] = left;
		if (!advance(self, error))
			return NULL;
		if (!parse_right(self, is_in ? NULL : infix, node, error))
			return NULL;
		left = checked(self, node, sign, error);
		if (left != NULL && !check_chain(self, level, error))
			return NULL;
	}
	return left;
}

static LodeExpressionNode *parse_branches(
	Parser *self, LodeExpressionNode *condition, GError **error)
{
	LodeExpressionNode *node = new_node(self, LODE_OPERATOR_CONDITIONAL);

	node->operands[0] = condition;
	if (!advance(self, error))
		return NULL;
	node->operands[1] = parse_conditional(self, error);
	if (node->operands[1] == NULL || !expect(self, LODE_TOKEN_COLON, error))
		return NULL;
	node->operands[2] = parse_conditional(self, error);
	return node->operands[2] != NULL ? checked(self, node, "?", error) : NULL;
}

static LodeExpressionNode *parse_conditional(Parser *self, GError **error)
{
	/* Counted here too: "a ? b : c ? d : …" nests without a parenthesis. */
	self->nesting++;
	LodeExpressionNode *node = parse_infix(self, LEVEL_OR, error);
	if (node != NULL && self->token.kind == LODE_TOKEN_QUESTION)
		node = parse_branches(self, node, error);
	self->nesting--;
	return node;
}

static bool check_text(const char *text, GError **error)
{
	const char *end;
	size_t length = strlen(text);

	if (!g_utf8_validate(text, -1, &end)) {
		g_autofree char *good = g_strndup(text, (size_t)(end - text));
		lode_expression_fault(error, good, strlen(good), "the bytes here are not UTF-8");
		return false;
	}
	if (length > LODE_EXPRESSION_MAX_BYTES) {
		lode_expression_fault(error, text, 0, "an expression has at most %d bytes",
			LODE_EXPRESSION_MAX_BYTES);
		return false;
	}
	return true;
}

static Tree *parse(const char *text, const LodeExpressionScope *scope, GError **error)
{
	g_autoptr(Tree) tree = g_new0(Tree, 1);
	Parser parser = {.text = text, .scope = scope, .tree = tree};

	tree->nodes = g_ptr_array_new_with_free_func(free_node);
	tree->strings = g_string_chunk_new(256);
	if (!check_text(text, error) || !advance(&parser, error))
		return NULL;
	tree->root = parse_conditional(&parser, error);
	if (tree->root == NULL)
		return NULL;
	if (parser.token.kind == LODE_TOKEN_END)
		return g_steal_pointer(&tree);
	lode_expression_fault(error, text, parser.token.offset,
		parser.token.kind == LODE_TOKEN_CLOSE ? "no '(' belongs to this ')'"
		: parser.token.kind == LODE_TOKEN_COMMA
			? "',' is not an operator: conditions are joined by '&&', and a "
			  "second level of groups is --by2"
			: "an operator is missing here");
	return NULL;
}

/* --- definitions --- */

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

	if (find_attribute(self->source, name) >= 0)
		what = "an attribute of samples";
	else if (g_strv_contains(keywords, name))
		what = "a word of the language";
	else if (g_hash_table_contains(self->definitions, name))
		what = "defined already";
	if (what != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "'%s' is %s", name, what);
	return what == NULL;
}

bool lode_expression_scope_define(LodeExpressionScope *self, const char *definition, GError **error)
{
	size_t length = strcspn(definition, "=");

	if (definition[length] == '\0' || !is_name(definition, length)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"a definition is NAME=EXPRESSION, the name of letters, digits and _");
		return false;
	}
	g_autofree char *name = g_strndup(definition, length);
	if (!check_name(self, name, error))
		return false;
	Tree *tree = parse(definition + length + 1, self, error);
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
	g_autoptr(Tree) tree = parse(text, scope, error);

	if (tree == NULL)
		return NULL;
	LodeExpression *self = lode_expression_compile(tree->root, scope->source);
	if (self == NULL)
		lode_expression_fault(
			error, text, tree->root->offset, "the expression is nested too deeply");
	return self;
}
