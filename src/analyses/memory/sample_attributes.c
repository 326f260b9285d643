/* SPDX-License-Identifier: MIT */
#include "analyses/memory/sample_attributes.h"

#include "analyses/memory/sample_attribute_context.h"

#include <string.h>

/* Threads are sorted by process. */
static void label_threads(LodeSampleAttributes *self)
{
	const LodeThread *threads = (const LodeThread *)(const void *)self->memory->threads->data;
	guint n = self->memory->threads->len;
	bool has_processes = n > 0 && threads[0].pid != threads[n - 1].pid;

	self->thread_labels = g_new(char *, n + 1);
	for (guint i = 0; i < n; i++) {
		g_autofree char *label = has_processes ? g_strdup_printf("%u.%u", threads[i].pid,
								 threads[i].ordinal)
		                                       : g_strdup_printf("%u", threads[i].ordinal);
		self->thread_labels[i] = g_string_chunk_insert(self->strings, label);
	}
}

static void find_opcodes(LodeSampleAttributes *self)
{
	const LodeProfile *profile = self->profile;

	self->opcodes = g_new0(const char *, profile->attribute_sets->len + 1);
	for (guint i = 0; i < profile->attribute_sets->len; i++) {
		const LodeAttributeSet *set = &LODE_AT(
			profile->attribute_sets, LodeAttributeSet, i);
		for (uint32_t k = 0; k < set->n && self->opcodes[i] == NULL; k++) {
			uint32_t id = LODE_AT(profile->set_members, uint32_t, set->first + k);
			const char *name = g_ptr_array_index(profile->attributes, id);
			if (g_str_has_prefix(name, "op:"))
				self->opcodes[i] = name + strlen("op:");
		}
	}
}

static void name_places(LodeSampleAttributes *self)
{
	const GArray *locations = self->profile->locations;

	self->places = g_new0(const char *, locations->len + 1);
	for (guint i = 0; i < locations->len; i++) {
		const LodeLocation *location = &LODE_AT(locations, LodeLocation, i);
		if (location->file == NULL || location->line == 0)
			continue;
		g_autofree char *place = g_strdup_printf("%s:%u", location->file, location->line);
		/* One string for what was inlined from several places into one line. */
		self->places[i] = g_string_chunk_insert_const(self->strings, place);
	}
}

static void find_first_time(LodeSampleAttributes *self)
{
	const GArray *samples = self->memory->samples;

	for (guint i = 0; i < samples->len; i++) {
		uint64_t time_ns = LODE_AT(samples, LodeMemorySample, i).time_ns;
		if (time_ns != 0 && (self->first_ns == 0 || time_ns < self->first_ns))
			self->first_ns = time_ns;
	}
}

LodeSampleAttributes *lode_sample_attributes_new(const LodeProfile *profile)
{
	LodeSampleAttributes *self = g_new0(LodeSampleAttributes, 1);

	g_assert(profile->memory != NULL);
	self->profile = profile;
	self->memory = profile->memory;
	self->strings = g_string_chunk_new(1 << 12);
	label_threads(self);
	find_opcodes(self);
	name_places(self);
	find_first_time(self);
	return self;
}

void lode_sample_attributes_free(LodeSampleAttributes *self)
{
	if (self == NULL)
		return;
	g_string_chunk_free(self->strings);
	g_free(self->places);
	g_free(self->opcodes);
	g_free(self->thread_labels);
	g_free(self);
}

const LodeProfile *lode_sample_attributes_profile(const LodeSampleAttributes *self)
{
	return self->profile;
}

const char *lode_sample_attributes_thread_label(const LodeSampleAttributes *self, uint32_t thread)
{
	return self->thread_labels[thread];
}
