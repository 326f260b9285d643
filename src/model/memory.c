/* SPDX-License-Identifier: MIT */
#include "model/memory.h"

#include "base/text/words.h"
#include "model/profile.h"

#include <string.h>

LodeMemory *lode_memory_of(const LodeProfile *profile)
{
	return profile->memory;
}

LodeMemory *lode_memory_new(void)
{
	LodeMemory *self = g_new0(LodeMemory, 1);

	self->threads = g_array_new(FALSE, TRUE, sizeof(LodeThread));
	self->mappings = g_array_new(FALSE, TRUE, sizeof(LodeMemoryMapping));
	self->sites = g_array_new(FALSE, TRUE, sizeof(LodeAllocationSite));
	self->allocations = g_array_new(FALSE, TRUE, sizeof(LodeAllocation));
	self->calls = g_array_new(FALSE, TRUE, sizeof(LodeAllocationCall));
	self->paths = g_array_new(FALSE, TRUE, sizeof(LodeAllocationPath));
	self->site_peaks = g_array_new(FALSE, TRUE, sizeof(LodeAllocationPeak));
	self->heap_peak = g_array_new(FALSE, TRUE, sizeof(LodeAllocationPeak));
	self->allocation_paths = g_array_new(FALSE, TRUE, sizeof(LodeAllocationPathOf));
	self->types = g_array_new(FALSE, TRUE, sizeof(LodeDataType));
	self->members = g_array_new(FALSE, TRUE, sizeof(LodeDataMember));
	self->objects = g_array_new(FALSE, TRUE, sizeof(LodeDataObject));
	self->samples = g_array_new(FALSE, TRUE, sizeof(LodeMemorySample));
	self->line_stores = g_array_new(FALSE, TRUE, sizeof(LodeLineStore));
	self->lost_ranges = g_array_new(FALSE, TRUE, sizeof(LodeLostRange));
	self->pages = g_array_new(FALSE, TRUE, sizeof(LodeMemoryPages));
	self->access_calls = g_array_new(FALSE, TRUE, sizeof(LodeAccessCall));
	self->access_paths = g_array_new(FALSE, TRUE, sizeof(LodeAccessPathOf));
	return self;
}

void lode_memory_free(LodeMemory *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->samples);
	g_array_unref(self->access_paths);
	g_array_unref(self->access_calls);
	g_array_unref(self->line_stores);
	g_array_unref(self->lost_ranges);
	g_array_unref(self->pages);
	g_array_unref(self->objects);
	g_array_unref(self->members);
	g_array_unref(self->types);
	g_array_unref(self->allocation_paths);
	g_array_unref(self->heap_peak);
	g_array_unref(self->site_peaks);
	g_array_unref(self->paths);
	g_array_unref(self->calls);
	g_array_unref(self->allocations);
	g_array_unref(self->sites);
	g_array_unref(self->mappings);
	g_array_unref(self->threads);
	g_free(self);
}

/* A trace is imported by itself, so that one row suffices. */
bool lode_memory_is_traced(const LodeMemory *self)
{
	for (guint i = 0; i < self->samples->len; i++)
		if (g_array_index(self->samples, LodeMemorySample, i).rule == LODE_RULE_TRACED)
			return true;
	return false;
}

const char *lode_memory_object_name(const LodeMemory *self, uint32_t object)
{
	return object < self->objects->len
	               ? g_array_index(self->objects, LodeDataObject, object).name
	               : NULL;
}

const char *lode_memory_mapping_name(const LodeMemory *self, uint32_t mapping)
{
	return mapping < self->mappings->len
	               ? g_array_index(self->mappings, LodeMemoryMapping, mapping).name
	               : NULL;
}

static const char *const layers[LODE_N_LAYERS] = {
	[LODE_LAYER_TYPE] = "type",
	[LODE_LAYER_VARIABLE] = "variable",
	[LODE_LAYER_ALLOCATION] = "allocation",
	[LODE_LAYER_MAPPING] = "mapping",
};

static const char *const call_roles[LODE_N_CALL_ROLES] = {
	[LODE_CALL_OF_PROGRAM] = "program",
	[LODE_CALL_IN_RUNTIME] = "runtime",
	[LODE_CALL_IN_ALLOCATOR] = "allocator",
	[LODE_CALL_PASSES_SIZE] = "passes-size",
	[LODE_CALL_SKIPPED] = "skipped",
};

const char *lode_object_layer_to_text(LodeObjectLayer value)
{
	return layers[value];
}

int lode_object_layer_from_text(const char *text)
{
	return lode_word_find(layers, LODE_N_LAYERS, text);
}

const char *lode_call_role_to_text(LodeCallRole value)
{
	return call_roles[value];
}

int lode_call_role_from_text(const char *text)
{
	return lode_word_find(call_roles, LODE_N_CALL_ROLES, text);
}

bool lode_is_page_fault_event(const char *name)
{
	static const char *const names[] = {
		"page-faults", "minor-faults", "major-faults", "faults"};
	size_t length = strcspn(name, ":");

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
			return true;
	return false;
}
