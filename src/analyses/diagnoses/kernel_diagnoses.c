/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses of the time in the kernel, by what entered it and from which line of the user's:
 *
 *   kernel sampled     its events (kernel:syscall:write …), grouped by rules of services.ini
 *   not sampled        one: its share of the processor time by the kernel's accounts. System calls,
 *                      if samples lie at them and the page faults do not take half of it, or if
 *                      half of it went into the start of so many threads; page faults, if they do
 *                      take half, or where no samples lie there can take a quarter; else not known
 *                      which
 *
 * A page fault is taken to cost 0.5 to 2 µs: 1.6 µs on a virtual machine of Zen 5 (Linux 6.1, pages
 * of 4 KiB, 524,288 faults). One of a huge page costs hundreds.
 *
 * The time of a C library's function that enters the kernel, as write, is added where the user's
 * code calls it and no diagnosis of services has it.
 */
#include "analyses/diagnoses/diagnosis_context.h"

#include "analyses/diagnoses/rules/service_rules.h"
#include "base/arrays/sort_order.h"
#include "model/findings.h"
#include "model/memory.h"
#include "model/profile.h"
#include "model/stacks.h"

#include <math.h>
#include <string.h>

/* Seconds of a page fault. */
static const double FAULT_LEAST = 0.5e-6, FAULT_USUAL = 1.2e-6, FAULT_MOST = 2e-6;

/* Seconds that a thread takes to be started and to end: 36 µs on a virtual machine of Zen 5 at a
 * load of 15, 60 µs when it is idle, as the other processor has to be woken (Linux 6.1, a stack of
 * its own, joined). One that is shorter than the distance of samples has none. */
static const double THREAD_USUAL = 36e-6, THREAD_MOST = 60e-6;

/* The least of the processor time, where the kernel was not sampled: the start of a short program
 * takes some. */
static const double LEAST_ACCOUNTED = 0.05;

/* The user's code that enters the kernel goes with it, too, and after each call the processor
 * begins anew: 9 pairs of programs, of files, threads and users, save 0.9 to 2 times the time of
 * system calls, calls of 100 ns most, and sqlite3 0.32 by keeping its temporary files in memory.
 * Pages must be touched somewhere: no least is known, and the one pair saves 1.03. */
static const double LEAST_OF_CALLS = 0.3, MOST_OF_CALLS = 2.2, MOST_OF_FAULTS = 1.2,
		    MOST_SAVED = 0.99;

/* System calls have samples of their own: so many, and this share of the weight; fewer where page
 * faults take less than a quarter of the kernel's time. */
static const double LEAST_SAMPLES = 2, LEAST_SHARE = 0.01, LEAST_LEFT_SHARE = 0.003, FEW = 0.25;

#define SYSCALLS "kernel: system calls"
#define FAULTS "kernel: page faults"
#define INTERRUPTS "kernel: interrupts"
#define UNKNOWN "kernel"

/* Time of one kind at one instruction, or in one function. */
typedef struct {
	const LodeServiceRule *rule;
	const char *name; /* of the system call; NULL: not known, or none */
	uint32_t function, instruction;
	double weight;
} Part;

/* A line of the user's that leads there. */
typedef struct {
	const char *function, *file; /* file NULL: not known */
	uint32_t line;
	double weight;
} Caller;

typedef struct {
	LodeDiagnoses *out;
	const LodeDiagnosisContext *context;
	LodeServiceRules *rules;
	GStringChunk *strings;
	GArray *parts; /* Part */
} Diagnosing;

static const LodeServiceRule *find_rule(
	const Diagnosing *self, const char *name, const char *family)
{
	return lode_service_rules_find(
		self->rules, name != NULL ? name : "", "[kernel]", family, NULL);
}

/* --- where time is --- */

static uint32_t function_of(const Diagnosing *self, uint32_t instruction)
{
	return lode_profile_instruction(self->context->profile, instruction)->function;
}

static void add_part(Diagnosing *self, const LodeServiceRule *rule, const char *name,
	uint32_t instruction, double weight)
{
	const Part part = {rule, name, function_of(self, instruction), instruction, weight};

	if (rule != NULL && weight > 0)
		g_array_append_val(self->parts, part);
}

/* The parts of the events of the kernel's time. */
static void take_events(Diagnosing *self)
{
	const LodeProfile *profile = self->context->profile;
	guint n = profile->code.events->len;
	g_autofree const LodeServiceRule **rules = g_new0(const LodeServiceRule *, MAX(n, 1));
	g_autofree const char **names = g_new0(const char *, MAX(n, 1));

	for (guint i = 0; i < n; i++) {
		const char *name = lode_profile_event(profile, i)->name;
		if (!g_str_has_prefix(name, LODE_KERNEL_EVENTS))
			continue;
		name += strlen(LODE_KERNEL_EVENTS);
		bool is_call = g_str_has_prefix(name, "syscall");
		names[i] = g_str_has_prefix(name, "syscall:") ? name + strlen("syscall:") : NULL;
		rules[i] = find_rule(self, names[i],
			is_call                           ? SYSCALLS
			: strcmp(name, "page-fault") == 0 ? FAULTS
			: strcmp(name, "interrupt") == 0  ? INTERRUPTS
							  : UNKNOWN);
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		for (uint32_t k = LODE_AT(profile->code.cost_starts, uint32_t, i);
			k < LODE_AT(profile->code.cost_starts, uint32_t, i + 1); k++) {
			const LodeCost *cost = &LODE_AT(profile->code.costs, LodeCost, k);
			add_part(self, rules[cost->event], names[cost->event], i, cost->value);
		}
}

/* The name of a system call, by the function that makes it; NULL: it may make any. */
static const char *call_of(Diagnosing *self, uint32_t function)
{
	const LodeFunctionCost *one = lode_function_cost_at(self->context->costs, function);
	g_autofree char *name = lode_service_called_name(one);

	return lode_is_system_library(one->image) && strcmp(name, "syscall") != 0
	               ? g_string_chunk_insert_const(self->strings, name + strspn(name, "_"))
	               : NULL;
}

/* The share of the processor time. */
static double share_of(const Diagnosing *self, double weight)
{
	return self->context->total > 0 ? weight / self->context->total * self->context->user : 0;
}

/* Whether a diagnosis of a service has as much time, so that a library's function that makes system
 * calls for another one may be in it, as write is for fflush. */
static bool may_be_in_service(const Diagnosing *self, double weight)
{
	for (guint i = 0; i < self->out->diagnoses->len; i++) {
		const LodeDiagnosis *one = lode_diagnoses_at(self->out, i);
		if (one->scope == LODE_SCOPE_SERVICE && one->time >= share_of(self, weight))
			return true;
	}
	return false;
}

/* The weight at the instructions of system calls. out_direct: of it, what no service has, because
 * the user's code calls the function around directly, makes the call itself, or calls a library's
 * function that no rule names (sigsetjmp). Adds either to the parts. */
static double take_calls(Diagnosing *self, bool is_all, double *out_direct)
{
	const LodeDiagnosisContext *context = self->context;
	const LodeProfile *profile = context->profile;
	double sum = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t function = function_of(self, i);
		double weight = lode_profile_event_value(profile, context->event, i);
		if (!lode_profile_set_has(profile,
			    lode_profile_instruction(profile, i)->attribute_set, "kind:syscall") ||
			!(weight > 0))
			continue;
		const LodeService *service = lode_services_find(
			context->services, function, LODE_NONE);
		const char *name = call_of(self, function);
		bool is_direct = service != NULL ? service->nearest > 0
		                                 : name == NULL || !may_be_in_service(self, weight);
		sum += weight;
		*out_direct += is_direct ? weight : 0;
		if (is_all || is_direct)
			add_part(self, find_rule(self, name, SYSCALLS), name, i, weight);
	}
	return sum;
}

/* --- who leads there --- */

LODE_ORDER(compare_callers, Caller, LODE_DESCENDING(weight), LODE_ASCENDING(line),
	strcmp(left->function, right->function))

static void add_caller(GArray *callers, const LodeFrame *frame, double weight)
{
	const Caller added = {frame->function != NULL ? frame->function : "?",
		frame->line > 0 ? frame->file : NULL, frame->line, weight};

	for (guint i = 0; i < callers->len; i++) {
		Caller *one = &g_array_index(callers, Caller, i);
		if (one->line == added.line && one->file == added.file &&
			strcmp(one->function, added.function) == 0) {
			one->weight += weight;
			return;
		}
	}
	if (callers->len < LODE_FINDING_PLACES)
		g_array_append_val(callers, added);
}

/* Whether it is of a family: HotSpot's stubs and what the class library compiled to are in code
 * made at run time, as the user's own functions are. */
static bool is_of_family(const Diagnosing *self, uint32_t stack)
{
	uint32_t function = lode_function_costs_at_stack(self->context->costs, stack);

	return function != LODE_NONE && self->context->family_of[function] != LODE_NONE;
}

/* The innermost own lines around the samples of an event: where functions are marked, of those
 * whose innermost function in user mode is one of them, and that are in the kernel if it was
 * sampled. */
static GArray *find_callers(const Diagnosing *self, uint32_t event, const bool *is_marked)
{
	const LodeDiagnosisContext *context = self->context;
	const LodeStacks *stacks = context->profile->stacks;
	GArray *callers = g_array_new(FALSE, FALSE, sizeof(Caller));

	for (guint i = 0; stacks != NULL && context->costs->stacks != NULL && event != LODE_NONE &&
			  i < stacks->samples->len;
		i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		uint32_t at = sample->stack;
		if (sample->event != event || at >= stacks->stacks->len)
			continue;
#define FRAME(at)                                                                                  \
	(&LODE_AT(stacks->frames, LodeFrame, LODE_AT(stacks->stacks, LodeStack, at).frame))
#define OUTER(at) (LODE_AT(stacks->stacks, LodeStack, at).outer)
		while (at != LODE_NONE && g_strcmp0(FRAME(at)->image, "[kernel]") == 0)
			at = OUTER(at);
		bool is_in_kernel = at != sample->stack;
		if (at == LODE_NONE ||
			(is_marked != NULL &&
				(is_in_kernel != context->profile->run.is_kernel_sampled ||
					!is_marked[lode_function_costs_at_stack(
						context->costs, at)])))
			continue;
		while (at != LODE_NONE && (!lode_own_lines_is_own_frame(context->own, FRAME(at)) ||
						  is_of_family(self, at)))
			at = OUTER(at);
		if (at != LODE_NONE)
			add_caller(callers, FRAME(at), sample->weight);
#undef FRAME
#undef OUTER
	}
	g_array_sort(callers, compare_callers);
	return callers;
}

/* Where nothing says what enters the kernel: the line that most of the other time is in, if that is
 * this part of it. */
static const double MOSTLY_THERE = 0.4;

static void keep_most(GArray *callers)
{
	double all = 0;

	for (guint i = 0; i < callers->len; i++)
		all += g_array_index(callers, Caller, i).weight;
	if (callers->len > 0 && g_array_index(callers, Caller, 0).weight < MOSTLY_THERE * all)
		g_array_set_size(callers, 0);
}

static void set_callers(LodeDiagnosis *diagnosis, const GArray *callers, const char *unit)
{
	double all = 0, at_line = 0;

	if (callers->len == 0)
		return;
	const Caller *first = &g_array_index(callers, Caller, 0);
	for (guint i = 0; i < callers->len; i++) {
		const Caller *one = &g_array_index(callers, Caller, i);
		all += one->weight;
		at_line += one->file == first->file && one->line == first->line ? one->weight : 0;
	}
	diagnosis->site.function = g_strdup(first->function);
	diagnosis->site.file = g_strdup(first->file);
	diagnosis->site.line = first->line;
	diagnosis->places = diagnosis->functions = callers->len;
	g_autofree char *base = first->file != NULL ? g_path_get_basename(first->file) : NULL;
	g_autofree char *line = base != NULL ? g_strdup_printf("%s:%u", base, first->line)
	                                     : g_strdup(first->function);
	double percent = all > 0 ? 100 * at_line / all : 0;
	lode_diagnosis_add_evidence(
		diagnosis, percent, "%", "%.0f %% of %s from %s", percent, unit, line);
}

/* The instruction with most of an event; LODE_NONE: none has any. */
static uint32_t find_most(const LodeProfile *profile, uint32_t event)
{
	uint32_t most = LODE_NONE;
	double value = 0;

	for (uint32_t i = 0; event != LODE_NONE && i < profile->code.instructions->len; i++) {
		double one = lode_profile_event_value(profile, event, i);
		if (one > value) {
			value = one;
			most = i;
		}
	}
	return most;
}

/* Where stacks say nothing: the callers of the library's function that the instruction with most is
 * in, or its own line. */
static void add_callers_of_most(const Diagnosing *self, uint32_t most, GArray *callers)
{
	const LodeDiagnosisContext *context = self->context;
	const LodeProfile *profile = context->profile;

	if (most == LODE_NONE || callers->len > 0)
		return;
	uint32_t function = function_of(self, most), own = lode_own_lines_find(context->own, most);
	const LodeService *service = lode_services_find(context->services, function, LODE_NONE);
	for (guint i = 0; service != NULL && i < service->n_callers; i++) {
		const LodeServiceCaller *one = lode_service_caller(context->services, service, i);
		const Caller added = {lode_function_cost_at(context->costs, one->function)->name,
			one->file, one->line, one->cost};
		g_array_append_val(callers, added);
	}
	if (service != NULL || own == LODE_NONE || !lode_own_lines_is_own(context->own, own) ||
		lode_is_system_library(lode_function_cost_at(context->costs, function)->image))
		return;
	const LodeLocation *location = &LODE_AT(profile->code.locations, LodeLocation, own);
	const Caller added = {
		lode_profile_function(profile, function)->name, location->file, location->line, 1};
	g_array_append_val(callers, added);
}

/* --- diagnoses --- */

LODE_ORDER(compare_parts, Part, strcmp(left->rule->whole->name, right->rule->whole->name),
	LODE_DESCENDING(weight), LODE_ASCENDING(instruction))
static const Part *part_at(const Diagnosing *self, guint i)
{
	return &g_array_index(self->parts, Part, i);
}

static guint end_of_rule(const Diagnosing *self, guint begin, double *out_weight)
{
	guint end = begin;

	*out_weight = 0;
	for (; end < self->parts->len &&
		part_at(self, end)->rule->whole == part_at(self, begin)->rule->whole;
		end++)
		*out_weight += part_at(self, end)->weight;
	return end;
}

static void join_small(Diagnosing *self)
{
	double weight;

	g_array_sort(self->parts, compare_parts);
	for (guint i = 0, end; i < self->parts->len; i = end) {
		const LodeServiceRule *rule = part_at(self, i)->rule;
		end = end_of_rule(self, i, &weight);
		for (guint k = i; k < end; k++)
			if (rule->rest != NULL && share_of(self, weight) < rule->least)
				g_array_index(self->parts, Part, k).rule = rule->rest;
	}
	g_array_sort(self->parts, compare_parts);
}

static LodeDiagnosis *diagnosis_new(const LodeServiceRule *rule, const char *name)
{
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_KERNEL);

	diagnosis->title = name != NULL ? g_strdup_printf("%s: %s", rule->title, name)
	                                : g_strdup(rule->title);
	diagnosis->service = g_strdup(name != NULL            ? name
				      : rule->service != NULL ? rule->service
							      : rule->title);
	diagnosis->name = g_strdup_printf("%s@%s", rule->cause, diagnosis->service);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	return diagnosis;
}

/* The time at system calls that the code's own rules found is part of what is added here. */
static void add(Diagnosing *self, LodeDiagnosis *diagnosis)
{
	GPtrArray *all = self->out->diagnoses;

	for (guint i = all->len; i-- > 0;) {
		const LodeDiagnosis *other = lode_diagnoses_at(self->out, i);
		if (other->scope != LODE_SCOPE_KERNEL && other->scope != LODE_SCOPE_SERVICE &&
			strcmp(other->cause, diagnosis->cause) == 0)
			g_ptr_array_remove_index(all, i);
	}
	g_ptr_array_add(all, diagnosis);
}

typedef struct {
	const char *name;
	double weight;
} Called;

LODE_ORDER(compare_called, Called, LODE_DESCENDING(weight), strcmp(left->name, right->name))

/* The names of the calls of some parts with their weights, heaviest first; in out_all that of all.
 */
static GArray *names_called(const Diagnosing *self, guint begin, guint end, double *out_all)
{
	GArray *called = g_array_new(FALSE, FALSE, sizeof(Called));

	*out_all = 0;
	for (guint i = begin; i < end; i++) {
		const Part *part = part_at(self, i);
		const Called added = {part->name, part->weight};
		guint k = 0;
		*out_all += part->weight;
		while (part->name != NULL && k < called->len &&
			strcmp(g_array_index(called, Called, k).name, part->name) != 0)
			k++;
		if (part->name != NULL && k == called->len)
			g_array_append_val(called, added);
		else if (part->name != NULL)
			g_array_index(called, Called, k).weight += part->weight;
	}
	g_array_sort(called, compare_called);
	return called;
}

/* The part of all that so few samples tell at least (Wilson's lower bound of a proportion, at one
 * standard error). */
static double least_part(const Diagnosing *self, double weight, double all)
{
	double total = self->context->total;

	if (!(all > 0) || !(total > 0))
		return 0;
	double p = weight / all,
	       n = all / total * lode_profile_equal_samples(self->context->profile);
	return (p + 0.5 / n - sqrt(p * (1 - p) / n + 0.25 / (n * n))) / (1 + 1 / n);
}

/* The name that has half of the weight or more, as far as so few samples can tell; else NULL. */
static const char *most_called(const Diagnosing *self, guint begin, guint end, double *out_share)
{
	double all;
	g_autoptr(GArray) called = names_called(self, begin, end, &all);

	*out_share = 0;
	if (called->len == 0)
		return NULL;
	const Called *first = &g_array_index(called, Called, 0);
	*out_share = first->weight / all;
	return least_part(self, first->weight, all) >= 0.5 ? first->name : NULL;
}

/* Likewise the rule of several names; NULL: none has so much, or it is that of any call. */
static const LodeServiceRule *rule_of_most(const Diagnosing *self)
{
	double all = 0, most = 0, weight;
	const LodeServiceRule *found = NULL;

	for (guint i = 0; i < self->parts->len; i++)
		all += part_at(self, i)->weight;
	for (guint i = 0, end; i < self->parts->len; i = end) {
		end = end_of_rule(self, i, &weight);
		if (weight > most) {
			most = weight;
			found = part_at(self, i)->rule->whole;
		}
	}
	return found != NULL && found->rest != NULL && least_part(self, most, all) >= 0.5 ? found
	                                                                                  : NULL;
}

/* "read 57 %, write 29 %"; NULL: no names are known. */
static char *describe_called(const Diagnosing *self)
{
	enum { N_NAMED = 3 };
	double all;
	g_autoptr(GArray) called = names_called(self, 0, self->parts->len, &all);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < MIN(called->len, N_NAMED); i++) {
		const Called *one = &g_array_index(called, Called, i);
		g_string_append_printf(text, "%s%s %.0f %%", i > 0 ? ", " : "", one->name,
			100 * one->weight / all);
	}
	return g_string_free(text, called->len == 0);
}

static bool *mark_functions(const Diagnosing *self, guint begin, guint end)
{
	bool *is_marked = g_new0(bool, MAX(self->context->costs->functions->len, 1));

	for (guint i = begin; i < end; i++)
		is_marked[part_at(self, i)->function] = true;
	return is_marked;
}

static void add_places(Diagnosing *self, LodeDiagnosis *diagnosis, guint begin, guint end)
{
	for (guint i = begin; i < end; i++) {
		const LodeFindingPlace place = {
			part_at(self, i)->instruction, share_of(self, part_at(self, i)->weight)};
		g_array_append_val(diagnosis->at, place);
	}
	lode_diagnosis_sort_places(diagnosis);
	diagnosis->places = diagnosis->functions = end - begin;
	if (diagnosis->at->len > 0)
		diagnosis->site.instruction =
			g_array_index(diagnosis->at, LodeFindingPlace, 0).instruction;
	g_array_set_size(diagnosis->at, MIN(diagnosis->at->len, LODE_FINDING_PLACES));
}

/* The page faults that were counted; NAN: none were. */
static double count_faults(const LodeProfile *profile)
{
	uint32_t event = lode_profile_find_event(profile, "page-faults");

	return event != LODE_NONE ? lode_profile_event(profile, event)->total : (double)NAN;
}

static void set_saves(LodeDiagnosis *self, const LodeServiceRule *rule)
{
	bool is_calls = strcmp(rule->cause, "system-call") == 0;

	lode_diagnosis_set_saves(self, is_calls ? LEAST_OF_CALLS : (double)NAN,
		(is_calls ? MOST_OF_CALLS : MOST_OF_FAULTS) * rule->factor, MOST_SAVED);
}

static void add_sampled(Diagnosing *self, guint begin, guint end, double weight)
{
	const LodeServiceRule *rule = part_at(self, begin)->rule->whole;
	double samples = lode_profile_equal_samples(self->context->profile), called,
	       share = share_of(self, weight), faults = count_faults(self->context->profile);
	const char *name = most_called(self, begin, end, &called);
	double error = samples > 0 ? sqrt(CLAMP(share * (1 - share), 0, 1) / samples) : 0;

	if (share < rule->least || share < 2 * error)
		return;
	LodeDiagnosis *diagnosis = diagnosis_new(rule, name);
	diagnosis->time = share;
	diagnosis->time_error = error;
	set_saves(diagnosis, rule);
	lode_diagnosis_add_evidence(diagnosis, 100 * share, "%",
		"%s: %.1f %% of the time, in the kernel and entering it",
		name != NULL ? name : diagnosis->service, 100 * share);
	add_places(self, diagnosis, begin, end);
	g_autofree bool *is_marked = mark_functions(self, begin, end);
	g_autoptr(GArray) callers = find_callers(self, self->context->costs->event, is_marked);
	add_callers_of_most(self, diagnosis->site.instruction, callers);
	set_callers(diagnosis, callers, "it");
	if (strcmp(rule->cause, "page-fault") == 0 && faults > 0)
		lode_diagnosis_add_evidence(
			diagnosis, faults, "page faults", "%.0f page faults", faults);
	add(self, diagnosis);
}

static void add_all_sampled(Diagnosing *self)
{
	double weight, direct = 0;

	take_events(self);
	take_calls(self, false, &direct);
	join_small(self);
	for (guint i = 0, end; i < self->parts->len; i = end) {
		end = end_of_rule(self, i, &weight);
		add_sampled(self, i, end, weight);
	}
}

/* Which of the two it mostly is, by the family; see the header. The evidence says how sure it is.
 */
static const char *judge(const Diagnosing *self, double seconds, double at_calls)
{
	const LodeProfile *profile = self->context->profile;
	double faults = count_faults(profile), total = self->context->total;
	double samples = total > 0 ? at_calls / total * profile->run.n_samples : 0;
	double least = faults * FAULT_MOST < FEW * seconds ? LEAST_LEFT_SHARE : LEAST_SHARE;
	bool has_calls = samples >= LEAST_SAMPLES && at_calls >= least * total;

	/* Where there are no samples at system calls, not much else enters the kernel. */
	if (has_calls ? faults * FAULT_USUAL >= 0.5 * seconds
		      : faults * FAULT_MOST >= FEW * seconds)
		return FAULTS;
	return has_calls ? SYSCALLS : UNKNOWN;
}

/* Whether starting threads and processes takes half of the kernel's time; where nothing else is
 * known of it, as long as they take at most. */
static bool is_by_threads(const LodeProfile *profile, bool is_known)
{
	return profile->thread_times->len * (is_known ? THREAD_USUAL : THREAD_MOST) >=
	       0.5 * profile->run.system_seconds;
}

static void add_accounted(Diagnosing *self)
{
	const LodeDiagnosisContext *context = self->context;
	const LodeProfile *profile = context->profile;
	double all = profile->run.user_seconds + profile->run.system_seconds,
	       seconds = profile->run.system_seconds, share = seconds / all, called = 0,
	       error = lode_profile_system_error(profile) / all, faults = count_faults(profile);
	double direct = 0, at_calls = take_calls(self, true, &direct);
	const char *family = judge(self, seconds, at_calls), *name = NULL;
	bool is_faults = strcmp(family, FAULTS) == 0;
	bool is_started = !is_faults && is_by_threads(profile, strcmp(family, UNKNOWN) != 0);
	bool is_calls = is_started || strcmp(family, SYSCALLS) == 0;

	if (!(share >= LEAST_ACCOUNTED) || share < 2 * error)
		return;
	if (is_started)
		name = "clone";
	else if (is_calls)
		name = most_called(self, 0, self->parts->len, &called);
	g_array_sort(self->parts, compare_parts);
	const LodeServiceRule *rule = is_calls && name == NULL ? rule_of_most(self) : NULL;
	if (rule == NULL)
		rule = find_rule(self, name, is_calls ? SYSCALLS : family);
	g_autofree char *names = is_calls ? describe_called(self) : NULL;
	if (share < rule->least)
		return;
	LodeDiagnosis *diagnosis = diagnosis_new(rule, name);
	diagnosis->time = share + (is_calls ? share_of(self, direct) : 0);
	diagnosis->time_error = error;
	set_saves(diagnosis, rule);
	lode_diagnosis_add_evidence(
		diagnosis, 100 * share, "%", "%.1f %% of the time is in the kernel", 100 * share);
	if (is_started)
		lode_diagnosis_add_evidence(diagnosis, profile->thread_times->len, "threads",
			"%u threads and processes were started, at 36 µs each %.2g s of %.2g s",
			profile->thread_times->len, profile->thread_times->len * THREAD_USUAL,
			seconds);
	else if (is_calls && name != NULL)
		lode_diagnosis_add_evidence(diagnosis, 100 * called, "%",
			"%.0f %% of the samples at system calls are in %s", 100 * called, name);
	else if (is_calls && names != NULL)
		lode_diagnosis_add_evidence(diagnosis, 100 * called, "%",
			"samples at system calls are in %s; --kernel says how long each takes",
			names);
	if (faults > 0 && !is_calls)
		lode_diagnosis_add_evidence(diagnosis, faults, "page faults",
			"%.0f page faults, of 0.5 to 2 µs each: %.2g to %.2g s of %.2g s", faults,
			faults * FAULT_LEAST, faults * FAULT_MOST, seconds);
	else if (faults > 0 && faults * FAULT_MOST < 0.5 * seconds)
		lode_diagnosis_rule_out(diagnosis,
			"page faults: %.0f, at 2 µs each %.2g s of %.2g s", faults,
			faults * FAULT_MOST, seconds);
	else if (faults > 0)
		lode_diagnosis_add_evidence(diagnosis, faults, "page faults",
			"%.0f page faults take some of it, %.2g to %.2g s of %.2g s", faults,
			faults * FAULT_LEAST, faults * FAULT_MOST, seconds);
	g_autofree bool *is_marked = is_calls ? mark_functions(self, 0, self->parts->len) : NULL;
	g_autoptr(GArray) callers = find_callers(self,
		is_faults ? lode_profile_find_event(profile, "page-faults") : context->costs->event,
		is_marked);
	if (!is_faults && !is_calls)
		keep_most(callers);
	if (is_calls)
		add_places(self, diagnosis, 0, self->parts->len);
	if (is_faults)
		add_callers_of_most(self,
			find_most(profile, lode_profile_find_event(profile, "page-faults")),
			callers);
	if (is_calls)
		add_callers_of_most(self, diagnosis->site.instruction, callers);
	set_callers(diagnosis, callers,
		is_faults  ? "the sampled page faults are"
		: is_calls ? "the samples at system calls are"
			   : "the other time is");
	add(self, diagnosis);
}

void lode_kernel_diagnoses_add(LodeDiagnoses *out, const LodeDiagnosisContext *context)
{
	Diagnosing self = {.out = out,
		.context = context,
		.rules = lode_service_rules_new(context->families),
		.strings = g_string_chunk_new(1 << 10),
		.parts = g_array_new(FALSE, FALSE, sizeof(Part))};

	if (context->profile->run.is_kernel_sampled)
		add_all_sampled(&self);
	else if (context->profile->run.user_seconds + context->profile->run.system_seconds > 0)
		add_accounted(&self);
	lode_service_rules_free(self.rules);
	g_string_chunk_free(self.strings);
	g_array_unref(self.parts);
}
