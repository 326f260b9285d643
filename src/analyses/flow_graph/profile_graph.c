/* SPDX-License-Identifier: MIT */
/*
 * From a profile to the graph that is mined. At granularity instruction a vertex is an instruction;
 * at block or function it is a group of them, which executes as often as its first one (a function:
 * as often as it is called), costs the sum, and carries the union of their attributes but op:.
 */
#include "analyses/flow_graph/attribute_namespaces.h"
#include "analyses/flow_graph/flow_graph_builder.h"
#include "analyses/flow_graph/function_filter.h"
#include "base/arrays/id_cache.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/causes.h"
#include "model/mined/event_grade.h"
#include "model/mining_run.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* --- attributes that are mined --- */

/* Which attributes are mined: namespaces to keep, globs to drop.
 * */

typedef struct {
	char **namespaces;   /* NULL: all */
	GPtrArray *excludes; /* GPatternSpec */
} AttributeFilter;

/* These are so many that each multiplies the number of sequences. */
static const char default_excludes[] =
	"needs:load-*,address:load-*,address:invariant,address:early,chain:2";
static const char own_namespaces[] = LODE_NAMESPACES_MINED "," LODE_NAMESPACES_OF_FACTS
							   "," LODE_NAMESPACES_OTHER;

/* Adds a comma-separated list of globs. */
static void add_excludes(AttributeFilter *self, const char *list)
{
	g_auto(GStrv) globs = g_strsplit(list, ",", -1);

	for (char **glob = globs; *glob != NULL; glob++)
		if (**glob != '\0')
			g_ptr_array_add(self->excludes, g_pattern_spec_new(g_strstrip(*glob)));
}

static bool has_namespace(const char *attribute, const char *name)
{
	size_t length = strlen(name);

	return strncmp(attribute, name, length) == 0 && attribute[length] == ':';
}

static bool check_namespace(const LodeProfile *profile, const char *name, GError **error)
{
	if (strchr(name, ':') == NULL && lode_namespaces_have(own_namespaces, name))
		return true;
	for (guint i = 0; i < profile->code.attributes->len; i++)
		if (has_namespace(g_ptr_array_index(profile->code.attributes, i), name))
			return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"no attribute of this profile has the namespace '%s' (lode's own are %s)", name,
		own_namespaces);
	return false;
}

/* Errors: _USAGE when a namespace is neither lode's own nor carried by any attribute. */
static bool attribute_filter_init(AttributeFilter *self, const LodeProfile *profile,
	const LodeMiningParameters *parameters, GError **error)
{
	const char *wanted = parameters->attributes;

	*self = (AttributeFilter){0};
	self->excludes = g_ptr_array_new_with_free_func(
		(GDestroyNotify)(void (*)(void))g_pattern_spec_free);
	if (wanted == NULL && profile->run.frequency != LODE_FREQUENCY_GIVEN) {
		wanted = LODE_NAMESPACES_MINED;
		add_excludes(self, default_excludes);
	}
	if (wanted != NULL)
		self->namespaces = g_strsplit(wanted, ",", -1);
	for (char **name = self->namespaces; name != NULL && *name != NULL; name++)
		if (!check_namespace(profile, g_strstrip(*name), error))
			return false;
	if (parameters->exclude != NULL)
		add_excludes(self, parameters->exclude);
	return true;
}

static void attribute_filter_clear(AttributeFilter *self)
{
	g_clear_pointer(&self->namespaces, g_strfreev);
	g_clear_pointer(&self->excludes, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AttributeFilter, attribute_filter_clear)

/* Whether the attribute "namespace:value" is mined. One without a namespace always is, unless
 * excluded. */
static bool attribute_filter_has(const AttributeFilter *self, const char *attribute)
{
	bool is_kept = self->namespaces == NULL || strchr(attribute, ':') == NULL;

	for (char **name = self->namespaces; !is_kept && *name != NULL; name++)
		is_kept = has_namespace(attribute, *name);
	for (guint i = 0; is_kept && i < self->excludes->len; i++)
		is_kept = !g_pattern_spec_match_string(
			g_ptr_array_index(self->excludes, i), attribute);
	return is_kept;
}

/* --- the graph --- */

enum {
	MAX_GRADED_EVENTS = 32, /* two bits of a class's key for each */
	ENOUGH_SAMPLES = 4,     /* half of which may be chance */
};

/* The attributes that an event gives. */
typedef struct {
	uint32_t ids[LODE_N_EVENT_GRADES]; /* of the builder; LODE_NONE: not mined */
	double rates[LODE_N_EVENT_GRADES]; /* that they need; infinite: not given */
	double enough;                     /* the value that a grade above the first needs */
} EventAttributes;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningParameters *parameters;
	LodeFlowGraphBuilder *builder;
	AttributeFilter filter;
	LodeFunctionFilter functions;
	uint32_t weight_event;
	GArray *events;    /* uint32_t: profile events that are the graph's events */
	uint32_t *kept;    /* profile attribute → builder attribute, LODE_NONE: not mined */
	GArray *ev_events; /* uint32_t: profile events that give ev: attributes */
	EventAttributes *ev_attributes; /* of each of ev_events */
	LodeIdCache classes;            /* by (attribute set, grades) */
	uint32_t *vertices;             /* instruction → vertex; LODE_NONE: filtered out */
	bool *is_call;    /* instruction: has edges to callees; NULL: not across calls */
	double *returned; /* instruction: what returns to it by edges of the graph; likewise */
	GArray *scratch;  /* uint32_t: attributes of the vertex being built */
	GArray *shares;   /* Share, by profile event */
	uint32_t *share_starts; /* [profile events + 1]: range of shares */
	double *values;         /* the slots of the vertex being built: the graph's events, the
	                           weight, and those of ev_events */
	double *own;            /* likewise, of one instruction of it */
	uint32_t n_slots;
} Construction;

/* The factor by which a stored event adds to a slot. */
typedef struct {
	uint32_t slot;
	double factor;
} Share;

/* Executions are the n(v) of every vertex already: as an event they would repeat Sf. */
static bool is_plain_count(const LodeProfile *profile, const LodeEvent *event)
{
	for (guint i = 0; event->terms != NULL && i < event->terms->len; i++) {
		uint32_t term = LODE_AT(event->terms, LodeEventTerm, i).event;
		if (lode_profile_event(profile, term)->kind != LODE_EVENT_COUNT)
			return false;
	}
	return !lode_event_kind_has_costs(event->kind);
}

/* An event as sampled and as charged gets one column: the weight's own twin, and otherwise the
 * sampled one, would repeat it. */
static bool has_twin_column(const Construction *self, uint32_t event)
{
	const LodeProfile *profile = self->profile;

	return lode_profile_event_as_charged(profile, event) != LODE_NONE ||
	       (self->weight_event == lode_profile_event_as_sampled(profile, event));
}

static bool choose_events(Construction *self, GError **error)
{
	const LodeProfile *profile = self->profile;
	const char *weight = self->parameters->weight;

	self->weight_event = weight != NULL ? lode_profile_find_event(profile, weight)
	                                    : profile->code.weight_event;
	if (self->weight_event == LODE_NONE) {
		g_autoptr(GString) names = g_string_new(NULL);
		for (guint i = 0; i < profile->code.events->len; i++)
			g_string_append_printf(names, " %s", lode_profile_event(profile, i)->name);
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no event '%s' in this profile; it has:%s", weight != NULL ? weight : "",
			names->str);
		return false;
	}
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(profile, i);
		if (i != self->weight_event && !is_plain_count(profile, event) &&
			!has_twin_column(self, i))
			g_array_append_val(self->events, i);
		if (event->is_attribute)
			g_array_append_val(self->ev_events, i);
	}
	return true;
}

static bool is_sampled(const LodeProfile *profile, uint32_t event)
{
	const LodeEvent *row = lode_profile_event(profile, event);

	for (guint i = 0; row->terms != NULL && i < row->terms->len; i++)
		if (lode_profile_event(profile, LODE_AT(row->terms, LodeEventTerm, i).event)
				->kind == LODE_EVENT_SAMPLED)
			return true;
	return row->kind == LODE_EVENT_SAMPLED;
}

/* The value of one sample of an event, or more: the median of the instructions that have any. 0:
 * there is none. */
static double typical_value(const LodeProfile *profile, uint32_t event)
{
	g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
	uint32_t sampled = lode_profile_event_as_sampled(profile, event);

	/* Samples are whole only where they were taken. */
	if (sampled != LODE_NONE)
		event = sampled;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		double value = lode_profile_event_value(profile, event, i);
		if (value > 0)
			g_array_append_val(values, value);
	}
	if (values->len == 0)
		return 0;
	g_array_sort(values, lode_compare_doubles);
	return g_array_index(values, double, values->len / 2);
}

/*
 * Where executions are estimated, an event's rate per execution is not known: any sample gives the
 * first attribute, and nothing gives the others. Where they were counted and the event was sampled,
 * the others need some samples: one sample of a long period on an instruction that is rare would
 * make any rate.
 */
static void choose_event_attributes(Construction *self, uint32_t event, EventAttributes *out)
{
	const LodeProfile *profile = self->profile;
	bool is_exact = profile->run.frequency == LODE_FREQUENCY_EXACT;
	g_autofree char *first = lode_event_attribute(lode_profile_event(profile, event));

	for (unsigned i = 0; i < LODE_N_EVENT_GRADES; i++) {
		double rate = lode_event_grade_rate(i, self->parameters->event_rate);
		g_autofree char *name = g_strconcat(first, lode_event_grade_suffix(i), NULL);
		out->ids[i] = LODE_NONE;
		out->rates[i] = is_exact ? rate : i == 0 ? 0 : INFINITY;
		if (isfinite(out->rates[i]) && attribute_filter_has(&self->filter, name))
			out->ids[i] = lode_flow_graph_builder_attribute(self->builder, name);
	}
	if (is_exact && is_sampled(profile, event)) {
		double typical = typical_value(profile, event);
		out->enough = typical > 0 ? ENOUGH_SAMPLES * typical : INFINITY;
	}
}

static void choose_attributes(Construction *self)
{
	const GPtrArray *attributes = self->profile->code.attributes;

	self->kept = g_new(uint32_t, attributes->len + 1);
	for (guint i = 0; i < attributes->len; i++) {
		const char *name = g_ptr_array_index(attributes, i);
		bool is_kept = attribute_filter_has(&self->filter, name);
		/* The mnemonic of one instruction says nothing about a group. */
		if (self->parameters->granularity != LODE_GRANULARITY_INSTRUCTION &&
			g_str_has_prefix(name, "op:"))
			is_kept = false;
		self->kept[i] = is_kept ? lode_flow_graph_builder_attribute(self->builder, name)
		                        : LODE_NONE;
	}
	self->ev_attributes = g_new0(EventAttributes, self->ev_events->len + 1);
	for (guint i = 0; i < self->ev_events->len; i++)
		choose_event_attributes(
			self, LODE_AT(self->ev_events, uint32_t, i), &self->ev_attributes[i]);
}

/* The slots that profile event `event` is, or is part of. */
static void add_shares(Construction *self, uint32_t event, uint32_t wanted, uint32_t slot)
{
	const LodeEvent *one = lode_profile_event(self->profile, wanted);

	if (event == wanted && one->kind != LODE_EVENT_DERIVED) {
		Share share = {slot, 1};
		g_array_append_val(self->shares, share);
	}
	for (guint i = 0; one->terms != NULL && i < one->terms->len; i++) {
		const LodeEventTerm *term = &LODE_AT(one->terms, LodeEventTerm, i);
		Share share = {slot, term->factor};
		if (term->event == event)
			g_array_append_val(self->shares, share);
	}
}

static void prepare_slots(Construction *self)
{
	uint32_t n = self->profile->code.events->len;

	self->n_slots = self->events->len + 1 + self->ev_events->len;
	self->values = g_new0(double, self->n_slots);
	self->own = g_new0(double, self->n_slots);
	self->share_starts = g_new0(uint32_t, n + 1);
	for (uint32_t event = 0; event < n; event++) {
		uint32_t slot = 0;
		for (guint i = 0; i < self->events->len; i++)
			add_shares(self, event, LODE_AT(self->events, uint32_t, i), slot++);
		add_shares(self, event, self->weight_event, slot++);
		for (guint i = 0; i < self->ev_events->len; i++)
			add_shares(self, event, LODE_AT(self->ev_events, uint32_t, i), slot++);
		self->share_starts[event + 1] = self->shares->len;
	}
}

static void add_value(Construction *self, uint32_t event, double value)
{
	for (uint32_t i = self->share_starts[event]; i < self->share_starts[event + 1]; i++) {
		const Share *share = &LODE_AT(self->shares, Share, i);
		self->own[share->slot] += share->factor * value;
	}
}

/* Fills `own` with the slots of one instruction. */
static void read_slots(Construction *self, uint32_t instruction)
{
	const LodeProfile *profile = self->profile;
	uint32_t end = LODE_AT(profile->code.cost_starts, uint32_t, instruction + 1);

	memset(self->own, 0, sizeof(double) * self->n_slots);
	for (uint32_t i = 0; i < profile->code.events->len; i++)
		if (lode_profile_event(profile, i)->kind == LODE_EVENT_COUNT)
			add_value(self, i, lode_profile_instruction(profile, instruction)->count);
	for (uint32_t i = LODE_AT(profile->code.cost_starts, uint32_t, instruction); i < end; i++) {
		const LodeCost *cost = &LODE_AT(profile->code.costs, LodeCost, i);
		add_value(self, cost->event, cost->value);
	}
}

/* Two bits for each of the first events: how many of the grades an event reaches on the instruction
 * whose slots were read. */
static uint64_t event_grades(const Construction *self, double count)
{
	const double *values = self->own + self->events->len + 1;
	uint64_t grades = 0;

	for (guint i = 0; i < MIN(self->ev_events->len, MAX_GRADED_EVENTS); i++) {
		const EventAttributes *given = &self->ev_attributes[i];
		uint64_t reached = 0;
		for (unsigned j = 0; j < LODE_N_EVENT_GRADES && values[i] > 0; j++)
			if (values[i] >= given->rates[j] * count &&
				(j == 0 || values[i] >= given->enough))
				reached = j + 1;
		grades |= reached << 2 * i;
	}
	return grades;
}

static void gather_attributes(Construction *self, uint32_t attribute_set, uint64_t grades)
{
	uint32_t n;
	const uint32_t *members = lode_profile_set_members(self->profile, attribute_set, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = self->kept[members[i]];
		if (id != LODE_NONE)
			g_array_append_val(self->scratch, id);
	}
	for (guint i = 0; i < MIN(self->ev_events->len, MAX_GRADED_EVENTS); i++)
		for (unsigned j = 0; j < (grades >> 2 * i & 3); j++)
			if (self->ev_attributes[i].ids[j] != LODE_NONE)
				g_array_append_val(self->scratch, self->ev_attributes[i].ids[j]);
}

/* Few sets of attributes and grades occur, each on many instructions: each is made a class once. */
static uint32_t class_of(Construction *self, uint32_t attribute_set, uint64_t grades)
{
	const LodeIdKey key = {{attribute_set, grades, 0}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->classes, &key, &is_new);

	if (!is_new)
		return slot->id;
	g_array_set_size(self->scratch, 0);
	gather_attributes(self, attribute_set, grades);
	slot->id = lode_flow_graph_builder_class(
		self->builder, (const uint32_t *)(void *)self->scratch->data, self->scratch->len);
	return slot->id;
}

/* Adds the vertex of instructions [first, first + n), all in one function. */
static void add_group(Construction *self, uint32_t first, uint32_t n, double count)
{
	uint32_t class_id = 0;

	memset(self->values, 0, sizeof(double) * self->n_slots);
	g_array_set_size(self->scratch, 0);
	for (uint32_t i = first; i < first + n; i++) {
		const LodeInstruction *one = lode_profile_instruction(self->profile, i);
		read_slots(self, i);
		for (uint32_t j = 0; j < self->n_slots; j++)
			self->values[j] += self->own[j];
		if (n == 1)
			class_id = class_of(
				self, one->attribute_set, event_grades(self, one->count));
		else
			gather_attributes(self, one->attribute_set, event_grades(self, one->count));
	}
	if (n > 1)
		class_id = lode_flow_graph_builder_class(self->builder,
			(const uint32_t *)(void *)self->scratch->data, self->scratch->len);
	uint32_t vertex = lode_flow_graph_builder_add_classed(
		self->builder, self->values[self->events->len], count, class_id, first);
	for (guint e = 0; e < self->events->len; e++)
		lode_flow_graph_builder_add_event(self->builder, e, self->values[e]);
	for (uint32_t i = first; i < first + n; i++)
		self->vertices[i] = vertex;
}

/* Filtered vertices still count in the totals: supports are shares of the whole profile
 * (docs/reference/mining.md §1). */
static void add_totals(Construction *self, uint32_t first, uint32_t n, double count)
{
	memset(self->values, 0, sizeof(double) * self->n_slots);
	for (uint32_t i = first; i < first + n; i++) {
		read_slots(self, i);
		for (uint32_t j = 0; j < self->n_slots; j++)
			self->values[j] += self->own[j];
	}
	lode_flow_graph_builder_add_totals(
		self->builder, self->values[self->events->len], count, self->values);
}

static bool is_same_group(const Construction *self, uint32_t a, uint32_t b)
{
	const LodeInstruction *left = lode_profile_instruction(self->profile, a);
	const LodeInstruction *right = lode_profile_instruction(self->profile, b);

	if (self->parameters->granularity == LODE_GRANULARITY_FUNCTION)
		return true;
	/* A call that is followed ends its vertex, so that what comes back is after it. */
	if (self->is_call != NULL && self->is_call[a])
		return false;
	return self->parameters->granularity == LODE_GRANULARITY_BLOCK &&
	       left->block != LODE_NONE && left->block == right->block;
}

/* A function's first instruction may also be the head of a loop, and execute more often than the
 * function is called. */
static double group_count(const Construction *self, const LodeFunction *function, uint32_t first)
{
	if (self->parameters->granularity == LODE_GRANULARITY_FUNCTION && function->calls > 0)
		return function->calls;
	return lode_profile_instruction(self->profile, first)->count;
}

static void add_function(Construction *self, uint32_t index, bool is_mined)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);
	uint32_t end = function->first_instruction + function->n_instructions;

	if (is_mined && function->n_instructions > 0)
		lode_flow_graph_builder_add_graph(self->builder, index);
	for (uint32_t first = function->first_instruction; first < end;) {
		uint32_t next = first + 1;
		while (next < end && is_same_group(self, first, next))
			next++;
		double count = group_count(self, function, first);
		if (is_mined)
			add_group(self, first, next - first, count);
		else
			add_totals(self, first, next - first, count);
		first = next;
	}
}

/* Inside a group only the way from its end back to its start is an edge. */
static void add_edge(Construction *self, uint32_t source, uint32_t target, double count)
{
	uint32_t from = self->vertices[source], to = self->vertices[target];
	uint32_t n = self->profile->code.instructions->len;

	if (from == LODE_NONE || to == LODE_NONE)
		return;
	bool leaves = source + 1 >= n || self->vertices[source + 1] != from;
	if (self->parameters->granularity != LODE_GRANULARITY_INSTRUCTION && from == to &&
		!(leaves && (target == 0 || self->vertices[target - 1] != self->vertices[target]) &&
			self->parameters->granularity == LODE_GRANULARITY_BLOCK))
		return;
	lode_flow_graph_builder_add_edge(self->builder, from, to, count);
}

static bool is_between_functions(const LodeEdge *edge)
{
	return edge->kind == LODE_EDGE_CALL || edge->kind == LODE_EDGE_RETURN;
}

/* An edge of kind call or return that the graph has. */
static bool is_followed(const Construction *self, const LodeEdge *edge)
{
	if (self->vertices[edge->source] == LODE_NONE || self->vertices[edge->target] == LODE_NONE)
		return false;
	return self->parameters->across_calls ||
	       (edge->kind == LODE_EDGE_CALL &&
		       self->parameters->granularity == LODE_GRANULARITY_FUNCTION);
}

static void find_calls(Construction *self)
{
	const LodeProfile *profile = self->profile;

	if (!self->parameters->across_calls)
		return;
	self->is_call = g_new0(bool, profile->code.instructions->len + 1);
	self->returned = g_new0(double, profile->code.instructions->len + 1);
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (edge->kind == LODE_EDGE_CALL)
			self->is_call[edge->source] = true;
	}
}

static void add_call_edges(Construction *self)
{
	const LodeProfile *profile = self->profile;

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (!is_between_functions(edge) || !is_followed(self, edge))
			continue;
		lode_flow_graph_builder_add_edge(self->builder, self->vertices[edge->source],
			self->vertices[edge->target], edge->count);
		if (edge->kind == LODE_EDGE_RETURN)
			self->returned[edge->target] += edge->count;
	}
}

/* The way from a call to the instruction after it stands for what the callee did, so that it is
 * left only what is not known to return there. Return edges leave out shares below half an
 * execution. */
static void add_straight_edge(Construction *self, uint32_t source, uint32_t target, double count)
{
	if (self->is_call == NULL || !self->is_call[source] || !(self->returned[target] > 0))
		add_edge(self, source, target, count);
	else if (count - self->returned[target] >= 0.5)
		add_edge(self, source, target, count - self->returned[target]);
}

static void add_edges(Construction *self)
{
	const LodeProfile *profile = self->profile;

	add_call_edges(self);
	for (uint32_t i = 0; i + 1 < profile->code.instructions->len; i++) {
		double count = lode_profile_instruction(profile, i)->next_count;
		if (count >= 0)
			add_straight_edge(self, i, i + 1, count);
	}
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		uint32_t from = lode_profile_instruction(profile, edge->source)->function;
		uint32_t to = lode_profile_instruction(profile, edge->target)->function;
		if (is_between_functions(edge) || from != to)
			continue;
		if (edge->kind == LODE_EDGE_FALL_THROUGH)
			add_straight_edge(self, edge->source, edge->target, edge->count);
		else
			add_edge(self, edge->source, edge->target, edge->count);
	}
}

static void clear_construction(Construction *self)
{
	attribute_filter_clear(&self->filter);
	lode_function_filter_clear(&self->functions);
	g_array_unref(self->events);
	g_array_unref(self->ev_events);
	g_array_unref(self->scratch);
	lode_id_cache_clear(&self->classes);
	g_free(self->kept);
	g_free(self->ev_attributes);
	g_free(self->vertices);
	g_free(self->is_call);
	g_free(self->returned);
	g_array_unref(self->shares);
	g_free(self->share_starts);
	g_free(self->values);
	g_free(self->own);
}

static void construct(Construction *self)
{
	const LodeProfile *profile = self->profile;
	g_autofree const char **names = g_new0(const char *, self->events->len + 1);

	for (guint i = 0; i < self->events->len; i++)
		names[i] = LODE_AT(
			profile->code.events, LodeEvent, LODE_AT(self->events, uint32_t, i))
		                   .name;
	self->builder = lode_flow_graph_builder_new(names, self->events->len);
	choose_attributes(self);
	prepare_slots(self);
	self->vertices = g_new(uint32_t, profile->code.instructions->len + 1);
	memset(self->vertices, 0xff, sizeof(uint32_t) * (profile->code.instructions->len + 1));
	find_calls(self);
	for (uint32_t i = 0; i < profile->code.functions->len; i++)
		add_function(self, i,
			lode_function_filter_has(
				&self->functions, profile, lode_profile_function(profile, i)));
	add_edges(self);
}

LodeFlowGraph *lode_flow_graph_build(
	const LodeProfile *profile, const LodeMiningParameters *parameters, GError **error)
{
	Construction self = {
		.profile = profile,
		.parameters = parameters,
		.events = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.ev_events = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.shares = g_array_new(FALSE, FALSE, sizeof(Share)),
		.scratch = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	LodeFlowGraph *graph = NULL;

	lode_id_cache_init(&self.classes);
	if (attribute_filter_init(&self.filter, profile, parameters, error) &&
		lode_function_filter_init(&self.functions, parameters, error) &&
		choose_events(&self, error)) {
		construct(&self);
		graph = lode_flow_graph_builder_finish(self.builder);
	}
	clear_construction(&self);
	return graph;
}
