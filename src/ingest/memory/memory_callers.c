/* SPDX-License-Identifier: MIT */
/*
 * Each place in code is named once, sorted, so that an image's lines are read in one pass.
 * Functions inlined there are calls of their own:
 *
 *   chain   0x2020 ◀ 0x1010                                      a place each
 *   calls   main prog.c:9 ◀ fill prog.c:40 ◀ push (inlined) list.h:7
 */
#include "ingest/memory/memory_callers.h"

#include "base/id_cache.h"

#include <stdlib.h>

typedef struct {
	LodeCaller code;
	const char *function; /* NULL: unknown */
	LodeBinaryLocation location;
	uint32_t first_inlined, n_inlined;
} Place;

struct LodeMemoryCallers {
	LodeProfile *profile;
	LodeMemoryReading *reading;
	GArray *places;        /* Place */
	LodeIdCache place_ids; /* image, address → index */
	GArray *inlined;       /* LodeInlinedCall */
	LodeIdCache call_ids;  /* outer, function, place → row */
	GArray *depths;        /* uint16_t of each row */
	uint32_t *rows;        /* of each of the reading's callers */
};

static uint32_t add_place(LodeMemoryCallers *self, const LodeCaller *code)
{
	const LodeIdKey key = {{code->image, code->address, 0}};
	const Place place = {.code = *code};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->place_ids, &key, &is_new);

	if (is_new) {
		slot->id = self->places->len;
		g_array_append_val(self->places, place);
	}
	return slot->id;
}

/* What accesses; of a sample that no access is charged with, what was sampled. */
static LodeCaller code_of(const LodeReadAccess *access)
{
	return (LodeCaller){access->image,
		access->image_access_pc != 0 ? access->image_access_pc : access->image_pc};
}

static int compare_places(const void *a, const void *b)
{
	const Place *left = *(const Place *const *)a, *right = *(const Place *const *)b;

	if (left->code.image != right->code.image)
		return left->code.image < right->code.image ? -1 : 1;
	return (left->code.address > right->code.address) -
	       (left->code.address < right->code.address);
}

/* Those of one image. */
static void name_places(LodeMemoryCallers *self, LodeCodeImage *image, Place **places, guint n)
{
	g_autofree uint64_t *addresses = g_new(uint64_t, n);
	g_autofree LodeBinaryLocation *found = g_new0(LodeBinaryLocation, n);
	guint first = self->inlined->len;

	for (guint i = 0; i < n; i++) {
		addresses[i] = places[i]->code.address;
		const LodeBinaryFunction *function = lode_code_image_function(image, addresses[i]);
		places[i]->function = function != NULL ? function->name : NULL;
	}
	if (image->binary == NULL)
		return;
	lode_binary_image_locate_calls(image->binary, addresses, n, found, self->inlined);
	for (guint i = 0; i < n; i++)
		places[i]->location = found[i];
	for (guint i = first; i < self->inlined->len; i++) {
		Place *place = places[g_array_index(self->inlined, LodeInlinedCall, i).index];
		if (place->n_inlined++ == 0)
			place->first_inlined = i;
	}
}

static void name_all(LodeMemoryCallers *self)
{
	g_autofree Place **order = g_new(Place *, MAX(self->places->len, 1));
	guint n = 0, end;

	for (guint i = 0; i < self->places->len; i++) {
		Place *place = &g_array_index(self->places, Place, i);
		if (place->code.image != LODE_NONE)
			order[n++] = place;
	}
	if (n > 1)
		qsort(order, n, sizeof(Place *), compare_places);
	for (guint begin = 0; begin < n; begin = end) {
		for (end = begin; end < n && order[end]->code.image == order[begin]->code.image;
			end++)
			;
		name_places(self,
			lode_code_images_at(lode_memory_reading_images(self->reading),
				order[begin]->code.image),
			&order[begin], end - begin);
	}
}

static uint32_t add_call(LodeMemoryCallers *self, uint32_t outer, const LodeAccessCall *call)
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

/* The function first, then what is inlined into it, the innermost last. */
static uint32_t add_calls(LodeMemoryCallers *self, uint32_t outer, const LodeCaller *code)
{
	const Place *place = &g_array_index(self->places, Place, add_place(self, code));
	LodeCodeImages *images = lode_memory_reading_images(self->reading);

	for (uint32_t i = place->n_inlined + 1; i-- > 0;) {
		const LodeInlinedCall *inlined = &g_array_index(
			self->inlined, LodeInlinedCall, place->first_inlined);
		const char *function = i < place->n_inlined ? inlined[i].function : place->function;
		g_autofree char *text = lode_code_images_place_text(images, code->image,
			code->address, i > 0 ? inlined[i - 1].file : place->location.file,
			i > 0 ? inlined[i - 1].line : place->location.line);
		const LodeAccessCall call = {lode_profile_intern(self->profile, function),
			lode_profile_intern(self->profile, text), outer};
		outer = add_call(self, outer, &call);
	}
	return outer;
}

LodeMemoryCallers *lode_memory_callers_new(LodeProfile *profile, LodeMemoryReading *reading)
{
	const GArray *callers = lode_memory_reading_callers(reading);
	const GArray *accesses = lode_memory_reading_accesses(reading);
	LodeMemoryCallers *self;

	if (!lode_memory_reading_has_call_chains(reading))
		return NULL;
	self = g_new0(LodeMemoryCallers, 1);
	self->profile = profile;
	self->reading = reading;
	self->places = g_array_new(FALSE, FALSE, sizeof(Place));
	self->inlined = g_array_new(FALSE, FALSE, sizeof(LodeInlinedCall));
	self->depths = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	lode_id_cache_init(&self->place_ids);
	lode_id_cache_init(&self->call_ids);
	for (guint i = 0; i < callers->len; i++)
		add_place(self, &g_array_index(callers, LodeReadCaller, i).caller);
	for (guint i = 0; i < accesses->len; i++) {
		const LodeCaller code = code_of(&g_array_index(accesses, LodeReadAccess, i));
		add_place(self, &code);
	}
	name_all(self);
	self->rows = g_new(uint32_t, MAX(callers->len, 1));
	for (guint i = 0; i < callers->len; i++) {
		const LodeReadCaller *caller = &g_array_index(callers, LodeReadCaller, i);
		self->rows[i] = add_calls(self,
			caller->outer != LODE_NONE ? self->rows[caller->outer] : LODE_NONE,
			&caller->caller);
	}
	return self;
}

void lode_memory_callers_free(LodeMemoryCallers *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->place_ids);
	lode_id_cache_clear(&self->call_ids);
	g_array_unref(self->places);
	g_array_unref(self->inlined);
	g_array_unref(self->depths);
	g_free(self->rows);
	g_free(self);
}

uint32_t lode_memory_callers_add(LodeMemoryCallers *self, const LodeReadAccess *access)
{
	const LodeCaller code = code_of(access);

	if (access->image == LODE_NONE)
		return LODE_NONE;
	return add_calls(
		self, access->caller != LODE_NONE ? self->rows[access->caller] : LODE_NONE, &code);
}
