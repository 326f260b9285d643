/* SPDX-License-Identifier: MIT */
#include "views/export/firefox_markers.h"

#include "analyses/waits/wait_groups.h"
#include "base/arrays/sort_order.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "views/export/stack_export.h"

#include <math.h>

/* Of the format: the marker has a begin and an end. */
enum { INTERVAL = 1, NS_PER_MS = 1000000 };

#define SCHEMA "wait"

static void free_array(void *array)
{
	g_array_unref(array);
}

static bool is_wait(const LodeWaitSlice *slice)
{
	return slice->kind < LODE_N_WAIT_REASONS && slice->kind != LODE_WAIT_UNSEEN &&
	       slice->time_ns > 0 && slice->end_ns > slice->begin_ns;
}

static char *place_text(const LodeWaitPlace *place)
{
	if (place->function == NULL)
		return NULL;
	g_autofree char *file = place->file != NULL ? g_path_get_basename(place->file) : NULL;
	g_autofree char *text = file != NULL && place->line > 0
	                                ? g_strdup_printf(
						  "%s (%s:%u)", place->function, file, place->line)
	                                : g_strdup(place->function);
	return lode_stack_export_text(text);
}

void lode_firefox_markers_init(LodeFirefoxMarkers *self, const LodeProfile *profile)
{
	const LodeWaits *waits = profile->waits;

	*self = (LodeFirefoxMarkers){.profile = profile,
		.slices = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_array)};
	if (waits == NULL || waits->slices->len == 0)
		return;
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	self->places = g_new0(char *, (gsize)waits->rows->len + 1);
	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &g_array_index(waits->rows, LodeWait, i);
		const LodeWaitPlace place = lode_wait_place_of(profile, own, row->stack);
		self->places[i] = place_text(&place);
	}
	for (guint i = 0; i < waits->slices->len; i++) {
		const LodeWaitSlice *slice = &g_array_index(waits->slices, LodeWaitSlice, i);
		gint64 key = (gint64)((uint64_t)slice->pid << 32 | slice->tid);
		GArray *of_thread = g_hash_table_lookup(self->slices, &key);
		if (!is_wait(slice))
			continue;
		if (of_thread == NULL) {
			of_thread = g_array_new(FALSE, FALSE, sizeof(const LodeWaitSlice *));
			g_hash_table_insert(self->slices, g_memdup2(&key, sizeof(key)), of_thread);
		}
		g_array_append_val(of_thread, slice);
	}
}

void lode_firefox_markers_clear(LodeFirefoxMarkers *self)
{
	guint n = self->places != NULL ? self->profile->waits->rows->len : 0;

	for (guint i = 0; i < n; i++)
		g_free(self->places[i]);
	g_clear_pointer(&self->places, g_free);
	g_clear_pointer(&self->slices, g_hash_table_unref);
}

static const GArray *slices_of(const LodeFirefoxMarkers *self, uint32_t pid, uint32_t tid)
{
	gint64 key = (gint64)((uint64_t)pid << 32 | tid);

	return g_hash_table_lookup(self->slices, &key);
}

bool lode_firefox_markers_have(const LodeFirefoxMarkers *self, uint32_t pid, uint32_t tid)
{
	return slices_of(self, pid, tid) != NULL;
}

static char *name_of(const LodeProfile *profile, uint32_t pid, uint32_t tid)
{
	for (guint i = 0; i < profile->thread_times->len; i++) {
		const LodeThreadTime *time = &g_array_index(
			profile->thread_times, LodeThreadTime, i);
		if (time->pid == pid && time->tid == tid)
			return time->name;
	}
	return NULL;
}

LODE_ORDER(compare_threads, LodeStackThread, LODE_ASCENDING(pid), LODE_ASCENDING(tid))

GArray *lode_firefox_markers_others(const LodeFirefoxMarkers *self, const GArray *threads)
{
	GArray *others = g_array_new(FALSE, FALSE, sizeof(LodeStackThread));
	g_autoptr(GHashTable)
		known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	GHashTableIter iter;
	void *key;

	for (guint i = 0; i < threads->len; i++) {
		const LodeStackThread *thread = &g_array_index(threads, LodeStackThread, i);
		gint64 number = (gint64)((uint64_t)thread->pid << 32 | thread->tid);
		g_hash_table_add(known, g_memdup2(&number, sizeof(number)));
	}
	g_hash_table_iter_init(&iter, self->slices);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		uint64_t number = (uint64_t) * (const gint64 *)key;
		LodeStackThread thread = {.pid = (uint32_t)(number >> 32), .tid = (uint32_t)number};
		thread.name = name_of(self->profile, thread.pid, thread.tid);
		if (!g_hash_table_contains(known, key))
			g_array_append_val(others, thread);
	}
	g_array_sort(others, compare_threads);
	return others;
}

/* What the wait is for and where, and how long of the stretch, and of the critical path. */
static void put_data(
	const LodeFirefoxMarkers *self, const LodeWaitSlice *slice, LodeJsonStream *json)
{
	const GArray *rows = self->profile->waits->rows;
	const LodeWait *row = slice->wait < rows->len ? &g_array_index(rows, LodeWait, slice->wait)
	                                              : NULL;
	const char *object = row != NULL ? row->object : NULL;

	lode_json_begin(json, '{');
	lode_json_member_string(json, "type", SCHEMA);
	if (object != NULL) {
		g_autofree char *text = lode_stack_export_text(object);
		lode_json_member_string(json, "object", text);
	}
	if (row != NULL && self->places[slice->wait] != NULL)
		lode_json_member_string(json, "place", self->places[slice->wait]);
	lode_json_member_number(json, "waited", slice->time_ns / NS_PER_MS);
	if (slice->path_ns > 0)
		lode_json_member_number(json, "path", slice->path_ns / NS_PER_MS);
	lode_json_end(json, '}');
}

static void put_times(
	const GArray *slices, const char *name, bool is_end, double begin_ns, LodeJsonStream *json)
{
	lode_json_member_begin(json, name, '[');
	for (guint i = 0; i < slices->len; i++) {
		const LodeWaitSlice *slice = g_array_index(slices, const LodeWaitSlice *, i);
		double at_ns = (double)(is_end ? slice->end_ns : slice->begin_ns);
		lode_json_number(json, fmax(at_ns - begin_ns, 0) / NS_PER_MS);
	}
	lode_json_end(json, ']');
}

static void put_same(const GArray *slices, const char *name, double value, LodeJsonStream *json)
{
	lode_json_member_begin(json, name, '[');
	for (guint i = 0; i < slices->len; i++)
		lode_json_number(json, value);
	lode_json_end(json, ']');
}

void lode_firefox_markers_put(const LodeFirefoxMarkers *self, uint32_t pid, uint32_t tid,
	double begin_ns, LodeNameTable *strings, LodeJsonStream *json)
{
	g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(const LodeWaitSlice *));
	const GArray *slices = slices_of(self, pid, tid);

	slices = slices != NULL ? slices : none;
	lode_json_line(json);
	lode_json_member_begin(json, "markers", '{');
	lode_json_member_number(json, "length", slices->len);
	lode_json_member_begin(json, "data", '[');
	for (guint i = 0; i < slices->len; i++)
		put_data(self, g_array_index(slices, const LodeWaitSlice *, i), json);
	lode_json_end(json, ']');
	lode_json_member_begin(json, "name", '[');
	for (guint i = 0; i < slices->len; i++)
		lode_json_integer(json,
			lode_name_table_add(strings,
				lode_wait_slice_kind_to_text(
					g_array_index(slices, const LodeWaitSlice *, i)->kind)));
	lode_json_end(json, ']');
	put_times(slices, "startTime", false, begin_ns, json);
	put_times(slices, "endTime", true, begin_ns, json);
	put_same(slices, "phase", INTERVAL, json);
	put_same(slices, "category", 0, json);
	lode_json_end(json, '}');
}

static void put_field(LodeJsonStream *json, const char *key, const char *label, const char *format)
{
	lode_json_begin(json, '{');
	lode_json_member_string(json, "key", key);
	lode_json_member_string(json, "label", label);
	lode_json_member_string(json, "format", format);
	lode_json_end(json, '}');
}

void lode_firefox_markers_put_schema(LodeJsonStream *json)
{
	lode_json_member_begin(json, "markerSchema", '[');
	lode_json_begin(json, '{');
	lode_json_member_string(json, "name", SCHEMA);
	lode_json_member_string(json, "tooltipLabel", "waits: {marker.name}");
	lode_json_member_string(json, "tableLabel", "{marker.data.object} {marker.data.place}");
	lode_json_member_string(json, "chartLabel", "{marker.data.object}");
	lode_json_member_begin(json, "display", '[');
	lode_json_string(json, "marker-chart");
	lode_json_string(json, "marker-table");
	lode_json_string(json, "timeline-overview");
	lode_json_end(json, ']');
	lode_json_member_begin(json, "fields", '[');
	put_field(json, "object", "For", "string");
	put_field(json, "place", "In", "string");
	put_field(json, "waited", "Waited", "duration");
	put_field(json, "path", "Critical path", "duration");
	lode_json_end(json, ']');
	lode_json_end(json, '}');
	lode_json_end(json, ']');
}
