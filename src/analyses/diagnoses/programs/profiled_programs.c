/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/programs/profiled_programs.h"

#include "base/arrays/sort_order.h"
#include "model/causes.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "model/waits.h"

#include <string.h>

/* A program with less of its time in the user's own code is taken to have none. */
static const double LEAST_OWN = 0.01;

enum { MOST_LETTERS = 15 }; /* of a process's name, which the kernel cuts */

LODE_ORDER(compare_programs, LodeProfiledProgram, LODE_DESCENDING(weight),
	g_strcmp0(left->name, right->name))

static LodeProfiledProgram *program_at(const LodeProfiledPrograms *self, guint program)
{
	return &g_array_index(self->programs, LodeProfiledProgram, program);
}

/* The names of processes: a thread may have one of its own. */
static void find_programs(LodeProfiledPrograms *self)
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
		const LodeProfiledProgram added = {.name = name != NULL ? name : ""};
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
static void find_own(LodeProfiledPrograms *self)
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

/* That a process of this name executes. */
static bool has_name(const char *image, const char *name)
{
	const char *slash = strrchr(image, '/');

	return name[0] != '\0' &&
	       strncmp(slash != NULL ? slash + 1 : image, name, MOST_LETTERS) == 0;
}

/* A program's image is called as its processes, or else (awk is mawk) has the code at the top of
 * most stacks. */
static void take_image(LodeProfiledProgram *self, const char *image)
{
	if (image == NULL || strchr("[<", image[0]) != NULL || lode_is_system_library(image) ||
		(self->image != NULL && has_name(self->image, self->name)))
		return;
	if (self->image == NULL || has_name(image, self->name))
		self->image = image;
}

static void sum_samples(LodeProfiledPrograms *self)
{
	const LodeStacks *stacks = self->profile->stacks;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != self->event)
			continue;
		LodeProfiledProgram *program = program_at(self, self->program_of[sample->thread]);
		program->weight += sample->weight;
		if (sample->stack == LODE_NONE)
			continue;
		program->own += self->is_own[sample->stack] ? sample->weight : 0;
		for (uint32_t at = sample->stack; at != LODE_NONE;) {
			const LodeStack *stack = &LODE_AT(stacks->stacks, LodeStack, at);
			take_image(program, LODE_AT(stacks->frames, LodeFrame, stack->frame).image);
			at = stack->outer;
		}
	}
}

/* Without a sample in a program's own code, the profile may have its image all the same. */
static void find_unsampled_images(LodeProfiledPrograms *self)
{
	const GArray *images = self->profile->code.images;

	for (guint i = 0; i < self->programs->len; i++)
		for (guint k = 0; k < images->len; k++) {
			const LodeImage *image = &LODE_AT(images, LodeImage, k);
			LodeProfiledProgram *program = program_at(self, i);
			if (image->kind == LODE_IMAGE_FILE && has_name(image->path, program->name))
				take_image(program, image->path);
		}
}

static bool has_lines(const LodeProfile *profile, const char *path)
{
	for (guint i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *row = lode_profile_instruction(profile, i);
		uint32_t image = lode_profile_function(profile, row->function)->image;
		if (row->location != LODE_NONE &&
			strcmp(lode_profile_image(profile, image)->path, path) == 0)
			return true;
	}
	return false;
}

/* Whether it executes its user's program as data: a script, or code that it compiles. */
static bool has_inner_programs(const LodeProfile *profile)
{
	for (guint i = 0; i < profile->code.images->len; i++) {
		LodeImageKind kind = lode_profile_image(profile, i)->kind;
		if (kind == LODE_IMAGE_JIT || lode_image_kind_is_script(kind))
			return true;
	}
	return false;
}

/* Of a program alone more must be known: where it is, that it does not execute its user's, and that
 * nobody has its source text at hand. */
static bool is_foreign(const LodeProfiledPrograms *self, const LodeProfiledProgram *program)
{
	if (!(program->weight > 0) || program->own >= LEAST_OWN * program->weight)
		return false;
	if (program->image == NULL)
		return self->are_several;
	if (!lode_is_of_others(program->image))
		return false;
	return self->are_several ||
	       (!lode_is_run_time_code(program->image) && !has_inner_programs(self->profile) &&
		       !has_lines(self->profile, program->image));
}

/* Their numbers change: those of threads, too. */
static void sort_programs(LodeProfiledPrograms *self)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
	g_autofree const char **names = g_new(const char *, (gsize)self->programs->len + 1);

	for (guint i = 0; i < self->programs->len; i++)
		names[i] = program_at(self, i)->name;
	g_array_sort(self->programs, compare_programs);
	for (guint i = 0; i < self->programs->len; i++)
		g_hash_table_insert(
			numbers, (char *)program_at(self, i)->name, GUINT_TO_POINTER(i));
	for (guint i = 0; i < self->profile->stacks->threads->len; i++)
		self->program_of[i] = GPOINTER_TO_UINT(
			g_hash_table_lookup(numbers, names[self->program_of[i]]));
}

LodeProfiledPrograms *lode_profiled_programs_new(const LodeDiagnosisContext *context)
{
	const LodeProfile *profile = context->profile;
	const LodeStacks *stacks = profile->stacks;

	if (stacks == NULL || stacks->samples->len == 0 || stacks->threads->len == 0 ||
		!(context->total > 0))
		return NULL;
	LodeProfiledPrograms *self = g_new0(LodeProfiledPrograms, 1);
	uint32_t sampled = lode_profile_event_as_sampled(profile, context->event);
	self->profile = profile;
	self->event = sampled != LODE_NONE ? sampled : context->event;
	self->programs = g_array_new(FALSE, FALSE, sizeof(LodeProfiledProgram));
	self->program_of = g_new0(uint32_t, (gsize)stacks->threads->len + 1);
	self->is_own = g_new0(bool, (gsize)stacks->stacks->len + 1);
	self->are_several = lode_waits_have_programs(profile->waits);
	find_programs(self);
	find_own(self);
	sum_samples(self);
	find_unsampled_images(self);
	for (guint i = 0; i < self->programs->len; i++)
		program_at(self, i)->is_foreign = is_foreign(self, program_at(self, i));
	sort_programs(self);
	return self;
}

void lode_profiled_programs_free(LodeProfiledPrograms *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->programs);
	g_free(self->program_of);
	g_free(self->is_own);
	g_free(self);
}
