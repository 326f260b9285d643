/* SPDX-License-Identifier: MIT */
#include "views/profile/thread_times.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/causes.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "views/figures/profile_figures.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"

#include <string.h>

#define NS_PER_S 1e9

/* Points by which a function's share must grow, as a share. */
#define NOTABLE_GAIN 0.15

/* Waiting for a processor is told from this share of the time that threads ran on. */
#define NOTABLE_PREEMPTED 0.1

/* A single thread's wait for a processor that is worth a line. */
#define NOTABLE_WAIT_NS 0.1e9

/* Where threads that wait for a processor use less than this of one, it is others that have them.
 */
#define ONE_PROCESSOR 0.9

enum { MAX_NAMED = 3, NAME_WIDTH = 24 };

LODE_ORDER_OF_INDICES(compare_beginnings, LodeThreadTime, LODE_ASCENDING(begin_ns))

/* The time in which at least one thread existed. */
static double elapsed_ns(const LodeProfile *profile)
{
	const GArray *rows = profile->thread_times;
	g_autofree uint32_t *order = g_new(uint32_t, MAX(rows->len, 1));
	double elapsed = 0;
	uint64_t until_ns = 0;

	for (guint i = 0; i < rows->len; i++)
		order[i] = i;
	if (rows->len > 1)
		g_qsort_with_data(
			order, (gint)rows->len, sizeof(uint32_t), compare_beginnings, rows->data);
	for (guint i = 0; i < rows->len; i++) {
		const LodeThreadTime *row = &LODE_AT(rows, LodeThreadTime, order[i]);
		uint64_t begin_ns = MAX(row->begin_ns, until_ns);
		if (row->end_ns > begin_ns)
			elapsed += (double)(row->end_ns - begin_ns);
		until_ns = MAX(until_ns, row->end_ns);
	}
	return elapsed;
}

static double running_ns(const LodeProfile *profile, double *out_preempted_ns)
{
	double running = 0;

	*out_preempted_ns = 0;
	for (guint i = 0; i < profile->thread_times->len; i++) {
		const LodeThreadTime *row = &LODE_AT(profile->thread_times, LodeThreadTime, i);
		running += row->running_ns;
		*out_preempted_ns += row->preempted_ns;
	}
	return running;
}

/* Whether switches were recorded for a part of the time. */
static bool has_gaps(const LodeProfile *profile)
{
	for (guint i = 0; i < profile->unresolved->len; i++)
		if (strcmp(LODE_AT(profile->unresolved, LodeUnresolved, i).reason,
			    LODE_UNRESOLVED_SWITCHES) == 0)
			return true;
	return false;
}

/* The kernel accounts for all of the time what the switches say of a part. */
double lode_threads_running(const LodeProfile *profile)
{
	double elapsed = elapsed_ns(profile), preempted;
	double seconds = profile->run.user_seconds + profile->run.system_seconds;

	if (seconds > 0 && profile->run.wall_seconds > 0 && profile->part == NULL &&
		has_gaps(profile))
		return seconds / profile->run.wall_seconds;
	return elapsed > 0 ? running_ns(profile, &preempted) / elapsed : 0;
}

double lode_threads_elapsed_seconds(const LodeProfile *profile)
{
	return elapsed_ns(profile) / NS_PER_S;
}

static double life_ns(const LodeThreadTime *self)
{
	return (double)(self->end_ns - self->begin_ns);
}

double lode_thread_waiting_ns(const LodeThreadTime *self)
{
	return MAX(life_ns(self) - self->running_ns, 0);
}

LODE_ORDER_OF_INDICES(compare_waiting, LodeThreadTime,
	(left->running_ns > 0) != (right->running_ns > 0) ? (left->running_ns > 0 ? -1 : 1) : 0,
	lode_thread_waiting_ns(left) > lode_thread_waiting_ns(right)   ? -1
	: lode_thread_waiting_ns(left) < lode_thread_waiting_ns(right) ? 1
								       : 0,
	LODE_ASCENDING(pid), LODE_ASCENDING(tid), LODE_ASCENDING(begin_ns))

uint32_t *lode_threads_by_waiting(const LodeProfile *profile)
{
	const GArray *rows = profile->thread_times;
	uint32_t *order = g_new(uint32_t, MAX(rows->len, 1));

	for (guint i = 0; i < rows->len; i++)
		order[i] = i;
	if (rows->len > 1)
		g_qsort_with_data(
			order, (gint)rows->len, sizeof(uint32_t), compare_waiting, rows->data);
	return order;
}

char *lode_thread_name(const LodeThreadTime *self)
{
	return g_strdup_printf("%s (%" G_GUINT32_FORMAT ")",
		self->name != NULL ? self->name : "thread", self->tid);
}

static bool is_name_shared(const GArray *rows, uint32_t index)
{
	const char *name = LODE_AT(rows, LodeThreadTime, index).name;

	for (guint i = 0; i < rows->len; i++)
		if (i != index && g_strcmp0(LODE_AT(rows, LodeThreadTime, i).name, name) == 0)
			return true;
	return name == NULL;
}

char *lode_thread_waiting_text(const LodeThreadTime *self)
{
	return g_strdup_printf("%s s of %s s",
		LODE_AMOUNT_TEXT(lode_thread_waiting_ns(self) / NS_PER_S),
		LODE_AMOUNT_TEXT(life_ns(self) / NS_PER_S));
}

static char *describe(const GArray *rows, uint32_t index, const LodeTerminal *terminal)
{
	const LodeThreadTime *row = &LODE_AT(rows, LodeThreadTime, index);
	g_autofree char *name = is_name_shared(rows, index) ? lode_thread_name(row)
	                                                    : g_strdup(row->name);
	g_autofree char *waiting = lode_thread_waiting_text(row);
	GString *text = g_string_new(NULL);

	lode_display_append(text, name, terminal->is_ascii);
	if (terminal->width != 0)
		lode_display_shorten_middle(text, NAME_WIDTH, terminal->is_ascii);
	g_string_append_printf(text, " %s", waiting);
	return g_string_free(text, FALSE);
}

static void append_average(GString *text, double n)
{
	g_string_append_printf(text, "%.*f", n >= 9.95 ? 0 : n >= 0.95 ? 1 : 2, n);
}

char *lode_threads_text(const LodeProfile *profile, bool is_brief, const LodeTerminal *terminal)
{
	const GArray *rows = profile->thread_times;
	double elapsed = elapsed_ns(profile), preempted;
	double running = running_ns(profile, &preempted);

	if (!(running > 0) || !(elapsed > 0))
		return NULL;
	bool has_waited = preempted >= NOTABLE_PREEMPTED * running;
	bool is_others = has_waited && lode_threads_running(profile) < ONE_PROCESSOR;
	if (rows->len < 2 && !(is_others && preempted >= NOTABLE_WAIT_NS))
		return NULL;
	if (rows->len < 2)
		return g_strdup_printf(
			"For %.2g s it was ready to run, but other programs had the processors",
			preempted / NS_PER_S);
	g_autofree uint32_t *order = lode_threads_by_waiting(profile);
	GString *text = g_string_new(NULL);
	append_average(text, lode_threads_running(profile));
	g_string_append(text, " threads ran at a time on average");
	if (has_waited) {
		g_string_append(text, ", ");
		append_average(text, preempted / elapsed);
		g_string_append(
			text, is_others ? " more were ready, but other programs had the processors"
					: " more waited for a processor");
	}
	if (is_brief)
		return g_string_free(text, FALSE);
	g_string_append(text, "; waited longest:");
	for (guint i = 0; i < MIN(rows->len, MAX_NAMED); i++) {
		g_autofree char *next = describe(rows, order[i], terminal);
		size_t width = lode_display_width(text->str) + lode_display_width(next) + 2;
		if (i > 0 && terminal->width != 0 && width > terminal->width)
			break;
		g_string_append_printf(text, "%s %s", i > 0 ? "," : "", next);
	}
	return g_string_free(text, FALSE);
}

static double share_in(const LodeProfile *profile, uint32_t event, const LodeFunction *function)
{
	double value = 0;

	for (uint32_t i = 0; i < function->n_instructions; i++)
		value += lode_profile_event_value(profile, event, function->first_instruction + i);
	return lode_share_of(value, lode_profile_event_total(profile, event));
}

char *lode_latency_hint(
	const LodeProfile *profile, uint32_t weight_event, const LodeTerminal *terminal)
{
	uint32_t latency = lode_profile_find_weight(profile, LODE_LATENCY_EVENT);
	const LodeFunction *most = NULL;
	double gain = NOTABLE_GAIN, share = 0, usual = 0;

	if (latency == LODE_NONE || weight_event == LODE_NONE || latency == weight_event)
		return NULL;
	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		double own = share_in(profile, latency, function);
		double other = own > gain ? share_in(profile, weight_event, function) : own;
		if (own - other <= gain)
			continue;
		gain = own - other;
		share = own;
		usual = other;
		most = function;
	}
	if (most == NULL)
		return NULL;
	g_autofree char *name = lode_function_name_text(most->name, terminal);
	return g_strdup_printf("by the clock %s has %s, not %s", name, LODE_SHARE_TEXT(share),
		LODE_SHARE_TEXT(usual));
}

void lode_threads_json(LodeJsonStream *json, const LodeProfile *profile)
{
	g_autofree uint32_t *order = lode_threads_by_waiting(profile);

	lode_json_begin(json, '[');
	for (guint i = 0; i < profile->thread_times->len; i++) {
		const LodeThreadTime *row = &LODE_AT(
			profile->thread_times, LodeThreadTime, order[i]);
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "name", row->name);
		lode_json_member_number(json, "pid", row->pid);
		lode_json_member_number(json, "tid", row->tid);
		lode_json_member_number(json, "seconds", life_ns(row) / NS_PER_S);
		lode_json_member_number(json, "running", row->running_ns / NS_PER_S);
		lode_json_member_number(json, "waiting", lode_thread_waiting_ns(row) / NS_PER_S);
		lode_json_member_number(json, "preempted", row->preempted_ns / NS_PER_S);
		lode_json_member_number(json, "switches", row->switches);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}
