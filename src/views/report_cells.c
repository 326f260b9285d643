/* SPDX-License-Identifier: MIT */
/* The cells of the list of sequences. */
#include "base/number_format.h"
#include "views/display_text.h"
#include "views/profile_lines.h"
#include "views/report_text.h"

#include <math.h>

void lode_report_cell_ratio(double value, GString *out, const LodeTerminal *terminal)
{
	char text[LODE_NUMBER_SIZE];

	if (!isfinite(value)) {
		lode_display_append(out, "–", terminal->is_ascii);
		return;
	}
	int decimals = fabs(value) >= 99.5 ? 0 : fabs(value) >= 9.95 ? 1 : 2;
	g_snprintf(text, sizeof(text), "%.*f×", decimals, value);
	lode_display_append(out, text, terminal->is_ascii);
}

void lode_report_cell_support(const LodeReportValues *values, double value, GString *out)
{
	char text[LODE_NUMBER_SIZE];

	/* A difference of shares is in percentage points, not in percent of something. */
	if (values->baseline != SIZE_MAX)
		g_string_append_printf(out, "%+.1f pt", 100 * value);
	else
		g_string_append(out, lode_number_format_share(value, text));
}

void lode_report_cell_sequence(
	const LodeMiningRun *run, size_t index, GString *out, const LodeTerminal *terminal)
{
	g_autofree char *text = lode_mining_run_sequence_text(run, index);

	lode_display_append(out, text, terminal->is_ascii);
}

void lode_report_left_out(
	uint32_t left_out, const LodeTable *table, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (unsigned i = 0; i < table->n_columns; i++)
		if ((left_out >> i & 1) != 0)
			g_string_append_printf(
				names, "%s%s", names->len > 0 ? ", " : "", table->columns[i].title);
	if (names->len > 0)
		lode_profile_lines_print(
			terminal, out, "(a wider terminal, or a pipe, shows also: %s)", names->str);
}
