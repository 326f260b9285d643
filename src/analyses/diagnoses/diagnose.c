/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/diagnose.h"

#include "analyses/diagnoses/code_diagnoses.h"
#include "analyses/diagnoses/diagnosis_context.h"
#include "analyses/diagnoses/diagnosis_evidence.h"
#include "analyses/diagnoses/programs/program_rules.h"
#include "analyses/diagnoses/rules/service_rules.h"
#include "analyses/diagnoses/service_diagnoses.h"
#include "analyses/diagnoses/thread_diagnoses.h"
#include "base/arrays/sort_order.h"
#include "model/findings.h"
#include "model/lines/own_lines.h"
#include "model/profile.h"
#include "model/waits.h"

#include <math.h>
#include <string.h>

/* Pages are touched by what allocates or copies: where both may save the same, that comes first. */
static bool is_fault(const LodeDiagnosis *self)
{
	return strcmp(self->cause, "page-fault") == 0;
}

/* Most of the time is in code that the compiler did not optimise: nothing else that the profile
 * says of it holds afterwards. */
static bool is_build(const LodeDiagnosis *self)
{
	return strcmp(self->cause, LODE_UNOPTIMISED) == 0 && self->time >= 0.5;
}

/* Most of the processor time is spent by looking whether another thread has gone on: what that one
 * waits for may take as long by the clock, but the processor is free for others. */
static bool is_spin(const LodeDiagnosis *self)
{
	return strcmp(self->cause, "lock") == 0 && self->scope != LODE_SCOPE_WAIT &&
	       self->time >= 0.5;
}

/* A service or the kernel that is called from nobody knows where: the user cannot look there. */
static bool has_no_place(const LodeDiagnosis *self)
{
	return (self->scope == LODE_SCOPE_SERVICE || self->scope == LODE_SCOPE_KERNEL) &&
	       self->site.function == NULL && self->site.file == NULL &&
	       (self->site.instruction == LODE_NONE || self->scope == LODE_SCOPE_KERNEL);
}

/* A lock that saves a smaller part of the clock stands by what it saves, however many threads wait.
 */
static const double MUCH_BY_CLOCK = 0.25;

/* What a diagnosis may save. Threads that wait for a lock wait for what it makes serial, whose own
 * costs save less than they seem to: each of them is counted. */
static double saving_of(const LodeDiagnosis *self, bool is_by_clock)
{
	double saves = is_by_clock && !is_spin(self) ? self->clock_high : self->high;

	if (is_by_clock && strcmp(self->cause, "wait-lock") == 0 && saves >= MUCH_BY_CLOCK)
		saves = MAX(saves, self->clock);
	return saves * (has_no_place(self) ? 0.5 : 1);
}

/* By what they may save, which counts half without a place, then by their time. */
static int compare_diagnoses(const void *a, const void *b, void *data)
{
	const LodeDiagnosis *first = *(const LodeDiagnosis *const *)a;
	const LodeDiagnosis *second = *(const LodeDiagnosis *const *)b;
	bool is_by_clock = ((const LodeDiagnoses *)data)->is_by_clock;
	double most = saving_of(first, is_by_clock), other = saving_of(second, is_by_clock);

	if (is_build(first) != is_build(second))
		return is_build(first) ? -1 : 1;
	if (is_spin(first) != is_spin(second))
		return is_spin(first) ? -1 : 1;
	if (most != other)
		return most > other ? -1 : 1;
	if (is_fault(first) != is_fault(second))
		return is_fault(first) ? 1 : -1;
	if (first->time != second->time)
		return first->time > second->time ? -1 : 1;
	return strcmp(first->cause, second->cause);
}

/* How many functions are inlined around the own line of an instruction; G_MAXUINT: it has none. */
static guint depth_of_line(const LodeOwnLines *own, uint32_t instruction)
{
	g_autoptr(GArray) chain = lode_own_lines_chain(own, instruction);

	for (guint i = 0; i < chain->len; i++)
		if (g_array_index(chain, LodeInlinedLine, i).is_own)
			return i;
	return G_MAXUINT;
}

/* The function that the own line of an instruction is of; NULL: not known. */
static const char *function_of_line(const LodeOwnLines *own, uint32_t instruction)
{
	g_autoptr(GArray) chain = lode_own_lines_chain(own, instruction);
	guint depth = depth_of_line(own, instruction);

	return depth < chain->len ? g_array_index(chain, LodeInlinedLine, depth).function : NULL;
}

/* The costliest place with an own line names a diagnosis of code. */
static void name_place(LodeDiagnosis *self, const LodeDiagnosisContext *context)
{
	const LodeProfile *profile = context->profile;
	bool is_search = strcmp(self->cause, "linear-search") == 0, has_line = false;

	if (self->at->len == 0)
		return;
	self->site.instruction = g_array_index(self->at, LodeFindingPlace, 0).instruction;
	for (guint i = 0; i < self->at->len && (is_search || !has_line); i++) {
		uint32_t at = g_array_index(self->at, LodeFindingPlace, i).instruction;
		uint32_t line = lode_own_lines_find(context->own, at);
		if (line == LODE_NONE || !lode_own_lines_is_own(context->own, line))
			continue;
		/* A search is where it begins, not in the comparison that is inlined there. */
		if (!has_line || depth_of_line(context->own, at) <
					 depth_of_line(context->own, self->site.instruction))
			self->site.instruction = at;
		has_line = true;
	}
	uint32_t line = lode_own_lines_find(context->own, self->site.instruction);
	const LodeFunction *row = lode_profile_function(
		profile, lode_profile_instruction(profile, self->site.instruction)->function);
	const char *function = row->name;
	/* What a library does in the kernel, its caller asked for. */
	if (self->scope == LODE_SCOPE_KERNEL && self->site.function == NULL &&
		lode_is_system_library(lode_profile_image(profile, row->image)->path))
		return;
	/* A caller without lines is not in the file of what it calls: "main (read.c:26)". */
	bool is_same = self->site.function == NULL || strcmp(self->site.function, function) == 0;
	if (line != LODE_NONE && self->site.file == NULL && is_same) {
		const LodeLocation *location = &LODE_AT(
			profile->code.locations, LodeLocation, line);
		const char *inlined = function_of_line(context->own, self->site.instruction);
		self->site.file = g_strdup(location->file);
		self->site.line = location->line;
		if (inlined != NULL && strcmp(inlined, "?") != 0 && strcmp(inlined, function) != 0)
			self->site.inlined = inlined;
	}
	if (self->site.function == NULL)
		self->site.function = g_strdup(function);
}

/* Only causes in code have authors: a user can call a service or the kernel differently, or with
 * other settings, and a wait is its caller's doing. */
static void name_authors(LodeDiagnosis *self, const LodeProfile *profile)
{
	if (self->site.instruction == LODE_NONE || self->scope == LODE_SCOPE_SERVICE ||
		self->scope == LODE_SCOPE_KERNEL || self->scope == LODE_SCOPE_WAIT)
		return;
	uint32_t function = lode_profile_instruction(profile, self->site.instruction)->function;
	const LodeImage *image = lode_profile_image(
		profile, lode_profile_function(profile, function)->image);
	g_autofree char *base = g_path_get_basename(image->path);
	if (image->kind == LODE_IMAGE_FILE && lode_is_of_others(image->path))
		self->authors = g_steal_pointer(&base);
}

/* Whether it is a cause in the code of an interpreter, or in a script, which has no code of the
 * processor. */
static bool is_inner(const LodeDiagnosis *self, const LodeProfile *profile)
{
	if (self->site.instruction == LODE_NONE || self->scope == LODE_SCOPE_SERVICE ||
		self->scope == LODE_SCOPE_KERNEL || self->scope == LODE_SCOPE_WAIT)
		return false;
	uint32_t function = lode_profile_instruction(profile, self->site.instruction)->function;
	const LodeImage *image = lode_profile_image(
		profile, lode_profile_function(profile, function)->image);
	return lode_image_kind_is_script(image->kind) || lode_is_run_time_code(image->path);
}

/* Who wrote a script cannot change the interpreter: import --native has what is to be said of it.
 */
static void drop_inner(LodeDiagnoses *self, const LodeDiagnosisContext *context)
{
	if (context->costs == NULL || !lode_function_costs_have_scripts(context->costs))
		return;
	for (guint i = self->diagnoses->len; i-- > 0;)
		if (is_inner(lode_diagnoses_at(self, i), context->profile))
			g_ptr_array_remove_index(self->diagnoses, i);
}

/* The instructions of its places, as keys with 1 added; the caller unrefs it. */
static GHashTable *instructions_of(const LodeDiagnosis *self)
{
	GHashTable *set = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < self->at->len; i++)
		g_hash_table_add(
			set, GUINT_TO_POINTER(
				     g_array_index(self->at, LodeFindingPlace, i).instruction + 1));
	return set;
}

/* The share of the time of places that is at some instructions. */
static double share_at(const LodeFindingPlace *places, size_t n, GHashTable *instructions)
{
	double all = 0, there = 0;

	for (size_t i = 0; i < n; i++) {
		all += places[i].time;
		if (g_hash_table_contains(
			    instructions, GUINT_TO_POINTER(places[i].instruction + 1)))
			there += places[i].time;
	}
	return all > 0 ? there / all : 0;
}

static double overlap(const LodeDiagnosis *self, const LodeDiagnosis *other)
{
	g_autoptr(GHashTable) its = instructions_of(other);

	return share_at((const LodeFindingPlace *)(const void *)self->at->data, self->at->len, its);
}

static void link_findings(LodeDiagnosis *self, const LodeFindings *findings)
{
	g_autoptr(GHashTable) its = instructions_of(self);

	/* The places of a service are calls of it. */
	if (self->scope == LODE_SCOPE_SERVICE)
		return;
	for (uint32_t i = 0; findings != NULL && i < findings->findings->len; i++) {
		const LodeFinding *finding = lode_findings_at(findings, i);
		if (finding->n_places > 0 &&
			2 * share_at(&g_array_index(findings->places, LodeFindingPlace,
					     finding->first_place),
				    finding->n_places, its) >=
				1)
			g_array_append_val(self->findings, i);
	}
}

/* Why the instructions of others wait, or whose they are. */
static bool stands_for_others(const LodeDiagnosis *self)
{
	return self->scope == LODE_SCOPE_SERVICE || strcmp(self->cause, "shared-line") == 0;
}

/* Diagnoses of code that is for the most part another one's: of a service, or of a line that
 * threads take away from each other. */
static void drop_explained(LodeDiagnoses *self)
{
	for (guint i = self->diagnoses->len; i > 0; i--) {
		const LodeDiagnosis *one = lode_diagnoses_at(self, i - 1);
		bool is_explained = false;
		for (guint k = 0; k < self->diagnoses->len && !stands_for_others(one); k++) {
			const LodeDiagnosis *other = lode_diagnoses_at(self, k);
			is_explained |= stands_for_others(other) && !other->is_inlined &&
			                2 * overlap(one, other) >= 1;
		}
		if (is_explained)
			g_ptr_array_remove_index(self->diagnoses, i - 1);
	}
}

/* Whether the kernel is entered where the service is called. Inlined code of a library has no line
 * of the user's: then it is the function alone. */
static bool is_at_call(const LodeDiagnosis *kernel, const LodeDiagnosis *service)
{
	if (kernel->site.file == NULL || kernel->site.line == 0)
		return kernel->site.function != NULL &&
		       g_strcmp0(kernel->site.function, service->site.function) == 0;
	return kernel->site.line == service->site.line &&
	       g_strcmp0(kernel->site.file, service->site.file) == 0;
}

/* The service with most time of those that are called where the kernel is entered from; NULL: none.
 */
static LodeDiagnosis *service_that_enters(const LodeDiagnoses *self, const LodeDiagnosis *kernel)
{
	LodeDiagnosis *found = NULL;

	for (guint i = 0; i < self->diagnoses->len; i++) {
		LodeDiagnosis *one = lode_diagnoses_at(self, i);
		if (one->scope == LODE_SCOPE_SERVICE && is_at_call(kernel, one) &&
			(found == NULL || one->time > found->time))
			found = one;
	}
	return found;
}

/* Whether a service makes the system call that most of the kernel's time is in. */
static bool is_its_call(const LodeDiagnosis *service, const LodeDiagnosis *kernel)
{
	g_auto(GStrv) globs = g_strsplit(service->enters != NULL ? service->enters : "", ";", 0);
	bool is_any = false;

	for (guint i = 0; globs[i] != NULL && kernel->service != NULL; i++)
		is_any |= g_pattern_match_simple(globs[i], kernel->service);
	return is_any && strcmp(kernel->cause, "system-call") == 0;
}

static void put_last_evidence_first(LodeDiagnosis *self)
{
	guint last = self->evidence->len - 1;
	LodeEvidence one = g_array_index(self->evidence, LodeEvidence, last);

	for (guint i = last; i > 0; i--)
		g_array_index(self->evidence, LodeEvidence, i) = g_array_index(
			self->evidence, LodeEvidence, i - 1);
	g_array_index(self->evidence, LodeEvidence, 0) = one;
}

/* The time of a system call that a service makes by itself is the service's. */
static void give_calls_to_services(LodeDiagnoses *self)
{
	for (guint i = self->diagnoses->len; i-- > 0;) {
		const LodeDiagnosis *kernel = lode_diagnoses_at(self, i);
		LodeDiagnosis *found = NULL;
		for (guint k = 0; kernel->scope == LODE_SCOPE_KERNEL && k < self->diagnoses->len;
			k++) {
			LodeDiagnosis *one = lode_diagnoses_at(self, k);
			if (one->scope == LODE_SCOPE_SERVICE && is_at_call(kernel, one) &&
				is_its_call(one, kernel) &&
				(found == NULL || one->time > found->time))
				found = one;
		}
		if (found == NULL || !lode_diagnosis_saves(found))
			continue;
		found->time = MIN(found->time + kernel->time, 1);
		lode_diagnosis_add_evidence(found, 100 * found->time, "%",
			"%.1f %% of the time, of it %.0f %% in the kernel by %s", 100 * found->time,
			100 * kernel->time / found->time, kernel->service);
		put_last_evidence_first(found);
		found->time_error = hypot(found->time_error, kernel->time_error);
		found->low = isnan(kernel->low) ? found->low : found->low + kernel->low;
		found->high = MIN(found->high + kernel->high, 0.99);
		g_ptr_array_remove_index(self->diagnoses, i);
	}
}

/* A service that has so much of the pages' time and is called where they are touched makes what
 * lies in them. */
static const double OF_TOUCHED = 0.1;

/* Whether the pages are those of texts and copies that the service makes for a script: what is said
 * of it is their cause, too. What allocates, clears or loads may be called for any. */
static bool is_maker(const LodeDiagnosis *service, const LodeDiagnosis *kernel,
	const LodeDiagnosisContext *context)
{
	static const char *const makers[] = {"service-string", "service-builtin",
		"service-reflection", "service-allocator", NULL};

	return context->costs != NULL && lode_function_costs_have_scripts(context->costs) &&
	       strcmp(kernel->cause, "page-fault") == 0 &&
	       g_strv_contains(makers, service->cause) &&
	       service->time >= OF_TOUCHED * kernel->time;
}

/* A line that no longer calls a service no longer enters the kernel by it, either: what takes more
 * of both is the cause, and the other one may stay. */
static void join_kernel(LodeDiagnoses *self, const LodeDiagnosisContext *context)
{
	for (guint i = 0; i < self->diagnoses->len; i++) {
		LodeDiagnosis *kernel = lode_diagnoses_at(self, i);
		LodeDiagnosis *service = kernel->scope == LODE_SCOPE_KERNEL
		                                 ? service_that_enters(self, kernel)
		                                 : NULL;
		if (service == NULL || !lode_diagnosis_saves(service) ||
			(service->time < kernel->time && !lode_diagnosis_saves(kernel)))
			continue;
		double both = MIN(service->high + kernel->high, 0.99);
		bool makes = is_maker(service, kernel, context);
		if (makes || service->time >= kernel->time) {
			lode_diagnosis_add_evidence(service, 100 * both, "%",
				"with the time in the kernel, which its line enters: up to %.0f %%",
				100 * both);
			service->high = both;
			kernel->low = kernel->high = makes ? 0 : kernel->high;
		} else {
			lode_diagnosis_add_evidence(kernel, 100 * both, "%",
				"with the time of %s, called in the same line: up to %.0f %%",
				service->service, 100 * both);
			kernel->high = both;
		}
	}
}

/* Whether objects are made by a run-time environment that collects them: Java, Node.js, Go. */
static bool collects_garbage(const LodeProfile *profile)
{
	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		if (lode_profile_image(profile, function->image)->kind == LODE_IMAGE_JIT ||
			strcmp(function->name, "runtime.mallocgc") == 0)
			return true;
	}
	return false;
}

static bool makes_pages(const LodeDiagnosis *self)
{
	return self->scope == LODE_SCOPE_KERNEL &&
	       (strcmp(self->cause, "page-fault") == 0 || strcmp(self->cause, "kernel-time") == 0);
}

/* A service with less time than this part of the pages' makes few of the objects. */
static const double OF_PAGES = 0.5;

/* Whether a service is what makes the objects that are collected later: the collection itself has
 * no place, and is none. */
static bool makes_objects(const LodeDiagnosis *service, const LodeDiagnosis *kernel)
{
	return service->site.function != NULL && service->time >= OF_PAGES * kernel->time;
}

/* New objects need new pages, which the kernel makes when they are touched first: by whoever asks
 * for memory, and with garbage collection by most of what is called. What is called where the
 * kernel is entered from is joined with it anyway. */
static void join_new_pages(LodeDiagnoses *self, const LodeProfile *profile)
{
	bool is_collected = collects_garbage(profile);
	LodeDiagnosis *kernel = NULL;
	const LodeDiagnosis *entering = NULL;
	bool has_maker = false;

	for (guint i = 0; i < self->diagnoses->len && kernel == NULL; i++)
		kernel = makes_pages(lode_diagnoses_at(self, i)) ? lode_diagnoses_at(self, i)
		                                                 : NULL;
	if (kernel != NULL)
		entering = service_that_enters(self, kernel);
	for (guint i = 0; i < self->diagnoses->len && kernel != NULL; i++) {
		LodeDiagnosis *one = lode_diagnoses_at(self, i);
		double both = MIN(one->high + kernel->high, 0.99);
		has_maker |= one->scope == LODE_SCOPE_SERVICE && lode_diagnosis_saves(one);
		if (one->scope != LODE_SCOPE_SERVICE || one == entering ||
			!lode_diagnosis_saves(one) || both < one->high + 0.01 ||
			!(is_collected ? makes_objects(one, kernel)
				       : strcmp(one->cause, "service-allocator") == 0))
			continue;
		lode_diagnosis_add_evidence(one, 100 * both, "%",
			"with the time in the kernel, which makes pages for new objects: up to "
			"%.0f %%",
			100 * both);
		one->high = both;
	}
	/* Whoever makes objects cannot do without their pages but by making fewer. */
	if (kernel != NULL && is_collected && has_maker)
		kernel->low = kernel->high = 0;
}

static bool has_name_of_other(const LodeDiagnoses *self, guint index, guint end)
{
	for (guint i = 0; i < end; i++)
		if (i != index && strcmp(lode_diagnoses_at(self, i)->name,
					  lode_diagnoses_at(self, index)->name) == 0)
			return true;
	return false;
}

static void append_to_name(LodeDiagnosis *self, const char *text)
{
	char *name = g_strdup_printf("%s (%s)", self->name, text);

	g_free(self->name);
	self->name = name;
}

/* Functions of one name are told apart by their files, else by numbers. */
static void tell_apart(LodeDiagnoses *self)
{
	g_autofree bool *is_shared = g_new0(bool, MAX(self->diagnoses->len, 1));
	guint n = self->diagnoses->len;

	for (guint i = 0; i < n; i++)
		is_shared[i] = has_name_of_other(self, i, n);
	for (guint i = 0; i < n; i++) {
		LodeDiagnosis *one = lode_diagnoses_at(self, i);
		g_autofree char *file = is_shared[i] && one->site.file != NULL
		                                ? g_path_get_basename(one->site.file)
		                                : NULL;
		if (file != NULL)
			append_to_name(one, file);
	}
	for (guint i = 1, number = 2; i < n; i++) {
		g_autofree char *text = g_strdup_printf("%u", number);
		if (!has_name_of_other(self, i, i))
			continue;
		append_to_name(lode_diagnoses_at(self, i), text);
		number++;
	}
}

/* Whether it takes less than is worth a line, or may do so by chance. Of 23 programs that were
 * recorded twice, three more have the same first three diagnoses without such. */
static bool is_small(const LodeDiagnosis *self)
{
	static const double least = 0.04, errors = 2, much_saved = 0.25;

	return self->scope != LODE_SCOPE_WAIT && self->time - errors * self->time_error < least &&
	       self->high < much_saved;
}

static void set_small_aside(LodeDiagnoses *self)
{
	for (guint i = 0; i < self->diagnoses->len;) {
		const LodeDiagnosis *one = lode_diagnoses_at(self, i);
		if (is_small(one) || lode_diagnoses_is_small_by_clock(self, one))
			lode_diagnoses_set_aside(self, i);
		else
			i++;
	}
}

/* A program that runs for a smaller part of the clock waits, also where it is not known for what.
 */
static const double HARDLY_RUNS = 0.2;

/* Sets what diagnoses take and save of the time by the clock: their shares of all processor time
 * hold for the critical path, where one is known. */
static void set_clock(LodeDiagnoses *self, const LodeWaits *waits)
{
	double threads = waits->running_ns + waits->waiting_ns;
	double running = waits->has_path ? waits->path_running_ns : waits->running_ns;

	self->has_clock = waits->clock_ns > 0;
	self->is_by_clock = self->has_clock && waits->has_path &&
	                    waits->path_running_ns < HARDLY_RUNS * waits->clock_ns;
	for (guint i = 0; i < self->diagnoses->len && self->has_clock; i++) {
		LodeDiagnosis *one = lode_diagnoses_at(self, i);
		self->is_by_clock |= one->scope == LODE_SCOPE_WAIT;
		if (one->scope == LODE_SCOPE_WAIT || is_spin(one))
			continue;
		one->clock = threads > 0 ? one->time * waits->running_ns / threads : 0;
		one->clock_high = one->high * MIN(running / waits->clock_ns, 1);
	}
}

/* A program with so much of the time is what the others wait for. */
static const double MOST_OF_TIME = 0.5;

/* Who waits at a pipe for a program that is told of waits for what costs there. */
static void drop_pipes(LodeDiagnoses *self)
{
	for (guint i = self->diagnoses->len; i-- > 0;) {
		const LodeDiagnosis *pipe = lode_diagnoses_at(self, i);
		bool is_told = false;
		if (strcmp(pipe->cause, "wait-pipe") != 0 || pipe->object == NULL)
			continue;
		for (guint k = 0; k < self->diagnoses->len && !is_told; k++) {
			const LodeDiagnosis *one = lode_diagnoses_at(self, k);
			const char *program = one->scope == LODE_SCOPE_PROGRAM
			                              ? strchr(one->name, '@')
			                              : NULL;
			is_told = program != NULL && (strcmp(program + 1, pipe->object) == 0 ||
							     one->time >= MOST_OF_TIME);
		}
		if (is_told)
			g_ptr_array_remove_index(self->diagnoses, i);
	}
}

static void finish(LodeDiagnoses *self, const LodeDiagnosisContext *context)
{
	drop_explained(self);
	join_new_pages(self, context->profile);
	give_calls_to_services(self);
	join_kernel(self, context);
	for (guint i = 0; i < self->diagnoses->len; i++) {
		LodeDiagnosis *one = lode_diagnoses_at(self, i);
		name_place(one, context);
		name_authors(one, context->profile);
		link_findings(one, context->findings);
		if (one->name == NULL)
			one->name = g_strdup_printf("%s@%s", one->cause,
				one->service != NULL  ? one->service
				: one->object != NULL ? one->object
				: one->scope == LODE_SCOPE_FUNCTIONS || one->site.function == NULL
					? lode_scope_kind_to_text(one->scope)
					: one->site.function);
		g_array_set_size(one->at, MIN(one->at->len, LODE_FINDING_PLACES));
	}
	drop_inner(self, context);
	if (!self->is_too_short)
		lode_program_diagnoses_add(self, context);
	drop_pipes(self);
	tell_apart(self);
	if (context->profile->waits != NULL)
		set_clock(self, context->profile->waits);
	g_ptr_array_sort_with_data(self->diagnoses, compare_diagnoses, self);
	lode_wait_diagnoses_join(self);
	lode_foreign_diagnoses_set_aside(self, context);
	set_small_aside(self);
	lode_wait_diagnoses_tell_overlaps(self);
	for (guint i = 0; i < self->diagnoses->len; i++)
		self->covered += lode_diagnoses_at(self, i)->time;
	self->covered = MIN(self->covered, 1);
}

/* The kernel's account tells how much of so long was in it, where few samples are of user code. */
#define LONG_SECONDS 0.5

LodeDiagnoses *lode_diagnose(const LodeProfile *profile, const LodeFindings *findings,
	uint32_t event, const char *const *own)
{
	LodeDiagnoses *self = lode_diagnoses_new();

	self->seconds = profile->run.user_seconds + profile->run.system_seconds;
	if (!profile->run.is_kernel_sampled && self->seconds > 0)
		self->user = profile->run.user_seconds / self->seconds;
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_new();
	g_autoptr(LodeOwnLines) lines = lode_own_lines_new(profile, own);
	if (event == LODE_NONE) {
		const LodeDiagnosisContext none = {
			.profile = profile, .own = lines, .event = LODE_NONE};
		self->weight = g_strdup("time");
		lode_wait_diagnoses_add(self, &none, rules);
		finish(self, &none);
		return self;
	}
	const LodeCostedFunctions *functions = self->functions = lode_costed_functions_new(
		profile, event, own);
	LodeDiagnosisContext context = {profile, findings, event,
		lode_profile_event(profile, event)->total, self->user, lines, functions->costs,
		functions->families, functions->family_of, functions->services};
	self->weight = g_strdup(lode_diagnosis_weight(&context));
	self->is_too_short = profile->run.n_samples > 0 &&
	                     profile->run.n_samples < LODE_FEWEST_SAMPLES &&
	                     self->seconds < LONG_SECONDS;
	lode_wait_diagnoses_add(self, &context, rules);
	if (self->is_too_short) {
		finish(self, &context);
		return self;
	}
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context);
	lode_place_diagnoses_add(self, code, rules);
	lode_unoptimised_diagnosis_add(self, code, rules);
	lode_sharing_diagnoses_add(self, &context);
	lode_service_diagnoses_add(self, code);
	lode_files_again_add(self, code, rules);
	lode_repeated_calls_add(self, code, rules);
	lode_kernel_diagnoses_add(self, &context);
	finish(self, &context);
	return self;
}

/* Explanations of findings have none. */
static void add_cause(GPtrArray *words, const char *cause)
{
	if (cause != NULL && !g_ptr_array_find_with_equal_func(words, cause, g_str_equal, NULL))
		g_ptr_array_add(words, g_strdup(cause));
}

char **lode_diagnose_causes(void)
{
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_new();
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autoptr(LodeServiceRules) services = lode_service_rules_new(families);
	g_autoptr(LodeProgramRules) programs = lode_program_rules_new();
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	for (size_t i = 0; i < lode_cause_rules_n(rules); i++)
		add_cause(words, lode_cause_rules_at(rules, i)->cause);
	for (guint i = 0; i < lode_service_rules_n(services); i++)
		add_cause(words, lode_service_rules_at(services, i)->cause);
	for (guint i = 0; i < lode_program_rules_n(programs); i++)
		add_cause(words, lode_program_rules_at(programs, i)->cause);
	g_ptr_array_sort(words, lode_compare_texts);
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&words), FALSE);
}
