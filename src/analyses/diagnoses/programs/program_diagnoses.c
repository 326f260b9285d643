/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/diagnosis_evidence.h"
#include "analyses/diagnoses/programs/profiled_programs.h"
#include "analyses/diagnoses/programs/program_rules.h"
#include "base/text/command_words.h"
#include "model/index.h"
#include "model/memory.h"
#include "model/process.h"
#include "model/run/program_run.h"
#include "model/stacks.h"
#include "model/waits.h"

#include <math.h>
#include <string.h>

/* A program with a smaller share of all time gets no diagnosis. */
static const double LEAST_PART = 0.2;

/* Programs with so much are told of, at most. */
enum { MOST_PROGRAMS = 3 };

typedef struct {
	const LodeProfile *profile;
	const LodeProfiledPrograms *programs;
	const LodeProfiledProgram *program;
	GPtrArray *words; /* char *: of its command, without its name; NULL: not known */
} Called;

/* --- the command --- */

static bool is_end(const char *word)
{
	return strchr("|&;<>()", word[0]) != NULL || g_str_has_suffix(word, ";");
}

static bool is_program(const char *word, const char *name)
{
	g_autofree char *base = g_path_get_basename(word);

	return name[0] != '\0' && strcmp(base, name) == 0;
}

/* The words after the program's name, where it begins a command. */
static GPtrArray *words_after(char **words, const char *name)
{
	bool is_begin = true;

	for (guint i = 0; words[i] != NULL; i++) {
		bool is_assignment = strchr(words[i], '=') != NULL && words[i][0] != '-';
		if (is_begin && is_program(words[i], name)) {
			GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
			for (i++; words[i] != NULL && !is_end(words[i]); i++)
				g_ptr_array_add(found, g_strdup(words[i]));
			return found;
		}
		is_begin = is_end(words[i]) || (is_begin && is_assignment);
	}
	return NULL;
}

/* Those that a command gives the program, or the text after its shell's -c. NULL: it is started by
 * something else. */
static GPtrArray *words_in(const char *command, const char *name)
{
	g_auto(GStrv) words = NULL, inner = NULL;
	int n = 0;

	if (command == NULL || !g_shell_parse_argv(command, &n, &words, NULL))
		return NULL;
	if (n == 3 && lode_is_shell(words[0]) && strcmp(words[1], "-c") == 0)
		return g_shell_parse_argv(words[2], NULL, &inner, NULL) ? words_after(inner, name)
		                                                        : NULL;
	return words_after(words, name);
}

/* Of the recorded command, else of the longest process of that name whose command is known. */
static GPtrArray *find_words(const LodeProfile *profile, const char *name)
{
	const LodeWaits *waits = lode_waits_of(profile);
	GPtrArray *words = words_in(lode_program_run_of(profile)->program, name);
	const char *command = NULL;
	double most_ns = 0;

	for (guint i = 0; words == NULL && waits != NULL && i < waits->processes->len; i++) {
		const LodeWaitProcess *one = &LODE_AT(waits->processes, LodeWaitProcess, i);
		if (g_strcmp0(one->name, name) == 0 && one->command != NULL && !one->is_cut &&
			one->running_ns > most_ns) {
			most_ns = one->running_ns;
			command = one->command;
		}
	}
	return command != NULL ? words_in(command, name) : words;
}

static bool has_word(const Called *self, const LodeGlobs *globs)
{
	for (guint i = 0; i < self->words->len; i++)
		if (lode_globs_match(globs, self->words->pdata[i]))
			return true;
	return false;
}

static bool has_words(const Called *self, const LodeProgramRule *rule)
{
	if (rule->words == NULL && rule->without == NULL)
		return true;
	return self->words != NULL && (rule->words == NULL || has_word(self, rule->words)) &&
	       (rule->without == NULL || !has_word(self, rule->without));
}

/* --- its files and functions --- */

static bool is_of_process(const Called *self, uint32_t pid)
{
	const GArray *threads = lode_stacks_of(self->profile)->threads;

	for (guint i = 0; i < threads->len; i++)
		if (LODE_AT(threads, LodeStackThread, i).pid == pid &&
			lode_profiled_programs_of(self->programs, i) == self->program)
			return true;
	return false;
}

/* A file that one of its processes mapped; NULL: none. */
static const char *find_map(const Called *self, const LodeGlobs *globs)
{
	const LodeMemory *memory = lode_memory_of(self->profile);

	for (guint i = 0; memory != NULL && i < memory->mappings->len; i++) {
		const LodeMemoryMapping *one = &LODE_AT(memory->mappings, LodeMemoryMapping, i);
		if (one->name != NULL && lode_globs_match(globs, one->name) &&
			is_of_process(self, one->pid))
			return one->name;
	}
	return NULL;
}

static bool is_below(const LodeStacks *stacks, uint32_t stack, const LodeGlobs *globs)
{
	while (stack != LODE_NONE) {
		const LodeStack *row = &LODE_AT(stacks->stacks, LodeStack, stack);
		const char *function = LODE_AT(stacks->frames, LodeFrame, row->frame).function;
		if (function != NULL && lode_globs_match(globs, function))
			return true;
		stack = row->outer;
	}
	return false;
}

/* The share of the program's samples that are in or below such functions. */
static double share_of(const Called *self, const LodeGlobs *globs)
{
	const LodeStacks *stacks = lode_stacks_of(self->profile);
	double weight = 0;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event == self->programs->event &&
			lode_profiled_programs_of(self->programs, sample->thread) ==
				self->program &&
			is_below(stacks, sample->stack, globs))
			weight += sample->weight;
	}
	return weight / self->program->weight;
}

/* --- the diagnosis --- */

typedef struct {
	const LodeProgramRule *rule;
	const char *map; /* NULL: none is asked for */
	double share;    /* of the functions; 0 likewise */
} Match;

static bool matches(const Called *self, const LodeProgramRule *rule, Match *out)
{
	*out = (Match){.rule = rule};
	if (!lode_globs_match(rule->programs, self->program->name) || !has_words(self, rule))
		return false;
	if (rule->maps != NULL && (out->map = find_map(self, rule->maps)) == NULL)
		return false;
	if (rule->functions != NULL)
		out->share = share_of(self, rule->functions);
	return rule->functions == NULL || out->share >= rule->least;
}

/* A service of a library says the same of the program's own code. */
static void drop_same(LodeDiagnoses *out, const char *title)
{
	for (guint i = out->diagnoses->len; i-- > 0;) {
		const LodeDiagnosis *one = lode_diagnoses_at(out, i);
		if (one->scope == LODE_SCOPE_SERVICE && g_str_has_prefix(one->title, title))
			g_ptr_array_remove_index(out->diagnoses, i);
	}
}

static void add_diagnosis(
	LodeDiagnoses *out, const LodeDiagnosisContext *context, const Called *self, Match *match)
{
	const LodeProgramRule *rule = match->rule;
	LodeDiagnosis *one = lode_diagnosis_new(rule->cause, LODE_SCOPE_PROGRAM);
	double share = self->program->weight / context->total * context->user;

	one->title = g_strdup_printf("%s: %s", self->program->name, rule->title);
	one->name = g_strdup_printf("%s@%s", rule->cause, self->program->name);
	one->time = share;
	lode_diagnosis_set_texts(one, rule->explanation, rule->remedy, rule->source);
	lode_diagnosis_set_saves(one, rule->saves_least, rule->saves_most, 0.99);
	if (match->map != NULL)
		lode_diagnosis_add_evidence(one, 100 * share, "%",
			"%.1f %% of the %s is in %s, with %s", 100 * share,
			lode_diagnosis_weight(context), self->program->name, match->map);
	else
		lode_diagnosis_add_evidence(one, 100 * share, "%", "%.1f %% of the %s is in %s",
			100 * share, lode_diagnosis_weight(context), self->program->name);
	if (rule->functions != NULL)
		lode_diagnosis_add_evidence(one, 100 * match->share, "%",
			"%.1f %% of that is in such functions: %s", 100 * match->share, rule->name);
	drop_same(out, rule->title);
	g_ptr_array_add(out->diagnoses, one);
}

void lode_program_diagnoses_add(LodeDiagnoses *out, const LodeDiagnosisContext *context)
{
	g_autoptr(LodeProfiledPrograms) programs = lode_profiled_programs_new(context);
	g_autoptr(LodeProgramRules) rules = lode_program_rules_new();

	for (guint i = 0; programs != NULL && i < MIN(programs->programs->len, MOST_PROGRAMS);
		i++) {
		const LodeProfiledProgram *program = lode_profiled_programs_at(programs, i);
		if (!program->is_foreign || program->weight < LEAST_PART * context->total)
			continue;
		g_autoptr(GPtrArray) words = find_words(context->profile, program->name);
		const Called called = {context->profile, programs, program, words};
		Match match;
		for (guint k = 0; k < lode_program_rules_n(rules); k++)
			if (matches(&called, lode_program_rules_at(rules, k), &match)) {
				add_diagnosis(out, context, &called, &match);
				break;
			}
	}
}
