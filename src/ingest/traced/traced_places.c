/* SPDX-License-Identifier: MIT */
#include "ingest/traced/traced_places.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "sources/allocations/live_ranges.h"

#include <string.h>
#include <sys/mman.h>

enum { PID_UNKNOWN = 1 };

struct LodeTracedPlaces {
	LodeTracedPlacesOptions options;
	LodePlaces *places;
	LodeLiveRanges *code; /* while mappings are added: what may be executed */
	GHashTable *owners;   /* path and build-id → the owner of ranges of that code */
	GArray *changes;      /* uint64_t: references, ascending */
	uint32_t pid;
	uint32_t unnamed; /* the object "???"; LODE_NONE: not added yet */

	/* Live; else NULL. */
	const LodeTraceDescription *description; /* borrowed */
	/* Numbers of its mappings: those seen, and those mapped because their time has come. */
	guint n_seen, n_mapped;
};

uint32_t lode_traced_places_find_pid(const LodeTraceDescription *description)
{
	uint32_t tid = description->threads->len > 0
	                       ? g_array_index(description->threads, LodeTraceThread, 0).tid
	                       : 0;

	return tid != 0 ? tid : PID_UNKNOWN;
}

/* Whether code replaces other code, rather than being reported again. */
static bool is_change(const LodeLiveRange *range, const GArray *ended)
{
	for (guint i = 0; i < ended->len; i++) {
		const LodeLiveRange *old = &g_array_index(ended, LodeLiveRange, i);
		if (old->owner != range->owner || old->origin != range->origin)
			return true;
	}
	return false;
}

static uint32_t owner_of(LodeTracedPlaces *self, const LodeTraceMapping *mapping)
{
	g_autofree char *key = g_strconcat(
		mapping->path != NULL ? mapping->path : "", "\n", mapping->build_id, NULL);
	guint owner = GPOINTER_TO_UINT(g_hash_table_lookup(self->owners, key));

	if (owner == 0) {
		owner = g_hash_table_size(self->owners) + 1;
		g_hash_table_insert(self->owners, g_steal_pointer(&key), GUINT_TO_POINTER(owner));
	}
	return owner;
}

static void note_code(LodeTracedPlaces *self, const LodeTraceMapping *mapping)
{
	g_autoptr(GArray) ended = NULL;
	LodeLiveRange range = {
		.start = mapping->start,
		.end = mapping->end,
		.origin = mapping->start - mapping->offset,
	};

	if ((mapping->protection & PROT_EXEC) == 0 || mapping->start >= mapping->end)
		return;
	ended = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));
	range.owner = owner_of(self, mapping);
	lode_live_ranges_put(self->code, &range, ended);
	if (is_change(&range, ended))
		g_array_append_val(self->changes, mapping->first_reference);
}

static LodeTracedPlaces *places_new(
	const LodeTracedPlacesOptions *options, uint32_t pid, bool is_live)
{
	LodeTracedPlaces *self = g_new0(LodeTracedPlaces, 1);
	const LodePlacesOptions placing = {
		.images = options->images,
		.jit = is_live ? NULL : options->jit,
		.is_live = is_live,
		.is_for_code = true,
	};

	self->options = *options;
	self->places = lode_places_new(&placing);
	self->code = lode_live_ranges_new();
	self->owners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->changes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->pid = pid;
	self->unnamed = LODE_NONE;
	return self;
}

LodeTracedPlaces *lode_traced_places_new_process(const LodeTraceDescription *description,
	uint32_t pid, const LodeTracedPlacesOptions *options)
{
	LodeTracedPlaces *self = places_new(options, pid, false);
	const GArray *mappings = description->mappings;

	lode_places_begin(self->places);
	for (guint i = 0; i < mappings->len; i++) {
		const LodeTraceMapping *mapping = &g_array_index(mappings, LodeTraceMapping, i);
		lode_places_note_traced(self->places, pid, mapping, mapping->first_reference);
		note_code(self, mapping);
	}
	lode_places_freeze(self->places, NULL, NULL, NULL);
	uint64_t n_forgetting = lode_places_n_forgetting(self->places);
	if (n_forgetting > 0)
		lode_recording_add_unresolved(options->recording, lode_address_spaces_why_forgotten,
			NULL, (double)n_forgetting, 0);
	g_array_sort(self->changes, lode_compare_u64);
	return self;
}

LodeTracedPlaces *lode_traced_places_new_live(const LodeTraceDescription *description, uint32_t pid,
	const LodeTracedPlacesOptions *options)
{
	LodeTracedPlaces *self = places_new(options, pid, true);

	self->description = description;
	return self;
}

void lode_traced_places_update(LodeTracedPlaces *self)
{
	const GArray *mappings = self->description != NULL ? self->description->mappings : NULL;
	guint n_changes = self->changes->len;

	for (; mappings != NULL && self->n_seen < mappings->len; self->n_seen++)
		note_code(self, &g_array_index(mappings, LodeTraceMapping, self->n_seen));
	if (self->changes->len > n_changes)
		g_array_sort(self->changes, lode_compare_u64);
}

/* Applies the mappings up to a reference. */
static void advance(LodeTracedPlaces *self, uint64_t reference)
{
	for (; self->n_mapped < self->n_seen; self->n_mapped++) {
		const LodeTraceMapping *mapping = &g_array_index(
			self->description->mappings, LodeTraceMapping, self->n_mapped);
		if (mapping->first_reference > reference)
			break;
		lode_places_note_traced(self->places, self->pid, mapping, 0);
	}
}

void lode_traced_places_free(LodeTracedPlaces *self)
{
	if (self == NULL)
		return;
	lode_places_free(self->places);
	lode_live_ranges_free(self->code);
	g_hash_table_unref(self->owners);
	g_array_unref(self->changes);
	g_free(self);
}

uint32_t lode_traced_places_pid(const LodeTracedPlaces *self)
{
	return self->pid;
}

/* There is one for a process, which may have executed several programs. */
static uint32_t unnamed_object(LodeTracedPlaces *self)
{
	static char path[] = "???";
	GArray *objects = self->options.recording->objects;
	const LodeRecordedObject added = {.path = path, .image = LODE_NONE, .pid = self->pid};

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

LodeTracedInstruction lode_traced_places_find_at(
	LodeTracedPlaces *self, uint64_t address, uint64_t reference, uint64_t time_ns)
{
	LodePlace place;

	advance(self, reference);
	if (lode_places_find_at(self->places, self->pid, reference, time_ns, address, &place) !=
		LODE_PLACE_FOUND)
		return (LodeTracedInstruction){address, address, unnamed_object(self)};
	return (LodeTracedInstruction){address, place.address,
		lode_code_images_object_of(
			self->options.images, self->options.recording, place.image)};
}

LodeTracedInstruction lode_traced_places_find(
	LodeTracedPlaces *self, uint64_t address, uint64_t reference)
{
	return lode_traced_places_find_at(self, address, reference, LODE_JIT_TIME_LAST);
}

uint64_t lode_traced_places_next_change(const LodeTracedPlaces *self, uint64_t reference)
{
	const uint64_t *changes = (const uint64_t *)self->changes->data;
	guint n = LODE_PARTITION_POINT(self->changes->len, i, changes[i] <= reference);

	return n < self->changes->len ? changes[n] : UINT64_MAX;
}
