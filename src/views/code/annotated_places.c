/* SPDX-License-Identifier: MIT */
#include "views/code/annotated_places.h"

#include "analyses/findings/finding_matches.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/suggestion.h"
#include "model/findings.h"
#include "model/lines/own_lines.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "views/figures/profile_figures.h"
#include "views/findings/report_values.h"
#include "views/form/function_name.h"
#include "views/form/name_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names in an error message. */
enum { MAX_LISTED = 10 };

static double weight_of(const LodeAnnotatedPlaces *self, uint32_t instruction)
{
	if (self->weight_event >= self->profile->code.events->len)
		return 0;
	return lode_profile_event_value(self->profile, self->weight_event, instruction);
}

static double function_weight(const LodeAnnotatedPlaces *self, uint32_t function)
{
	const LodeFunction *row = lode_profile_function(self->profile, function);
	double weight = 0;

	for (uint32_t i = 0; i < row->n_instructions; i++)
		weight += weight_of(self, row->first_instruction + i);
	return weight;
}

/* The resolved weight, on which supports and findings are based. */
static double total_weight(const LodeAnnotatedPlaces *self)
{
	double weight = 0;

	for (uint32_t i = 0; i < self->profile->code.instructions->len; i++)
		weight += weight_of(self, i);
	return weight;
}

/* --- the order --- */

LODE_ORDER(compare_places, LodeAnnotatedPlace, LODE_DESCENDING(time), LODE_DESCENDING(share),
	LODE_DESCENDING(executions), LODE_ASCENDING(order))

/* Orders the places, of which the requested number is shown. */
static void settle_places(LodeAnnotatedPlaces *self)
{
	uint32_t limit = self->options->limit;

	/* An empty GArray has no memory, and qsort() must not be given NULL. */
	if (self->places->len > 0)
		qsort(self->places->data, self->places->len, sizeof(LodeAnnotatedPlace),
			compare_places);
	if (limit == 0 && self->options->format == LODE_VIEW_TEXT)
		limit = 10;
	self->n_shown = limit != 0 ? MIN(self->places->len, limit) : self->places->len;
}

static LodeAnnotatedPlace *place_at(LodeAnnotatedPlaces *self, uint32_t i)
{
	return &g_array_index(self->places, LodeAnnotatedPlace, i);
}

/* --- a sequence --- */

static uint32_t function_of_vertex(const LodeFlowGraph *graph, uint32_t vertex)
{
	return graph->graph_functions[graph->vertex_graphs[vertex]];
}

/* The end of the vertex's range of instructions. */
static uint32_t end_of_vertex(
	const LodeProfile *profile, const LodeFlowGraph *graph, uint32_t vertex)
{
	uint32_t graph_id = graph->vertex_graphs[vertex];

	if (vertex + 1 < graph->graph_starts[graph_id + 1])
		return graph->vertex_instructions[vertex + 1];
	const LodeFunction *function = lode_profile_function(
		profile, graph->graph_functions[graph_id]);
	return function->first_instruction + function->n_instructions;
}

static const LodeCoveredVertex *covered_at(
	const LodeOccurrences *occurrences, const LodeOccurrencePlace *place, uint32_t i)
{
	return &g_array_index(occurrences->matched, LodeCoveredVertex, place->first_matched + i);
}

static double occurrence_weight(const LodeFlowGraph *graph, const LodeOccurrences *occurrences,
	const LodeOccurrencePlace *place)
{
	double weight = 0;

	for (uint32_t i = 0; i < place->n_matched; i++) {
		const LodeCoveredVertex *covered = covered_at(occurrences, place, i);
		double executions = graph->count[covered->vertex];
		if (executions > 0)
			weight += graph->weight[covered->vertex] *
			          fmin(1, covered->count / executions);
	}
	return weight;
}

/* Across calls, only what lies in the function in which the place begins. */
static void add_occurrence_matches(
	LodeAnnotatedPlaces *self, const LodeFlowGraph *graph, LodeAnnotatedPlace *place)
{
	const LodeOccurrencePlace *occurrence = &g_array_index(
		self->occurrences->places, LodeOccurrencePlace, place->order);

	place->first_match = self->matches->len;
	for (uint32_t i = 0; i < occurrence->n_matched; i++) {
		const LodeCoveredVertex *covered = covered_at(self->occurrences, occurrence, i);
		uint32_t end = end_of_vertex(self->profile, graph, covered->vertex);
		if (function_of_vertex(graph, covered->vertex) != place->function)
			continue;
		for (uint32_t at = graph->vertex_instructions[covered->vertex]; at < end; at++) {
			LodeAnnotatedMatch match = {at, covered->elements, covered->count};
			g_array_append_val(self->matches, match);
		}
	}
	place->n_matches = self->matches->len - place->first_match;
}

static bool find_sequence(LodeAnnotatedPlaces *self, GError **error)
{
	const LodeMiningRun *run = self->run;
	size_t index;

	if (!lode_report_find_sequence(run, self->options->id, &index, error))
		return false;
	self->index = (uint32_t)index;
	const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, index);
	g_autoptr(LodeFlowGraph) own = NULL;
	const LodeFlowGraph *graph = self->options->graph;
	if (graph == NULL)
		graph = own = lode_flow_graph_build(self->profile, &run->parameters, error);
	if (graph == NULL)
		return false;
	g_autofree uint32_t *items = lode_occurrences_map_items(graph, run, index);
	if (items == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"sequence %u has an attribute that the profile lacks; mine again",
			self->index + 1);
		return false;
	}
	self->occurrences = lode_occurrences_find(
		graph, items, sequence->n_items, &run->parameters, error);
	if (self->occurrences == NULL)
		return false;
	for (uint32_t i = 0; i < self->occurrences->places->len; i++) {
		const LodeOccurrencePlace *occurrence = &g_array_index(
			self->occurrences->places, LodeOccurrencePlace, i);
		LodeAnnotatedPlace place = {
			.function = function_of_vertex(graph, occurrence->first_vertex),
			.instruction = graph->vertex_instructions[occurrence->first_vertex],
			.executions = occurrence->executions,
			.share = lode_share_of(
				occurrence_weight(graph, self->occurrences, occurrence),
				graph->total_weight),
			.order = i,
		};
		g_array_append_val(self->places, place);
	}
	settle_places(self);
	for (uint32_t i = 0; i < self->n_shown; i++)
		add_occurrence_matches(self, graph, place_at(self, i));
	return true;
}

/* --- a finding --- */

static bool check_finding(LodeAnnotatedPlaces *self, GError **error)
{
	const LodeMiningRun *run = self->run;
	uint64_t id = self->options->id;

	if (run->findings == NULL && run->parameters.is_instruction_mode) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"F%" G_GUINT64_FORMAT ": run '%s' is of instruction sequences, which have "
			"no findings; mine without --instructions",
			id, run->name);
		return false;
	}
	if (run->findings == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"F%" G_GUINT64_FORMAT ": run '%s' was made by a lode that knew no "
			"findings; mine again with 'lode mine'",
			id, run->name);
		return false;
	}
	guint n = run->findings->findings->len;
	if (id < 1 || id > n) {
		g_autofree char *count = g_strdup_printf("%u finding%s", n, n == 1 ? "" : "s");
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"F%" G_GUINT64_FORMAT ": the run has %s", id, n > 0 ? count : "no finding");
		return false;
	}
	self->index = (uint32_t)(id - 1);
	return true;
}

/* Those of a finding or a diagnosis: LodeFindingPlace. */
static void take_places(LodeAnnotatedPlaces *self, const GArray *places, uint32_t first, uint32_t n)
{
	double total = total_weight(self);

	for (uint32_t i = 0; i < n; i++) {
		const LodeFindingPlace *one = &g_array_index(places, LodeFindingPlace, first + i);
		const LodeInstruction *instruction = lode_profile_instruction(
			self->profile, one->instruction);
		LodeAnnotatedPlace place = {
			.function = instruction->function,
			.instruction = one->instruction,
			.executions = instruction->count,
			.share = lode_share_of(weight_of(self, one->instruction), total),
			.time = one->time,
			.order = i,
		};
		g_array_append_val(self->places, place);
	}
	settle_places(self);
}

static bool find_finding(LodeAnnotatedPlaces *self, GError **error)
{
	if (!check_finding(self, error))
		return false;
	const LodeFinding *finding = lode_findings_at(self->run->findings, self->index);
	take_places(self, self->run->findings->places, finding->first_place, finding->n_places);
	uint32_t n_matched = 0; /* places from the first one that holds all shown */
	for (uint32_t i = 0; i < self->n_shown; i++)
		n_matched = MAX(n_matched, place_at(self, i)->order + 1);
	g_autoptr(LodeFindingMatches) found = lode_finding_matches_find(
		self->profile, self->run, finding, n_matched, error);
	if (found == NULL)
		return false;
	for (uint32_t i = 0; i < self->n_shown; i++) {
		LodeAnnotatedPlace *place = place_at(self, i);
		place->first_match = self->matches->len;
		for (uint32_t j = found->starts[place->order]; j < found->starts[place->order + 1];
			j++) {
			const LodeFindingMatch *one = &g_array_index(
				found->matches, LodeFindingMatch, j);
			LodeAnnotatedMatch match = {one->instruction, one->elements, (double)NAN};
			if (lode_profile_instruction(self->profile, one->instruction)->function ==
				place->function)
				g_array_append_val(self->matches, match);
		}
		place->n_matches = self->matches->len - place->first_match;
	}
	return true;
}

/* --- a function --- */

typedef struct {
	uint32_t function;
	double weight;
} Named;

LODE_ORDER(compare_named, Named, LODE_DESCENDING(weight), LODE_ASCENDING(function))

/* The functions that pass the test, the costliest first. */
static GArray *functions_with(const LodeAnnotatedPlaces *self, LodeNameTest test, const char *text)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(Named));

	for (uint32_t i = 0; i < self->profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(self->profile, i);
		Named one = {i, 0};
		if (!lode_name_passes(test, function->name, function->symbol, text))
			continue;
		one.weight = function_weight(self, i);
		g_array_append_val(found, one);
	}
	g_array_sort(found, compare_named);
	return found;
}

/* The functions at an address, as "work@0x1139" names one. */
static GArray *functions_at_address(const LodeAnnotatedPlaces *self, const char *text)
{
	uint64_t address;
	g_autofree char *name = lode_name_at_address(text, &address);

	if (name == NULL)
		return g_array_new(FALSE, FALSE, sizeof(Named));
	GArray *found = functions_with(self, LODE_NAME_WHOLE, name);
	for (guint i = found->len; i-- > 0;) {
		uint32_t function = g_array_index(found, Named, i).function;
		if (lode_profile_function(self->profile, function)->address != address)
			g_array_remove_index(found, i);
	}
	return found;
}

/* --- inlined functions --- */

/* The names of inlined functions that pass the test, each once: char *, borrowed. Its code may have
 * any of the locations, or be inlined by what a function at one of them calls. */
static GPtrArray *inlined_with(const LodeAnnotatedPlaces *self, LodeNameTest test, const char *text)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	GPtrArray *found = g_ptr_array_new();

	for (guint i = 0; i < self->profile->code.locations->len; i++) {
		char *name = LODE_AT(self->profile->code.locations, LodeLocation, i).inlined;
		if (name != NULL && g_hash_table_add(seen, name) &&
			lode_name_passes(test, name, NULL, text))
			g_ptr_array_add(found, name);
	}
	return found;
}

/* For each inlining, whether it or an outer one is at a location that is wanted. */
static bool *inlinings_through(const LodeProfile *profile, const bool *is_wanted)
{
	bool *out = g_new0(bool, profile->code.inlinings->len + 1);

	for (guint i = 0; i < profile->code.inlinings->len; i++) {
		const LodeInlining *one = &LODE_AT(profile->code.inlinings, LodeInlining, i);
		out[i] = is_wanted[one->location] || (one->outer != LODE_NONE && out[one->outer]);
	}
	return out;
}

/* Instructions lie in the order of their functions, so that those of one follow each other. */
static void add_match(LodeAnnotatedPlaces *self, uint32_t instruction, double total)
{
	const LodeInstruction *row = lode_profile_instruction(self->profile, instruction);
	LodeAnnotatedMatch match = {instruction, 1, row->count};
	guint n = self->places->len;
	bool is_new = n == 0 || place_at(self, n - 1)->function != row->function ||
	              place_at(self, n - 1)->n_matches == 0;

	if (is_new) {
		LodeAnnotatedPlace place = {
			.function = row->function,
			.instruction = instruction,
			.first_match = self->matches->len,
			.order = n,
		};
		g_array_append_val(self->places, place);
	}
	g_array_append_val(self->matches, match);
	LodeAnnotatedPlace *place = place_at(self, self->places->len - 1);
	place->n_matches++;
	place->executions = fmax(place->executions, row->count);
	place->share += lode_share_of(weight_of(self, instruction), total);
}

/* Adds what passes through the locations: their code, and what is inlined by it. */
static void add_matches(LodeAnnotatedPlaces *self, const bool *is_wanted)
{
	const LodeProfile *profile = self->profile;
	g_autofree bool *through = inlinings_through(profile, is_wanted);
	double total = total_weight(self);

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t location = lode_profile_instruction(profile, i)->location;
		uint32_t inlining = lode_profile_inlining_of(profile, i);
		if ((location != LODE_NONE && is_wanted[location]) ||
			(inlining != LODE_NONE && through[inlining]))
			add_match(self, i, total);
	}
}

/* Adds the places that a function, of which this is the name, is inlined at. */
static void add_inlined(LodeAnnotatedPlaces *self, const char *name)
{
	const GArray *locations = self->profile->code.locations;
	g_autofree bool *is_wanted = g_new0(bool, locations->len + 1);

	for (guint i = 0; i < locations->len; i++) {
		const char *inlined = LODE_AT(locations, LodeLocation, i).inlined;
		is_wanted[i] = inlined != NULL && strcmp(inlined, name) == 0;
	}
	add_matches(self, is_wanted);
}

/* --- which of several functions --- */

/* Whether it is known that all lines of a function are the toolchain's. */
static bool is_of_toolchain(
	const LodeAnnotatedPlaces *self, const LodeOwnLines *own, uint32_t function)
{
	const LodeFunction *row = lode_profile_function(self->profile, function);
	bool has_line = false;

	for (uint32_t i = row->first_instruction; i < row->first_instruction + row->n_instructions;
		i++) {
		uint32_t line = lode_own_lines_find(own, i);
		if (line == LODE_NONE)
			continue;
		if (lode_own_lines_is_own(own, line))
			return false;
		has_line = true;
	}
	return has_line;
}

/* Leaves the user's own functions, where there are some. */
static void prefer_own(const LodeAnnotatedPlaces *self, GArray *found, GPtrArray *inlined)
{
	const LodeProfile *profile = self->profile;
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, self->options->own);
	g_autoptr(GHashTable) own_names = g_hash_table_new(NULL, NULL);
	g_autoptr(GArray) own_found = g_array_new(FALSE, FALSE, sizeof(Named));
	g_autoptr(GPtrArray) own_inlined = g_ptr_array_new();

	for (guint i = 0; i < profile->code.locations->len; i++)
		if (lode_own_lines_is_own(own, i))
			g_hash_table_add(own_names,
				LODE_AT(profile->code.locations, LodeLocation, i).inlined);
	for (guint i = 0; i < found->len; i++)
		if (!is_of_toolchain(self, own, g_array_index(found, Named, i).function))
			g_array_append_val(own_found, g_array_index(found, Named, i));
	for (guint i = 0; i < inlined->len; i++)
		if (g_hash_table_contains(own_names, inlined->pdata[i]))
			g_ptr_array_add(own_inlined, inlined->pdata[i]);
	if (own_found->len + own_inlined->len == 0)
		return;
	g_array_set_size(found, 0);
	g_array_append_vals(found, own_found->data, own_found->len);
	g_ptr_array_set_size(inlined, 0);
	g_ptr_array_extend(inlined, own_inlined, NULL, NULL);
}

static void refuse_several(const LodeAnnotatedPlaces *self, const GArray *found,
	const GPtrArray *inlined, bool is_same_name, GError **error)
{
	guint n = found->len + inlined->len;
	g_autoptr(GString) list = g_string_new(NULL);
	const char *name = self->options->name;

	for (guint i = 0; i < found->len && i < MAX_LISTED; i++) {
		const LodeFunction *function = lode_profile_function(
			self->profile, g_array_index(found, Named, i).function);
		g_autofree char *brief = lode_function_name_short(function->name);
		guint n_same = 0, n_brief = 0;
		for (guint j = 0; j < found->len; j++) {
			const LodeFunction *other = lode_profile_function(
				self->profile, g_array_index(found, Named, j).function);
			n_same += strcmp(other->name, function->name) == 0;
			n_brief += lode_name_passes(LODE_NAME_SHORT, other->name, NULL, brief);
		}
		g_string_append_printf(
			list, "%s'%s", i > 0 ? ", " : "", n_brief == 1 ? brief : function->name);
		if (is_same_name || n_same > 1)
			g_string_append_printf(
				list, "@0x%" G_GINT64_MODIFIER "x", function->address);
		g_string_append_c(list, '\'');
	}
	for (guint i = 0; i < inlined->len && found->len + i < MAX_LISTED; i++) {
		g_autofree char *brief = lode_function_name_short(inlined->pdata[i]);
		g_string_append_printf(list, "%s'%s'", list->len > 0 ? ", " : "", brief);
	}
	if (n > MAX_LISTED)
		g_string_append_printf(list, " and %u more", n - MAX_LISTED);
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		is_same_name ? "%u functions have the name '%s'; type one of %s"
			     : "%u functions have '%s' in their names; type one of %s",
		n, name, list->str);
}

static void refuse_unknown_function(const LodeAnnotatedPlaces *self, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (uint32_t i = 0; i < self->profile->code.functions->len; i++)
		g_ptr_array_add(names, lode_profile_function(self->profile, i)->name);
	g_autoptr(GPtrArray) inlined = inlined_with(self, LODE_NAME_PART, "");
	g_ptr_array_extend(names, inlined, NULL, NULL);
	g_ptr_array_add(names, NULL);
	const char *nearest = lode_suggestion(
		self->options->name, (const char *const *)names->pdata);
	if (nearest != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no function '%s' in the profile; did you mean '%s'?", self->options->name,
			nearest);
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no function '%s' in the profile: 'lode report FILE --functions' lists "
			"them",
			self->options->name);
}

static void add_function(LodeAnnotatedPlaces *self, uint32_t number, double weight, double total)
{
	const LodeFunction *function = lode_profile_function(self->profile, number);
	LodeAnnotatedPlace place = {
		.function = number,
		.instruction = function->n_instructions > 0 ? function->first_instruction
	                                                    : LODE_NONE,
		.executions = function->calls,
		.share = lode_share_of(weight, total),
		.order = self->places->len,
	};

	g_array_append_val(self->places, place);
}

static bool find_numbered_function(LodeAnnotatedPlaces *self, GError **error)
{
	uint32_t number = self->options->function;

	if (number >= self->profile->code.functions->len) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no function %u in the profile", number);
		return false;
	}
	add_function(self, number, function_weight(self, number), total_weight(self));
	settle_places(self);
	return true;
}

/* Whether they are what a compiler made of one function while the program ran, one after the other.
 */
static bool are_versions(const LodeAnnotatedPlaces *self, const GArray *found)
{
	const LodeProfile *profile = self->profile;
	const LodeFunction *first = NULL;

	for (guint i = 0; i < found->len; i++) {
		const LodeFunction *one = lode_profile_function(
			profile, g_array_index(found, Named, i).function);
		first = first != NULL ? first : one;
		if (!lode_function_is_version(profile, one, first))
			return false;
	}
	return first != NULL;
}

static bool find_function(LodeAnnotatedPlaces *self, GError **error)
{
	const char *name = self->options->name;

	if (self->options->function != LODE_NONE)
		return find_numbered_function(self, error);
	g_autoptr(GArray) addressed = functions_at_address(self, name);
	g_autoptr(GArray) found = functions_with(self, LODE_NAME_WHOLE, name);
	bool is_same = found->len > 0, is_addressed = !is_same && addressed->len > 0;
	double total = total_weight(self);

	g_autoptr(GPtrArray) inlined = inlined_with(self, LODE_NAME_WHOLE, name);

	/* The strictest test that some function passes. */
	for (int test = LODE_NAME_WHOLE + 1;
		test < LODE_N_NAME_TESTS && found->len + inlined->len == 0 && !is_addressed;
		test++) {
		g_array_unref(found);
		g_ptr_array_unref(inlined);
		found = functions_with(self, (LodeNameTest)test, name);
		inlined = inlined_with(self, (LodeNameTest)test, name);
	}
	/* Two images may have the same function at the same address: then both are shown. */
	if (is_addressed) {
		g_array_unref(found);
		found = g_array_ref(addressed);
		g_ptr_array_set_size(inlined, 0);
	}
	if (found->len + inlined->len == 0) {
		refuse_unknown_function(self, error);
		return false;
	}
	if (found->len + inlined->len > 1)
		prefer_own(self, found, inlined);
	/* A function that is called here and inlined there is one. */
	const char *only = found->len > 0 ? lode_profile_function(self->profile,
						    g_array_index(found, Named, 0).function)
	                                            ->name
	                                  : inlined->pdata[0];
	for (guint i = inlined->len; i-- > 0;)
		if (found->len > 0 && lode_function_name_is_version(inlined->pdata[i], only))
			only = g_ptr_array_remove_index(inlined, i);
	if (found->len + inlined->len > 1 && !is_addressed && !are_versions(self, found)) {
		refuse_several(self, found, inlined, is_same, error);
		return false;
	}
	for (guint i = 0; i < found->len; i++) {
		const Named *one = &g_array_index(found, Named, i);
		add_function(self, one->function, one->weight, total);
	}
	guint n_found = self->places->len;
	add_inlined(self, only);
	if (self->places->len > n_found)
		self->inlined = only;
	settle_places(self);
	return true;
}

/* --- a diagnosis --- */

/* The functions that call a service, where it is not known by which instruction. */
static void add_callers(LodeAnnotatedPlaces *self, const LodeDiagnosis *diagnosis)
{
	double total = total_weight(self);

	for (uint32_t i = 0; i < self->profile->code.functions->len; i++)
		if (g_strcmp0(lode_profile_function(self->profile, i)->name,
			    diagnosis->site.function) == 0)
			add_function(self, i, function_weight(self, i), total);
	settle_places(self);
}

static bool find_diagnosis(LodeAnnotatedPlaces *self, GError **error)
{
	const LodeDiagnoses *diagnoses = self->options->diagnoses;
	guint n = diagnoses->diagnoses->len;

	if (self->options->id < 1 || self->options->id > n) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"D%" G_GUINT64_FORMAT ": the profile has %u diagnos%s", self->options->id,
			n, n == 1 ? "is" : "es");
		return false;
	}
	self->index = (uint32_t)(self->options->id - 1);
	const LodeDiagnosis *one = lode_diagnoses_at(diagnoses, self->index);
	const GArray *at = one->at;
	if (at->len == 0) {
		add_callers(self, one);
		return true;
	}
	take_places(self, at, 0, at->len);
	for (uint32_t i = 0; i < self->n_shown; i++) {
		LodeAnnotatedMatch match = {place_at(self, i)->instruction, 1, (double)NAN};
		place_at(self, i)->first_match = self->matches->len;
		place_at(self, i)->n_matches = 1;
		g_array_append_val(self->matches, match);
	}
	return true;
}

/* --- a source line --- */

/* "src/list.c" names any file whose path ends so. */
static bool is_file(const char *path, const char *wanted)
{
	size_t length = strlen(path), end = strlen(wanted);

	return length >= end && strcmp(path + length - end, wanted) == 0 &&
	       (length == end || path[length - end - 1] == '/');
}

static void refuse_unknown_file(const LodeAnnotatedPlaces *self, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *wanted = g_path_get_basename(self->options->name);

	for (guint i = 0; i < self->profile->code.locations->len; i++) {
		const LodeLocation *location = &LODE_AT(
			self->profile->code.locations, LodeLocation, i);
		if (location->file != NULL)
			g_ptr_array_add(names, g_path_get_basename(location->file));
	}
	if (names->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no source lines; code with debug information (gcc -g) "
			"has");
		return;
	}
	g_ptr_array_add(names, NULL);
	const char *nearest = lode_suggestion(wanted, (const char *const *)names->pdata);
	bool is_other_folder = nearest != NULL && strcmp(nearest, wanted) == 0;
	if (nearest != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			is_other_folder ? "no code of '%s' in the profile, but of another '%s'"
					: "no code of '%s' in the profile; did you mean '%s'?",
			self->options->name, nearest);
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no code of '%s' in the profile", self->options->name);
}

static void refuse_unknown_line(
	const LodeAnnotatedPlaces *self, uint32_t before, uint32_t after, GError **error)
{
	g_autoptr(GString) nearest = g_string_new(NULL);

	if (before != 0 && after != LODE_NONE)
		g_string_printf(nearest, "lines that did are %u and %u", before, after);
	else
		g_string_printf(nearest, "line that did is %u", before != 0 ? before : after);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"no code of line %u of '%s' executed; the nearest %s", self->options->line,
		self->options->name, nearest->str);
}

/* Marks the locations that some executed code has, or was inlined by. The caller frees it. */
static bool *used_locations(const LodeProfile *profile)
{
	bool *used = g_new0(bool, profile->code.locations->len + 1);
	g_autofree bool *inlinings = g_new0(bool, profile->code.inlinings->len + 1);

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t location = lode_profile_instruction(profile, i)->location;
		uint32_t inlining = lode_profile_inlining_of(profile, i);
		if (location != LODE_NONE)
			used[location] = true;
		if (inlining != LODE_NONE)
			inlinings[inlining] = true;
	}
	for (guint i = profile->code.inlinings->len; i-- > 0;) {
		const LodeInlining *one = &LODE_AT(profile->code.inlinings, LodeInlining, i);
		used[one->location] |= inlinings[i];
		if (one->outer != LODE_NONE)
			inlinings[one->outer] |= inlinings[i];
	}
	return used;
}

static bool find_line(LodeAnnotatedPlaces *self, GError **error)
{
	const GArray *locations = self->profile->code.locations;
	g_autofree bool *is_used = used_locations(self->profile);
	g_autofree bool *is_wanted = g_new0(bool, locations->len + 1);
	uint32_t line = self->options->line, before = 0, after = LODE_NONE;
	bool has_file = false;

	for (guint i = 0; i < locations->len; i++) {
		const LodeLocation *here = &LODE_AT(locations, LodeLocation, i);
		if (!is_used[i] || here->line == 0 || here->file == NULL ||
			!is_file(here->file, self->options->name))
			continue;
		has_file = true;
		is_wanted[i] = here->line == line;
		if (here->line < line)
			before = MAX(before, here->line);
		else if (here->line > line)
			after = MIN(after, here->line);
	}
	add_matches(self, is_wanted);
	if (!has_file)
		refuse_unknown_file(self, error);
	else if (self->places->len == 0)
		refuse_unknown_line(self, before, after, error);
	settle_places(self);
	return self->places->len > 0;
}

/* --- what findings explain --- */

LODE_ORDER(compare_marks, LodeFindingMark, LODE_ASCENDING(instruction), LODE_ASCENDING(finding))

static void gather_marks(LodeAnnotatedPlaces *self)
{
	const LodeFindings *findings = self->run->findings;

	for (uint32_t i = 0; findings != NULL && i < findings->findings->len; i++) {
		const LodeFinding *finding = lode_findings_at(findings, i);
		for (uint32_t j = 0; j < finding->n_places; j++) {
			const LodeFindingPlace *place = &g_array_index(
				findings->places, LodeFindingPlace, finding->first_place + j);
			LodeFindingMark mark = {place->instruction, i, place->time};
			g_array_append_val(self->marks, mark);
		}
	}
	g_array_sort(self->marks, compare_marks);
}

const LodeFindingMark *lode_annotated_places_marks(
	const LodeAnnotatedPlaces *self, uint32_t instruction, uint32_t *out_n)
{
	const LodeFindingMark *marks = (const LodeFindingMark *)(const void *)self->marks->data;
	guint low = 0, high = self->marks->len;

	*out_n = 0;
	if (instruction == LODE_NONE)
		return NULL;
	while (low < high) {
		guint middle = low + (high - low) / 2;
		if (marks[middle].instruction < instruction)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + *out_n < self->marks->len && marks[low + *out_n].instruction == instruction)
		++*out_n;
	return *out_n > 0 ? marks + low : NULL;
}

static void add_explained(const LodeAnnotatedPlaces *self, uint32_t instruction, GArray *explained)
{
	uint32_t n;
	const LodeFindingMark *marks = lode_annotated_places_marks(self, instruction, &n);

	for (uint32_t i = 0; i < n; i++)
		g_array_index(explained, double, marks[i].finding) += marks[i].time;
}

bool lode_annotated_place_is_whole(const LodeAnnotatedPlaces *self, const LodeAnnotatedPlace *place)
{
	return (self->options->subject == LODE_ANNOTATE_FUNCTION ||
		       self->options->subject == LODE_ANNOTATE_DIAGNOSIS) &&
	       place->n_matches == 0;
}

GArray *lode_annotated_places_explained(const LodeAnnotatedPlaces *self)
{
	uint32_t n = self->run->findings != NULL ? self->run->findings->findings->len : 0;
	GArray *explained = g_array_sized_new(FALSE, TRUE, sizeof(double), MAX(n, 1));

	g_array_set_size(explained, n);
	for (uint32_t i = 0; i < self->places->len; i++) {
		const LodeAnnotatedPlace *place = lode_annotated_places_at(self, i);
		const LodeFunction *function = lode_profile_function(
			self->profile, place->function);
		bool is_whole = lode_annotated_place_is_whole(self, place);
		for (uint32_t j = 0; j < function->n_instructions && is_whole; j++)
			add_explained(self, function->first_instruction + j, explained);
		for (uint32_t j = 0; j < place->n_matches; j++)
			add_explained(self,
				g_array_index(
					self->matches, LodeAnnotatedMatch, place->first_match + j)
					.instruction,
				explained);
	}
	return explained;
}

/* --- life cycle --- */

bool lode_annotated_places_init(LodeAnnotatedPlaces *self, const LodeProfile *profile,
	const LodeMiningRun *run, const LodeAnnotateOptions *options, GError **error)
{
	static bool (*const find[])(LodeAnnotatedPlaces *, GError **) = {
		[LODE_ANNOTATE_SEQUENCE] = find_sequence,
		[LODE_ANNOTATE_FINDING] = find_finding,
		[LODE_ANNOTATE_DIAGNOSIS] = find_diagnosis,
		[LODE_ANNOTATE_FUNCTION] = find_function,
		[LODE_ANNOTATE_LINE] = find_line,
	};

	*self = (LodeAnnotatedPlaces){
		.profile = profile,
		.run = run,
		.options = options,
		.weight_event = lode_profile_weight_of(profile, run),
		.places = g_array_new(FALSE, FALSE, sizeof(LodeAnnotatedPlace)),
		.matches = g_array_new(FALSE, FALSE, sizeof(LodeAnnotatedMatch)),
		.marks = g_array_new(FALSE, FALSE, sizeof(LodeFindingMark)),
	};
	gather_marks(self);
	return find[options->subject](self, error);
}

void lode_annotated_places_clear(LodeAnnotatedPlaces *self)
{
	lode_occurrences_free(self->occurrences);
	g_clear_pointer(&self->places, g_array_unref);
	g_clear_pointer(&self->matches, g_array_unref);
	g_clear_pointer(&self->marks, g_array_unref);
}
