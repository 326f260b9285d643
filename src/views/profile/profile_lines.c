/* SPDX-License-Identifier: MIT */
/* The lines above and below every text view. */
#include "views/profile/profile_lines.h"

#include "base/text/number_format.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "sources/perf_data/perf_data.h"
#include "views/figures/event_values.h"
#include "views/figures/profile_figures.h"
#include "views/form/display_text.h"
#include "views/form/format.h"
#include "views/form/function_name.h"
#include "views/form/table.h"
#include "views/observed/observed_summary.h"
#include "views/profile/kernel_share.h"
#include "views/profile/program_lines.h"
#include "views/profile/thread_times.h"
#include "views/profile/wait_lines.h"

#include <string.h>

enum { NAME_WIDTH = 48, EXAMPLE_WIDTH = 60, LEAST_PROGRAM_WIDTH = 20, LEAST_ARGUMENTS_WIDTH = 6 };

/* The share of time in the kernel from which on it is shown: a smaller one hides nothing. */
#define NOTABLE_SHARE 0.01

#define NS_PER_S 1e9

/* A name made short enough to stand in a sentence; on a pipe it stays whole. */
static char *name_text(const char *name, size_t width, const LodeTerminal *terminal)
{
	GString *text = g_string_new(NULL);

	lode_display_append(text, name, false);
	if (terminal->width != 0)
		lode_display_shorten_middle(text, width, terminal->is_ascii);
	return g_string_free(text, FALSE);
}

/* What was counted or sampled, after ", " where other words are before. */
static void append_part(GString *out, const char *text)
{
	if (text[0] != '\0')
		g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "", text);
}

/* A command that keeps its program's name: "sort /home/…/access.log". */
static void shorten_command(GString *command, size_t width, bool is_ascii)
{
	if (lode_display_width(command->str) <= width)
		return;
	const char *slash = g_strrstr_len(command->str, (gssize)strcspn(command->str, " "), "/");
	if (slash != NULL)
		g_string_erase(command, 0, slash + 1 - command->str);
	size_t n_name = strcspn(command->str, " ");
	g_autoptr(GString) rest = g_string_new(command->str + n_name);
	g_string_truncate(command, n_name);
	size_t used = lode_display_width(command->str);
	if (rest->len == 0 || used + LEAST_ARGUMENTS_WIDTH > width) {
		lode_display_shorten(command, width, is_ascii);
		return;
	}
	lode_display_shorten_middle(rest, width - used, is_ascii);
	g_string_append(command, rest->str);
}

/* Brief: on one line of 80 columns, without what made the profile, and without how counts of
 * executions, of which a first screen has none, were made. */
static void put_program_line(
	const LodeProfile *profile, bool is_brief, const LodeTerminal *terminal, FILE *out)
{
	static const char separator[] = " · ";
	static const char *const meanings[] = {
		[LODE_FREQUENCY_EXACT] = "exact counts",
		[LODE_FREQUENCY_SAMPLED] = "sampled counts (estimates)",
		[LODE_FREQUENCY_INFERRED] = "inferred counts (estimates)",
		[LODE_FREQUENCY_GIVEN] = "counts as given",
	};
	g_autoptr(GString) program = g_string_new(NULL), parts = g_string_new(NULL);

	g_autofree char *tool = lode_profile_tool(profile);
	g_autofree char *windows = lode_observed_windows_text(profile);
	bool is_observed = lode_is_observed(profile) && profile->part == NULL;
	lode_display_append(program,
		profile->run.program != NULL ? profile->run.program : "(unknown program)",
		terminal->is_ascii);
	if (profile->part != NULL)
		append_part(parts, "estimated counts");
	else if (!is_observed && !(is_brief && profile->run.frequency == LODE_FREQUENCY_INFERRED))
		append_part(parts, meanings[profile->run.frequency]);
	else if (is_observed && !is_brief)
		append_part(parts, "executions inferred, observed in ");
	if (is_observed)
		g_string_append_printf(parts, "%s", windows);
	if (profile->run.n_samples > 0) {
		append_part(parts, LODE_COUNT_TEXT(profile->run.n_samples));
		g_string_append(parts, profile->run.n_samples == 1 ? " sample" : " samples");
	}
	g_autoptr(GString) rest = g_string_new(NULL);
	if (!is_brief)
		g_string_append_printf(rest, "%s%s", separator, tool);
	if (parts->len > 0)
		g_string_append_printf(rest, "%s%s", separator, parts->str);
	g_autofree char *rest_text = lode_display_text(rest->str, terminal->is_ascii);
	size_t used = lode_display_width(rest_text), width = terminal->width;
	/* Where next to no room is left for the program, it has a line of its own. */
	bool is_one_line = width == 0 || rest->len == 0 || used + LEAST_PROGRAM_WIDTH <= width;
	if (width > 0)
		shorten_command(program, is_one_line ? width - used : width, terminal->is_ascii);
	lode_style_write(out, terminal, LODE_STYLE_STRONG, program->str);
	if (is_one_line) {
		fprintf(out, "%s\n", rest_text);
	} else {
		fputc('\n', out);
		lode_display_print(terminal, out, "%s", rest->str + strlen(separator));
	}
}

static void put_figures_line(const LodeProfile *profile, uint32_t weight_event, bool names_hottest,
	const LodeTerminal *terminal, FILE *out)
{
	double total = lode_profile_event_total(profile, weight_event), hottest_value;
	const char *event = lode_profile_event_name(profile, weight_event);
	uint32_t hottest = lode_profile_hottest_function(profile, weight_event, &hottest_value);
	bool is_graphs = profile->code.images->len > 0 &&
	                 lode_profile_image(profile, 0)->kind == LODE_IMAGE_GRAPHS;
	g_autoptr(GString) line = g_string_new(NULL);

	lode_event_value_append(line, profile, weight_event, total);
	g_string_append_printf(line, "%s %s",
		strcmp(lode_event_value_unit(profile, weight_event), "ns") == 0 ? " of" : "",
		event != NULL ? event : "weight");
	/* Inferred, they say how often one instruction ran compared with another, no more. */
	if (profile->run.frequency != LODE_FREQUENCY_INFERRED)
		g_string_append_printf(
			line, " in %s executions", LODE_COUNT_TEXT(profile->run.total_count));
	g_string_append_printf(line, " · %s %s, %s %s%s",
		LODE_COUNT_TEXT(profile->code.instructions->len),
		is_graphs ? "vertices" : "instructions",
		LODE_COUNT_TEXT(profile->code.functions->len), is_graphs ? "graph" : "function",
		profile->code.functions->len == 1 ? "" : "s");
	if (hottest != LODE_NONE && names_hottest) {
		const LodeFunction *function = lode_profile_function(profile, hottest);
		g_autofree char *library = lode_function_library(profile, function);
		g_autofree char *brief = lode_function_name_text(function->name, terminal);
		g_autofree char *name = name_text(brief, NAME_WIDTH, terminal);
		g_string_append_printf(line, " · hottest %s %s (%s%s%s)",
			is_graphs ? "graph" : "function",
			LODE_SHARE_TEXT(lode_share_of(hottest_value, total)), name,
			library != NULL ? " in " : "", library != NULL ? library : "");
	}
	lode_display_print(terminal, out, "%s", line->str);
}

static void put_kernel_line(const LodeProfile *profile, const LodeTerminal *terminal, FILE *out)
{
	g_autofree char *text = lode_kernel_share_text(profile);

	if (lode_kernel_share(profile) >= NOTABLE_SHARE &&
		profile->run.user_seconds + profile->run.system_seconds >= LODE_LEAST_ACCOUNTED)
		lode_display_print(terminal, out, "%s", text);
}

static void put_below_figures(
	const LodeProfile *profile, bool is_brief, const LodeTerminal *terminal, FILE *out)
{
	g_autofree char *waits = lode_waits_head(profile, terminal);
	g_autofree char *threads = waits == NULL ? lode_threads_text(profile, is_brief, terminal)
	                                         : g_steal_pointer(&waits);
	if (threads != NULL)
		lode_display_print(terminal, out, "%s", threads);
	g_autofree char *programs = lode_profile_programs(profile);
	if (programs == NULL)
		return;
	g_autofree char *shown = lode_display_text(programs, terminal->is_ascii);
	lode_display_print(terminal, out, "programs: %s", shown);
}

static void put_sampling_line(const LodeProfile *profile, const LodeTerminal *terminal, FILE *out)
{
	g_autofree char *text = lode_profile_sampling(profile);

	if (text != NULL)
		lode_display_print(terminal, out, "%s", text);
}

/* The same on the first screen, where that slices stand for all is of no use: shares are the same.
 */
static void put_cost_line(const LodeProfile *profile, const LodeTerminal *terminal, FILE *out)
{
	g_autofree char *text = lode_profile_sampling(profile);
	bool is_sliced = text != NULL && g_str_has_prefix(text, LODE_PERF_SLICED);
	const char *end = is_sliced ? strstr(text, "; ") : NULL;

	if (is_sliced && end != NULL)
		lode_display_print(terminal, out, "%s", end + 2);
	else if (text != NULL && !is_sliced)
		lode_display_print(terminal, out, "%s", text);
}

static void put_head(const LodeProfile *profile, uint32_t weight_event, bool names_hottest,
	const LodeTerminal *terminal, FILE *out)
{
	put_program_line(profile, false, terminal, out);
	put_sampling_line(profile, terminal, out);
	if (profile->part != NULL)
		lode_display_print(terminal, out, "part: %s", profile->part);
	put_figures_line(profile, weight_event, names_hottest, terminal, out);
	put_kernel_line(profile, terminal, out);
	put_below_figures(profile, false, terminal, out);
}

/* The processor time, user and kernel, that the system accounts; of a short program, which has next
 * to none there, what the samples stand for. 0: neither is known. */
static double processor_seconds(const LodeProfile *profile, uint32_t weight_event)
{
	double seconds = profile->run.user_seconds + profile->run.system_seconds;
	bool is_time = strcmp(lode_event_value_unit(profile, weight_event), "ns") == 0;

	if (seconds >= LODE_LEAST_ACCOUNTED || profile->run.n_samples == 0 || !is_time)
		return seconds >= LODE_LEAST_ACCOUNTED ? seconds : 0;
	return lode_profile_event_total(profile, weight_event) / NS_PER_S;
}

/* Of the processor time: less in the kernel is not worth another run. */
static const double MUCH_IN_KERNEL = 0.1;

void lode_profile_lines_head_of_diagnoses(
	const LodeProfile *profile, uint32_t weight_event, const LodeTerminal *terminal, FILE *out)
{
	const LodeTerminal screen = lode_terminal_screen(terminal);
	double seconds = processor_seconds(profile, weight_event);
	double accounted = profile->run.user_seconds + profile->run.system_seconds;
	g_autoptr(GString) line = g_string_new(NULL);

	if (profile->part != NULL || !(seconds > 0)) {
		put_head(profile, weight_event, false, terminal, out);
		return;
	}
	put_program_line(profile, true, &screen, out);
	put_cost_line(profile, &screen, out);
	/* Two digits of a short time, or the line would have more than 80 columns. */
	g_string_append_printf(line, "%.*g s of processor time", seconds < 0.1 ? 2 : 3, seconds);
	if (profile->run.wall_seconds > 0)
		g_string_append_printf(line, " in %.*g s", profile->run.wall_seconds < 0.1 ? 2 : 3,
			profile->run.wall_seconds);
	if (accounted >= LODE_LEAST_ACCOUNTED)
		g_string_append_printf(line, ", %.1f %% in the kernel%s",
			100 * profile->run.system_seconds / accounted,
			profile->run.is_kernel_sampled ? ", sampled too"
			: profile->run.system_seconds >= MUCH_IN_KERNEL * accounted
				? "; --kernel samples it"
				: "");
	lode_display_print(&screen, out, "%s", line->str);
	put_below_figures(profile, true, &screen, out);
}

void lode_profile_lines_head(
	const LodeProfile *profile, uint32_t weight_event, const LodeTerminal *terminal, FILE *out)
{
	put_head(profile, weight_event, true, terminal, out);
}

void lode_profile_lines_head_of_functions(
	const LodeProfile *profile, uint32_t weight_event, const LodeTerminal *terminal, FILE *out)
{
	put_head(profile, weight_event, false, terminal, out);
}

void lode_profile_lines_inferred(
	const LodeProfile *profile, const LodeTerminal *terminal, FILE *out)
{
	g_autofree char *windows = lode_observed_windows_text(profile);
	bool is_observed = lode_is_observed(profile);

	if (profile->run.frequency == LODE_FREQUENCY_INFERRED)
		lode_display_print(terminal, out,
			"Executions are inferred%s%s, to no known scale: they say how often one "
			"instruction ran compared with another. Weights are measured, frequency, "
			"excess and cost are approximate.",
			is_observed ? ", with " : "", is_observed ? windows : "");
}

static void put_reason(const LodeProfile *profile, const LodeUnresolved *row,
	const LodeTerminal *terminal, FILE *out)
{
	g_autofree char *extent = lode_profile_unresolved_extent(row);
	g_autofree char *example = name_text(
		row->example != NULL ? row->example : "", EXAMPLE_WIDTH, terminal);
	const char *event = lode_profile_event_name(profile, profile->code.weight_event);

	lode_display_print(terminal, out, "  %s of %s: %s (%s%s%s)",
		LODE_SHARE_TEXT(lode_profile_unresolved_share(profile, row)),
		event != NULL ? event : "executions", row->reason, extent,
		example[0] != '\0' ? ", such as " : "", example);
}

/* It changes nothing that a listing shows. */
static bool is_small(const LodeProfile *profile, const LodeUnresolved *row)
{
	return lode_profile_unresolved_share(profile, row) < 0.0005;
}

void lode_profile_lines_unresolved(
	const LodeProfile *profile, const LodeTerminal *terminal, FILE *out)
{
	if (profile->unresolved->len == 0) {
		fputs("Unresolved: nothing.\n", out);
		return;
	}
	guint n_small = 0;
	for (guint i = 0; i < profile->unresolved->len; i++)
		n_small += is_small(profile, &LODE_AT(profile->unresolved, LodeUnresolved, i));
	if (n_small == profile->unresolved->len) {
		lode_display_print(terminal, out,
			"Unresolved: less than 0.05 %% of the weight; lode info says why.");
		return;
	}
	fputs("Unresolved, by share of weight:\n", out);
	for (guint i = 0; i < profile->unresolved->len; i++)
		if (!is_small(profile, &LODE_AT(profile->unresolved, LodeUnresolved, i)))
			put_reason(profile, &LODE_AT(profile->unresolved, LodeUnresolved, i),
				terminal, out);
	if (n_small > 0)
		lode_display_print(terminal, out,
			"  less than 0.05 %% each: %u more reason%s, which lode info lists",
			n_small, n_small == 1 ? "" : "s");
}

void lode_profile_lines_incomplete(
	const LodeMiningRun *run, const LodeTerminal *terminal, FILE *out)
{
	if (run->is_complete)
		return;
	g_autofree char *text = g_strdup_printf("Incomplete: mining stopped at its limit of %s "
						"sequences; mine with a higher %s.",
		LODE_COUNT_TEXT(run->parameters.max_sequences),
		run->parameters.is_instruction_mode ? "--min-count" : "--min-support");
	g_autofree char *plain = lode_display_text(text, terminal->is_ascii);
	lode_style_write(out, terminal, LODE_STYLE_ALARM, plain);
	fputc('\n', out);
}
