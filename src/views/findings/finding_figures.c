/* SPDX-License-Identifier: MIT */
#include "views/findings/finding_figures.h"

#include "base/text/number_format.h"
#include "base/text/words.h"
#include "model/causes.h"
#include "model/code.h"
#include "model/findings.h"
#include "views/figures/inlined_lines.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/function_name.h"

#include <math.h>
#include <string.h>

/* No instruction takes a millisecond, but one that repeats or enters the kernel; cpuid in a virtual
 * machine takes a tenth. */
#define UNLIKELY_NS 1e6

/* Whether its waits are sampled at several of the instructions that arrive afterwards. */
static bool is_spread(const char *attribute)
{
	static const char *const names[] = {"kind:branch", "kind:jump", "kind:call", "kind:ret",
		"kind:indirect", "kind:fence", "at:entry", "at:return-point"};

	if (lode_word_find(names, G_N_ELEMENTS(names), attribute) >= 0)
		return true;
	return g_str_has_prefix(attribute, "ev:") &&
	       (strstr(attribute, "branch-miss") != NULL || strstr(attribute, "l1i-miss") != NULL);
}

bool lode_finding_is_least(const LodeProfile *profile, uint32_t weight_event,
	const LodeFindings *findings, const LodeFinding *finding)
{
	if (lode_profile_event_as_sampled(profile, weight_event) == LODE_NONE &&
		lode_profile_event_as_charged(profile, weight_event) == LODE_NONE)
		return false;
	for (uint32_t i = 0; i <= finding->focus && i < finding->n_elements; i++) {
		const LodeFindingElement *element = &g_array_index(
			findings->elements, LodeFindingElement, finding->first_element + i);
		const uint32_t *items = (const uint32_t *)(const void *)findings->items->data +
		                        element->first_item;
		for (uint32_t j = 0; j < element->n_items; j++)
			if (is_spread(g_ptr_array_index(findings->attributes, items[j])))
				return true;
	}
	return false;
}

bool lode_finding_is_miscounted(
	const LodeFindings *findings, const LodeFinding *finding, const char *unit)
{
	if (!findings->is_counted || strcmp(unit, "ns") != 0 || finding->each < UNLIKELY_NS ||
		finding->focus >= finding->n_elements)
		return false;
	const LodeFindingElement *focus = &g_array_index(
		findings->elements, LodeFindingElement, finding->first_element + finding->focus);
	const uint32_t *items = (const uint32_t *)(const void *)findings->items->data +
	                        focus->first_item;
	/* These may take as long as they like. */
	for (uint32_t i = 0; i < focus->n_items; i++) {
		const char *name = g_ptr_array_index(findings->attributes, items[i]);
		if (strcmp(name, "kind:string") == 0 || strcmp(name, "kind:syscall") == 0 ||
			strcmp(name, "kind:kernel") == 0 || strcmp(name, "kind:not-decoded") == 0)
			return false;
	}
	return true;
}

void lode_finding_append_each(GString *out, const LodeFindings *findings,
	const LodeFinding *finding, const char *unit, bool is_least)
{
	if (is_least)
		g_string_append(out, "≥ ");
	else if (findings->is_counted)
		g_string_append_c(out, '+');
	g_string_append(out, LODE_AMOUNT_TEXT(finding->each));
	if (findings->is_counted)
		g_string_append_printf(out, " %s", unit);
	else
		g_string_append(out, " ×");
}

void lode_finding_append_place(GString *out, const LodeProfile *profile, const LodeOwnLines *own,
	uint32_t instruction, const LodeTerminal *terminal)
{
	const LodeInstruction *one = lode_profile_instruction(profile, instruction);
	const LodeFunction *function = lode_profile_function(profile, one->function);
	uint32_t line = lode_own_lines_find(own, instruction);
	const LodeLocation *location = line != LODE_NONE
	                                       ? &LODE_AT(lode_code_of(profile)->locations,
							 LodeLocation, line)
	                                       : NULL;
	g_autoptr(GArray) chain = lode_own_lines_chain(own, instruction);

	if (terminal != NULL && chain->len > 1) {
		lode_inlined_lines_append(out, chain, 0, terminal);
		return;
	}
	g_autofree char *library = lode_function_library(profile, function);
	g_autofree char *name = terminal != NULL ? lode_function_name_text(function->name, terminal)
	                                         : g_strdup(function->name);

	g_string_append(out, name);
	if (location != NULL && location->file != NULL && location->line > 0) {
		g_autofree char *base = g_path_get_basename(location->file);
		g_string_append_printf(out, " (%s:%u)", base, location->line);
	} else if (one->name != NULL) {
		g_string_append_printf(out, " (%s)", one->name);
	} else {
		g_string_append_printf(out, " (%s%s0x%" G_GINT64_MODIFIER "x)",
			library != NULL ? library : "", library != NULL ? ":" : "", one->address);
	}
}

void lode_finding_append_time(GString *out, const LodeFinding *finding)
{
	g_string_append_printf(
		out, "%.1f %% ±%.1f", 100 * finding->time, 100 * finding->time_error);
}

typedef struct {
	const char *function, *image, *file;
	const GArray *chain;
	uint64_t address;
	double function_number, time;
	uint32_t line;
} PlaceRow;

static void put_inlined(LodeJsonStream *json, const void *row, const void *user_data)
{
	(void)user_data;
	lode_inlined_lines_json(json, ((const PlaceRow *)row)->chain, false);
}

static const LodeColumn place_columns[] = {
	{"function", LODE_CELL_NAME(PlaceRow, function)},
	{"function_number", LODE_CELL_NUMBER(PlaceRow, function_number), .is_optional = true},
	{"image", LODE_CELL_TEXT(PlaceRow, image)},
	{"file", LODE_CELL_TEXT(PlaceRow, file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(PlaceRow, line)},
	{"inlined", LODE_CELL_JSON(put_inlined), .type = "InlinedLine[]"},
	{"address", LODE_CELL_ADDRESS(PlaceRow, address)},
	{"time", LODE_CELL_SHARE(PlaceRow, time)},
};
const LodeColumns lode_finding_place_columns = LODE_COLUMNS("places", place_columns, PlaceRow);

void lode_finding_places_json(const LodeFindingPlace *places, guint n, const LodeProfile *profile,
	const LodeOwnLines *own, bool is_page, LodeJsonStream *json)
{
	lode_json_begin(json, '[');
	for (guint i = 0; i < n; i++) {
		uint32_t index = places[i].instruction, line = lode_own_lines_find(own, index);
		const LodeInstruction *one = lode_profile_instruction(profile, index);
		const LodeFunction *function = lode_profile_function(profile, one->function);
		const LodeLocation *location = line != LODE_NONE
		                                       ? &LODE_AT(lode_code_of(profile)->locations,
								 LodeLocation, line)
		                                       : NULL;
		g_autoptr(GArray) chain = lode_own_lines_chain(own, index);
		const PlaceRow row = {function->name,
			lode_profile_image(profile, function->image)->path,
			location != NULL ? location->file : NULL, chain, one->address,
			is_page ? one->function : (double)NAN, places[i].time,
			location != NULL ? location->line : 0};
		lode_json_begin(json, '{');
		lode_columns_put_json(&lode_finding_place_columns, &row, json);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}
