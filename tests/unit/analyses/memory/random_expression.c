/* SPDX-License-Identifier: MIT */
/*
 * The same random expression in two languages. SQL's is always in parentheses, so that precedence
 * is lode's matter alone; its comparisons with NULL are made false, as lode's are. Numbers stay so
 * small that nothing overflows 63 bits, where the two would differ.
 */
#include "random_expression.h"

enum {
	LEVEL_CONDITIONAL,
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_COMPARISON,
	LEVEL_BIT_OR,
	LEVEL_BIT_XOR,
	LEVEL_BIT_AND,
	LEVEL_SHIFT,
	LEVEL_SUM,
	LEVEL_PRODUCT,
	LEVEL_PREFIX,
	LEVEL_PRIMARY = 99,
};

static const char *const integers[] = {
	"thread", "cpu", "line", "size", "latency", "offset", "node"};
static const char *const addresses[] = {"address", "page", "cacheline", "pc"};
static const char *const texts[] = {
	"function", "type", "member", "object", "layer", "access", "level", "rule", "reason"};
static const char *const conditions[] = {"is_load", "is_store", "is_unverified"};
static const char *const words[] = {"walk", "fill", "struct node", "load", "L2", "key", "", "z"};
static const char *const patterns[] = {"^w", "l$", "a|e", "^(load|L[0-9])$", "n.*e", "[x-z]", "."};

const char *const random_expression_attributes[] = {"thread", "cpu", "line", "size", "latency",
	"offset", "node", "address", "page", "cacheline", "pc", "function", "type", "member",
	"object", "layer", "access", "level", "rule", "reason", "is_load", "is_store",
	"is_unverified", "weight", NULL};

void random_expression_clear(RandomExpression *self)
{
	g_free(self->lode);
	g_free(self->sql);
}

static const char *pick(GRand *rand, const char *const *list, size_t n)
{
	return list[g_rand_int_range(rand, 0, (gint32)n)];
}
#define PICK(rand, list) pick(rand, list, G_N_ELEMENTS(list))

static RandomExpression leaf(const char *text)
{
	return (RandomExpression){g_strdup(text), g_strdup(text), LEVEL_PRIMARY};
}

/* In parentheses where it binds less tightly than its place needs. */
static void put_in_place(GRand *rand, RandomExpression *part, int level)
{
	if (part->level >= level && g_rand_int_range(rand, 0, 8) != 0)
		return;
	char *lode = g_strdup_printf("(%s)", part->lode);
	g_free(part->lode);
	part->lode = lode;
}

/* "%1$s" and "%2$s" of `sql` are the operands. */
static RandomExpression join(GRand *rand, RandomExpression left, RandomExpression right,
	const char *sign, int level, const char *sql)
{
	/* Comparisons do not chain; all others group from the left. */
	put_in_place(rand, &left, level == LEVEL_COMPARISON ? level + 1 : level);
	put_in_place(rand, &right, level + 1);
	RandomExpression result = {
		.lode = g_strdup_printf("%s %s %s", left.lode, sign, right.lode), .level = level};
	GString *text = g_string_new(sql);
	/* Operands may hold signs of their own: from marks to text in one pass each. */
	g_string_replace(text, "<L>", left.sql, 0);
	g_string_replace(text, "<R>", right.sql, 0);
	result.sql = g_string_free(text, FALSE);
	random_expression_clear(&left);
	random_expression_clear(&right);
	return result;
}

static RandomExpression prefix(
	GRand *rand, const char *sign, RandomExpression part, const char *sql)
{
	put_in_place(rand, &part, LEVEL_PREFIX);
	RandomExpression result = {.lode = g_strconcat(sign, part.lode, NULL),
		.sql = g_strdup_printf("(%s %s)", sql, part.sql),
		.level = LEVEL_PREFIX};
	random_expression_clear(&part);
	return result;
}

static RandomExpression choose(GRand *rand, RandomKind kind, int depth)
{
	RandomExpression condition = random_expression(rand, RANDOM_CONDITION, depth - 1);
	RandomExpression yes = random_expression(rand, kind, depth - 1);
	RandomExpression no = random_expression(rand, kind, depth - 1);

	put_in_place(rand, &condition, LEVEL_OR);
	RandomExpression result = {
		.lode = g_strdup_printf("%s ? %s : %s", condition.lode, yes.lode, no.lode),
		.sql = g_strdup_printf(
			"(CASE WHEN %s THEN %s ELSE %s END)", condition.sql, yes.sql, no.sql),
		.level = LEVEL_CONDITIONAL};
	random_expression_clear(&condition);
	random_expression_clear(&yes);
	random_expression_clear(&no);
	return result;
}

static RandomExpression small_integer(GRand *rand)
{
	g_autofree char *number = g_strdup_printf("%d", g_rand_int_range(rand, 0, 200));

	return leaf(g_rand_boolean(rand) ? PICK(rand, integers) : number);
}

static RandomExpression integer_leaf(GRand *rand)
{
	if (g_rand_int_range(rand, 0, 4) == 0)
		return leaf(PICK(rand, addresses));
	if (g_rand_int_range(rand, 0, 8) != 0)
		return small_integer(rand);
	int number = g_rand_int_range(rand, 0, 1 << 20);
	return (RandomExpression){g_strdup_printf(g_rand_boolean(rand) ? "0x%x" : "%d", number),
		g_strdup_printf("%d", number), LEVEL_PRIMARY};
}

static RandomExpression random_shift(GRand *rand, int depth)
{
	g_autofree char *count = g_strdup_printf("%d", g_rand_int_range(rand, 0, 8));

	if (g_rand_boolean(rand))
		return join(
			rand, small_integer(rand), leaf(count), "<<", LEVEL_SHIFT, "(<L> << <R>)");
	return join(rand, random_expression(rand, RANDOM_INTEGER, depth - 1), leaf(count), ">>",
		LEVEL_SHIFT, "(<L> >> <R>)");
}

static RandomExpression random_integer(GRand *rand, int depth)
{
	static const struct {
		const char *sign, *sql;
		int level;
	} signs[] = {
		{"+", "(<L> + <R>)", LEVEL_SUM},
		{"-", "(<L> - <R>)", LEVEL_SUM},
		{"/", "(<L> / <R>)", LEVEL_PRODUCT},
		{"%", "(<L> % <R>)", LEVEL_PRODUCT},
		{"&", "(<L> & <R>)", LEVEL_BIT_AND},
		{"|", "(<L> | <R>)", LEVEL_BIT_OR},
		{"^", "((<L> | <R>) - (<L> & <R>))", LEVEL_BIT_XOR},
	};
	int choice = g_rand_int_range(rand, 0, 14);

	if (depth <= 0 || choice == 0)
		return integer_leaf(rand);
	if (choice == 1)
		return choose(rand, RANDOM_INTEGER, depth);
	if (choice == 2)
		return random_shift(rand, depth);
	if (choice == 3)
		return join(rand, small_integer(rand), small_integer(rand), "*", LEVEL_PRODUCT,
			"(<L> * <R>)");
	if (choice == 4)
		return prefix(rand, "-", random_expression(rand, RANDOM_INTEGER, depth - 1), "-");
	if (choice == 5)
		return prefix(rand, "~", random_expression(rand, RANDOM_INTEGER, depth - 1), "~");
	choice = g_rand_int_range(rand, 0, (gint32)G_N_ELEMENTS(signs));
	return join(rand, random_expression(rand, RANDOM_INTEGER, depth - 1),
		random_expression(rand, RANDOM_INTEGER, depth - 1), signs[choice].sign,
		signs[choice].level, signs[choice].sql);
}

static RandomExpression random_real(GRand *rand, int depth)
{
	static const char *const signs[] = {"+", "-", "*", "/"};
	int choice = g_rand_int_range(rand, 0, 6);

	if (depth <= 0 || choice == 0) {
		g_autofree char *number = g_strdup_printf("%d.5", g_rand_int_range(rand, 0, 20));
		return leaf(g_rand_boolean(rand) ? "weight" : number);
	}
	if (choice == 1)
		return choose(rand, RANDOM_REAL, depth);
	choice = g_rand_int_range(rand, 0, (gint32)G_N_ELEMENTS(signs));
	g_autofree char *sql = g_strdup_printf("(<L> %s <R>)", signs[choice]);
	/* One side may be whole. */
	return join(rand, random_expression(rand, RANDOM_REAL, depth - 1),
		random_expression(
			rand, g_rand_boolean(rand) ? RANDOM_REAL : RANDOM_INTEGER, depth - 1),
		signs[choice], choice < 2 ? LEVEL_SUM : LEVEL_PRODUCT, sql);
}

static RandomExpression random_text(GRand *rand, int depth)
{
	if (depth > 0 && g_rand_int_range(rand, 0, 4) == 0)
		return choose(rand, RANDOM_TEXT, depth);
	if (g_rand_int_range(rand, 0, 3) != 0)
		return leaf(PICK(rand, texts));
	const char *word = PICK(rand, words);
	return (RandomExpression){g_strdup_printf(g_rand_boolean(rand) ? "\"%s\"" : "'%s'", word),
		g_strdup_printf("'%s'", word), LEVEL_PRIMARY};
}

static RandomKind comparable_kind(GRand *rand)
{
	static const RandomKind kinds[] = {
		RANDOM_INTEGER, RANDOM_INTEGER, RANDOM_REAL, RANDOM_TEXT, RANDOM_TEXT};

	return kinds[g_rand_int_range(rand, 0, (gint32)G_N_ELEMENTS(kinds))];
}

static RandomExpression random_comparison(GRand *rand, int depth)
{
	static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
	const char *sign = PICK(rand, signs);
	RandomKind kind = comparable_kind(rand);
	g_autofree char *sql = g_strdup_printf("coalesce(<L> %s <R>, 0)", sign);

	return join(rand, random_expression(rand, kind, depth - 1),
		random_expression(rand, kind, depth - 1), sign, LEVEL_COMPARISON, sql);
}

static RandomExpression random_match(GRand *rand, int depth)
{
	bool is_match = g_rand_boolean(rand);
	const char *pattern = PICK(rand, patterns);
	RandomExpression text = random_expression(rand, RANDOM_TEXT, depth - 1);
	RandomExpression quoted = {g_strdup_printf("\"%s\"", pattern),
		g_strdup_printf("'%s'", pattern), LEVEL_PRIMARY};

	put_in_place(rand, &text, LEVEL_COMPARISON + 1);
	RandomExpression result = {
		.lode = g_strdup_printf("%s %s %s", text.lode, is_match ? "=~" : "!~", quoted.lode),
		.sql = g_strdup_printf("coalesce(%s matches(%s, %s), 0)", is_match ? "" : "NOT",
			text.sql, quoted.sql),
		.level = LEVEL_COMPARISON};
	random_expression_clear(&text);
	random_expression_clear(&quoted);
	return result;
}

static void add_item(
	GRand *rand, RandomKind kind, int depth, GString *lode, GString *sql, const char *subject)
{
	RandomExpression least = random_expression(rand, kind, depth);
	RandomExpression most = random_expression(rand, kind, depth);

	put_in_place(rand, &least, LEVEL_BIT_OR);
	put_in_place(rand, &most, LEVEL_BIT_OR);
	if (g_rand_boolean(rand)) {
		g_string_append(lode, least.lode);
		g_string_append_printf(sql, "coalesce(%s = %s, 0)", subject, least.sql);
	} else {
		g_string_append_printf(lode, "%s .. %s", least.lode, most.lode);
		g_string_append_printf(
			sql, "coalesce(%s BETWEEN %s AND %s, 0)", subject, least.sql, most.sql);
	}
	random_expression_clear(&least);
	random_expression_clear(&most);
}

static RandomExpression random_membership(GRand *rand, int depth)
{
	RandomKind kind = comparable_kind(rand);
	RandomExpression subject = random_expression(rand, kind, depth - 1);
	GString *lode, *sql = g_string_new("(");
	int n = g_rand_int_range(rand, 1, 4);

	put_in_place(rand, &subject, LEVEL_COMPARISON + 1);
	lode = g_string_new(subject.lode);
	g_string_append(lode, " in (");
	for (int i = 0; i < n; i++) {
		add_item(rand, kind, depth - 2, lode, sql, subject.sql);
		g_string_append(lode, i + 1 < n ? ", " : ")");
		g_string_append(sql, i + 1 < n ? " OR " : ")");
	}
	random_expression_clear(&subject);
	return (RandomExpression){
		g_string_free(lode, FALSE), g_string_free(sql, FALSE), LEVEL_COMPARISON};
}

static RandomExpression random_presence(GRand *rand, int depth)
{
	RandomExpression part = random_expression(rand, comparable_kind(rand), depth - 1);
	RandomExpression result = {.lode = g_strdup_printf("has(%s)", part.lode),
		.sql = g_strdup_printf("(%s IS NOT NULL)", part.sql),
		.level = LEVEL_PRIMARY};

	random_expression_clear(&part);
	return result;
}

static RandomExpression random_condition(GRand *rand, int depth)
{
	int choice = g_rand_int_range(rand, 0, 16);

	if (depth <= 0)
		return leaf(PICK(rand, conditions));
	if (choice < 3)
		return join(rand, random_condition(rand, depth - 1),
			random_condition(rand, depth - 1), "&&", LEVEL_AND, "(<L> AND <R>)");
	if (choice < 6)
		return join(rand, random_condition(rand, depth - 1),
			random_condition(rand, depth - 1), "||", LEVEL_OR, "(<L> OR <R>)");
	if (choice == 6)
		return prefix(rand, "!", random_condition(rand, depth - 1), "NOT");
	if (choice == 7)
		return choose(rand, RANDOM_CONDITION, depth);
	if (choice == 8)
		return random_presence(rand, depth);
	if (choice < 11)
		return random_match(rand, depth);
	if (choice < 13)
		return random_membership(rand, depth);
	return random_comparison(rand, depth);
}

RandomExpression random_expression(GRand *rand, RandomKind kind, int depth)
{
	switch (kind) {
	case RANDOM_INTEGER:
		return random_integer(rand, depth);
	case RANDOM_REAL:
		return random_real(rand, depth);
	case RANDOM_TEXT:
		return random_text(rand, depth);
	default:
		return random_condition(rand, depth);
	}
}
