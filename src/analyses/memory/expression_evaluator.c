/* SPDX-License-Identifier: MIT */
/* The stack machine that runs an expression for one sample after another. */
#include "analyses/memory/expression_program.h"
#include "base/error.h"

#include <string.h>

/* Patterns see names, of which there are few, once each. */
typedef struct {
	const GRegex *pattern;
	GHashTable *answers; /* char * as it is → 1 no, 2 yes */
	const char *last;
	bool last_answer;
} Matcher;

struct LodeEvaluator {
	const LodeExpression *program;
	const LodeSampleAttributes *attributes;
	const LodeSampleAttribute *table;
	Matcher *matchers; /* one for each pattern */
};

LodeEvaluator *lode_evaluator_new(
	const LodeExpression *expression, const LodeSampleAttributes *attributes)
{
	LodeEvaluator *self = g_new0(LodeEvaluator, 1);
	guint n = expression->patterns->len;
	size_t n_attributes;

	self->program = expression;
	self->attributes = attributes;
	self->table = lode_sample_attribute_table(&n_attributes);
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
	case LODE_STEP_TRUTH:
		return lode_value_of_boolean(is_true(value));
	default:
		break;
	}
	if (value->kind == LODE_VALUE_NONE)
		return *value;
	if (step == LODE_OPERATOR_COMPLEMENT)
		return lode_value_of_integer(~value->integer);
	if (step == LODE_STEP_TO_REAL)
		return lode_value_of_real(lode_value_to_double(value));
	if (value->kind == LODE_VALUE_REAL)
		return lode_value_of_real(-value->real);
	return lode_value_of_integer(-value->integer);
}

static bool match_top(LodeEvaluator *self, const LodeStep *step, LodeValue *top, GError **error)
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
static LodeValue *look_at_item(uint32_t step, LodeValue *top)
{
	if (step == LODE_STEP_DROP_SUBJECT) {
		top[-1] = top[0];
		return top - 1;
	}
	if (step == LODE_STEP_IS_ITEM) {
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
	case LODE_STEP_SKIP_UNLESS:
		if (truth)
			(*top)--;
		else
			**top = lode_value_of_boolean(false);
		return !truth;
	case LODE_STEP_SKIP_IF:
		if (!truth)
			(*top)--;
		return truth;
	case LODE_STEP_BRANCH:
		(*top)--;
		return !truth;
	default:
		return true;
	}
}

/* One flat switch: this loop is what every sample goes through. */
bool lode_evaluator_run(
	LodeEvaluator *self, const LodeMemorySample *sample, LodeValue *out_value, GError **error)
{
	const LodeStep *steps = (const LodeStep *)(const void *)self->program->steps->data;
	const LodeValue *constants =
		(const LodeValue *)(const void *)self->program->constants->data;
	const guint n = self->program->steps->len;
	LodeValue stack[LODE_EXPRESSION_MAX_STACK + 1];
	LodeValue *top = stack; /* [0] is below the first value */

	for (guint i = 0; i < n;) {
		const LodeStep *step = &steps[i++];
		switch (step->step) {
		case LODE_OPERATOR_CONSTANT:
			*++top = constants[step->argument];
			break;
		case LODE_OPERATOR_ATTRIBUTE:
			*++top = self->table[step->argument].value(self->attributes, sample);
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
		case LODE_STEP_SKIP_UNLESS ... LODE_STEP_JUMP:
			if (decide(step->step, &top))
				i = step->argument;
			break;
		case LODE_STEP_FALSE:
			*++top = lode_value_of_boolean(false);
			break;
		case LODE_STEP_IS_ITEM ... LODE_STEP_DROP_SUBJECT:
			top = look_at_item(step->step, top);
			break;
		default:
			*top = change_one(step->step, top);
			break;
		}
	}
	*out_value = *top;
	return true;
}
