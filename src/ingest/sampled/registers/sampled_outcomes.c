/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/registers/sampled_outcomes.h"

#include "base/arrays/id_cache.h"
#include "images/data/branches_ahead.h"
#include "model/index.h"

enum { MAX_WAYS = 1 << 20 };

typedef struct {
	uint64_t source, target;
	uint32_t image, n;
} Way;

struct LodeSampledOutcomes {
	LodePlaces *places;
	LodeIdCache numbers; /* of ways */
	GArray *ways;        /* Way */
};

LodeSampledOutcomes *lode_sampled_outcomes_new(LodePlaces *places)
{
	LodeSampledOutcomes *self = g_new0(LodeSampledOutcomes, 1);

	self->places = places;
	lode_id_cache_init(&self->numbers);
	self->ways = g_array_new(FALSE, FALSE, sizeof(Way));
	return self;
}

void lode_sampled_outcomes_free(LodeSampledOutcomes *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->numbers);
	g_array_unref(self->ways);
	g_free(self);
}

static const uint8_t *code_bytes(void *image, uint64_t address, size_t *out_size)
{
	return lode_code_image_bytes(image, address, out_size);
}

void lode_sampled_outcomes_add(
	LodeSampledOutcomes *self, const LodePlace *place, const LodeDataAccessQuestion *question)
{
	const LodeDataAccessContext context = {.bytes = code_bytes,
		.data = lode_code_images_at(lode_places_images(self->places), place->image)};
	LodeBranchAhead branches[LODE_BRANCHES_AHEAD];
	unsigned n = lode_branches_ahead(&context, question, branches);

	for (unsigned i = 0; i < n; i++) {
		const LodeIdKey key = {{branches[i].source, branches[i].target, place->image}};
		const Way added = {branches[i].source, branches[i].target, place->image, 0};
		bool is_new;
		LodeIdSlot *slot = lode_id_cache_find_limited(
			&self->numbers, &key, MAX_WAYS, &is_new);
		if (slot == NULL)
			return;
		if (is_new) {
			slot->id = self->ways->len;
			g_array_append_val(self->ways, added);
		}
		LODE_AT(self->ways, Way, slot->id).n++;
	}
}

void lode_sampled_outcomes_finish(const LodeSampledOutcomes *self, LodeRecording *recording)
{
	const LodeCodeImages *images = lode_places_images(self->places);

	for (guint i = 0; i < self->ways->len; i++) {
		const Way *way = &LODE_AT(self->ways, Way, i);
		uint32_t object = lode_code_images_object_of(images, recording, way->image);
		const LodeRecordedStep step = {
			.source = way->source,
			.target = way->target,
			.object = object,
			.target_object = object,
			.steps = way->n,
			.hits = way->n,
		};
		g_array_append_val(recording->steps, step);
	}
}
