/* SPDX-License-Identifier: MIT */
#include "model/memory.h"

#include "base/words.h"

#include <string.h>

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

static const char *const rules[LODE_N_RULES] = {
	[LODE_RULE_NONE] = "none",
	[LODE_RULE_HARDWARE] = "hardware",
	[LODE_RULE_AT_PC] = "at-pc",
	[LODE_RULE_FORWARD] = "forward",
	[LODE_RULE_BACKWARD] = "backward",
	[LODE_RULE_RECOMPUTED] = "recomputed",
	[LODE_RULE_TRACED] = "traced",
};

static const char *const reasons[LODE_N_REASONS] = {
	[LODE_REASON_NONE] = "none",
	[LODE_REASON_NO_REGISTERS] = "no-registers",
	[LODE_REASON_NOT_USER_CODE] = "not-user-code",
	[LODE_REASON_NO_DECODE] = "no-decode",
	[LODE_REASON_BLOCKED] = "blocked",
	[LODE_REASON_BRANCH_TARGET] = "branch-target",
	[LODE_REASON_CLOBBERED] = "clobbered",
	[LODE_REASON_TLS] = "tls",
	[LODE_REASON_VECTOR_INDEX] = "vector-index",
	[LODE_REASON_NO_ACCESS_IN_RANGE] = "no-access-in-range",
	[LODE_REASON_INVALID_ADDRESS] = "invalid-address",
	[LODE_REASON_RECORDER] = "recorder",
	[LODE_REASON_NOT_MEMORY] = "not-memory",
	[LODE_REASON_AMBIGUOUS] = "ambiguous",
	[LODE_REASON_NOT_YET_READ] = "not-yet-read",
};

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

const char *lode_address_rule_to_text(LodeAddressRule value)
{
	return rules[value];
}

int lode_address_rule_from_text(const char *text)
{
	return lode_word_find(rules, LODE_N_RULES, text);
}

const char *lode_address_reason_to_text(LodeAddressReason value)
{
	return reasons[value];
}

int lode_address_reason_from_text(const char *text)
{
	return lode_word_find(reasons, LODE_N_REASONS, text);
}

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
