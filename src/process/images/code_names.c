/* SPDX-License-Identifier: MIT */
#include "process/images/code_names.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/sort_order.h"

#include <stdlib.h>

typedef struct {
	LodeCodeName name;
	uint32_t first_inlined;
} Place;

struct LodeCodeNames {
	LodeCodeImages *images;
	GArray *places;  /* Place */
	LodeIdCache ids; /* image, address → index */
	GArray *inlined; /* LodeInlinedCall */
};

LodeCodeNames *lode_code_names_new(LodeCodeImages *images)
{
	LodeCodeNames *self = g_new0(LodeCodeNames, 1);

	self->images = images;
	self->places = g_array_new(FALSE, FALSE, sizeof(Place));
	self->inlined = g_array_new(FALSE, FALSE, sizeof(LodeInlinedCall));
	lode_id_cache_init(&self->ids);
	return self;
}

void lode_code_names_free(LodeCodeNames *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->places);
	g_array_unref(self->inlined);
	lode_id_cache_clear(&self->ids);
	g_free(self);
}

uint32_t lode_code_names_add(LodeCodeNames *self, const LodePlace *code)
{
	const LodeIdKey key = {{code->image, code->address, 0}};
	const Place place = {.name.code = *code};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->ids, &key, &is_new);

	if (is_new) {
		slot->id = self->places->len;
		g_array_append_val(self->places, place);
	}
	return slot->id;
}

LODE_ORDER_OF_POINTERS(
	compare_places, Place, LODE_ASCENDING(name.code.image), LODE_ASCENDING(name.code.address))

/* Names the places of one image. */
static void name_places(LodeCodeNames *self, LodeCodeImage *image, Place **places, guint n)
{
	g_autofree uint64_t *addresses = g_new(uint64_t, n);
	g_autofree LodeBinaryLocation *found = g_new0(LodeBinaryLocation, n);
	guint first = self->inlined->len;

	for (guint i = 0; i < n; i++) {
		addresses[i] = places[i]->name.code.address;
		const LodeBinaryFunction *function = lode_code_image_function(image, addresses[i]);
		places[i]->name.function = function != NULL ? function->name : NULL;
	}
	if (image->binary == NULL)
		return;
	lode_binary_image_locate_calls(image->binary, addresses, n, found, self->inlined);
	for (guint i = 0; i < n; i++)
		places[i]->name.location = found[i];
	for (guint i = first; i < self->inlined->len; i++) {
		Place *place = places[g_array_index(self->inlined, LodeInlinedCall, i).index];
		if (place->name.n_inlined++ == 0)
			place->first_inlined = i;
	}
}

void lode_code_names_find(LodeCodeNames *self)
{
	g_autofree Place **order = g_new(Place *, MAX(self->places->len, 1));
	guint n = 0, end;

	for (guint i = 0; i < self->places->len; i++) {
		Place *place = &g_array_index(self->places, Place, i);
		if (place->name.code.image != LODE_NONE)
			order[n++] = place;
	}
	if (n > 1)
		qsort(order, n, sizeof(Place *), compare_places);
	for (guint begin = 0; begin < n; begin = end) {
		uint32_t image = order[begin]->name.code.image;
		for (end = begin; end < n && order[end]->name.code.image == image; end++)
			;
		name_places(
			self, lode_code_images_at(self->images, image), &order[begin], end - begin);
	}
	for (guint i = 0; i < self->places->len; i++) {
		Place *place = &g_array_index(self->places, Place, i);
		place->name.inlined = place->name.n_inlined > 0
		                              ? &g_array_index(self->inlined, LodeInlinedCall,
							place->first_inlined)
		                              : NULL;
	}
}

const LodeCodeName *lode_code_names_at(const LodeCodeNames *self, uint32_t place)
{
	return &g_array_index(self->places, Place, place).name;
}
