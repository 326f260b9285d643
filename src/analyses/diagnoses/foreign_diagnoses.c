/* SPDX-License-Identifier: MIT */
/*
 * Which program a place belongs to is known by the samples there: of libraries, each program has
 * its own. A program is its user's if any of its samples is in code, or was called from code, that
 * is not of the system's packages.
 */
#include "analyses/diagnoses/diagnosis_context.h"

#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "model/causes.h"
#include "model/findings.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "model/waits.h"

#include <string.h>

enum { MOST_NAMED = 3 };

/* Of a program's time: less in the user's code may be a mistake. Of a diagnosis's time: so much is
 * nearly all. */
static const double LEAST_OWN = 0.01, NEARLY_ALL = 0.8;

typedef struct {
	const char *name;
	double weight, own; /* of its samples */
} Program;

typedef struct {
	const LodeProfile *profile;
	uint32_t event;
	GArray *programs;     /* Program */
	uint32_t *program_of; /* of each of the stacks' threads */
	bool *is_own;         /* each of the stacks has a frame of the user's */
} Programs;

LODE_ORDER(compare_programs, Program, LODE_DESCENDING(weight), g_strcmp0(left->name, right->name))

static Program *program_at(const Programs *self, uint32_t thread)
{
	return &LODE_AT(self->programs, Program, self->program_of[thread]);
}

/* The names of processes: a thread may have one of its own. */
static void find_programs(Programs *self)
{
	const GArray *threads = self->profile->stacks->threads;
	g_autoptr(GHashTable) of_pids = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < threads->len; i++) {
		const LodeStackThread *thread = &LODE_AT(threads, LodeStackThread, i);
		if (thread->pid == thread->tid)
			g_hash_table_insert(of_pids, GUINT_TO_POINTER(thread->pid), thread->name);
	}
	for (guint i = 0; i < threads->len; i++) {
		const LodeStackThread *thread = &LODE_AT(threads, LodeStackThread, i);
		const char *name = g_hash_table_lookup(of_pids, GUINT_TO_POINTER(thread->pid));
		const Program added = {name != NULL ? name : "", 0, 0};
		void *known;
		if (!g_hash_table_lookup_extended(numbers, added.name, NULL, &known)) {
			known = GUINT_TO_POINTER(self->programs->len);
			g_hash_table_insert(numbers, (char *)added.name, known);
			g_array_append_val(self->programs, added);
		}
		self->program_of[i] = GPOINTER_TO_UINT(known);
	}
}

/* Outer stacks are rows before those that they called. */
static void find_own(Programs *self)
{
	const LodeStacks *stacks = self->profile->stacks;

	for (guint i = 0; i < stacks->stacks->len; i++) {
		const LodeStack *stack = &LODE_AT(stacks->stacks, LodeStack, i);
		const LodeFrame *frame = &LODE_AT(stacks->frames, LodeFrame, stack->frame);
		self->is_own[i] = (stack->outer != LODE_NONE && self->is_own[stack->outer]) ||
		                  (frame->image != NULL && strchr("[<", frame->image[0]) == NULL &&
					  !lode_is_of_others(frame->image));
	}
}

static void sum_samples(Programs *self)
{
	const LodeStacks *stacks = self->profile->stacks;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != self->event)
			continue;
		Program *program = program_at(self, sample->thread);
		program->weight += sample->weight;
		if (sample->stack != LODE_NONE && self->is_own[sample->stack])
			program->own += sample->weight;
	}
}

static bool is_foreign(const Program *self)
{
	return self->weight > 0 && self->own < LEAST_OWN * self->weight;
}

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

static bool is_all_foreign(const Programs *self)
{
	double all = 0, foreign = 0;

	for (guint i = 0; i < self->programs->len; i++) {
		const Program *program = &LODE_AT(self->programs, Program, i);
		all += program->weight;
		foreign += is_foreign(program) ? program->weight : 0;
	}
	return foreign >= NEARLY_ALL * all;
}

/* Without samples there: code of a foreign program's own, or of any where all are. */
static bool is_of_foreign_code(const Programs *self, const LodeDiagnosis *one)
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
			const Program *program = &LODE_AT(self->programs, Program, k);
			is_known = is_foreign(program) && strcmp(program->name, base) == 0;
		}
		all += place->time;
		foreign += is_known ? place->time : 0;
	}
	return all > 0 ? foreign >= NEARLY_ALL * all : are_all;
}

/* Whether nearly all samples in the functions of its places are of foreign programs. */
static bool is_inside(const Programs *self, const LodeDiagnosis *one)
{
	const LodeStacks *stacks = self->profile->stacks;
	g_autoptr(GHashTable) functions = functions_of(one, self->profile);
	double all = 0, foreign = 0;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		uint32_t at = sample->event == self->event
		                      ? lode_stacks_instruction(stacks, sample->stack)
		                      : LODE_NONE;
		if (at >= self->profile->instructions->len ||
			!g_hash_table_contains(functions,
				GUINT_TO_POINTER(
					lode_profile_instruction(self->profile, at)->function + 1)))
			continue;
		all += sample->weight;
		foreign += is_foreign(program_at(self, sample->thread)) ? sample->weight : 0;
	}
	return all > 0 ? foreign >= NEARLY_ALL * all : is_of_foreign_code(self, one);
}

static void name_foreigners(LodeDiagnoses *self, Programs *programs)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	double all = 0, foreign = 0;

	g_array_sort(programs->programs, compare_programs);
	for (guint i = 0; i < programs->programs->len; i++) {
		const Program *program = &LODE_AT(programs->programs, Program, i);
		all += program->weight;
		if (!is_foreign(program))
			continue;
		foreign += program->weight;
		if (names->len < MOST_NAMED && program->name[0] != '\0')
			g_ptr_array_add(names, (char *)program->name);
	}
	if (!(foreign > 0) || names->len == 0)
		return;
	g_ptr_array_add(names, NULL);
	self->foreign = self->user * foreign / all;
	self->foreigners = g_strjoinv(", ", (char **)names->pdata);
}

void lode_foreign_diagnoses_set_aside(LodeDiagnoses *self, const LodeDiagnosisContext *context)
{
	const LodeProfile *profile = context->profile;
	const LodeStacks *stacks = profile->stacks;

	if (stacks == NULL || stacks->samples->len == 0 || !(context->total > 0) ||
		!lode_waits_have_programs(profile->waits))
		return;
	uint32_t sampled = lode_profile_event_as_sampled(profile, context->event);
	Programs programs = {.profile = profile,
		.event = sampled != LODE_NONE ? sampled : context->event,
		.programs = g_array_new(FALSE, FALSE, sizeof(Program)),
		.program_of = g_new0(uint32_t, (gsize)stacks->threads->len + 1),
		.is_own = g_new0(bool, (gsize)stacks->stacks->len + 1)};
	find_programs(&programs);
	find_own(&programs);
	sum_samples(&programs);
	for (guint i = self->diagnoses->len; i-- > 0;) {
		const LodeDiagnosis *one = lode_diagnoses_at(self, i);
		if (one->scope != LODE_SCOPE_WAIT && is_inside(&programs, one))
			lode_diagnoses_set_aside(self, i);
	}
	name_foreigners(self, &programs);
	g_array_unref(programs.programs);
	g_free(programs.program_of);
	g_free(programs.is_own);
}
