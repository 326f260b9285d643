/* SPDX-License-Identifier: MIT */
#include "views/observed/loop_facts.h"

#include "base/arrays/sort_order.h"
#include "machine/figures/memory_rates.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "views/figures/profile_figures.h"
#include "views/form/function_name.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A bound of less does not show. */
#define LEAST_CYCLES 0.005

static void append_cycles(GString *out, const char *name, double cycles, const char *before)
{
	/* Three digits, and no exponent. */
	int decimals = cycles < 9.995 ? 2 : cycles < 99.95 ? 1 : 0;
	g_autofree char *text = g_strdup_printf("%.*f", decimals, cycles);
	gsize length = strlen(text);

	while (decimals > 0 && text[length - 1] == '0')
		text[--length] = '\0';
	if (text[length - 1] == '.')
		text[length - 1] = '\0';
	g_string_append_printf(out, "%s%s %s", before, name, text);
}

/* Units that share ports say more than each of them only where they are longer. */
static bool is_shown(const LodeLoop *loop, LodeUnit unit)
{
	double most = 0;

	for (unsigned i = 0; i < LODE_UNIT_PORTS; i++)
		most = MAX(most, loop->cycles[i]);
	return loop->cycles[unit] >= LEAST_CYCLES &&
	       (unit != LODE_UNIT_PORTS || loop->cycles[unit] > most + LEAST_CYCLES);
}

/* Digits that count, and no exponent. */
static void append_number(GString *out, const char *before, double value, int digits)
{
	bool is_long = value >= pow(10, digits) - 0.5;

	g_string_append_printf(
		out, "%s%.*g", before, is_long ? DBL_DIG : digits, is_long ? round(value) : value);
}

static void append_bytes(GString *out, const char *name, double bytes, const LodeLoop *loop)
{
	if (bytes > 0) {
		g_string_append_printf(out, ", %s", name);
		append_number(out, " ", bytes / loop->iteration_ns, 3);
		g_string_append(out, " bytes/ns");
	}
}

static void append_time(const LodeProfile *profile, const LodeLoop *loop, GString *out)
{
	const char *before = "measured ";

	if (g_strcmp0(loop->iteration_source, "counted") == 0)
		before = "by counts ";
	else if (g_strcmp0(loop->iteration_source, "carried") == 0)
		before = "by the loop around ";
	else if (g_strcmp0(loop->iteration_source, "probed") == 0)
		before = "by breakpoints ";
	append_number(out, before, loop->iteration_ns, 4);
	g_string_append(out, " ns");
	if (loop->iteration_error_ns >= 0) {
		append_number(out, " (error ", loop->iteration_error_ns, 2);
		g_string_append_c(out, ')');
	}
	if (profile->run.cycles_per_ns > 0) {
		append_number(out, ", ", loop->iteration_ns * profile->run.cycles_per_ns, 4);
		g_string_append(out, " cycles");
	}
	if (loop->iteration_ns > 0) {
		append_bytes(out, "loads", loop->load_bytes, loop);
		append_bytes(out, "stores", loop->store_bytes, loop);
	}
}

static LodeObservedRounds rounds_of(const LodeProfile *profile, const LodeLoop *loop)
{
	return lode_window_rounds(
		profile->windows != NULL ? lode_windows_find(profile->windows, loop->head) : NULL);
}

static void append_rounds(const LodeProfile *profile, const LodeLoop *loop, GString *out)
{
	const LodeObservedRounds rounds = rounds_of(profile, loop);

	if (!isnan(rounds.mean)) {
		append_number(out, "; iterations each time ", rounds.mean, 3);
		append_number(out, " (error ", rounds.error, 2);
		g_string_append_c(out, ')');
	} else if (!isnan(rounds.least)) {
		append_number(out, "; iterations each time ", rounds.least, 2);
		g_string_append(out, " or more");
	}
}

static void append_bounds(const LodeProfile *profile, const LodeLoop *whole, GString *out)
{
	const LodeLoop within = lode_loop_within_time(profile, whole), *loop = &within;
	bool is_above = (lode_loop_wrong_bounds(profile, whole) >> LODE_LOOP_RECURRENCE & 1) != 0;
	const char *before = "; ";
	LodeUnit unit;

	/* As of a loop around others of which no sample shows that it came round. */
	if (loop->recurrence_cycles < 0 && lode_loop_busiest(loop, &unit) <= 0) {
		g_string_append(out, loop->is_innermost ? "loop: " : "outer loop: ");
		if (loop->iteration_ns >= 0)
			append_time(profile, loop, out);
		else
			g_string_append(out, "bounds not known");
		return;
	}
	g_string_append_printf(out,
		"%s, cycles on %s: ", loop->is_innermost ? "loop" : "outer loop",
		profile->run.core != NULL ? profile->run.core : "?");
	if (loop->recurrence_cycles < 0) {
		const char *why = is_above             ? "recurrence not known"
		                  : loop->is_innermost ? "no usual way"
		                                       : "";
		g_string_append(out, why);
		before = *why != '\0' ? "; " : "";
	} else if (loop->recurrence == NULL) {
		g_string_append(out, "no recurrence");
	} else {
		g_string_append(out, "recurrence ");
		append_cycles(out, loop->recurrence, loop->recurrence_cycles, "");
		if (loop->other_recurrence != NULL)
			append_cycles(out, loop->other_recurrence, loop->other_cycles, ", next ");
	}
	for (unsigned i = 0; i < LODE_N_UNITS; i++)
		if (is_shown(loop, (LodeUnit)i)) {
			append_cycles(out, lode_unit_name((LodeUnit)i), loop->cycles[i], before);
			before = ", ";
		}
	if (loop->unmodelled >= LEAST_CYCLES)
		append_cycles(out, "not known of", loop->unmodelled, "; ");
	if (loop->calls >= LEAST_CYCLES)
		append_cycles(out, "calls", loop->calls, "; ");
	if (loop->iteration_ns >= 0) {
		g_string_append(out, "; ");
		append_time(profile, loop, out);
	}
}

void lode_loop_facts_append(const LodeProfile *profile, const LodeLoop *loop, GString *out)
{
	append_bounds(profile, loop, out);
	append_rounds(profile, loop, out);
}

static double known(double value)
{
	return value >= 0 ? value : (double)NAN;
}

void lode_loop_facts_json(const LodeProfile *profile, uint32_t instruction, LodeJsonStream *json)
{
	const LodeLoop *whole = instruction != LODE_NONE ? lode_loops_find(profile, instruction)
	                                                 : NULL;

	if (whole == NULL)
		return;
	uint32_t wrong = lode_loop_wrong_bounds(profile, whole);
	const LodeLoop within = lode_loop_within_time(profile, whole), *loop = &within;
	lode_json_member_begin(json, "loop", '{');
	lode_json_member_string(json, "core", profile->run.core);
	lode_json_member_bool(json, "is_innermost", loop->is_innermost);
	lode_json_member_number(json, "iterations", loop->iterations);
	lode_json_member_number(json, "instructions", loop->instructions);
	lode_json_member_number(json, "weight", known(loop->weight));
	lode_json_member_number(json, "calls", loop->calls);
	lode_json_member_number(json, "unmodelled", loop->unmodelled);
	lode_json_member_string(json, "recurrence", loop->recurrence);
	lode_json_member_number(json, "recurrence_cycles", known(loop->recurrence_cycles));
	lode_json_member_string(json, "other_recurrence", loop->other_recurrence);
	lode_json_member_number(json, "other_cycles", known(loop->other_cycles));
	lode_json_member_begin(json, "cycles", '{');
	for (unsigned i = 0; i < LODE_N_UNITS; i++)
		lode_json_member_number(json, lode_unit_name((LodeUnit)i),
			(wrong >> i & 1) == 0 ? loop->cycles[i] : (double)NAN);
	lode_json_end(json, '}');
	lode_json_member_number(json, "iteration_ns", known(loop->iteration_ns));
	lode_json_member_number(json, "iteration_error_ns", known(loop->iteration_error_ns));
	lode_json_member_string(json, "iteration_source", loop->iteration_source);
	lode_json_member_number(json, "load_bytes", known(loop->load_bytes));
	lode_json_member_number(json, "store_bytes", known(loop->store_bytes));
	const LodeObservedRounds rounds = rounds_of(profile, loop);
	lode_json_member_number(json, "rounds", rounds.mean);
	lode_json_member_number(json, "rounds_error", rounds.error);
	lode_json_member_number(json, "least_rounds", rounds.least);
	lode_json_end(json, '}');
}

static void append_above(const LodeProfile *profile, const LodeLoop *loop, GString *out)
{
	const LodeInstruction *head = lode_profile_instruction(profile, loop->head);
	uint32_t wrong = lode_loop_wrong_bounds(profile, loop);
	g_autofree char *name = lode_function_name_short(
		lode_profile_function(profile, head->function)->name);

	g_string_append_printf(out, "%s (0x%" G_GINT64_MODIFIER "x)", name, head->address);
	if ((wrong >> LODE_LOOP_RECURRENCE & 1) != 0)
		append_cycles(out, loop->recurrence != NULL ? loop->recurrence : "",
			loop->recurrence_cycles, " recurrence ");
	for (unsigned i = 0; i < LODE_N_UNITS; i++)
		if ((wrong >> i & 1) != 0)
			append_cycles(out, lode_unit_name((LodeUnit)i), loop->cycles[i], " ");
	append_number(out, ", measured ", loop->iteration_ns * profile->run.cycles_per_ns, 4);
}

LODE_ORDER(compare_weights, LodeLoop, LODE_DESCENDING(weight), LODE_ASCENDING(head))

char *lode_loop_facts_above(const LodeProfile *profile)
{
	enum { SHOWN = 5 };
	g_autoptr(GArray) above = g_array_new(FALSE, FALSE, sizeof(LodeLoop));
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < profile->loops->len; i++) {
		const LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, i);
		if (lode_loop_wrong_bounds(profile, loop) != 0)
			g_array_append_val(above, *loop);
	}
	g_array_sort(above, compare_weights);
	for (guint i = 0; i < MIN(above->len, SHOWN); i++) {
		g_string_append(text, i > 0 ? "; " : "");
		append_above(profile, &LODE_AT(above, LodeLoop, i), text);
	}
	if (above->len > SHOWN)
		g_string_append(text, "; …");
	return g_string_free(text, FALSE);
}

LodeLoopSums lode_loop_facts_sum(const LodeProfile *profile)
{
	LodeLoopSums sums = {0};
	double weight = 0, timed = 0;

	for (guint i = 0; i < profile->loops->len; i++) {
		const LodeLoop *whole = &LODE_AT(profile->loops, LodeLoop, i);
		const LodeLoop within = lode_loop_within_time(profile, whole), *loop = &within;
		LodeUnit unit;
		sums.n_above += lode_loop_wrong_bounds(profile, whole) != 0;
		sums.n_timed += loop->iteration_ns >= 0;
		sums.n_outer += !loop->is_innermost;
		if (!loop->is_innermost)
			continue;
		sums.n_innermost++;
		sums.n_carried += loop->recurrence_cycles > lode_loop_busiest(loop, &unit);
		weight = loop->weight < 0 ? (double)NAN : weight + loop->weight;
		if (loop->iteration_ns >= 0)
			timed = loop->weight < 0 ? (double)NAN : timed + loop->weight;
	}
	sums.weight_share = lode_share_of(
		weight, lode_profile_event_total(profile, profile->code.weight_event));
	sums.timed_share = lode_share_of(timed, weight);
	return sums;
}

void lode_loop_facts_sum_json(const LodeProfile *profile, LodeJsonStream *json)
{
	LodeLoopSums sums = lode_loop_facts_sum(profile);

	lode_json_member_begin(json, "loops", '{');
	lode_json_member_string(json, "core", profile->run.core);
	lode_json_member_number(json, "innermost", sums.n_innermost);
	lode_json_member_number(json, "share", sums.weight_share);
	lode_json_member_number(json, "by_recurrence", sums.n_carried);
	lode_json_member_number(json, "outer", sums.n_outer);
	lode_json_member_number(json, "timed", sums.n_timed);
	lode_json_member_number(json, "timed_share", sums.timed_share);
	lode_json_member_number(json, "above_time", sums.n_above);
	lode_json_end(json, '}');
}

void lode_loop_facts_machine_json(const LodeProfile *profile, LodeJsonStream *json)
{
	const double *const rates[] = {profile->run.rates.read, profile->run.rates.write};
	static const char *const names[] = {"read_rates", "write_rates"};

	lode_json_member_begin(json, "machine", '{');
	lode_json_member_number(json, "cycles_per_ns",
		profile->run.cycles_per_ns > 0 ? profile->run.cycles_per_ns : (double)NAN);
	lode_json_member_number(json, "core_figures", profile->run.n_core_figures);
	lode_json_member_number(json, "mispredict_cycles",
		profile->run.mispredict_cycles > 0 ? profile->run.mispredict_cycles : (double)NAN);
	for (unsigned k = 0; k < 2; k++) {
		lode_json_member_begin(json, names[k], '{');
		for (LodeRateLevel i = LODE_RATE_L1; i < LODE_N_RATES; i++)
			lode_json_member_number(json, lode_rate_level_name(i),
				rates[k][i] > 0 ? rates[k][i] : (double)NAN);
		lode_json_end(json, '}');
	}
	lode_json_end(json, '}');
}
