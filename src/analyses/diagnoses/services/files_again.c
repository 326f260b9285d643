/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/service_diagnoses.h"

#include "analyses/diagnoses/diagnosis_evidence.h"
#include "analyses/diagnoses/sampled_turns.h"
#include "model/index.h"
#include "model/lines/own_lines.h"
#include "model/stacks.h"

#include <math.h>
#include <string.h>

/* Fewer samples, or turns, may be of a file that is read once; with less of the time it is no
 * matter. */
enum { LEAST_SAMPLES = 4, LEAST_OPENING = 6, LEAST_TURNS = 8 };
static const double LEAST_SHARE = 0.4, MOST_SAVED = 0.99;

typedef struct {
	const LodeDiagnosisContext *context;
	bool *opens;       /* of each function */
	uint32_t function; /* that is looked for by is_function() */
} Search;

static bool opens_files(const LodeFunctionCost *one)
{
	static const char *const names[] = {"io.open", "_io.open*", "_io.FileIO.__init__", "open",
		"open64", "openat*", "__open*", "Perl_pp_open", "Perl_do_open*", "PerlIO_open*",
		"rb_file_open*", "rb_io_open*", "rb_sysopen*", "rb_cloexec_open"};

	for (size_t i = 0; i < G_N_ELEMENTS(names) && one->language == NULL; i++)
		if (g_pattern_match_simple(names[i], one->name))
			return true;
	return false;
}

static const LodeStack *stack_at(const LodeStacks *stacks, uint32_t stack)
{
	return &g_array_index(stacks->stacks, LodeStack, stack);
}

static const LodeFrame *frame_at(const LodeStacks *stacks, uint32_t stack)
{
	return &g_array_index(stacks->frames, LodeFrame, stack_at(stacks, stack)->frame);
}

static bool is_script(const Search *self, uint32_t stack)
{
	const LodeFunctionCosts *costs = self->context->costs;
	uint32_t function = lode_function_costs_at_stack(costs, stack);

	return function != LODE_NONE && lode_function_cost_at(costs, function)->language != NULL &&
	       lode_own_lines_is_own_frame(
		       self->context->own, frame_at(lode_stacks_of(costs->profile), stack));
}

/* Part of a function, which has a frame of its own. */
static bool is_comprehension(const LodeFrame *frame)
{
	return frame->function != NULL && (g_str_has_suffix(frame->function, "comp>") ||
						  g_str_has_suffix(frame->function, "<genexpr>"));
}

/* The user's innermost frame around a stack's frame that opens a file, where it is called by
 * another one of the user's; LODE_NONE: it opens none. */
static uint32_t find_opener(const Search *self, uint32_t stack)
{
	const LodeStacks *stacks = lode_stacks_of(self->context->profile);
	uint32_t found = LODE_NONE;
	bool is_open = false;

	for (; stack < stacks->stacks->len; stack = stack_at(stacks, stack)->outer) {
		uint32_t function = lode_function_costs_at_stack(self->context->costs, stack);
		is_open |= function != LODE_NONE && self->opens[function];
		if (!is_script(self, stack) || is_comprehension(frame_at(stacks, stack)))
			continue;
		if (!is_open || found != LODE_NONE)
			return found;
		found = stack;
	}
	return LODE_NONE;
}

static bool is_opening(uint32_t function, const void *data)
{
	const Search *self = data;

	return function != LODE_NONE && self->opens[function];
}

static bool is_function(uint32_t function, const void *data)
{
	const Search *self = data;

	return function == self->function;
}

/* The stack of the user's line that most samples of opening are at, and how many. */
static uint32_t find_line(const Search *self, guint *out_samples)
{
	const LodeStacks *stacks = lode_stacks_of(self->context->profile);
	g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
	uint32_t found = LODE_NONE;

	*out_samples = 0;
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &g_array_index(stacks->samples, LodeStackSample, i);
		uint32_t opener = sample->event == self->context->costs->event
		                          ? find_opener(self, sample->stack)
		                          : LODE_NONE;
		if (opener == LODE_NONE)
			continue;
		void *line = GUINT_TO_POINTER(stack_at(stacks, opener)->frame + 1);
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, line)) + 1;
		g_hash_table_insert(counts, line, GUINT_TO_POINTER(n));
		if (n > *out_samples) {
			*out_samples = n;
			found = opener;
		}
	}
	return found;
}

static void add(LodeDiagnoses *out, const Search *self, const LodeCauseRule *rule, uint32_t line,
	double share, guint samples)
{
	const LodeFrame *frame = frame_at(lode_stacks_of(self->context->profile), line);
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_SERVICE);

	diagnosis->title = g_strdup(rule->title);
	diagnosis->service = g_strdup("files that are read again");
	diagnosis->name = g_strdup_printf("%s@%s", rule->cause, frame->function);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	diagnosis->time = share;
	diagnosis->site.function = g_strdup(frame->function);
	diagnosis->site.file = g_strdup(frame->file);
	diagnosis->site.line = frame->line;
	diagnosis->places = diagnosis->functions = 1;
	lode_diagnosis_set_saves(diagnosis, rule->least, rule->most, MOST_SAVED);
	lode_diagnosis_add_evidence(diagnosis, 100 * share, "%",
		"%.1f %% of the %s is in this function and what it calls", 100 * share,
		lode_diagnosis_weight(self->context));
	lode_diagnosis_add_evidence(diagnosis, samples, "samples",
		"%u samples of opening files there; they and those of other code take turns",
		samples);
	g_ptr_array_add(out->diagnoses, diagnosis);
}

void lode_files_again_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules)
{
	const LodeCauseRule *rule = lode_cause_rules_named(rules, "a file read again");
	const LodeDiagnosisContext *context = code->context;
	const LodeFunctionCosts *costs = context->costs;
	guint samples, n = costs != NULL ? costs->functions->len : 0;

	if (rule == NULL || n == 0 || lode_stacks_of(context->profile) == NULL ||
		costs->stacks == NULL || !lode_function_costs_have_scripts(costs) ||
		!(context->total > 0))
		return;
	g_autofree bool *opens = g_new0(bool, n);
	for (guint i = 0; i < n; i++)
		opens[i] = opens_files(lode_function_cost_at(costs, i));
	Search self = {context, opens, LODE_NONE};
	uint32_t line = find_line(&self, &samples);
	if (line == LODE_NONE || samples < LEAST_SAMPLES ||
		lode_sampled_turns(costs, is_opening, NULL, &self).turns < LEAST_OPENING)
		return;
	self.function = lode_function_costs_at_stack(costs, line);
	const LodeSampledTurns turns = lode_sampled_turns(costs, is_function, NULL, &self);
	double share = turns.weight / context->total * context->user;
	if (turns.turns >= LEAST_TURNS && share >= LEAST_SHARE)
		add(out, &self, rule, line, share, samples);
}
