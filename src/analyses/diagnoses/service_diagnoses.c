/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/service_diagnoses.h"

#include "analyses/diagnoses/diagnosis_evidence.h"
#include "analyses/diagnoses/sampled_turns.h"
#include "analyses/diagnoses/services/service_parts.h"
#include "analyses/diagnoses/services/service_summary.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "model/code.h"
#include "model/findings.h"
#include "model/run/program_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A remedy saves so much in proportion to what its rule says, in 8 of 10 pairs (bench/README.md):
 * what the callers do for the service and with its results mostly goes, too. Something stays. */
static const double LEAST_SAVED = 0.75, MOST_SAVED = 2.4, MOST_OF_ALL = 0.99;
/* In virtual machines what a function calls, makes and has compiled is less well known as its. */
static const double MOST_SAVED_IN_MACHINES = 4.5;

enum { TITLE_LETTERS = 60 };

/* The first in the file that has much of the time; the diagnosis's, where that one is of functions
 * alone and others have much, too. */
static const LodeServiceRule *choose_rule(
	const LodeServiceParts *self, guint begin, guint end, double all)
{
	const LodeServiceRule *whole = lode_service_part_at(self, begin)->whole, *first = NULL;

	for (guint i = 0; i < lode_service_rules_n(self->rules); i++) {
		const LodeServiceRule *rule = lode_service_rules_at(self->rules, i);
		double cost = 0;
		for (guint k = begin; k < end; k++)
			cost += lode_service_part_at(self, k)->rule == rule
			                ? lode_service_part_at(self, k)->caller.cost
			                : 0;
		if (rule->whole != whole || cost < LODE_SERVICE_MUCH * all)
			continue;
		if (first != NULL && first->alone > 0)
			return whole;
		first = first != NULL ? first : rule;
	}
	return first != NULL ? first : whole;
}

/* "words.c:12 in count_words and 2 other functions" */
static char *line_text(const LodeServiceParts *self, const LodeServiceSum *line)
{
	const LodeServiceCaller *caller = &lode_service_part_at(self, line->first)->caller;
	g_autofree char *name = lode_service_short_name(
		lode_service_parts_function_name(self, caller->function));

	if (caller->file == NULL || caller->file[0] == '<')
		return g_steal_pointer(&name);
	g_autofree char *base = g_path_get_basename(caller->file);
	return g_strdup_printf("%s:%u in %s", base, caller->line, name);
}

/* A service whose cost is more than its own by this share calls others. */
#define CALLS_OTHERS 0.02

static bool calls_others(const LodeServiceSummary *sums)
{
	return sums->all > (1 + CALLS_OTHERS) * sums->self;
}

/* Stacks of a few frames do not reach from all that a function calls back to it. */
static bool is_least(const LodeServiceParts *self, const LodeServiceSummary *sums)
{
	LodeCallSource source = self->context->services->source;

	return (source == LODE_CALLS_FROM_TOPS || source == LODE_CALLS_INFERRED) &&
	       calls_others(sums);
}

/* Too little of it has a known caller to say who calls. */
static bool is_unknown(const LodeServiceSummary *sums)
{
	return sums->lines->len == 0 || sums->all - sums->unknown < LODE_SERVICE_NAMED * sums->all;
}

static void add_evidence(
	const LodeServiceParts *self, LodeDiagnosis *diagnosis, const LodeServiceSummary *sums)
{
	double percent = 100 * lode_service_parts_share(self, sums->all);
	g_autofree char *names = lode_service_names_text(
		sums->names, sums->all, LODE_SERVICE_LETTERS);
	guint n_names = lode_service_n_said(sums->names, sums->all, LODE_SERVICE_LETTERS);
	bool is_one = n_names == 1 && !g_str_has_suffix(names, " and others");
	guint n = sums->functions->len;

	g_autofree char *first = lode_service_said_name(
		g_array_index(sums->names, LodeServiceSum, 0).key);
	/* Evidence does not repeat the title. */
	bool is_told = strstr(diagnosis->title, first) != NULL;
	if (sums->is_compared)
		lode_diagnosis_add_evidence(diagnosis, percent, "%",
			"%.1f %% of the %s with all that they call, of it %.0f %% to make keys",
			percent, lode_diagnosis_weight(self->context),
			100 * self->made_keys / sums->all);
	else if (sums->is_own)
		lode_diagnosis_add_evidence(diagnosis, percent, "%",
			"%.1f %% of the %s, without what functions have that are diagnosed",
			percent, lode_diagnosis_weight(self->context));
	else
		lode_diagnosis_add_evidence(diagnosis, percent, "%", "%s%.1f %% of the %s%s%s%s",
			is_least(self, sums) ? "at least " : "", percent,
			lode_diagnosis_weight(self->context),
			!calls_others(sums) ? ""
			: is_one            ? " with all that it calls"
					    : " with all that they call",
			is_told ? "" : ": ", is_told ? "" : names);
	if (is_told && strstr(diagnosis->title, names) == NULL)
		lode_diagnosis_add_evidence(
			diagnosis, n_names, "functions", "called are %s", names);
	if (is_unknown(sums)) {
		lode_diagnosis_add_evidence(diagnosis, 0, "functions", "the callers are not known");
		return;
	}
	const LodeServiceSum *line = lode_service_main_line(self, sums);
	g_autofree char *place = line_text(self, line);
	double part = 100 * line->cost / sums->all;
	const char *from = sums->is_own ? "in" : "called from";
	if (n == 1)
		lode_diagnosis_add_evidence(
			diagnosis, part, "%", "%.0f %% of it is %s %s", part, from, place);
	else
		lode_diagnosis_add_evidence(diagnosis, part, "%",
			"%.0f %% of it is %s %s; %u functions %s", part, from, place, n,
			sums->is_own ? "have it" : "call");
	if (self->context->services->source == LODE_CALLS_INFERRED && sums->functions->len > 1)
		lode_diagnosis_add_evidence(diagnosis, sums->functions->len, "functions",
			"how the time is divided among the %u functions that call is an estimate",
			sums->functions->len);
	/* Other functions may have other results when what their arguments point at changes. */
	if (sums->repeated >= LODE_SERVICE_MOST * sums->all &&
		sums->unchanged >= LODE_SERVICE_MOST * sums->all)
		lode_diagnosis_add_evidence(diagnosis, 100 * sums->unchanged / sums->all, "%",
			"%.0f %% of it is called in loops that do not change the arguments",
			100 * sums->unchanged / sums->all);
	else if (sums->in_loop >= LODE_SERVICE_MOST * sums->all)
		lode_diagnosis_add_evidence(diagnosis, 100 * sums->in_loop / sums->all, "%",
			"%.0f %% of it is called in loops", 100 * sums->in_loop / sums->all);
	if (sums->observed >= LODE_SERVICE_MOST * sums->all)
		lode_diagnosis_add_evidence(diagnosis, 100 * sums->observed / sums->all, "%",
			"%.0f %% of it is called with the arguments of the call before (windows)",
			100 * sums->observed / sums->all);
	if (sums->unknown >= LODE_SERVICE_MUCH * sums->all)
		lode_diagnosis_add_evidence(diagnosis, 100 * sums->unknown / sums->all, "%",
			"of %.0f %% of it the caller is not known",
			100 * sums->unknown / sums->all);
}

/* Whether a function is of code that a run-time compiler made, inlined or not. */
static bool is_compiled(const LodeServiceParts *self, uint32_t function)
{
	const char *path = lode_function_cost_at(self->context->costs, function)->image;
	const GArray *images = lode_code_of(self->context->profile)->images;

	for (guint i = 0; i < images->len; i++)
		if (LODE_AT(images, LodeImage, i).kind == LODE_IMAGE_JIT &&
			g_strcmp0(LODE_AT(images, LodeImage, i).path, path) == 0)
			return true;
	return false;
}

/* Whether a function is of the library of Java's virtual machine. */
static bool is_of_hotspot(const LodeServiceParts *self, uint32_t function)
{
	return g_str_has_suffix(
		lode_function_cost_at(self->context->costs, function)->image, "/libjvm.so");
}

/* The user's own line that calls most, and how many there are. Of Java's code most callers may not
 * be known, and those that are may be others. */
static void set_scope(
	const LodeServiceParts *self, LodeDiagnosis *diagnosis, const LodeServiceSummary *sums)
{
	diagnosis->places = sums->lines->len;
	diagnosis->functions = sums->functions->len;
	if (sums->lines->len == 0)
		return;
	const LodeServicePart *part = lode_service_part_at(
		self, lode_service_main_line(self, sums)->first);
	if (is_unknown(sums) &&
		(is_compiled(self, part->service) || is_of_hotspot(self, part->service))) {
		g_array_set_size(diagnosis->at, 0);
		return;
	}
	uint16_t facts;
	/* A builtin without the user's code around says nothing of who calls. */
	if (part->caller.file == NULL &&
		lode_is_run_time_program(
			lode_function_cost_at(self->context->costs, part->caller.function)->image))
		return;
	diagnosis->site.instruction = lode_service_find_call(self, part, &facts);
	diagnosis->site.function = g_strdup(
		lode_service_parts_function_name(self, part->caller.function));
	diagnosis->site.file = g_strdup(part->caller.file);
	diagnosis->site.line = part->caller.line;
}

/* Takes the line that asks most for what the service takes back. */
static void take_maker(
	const LodeServiceParts *self, const LodeServiceRule *makers, LodeDiagnosis *diagnosis)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	const LodeServicePart *most = NULL;
	double best = 0, all = 0;

	for (guint i = 0; i < self->parts->len; i++) {
		const LodeServicePart *part = lode_service_part_at(self, i);
		if (part->rule != makers || part->caller.function == LODE_NONE ||
			part->caller.file == NULL)
			continue;
		g_autofree char *line = g_strdup_printf(
			"%u %s:%u", part->caller.function, part->caller.file, part->caller.line);
		double *sum = lode_sum_at_text(sums, line);
		*sum += part->caller.cost;
		all += part->caller.cost;
		if (*sum > best) {
			best = *sum;
			most = part;
		}
	}
	if (most == NULL)
		return;
	diagnosis->site.function = g_strdup(
		lode_service_parts_function_name(self, most->caller.function));
	diagnosis->site.file = g_strdup(most->caller.file);
	diagnosis->site.line = most->caller.line;
	g_autofree char *base = g_path_get_basename(most->caller.file);
	lode_diagnosis_add_evidence(diagnosis, 100 * best / all, "%",
		"%.0f %% of new space for objects is asked for at %s:%u", 100 * best / all, base,
		most->caller.line);
}

static bool is_of(const LodeServiceParts *self, guint begin, guint end, uint32_t function)
{
	uint32_t family = self->context->family_of[function];

	for (guint i = begin; i < end; i++)
		if (lode_service_part_at(self, i)->service == function)
			return true;
	return family != LODE_NONE &&
	       family == self->context->family_of[lode_service_part_at(self, begin)->service] &&
	       lode_services_find(self->context->services, function, family) == NULL;
}

/* Findings that have half of their time in the services' functions. */
static void add_findings(
	const LodeServiceParts *self, guint begin, guint end, LodeDiagnosis *diagnosis)
{
	const LodeFindings *findings = self->context->findings;

	for (uint32_t i = 0; findings != NULL && i < findings->findings->len; i++) {
		const LodeFinding *finding = lode_findings_at(findings, i);
		double time = 0;
		for (uint32_t k = 0; k < finding->n_places; k++) {
			const LodeFindingPlace *place = &g_array_index(
				findings->places, LodeFindingPlace, finding->first_place + k);
			uint32_t function = lode_profile_instruction(
				self->context->profile, place->instruction)
			                            ->function;
			time += is_of(self, begin, end, function) ? place->time : 0;
		}
		if (time >= LODE_SERVICE_MOST * finding->time)
			g_array_append_val(diagnosis->findings, i);
	}
}

/* "memory allocation: malloc and free, called in loops", without what has no room in a line. The
 * caller frees it. */
static char *title_text(const char *title, const LodeServiceSummary *sums)
{
	static const char others[] = " and others";
	size_t used = title != NULL ? strlen(title) + strlen(": ") : 0;
	size_t room = used + strlen(others) < TITLE_LETTERS ? TITLE_LETTERS - strlen(others) - used
	                                                    : 0;
	g_autofree char *names = lode_service_names_text(sums->names, sums->all, room);
	const char *loop = sums->in_loop < LODE_SERVICE_MOST * sums->all ? ""
	                   : lode_service_n_said(sums->names, sums->all, room) == 1
	                           ? ", called in a loop"
	                           : ", called in loops";

	if (title == NULL)
		return g_strconcat(names, loop, NULL);
	if (used + strlen(names) > TITLE_LETTERS)
		return g_strdup(title);
	if (used + strlen(names) + strlen(loop) > TITLE_LETTERS)
		loop = "";
	return g_strconcat(title, ": ", names, loop, NULL);
}

/* Whether most of the services' time is in code of Java or Node.js. Their collectors and compilers
 * call nothing of others. */
static bool is_in_machine(const LodeServiceParts *self, guint begin, guint end, double all)
{
	const LodeProfile *profile = self->context->profile;
	double cost = 0;

	for (guint i = begin; i < end; i++) {
		const LodeServicePart *part = lode_service_part_at(self, i);
		const char *image =
			lode_function_cost_at(self->context->costs, part->service)->image;
		bool is_compiled = part->service < lode_code_of(profile)->functions->len &&
		                   lode_profile_image(profile,
					   lode_profile_function(profile, part->service)->image)
		                                   ->kind == LODE_IMAGE_JIT;
		if (is_compiled || lode_is_run_time_program(image))
			cost += part->caller.cost;
	}
	return cost >= LODE_SERVICE_MOST * all &&
	       strcmp(lode_service_part_at(self, begin)->rule->cause, "service-gc") != 0 &&
	       strcmp(lode_service_part_at(self, begin)->rule->cause, "service-compiler") != 0;
}

/* --- nodes that share a bucket --- */

/* With a hash that mixes all bits a look-up goes over two nodes on average at most, where a table
 * has as many buckets as elements. */
static const double LONG_CHAIN = 4;

typedef struct {
	const LodeServiceRules *rules;
	const LodeServiceRule *rule;
} Walks;

static bool walks(const char *function, const void *data)
{
	const Walks *self = data;

	return lode_service_rules_walk(self->rules, self->rule, function);
}

/* Gives the rule that takes the place of one whose look-ups go over many nodes; else that one. */
static const LodeServiceRule *rule_of_chains(const LodeServiceParts *self,
	const LodeServiceRule *rule, const LodeServiceSummary *sums, LodeDiagnosis *diagnosis)
{
	const Walks its = {self->rules, rule};

	if (rule->chains == NULL)
		return rule;
	LodeLongLoops chains = lode_costed_code_long_loops(self->code, LONG_CHAIN, walks, &its);
	if (chains.weight < LODE_SERVICE_MOST * sums->all)
		return rule;
	/* The comparisons of keys are the user's, but for the hash. */
	diagnosis->time = lode_service_parts_share(self, MAX(chains.weight, sums->all));
	lode_diagnosis_add_evidence(diagnosis, chains.rounds, "keys",
		"a look-up goes over %.3g%s keys of its bucket on average (%s); with a good hash, "
		"over two at most",
		chains.rounds, chains.is_least ? " or more" : "",
		lode_program_run_of(self->context->profile)->frequency == LODE_FREQUENCY_EXACT
			? "counted"
			: "windows");
	return rule->chains;
}

/* The part of a diagnosis's time that the functions have by themselves that it is to be seen by. */
static const double SEEN_BY = 0.03;

/* The part by which another rule is seen inside of a diagnosis. */
static const double SEEN_INSIDE = 0.1;

static bool is_seen(
	const LodeServiceParts *self, const LodeServiceRule *rule, double all, double part)
{
	double cost = 0;

	for (uint32_t i = 0; rule->where != NULL && i < self->context->costs->functions->len; i++) {
		const LodeFunctionCost *one = lode_function_cost_at(self->context->costs, i);
		cost += lode_globs_match(rule->where, one->name) ? one->self : 0;
	}
	return rule->where == NULL || cost >= part * all;
}

/* From so many turns on functions are called often. */
enum { MANY_TURNS = 16 };

typedef struct {
	const LodeServiceParts *parts;
	guint begin, end;
} Called;

static bool is_called(uint32_t function, const void *data)
{
	const Called *self = data;

	return function != LODE_NONE && is_of(self->parts, self->begin, self->end, function);
}

static bool are_called_often(const LodeServiceParts *self, guint begin, guint end)
{
	const Called called = {self, begin, end};

	return lode_sampled_turns(self->context->costs, is_called, NULL, &called).turns >=
	       MANY_TURNS;
}

/* Whether most of it is called in lines of scripts, one by one. */
static bool is_of_scripts(const LodeServiceParts *self, guint begin, guint end, double cost)
{
	double in_scripts = 0;

	for (guint i = begin; i < end; i++) {
		const LodeServicePart *part = lode_service_part_at(self, i);
		const LodeServiceCaller *caller = &part->caller;
		bool is_of_many = part->called != NULL &&
		                  strstr(part->called, "executemany") != NULL;
		in_scripts += caller->function != LODE_NONE && !is_of_many &&
		                              lode_function_cost_at(
						      self->context->costs, caller->function)
		                                              ->language != NULL
		                      ? caller->cost
		                      : 0;
	}
	return in_scripts > cost / 2;
}

static void add_diagnosis(
	LodeDiagnoses *out, const LodeServiceParts *self, guint begin, guint end, double cost)
{
	const LodeServiceRule *rule = choose_rule(self, begin, end, cost);
	const LodeServiceRule *whole = lode_service_part_at(self, begin)->whole;
	double share = lode_service_parts_share(self, cost),
	       part = self->total > 0 ? cost / self->total : 0;
	double error = self->samples > 0 ? sqrt(CLAMP(part * (1 - part), 0, 1) / self->samples) *
	                                           self->context->user
	                                 : 0;
	LodeServiceSummary sums = {0};

	if (rule->unseen != NULL && !is_seen(self, rule, cost, SEEN_BY) &&
		is_of_scripts(self, begin, end, cost))
		rule = rule->unseen;
	if (share < rule->least || share > rule->most || share < 2 * error ||
		!is_seen(self, rule, cost, SEEN_BY))
		return;
	for (const LodeServiceRule *inside = rule->inside; inside != NULL; inside = inside->inside)
		if (is_seen(self, inside, cost, SEEN_INSIDE)) {
			rule = inside;
			break;
		}
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_SERVICE);
	diagnosis->time = share;
	lode_service_summarise(self, begin, end, diagnosis, &sums);
	const LodeServiceRule *chained = rule_of_chains(self, rule, &sums, diagnosis);
	bool is_chained = chained != rule;
	rule = chained;
	if (rule->often != NULL && are_called_often(self, begin, end)) {
		rule = rule->often;
		is_chained = true;
	}
	if (lode_service_is_of_copies(&sums)) {
		double copied = 100 * sums.copied / sums.all, freed = 100 * sums.freed / sums.all;
		lode_diagnosis_add_evidence(diagnosis, copied, "%",
			"%.0f %% of it makes copies, %.0f %% frees blocks", copied, freed);
	}
	if (rule->repeated != NULL && sums.repeated >= LODE_SERVICE_MOST * sums.all)
		rule = rule->repeated;
	g_free(diagnosis->cause);
	diagnosis->cause = g_strdup(rule->cause);
	diagnosis->title = sums.is_own && rule->title != NULL ? g_strdup(rule->title)
	                                                      : title_text(rule->title, &sums);
	diagnosis->service = rule->service != NULL
	                             ? g_strdup(rule->service)
	                             : g_strdup(g_array_index(sums.names, LodeServiceSum, 0).key);
	/* Which function has most may change from one recording to the next. */
	diagnosis->name = g_strdup_printf(
		"%s@%s", diagnosis->cause, whole->service != NULL ? whole->service : whole->name);
	diagnosis->time_error = error;
	double most = is_in_machine(self, begin, end, cost) ? MOST_SAVED_IN_MACHINES : MOST_SAVED;
	/* The rules' of the functions, unless another one took their place for all. */
	double factor = is_chained ? rule->factor
	                           : lode_service_parts_share(self, sums.saves) / share;
	lode_diagnosis_set_saves(diagnosis, LEAST_SAVED * factor, most * factor, MOST_OF_ALL);
	diagnosis->enters = g_strdup(rule->enters);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	add_evidence(self, diagnosis, &sums);
	set_scope(self, diagnosis, &sums);
	if (diagnosis->site.function == NULL && rule->makers != NULL)
		take_maker(self, rule->makers, diagnosis);
	add_findings(self, begin, end, diagnosis);
	lode_diagnosis_sort_places(diagnosis);
	g_array_set_size(diagnosis->at, MIN(diagnosis->at->len, LODE_FINDING_PLACES));
	g_ptr_array_add(out->diagnoses, diagnosis);
	lode_service_summary_clear(&sums);
}

LODE_ORDER_OF_POINTERS(
	compare_diagnoses, LodeDiagnosis, LODE_DESCENDING(time), strcmp(left->name, right->name))

void lode_service_diagnoses_add(LodeDiagnoses *out, const LodeCostedCode *code)
{
	LodeServiceParts parts;
	double cost;
	guint first = out->diagnoses->len;

	lode_service_parts_init(&parts, code);
	for (guint i = 0, end; i < parts.parts->len; i = end) {
		end = lode_service_parts_end(&parts, i, &cost);
		add_diagnosis(out, &parts, i, end, cost);
	}
	if (out->diagnoses->len > first)
		qsort(out->diagnoses->pdata + first, out->diagnoses->len - first, sizeof(void *),
			compare_diagnoses);
	lode_service_parts_clear(&parts);
}
