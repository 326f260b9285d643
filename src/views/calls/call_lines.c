/* SPDX-License-Identifier: MIT */
#include "views/calls/call_lines.h"

#include "base/text/number_format.h"
#include "model/profile.h"
#include "model/run/origins.h"
#include "views/figures/profile_figures.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"

#include <math.h>
#include <string.h>

/* So much of the cost has no names. */
#define UNNAMED_MATTERS 0.2

enum { IMAGE_WIDTH = 24 };

void lode_call_lines_share(GString *out, double cost, double total)
{
	if (!isnan(cost))
		g_string_append(out, LODE_SHARE_TEXT(lode_share_of(cost, total)));
}

double lode_call_lines_share_of(double cost, double total)
{
	return isnan(cost) ? cost : lode_share_of(cost, total);
}

LodeStyle lode_call_lines_image_cell(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	(void)user_data;
	lode_call_lines_image(out, row, terminal);
	return LODE_STYLE_FAINT;
}

void lode_call_lines_image(
	GString *out, const LodeFunctionCost *function, const LodeTerminal *terminal)
{
	g_autofree char *base = g_path_get_basename(function->image);
	g_autoptr(GString) text = g_string_new(NULL);

	lode_display_append(text, base, terminal->is_ascii);
	lode_display_shorten(text, IMAGE_WIDTH, terminal->is_ascii);
	g_string_append(out, text->str);
}

void lode_call_lines_name(
	GString *out, const LodeFunctionCost *function, const LodeTerminal *terminal)
{
	if (function->called != NULL) {
		lode_display_append(out, function->called, terminal->is_ascii);
		g_string_append(out, " (");
	}
	lode_function_name_append(out, function->name, terminal);
	if (function->called != NULL)
		g_string_append_c(out, ')');
	if (function->script_line == 0)
		return;
	g_string_append(out, " (");
	lode_display_append_line(out, function->image, function->script_line, terminal->is_ascii);
	g_string_append_c(out, ')');
}

void lode_call_lines_family(GString *out, const LodeFunctionCosts *costs,
	const LodeFamilies *families, const LodeFamilyCost *cost, size_t width,
	const LodeTerminal *terminal)
{
	unsigned n = MIN(cost->n, G_N_ELEMENTS(cost->members));
	g_autoptr(GString) text = g_string_new(NULL);

	do {
		g_string_assign(text, lode_families_at(families, cost->family)->name);
		for (unsigned i = 0; i < n; i++) {
			const char *name = lode_function_cost_at(costs, cost->members[i])->name;
			g_autofree char *bare = terminal->has_full_names
			                                ? g_strdup(name)
			                                : lode_function_name_bare(name);
			g_string_append(text, i == 0 ? " (" : ", ");
			lode_display_append(text, bare, terminal->is_ascii);
		}
		if (n > 0 && cost->n > n)
			g_string_append_printf(text, " +%u", cost->n - n);
		g_string_append(text, n > 0 ? ")" : "");
	} while (width > 0 && lode_display_width(text->str) > width && n-- > 0);
	g_string_append(out, text->str);
	g_autofree char *number = g_strdup_printf(" (%u functions)", cost->n);
	if (strchr(text->str, '(') == NULL && cost->n > 1 &&
		lode_display_width(text->str) + strlen(number) <= width)
		g_string_append(out, number);
}

/* Whether only some of its origins were chosen. */
static bool is_part(const LodeProfile *profile)
{
	double samples = 0;

	for (guint i = 0; i < profile->origins->len; i++)
		samples += LODE_AT(profile->origins, LodeOrigin, i).n_samples;
	return profile->part == NULL && profile->origins->len > 1 &&
	       samples > profile->run.n_samples;
}

const char *lode_call_lines_advice(const LodeFunctionCosts *costs)
{
	if (costs->source != LODE_CALLS_UNKNOWN)
		return NULL;
	if (is_part(costs->profile))
		return "the stacks of a merged profile are not known by origin";
	return costs->profile->run.n_samples > 0
	               ? "no calls were recorded: record with -g or --call-graph dwarf"
	               : "no calls were recorded";
}

void lode_call_lines_unnamed(
	const LodeFunctionCosts *costs, double total, const LodeTerminal *terminal, FILE *out)
{
	const LodeProfile *profile = costs->profile;
	g_autofree double *of_image = g_new0(double, profile->code.images->len + 1);
	double unnamed = 0;
	uint32_t most = 0;

	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		double self = lode_function_cost_at(costs, i)->self;
		if (function->source != LODE_FUNCTION_UNWIND ||
			lode_profile_image(profile, function->image)->kind != LODE_IMAGE_FILE)
			continue;
		unnamed += self;
		of_image[function->image] += self;
		if (of_image[function->image] > of_image[most])
			most = function->image;
	}
	if (!(unnamed > 0 && unnamed >= UNNAMED_MATTERS * total))
		return;
	g_autofree char *base = g_path_get_basename(lode_profile_image(profile, most)->path);
	g_autoptr(GString) image = g_string_new(NULL);
	lode_display_append(image, base, terminal->is_ascii);
	/* Nobody else has symbols of the kernel's pages. */
	lode_display_print(terminal, out, "%s is in functions without symbols, most in %s%s",
		LODE_SHARE_TEXT(lode_share_of(unnamed, total)), image->str,
		strcmp(base, "[vdso]") == 0 ? "" : ": --debuginfod");
}

void lode_call_lines_short(const LodeFunctionCosts *costs, const LodeTerminal *terminal, FILE *out)
{
	if (lode_function_costs_are_short(costs))
		lode_display_print(terminal, out,
			"The stacks of %s of the samples are one function only, as of programs "
			"without frame pointers: --call-graph dwarf would do better.",
			LODE_SHARE_TEXT(lode_share_of(costs->alone, costs->samples)));
}

void lode_call_lines_note(const LodeFunctionCosts *costs, const LodeTerminal *terminal, FILE *out)
{
	const char *advice = lode_call_lines_advice(costs);

	if (advice != NULL)
		lode_display_print(terminal, out, "Inclusive is not known: %s.", advice);
	else if (costs->source == LODE_CALLS_FROM_COUNTS)
		lode_display_print(terminal, out,
			"Inclusive is estimated from counted calls: each call of a function is "
			"taken to cost the same.");
	else if (costs->source == LODE_CALLS_FROM_TOPS)
		lode_display_print(terminal, out,
			"Callers are known as far as the recorded top of the stack reaches, "
			"inclusive of libraries alone: -g or --call-graph dwarf records all.");
	else
		lode_call_lines_short(costs, terminal, out);
}
