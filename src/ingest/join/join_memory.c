/* SPDX-License-Identifier: MIT */
/*
 * The accesses that were read from the samples become the profile's memory: each gets its
 * instructions, and what lay at its address, by all layers (object_layers.h).
 *
 * Rows are put into an order that does not depend on the order of reading: threads by process,
 * mappings and allocations by their beginning.
 */
#include "base/arrays/id_cache.h"
#include "base/arrays/large_array.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "ingest/join/join.h"
#include "ingest/memory/managed_objects.h"
#include "ingest/memory/memory_loads.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/memory/object_layers.h"
#include "model/memory.h"
#include "model/profile.h"
#include "process/images/code_names.h"

#include <stdlib.h>
#include <string.h>

/*
 * The calls that led to each access, by name, from the chains of a reading: brought into the
 * profile's own list.
 *
 * Functions inlined at a place in code are calls of their own:
 *
 *   chain   0x2020 ◀ 0x1010                                      a place each
 *   calls   main prog.c:9 ◀ fill prog.c:40 ◀ push (inlined) list.h:7
 */

typedef struct {
	LodeProfile *profile;
	LodeMemoryReading *reading;
	LodeCodeNames *names;
	LodeIdCache call_ids; /* outer, function, place → row */
	GArray *depths;       /* uint16_t of each row */
	uint32_t *rows;       /* of each of the reading's calls; LODE_NONE: in the kernel */
} MemoryCallers;

/* The accessing code; the sampled code if no access is charged. */
static LodePlace code_of(const LodeReadAccess *access)
{
	return (LodePlace){access->image,
		access->image_access_pc != 0 ? access->image_access_pc : access->image_pc};
}

static uint32_t add_call(MemoryCallers *self, uint32_t outer, const LodeAccessCall *call)
{
	const LodeIdKey key = {
		{outer, (uint64_t)(uintptr_t)call->function, (uint64_t)(uintptr_t)call->place}};
	uint16_t depth = outer != LODE_NONE ? g_array_index(self->depths, uint16_t, outer) : 0;
	bool is_new;

	if (depth >= LODE_ACCESS_MAX_DEPTH)
		return outer;
	LodeIdSlot *slot = lode_id_cache_find(&self->call_ids, &key, &is_new);
	if (is_new) {
		slot->id = self->depths->len;
		g_array_append_vals(self->profile->memory->access_calls, call, 1);
		depth++;
		g_array_append_val(self->depths, depth);
	}
	return slot->id;
}

/* The function first, then the functions inlined into it, the innermost last. */
static uint32_t add_calls(MemoryCallers *self, uint32_t outer, const LodePlace *code)
{
	const LodeCodeName *name = lode_code_names_at(
		self->names, lode_code_names_add(self->names, code));
	LodeCodeImages *images = lode_places_images(self->reading->options.places);

	for (uint32_t i = name->n_inlined + 1; i-- > 0;) {
		const char *function = i < name->n_inlined ? name->inlined[i].function
		                                           : name->function;
		g_autofree char *text = lode_code_images_place_text(images, code->image,
			code->address, i > 0 ? name->inlined[i - 1].file : name->location.file,
			i > 0 ? name->inlined[i - 1].line : name->location.line);
		const LodeAccessCall call = {lode_profile_intern(self->profile, function),
			lode_profile_intern(self->profile, text), outer};
		outer = add_call(self, outer, &call);
	}
	return outer;
}

/* Names the calls of all chains, and the code of all accesses; rows go to profile->memory. NULL: no
 * chains were recorded. */
static MemoryCallers *memory_callers_new(LodeProfile *profile, LodeMemoryReading *reading)
{
	const LodeCallTree *tree = reading->tree;
	const GArray *accesses = reading->accesses;
	MemoryCallers *self;

	if (tree == NULL)
		return NULL;
	self = g_new0(MemoryCallers, 1);
	self->profile = profile;
	self->reading = reading;
	self->names = lode_code_names_new(lode_places_images(reading->options.places));
	self->depths = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	lode_id_cache_init(&self->call_ids);
	for (guint i = 0; i < tree->calls->len; i++) {
		const LodeCall *call = &g_array_index(tree->calls, LodeCall, i);
		if (!lode_call_is_in_kernel(call, lode_places_images(reading->options.places)))
			lode_code_names_add(self->names, &call->code);
	}
	for (guint i = 0; i < accesses->len; i++) {
		const LodePlace code = code_of(&g_array_index(accesses, LodeReadAccess, i));
		lode_code_names_add(self->names, &code);
	}
	lode_code_names_find(self->names);
	self->rows = g_new(uint32_t, MAX(tree->calls->len, 1));
	for (guint i = 0; i < tree->calls->len; i++) {
		const LodeCall *call = &g_array_index(tree->calls, LodeCall, i);
		/* No access of user code is called by the kernel's. */
		self->rows[i] = lode_call_is_in_kernel(
					call, lode_places_images(reading->options.places))
		                        ? LODE_NONE
		                        : add_calls(self,
						  call->outer != LODE_NONE ? self->rows[call->outer]
									   : LODE_NONE,
						  &call->code);
	}
	return self;
}

static void memory_callers_free(MemoryCallers *self)
{
	if (self == NULL)
		return;
	lode_code_names_free(self->names);
	lode_id_cache_clear(&self->call_ids);
	g_array_unref(self->depths);
	g_free(self->rows);
	g_free(self);
}

/* The row of profile->memory->access_calls that is an access of the reading, after those of its
 * callers; LODE_NONE: its code is not known. */
static uint32_t memory_callers_add(MemoryCallers *self, const LodeReadAccess *access)
{
	const LodePlace code = code_of(access);

	if (access->image == LODE_NONE)
		return LODE_NONE;
	return add_calls(
		self, access->caller != LODE_NONE ? self->rows[access->caller] : LODE_NONE, &code);
}

typedef struct {
	LodeProfile *profile;
	LodeMemory *memory;
	const LodeJoinAccesses *accesses;
	LodeMemoryReading *reading;
	LodeMemoryLoads *loads;
	LodeMemorySites *sites;
	MemoryCallers *callers; /* NULL: no chains were recorded */
	LodeObjectLayers *layers;
	uint32_t *mapping_ids; /* of the reading's; LODE_NONE: no sample is in it */
	LodeManagedObjects *managed;
	uint32_t *thread_ids; /* likewise */
	GArray *event_ids;    /* of the reading's names: the profile's events */
} Building;

/* In the order of process and number, as the reading's are in that of discovery. */
LODE_ORDER_OF_INDICES(compare_threads, LodeThread, LODE_ASCENDING(pid), LODE_ASCENDING(ordinal))

static void add_threads(Building *self)
{
	LodeThreads *source = &self->reading->threads;
	guint n = source->threads->len;
	g_autofree uint32_t *order = g_new(uint32_t, MAX(n, 1));

	lode_threads_number(source);
	self->thread_ids = g_new(uint32_t, MAX(n, 1));
	for (guint i = 0; i < n; i++)
		order[i] = i;
	if (n > 1)
		g_qsort_with_data(
			order, (gint)n, sizeof(uint32_t), compare_threads, source->threads->data);
	for (guint i = 0; i < n; i++) {
		LodeThread thread = LODE_AT(source->threads, LodeThread, order[i]);
		thread.name = lode_profile_intern(self->profile, thread.name);
		self->thread_ids[order[i]] = i;
		g_array_append_val(self->memory->threads, thread);
	}
}

LODE_ORDER_OF_INDICES(compare_mappings, LodePlacedMapping, LODE_ASCENDING(mapping.pid),
	LODE_ASCENDING(mapping.begin_ns), LODE_ASCENDING(mapping.start))

static char *stack_name(Building *self, uint32_t thread)
{
	g_autofree char *name = g_strdup_printf("[stack of thread %" G_GUINT32_FORMAT "]",
		LODE_AT(self->memory->threads, LodeThread, self->thread_ids[thread]).ordinal);

	return lode_profile_intern(self->profile, name);
}

/* Variables that begin as zeros are of an image, though of no file. */
static char *anonymous_name(Building *self, uint32_t index)
{
	const LodeMemoryMapping *mapping = &LODE_AT(
		lode_places_mappings(self->reading->options.places), LodePlacedMapping, index)
	                                            .mapping;
	uint32_t image;
	uint64_t address;

	if (!lode_memory_loads_find(self->loads, index, mapping->start, &image, &address))
		return lode_profile_intern(self->profile, mapping->name);
	const char *path = lode_code_images_peek(
		lode_places_images(self->reading->options.places), image)
	                           ->path;
	g_autofree char *name = g_strconcat(path, " [bss]", NULL);
	return lode_profile_intern(self->profile, name);
}

static char *mapping_name(Building *self, uint32_t index)
{
	const LodePlacedMapping *row = &LODE_AT(
		lode_places_mappings(self->reading->options.places), LodePlacedMapping, index);

	if (row->stack_of != LODE_NONE)
		return stack_name(self, row->stack_of);
	for (guint i = 0; i < self->reading->heaps->len; i++) {
		const LodeHeapLog *heap = self->reading->heaps->pdata[i];
		if (lode_heap_log_pid(heap) == row->mapping.pid &&
			lode_heap_log_is_in(heap, row->mapping.start, row->mapping.end))
			return lode_profile_intern(self->profile, lode_heap_log_name(heap));
	}
	if (strcmp(row->mapping.name, "[anon]") == 0)
		return anonymous_name(self, index);
	return lode_profile_intern(self->profile, row->mapping.name);
}

/* The file of a locale's characters, or of all locales: a process that maps one does not use the
 * locale C. */
static bool is_of_locale(const char *name)
{
	return g_str_has_suffix(name, "/LC_CTYPE") || g_str_has_suffix(name, "/locale-archive");
}

/* Adds the mappings with a sample, and those of locales: a process has hundreds, most of them
 * without. */
static void add_mappings(Building *self)
{
	const GArray *rows = lode_places_mappings(self->reading->options.places);
	const GArray *accesses = self->reading->accesses;
	g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	self->mapping_ids = g_new(uint32_t, MAX(rows->len, 1));
	memset(self->mapping_ids, 0xff, MAX(rows->len, 1) * sizeof(uint32_t));
	for (guint i = 0; i < accesses->len; i++) {
		uint32_t mapping = LODE_AT(accesses, LodeReadAccess, i).sample.mapping;
		if (mapping == LODE_NONE || self->mapping_ids[mapping] != LODE_NONE)
			continue;
		self->mapping_ids[mapping] = 0;
		g_array_append_val(used, mapping);
	}
	for (uint32_t i = 0; i < rows->len; i++) {
		const char *name = LODE_AT(rows, LodePlacedMapping, i).mapping.name;
		if (self->mapping_ids[i] == LODE_NONE && name != NULL && is_of_locale(name))
			g_array_append_val(used, i);
	}
	if (used->len > 1)
		g_qsort_with_data(used->data, (gint)used->len, sizeof(uint32_t), compare_mappings,
			rows->data);
	for (guint i = 0; i < used->len; i++) {
		uint32_t index = g_array_index(used, uint32_t, i);
		LodeMemoryMapping mapping = LODE_AT(rows, LodePlacedMapping, index).mapping;
		mapping.name = mapping_name(self, index);
		self->mapping_ids[index] = i;
		g_array_append_val(self->memory->mappings, mapping);
	}
}

/* No column of the recording: it has no cost at instructions. */
static uint32_t add_window_event(Building *self, uint32_t number)
{
	const GArray *accesses = self->reading->accesses;
	uint32_t event = lode_profile_find_event(self->profile, LODE_WINDOW_ACCESSES);

	if (event == LODE_NONE)
		event = lode_profile_add_event(self->profile, LODE_WINDOW_ACCESSES,
			"loads and stores executed step by step, in windows", LODE_EVENT_SAMPLED,
			NULL, 0);
	for (guint i = 0; i < accesses->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(accesses, LodeReadAccess, i).sample;
		if (sample->event == number)
			lode_profile_event(self->profile, event)->total += sample->weight;
	}
	return event;
}

static void find_events(Building *self)
{
	const GPtrArray *names = self->reading->events.names;

	for (guint i = 0; i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		uint32_t event = strcmp(name, LODE_WINDOW_ACCESSES) == 0
		                         ? add_window_event(self, i)
		                         : lode_join_find_event(self->profile,
						   self->accesses->recording,
						   self->accesses->events, name);
		g_array_append_val(self->event_ids, event);
	}
}

static void find_instructions(
	Building *self, const LodeReadAccess *access, LodeMemorySample *sample)
{
	const LodeProfile *profile = self->profile;
	uint32_t image = lode_join_image_of(self->accesses->images, access->image);

	sample->instruction = lode_join_find(self->profile, image, access->image_pc);
	if (sample->access_pc == 0)
		return;
	sample->access_instruction = lode_join_find(self->profile, image, access->image_access_pc);
	sample->access_function = lode_join_find_function(
		self->profile, image, access->image_access_pc);
	if (sample->access_instruction != LODE_NONE)
		sample->access_location = LODE_AT(
			profile->code.instructions, LodeInstruction, sample->access_instruction)
		                                  .location;
}

static uint32_t find_allocation(Building *self, const LodeReadAccess *access,
	const LodeMemorySample *sample, uint64_t address)
{
	const LodeMemoryPlace place = {
		.input = access->input,
		.pid = LODE_AT(self->memory->threads, LodeThread, sample->thread).pid,
		/* Where no times are recorded, the last one there. */
		.time_ns = sample->time_ns != 0 ? sample->time_ns : UINT64_MAX,
	};

	return lode_memory_sites_find(self->sites, &place, address);
}

/* The site that the allocator touched a page for; LODE_NONE: it did not. */
static uint32_t find_ongoing_site(
	Building *self, const LodeReadAccess *access, const LodeMemorySample *sample)
{
	const LodeThread *thread = &LODE_AT(self->memory->threads, LodeThread, sample->thread);
	const LodeMemoryPlace place = {
		.input = access->input, .pid = thread->pid, .time_ns = sample->time_ns};

	return sample->allocation == LODE_NONE && sample->time_ns != 0 &&
	                       lode_is_page_fault_event(
				       lode_profile_event(self->profile, sample->event)->name)
	               ? lode_memory_sites_find_ongoing(
				 self->sites, &place, thread->tid, access->image, sample->address)
	               : LODE_NONE;
}

static uint32_t site_of(const Building *self, uint32_t allocation)
{
	return allocation == LODE_NONE
	               ? LODE_NONE
	               : LODE_AT(self->memory->allocations, LodeAllocation, allocation).site;
}

/* The object of a garbage collector there, by the log of its heap. */
static LodeManagedObject find_managed(const Building *self, const LodeReadAccess *access)
{
	const LodeReadAccess *first = &LODE_AT(self->reading->accesses, LodeReadAccess, 0);

	return lode_managed_objects_at(self->managed, (guint)(access - first));
}

/* The names by the address itself, which must be that of the charged access. */
static void find_layers(Building *self, const LodeReadAccess *access,
	const LodeMemorySample *sample, LodeLayers *layers)
{
	LodeAccessedAddress place = {.address = access->sample.address,
		.size = access->sample.size,
		.image = access->image,
		.pc = access->image_access_pc,
		.operand = access->operand,
		.frame = access->frame,
		.load_image = LODE_NONE};

	if (sample->mapping != LODE_NONE)
		layers->mapping =
			LODE_AT(self->memory->mappings, LodeMemoryMapping, sample->mapping).name;
	if (access->sample.mapping != LODE_NONE &&
		lode_object_layers_is_open(self->layers, layers, access->frame.has_frame))
		lode_memory_loads_find(self->loads, access->sample.mapping, place.address,
			&place.load_image, &place.load_address);
	if (sample->allocation != LODE_NONE) {
		place.allocation = &LODE_AT(
			self->memory->allocations, LodeAllocation, sample->allocation);
		place.call = lode_memory_sites_call(self->sites, sample->allocation);
	}
	place.managed = find_managed(self, access).object;
	lode_object_layers_find(self->layers, &place, layers);
	layers->site = site_of(self, sample->allocation);
	if (layers->site == LODE_NONE)
		layers->site = find_managed(self, access).site;
	if (layers->site == LODE_NONE)
		layers->site = find_ongoing_site(self, access, sample);
}

/* From the first byte to the last of the object in which the sample about to be added lies: an
 * allocated block, else a variable. */
static void add_lost_range(Building *self, uint32_t allocation, uint64_t start, uint64_t size)
{
	LodeLostRange range = {self->memory->samples->len, start, size};

	if (allocation != LODE_NONE) {
		const LodeAllocation *block = &LODE_AT(
			self->memory->allocations, LodeAllocation, allocation);
		range.start = block->address;
		range.size = block->size;
	}
	if (range.size > 0 && range.start + range.size - 1 >= range.start)
		g_array_append_val(self->memory->lost_ranges, range);
}

/* The names by a surviving base where the address is lost. A stack has many variables, and the base
 * need not be in the right one. */
static void find_layers_of_base(Building *self, const LodeReadAccess *access,
	const LodeMemorySample *sample, LodeLayers *layers)
{
	uint32_t allocation = find_allocation(self, access, sample, access->base), image;
	LodeDataSymbol symbol = {.size = 0};
	uint64_t address = 0;

	if (access->base_mapping != LODE_NONE)
		layers->mapping = mapping_name(self, access->base_mapping);
	if (access->base_mapping != LODE_NONE &&
		lode_memory_loads_find(
			self->loads, access->base_mapping, access->base, &image, &address)) {
		layers->place_object = lode_memory_objects_find_base(
			self->accesses->objects->known, image, address);
		lode_binary_image_find_data_symbol(
			lode_code_images_at(
				lode_places_images(self->reading->options.places), image)
				->binary,
			address, &symbol);
	}
	if (layers->place_object == 0)
		layers->place_object = find_managed(self, access).object;
	layers->site = site_of(self, allocation);
	if (layers->site == LODE_NONE)
		layers->site = find_managed(self, access).site;
	if (sample->rule == LODE_RULE_NONE)
		add_lost_range(
			self, allocation, access->base - (address - symbol.address), symbol.size);
}

/* Names data of a map by its type, which the accessing function of Go's runtime does not know. */
static void find_in_map(Building *self, const LodeReadAccess *access, LodeLayers *layers)
{
	const LodeGoMapView view = {.return_address = access->map_call,
		.is_in_heap = layers->place_object == 0 && !access->frame.has_frame &&
	                      strcmp(layers->mapping, "[anon]") == 0,
		.is_of_strings = access->is_of_strings};
	const uint32_t found = lode_memory_objects_find_in_map(
		self->accesses->objects->known, access->image, &view, layers->operand_object);

	if (found != 0)
		layers->operand_object = found;
}

static void find_object(Building *self, const LodeReadAccess *access, LodeMemorySample *sample)
{
	static char unknown[] = "[unknown]";
	bool has_address = sample->rule != LODE_RULE_NONE;
	LodeLayers layers = {.site = LODE_NONE, .mapping = unknown};

	if (access->image != LODE_NONE && !access->has_no_operand)
		layers.operand_object = lode_memory_objects_find(self->accesses->objects->known,
			access->image, access->image_access_pc, access->operand);
	sample->mapping = has_address && access->sample.mapping != LODE_NONE
	                          ? self->mapping_ids[access->sample.mapping]
	                          : LODE_NONE;
	sample->allocation = has_address ? find_allocation(self, access, sample, sample->address)
	                                 : LODE_NONE;
	if (has_address && !sample->is_next)
		find_layers(self, access, sample, &layers);
	else if (access->base != 0)
		find_layers_of_base(self, access, sample, &layers);
	if (access->map_call != 0)
		find_in_map(self, access, &layers);
	if (!(has_address && !sample->is_next) && access->base == 0 && layers.operand_object == 0)
		return; /* that nothing is known is a reason, and no object */
	sample->object = lode_object_layers_intern(self->layers, &layers);
}

static void add_sample(Building *self, const LodeReadAccess *access)
{
	LodeMemorySample sample = access->sample;

	sample.event = g_array_index(self->event_ids, uint32_t, access->sample.event);
	sample.thread = self->thread_ids[access->sample.thread];
	find_instructions(self, access, &sample);
	/* A part of a trace may begin with an access, whose instruction was before it. */
	if (sample.access_pc != 0 || sample.rule != LODE_RULE_NONE)
		find_object(self, access, &sample);
	g_array_append_val(self->memory->samples, sample);
	if (self->callers == NULL)
		return;
	const LodeAccessPathOf path = {memory_callers_add(self->callers, access)};
	g_array_append_val(self->memory->access_paths, path);
}

static void add_line_store(Building *self, const LodeReadLineStore *from)
{
	LodeMemorySample sample = from->access.sample;

	sample.access_function = sample.access_location = LODE_NONE;
	find_instructions(self, &from->access, &sample);
	const LodeLineStore store = {
		.sample = from->row,
		.thread = self->thread_ids[sample.thread],
		.function = sample.access_function,
		.location = sample.access_location,
		.pc = sample.access_pc,
		.address = from->address,
		.size = from->size,
		.n = from->n,
	};
	g_array_append_val(self->memory->line_stores, store);
}

LODE_ORDER_OF_INDICES(compare_allocations, LodeAllocation, LODE_ASCENDING(pid),
	LODE_ASCENDING(begin_ns), LODE_ASCENDING(address))

/* They were added in the order in which samples fell into them. */
static void sort_allocations(Building *self)
{
	GArray *rows = self->memory->allocations, *paths = self->memory->allocation_paths;
	g_autofree LodeAllocation *unsorted = g_memdup2(
		rows->data, rows->len * sizeof(LodeAllocation));
	g_autofree uint32_t *order = g_new(uint32_t, MAX(rows->len, 1));
	g_autofree LodeAllocationPathOf *unsorted_paths = g_memdup2(
		paths->data, paths->len * sizeof(LodeAllocationPathOf));
	g_autofree uint32_t *numbers = g_new(uint32_t, MAX(rows->len, 1));

	for (guint i = 0; i < rows->len; i++)
		order[i] = i;
	if (rows->len > 1)
		g_qsort_with_data(
			order, (gint)rows->len, sizeof(uint32_t), compare_allocations, unsorted);
	for (guint i = 0; i < rows->len; i++) {
		LodeAllocation *row = &LODE_AT(rows, LodeAllocation, i);
		*row = unsorted[order[i]];
		LODE_AT(paths, LodeAllocationPathOf, i) = unsorted_paths[order[i]];
		if (row->thread != LODE_NONE)
			row->thread = self->thread_ids[row->thread];
		numbers[order[i]] = i;
	}
	for (guint i = 0; i < self->memory->samples->len; i++) {
		LodeMemorySample *sample = &LODE_AT(self->memory->samples, LodeMemorySample, i);
		if (sample->allocation != LODE_NONE)
			sample->allocation = numbers[sample->allocation];
	}
}

static void clear(Building *self)
{
	lode_object_layers_free(self->layers);
	lode_managed_objects_free(self->managed);
	memory_callers_free(self->callers);
	lode_memory_sites_free(self->sites);
	lode_memory_loads_free(self->loads);
	g_free(self->mapping_ids);
	g_free(self->thread_ids);
	g_array_unref(self->event_ids);
}

LODE_ORDER(compare_pages, LodeMemoryPages, LODE_ASCENDING(pid), LODE_ASCENDING(time_ns),
	LODE_ASCENDING(start))

/* Where there are many samples, each takes longer than other work of a step. */
static bool add_samples(Building *self, GError **error)
{
	enum { SAMPLES_BETWEEN = 1 << 12 };
	const GArray *accesses = self->reading->accesses;

	for (guint i = 0; i < accesses->len; i++) {
		if (i % SAMPLES_BETWEEN == 0 &&
			lode_progress_is_cancelled(self->accesses->progress)) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return false;
		}
		add_sample(self, &g_array_index(accesses, LodeReadAccess, i));
	}
	return true;
}

bool lode_join_memory(LodeProfile *profile, const LodeJoinAccesses *accesses, GError **error)
{
	LodeMemoryReading *reading = accesses->reading;
	LodeMemory *memory = profile->memory;

	if (reading == NULL)
		return true;
	lode_join_waiting(profile, accesses);
	guint n = reading->accesses->len;
	if (reading->is_full || !lode_large_array_has_room(sizeof(LodeMemorySample), n)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"not enough memory for %u sampled accesses or more", n);
		return false;
	}
	g_array_unref(memory->samples);
	memory->samples = lode_large_array_new(sizeof(LodeMemorySample), n);
	Building building = {.profile = profile,
		.memory = memory,
		.accesses = accesses,
		.reading = reading,
		.event_ids = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
	building.layers = lode_object_layers_new(
		memory, accesses->objects->known, lode_places_images(reading->options.places));
	memory->has_allocations = lode_allocations_all(reading->logs)->len > 0;
	memory->is_stall_weighted = reading->is_stall_weighted;
	memory->has_fixed_addresses = reading->has_fixed_addresses;
	lode_memory_reading_name_stacks(reading);
	add_threads(&building);
	const GArray *pages = reading->pages;
	g_array_append_vals(building.memory->pages, pages->data, pages->len);
	g_array_sort(building.memory->pages, compare_pages);
	building.loads = lode_memory_loads_new(reading->options.places);
	add_mappings(&building);
	find_events(&building);
	building.sites = lode_memory_sites_new(profile, reading, building.loads);
	building.managed = lode_managed_objects_new(
		reading, accesses->objects->known, building.sites);
	building.callers = memory_callers_new(profile, reading);
	if (!add_samples(&building, error)) {
		clear(&building);
		return false;
	}
	const GArray *stores = reading->line_stores;
	for (guint i = 0; i < stores->len; i++)
		add_line_store(&building, &g_array_index(stores, LodeReadLineStore, i));
	sort_allocations(&building);
	clear(&building);
	return true;
}
