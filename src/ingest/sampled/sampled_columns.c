/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/sampled_columns.h"

#include "ingest/sampled/sampled_counts.h"
#include "model/code.h"
#include "model/waits.h"
#include "sources/perf_data/script_look.h"
#include "sources/perf_data/wait_switch.h"

#include <linux/perf_event.h>
#include <string.h>

uint32_t lode_sampled_columns_find(const LodeRecording *recording, const char *name)
{
	/* The first column is that of executions, whatever an event is called. */
	for (guint i = 1; i < recording->events->len; i++)
		if (strcmp(recording->events->pdata[i], name) == 0)
			return i;
	return LODE_NONE;
}

uint32_t lode_sampled_columns_append(
	LodeRecording *recording, const char *name, const char *description)
{
	uint32_t column = recording->events->len;
	double zero = 0;

	g_ptr_array_add(recording->events, g_string_chunk_insert(recording->strings, name));
	g_ptr_array_set_size(recording->descriptions, (gint)recording->events->len);
	recording->descriptions->pdata[column] = g_string_chunk_insert(
		recording->strings, description);
	g_array_append_val(recording->totals, zero);
	recording->n_sampled++;
	return column;
}

double lode_sampled_timer_period(const LodePerfEvent *event)
{
	bool is_timer = event->type == PERF_TYPE_SOFTWARE &&
	                (event->config == PERF_COUNT_SW_CPU_CLOCK ||
				event->config == PERF_COUNT_SW_TASK_CLOCK);
	double value = (double)MAX(event->period_or_frequency, 1);

	if (!is_timer)
		return 0;
	return event->is_frequency ? 1e9 / value : value;
}

/* Without the modifiers that say where it counts: "cycles:u" and "cycles:pp" are one event. */
static char *event_name(const char *name)
{
	const char *colon = strrchr(name, ':');
	bool is_modifier = colon != NULL && colon > name && colon[1] != '\0' &&
	                   strspn(colon + 1, "ukhGHpPSDIeW") == strlen(colon + 1);

	return is_modifier ? g_strndup(name, (size_t)(colon - name)) : g_strdup(name);
}

static char *event_description(
	const LodePerfEvent *event, const LodePerfEvent *leader, const char *name)
{
	const char *unit = g_str_has_suffix(name, "-clock") ? " ns" : "";

	if (strcmp(event->name, LODE_WAITING_EVENT) == 0)
		return g_strdup("by looks at threads that wait, and context switches; in "
				"nanoseconds");
	if (leader != event)
		return g_strdup_printf("counted from sample to sample of %s", leader->name);
	if (event->is_frequency)
		return g_strdup_printf("sampled %" G_GUINT64_FORMAT " times a second%s",
			event->period_or_frequency, unit[0] != '\0' ? "; in nanoseconds" : "");
	return g_strdup_printf(
		"sampled every %" G_GUINT64_FORMAT "%s", event->period_or_frequency, unit);
}

/* Exact and late addresses are not added up: the second kind of an event keeps its modifiers in its
 * name. An event that is counted at the samples of another event, `leader`, has their addresses. */
static uint32_t add_column(
	LodeRecording *recording, const LodePerfEvent *event, const LodePerfEvent *leader)
{
	bool is_late = lode_perf_event_is_late(leader);
	g_autofree char *name = event_name(event->name);
	uint32_t known = lode_sampled_columns_find(recording, name);

	if (known != LODE_NONE && lode_recording_is_late(recording, known) != is_late) {
		char *other = g_strconcat(name, is_late ? "-late" : "-precise", NULL);
		g_free(name);
		name = other;
		known = lode_sampled_columns_find(recording, name);
	}
	if (known != LODE_NONE)
		return known;
	g_autofree char *description = event_description(event, leader, name);
	uint32_t column = lode_sampled_columns_append(recording, name, description);
	if (is_late)
		g_array_append_val(recording->late_columns, column);
	return column;
}

/* A timer that lode samples by more often at first is two events, one after the other. */
static void describe_first(LodeRecording *recording, uint32_t column, const LodePerfEvent *later,
	const LodePerfEvent *first)
{
	g_autofree char *text = g_strdup_printf("sampled %" G_GUINT64_FORMAT
						" times a second, %" G_GUINT64_FORMAT
						" at first; in nanoseconds",
		later->period_or_frequency, first->period_or_frequency);

	recording->descriptions->pdata[column] = g_string_chunk_insert(recording->strings, text);
}

/* Where perf events were refused, sampled in slices, or took much, the column says so, as it is a
 * matter of all that is seen of it. */
static void describe_sampling(LodeRecording *recording, uint32_t column, const LodePerfInfo *info)
{
	g_autofree char *text = g_strconcat(info->run.sampling, LODE_SAMPLING_END, NULL);

	recording->descriptions->pdata[column] = g_string_chunk_insert(recording->strings, text);
}

/* What is recorded beside samples of the program's work, and has no column. */
static bool is_beside(const LodePerfEvent *event)
{
	static const char *const names[] = {
		LODE_SCRIPT_EVENT, LODE_SWITCHED_EVENT, LODE_WAKING_EVENT};
	bool is_it = false;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		is_it |= strcmp(event->name, names[i]) == 0;
	return is_it && event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_DUMMY || event->has_switches);
}

/* By which means it is known why threads waited. */
static void describe_waiting(
	LodeRecording *recording, uint32_t column, const LodePerfEvent *events, size_t n)
{
	bool has_switched = false, has_waking = false;

	for (size_t i = 0; i < n; i++) {
		has_switched |= strcmp(events[i].name, LODE_SWITCHED_EVENT) == 0;
		has_waking |= strcmp(events[i].name, LODE_WAKING_EVENT) == 0;
	}
	if (!has_switched)
		return;
	g_autofree char *text = g_strconcat("each wait by the kernel",
		has_waking ? ", with who ended it" : "",
		"; files and holders of locks by looks; in nanoseconds", NULL);
	recording->descriptions->pdata[column] = g_string_chunk_insert(recording->strings, text);
}

bool lode_sampled_columns_add(LodeRecording *recording, LodePerfData *data, uint32_t *out_columns)
{
	size_t n;
	const LodePerfEvent *events = lode_perf_data_events(data, &n);
	const LodePerfInfo *info = lode_perf_data_info(data);

	for (size_t i = 0; i < n; i++) {
		const LodePerfEvent *event = &events[i];
		out_columns[i] = LODE_NONE;
		if (is_beside(event))
			continue;
		out_columns[i] = add_column(
			recording, event, &events[lode_sampled_counts_leader(events, i)]);
		if (i == 1 && out_columns[0] == out_columns[1] && events[0].is_frequency &&
			event->is_frequency && lode_sampled_timer_period(event) > 0 &&
			lode_sampled_timer_period(event) < lode_sampled_timer_period(&events[0]))
			describe_first(recording, out_columns[0], &events[0], event);
		if (strcmp(event->name, LODE_WAITING_EVENT) == 0)
			describe_waiting(recording, out_columns[i], events, n);
		if (info->run.sampling != NULL && lode_sampled_timer_period(event) > 0)
			describe_sampling(recording, out_columns[i], info);
		if (recording->n_sampled > LODE_SAMPLED_MAX_COLUMNS)
			return false;
	}
	return true;
}
