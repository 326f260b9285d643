/* SPDX-License-Identifier: MIT */
/*
 * The flat program of an expression, for a stack machine:
 *
 *   weight > 2 && has(type)     ATTRIBUTE weight · CONSTANT 2 · GREATER · SKIP_UNLESS →end
 *                               · ATTRIBUTE type · HAS · TRUTH · end
 */
#include "analyses/memory/expressions/expression_tree.h"

#include "analyses/memory/expressions/expression.h"
#include "base/error.h"

#include <string.h>

enum {
	/* Beyond the operators of the tree; IN, RANGE, AND, OR and CONDITIONAL are not used. */
	STEP_SKIP_UNLESS = LODE_N_OPERATORS, /* true: drop it; else leave false and jump */
	STEP_SKIP_IF,                        /* true: leave it and jump; else drop it */
	STEP_BRANCH,                         /* drop it; jump unless it was true */
	STEP_JUMP,
	STEP_TRUTH,   /* none becomes false */
	STEP_TO_REAL, /* of a whole number */
	STEP_FALSE,
	STEP_IS_ITEM,      /* subject, found, item → subject, found or equal */
	STEP_IS_BETWEEN,   /* subject, found, least, most → subject, found or between */
	STEP_DROP_SUBJECT, /* subject, found → found */
};

enum { MAX_STACK = 512 };

typedef struct {
	uint32_t step;     /* LodeOperator or STEP_… */
	uint32_t argument; /* attribute, constant, pattern, or where to jump */
} Step;

struct LodeExpression {
	const LodeExpressionSource *source;
	GArray *steps;       /* Step */
	GArray *constants;   /* LodeValue */
	GPtrArray *patterns; /* GRegex */
	GStringChunk *strings;
	LodeValueKind kind;
	bool is_hex;
	int attribute; /* the only one; −1 */
};

typedef struct {
	LodeExpression *program;
	int height, highest; /* of the stack */
} Compiler;

static uint32_t emit(Compiler *self, uint32_t step, uint32_t argument, int growth)
{
	Step row = {step, argument};

	g_array_append_val(self->program->steps, row);
	self->height += growth;
	self->highest = MAX(self->highest, self->height);
	return self->program->steps->len - 1;
}

/* A jump made earlier leads to what comes next. */
static void land(Compiler *self, uint32_t jump)
{
	g_array_index(self->program->steps, Step, jump).argument = self->program->steps->len;
}

static void compile(Compiler *self, const LodeExpressionNode *node);

static void compile_constant(Compiler *self, const LodeExpressionNode *node)
{
	LodeValue constant = node->constant;

	if (constant.kind == LODE_VALUE_TEXT)
		constant.text = g_string_chunk_insert_const(self->program->strings, constant.text);
	g_array_append_val(self->program->constants, constant);
	emit(self, LODE_OPERATOR_CONSTANT, self->program->constants->len - 1, 1);
}

static void compile_match(Compiler *self, const LodeExpressionNode *node)
{
	compile(self, node->operands[0]);
	g_ptr_array_add(self->program->patterns, g_regex_ref(node->pattern));
	emit(self, node->op, self->program->patterns->len - 1, 0);
}

/* The subject is computed once and stays below the result while all items are compared with it. */
static void compile_items(Compiler *self, const LodeExpressionNode *node)
{
	compile(self, node->operands[0]);
	emit(self, STEP_FALSE, 0, 1);
	for (const LodeExpressionNode *item = node->items; item != NULL; item = item->next) {
		if (item->op != LODE_OPERATOR_RANGE) {
			compile(self, item);
			emit(self, STEP_IS_ITEM, 0, -1);
			continue;
		}
		compile(self, item->operands[0]);
		compile(self, item->operands[1]);
		emit(self, STEP_IS_BETWEEN, 0, -2);
	}
	emit(self, STEP_DROP_SUBJECT, 0, -1);
}

/* The right side is skipped where the left one decides. */
static void compile_logic(Compiler *self, const LodeExpressionNode *node)
{
	uint32_t step = node->op == LODE_OPERATOR_AND ? STEP_SKIP_UNLESS : STEP_SKIP_IF;

	compile(self, node->operands[0]);
	uint32_t jump = emit(self, step, 0, -1);
	compile(self, node->operands[1]);
	emit(self, STEP_TRUTH, 0, 0);
	land(self, jump);
}

/* Where the branches differ, whole numbers become real ones: a group has keys of one kind. */
static void compile_branch(
	Compiler *self, const LodeExpressionNode *node, const LodeExpressionNode *branch)
{
	compile(self, branch);
	if (node->kind == LODE_VALUE_REAL && branch->kind == LODE_VALUE_INTEGER)
		emit(self, STEP_TO_REAL, 0, 0);
}

static void compile_conditional(Compiler *self, const LodeExpressionNode *node)
{
	compile(self, node->operands[0]);
	uint32_t to_else = emit(self, STEP_BRANCH, 0, -1);
	compile_branch(self, node, node->operands[1]);
	uint32_t to_end = emit(self, STEP_JUMP, 0, -1);
	land(self, to_else);
	compile_branch(self, node, node->operands[2]);
	land(self, to_end);
}

static void compile_plain(Compiler *self, const LodeExpressionNode *node)
{
	compile(self, node->operands[0]);
	if (node->operands[1] != NULL)
		compile(self, node->operands[1]);
	emit(self, node->op, 0, node->operands[1] != NULL ? -1 : 0);
}

/* As deep as the tree, which is limited. */
static void compile(Compiler *self, const LodeExpressionNode *node)
{
	switch (node->op) {
	case LODE_OPERATOR_CONSTANT:
		compile_constant(self, node);
		break;
	case LODE_OPERATOR_ATTRIBUTE:
		emit(self, LODE_OPERATOR_ATTRIBUTE, (uint32_t)node->attribute, 1);
		break;
	case LODE_OPERATOR_MATCH:
	case LODE_OPERATOR_NO_MATCH:
		compile_match(self, node);
		break;
	case LODE_OPERATOR_IN:
		compile_items(self, node);
		break;
	case LODE_OPERATOR_AND:
	case LODE_OPERATOR_OR:
		compile_logic(self, node);
		break;
	case LODE_OPERATOR_CONDITIONAL:
		compile_conditional(self, node);
		break;
	default:
		compile_plain(self, node);
		break;
	}
}

LodeExpression *lode_expression_compile(
	const LodeExpressionNode *root, const LodeExpressionSource *source)
{
	LodeExpression *self = g_new0(LodeExpression, 1);
	Compiler compiler = {.program = self};

	self->source = source;
	self->steps = g_array_new(FALSE, FALSE, sizeof(Step));
	self->constants = g_array_new(FALSE, FALSE, sizeof(LodeValue));
	self->patterns = g_ptr_array_new_with_free_func((GDestroyNotify)g_regex_unref);
	self->strings = g_string_chunk_new(256);
	self->kind = root->kind;
	self->is_hex = root->is_hex;
	self->attribute = root->op == LODE_OPERATOR_ATTRIBUTE ? (int)root->attribute : -1;
	compile(&compiler, root);
	if (compiler.highest <= MAX_STACK)
		return self;
	lode_expression_free(self);
	return NULL;
}

void lode_expression_free(LodeExpression *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->steps);
	g_array_unref(self->constants);
	g_ptr_array_unref(self->patterns);
	g_string_chunk_free(self->strings);
	g_free(self);
}

LodeValueKind lode_expression_kind(const LodeExpression *self)
{
	return self->kind;
}

bool lode_expression_is_hex(const LodeExpression *self)
{
	return self->is_hex;
}

int lode_expression_attribute(const LodeExpression *self)
{
	return self->attribute;
}

bool lode_expression_has_attribute(const LodeExpression *self, int attribute)
{
	for (guint i = 0; i < self->steps->len; i++) {
		const Step *step = &g_array_index(self->steps, Step, i);
		if (step->step == LODE_OPERATOR_ATTRIBUTE && (int)step->argument == attribute)
			return true;
	}
	return false;
}

/* --- the stack machine that runs the program for one sample after another --- */

/* Patterns see names, of which there are few, once each. */
typedef struct {
	const GRegex *pattern;
	GHashTable *answers; /* char * as it is → 1 no, 2 yes */
	const char *last;
	bool last_answer;
} Matcher;

struct LodeEvaluator {
	const LodeExpression *program;
	const void *attributes;
	Matcher *matchers; /* one for each pattern */
};

LodeEvaluator *lode_evaluator_new(const LodeExpression *expression, const void *attributes)
{
	LodeEvaluator *self = g_new0(LodeEvaluator, 1);
	guint n = expression->patterns->len;

	self->program = expression;
	self->attributes = attributes;
	self->matchers = g_new0(Matcher, n + 1);
	for (guint i = 0; i < n; i++) {
		self->matchers[i].pattern = g_ptr_array_index(expression->patterns, i);
		self->matchers[i].answers = g_hash_table_new(NULL, NULL);
	}
	return self;
}

void lode_evaluator_free(LodeEvaluator *self)
{
	if (self == NULL)
		return;
	for (guint i = 0; i < self->program->patterns->len; i++)
		g_hash_table_unref(self->matchers[i].answers);
	g_free(self->matchers);
	g_free(self);
}

static bool is_true(const LodeValue *value)
{
	return value->kind == LODE_VALUE_BOOLEAN && value->truth;
}

static bool match_text(const GRegex *pattern, const char *text, bool *out_answer, GError **error)
{
	g_autoptr(GError) fault = NULL;
	g_autofree char *valid = g_utf8_validate(text, -1, NULL) ? NULL
	                                                         : g_utf8_make_valid(text, -1);
	bool answer = g_regex_match_full(
		pattern, valid != NULL ? valid : text, -1, 0, 0, NULL, &fault);

	if (fault != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"a pattern needs too many steps for '%.100s'; write a simpler one",
			valid != NULL ? valid : text);
		return false;
	}
	*out_answer = answer;
	return true;
}

static bool match(Matcher *self, const char *text, bool *out_answer, GError **error)
{
	if (text != self->last) {
		guint known = GPOINTER_TO_UINT(g_hash_table_lookup(self->answers, text));
		bool answer = known == 2;
		if (known == 0 && !match_text(self->pattern, text, &answer, error))
			return false;
		if (known == 0)
			g_hash_table_insert(
				self->answers, (void *)text, GUINT_TO_POINTER(answer ? 2 : 1));
		self->last = text;
		self->last_answer = answer;
	}
	*out_answer = self->last_answer;
	return true;
}

static LodeValue add_integers(LodeOperator op, LodeInteger left, LodeInteger right)
{
	LodeInteger result;

	switch (op) {
	case LODE_OPERATOR_ADD:
		return lode_value_of_integer(left + right);
	case LODE_OPERATOR_SUBTRACT:
		return lode_value_of_integer(left - right);
	case LODE_OPERATOR_MULTIPLY:
		if (__builtin_mul_overflow(left, right, &result))
			return lode_value_none();
		return lode_value_of_integer(result);
	case LODE_OPERATOR_DIVIDE:
		return right != 0 ? lode_value_of_integer(left / right) : lode_value_none();
	default:
		return right != 0 ? lode_value_of_integer(left % right) : lode_value_none();
	}
}

static LodeValue add_reals(LodeOperator op, double left, double right)
{
	switch (op) {
	case LODE_OPERATOR_ADD:
		return lode_value_of_real(left + right);
	case LODE_OPERATOR_SUBTRACT:
		return lode_value_of_real(left - right);
	case LODE_OPERATOR_MULTIPLY:
		return lode_value_of_real(left * right);
	default:
		return right != 0 ? lode_value_of_real(left / right) : lode_value_none();
	}
}

static LodeValue shift(LodeOperator op, LodeInteger value, LodeInteger count)
{
	if (count < 0 || count > 63)
		return lode_value_none();
	if (op == LODE_OPERATOR_SHIFT_RIGHT)
		return lode_value_of_integer(value >> (int)count);
	return lode_value_of_integer(value * ((LodeInteger)1 << (int)count));
}

static LodeValue combine_bits(LodeOperator op, LodeInteger left, LodeInteger right)
{
	switch (op) {
	case LODE_OPERATOR_BIT_AND:
		return lode_value_of_integer(left & right);
	case LODE_OPERATOR_BIT_OR:
		return lode_value_of_integer(left | right);
	case LODE_OPERATOR_BIT_XOR:
		return lode_value_of_integer(left ^ right);
	default:
		return shift(op, left, right);
	}
}

static LodeValue calculate(LodeOperator op, const LodeValue *left, const LodeValue *right)
{
	if (left->kind == LODE_VALUE_NONE || right->kind == LODE_VALUE_NONE)
		return lode_value_none();
	if (left->kind == LODE_VALUE_REAL || right->kind == LODE_VALUE_REAL)
		return add_reals(op, lode_value_to_double(left), lode_value_to_double(right));
	if (op >= LODE_OPERATOR_SHIFT_LEFT)
		return combine_bits(op, left->integer, right->integer);
	return add_integers(op, left->integer, right->integer);
}

static bool compare(LodeOperator op, const LodeValue *left, const LodeValue *right)
{
	if (left->kind == LODE_VALUE_NONE || right->kind == LODE_VALUE_NONE)
		return false;
	int order = lode_value_compare(left, right);
	switch (op) {
	case LODE_OPERATOR_EQUAL:
		return order == 0;
	case LODE_OPERATOR_NOT_EQUAL:
		return order != 0;
	case LODE_OPERATOR_LESS:
		return order < 0;
	case LODE_OPERATOR_LESS_EQUAL:
		return order <= 0;
	case LODE_OPERATOR_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

static LodeValue basename_of(const LodeValue *path)
{
	if (path->kind == LODE_VALUE_NONE)
		return *path;
	const char *slash = strrchr(path->text, '/');
	return lode_value_of_text(slash != NULL ? slash + 1 : path->text);
}

static LodeValue change_one(uint32_t step, const LodeValue *value)
{
	switch (step) {
	case LODE_OPERATOR_NOT:
		return lode_value_of_boolean(!is_true(value));
	case LODE_OPERATOR_HAS:
		return lode_value_of_boolean(value->kind != LODE_VALUE_NONE);
	case LODE_OPERATOR_BASENAME:
		return basename_of(value);
	case STEP_TRUTH:
		return lode_value_of_boolean(is_true(value));
	default:
		break;
	}
	if (value->kind == LODE_VALUE_NONE)
		return *value;
	if (step == LODE_OPERATOR_COMPLEMENT)
		return lode_value_of_integer(~value->integer);
	if (step == STEP_TO_REAL)
		return lode_value_of_real(lode_value_to_double(value));
	if (value->kind == LODE_VALUE_REAL)
		return lode_value_of_real(-value->real);
	return lode_value_of_integer(-value->integer);
}

static bool match_top(LodeEvaluator *self, const Step *step, LodeValue *top, GError **error)
{
	bool answer = false;

	/* As all comparisons, both are false for what has no value. */
	if (top->kind == LODE_VALUE_NONE) {
		*top = lode_value_of_boolean(false);
		return true;
	}
	if (!match(&self->matchers[step->argument], top->text, &answer, error))
		return false;
	*top = lode_value_of_boolean(answer == (step->step == LODE_OPERATOR_MATCH));
	return true;
}

/* The items of "in": top[-1] is whether one was found, top[-2] what is looked for. */
static LodeValue *compare_item(uint32_t step, LodeValue *top)
{
	if (step == STEP_DROP_SUBJECT) {
		top[-1] = top[0];
		return top - 1;
	}
	if (step == STEP_IS_ITEM) {
		top[-1].truth |= compare(LODE_OPERATOR_EQUAL, &top[-2], &top[0]);
		return top - 1;
	}
	top[-2].truth |= compare(LODE_OPERATOR_GREATER_EQUAL, &top[-3], &top[-1]) &&
	                 compare(LODE_OPERATOR_LESS_EQUAL, &top[-3], &top[0]);
	return top - 2;
}

/* Whether the jump is taken; *top moves. */
static bool decide(uint32_t step, LodeValue **top)
{
	bool truth = is_true(*top);

	switch (step) {
	case STEP_SKIP_UNLESS:
		if (truth)
			(*top)--;
		else
			**top = lode_value_of_boolean(false);
		return !truth;
	case STEP_SKIP_IF:
		if (!truth)
			(*top)--;
		return truth;
	case STEP_BRANCH:
		(*top)--;
		return !truth;
	default:
		return true;
	}
}

/* One flat switch: this loop is what every sample goes through. */
bool lode_evaluator_run(
	LodeEvaluator *self, const void *sample, LodeValue *out_value, GError **error)
{
	const Step *steps = (const Step *)(const void *)self->program->steps->data;
	const LodeValue *constants =
		(const LodeValue *)(const void *)self->program->constants->data;
	const guint n = self->program->steps->len;
	LodeValue stack[MAX_STACK + 1];
	LodeValue *top = stack; /* [0] is below the first value */

	for (guint i = 0; i < n;) {
		const Step *step = &steps[i++];
		switch (step->step) {
		case LODE_OPERATOR_CONSTANT:
			*++top = constants[step->argument];
			break;
		case LODE_OPERATOR_ATTRIBUTE:
			*++top = self->program->source->value(
				self->attributes, step->argument, sample);
			break;
		case LODE_OPERATOR_ADD ... LODE_OPERATOR_BIT_XOR:
			top--;
			*top = calculate((LodeOperator)step->step, &top[0], &top[1]);
			break;
		case LODE_OPERATOR_EQUAL ... LODE_OPERATOR_GREATER_EQUAL:
			top--;
			*top = lode_value_of_boolean(
				compare((LodeOperator)step->step, &top[0], &top[1]));
			break;
		case LODE_OPERATOR_MATCH:
		case LODE_OPERATOR_NO_MATCH:
			if (!match_top(self, step, top, error))
				return false;
			break;
		case STEP_SKIP_UNLESS ... STEP_JUMP:
			if (decide(step->step, &top))
				i = step->argument;
			break;
		case STEP_FALSE:
			*++top = lode_value_of_boolean(false);
			break;
		case STEP_IS_ITEM ... STEP_DROP_SUBJECT:
			top = compare_item(step->step, top);
			break;
		default:
			*top = change_one(step->step, top);
			break;
		}
	}
	*out_value = *top;
	return true;
}
