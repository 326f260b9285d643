/* SPDX-License-Identifier: MIT */
#include "model/mining_run.h"

#include "base/arrays/sort_order.h"
#include "base/text/words.h"
#include "model/findings.h"
#include "model/index.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

static const char *const flow_model_words[] = {"potential", "expected", "definite"};
static const char *const granularity_words[] = {"instruction", "block", "function"};

void lode_mining_parameters_init(LodeMiningParameters *self)
{
	*self = (LodeMiningParameters){
		.event_rate = 0.01,
		.min_support = 0.01,
		.min_differential = 2,
		.min_functions = 1,
		.min_count = 100,
		.iterations = 5,
		.max_sequences = 1000000,
	};
}

double lode_mining_default_support(const LodeProfile *profile, const char *weight)
{
	enum { FEWEST_SAMPLES = 10 };
	LodeMiningParameters defaults;
	uint32_t event = weight != NULL ? lode_profile_find_event(profile, weight)
	                                : profile->code.weight_event;

	lode_mining_parameters_init(&defaults);
	if (event == LODE_NONE || profile->run.n_samples == 0 ||
		lode_profile_event(profile, event)->kind != LODE_EVENT_SAMPLED)
		return defaults.min_support;
	return CLAMP(FEWEST_SAMPLES / profile->run.n_samples, defaults.min_support, 1);
}

LodeMiningRun *lode_mining_run_new(const char *name, const LodeMiningParameters *parameters)
{
	LodeMiningRun *self = g_new0(LodeMiningRun, 1);

	self->name = g_strdup(name);
	self->parameters = *parameters;
	self->parameters.weight = g_strdup(parameters->weight);
	self->parameters.attributes = g_strdup(parameters->attributes);
	self->parameters.exclude = g_strdup(parameters->exclude);
	self->parameters.images = g_strdup(parameters->images);
	self->parameters.functions = g_strdup(parameters->functions);
	self->parameters.origins = g_strdup(parameters->origins);
	self->is_complete = true;
	self->attributes = g_ptr_array_new_with_free_func(g_free);
	self->events = g_ptr_array_new_with_free_func(g_free);
	self->items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->sequences = g_array_new(FALSE, TRUE, sizeof(LodeSequence));
	self->event_supports = g_array_new(FALSE, TRUE, sizeof(double));
	return self;
}

void lode_mining_run_free(LodeMiningRun *self)
{
	if (self == NULL)
		return;
	g_free(self->name);
	g_free((char *)self->parameters.weight);
	g_free((char *)self->parameters.attributes);
	g_free((char *)self->parameters.exclude);
	g_free((char *)self->parameters.images);
	g_free((char *)self->parameters.functions);
	g_free((char *)self->parameters.origins);
	g_ptr_array_unref(self->attributes);
	g_ptr_array_unref(self->events);
	g_array_unref(self->items);
	g_array_unref(self->sequences);
	g_array_unref(self->event_supports);
	g_clear_pointer(&self->findings, lode_findings_free);
	g_free(self);
}

double lode_sequence_maximal(const LodeSequence *self)
{
	return fmax(self->weight, self->frequency);
}

double lode_sequence_differential(const LodeSequence *self)
{
	return fabs(self->weight - self->frequency);
}

double lode_sequence_excess(const LodeSequence *self)
{
	return self->weight - self->frequency;
}

static double rounded(double share)
{
	return round(share * LODE_SHARE_UNITS) / LODE_SHARE_UNITS;
}

void lode_mining_run_round(LodeMiningRun *self)
{
	for (guint i = 0; i < self->sequences->len; i++) {
		LodeSequence *sequence = &LODE_AT(self->sequences, LodeSequence, i);
		sequence->weight = rounded(sequence->weight);
	}
	if (self->parameters.is_instruction_mode)
		return;
	for (guint i = 0; i < self->event_supports->len; i++)
		LODE_AT(self->event_supports, double, i) = rounded(
			LODE_AT(self->event_supports, double, i));
}

const uint32_t *lode_mining_run_items(const LodeMiningRun *self, size_t index)
{
	const LodeSequence *sequence = &g_array_index(self->sequences, LodeSequence, index);

	return &g_array_index(self->items, uint32_t, sequence->first_item);
}

/* The namespaces whose values explain themselves. */
static const char *short_name(const char *attribute)
{
	static const char *const plain[] = {"op:", "kind:", "mem:", "ev:"};

	for (size_t i = 0; i < G_N_ELEMENTS(plain); i++)
		if (g_str_has_prefix(attribute, plain[i]))
			return attribute + strlen(plain[i]);
	return attribute;
}

/* Where an attribute stands in an element as people read it: what it is, where, what happens. */
static int display_rank(const char *attribute)
{
	static const char *const order[] = {"op:", "kind:", "mem:", "obj:", "at:", "loop:", "inl:",
		"user:", "address:", "needs:", "chain:", "ev:"};
	int rank = 0;

	while (rank < (int)G_N_ELEMENTS(order) && !g_str_has_prefix(attribute, order[rank]))
		rank++;
	return rank;
}

LODE_ORDER_OF_POINTERS(
	compare_display, char, display_rank(left) - display_rank(right), strcmp(left, right))

static void append_element(GString *text, GPtrArray *names)
{
	g_ptr_array_sort(names, compare_display);
	g_string_append(text, text->len == 0 ? "⟨" : " → ⟨");
	for (guint i = 0; i < names->len; i++)
		g_string_append_printf(
			text, "%s%s", i > 0 ? " " : "", short_name(g_ptr_array_index(names, i)));
	g_string_append(text, "⟩");
	g_ptr_array_set_size(names, 0);
}

char *lode_mining_run_sequence_text(const LodeMiningRun *self, size_t index)
{
	const LodeSequence *sequence = &g_array_index(self->sequences, LodeSequence, index);
	const uint32_t *items = lode_mining_run_items(self, index);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	GString *text = g_string_new(NULL);

	for (uint32_t i = 0; i < sequence->n_items; i++) {
		if ((items[i] & LODE_ITEM_START) != 0 && i > 0)
			append_element(text, names);
		g_ptr_array_add(
			names, g_ptr_array_index(self->attributes, LODE_ITEM_ATTRIBUTE(items[i])));
	}
	append_element(text, names);
	return g_string_free(text, FALSE);
}

void lode_mining_run_sequence_json(const LodeMiningRun *self, size_t index, LodeJsonStream *json)
{
	uint32_t n = g_array_index(self->sequences, LodeSequence, index).n_items;
	const uint32_t *items = lode_mining_run_items(self, index);

	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < n; i++) {
		bool is_start = i == 0 || (items[i] & LODE_ITEM_START) != 0;
		if (is_start && i > 0)
			lode_json_end(json, ']');
		if (is_start)
			lode_json_begin(json, '[');
		lode_json_string(
			json, g_ptr_array_index(self->attributes, LODE_ITEM_ATTRIBUTE(items[i])));
	}
	if (n > 0)
		lode_json_end(json, ']');
	lode_json_end(json, ']');
}

const char *lode_flow_model_to_text(LodeFlowModel value)
{
	return flow_model_words[value];
}

int lode_flow_model_from_text(const char *text)
{
	return lode_word_find(flow_model_words, G_N_ELEMENTS(flow_model_words), text);
}

const char *lode_granularity_to_text(LodeGranularity value)
{
	return granularity_words[value];
}

int lode_granularity_from_text(const char *text)
{
	return lode_word_find(granularity_words, G_N_ELEMENTS(granularity_words), text);
}
