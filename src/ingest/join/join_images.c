/* SPDX-License-Identifier: MIT */
/*
 * The recording's objects → images, opened; and every executed instruction's place in them. Code
 * that callgrind could not name ("???") has run-time addresses, which the load map resolves.
 */
#include "base/arrays/large_array.h"
#include "base/arrays/sort_order.h"
#include "base/worker_pool.h"
#include "ingest/join/join.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "sources/code/load_map.h"

#include <stdlib.h>
#include <string.h>

/* The inputs and outputs of making images and sites. */
typedef struct {
	LodeProfile *profile;
	const LodeRecording *recording;
	LodeJoinImages *images;
	const LodeProgress *progress;
} Joining;

static const LodeRecordedObject *object_at(const LodeRecording *recording, uint32_t object)
{
	return &g_array_index(recording->objects, LodeRecordedObject, object);
}

static LodeCodeImages *code_images(const LodeJoinImages *self)
{
	return self->context->code_images;
}

/* The code image of an object; LODE_NONE: "???". An object known by its path alone is the first of
 * that path. */
static uint32_t code_image_of(const LodeJoinImages *self, const LodeRecordedObject *object)
{
	const LodeImageIdentity identity = {.path = object->path};

	if (object->image != LODE_NONE || strcmp(object->path, "???") == 0)
		return object->image;
	return lode_code_images_add(code_images(self), &identity);
}

static uint32_t image_of(const LodeJoinImages *self, uint32_t object)
{
	return g_array_index(self->object_images, uint32_t, object);
}

uint32_t lode_join_image_of(const LodeJoinImages *self, uint32_t code_image)
{
	return code_image < self->images_of_code->len
	               ? g_array_index(self->images_of_code, uint32_t, code_image)
	               : LODE_NONE;
}

static uint32_t add_row(Joining *self, const char *path, LodeImageKind kind, uint32_t code_image)
{
	const LodeImage image = {.path = lode_profile_intern(self->profile, path), .kind = kind};

	g_array_append_val(self->profile->code.images, image);
	g_array_append_val(self->images->code_images, code_image);
	return self->profile->code.images->len - 1;
}

static uint32_t add_image(Joining *self, uint32_t code_image)
{
	const LodeCodeImage *code = lode_code_images_peek(code_images(self->images), code_image);
	GArray *by_code = self->images->images_of_code;
	uint32_t found = lode_join_image_of(self->images, code_image);
	const uint32_t none = LODE_NONE;

	if (found != LODE_NONE)
		return found;
	while (by_code->len <= code_image)
		g_array_append_val(by_code, none);
	return g_array_index(by_code, uint32_t, code_image) = add_row(
		       self, code->path, code->kind, code_image);
}

static void add_object_images(Joining *self)
{
	uint32_t none = LODE_NONE;

	for (guint i = 0; i < self->recording->objects->len; i++) {
		uint32_t code = code_image_of(self->images, object_at(self->recording, i));
		uint32_t image = code != LODE_NONE ? add_image(self, code) : LODE_NONE;
		g_array_append_val(self->images->object_images, image);
		g_array_append_val(self->images->unknown_images, none);
	}
}

static bool find_jit_code(
	const LodeJoinImages *self, uint32_t pid, uint64_t address, LodePlace *out_place)
{
	LodeJitPlace place;

	if (lode_jit_code_set_find(self->context->jit, pid, address, LODE_JIT_TIME_LAST, &place) !=
		LODE_JIT_FOUND)
		return false;
	*out_place = (LodePlace){
		lode_code_images_add_kind(code_images(self), LODE_IMAGE_JIT, place.path),
		place.address};
	return true;
}

/* Finds the code at a run-time address: a mapped file, or code that was made there. */
static bool find_mapping(
	const LodeJoinImages *self, uint32_t pid, uint64_t address, LodePlace *out_place)
{
	const LodeLoadMapEntry *entry = lode_load_map_set_find(
		self->context->load_maps, pid, address);

	if (entry == NULL)
		return find_jit_code(self, pid, address, out_place);
	const LodeImageIdentity identity = {.path = entry->path};
	*out_place = (LodePlace){
		lode_code_images_add(code_images(self), &identity), address - entry->bias};
	return true;
}

/* Callgrind gives code without symbols that was jumped to, not called, to the object of the
 * function that jumped: an address outside its file is then a run-time address. */
static bool find_stray_code(const LodeJoinImages *self, const GArray *pids, uint32_t image,
	uint64_t address, LodePlace *out_place)
{
	uint32_t code = g_array_index(self->code_images, uint32_t, image);

	if (lode_jit_code_set_n_files(self->context->jit) == 0 ||
		lode_code_images_peek(code_images(self), code)->kind != LODE_IMAGE_FILE ||
		lode_code_images_has_address(code_images(self), code, address))
		return false;
	for (guint i = 0; i < pids->len; i++)
		if (find_jit_code(self, g_array_index(pids, uint32_t, i), address, out_place))
			return true;
	return false;
}

/* Code that is not in the file of its object. */
static bool find_elsewhere(const LodeJoinImages *self, const LodeRecording *recording,
	uint32_t object, uint64_t address, LodePlace *out_place)
{
	uint32_t image = image_of(self, object);

	if (image == LODE_NONE)
		return find_mapping(self, object_at(recording, object)->pid, address, out_place);
	return find_stray_code(self, recording->pids, image, address, out_place);
}

LodePlace lode_join_place(const LodeJoinImages *self, const LodeRecording *recording,
	uint32_t object, uint64_t address)
{
	uint32_t image = image_of(self, object);
	LodePlace elsewhere;

	if (find_elsewhere(self, recording, object, address, &elsewhere)) {
		uint32_t found = lode_join_image_of(self, elsewhere.image);
		if (found != LODE_NONE)
			return (LodePlace){found, elsewhere.address};
	} else if (image != LODE_NONE) {
		return (LodePlace){image, address};
	}
	return (LodePlace){g_array_index(self->unknown_images, uint32_t, object), address};
}

static void add_unknown_image(Joining *self, uint32_t object)
{
	uint32_t *unknown = &g_array_index(self->images->unknown_images, uint32_t, object);
	g_autofree char *path = self->recording->pids->len > 1
	                                ? g_strdup_printf("??? of process %" G_GUINT32_FORMAT,
						  object_at(self->recording, object)->pid)
	                                : g_strdup("???");

	/* Objects of one process share it. */
	for (guint i = 0; i < self->images->code_images->len && *unknown == LODE_NONE; i++)
		if (g_array_index(self->images->code_images, uint32_t, i) == LODE_NONE &&
			strcmp(lode_profile_image(self->profile, i)->path, path) == 0)
			*unknown = i;
	if (*unknown == LODE_NONE)
		*unknown = add_row(self, path, LODE_IMAGE_UNRESOLVED, LODE_NONE);
}

/* Images of the load map get a row only when something of them ran. */
static void add_mapped_image(Joining *self, uint32_t object, uint64_t address)
{
	LodePlace elsewhere;

	if (find_elsewhere(self->images, self->recording, object, address, &elsewhere))
		add_image(self, elsewhere.image);
	else if (image_of(self->images, object) == LODE_NONE)
		add_unknown_image(self, object);
}

int lode_join_compare_sites(const void *a, const void *b)
{
	const LodeJoinSite *left = a, *right = b;

	return LODE_FIRST_DIFFERENCE(
		LODE_ASCENDING(image), LODE_ASCENDING(address), LODE_ASCENDING(row));
}

/* Only `unnamed` is out of order. */
static GArray *merge_sites(const GArray *named, GArray *unnamed)
{
	guint n = named->len + unnamed->len, i = 0, j = 0;
	GArray *merged = lode_large_array_new(sizeof(LodeJoinSite), n);

	if (unnamed->len > 1)
		qsort(unnamed->data, unnamed->len, sizeof(LodeJoinSite), lode_join_compare_sites);
	g_array_set_size(merged, n);
	LodeJoinSite *sites = (LodeJoinSite *)merged->data;
	const LodeJoinSite *left = (const LodeJoinSite *)named->data;
	const LodeJoinSite *right = (const LodeJoinSite *)unnamed->data;
	for (guint k = 0; k < n; k++) {
		bool is_left = j == unnamed->len ||
		               (i < named->len && lode_join_compare_sites(&left[i], &right[j]) < 0);
		sites[k] = is_left ? left[i++] : right[j++];
	}
	return merged;
}

/* Rows come sorted by object, and images were added in that order, so that of a million rows only
 * those of "???" have to be sorted, joined samples, and rows of an image that an earlier object has
 * too. */
static GArray *place_sites(Joining *self)
{
	const GArray *rows = self->recording->instructions;
	g_autoptr(GArray) named = lode_large_array_new(sizeof(LodeJoinSite), rows->len);
	g_autoptr(GArray) unnamed = g_array_new(FALSE, FALSE, sizeof(LodeJoinSite));

	for (guint i = 0; i < rows->len; i++) {
		const LodeRecordedInstruction *row = &g_array_index(
			rows, LodeRecordedInstruction, i);
		uint32_t image = image_of(self->images, row->object);
		add_mapped_image(self, row->object, row->address);
		LodePlace place = lode_join_place(
			self->images, self->recording, row->object, row->address);
		LodeJoinSite site = {place.address, place.image, i};
		bool is_sorted = image == place.image && image != LODE_NONE &&
		                 i < self->recording->first_sample_row &&
		                 (named->len == 0 ||
					 lode_join_compare_sites(&g_array_index(named, LodeJoinSite,
									 named->len - 1),
						 &site) < 0);
		g_array_append_val(*(is_sorted ? &named : &unnamed), site);
	}
	return merge_sites(named, unnamed);
}

/* A sample where no execution was counted; of an image of which some were, it is another path. */
static void leave_out(Joining *self, const LodeJoinSite *site)
{
	const LodeRecording *recording = self->recording;
	const LodeRecordedInstruction *sample = &g_array_index(
		recording->instructions, LodeRecordedInstruction, site->row);
	const char *path = lode_profile_image(self->profile, site->image)->path;
	g_autofree char *example = g_strdup_printf(
		"0x%" G_GINT64_MODIFIER "x in %s", site->address, path);

	lode_profile_add_unresolved(self->profile, LODE_UNRESOLVED_UNCOUNTED, example, 0,
		recording->values[sample->first_value + lode_recording_weight_column(recording)]);
}

/*
 * Counted and sampled rows become one profile where they have the same address: sites are sorted by
 * address, then row, and rows of samples come after all that were counted, so that the samples of
 * an instruction follow its count. Samples without a count are left out.
 */
static void join_samples(Joining *self, GArray *sites)
{
	uint32_t first_sample = self->recording->first_sample_row;
	guint kept = 0;

	for (guint i = 0; i < sites->len; i++) {
		const LodeJoinSite site = g_array_index(sites, LodeJoinSite, i);
		const LodeJoinSite *last = kept > 0 ? &g_array_index(sites, LodeJoinSite, kept - 1)
		                                    : NULL;
		if (site.row < first_sample || (last != NULL && last->image == site.image &&
						       last->address == site.address))
			g_array_index(sites, LodeJoinSite, kept++) = site;
		else
			leave_out(self, &site);
	}
	g_array_set_size(sites, kept);
}

static void open_images(Joining *self)
{
	LodeJoinImages *images = self->images;

	images->n = self->profile->code.images->len;
	images->binaries = g_new0(LodeBinaryImage *, MAX(images->n, 1));
	images->open_errors = g_new0(const char *, MAX(images->n, 1));
	lode_code_images_open_all(code_images(images), images->n_workers, self->progress);
	/* The next step reports it. */
	if (lode_progress_is_cancelled(self->progress))
		return;
	for (uint32_t i = 0; i < images->n; i++) {
		uint32_t code = g_array_index(images->code_images, uint32_t, i);
		if (code == LODE_NONE)
			continue;
		const LodeCodeImage *opened = lode_code_images_at(code_images(images), code);
		images->binaries[i] = opened->binary;
		images->open_errors[i] = opened->error;
		lode_profile_image(self->profile, i)->build_id = lode_profile_intern(
			self->profile, lode_code_image_build_id(opened));
	}
}

GArray *lode_join_images(LodeProfile *profile, const LodeRecording *recording,
	const LodeJoinContext *context, const LodeProgress *progress, LodeJoinImages *out)
{
	Joining joining = {profile, recording, out, progress};

	*out = (LodeJoinImages){
		.context = context,
		.n_workers = context->threads != 0 ? context->threads
	                                           : lode_worker_pool_default_size(),
		.code_images = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.images_of_code = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.object_images = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.unknown_images = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	add_object_images(&joining);
	GArray *sites = place_sites(&joining);
	join_samples(&joining, sites);
	open_images(&joining);
	return sites;
}

void lode_join_images_clear(LodeJoinImages *self)
{
	g_clear_pointer(&self->binaries, g_free);
	g_clear_pointer(&self->open_errors, g_free);
	g_clear_pointer(&self->code_images, g_array_unref);
	g_clear_pointer(&self->images_of_code, g_array_unref);
	g_clear_pointer(&self->object_images, g_array_unref);
	g_clear_pointer(&self->unknown_images, g_array_unref);
}
