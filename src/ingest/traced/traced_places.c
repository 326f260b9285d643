/* SPDX-License-Identifier: MIT */
#include "ingest/traced/traced_places.h"

#include "base/partition_point.h"
#include "sources/live_ranges.h"

#include <string.h>
#include <sys/mman.h>

enum {
	MAX_BUILD_ID = 64, /* bytes; those of SHA-1 are 20 */
	PID_UNKNOWN = 1,
};

struct LodeTracedPlaces {
	LodeRecording *recording;
	LodeAddressSpaces *spaces; /* of all times; live, of the present */
	LodeSampledFiles *files;   /* borrowed */
	LodeLiveRanges *code;      /* while mappings are added: what may be executed */
	GArray *changes;           /* uint64_t: references, ascending */
	uint32_t pid;
	uint32_t unnamed; /* the object "???"; LODE_NONE: not added yet */

	/* Live; else NULL. */
	const LodeTraceDescription *description; /* borrowed */
	GQueue *pending;                         /* Pending, whose time has not come yet */
	guint n_seen;                            /* of its mappings */
};

typedef struct {
	LodeMappedRange range;
	uint64_t first_reference;
} Pending;

uint32_t lode_traced_places_find_pid(const LodeTraceDescription *description)
{
	uint32_t tid = description->threads->len > 0
	                       ? g_array_index(description->threads, LodeTraceThread, 0).tid
	                       : 0;

	return tid != 0 ? tid : PID_UNKNOWN;
}

/* The bytes that a hexadecimal text stands for; 0 where it is none. */
static size_t parse_build_id(const char *text, uint8_t *out_bytes)
{
	size_t n = text != NULL ? strlen(text) / 2 : 0;

	if (n > MAX_BUILD_ID || (text != NULL && strlen(text) % 2 != 0))
		return 0;
	for (size_t i = 0; i < n; i++) {
		int high = g_ascii_xdigit_value(text[2 * i]);
		int low = g_ascii_xdigit_value(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return 0;
		out_bytes[i] = (uint8_t)(high << 4 | low);
	}
	return n;
}

LodePerfMapping lode_traced_places_mapping(const LodeTraceMapping *mapping)
{
	const char *path = mapping->path != NULL ? mapping->path : "";

	return (LodePerfMapping){
		.start = mapping->start,
		.size = mapping->end > mapping->start ? mapping->end - mapping->start : 0,
		.offset = mapping->offset,
		.protection = mapping->protection,
		.path = strcmp(path, "[anon]") == 0 ? "" : path,
	};
}

static LodeMappedRange range_of(LodeTracedPlaces *self, const LodeTraceMapping *mapping)
{
	LodePerfMapping added = lode_traced_places_mapping(mapping);
	uint8_t build_id[MAX_BUILD_ID];

	added.build_id_size = parse_build_id(mapping->build_id, build_id);
	if (added.build_id_size > 0)
		added.build_id = build_id;
	/* Code may be made in any memory of no file. */
	if (added.path[0] == '[' && strcmp(added.path, "[vdso]") != 0 &&
		strcmp(added.path, "[vsyscall]") != 0)
		added.path = "";
	return (LodeMappedRange){
		.start = added.start,
		.end = added.start + added.size,
		.offset = added.offset,
		.file = lode_sampled_files_add(self->files, self->pid, &added),
	};
}

/* Whether code takes the place of other code, rather than being told of once more. */
static bool is_change(const LodeLiveRange *range, const GArray *ended)
{
	for (guint i = 0; i < ended->len; i++) {
		const LodeLiveRange *old = &g_array_index(ended, LodeLiveRange, i);
		if (old->owner != range->owner || old->origin != range->origin)
			return true;
	}
	return false;
}

static void note_code(LodeTracedPlaces *self, const LodeTraceMapping *mapping, uint32_t file)
{
	g_autoptr(GArray) ended = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));
	const LodeLiveRange range = {
		.start = mapping->start,
		.end = mapping->end,
		.origin = mapping->start - mapping->offset,
		.owner = file,
	};

	if ((mapping->protection & PROT_EXEC) == 0 || mapping->start >= mapping->end)
		return;
	lode_live_ranges_put(self->code, &range, ended);
	if (is_change(&range, ended))
		g_array_append_val(self->changes, mapping->first_reference);
}

static int compare_references(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void add_mappings(LodeTracedPlaces *self, const GArray *mappings)
{
	for (guint i = 0; i < mappings->len; i++) {
		const LodeTraceMapping *mapping = &g_array_index(mappings, LodeTraceMapping, i);
		const LodeMappedRange range = range_of(self, mapping);
		lode_address_spaces_map(self->spaces, self->pid, mapping->first_reference, &range);
		note_code(self, mapping, range.file);
	}
	uint64_t n_forgetting = lode_address_spaces_freeze(self->spaces);
	if (n_forgetting > 0)
		lode_recording_add_unresolved(self->recording, lode_address_spaces_why_forgotten,
			NULL, (double)n_forgetting, 0);
	g_array_sort(self->changes, compare_references);
}

static LodeTracedPlaces *places_new(LodeSampledFiles *files, uint32_t pid)
{
	LodeTracedPlaces *self = g_new0(LodeTracedPlaces, 1);

	self->recording = files->recording;
	self->files = files;
	self->code = lode_live_ranges_new();
	self->changes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->pid = pid;
	self->unnamed = LODE_NONE;
	return self;
}

LodeTracedPlaces *lode_traced_places_new_process(
	const LodeTraceDescription *description, uint32_t pid, LodeSampledFiles *files)
{
	LodeTracedPlaces *self = places_new(files, pid);

	self->spaces = lode_address_spaces_new();
	add_mappings(self, description->mappings);
	return self;
}

LodeTracedPlaces *lode_traced_places_new_live(
	const LodeTraceDescription *description, uint32_t pid, LodeSampledFiles *files)
{
	LodeTracedPlaces *self = places_new(files, pid);

	self->spaces = lode_address_spaces_new_live();
	self->description = description;
	self->pending = g_queue_new();
	return self;
}

void lode_traced_places_see(LodeTracedPlaces *self)
{
	const GArray *mappings = self->description != NULL ? self->description->mappings : NULL;
	guint n_changes = self->changes->len;

	for (; mappings != NULL && self->n_seen < mappings->len; self->n_seen++) {
		const LodeTraceMapping *mapping = &g_array_index(
			mappings, LodeTraceMapping, self->n_seen);
		Pending *pending = g_new(Pending, 1);
		*pending = (Pending){range_of(self, mapping), mapping->first_reference};
		g_queue_push_tail(self->pending, pending);
		note_code(self, mapping, pending->range.file);
	}
	if (self->changes->len > n_changes)
		g_array_sort(self->changes, compare_references);
}

/* What is mapped up to a reference lies there from then on. */
static void advance(LodeTracedPlaces *self, uint64_t reference)
{
	const Pending *first;

	while ((first = g_queue_peek_head(self->pending)) != NULL &&
		first->first_reference <= reference) {
		g_autofree Pending *due = g_queue_pop_head(self->pending);
		lode_address_spaces_map(self->spaces, self->pid, 0, &due->range);
	}
}

void lode_traced_places_free(LodeTracedPlaces *self)
{
	if (self == NULL)
		return;
	lode_address_spaces_free(self->spaces);
	lode_live_ranges_free(self->code);
	g_array_unref(self->changes);
	if (self->pending != NULL)
		g_queue_free_full(self->pending, g_free);
	g_free(self);
}

uint32_t lode_traced_places_pid(const LodeTracedPlaces *self)
{
	return self->pid;
}

/* Of a process, which may have become several programs, there is one. */
static uint32_t unnamed_object(LodeTracedPlaces *self)
{
	static char path[] = "???";
	GArray *objects = self->recording->objects;
	const LodeRecordedObject added = {.path = path, .pid = self->pid};

	for (guint i = 0; i < objects->len && self->unnamed == LODE_NONE; i++) {
		const LodeRecordedObject *object = &g_array_index(objects, LodeRecordedObject, i);
		if (object->pid == self->pid && strcmp(object->path, path) == 0)
			self->unnamed = i;
	}
	if (self->unnamed == LODE_NONE) {
		self->unnamed = objects->len;
		g_array_append_val(objects, added);
	}
	return self->unnamed;
}

LodeSampledPlace lode_traced_places_find_at(
	LodeTracedPlaces *self, uint64_t address, uint64_t reference, uint64_t time_ns)
{
	LodeSampledPlace place;

	if (self->pending != NULL)
		advance(self, reference);
	const LodeMappedRange *range = lode_address_spaces_find(
		self->spaces, self->pid, address, reference, NULL);

	if (lode_sampled_files_place(self->files, range, self->pid, time_ns, address, &place) ==
		LODE_SAMPLED_RESOLVED)
		return place;
	return (LodeSampledPlace){unnamed_object(self), address};
}

LodeSampledPlace lode_traced_places_find(
	LodeTracedPlaces *self, uint64_t address, uint64_t reference)
{
	return lode_traced_places_find_at(self, address, reference, UINT64_MAX);
}

uint64_t lode_traced_places_next_change(const LodeTracedPlaces *self, uint64_t reference)
{
	const uint64_t *changes = (const uint64_t *)self->changes->data;
	guint n = LODE_PARTITION_POINT(self->changes->len, i, changes[i] <= reference);

	return n < self->changes->len ? changes[n] : UINT64_MAX;
}
