/* SPDX-License-Identifier: MIT */
#include "views/profile/run_options.h"

#include "model/mining_run.h"
#include "views/form/shell_word.h"

static void add_text(GString *line, const char *option, const char *value)
{
	if (value == NULL)
		return;
	g_autofree char *word = lode_shell_word(value);
	g_string_append_printf(line, " %s %s", option, word);
}

static void add_share(GString *line, const char *option, double value, double normal)
{
	if (value != normal)
		g_string_append_printf(line, " %s %.6g%%", option, 100 * value);
}

static void add_number(GString *line, const char *option, double value, double normal)
{
	if (value != normal)
		g_string_append_printf(line, " %s %.15g", option, value);
}

static void add_flag(GString *line, const char *option, bool value)
{
	if (value)
		g_string_append_printf(line, " %s", option);
}

/* Several globs were given one by one. */
static void add_excluded(GString *line, const char *globs)
{
	g_auto(GStrv) words = g_strsplit(globs != NULL ? globs : "", ",", -1);

	for (size_t i = 0; words[i] != NULL; i++)
		add_text(line, "--exclude", words[i]);
}

static void add_graph(GString *line, const LodeMiningParameters *self)
{
	add_text(line, "--weight", self->weight);
	add_text(line, "--attributes", self->attributes);
	add_excluded(line, self->exclude);
	add_text(line, "--images", self->images);
	add_text(line, "--functions", self->functions);
	add_text(line, "--origin", self->origins);
	if (self->granularity != LODE_GRANULARITY_INSTRUCTION)
		add_text(line, "--granularity", lode_granularity_to_text(self->granularity));
}

static void add_sequences(
	GString *line, const LodeMiningParameters *self, const LodeMiningParameters *normal)
{
	if (self->top == 0)
		add_share(line, "--min-support", self->min_support, normal->min_support);
	add_share(line, "--min-differential", self->min_differential, normal->min_differential);
	add_number(line, "--min-functions", self->min_functions, normal->min_functions);
	add_number(line, "--top", self->top, normal->top);
	add_number(line, "--gap", self->gap, normal->gap);
	add_number(line, "--window", self->window, normal->window);
	add_number(line, "--iterations", self->iterations, normal->iterations);
	if (self->flow != normal->flow)
		add_text(line, "--flow", lode_flow_model_to_text(self->flow));
	add_number(line, "--event-rate", self->event_rate, normal->event_rate);
	add_flag(line, "--closed", self->only_closed);
	add_flag(line, "--maximal", self->only_maximal);
}

char *lode_run_options(const LodeMiningParameters *parameters)
{
	GString *line = g_string_new(NULL);
	LodeMiningParameters normal;

	lode_mining_parameters_init(&normal);
	add_flag(line, "--instructions", parameters->is_instruction_mode);
	add_flag(line, "--across-calls", parameters->across_calls);
	if (parameters->is_instruction_mode) {
		g_string_append_printf(line, " --min-count %.15g", parameters->min_count);
		add_number(line, "--max-length", parameters->iterations, normal.iterations);
	} else {
		add_sequences(line, parameters, &normal);
	}
	add_graph(line, parameters);
	add_number(line, "--max-sequences", (double)parameters->max_sequences,
		(double)normal.max_sequences);
	if (line->len > 0)
		g_string_erase(line, 0, 1);
	return g_string_free(line, FALSE);
}
