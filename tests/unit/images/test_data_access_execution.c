/* SPDX-License-Identifier: MIT */
/*
 * What the rules claim against what happens: random code, run for real. Each step of a run serves
 * as a sample; the access at it, the next one and the last one of the run are the truth, and for
 * next-round the next execution of the instruction.
 * LODE_SNIPPETS in the environment sets how many snippets are tried.
 */
#include "seeds.h"
#include "snippet_run.h"

#include <stdlib.h>

enum { BIAS = 0x10000, DEFAULT_SNIPPETS = 1500 };

typedef struct {
	const Snippet *snippet;
	uint64_t start;
} Code;

typedef struct {
	unsigned n_without_stack; /* claims of forward without the stack */
	unsigned n_rounds;        /* claims of next-round that the run decides */
	unsigned n_steps, n_claims[LODE_N_RULES], n_reasons[LODE_N_REASONS];
} Tally;

/* The code lies at `start` in the image. */
static const uint8_t *bytes_at(void *data, uint64_t address, size_t *out_n)
{
	const Code *code = data;

	if (address - code->start >= code->snippet->size)
		return NULL;
	*out_n = code->snippet->size - (address - code->start);
	return code->snippet->code + (address - code->start);
}

static bool is_anything(void *data, uint64_t address, uint32_t size, uint8_t access)
{
	(void)data, (void)address, (void)size;
	return access != 0;
}

static const SnippetStep *next_access(const SnippetRun *run, unsigned i)
{
	for (; i < run->n; i++) {
		if (run->steps[i].n_operands > 0)
			return &run->steps[i];
	}
	return NULL;
}

static const SnippetStep *last_access(const SnippetRun *run, unsigned i)
{
	while (i-- > 0) {
		if (run->steps[i].n_operands > 0)
			return &run->steps[i];
	}
	return NULL;
}

/* Whether the way from the last access leads over a return or the like, which here goes anywhere:
 * the rule backward trusts returns to come from calls, and reads the tables of jumps. */
static bool is_cut_off(const SnippetRun *run, unsigned i)
{
	while (i-- > 0 && run->steps[i].n_operands == 0) {
		if (run->steps[i].is_indirect)
			return true;
	}
	return false;
}

/* The code as hex digits, the way to the step, and what is claimed there. */
static void report_wrong(const SnippetRun *run, unsigned step, const Code *code,
	const LodeDataAccess *claim, const SnippetStep *truth)
{
	g_autoptr(GString) text = g_string_new("code");

	for (unsigned i = 0; i < code->snippet->size; i++)
		g_string_append_printf(text, " %02x", code->snippet->code[i]);
	g_string_append(text, "; way");
	for (unsigned i = 0; i <= step; i++)
		g_string_append_printf(text, " %x", (unsigned)run->steps[i].offset);
	g_error("%s; rule %d: %x accesses %lx; truth: %x accesses %lx", text->str, claim->rule,
		(unsigned)(claim->pc - code->start), (unsigned long)claim->operands[0].address,
		truth != NULL ? (unsigned)truth->offset : UINT_MAX,
		truth != NULL ? (unsigned long)truth->operands[0].address : 0);
}

static bool is_same(const LodeDataAccess *claim, const SnippetStep *truth, uint64_t start)
{
	if (truth == NULL || claim->pc != start + truth->offset ||
		claim->n_operands != truth->n_operands)
		return false;
	for (unsigned i = 0; i < claim->n_operands; i++) {
		const LodeDataOperand *is = &claim->operands[i], *was = &truth->operands[i];

		if (is->address != was->address || is->size != was->size ||
			is->access != was->access)
			return false;
	}
	return true;
}

static bool is_claimed_without_stack(
	const LodeDataAccessContext *context, LodeDataAccessQuestion question)
{
	LodeDataAccess claim;

	question.stack = NULL;
	lode_data_access_apply(context, &question, LODE_RULE_FORWARD, &claim);
	return claim.rule != LODE_RULE_NONE;
}

static void check_step(const SnippetRun *run, unsigned i, const LodeDataAccessContext *context,
	LodeDataAccessQuestion *question, Tally *tally)
{
	static const LodeAddressRule RULES[] = {
		LODE_RULE_AT_PC, LODE_RULE_FORWARD, LODE_RULE_BACKWARD};
	const Code *code = context->data;
	const SnippetStep *next = next_access(run, i);

	question->pc = code->start + run->steps[i].offset;
	question->registers = &run->steps[i].registers;
	question->stack = run->steps[i].stack;
	question->stack_size = run->steps[i].stack_size;
	tally->n_steps++;
	tally->n_without_stack += is_claimed_without_stack(context, *question);
	for (unsigned k = 0; k < G_N_ELEMENTS(RULES); k++) {
		bool is_back = RULES[k] == LODE_RULE_BACKWARD;
		const SnippetStep *truth;
		LodeDataAccess claim;

		lode_data_access_apply(context, question, RULES[k], &claim);
		g_assert_true((claim.rule == LODE_RULE_NONE) != (claim.reason == LODE_REASON_NONE));
		tally->n_claims[claim.rule]++;
		tally->n_reasons[claim.reason]++;
		/* a run that ends before the access says nothing about it */
		if (claim.rule == LODE_RULE_NONE || (is_back ? is_cut_off(run, i) : next == NULL))
			continue;
		truth = is_back ? last_access(run, i) : next;
		if (!is_same(&claim, truth, code->start))
			report_wrong(run, i, code, &claim, truth);
	}
}

/* The next time that the instruction runs, if nothing is accessed before: the tracer makes loaded
 * values and flags up. */
static void check_next_round(const SnippetRun *run, unsigned i,
	const LodeDataAccessContext *context, LodeDataAccessQuestion question, Tally *tally)
{
	const Code *code = context->data;
	unsigned k = i;
	LodeDataAccess claim;

	question.wants_next = false;
	lode_data_access_find(context, &question, &claim);
	tally->n_claims[LODE_RULE_NEXT_ROUND] += claim.rule == LODE_RULE_NEXT_ROUND;
	while (k < run->n && run->steps[k].n_operands == 0)
		k++;
	if (claim.rule != LODE_RULE_NEXT_ROUND || k == run->n ||
		code->start + run->steps[k].offset != claim.pc)
		return;
	tally->n_rounds++;
	if (!is_same(&claim, &run->steps[k], code->start))
		report_wrong(run, i, code, &claim, &run->steps[k]);
}

static void check_snippet(const SnippetRun *run, const Snippet *snippet, Tally *tally)
{
	Code code = {snippet, (uint64_t)(uintptr_t)run->code - BIAS};
	LodeDataAccessContext context = {bytes_at, is_anything, &code};
	g_auto(LodeControlFlow) flow = {0};
	g_auto(LodeBranchTargets) targets = {0};
	LodeDataAccessQuestion question = {.bias = BIAS, .flow = &flow, .targets = &targets};

	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, snippet->code, snippet->size, code.start, NULL);
	lode_branch_targets_init(&targets);
	lode_branch_targets_add(&targets, snippet->code, snippet->size, code.start);
	lode_branch_targets_sort(&targets);
	for (unsigned i = 0; i < run->n; i++) {
		check_step(run, i, &context, &question, tally);
		check_next_round(run, i, &context, question, tally);
	}
}

static void test_random_code(void)
{
	const char *wanted = g_getenv("LODE_SNIPPETS");
	int n = wanted != NULL ? atoi(wanted) : DEFAULT_SNIPPETS;
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(5974536));
	SnippetRun run;
	Snippet snippet;
	Tally tally = {0};

	if (!snippet_run_open(&run, rand)) {
		snippet_run_close(&run);
		g_test_skip("no process may be traced here");
		return;
	}
	for (int i = 0; i < n; i++) {
		snippet_make(&snippet, rand);
		snippet_run(&run, &snippet);
		check_snippet(&run, &snippet, &tally);
	}
	snippet_run_close(&run);
	g_test_message(
		"%u steps: at-pc %u, forward %u, backward %u; blocked %u, branch-target %u, "
		"clobbered %u; forward without the stack %u; next-round %u, of which judged %u",
		tally.n_steps, tally.n_claims[LODE_RULE_AT_PC], tally.n_claims[LODE_RULE_FORWARD],
		tally.n_claims[LODE_RULE_BACKWARD], tally.n_reasons[LODE_REASON_BLOCKED],
		tally.n_reasons[LODE_REASON_BRANCH_TARGET], tally.n_reasons[LODE_REASON_CLOBBERED],
		tally.n_without_stack, tally.n_claims[LODE_RULE_NEXT_ROUND], tally.n_rounds);
	g_assert_cmpuint(tally.n_rounds, >, 0);
	g_assert_cmpuint(tally.n_claims[LODE_RULE_AT_PC], >, tally.n_steps / 8);
	g_assert_cmpuint(tally.n_claims[LODE_RULE_FORWARD], >, tally.n_steps / 2);
	g_assert_cmpuint(tally.n_claims[LODE_RULE_BACKWARD], >, tally.n_steps / 10);
	g_assert_cmpuint(
		tally.n_claims[LODE_RULE_FORWARD], >, tally.n_without_stack + tally.n_steps / 100);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/data_access_execution/random_code", test_random_code);
	return g_test_run();
}
