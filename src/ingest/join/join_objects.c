/* SPDX-License-Identifier: MIT */
/*
 * Which data objects the executed instructions access, where data addresses were recorded: each
 * operand is asked of the debug information once, for the attribute obj and for the samples.
 */
#include "ingest/join/join.h"

enum { MAX_OPERANDS = 4 }; /* that the decoder shows */

static void find_objects(LodeJoin *self, uint32_t instruction, uint32_t image)
{
	const uint32_t accesses = 1u << LODE_KIND_LOAD | 1u << LODE_KIND_STORE;
	uint64_t address = lode_profile_instruction(self->profile, instruction)->address;
	LodeJoinObjects *objects = &g_array_index(self->objects, LodeJoinObjects, instruction);
	size_t n = 0;

	if ((self->codes[instruction].kinds & accesses) == 0)
		return;
	for (uint8_t i = 0; i < MAX_OPERANDS && n < G_N_ELEMENTS(objects->numbers); i++) {
		uint32_t number = lode_memory_objects_find(self->memory_objects, image, address, i);
		if (number != 0)
			objects->numbers[n++] = number;
	}
}

static void find_function_objects(LodeJoin *self, const LodeFunction *function)
{
	const char *path = lode_profile_image(self->profile, function->image)->path;
	uint32_t image = lode_memory_images_find(
		lode_memory_reading_images(self->memory_reading), path);

	for (uint32_t i = 0; image != LODE_NONE && i < function->n_instructions; i++)
		find_objects(self, function->first_instruction + i, image);
}

/* Types may be missing by it. What the source lines found broken is told with them. */
static void account_broken_types(LodeJoin *self)
{
	LodeMemoryImages *images = lode_memory_reading_images(self->memory_reading);

	for (uint32_t i = 0; i < lode_memory_images_count(images); i++) {
		const LodeMemoryImage *image = lode_memory_images_at(images, i);
		const char *warning = image->types != NULL ? lode_data_types_warning(image->types)
		                                           : NULL;
		if (warning == NULL || lode_binary_image_warning(image->binary) != NULL)
			continue;
		g_autofree char *example = g_strdup_printf("%s: %s", image->path, warning);
		lode_profile_add_unresolved(
			self->profile, "broken debug information of types", example, 0, 0);
	}
}

bool lode_join_objects(LodeJoin *self, GError **error)
{
	const LodeProfile *profile = self->profile;

	(void)error;
	if (self->memory_reading == NULL)
		return true;
	self->profile->memory = lode_memory_new();
	self->memory_objects = lode_memory_objects_new(self->profile, self->profile->memory,
		lode_memory_reading_images(self->memory_reading));
	g_array_set_size(self->objects, profile->instructions->len);
	for (guint i = 0; i < profile->functions->len; i++)
		find_function_objects(self, lode_profile_function(profile, i));
	account_broken_types(self);
	return true;
}
