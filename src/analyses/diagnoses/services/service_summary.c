/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/services/service_summary.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/findings.h"

#include <string.h>

enum { MOST_NAMES = 3, MOST_CALLERS = 200 };

/* Facts of calls, by attributes. */
enum { IS_CALL = 1, IN_LOOP = 2, UNCHANGED = 4, SAME_ARGUMENTS = 8, SAME_RESULT = 16 };

/* --- what is known of calls --- */

static const LodeAttributeMark call_marks[] = {{"kind:call", IS_CALL}, {"loop:*", IN_LOOP},
	{"repeats:unchanged", UNCHANGED}, {"repeats:arguments", SAME_ARGUMENTS},
	{"repeats:result", SAME_RESULT}};

uint16_t *lode_service_facts_of(const LodeProfile *profile)
{
	return lode_profile_mark_sets(profile, call_marks, G_N_ELEMENTS(call_marks));
}

/* What is known of a call. */
typedef enum { CALLS_ANOTHER, MAY_CALL, DOES_CALL } Calling;

/* Whether an instruction calls a function of this name, directly or through its stub. Where it is
 * not known what it calls, it may. */
static Calling calling_of(const LodeServiceParts *self, uint32_t instruction, const char *called)
{
	const LodeProfile *profile = self->context->profile;
	const GArray *edges = lode_code_of(profile)->edges;
	guint at = LODE_PARTITION_POINT(
		edges->len, i, LODE_AT(edges, LodeEdge, i).source < instruction);
	Calling found = MAY_CALL;

	for (; at < edges->len && LODE_AT(edges, LodeEdge, at).source == instruction; at++) {
		const LodeEdge *edge = &LODE_AT(edges, LodeEdge, at);
		if (edge->kind != LODE_EDGE_CALL)
			continue;
		const LodeFunctionCost *target = lode_function_cost_at(self->context->costs,
			lode_profile_instruction(profile, edge->target)->function);
		g_autofree char *name = lode_service_called_name(target);
		if (strcmp(name, called) == 0 ||
			(g_str_has_prefix(name, called) && name[strlen(called)] == '@'))
			return DOES_CALL;
		found = CALLS_ANOTHER;
	}
	return found;
}

/* Whether it is of the line that calls. */
static bool is_in_line(
	const LodeServiceParts *self, uint32_t instruction, const LodeServiceCaller *caller)
{
	const LodeProfile *profile = self->context->profile;
	uint32_t location = lode_own_lines_find(self->context->own, instruction);

	if (location == LODE_NONE)
		return false;
	const LodeLocation *line = &LODE_AT(
		lode_code_of(profile)->locations, LodeLocation, location);
	return line->line == caller->line && g_strcmp0(line->file, caller->file) == 0;
}

uint32_t lode_service_find_call(
	const LodeServiceParts *self, const LodeServicePart *part, uint16_t *out_facts)
{
	const LodeProfile *profile = self->context->profile;
	const LodeServiceCaller *caller = &part->caller;
	bool is_inlined = lode_function_cost_at(self->context->costs, part->service)->is_inlined;
	bool has_line = caller->file != NULL;
	bool has_code = caller->function < lode_code_of(profile)->functions->len;
	uint32_t begin = 0, end = lode_code_of(profile)->instructions->len, found = LODE_NONE;
	double most = 0;

	*out_facts = 0;
	if (part->call != LODE_NONE) {
		*out_facts = self->facts_of[lode_profile_instruction(profile, part->call)
						    ->attribute_set];
		return part->call;
	}
	if (!has_line && (!has_code || is_inlined))
		return LODE_NONE;
	if (has_code) {
		begin = lode_profile_function(profile, caller->function)->first_instruction;
		end = begin + lode_profile_function(profile, caller->function)->n_instructions;
	}
	for (uint32_t at = begin; at < end; at++) {
		uint32_t set = lode_profile_instruction(profile, at)->attribute_set;
		double cost = is_inlined
		                      ? lode_profile_event_value(profile, self->context->event, at)
		                      : 0;
		if (is_inlined ? cost <= most : (self->facts_of[set] & IS_CALL) == 0)
			continue;
		if ((has_line && !is_in_line(self, at, caller)) ||
			(!is_inlined && calling_of(self, at, part->called) <
						(has_line ? MAY_CALL : DOES_CALL)))
			continue;
		found = found == LODE_NONE || is_inlined ? at : found;
		most = cost;
		*out_facts |= self->facts_of[set];
	}
	return found;
}

/* --- sums --- */

LODE_ORDER(compare_sums, LodeServiceSum, LODE_DESCENDING(cost), LODE_ASCENDING(first))

/* NULL: there are too many. */
static LodeServiceSum *add_to_sums(
	GArray *sums, const void *key, uint32_t line, guint part, double cost)
{
	for (guint i = 0; i < sums->len; i++) {
		LodeServiceSum *sum = &g_array_index(sums, LodeServiceSum, i);
		if (sum->key == key && sum->line == line) {
			sum->cost += cost;
			sum->n++;
			return sum;
		}
	}
	const LodeServiceSum added = {key, line, part, 1, cost, 0};
	if (sums->len >= MOST_CALLERS)
		return NULL;
	g_array_append_val(sums, added);
	return &g_array_index(sums, LodeServiceSum, sums->len - 1);
}

char *lode_service_said_name(const char *key)
{
	char *name = g_strdup(key);
	const char *begin = name, *next;
	char *closure = strstr(name, ".func");

	if (closure != NULL && closure > name && g_ascii_isdigit(closure[strlen(".func")]))
		*closure = '\0';
	while (strlen(begin) > LODE_SERVICE_LETTERS && (next = strstr(begin, "::")) != NULL)
		begin = next + strlen("::");
	memmove(name, begin, strlen(begin) + 1);
	return name;
}

guint lode_service_n_said(const GArray *names, double all, size_t room)
{
	size_t letters = 0;
	guint n = 0;

	for (; n < names->len && n < MOST_NAMES; n++) {
		const LodeServiceSum *one = &g_array_index(names, LodeServiceSum, n);
		g_autofree char *name = lode_service_said_name(one->key);
		letters += strlen(name);
		if (n > 0 && (one->cost < LODE_SERVICE_NAMED * all || letters > room))
			break;
	}
	return n;
}

char *lode_service_names_text(const GArray *names, double all, size_t room)
{
	GString *text = g_string_new(NULL);
	guint n = lode_service_n_said(names, all, room);
	double rest = all;

	for (guint i = 0; i < n; i++) {
		const LodeServiceSum *one = &g_array_index(names, LodeServiceSum, i);
		g_autofree char *name = lode_service_said_name(one->key);
		rest -= one->cost;
		bool has_more = i + 1 < n || rest >= LODE_SERVICE_NAMED * all;
		g_string_append_printf(text, "%s%s", i == 0 ? "" : has_more ? ", " : " and ", name);
	}
	if (rest >= LODE_SERVICE_NAMED * all)
		g_string_append(text, " and others");
	return g_string_free(text, FALSE);
}

static bool has_inlined(const LodeServiceParts *self, uint32_t instruction, const char *function)
{
	g_autoptr(GArray) chain = lode_own_lines_chain(self->context->own, instruction);

	for (guint i = 0; i < chain->len; i++)
		if (strcmp(g_array_index(chain, LodeInlinedLine, i).function, function) == 0)
			return true;
	return false;
}

/* The code of a service that is inlined into a caller; `seen` are those that have been added. */
static void add_inlined(const LodeServiceParts *self, const LodeServicePart *part, GHashTable *seen,
	LodeDiagnosis *diagnosis)
{
	const LodeProfile *profile = self->context->profile;
	const char *name = lode_function_cost_at(self->context->costs, part->service)->name;

	diagnosis->is_inlined = true;
	if (part->caller.function >= lode_code_of(profile)->functions->len)
		return;
	const LodeFunction *function = lode_profile_function(profile, part->caller.function);
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t at = function->first_instruction + i;
		double cost = lode_profile_event_value(profile, self->context->event, at);
		const LodeFindingPlace place = {at, lode_service_parts_share(self, cost)};
		if (cost > 0 && !g_hash_table_contains(seen, GUINT_TO_POINTER(at + 1)) &&
			has_inlined(self, at, name)) {
			g_hash_table_add(seen, GUINT_TO_POINTER(at + 1));
			g_array_append_val(diagnosis->at, place);
		}
	}
}

void lode_service_summarise(const LodeServiceParts *self, guint begin, guint end,
	LodeDiagnosis *diagnosis, LodeServiceSummary *out)
{
	out->names = g_array_new(FALSE, FALSE, sizeof(LodeServiceSum));
	out->lines = g_array_new(FALSE, FALSE, sizeof(LodeServiceSum));
	out->is_own = lode_service_part_at(self, begin)->service ==
	              lode_service_part_at(self, begin)->caller.function;
	out->is_compared = self->keys != NULL &&
	                   lode_service_part_at(self, begin)->rule == self->keys;
	out->functions = g_array_new(FALSE, FALSE, sizeof(LodeServiceSum));
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) services = g_hash_table_new(NULL, NULL);
	for (guint i = begin; i < end; i++) {
		const LodeServicePart *part = lode_service_part_at(self, i);
		const LodeServiceCaller *caller = &part->caller;
		uint16_t facts = 0;
		if (g_hash_table_add(services, GUINT_TO_POINTER(part->service + 1)))
			out->self +=
				lode_function_cost_at(self->context->costs, part->service)->self;
		out->all += caller->cost;
		out->saves += caller->cost * part->rule->factor;
		add_to_sums(out->names, part->said, 0, i, caller->cost);
		out->copied += lode_service_part_copies(part) ? caller->cost : 0;
		out->freed += lode_service_part_frees(part) ? caller->cost : 0;
		if (caller->function == LODE_NONE) {
			out->unknown += caller->cost;
			continue;
		}
		const void *function = lode_service_parts_function_name(self, caller->function);
		add_to_sums(out->functions, function, 0, i, caller->cost);
		LodeServiceSum *line = add_to_sums(out->lines,
			caller->file != NULL ? caller->file : function, caller->line, i,
			caller->cost);
		if (line != NULL && lode_service_part_copies(part))
			line->copied += caller->cost;
		uint32_t call = i - begin < MOST_CALLERS
		                        ? lode_service_find_call(self, part, &facts)
		                        : LODE_NONE;
		if (lode_function_cost_at(self->context->costs, part->service)->is_inlined) {
			add_inlined(self, part, seen, diagnosis);
		} else if (call != LODE_NONE) {
			const LodeFindingPlace place = {
				call, lode_service_parts_share(self, caller->cost)};
			g_array_append_val(diagnosis->at, place);
		}
		out->in_loop += (facts & IN_LOOP) != 0 ? caller->cost : 0;
		out->unchanged += (facts & UNCHANGED) != 0 ? caller->cost : 0;
		out->observed += (facts & SAME_ARGUMENTS) != 0 ? caller->cost : 0;
		if (part->rule->repeated != NULL && (facts & (UNCHANGED | SAME_ARGUMENTS)) != 0)
			out->repeated += caller->cost;
	}
	g_array_sort(out->names, compare_sums);
	g_array_sort(out->lines, compare_sums);
	g_array_sort(out->functions, compare_sums);
}

void lode_service_summary_clear(LodeServiceSummary *self)
{
	g_array_unref(self->names);
	g_array_unref(self->lines);
	g_array_unref(self->functions);
}

bool lode_service_is_of_copies(const LodeServiceSummary *sums)
{
	return sums->copied >= LODE_SERVICE_MUCH * sums->all &&
	       sums->copied >= LODE_SERVICE_MOST * (sums->all - sums->freed);
}

const LodeServiceSum *lode_service_main_line(
	const LodeServiceParts *self, const LodeServiceSummary *sums)
{
	const LodeServiceSum *main = NULL;

	for (guint i = 0; i < sums->lines->len; i++) {
		const LodeServiceSum *line = &g_array_index(sums->lines, LodeServiceSum, i);
		if (lode_service_part_at(self, line->first)->caller.file != NULL &&
			line->cost >= LODE_SERVICE_NAMED * sums->all &&
			(main == NULL ||
				(lode_service_is_of_copies(sums) && line->copied > main->copied)))
			main = line;
	}
	return main != NULL ? main : &g_array_index(sums->lines, LodeServiceSum, 0);
}
