/* SPDX-License-Identifier: MIT */
#include "analyses/findings/finding_description.h"

#include "analyses/findings/cost_model.h"
#include "analyses/findings/observations.h"
#include "base/arrays/sort_order.h"
#include "model/findings.h"
#include "model/index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Attributes that this share of a finding's weight has in common are shown with it. */
#define COMMON_SHARE 0.95

/* A place or function counts when the finding explains this many samples there, or this share of
 * what it explains in the average place: weight that was counted is thin. */
#define LEAST_SAMPLES 0.5
#define LEAST_SHARE 0.1

/* --- what the explained weight has in common --- */

typedef struct {
	const LodeFittedFindings *fitted;
	LodeFindings *out;
	double *weights;    /* scratch: [attributes] */
	uint32_t *counts;   /* vertices of the graph that have each attribute */
	uint32_t *ids;      /* attribute of the graph → of the findings + 1 */
	uint32_t *observed; /* vertex of the graph → observed one of its part */
} Description;

/* Whether every vertex with `sign` has the attribute too, so that it says nothing more. */
static bool is_implied(const Description *self, uint32_t sign, uint32_t attribute)
{
	const LodeFlowGraph *graph = self->fitted->seen->graph;

	if (self->counts[sign] > self->counts[attribute])
		return false;
	for (uint32_t c = 0; c < graph->n_classes; c++) {
		bool has_sign = false, has_it = false;
		for (uint32_t i = graph->class_starts[c]; i < graph->class_starts[c + 1]; i++) {
			has_sign |= graph->class_members[i] == sign;
			has_it |= graph->class_members[i] == attribute;
		}
		if (has_sign && !has_it)
			return false;
	}
	return true;
}

static bool is_of(const Description *self, uint32_t attribute, const char *name_space)
{
	return g_str_has_prefix(self->fitted->seen->graph->attribute_names[attribute], name_space);
}

/* Where an instruction's operands come from. */
static bool is_of_operands(const Description *self, uint32_t attribute)
{
	return is_of(self, attribute, "needs:") || is_of(self, attribute, "address:") ||
	       is_of(self, attribute, "chain:");
}

/*
 * Whether an attribute can imply another one. A measured event is not implied by attributes of the
 * code, nor the kind of an instruction by the source of its operands, nor that a call is indirect
 * by any attribute: it is chance that all calls of a small program are, and load their address. A
 * mnemonic may be rarer than its kind or not, by what else ran: with one lock cmpxchg while the
 * program starts, "atomic" would say less than lock xadd. So a mnemonic hides nothing.
 */
static bool can_hide(const Description *self, uint32_t sign, uint32_t attribute)
{
	const char *name = self->fitted->seen->graph->attribute_names[attribute];

	return !is_of(self, sign, "op:") && strcmp(name, "kind:indirect") != 0 &&
	       (!is_of_operands(self, sign) || is_of_operands(self, attribute)) &&
	       (!is_of(self, attribute, "ev:") || is_of(self, sign, "ev:"));
}

static bool is_common(const Description *self, double whole, uint32_t attribute)
{
	const char *name = self->fitted->seen->graph->attribute_names[attribute];
	double share = lode_attribute_is_cause(name) ? LODE_COMMON_CAUSE_SHARE : COMMON_SHARE;

	return whole > 0 && self->weights[attribute] >= share * whole;
}

/*
 * Where code lies says nothing of what it waits for, but for a function's entry: there the
 * processor waits for the call's target, if it does not come by a jump back to it.
 */
static bool is_only_place(const Description *self, double whole, uint32_t attribute)
{
	const LodeFlowGraph *graph = self->fitted->seen->graph;

	if (strcmp(graph->attribute_names[attribute], "at:entry") != 0)
		return is_of(self, attribute, "loop:") || is_of(self, attribute, "at:");
	for (uint32_t a = 0; a < graph->n_attributes; a++)
		if (strcmp(graph->attribute_names[a], "at:loop-head") == 0 &&
			is_common(self, whole, a))
			return true;
	return false;
}

/* The element of a position from `weights`, the weight by attribute out of `whole`, and what was
 * chosen for it. Most telling first, and without what those before imply. */
static void describe_element(Description *self, double whole, const uint32_t *own, size_t n_own)
{
	const LodeFlowGraph *graph = self->fitted->seen->graph;
	LodeFindingElement element = {self->out->items->len, 0};
	g_autoptr(GArray) common = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (size_t i = 0; i < n_own; i++)
		if (own[i] != LODE_NONE)
			g_array_append_val(common, own[i]);
	guint n_chosen = common->len;
	for (uint32_t a = 0; a < graph->n_attributes; a++) {
		bool is_left_out = is_only_place(self, whole, a);
		for (size_t i = 0; i < n_own; i++)
			is_left_out |= own[i] == a;
		if (!is_left_out && is_common(self, whole, a))
			g_array_append_val(common, a);
	}
	for (guint i = 0; i < common->len; i++) {
		uint32_t a = g_array_index(common, uint32_t, i);
		/* Chosen attributes stay, and so does the mnemonic, which people know best. */
		bool is_needed = i < n_chosen || is_of(self, a, "op:");
		for (guint j = 0; j < common->len && !is_needed; j++) {
			uint32_t b = g_array_index(common, uint32_t, j);
			if (j != i && can_hide(self, b, a) && is_implied(self, b, a) &&
				(!is_implied(self, a, b) || j < i))
				break;
			is_needed = j + 1 == common->len;
		}
		if (!is_needed)
			continue;
		if (self->ids[a] == 0) {
			g_ptr_array_add(self->out->attributes, g_strdup(graph->attribute_names[a]));
			self->ids[a] = self->out->attributes->len;
		}
		uint32_t id = self->ids[a] - 1;
		g_array_append_val(self->out->items, id);
		element.n_items++;
	}
	g_array_append_val(self->out->elements, element);
}

static void add_weight(Description *self, uint32_t vertex, double weight)
{
	const LodeFlowGraph *graph = self->fitted->seen->graph;
	uint32_t class_id = graph->attribute_classes[vertex];

	for (uint32_t i = graph->class_starts[class_id]; i < graph->class_starts[class_id + 1]; i++)
		self->weights[graph->class_members[i]] += weight;
}

static bool matches(const LodeFlowGraph *graph, uint32_t vertex, uint32_t attribute)
{
	uint32_t class_id = graph->attribute_classes[vertex];

	for (uint32_t i = graph->class_starts[class_id]; i < graph->class_starts[class_id + 1]; i++)
		if (graph->class_members[i] == attribute)
			return true;
	return attribute == LODE_NONE;
}

/* Adds the attributes of those `steps` before observed vertex u that match the candidate. */
static double weigh_before(Description *self, const LodeObservations *seen,
	const LodeCandidate *one, uint32_t u, int steps, double weight)
{
	const uint32_t *observed = self->observed;
	const LodeFlowGraph *graph = seen->graph;
	double whole = 0;

	for (uint32_t i = seen->before_starts[u]; i < seen->before_starts[u + 1]; i++) {
		LodeNeighbour near = seen->before[i];
		uint32_t p = observed[near.vertex];
		if (near.share <= 0 || !matches(graph, near.vertex, one->before[0]))
			continue;
		if (one->before[1] == LODE_NONE) {
			add_weight(self, near.vertex, weight * (double)near.share);
			whole += weight * (double)near.share;
			continue;
		}
		for (uint32_t j = p != LODE_NONE ? seen->before_starts[p] : 0;
			p != LODE_NONE && j < seen->before_starts[p + 1]; j++) {
			LodeNeighbour far = seen->before[j];
			double part = weight * (double)near.share * (double)far.share;
			if (far.share <= 0 || !matches(graph, far.vertex, one->before[1]))
				continue;
			add_weight(self, steps == 1 ? near.vertex : far.vertex, part);
			whole += part;
		}
	}
	return whole;
}

static double weigh_after(Description *self, const LodeObservations *seen, const LodeCandidate *one,
	uint32_t u, double weight)
{
	double whole = 0;

	for (uint32_t i = seen->after_starts[u]; i < seen->after_starts[u + 1]; i++) {
		LodeNeighbour next = seen->after[i];
		if (next.share <= 0 || !matches(seen->graph, next.vertex, one->after))
			continue;
		add_weight(self, next.vertex, weight * (double)next.share);
		whole += weight * (double)next.share;
	}
	return whole;
}

/* Samples that a term explains at a vertex: its part of those that are there. */
static double explained_at(const LodeCostModel *self, const LodeCostTerm *term, size_t i)
{
	uint32_t k = term->vertices[i].sampled;

	return self->seen->sampled_samples[k] * term->beta * (double)term->vertices[i].share *
	       self->vertices[k].inverse;
}

/* Sums up what the vertices of term `index` have in common `steps` before it, 0: in its focus, −1:
 * after it; of all parts. Gives the whole weight. */
static double weigh(Description *self, guint index, int steps, const LodeCandidate *one)
{
	double whole = 0;

	memset(self->weights, 0, sizeof(double) * (self->fitted->seen->graph->n_attributes + 1));
	for (unsigned p = 0; p < self->fitted->n_parts; p++) {
		const LodeCostModel *model = self->fitted->models[p];
		const LodeObservations *seen = model->seen;
		const LodeCostTerm *term = lode_cost_model_term(model, index);
		for (size_t i = 0; i < term->n_vertices; i++) {
			double weight = explained_at(model, term, i);
			uint32_t u = seen->sampled[term->vertices[i].sampled];
			if (weight <= 0)
				continue;
			if (steps > 0) {
				whole += weigh_before(self, seen, one, u, steps, weight);
			} else if (steps < 0) {
				whole += weigh_after(self, seen, one, u, weight);
			} else {
				add_weight(self, seen->vertices[u], weight);
				whole += weight;
			}
		}
	}
	return whole;
}

static void describe_elements(
	Description *self, LodeFinding *finding, guint index, const LodeCandidate *one)
{
	finding->first_element = self->out->elements->len;
	for (int steps = 2; steps >= 0; steps--) {
		if (steps > 0 && one->before[1] == LODE_NONE &&
			(steps == 2 || one->before[0] == LODE_NONE))
			continue;
		double whole = weigh(self, index, steps, one);
		if (steps == 0)
			finding->focus = self->out->elements->len - finding->first_element;
		describe_element(self, whole, steps == 0 ? one->focus : &one->before[steps - 1],
			steps == 0 ? 2 : 1);
	}
	if (one->after != LODE_NONE)
		describe_element(self, weigh(self, index, -1, one), &one->after, 1);
	finding->n_elements = self->out->elements->len - finding->first_element;
}

/* --- where --- */

LODE_ORDER(compare_places, LodeFindingPlace, LODE_DESCENDING(time), LODE_ASCENDING(instruction))

static void find_places(const LodeCostModel *self, LodeFindings *out, LodeFinding *finding,
	const LodeCostTerm *term)
{
	const LodeObservations *seen = self->seen;
	const LodeFlowGraph *graph = seen->graph;
	g_autofree double *functions = g_new0(double, graph->n_graphs + 1);
	double whole = 0, sum = 0, squares = 0;
	uint32_t n_explained = 0;

	for (size_t i = 0; i < term->n_vertices; i++) {
		double samples = explained_at(self, term, i);
		whole += samples;
		n_explained += samples > 0;
	}
	double least = fmin(LEAST_SAMPLES, LEAST_SHARE * whole / fmax(1, n_explained));
	finding->first_place = out->places->len;
	for (size_t i = 0; i < term->n_vertices; i++) {
		uint32_t vertex = seen->vertices[seen->sampled[term->vertices[i].sampled]];
		double samples = explained_at(self, term, i);
		LodeFindingPlace place = {
			graph->vertex_instructions[vertex], samples / seen->total_samples};
		functions[graph->vertex_graphs[vertex]] += samples;
		finding->places += samples > 0 && samples >= least;
		if (samples > 0)
			g_array_append_val(out->places, place);
	}
	guint n = out->places->len - finding->first_place;
	if (n > 0)
		qsort(&g_array_index(out->places, LodeFindingPlace, finding->first_place), n,
			sizeof(LodeFindingPlace), compare_places);
	finding->n_places = MIN(n, (uint32_t)LODE_FINDING_PLACES);
	g_array_set_size(out->places, finding->first_place + finding->n_places);
	for (uint32_t g = 0; g < graph->n_graphs; g++) {
		finding->functions += functions[g] > 0 && functions[g] >= least;
		sum += functions[g];
		squares += functions[g] * functions[g];
	}
	finding->spread = squares > 0 ? sum * sum / squares : 0;
}

/* The weight that term `index` explains in one part. `finding` has its elements. */
static void describe_part(const LodeCostModel *self, LodeFindings *out, LodeFinding finding,
	guint index, const LodeCostError *error)
{
	const LodeObservations *seen = self->seen;
	const LodeCostTerm *term = lode_cost_model_term(self, index);
	double scatter = sqrt(lode_cost_model_dispersion(self));

	finding.time = lode_cost_model_explained(self, index) / seen->total_samples;
	finding.time_error = scatter * error->explained / seen->total_samples;
	finding.each = term->beta * seen->unit;
	finding.each_error = scatter * error->beta * seen->unit;
	finding.executed = seen->is_counted ? term->executions / seen->total_executions : -1;
	if (!seen->is_counted) {
		finding.each = lode_cost_model_ratio(self, index);
		finding.each_error = finding.time > 0
		                             ? finding.each * finding.time_error / finding.time
		                             : 0;
	}
	find_places(self, out, &finding, term);
	out->explained += finding.time;
	g_array_append_val(out->findings, finding);
}

void lode_fitted_findings_describe(const LodeFittedFindings *self, LodeFindings *const *outs)
{
	const LodeFlowGraph *graph = self->seen->graph;
	g_autofree double *weights = g_new0(double, graph->n_attributes + 1);
	g_autofree uint32_t *counts = g_new0(uint32_t, graph->n_attributes + 1);
	g_autofree uint32_t *ids = g_new0(uint32_t, graph->n_attributes + 1);
	g_autofree uint32_t *observed = g_new(uint32_t, graph->n_vertices + 1);
	LodeCostError *errors[LODE_FITTED_MAX_PARTS] = {NULL};
	Description description = {self, outs[0], weights, counts, ids, observed};

	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		uint32_t class_id = graph->attribute_classes[v];
		observed[v] = LODE_NONE;
		for (uint32_t i = graph->class_starts[class_id];
			i < graph->class_starts[class_id + 1]; i++)
			counts[graph->class_members[i]]++;
	}
	for (unsigned p = 0; p < self->n_parts; p++) {
		const LodeObservations *seen = self->models[p]->seen;
		for (uint32_t u = 0; u < seen->n; u++)
			observed[seen->vertices[u]] = u;
		errors[p] = lode_cost_model_errors(self->models[p]);
		outs[p]->is_counted = seen->is_counted;
		outs[p]->base = seen->is_counted ? self->models[p]->base * seen->unit : 0;
		outs[p]->samples = seen->total_samples;
	}
	for (guint j = 0; j < self->chosen->len; j++) {
		const LodeCandidate *one = &g_array_index(self->candidates->candidates,
			LodeCandidate, g_array_index(self->chosen, uint32_t, j));
		LodeFinding finding = {
			.kind = one->place == LODE_NONE ? LODE_FINDING_PATTERN : LODE_FINDING_PLACE,
		};
		describe_elements(&description, &finding, j, one);
		for (unsigned p = 0; p < self->n_parts; p++)
			describe_part(self->models[p], outs[p], finding, j, &errors[p][j]);
	}
	for (unsigned p = 0; p < self->n_parts; p++)
		g_free(errors[p]);
}
