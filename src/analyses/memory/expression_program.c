/* SPDX-License-Identifier: MIT */
#include "analyses/memory/expression_program.h"

typedef struct {
	LodeExpression *program;
	int height, highest; /* of the stack */
} Compiler;

static uint32_t emit(Compiler *self, uint32_t step, uint32_t argument, int growth)
{
	LodeStep row = {step, argument};

	g_array_append_val(self->program->steps, row);
	self->height += growth;
	self->highest = MAX(self->highest, self->height);
	return self->program->steps->len - 1;
}

/* A jump made earlier leads to what comes next. */
static void land(Compiler *self, uint32_t jump)
{
	g_array_index(self->program->steps, LodeStep, jump).argument = self->program->steps->len;
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

static void compile_items(Compiler *self, const LodeExpressionNode *node)
{
	compile(self, node->operands[0]);
	emit(self, LODE_STEP_FALSE, 0, 1);
	for (const LodeExpressionNode *item = node->items; item != NULL; item = item->next) {
		if (item->op != LODE_OPERATOR_RANGE) {
			compile(self, item);
			emit(self, LODE_STEP_IS_ITEM, 0, -1);
			continue;
		}
		compile(self, item->operands[0]);
		compile(self, item->operands[1]);
		emit(self, LODE_STEP_IS_BETWEEN, 0, -2);
	}
	emit(self, LODE_STEP_DROP_SUBJECT, 0, -1);
}

static void compile_logic(Compiler *self, const LodeExpressionNode *node)
{
	uint32_t step = node->op == LODE_OPERATOR_AND ? LODE_STEP_SKIP_UNLESS : LODE_STEP_SKIP_IF;

	compile(self, node->operands[0]);
	uint32_t jump = emit(self, step, 0, -1);
	compile(self, node->operands[1]);
	emit(self, LODE_STEP_TRUTH, 0, 0);
	land(self, jump);
}

static void compile_branch(
	Compiler *self, const LodeExpressionNode *node, const LodeExpressionNode *branch)
{
	compile(self, branch);
	if (node->kind == LODE_VALUE_REAL && branch->kind == LODE_VALUE_INTEGER)
		emit(self, LODE_STEP_TO_REAL, 0, 0);
}

static void compile_conditional(Compiler *self, const LodeExpressionNode *node)
{
	compile(self, node->operands[0]);
	uint32_t to_else = emit(self, LODE_STEP_BRANCH, 0, -1);
	compile_branch(self, node, node->operands[1]);
	uint32_t to_end = emit(self, LODE_STEP_JUMP, 0, -1);
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

LodeExpression *lode_expression_compile(const LodeExpressionNode *root)
{
	LodeExpression *self = g_new0(LodeExpression, 1);
	Compiler compiler = {.program = self};

	self->steps = g_array_new(FALSE, FALSE, sizeof(LodeStep));
	self->constants = g_array_new(FALSE, FALSE, sizeof(LodeValue));
	self->patterns = g_ptr_array_new_with_free_func((GDestroyNotify)g_regex_unref);
	self->strings = g_string_chunk_new(256);
	self->kind = root->kind;
	self->is_hex = root->is_hex;
	self->attribute = root->op == LODE_OPERATOR_ATTRIBUTE ? (int)root->attribute : -1;
	compile(&compiler, root);
	if (compiler.highest <= LODE_EXPRESSION_MAX_STACK)
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
		const LodeStep *step = &g_array_index(self->steps, LodeStep, i);
		if (step->step == LODE_OPERATOR_ATTRIBUTE && (int)step->argument == attribute)
			return true;
	}
	return false;
}
