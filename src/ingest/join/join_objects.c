/* SPDX-License-Identifier: MIT */
/*
 * The data objects that executed instructions access, where data addresses were recorded: each
 * operand is looked up in the debug information once, for the attribute obj and for the samples.
 */
#include "ingest/join/join.h"

#include "ingest/memory/memory_reading.h"
#include "model/memory.h"
#include "model/profile.h"
#include "model/run/unresolved.h"

enum { MAX_OPERANDS = 4 }; /* that the decoder shows */

typedef struct {
	LodeProfile *profile;
	LodeCodeImages *images; /* the reading's */
	const LodeJoinCode *codes;
	LodeJoinObjects *objects;
} Finding;

static void find_operands(Finding *self, uint32_t instruction, uint32_t image)
{
	const uint32_t accesses = 1u << LODE_KIND_LOAD | 1u << LODE_KIND_STORE;
	uint64_t address = lode_profile_instruction(self->profile, instruction)->address;
	LodeJoinOperands *operands = &g_array_index(
		self->objects->operands, LodeJoinOperands, instruction);
	size_t n = 0;

	if ((self->codes[instruction].kinds & accesses) == 0)
		return;
	for (uint8_t i = 0; i < MAX_OPERANDS && n < G_N_ELEMENTS(operands->numbers); i++) {
		uint32_t number = lode_memory_objects_find(self->objects->known, image, address, i);
		if (number != 0)
			operands->numbers[n++] = number;
	}
}

/* Types may be missing because of it. Faults of the source lines are reported with them. */
static void account_broken_types(Finding *self)
{
	for (uint32_t i = 0; i < lode_code_images_count(self->images); i++) {
		const LodeCodeImage *image = lode_code_images_at(self->images, i);
		const char *warning = image->types != NULL ? lode_data_types_warning(image->types)
		                                           : NULL;
		if (warning == NULL || lode_binary_image_warning(image->binary) != NULL)
			continue;
		g_autofree char *example = g_strdup_printf("%s: %s", image->path, warning);
		lode_profile_add_unresolved(
			self->profile, "broken debug information of types", example, 0, 0);
	}
}

void lode_join_objects(LodeProfile *profile, LodeMemoryReading *reading,
	const LodeJoinImages *images, const LodeJoinCode *codes, LodeJoinObjects *out)
{
	Finding finding = {.profile = profile, .codes = codes, .objects = out};

	out->operands = g_array_new(FALSE, TRUE, sizeof(LodeJoinOperands));
	if (reading == NULL)
		return;
	finding.images = lode_places_images(reading->options.places);
	profile->memory = lode_memory_new();
	out->known = lode_memory_objects_new(profile, profile->memory, finding.images);
	g_array_set_size(out->operands, profile->code.instructions->len);
	for (guint i = 0; reading->names_operands && i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		uint32_t image = g_array_index(images->code_images, uint32_t, function->image);
		for (uint32_t j = 0; image != LODE_NONE && j < function->n_instructions; j++)
			find_operands(&finding, function->first_instruction + j, image);
	}
	account_broken_types(&finding);
}

void lode_join_objects_clear(LodeJoinObjects *self)
{
	g_clear_pointer(&self->operands, g_array_unref);
	g_clear_pointer(&self->known, lode_memory_objects_free);
}
