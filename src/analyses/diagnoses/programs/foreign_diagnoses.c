/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/programs/profiled_programs.h"

#include "base/text/command_words.h"
#include "model/causes.h"
#include "model/code.h"
#include "model/findings.h"
#include "model/stacks.h"
#include "model/waits.h"

#include <string.h>

enum { MOST_NAMED = 3 };

/* A diagnosis with this share of its time in foreign programs is set aside. */
static const double NEARLY_ALL = 0.8;

/* A foreign program with less of the time in such programs is not named. */
static const double LEAST_NAMED = 0.05;

/* The functions of its places, with 1 added. */
static GHashTable *functions_of(const LodeDiagnosis *self, const LodeProfile *profile)
{
	GHashTable *functions = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < self->at->len; i++) {
		uint32_t at = LODE_AT(self->at, LodeFindingPlace, i).instruction;
		g_hash_table_add(functions,
			GUINT_TO_POINTER(lode_profile_instruction(profile, at)->function + 1));
	}
	return functions;
}

static bool is_all_foreign(const LodeProfiledPrograms *self)
{
	double all = 0, foreign = 0;

	for (guint i = 0; i < self->programs->len; i++) {
		const LodeProfiledProgram *program = lode_profiled_programs_at(self, i);
		all += program->weight;
		foreign += program->is_foreign ? program->weight : 0;
	}
	return foreign >= NEARLY_ALL * all;
}

/* Without samples there: code of a foreign program's own, or of any where all are. */
static bool is_of_foreign_code(const LodeProfiledPrograms *self, const LodeDiagnosis *one)
{
	bool are_all = is_all_foreign(self);
	double all = 0, foreign = 0;

	for (guint i = 0; i < one->at->len; i++) {
		const LodeFindingPlace *place = &LODE_AT(one->at, LodeFindingPlace, i);
		uint32_t at = place->instruction;
		const LodeImage *image = lode_profile_image(self->profile,
			lode_profile_function(self->profile,
				lode_profile_instruction(self->profile, at)->function)
				->image);
		g_autofree char *base = g_path_get_basename(image->path);
		bool is_known = are_all && lode_is_of_others(image->path);
		for (guint k = 0; k < self->programs->len && !is_known; k++) {
			const LodeProfiledProgram *program = lode_profiled_programs_at(self, k);
			is_known = program->is_foreign && strcmp(program->name, base) == 0;
		}
		all += place->time;
		foreign += is_known ? place->time : 0;
	}
	return all > 0 ? foreign >= NEARLY_ALL * all : are_all;
}

/* Whether nearly all samples in the functions of its places are of foreign programs. */
static bool is_inside(const LodeProfiledPrograms *self, const LodeDiagnosis *one)
{
	const LodeStacks *stacks = lode_stacks_of(self->profile);
	g_autoptr(GHashTable) functions = functions_of(one, self->profile);
	double all = 0, foreign = 0;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		uint32_t at = sample->event == self->event
		                      ? lode_stacks_instruction(stacks, sample->stack)
		                      : LODE_NONE;
		if (at >= lode_code_of(self->profile)->instructions->len ||
			!g_hash_table_contains(functions,
				GUINT_TO_POINTER(
					lode_profile_instruction(self->profile, at)->function + 1)))
			continue;
		all += sample->weight;
		foreign += lode_profiled_programs_of(self, sample->thread)->is_foreign
		                   ? sample->weight
		                   : 0;
	}
	return all > 0 ? foreign >= NEARLY_ALL * all : is_of_foreign_code(self, one);
}

/* A shell's process that runs a script is called as that is, which is its user's. The caller frees
 * it. */
static char *name_of_system(const LodeProfiledProgram *program)
{
	g_autofree char *base = program->image != NULL ? g_path_get_basename(program->image) : NULL;

	return base != NULL && lode_is_shell(base) ? g_steal_pointer(&base)
	                                           : g_strdup(program->name);
}

static void name_foreigners(LodeDiagnoses *self, const LodeProfiledPrograms *programs)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	double all = 0, foreign = 0;

	for (guint i = 0; i < programs->programs->len; i++) {
		const LodeProfiledProgram *program = lode_profiled_programs_at(programs, i);
		all += program->weight;
		if (!program->is_foreign)
			continue;
		foreign += program->weight;
		g_autofree char *name = name_of_system(program);
		if (names->len < MOST_NAMED && name[0] != '\0' &&
			(names->len == 0 || program->weight >= LEAST_NAMED * foreign) &&
			!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
			g_ptr_array_add(names, g_steal_pointer(&name));
	}
	if (!(foreign > 0) || names->len == 0)
		return;
	g_ptr_array_add(names, NULL);
	self->foreign = self->user * foreign / all;
	self->foreigners = g_strjoinv(", ", (char **)names->pdata);
}

GHashTable *lode_foreign_program_names(const LodeDiagnosisContext *context)
{
	GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(LodeProfiledPrograms) programs = lode_profiled_programs_new(context);

	for (guint i = 0; programs != NULL && i < programs->programs->len; i++) {
		const LodeProfiledProgram *program = lode_profiled_programs_at(programs, i);
		if (program->is_foreign)
			g_hash_table_add(names, (char *)program->name);
	}
	return names;
}

/* How threads wait for each other is a program's code, as well: what it waits for outside of it is
 * its user's. */
static bool is_inner_wait(const LodeDiagnosis *self)
{
	static const char *const causes[] = {"wait-lock", "wait-serial", "wait-herd", NULL};

	return g_strv_contains(causes, self->cause);
}

/* System calls: the user can change them by options and input, such as a block size. */
static bool is_call(const LodeDiagnosis *self)
{
	return strcmp(self->cause, "system-call") == 0 || strcmp(self->cause, "kernel-time") == 0;
}

void lode_foreign_diagnoses_set_aside(LodeDiagnoses *self, const LodeDiagnosisContext *context)
{
	g_autoptr(LodeProfiledPrograms) programs = lode_profiled_programs_new(context);

	if (programs == NULL)
		return;
	bool is_lone = !programs->are_several && is_all_foreign(programs);
	for (guint i = self->diagnoses->len; i-- > 0;) {
		const LodeDiagnosis *one = lode_diagnoses_at(self, i);
		/* Those set aside are told with their processor time, which waits do not have. */
		if (one->scope == LODE_SCOPE_WAIT) {
			if (is_lone && is_inner_wait(one))
				g_ptr_array_remove_index(self->diagnoses, i);
		} else if (one->scope != LODE_SCOPE_PROGRAM && !(is_lone && is_call(one)) &&
			   is_inside(programs, one)) {
			lode_diagnoses_set_aside(self, i);
		}
	}
	name_foreigners(self, programs);
}
