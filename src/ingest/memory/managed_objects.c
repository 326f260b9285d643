/* SPDX-License-Identifier: MIT */
#include "ingest/memory/managed_objects.h"

#include "base/arrays/partition_point.h"
#include "ingest/memory/memory_reading.h"

#include <math.h>

struct LodeManagedObjects {
	LodeMemoryReading *reading;
	LodeMemoryObjects *known;
	uint64_t *mapping_ends;     /* of each mapping of the reading; 0: not computed yet */
	LodeManagedObject *objects; /* of each access; NULL: there are no logs */
};

/* The last log of the process that had begun by then, or its first; NULL: none. */
static const LodeHeapLog *find_heap(const LodeManagedObjects *self, uint32_t pid, uint64_t time_ns)
{
	const GPtrArray *heaps = self->reading->heaps;
	guint n = LODE_PARTITION_POINT(heaps->len, i,
		lode_heap_log_pid(heaps->pdata[i]) < pid ||
			(lode_heap_log_pid(heaps->pdata[i]) == pid &&
				lode_heap_log_begin_ns(heaps->pdata[i]) <= time_ns));

	if (n > 0 && lode_heap_log_pid(heaps->pdata[n - 1]) == pid)
		return heaps->pdata[n - 1];
	return n < heaps->len && lode_heap_log_pid(heaps->pdata[n]) == pid ? heaps->pdata[n] : NULL;
}

static const LodeMemoryMapping *mapping_at(const LodeManagedObjects *self, uint32_t index)
{
	return &LODE_AT(
		lode_places_mappings(self->reading->options.places), LodePlacedMapping, index)
	                .mapping;
}

/* When another mapping was put over a mapping, or over a part of it. */
static uint64_t end_of_mapping(LodeManagedObjects *self, uint32_t index)
{
	guint n = lode_places_mappings(self->reading->options.places)->len;
	const LodeMemoryMapping *own = mapping_at(self, index);
	uint64_t *end_ns = &self->mapping_ends[index];

	if (*end_ns != 0)
		return *end_ns;
	*end_ns = UINT64_MAX;
	for (guint i = 0; i < n; i++) {
		const LodeMemoryMapping *other = mapping_at(self, i);
		if (other->pid == own->pid && other->begin_ns > own->begin_ns &&
			other->start < own->end && own->start < other->end)
			*end_ns = MIN(*end_ns, other->begin_ns);
	}
	return *end_ns;
}

/* Memory that is mapped for one object has it as long as it is mapped. */
static bool find_alone(LodeManagedObjects *self, const LodeHeapLog *heap, uint32_t mapping,
	uint64_t address, LodeHeapObject *out_object)
{
	const LodeMemoryMapping *at = mapping_at(self, mapping);
	const LodeHeapMemory memory = {
		at->start, at->end, at->begin_ns, end_of_mapping(self, mapping)};

	return lode_heap_log_find_alone(heap, &memory, address, out_object);
}

/* By the address, which must be that of the charged access; else by a surviving base. */
static bool find_object(
	LodeManagedObjects *self, const LodeReadAccess *access, LodeHeapObject *out_object)
{
	const LodeMemorySample *sample = &access->sample;
	bool has_address = sample->rule != LODE_RULE_NONE && !sample->is_next;
	uint32_t mapping = has_address ? sample->mapping : access->base_mapping;
	uint64_t address = has_address ? sample->address : access->base;
	uint32_t pid = LODE_AT(self->reading->threads.threads, LodeThread, sample->thread).pid;
	const LodeHeapLog *heap = find_heap(self, pid, sample->time_ns);

	if (heap == NULL || mapping == LODE_NONE || (!has_address && address == 0))
		return false;
	/* a mapping newer than the walk is of a different program or heap */
	return (lode_heap_log_find(heap, address, sample->time_ns, out_object) &&
		       out_object->seen_ns >= mapping_at(self, mapping)->begin_ns) ||
	       find_alone(self, heap, mapping, address, out_object);
}

/* Names and classes: arrays have many sizes. */
static void add_access(LodeManagedObjects *self, guint number, LodeNameTable *names,
	GPtrArray *stacks, GArray *accesses)
{
	const LodeReadAccess *access = &LODE_AT(self->reading->accesses, LodeReadAccess, number);
	LodeHeapObject object = {0};

	self->objects[number] = (LodeManagedObject){0, LODE_NONE};
	if (!find_object(self, access, &object))
		return;
	self->objects[number].object = lode_memory_objects_add_class(
		self->known, object.name, g_str_has_suffix(object.name, "[]") ? 0 : object.size);
	LodeSampledAccessSite added = {
		.class = self->objects[number].object,
		.event = access->sample.event,
		.code = access->sample.access_pc,
		.object = object.address,
		.weight = access->sample.weight,
		.site = LODE_NONE,
		.number = number,
	};
	if (object.site != NULL) {
		added.n_others = 1 / expm1((double)object.size / object.site->interval);
		added.site = lode_name_table_add(names, object.site->name);
		if (added.site == stacks->len)
			g_ptr_array_add(stacks, (void *)object.site->stack);
	}
	g_array_append_val(accesses, added);
}

/* A site has a name of its own if shares of it are estimated. */
static void name_sites(LodeManagedObjects *self, const LodeNameTable *names,
	const GPtrArray *stacks, const GArray *accesses, LodeMemorySites *sites)
{
	g_autofree bool *is_estimated = g_new0(bool, names->names->len + 1);

	for (guint i = 0; i < accesses->len; i++) {
		const LodeSampledAccessSite *access = &LODE_AT(accesses, LodeSampledAccessSite, i);
		if (access->is_estimated)
			is_estimated[access->site] = true;
	}
	for (guint i = 0; i < accesses->len; i++) {
		const LodeSampledAccessSite *access = &LODE_AT(accesses, LodeSampledAccessSite, i);
		if (access->site == LODE_NONE)
			continue;
		g_autofree char *name = g_strconcat(lode_name_table_name(names, access->site),
			is_estimated[access->site] ? " (estimated)" : "", NULL);
		self->objects[access->number].site = lode_memory_sites_add(
			sites, name, stacks->pdata[access->site]);
	}
}

LodeManagedObjects *lode_managed_objects_new(
	LodeMemoryReading *reading, LodeMemoryObjects *known, LodeMemorySites *sites)
{
	LodeManagedObjects *self = g_new0(LodeManagedObjects, 1);
	g_autoptr(GPtrArray) stacks = g_ptr_array_new();
	g_autoptr(GArray) accesses = g_array_new(FALSE, TRUE, sizeof(LodeSampledAccessSite));
	LodeNameTable names;

	self->reading = reading;
	self->known = known;
	if (reading->heaps->len == 0)
		return self;
	self->mapping_ends = g_new0(
		uint64_t, lode_places_mappings(reading->options.places)->len + 1);
	self->objects = g_new0(LodeManagedObject, reading->accesses->len + 1);
	lode_name_table_init(&names);
	for (guint i = 0; i < reading->accesses->len; i++)
		add_access(self, i, &names, stacks, accesses);
	lode_sampled_sites_estimate(accesses);
	name_sites(self, &names, stacks, accesses, sites);
	lode_name_table_clear(&names);
	return self;
}

void lode_managed_objects_free(LodeManagedObjects *self)
{
	if (self == NULL)
		return;
	g_free(self->mapping_ends);
	g_free(self->objects);
	g_free(self);
}

LodeManagedObject lode_managed_objects_at(const LodeManagedObjects *self, guint access)
{
	return self->objects != NULL ? self->objects[access] : (LodeManagedObject){0, LODE_NONE};
}
