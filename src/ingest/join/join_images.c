/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's objects → images, opened; and every executed instruction's place in them. What
 * callgrind could not name ("???") has run-time addresses, which the load map resolves.
 */
#include "base/large_array.h"
#include "base/worker_pool.h"
#include "ingest/join/join.h"
#include "sources/load_map_segments.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add_image(LodeJoin *self, const char *path, LodeImageKind kind)
{
	void *found = g_hash_table_lookup(self->image_ids, path);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	LodeImage image = {.path = lode_profile_intern(self->profile, path), .kind = kind};
	g_array_append_val(self->profile->images, image);
	g_hash_table_insert(
		self->image_ids, image.path, GUINT_TO_POINTER(self->profile->images->len));
	return self->profile->images->len - 1;
}

static void add_object_images(LodeJoin *self)
{
	const GArray *objects = self->recording->objects;
	uint32_t none = LODE_NONE;

	for (guint i = 0; i < objects->len; i++) {
		const LodeRecordedObject *object = &g_array_index(objects, LodeRecordedObject, i);
		LodeImageKind kind = object->is_jit ? LODE_IMAGE_JIT : LODE_IMAGE_FILE;
		uint32_t image = strcmp(object->path, "???") == 0
		                         ? LODE_NONE
		                         : add_image(self, object->path, kind);
		g_array_append_val(self->object_images, image);
		g_array_append_val(self->unknown_images, none);
	}
}

/* What lay at a run-time address: a mapped file, or code that was made there. */
static bool find_mapping(const LodeJoin *self, uint32_t object, uint64_t address,
	LodeJitPlace *out_place, LodeImageKind *out_kind)
{
	uint32_t pid = g_array_index(self->recording->objects, LodeRecordedObject, object).pid;
	const LodeLoadMapEntry *entry = lode_load_map_set_find(self->load_maps, pid, address);

	*out_kind = entry != NULL ? LODE_IMAGE_FILE : LODE_IMAGE_JIT;
	if (entry == NULL)
		return lode_jit_code_set_find(self->jit, pid, address, UINT64_MAX, out_place);
	*out_place = (LodeJitPlace){entry->path, address - entry->bias};
	return true;
}

static void read_segments(LodeJoin *self)
{
	const GArray *objects = self->recording->objects;

	if (lode_jit_code_set_n_files(self->jit) == 0)
		return;
	for (guint i = 0; i < objects->len; i++) {
		const LodeRecordedObject *object = &g_array_index(objects, LodeRecordedObject, i);
		GArray *segments = object->is_jit || strcmp(object->path, "???") == 0
		                           ? NULL
		                           : lode_load_map_segments_read(object->path, NULL);
		g_ptr_array_add(self->object_segments, segments);
	}
}

static bool is_in_segments(const GArray *segments, uint64_t address)
{
	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		if (address - segment->address < segment->size_bytes)
			return true;
	}
	return false;
}

/* Callgrind gives code without symbols that was jumped to, not called, to the object of the
 * function that jumped: an address outside its file is then a run-time address. */
static bool find_stray_code(
	const LodeJoin *self, uint32_t object, uint64_t address, LodeJitPlace *out_place)
{
	const GArray *pids = self->recording->pids;
	const GArray *segments = object < self->object_segments->len
	                                 ? g_ptr_array_index(self->object_segments, object)
	                                 : NULL;

	if (segments == NULL || is_in_segments(segments, address))
		return false;
	for (guint i = 0; i < pids->len; i++)
		if (lode_jit_code_set_find(self->jit, g_array_index(pids, uint32_t, i), address,
			    UINT64_MAX, out_place))
			return true;
	return false;
}

LodeJoinPlace lode_join_place(const LodeJoin *self, uint32_t object, uint64_t address)
{
	uint32_t image = g_array_index(self->object_images, uint32_t, object);
	LodeJitPlace place;
	LodeImageKind kind;

	bool is_elsewhere = image != LODE_NONE ? find_stray_code(self, object, address, &place)
	                                       : find_mapping(self, object, address, &place, &kind);
	if (image != LODE_NONE && !is_elsewhere)
		return (LodeJoinPlace){image, address};
	if (is_elsewhere) {
		void *found = g_hash_table_lookup(self->image_ids, place.path);
		if (found != NULL)
			return (LodeJoinPlace){GPOINTER_TO_UINT(found) - 1, place.address};
	}
	return (LodeJoinPlace){g_array_index(self->unknown_images, uint32_t, object), address};
}

static void add_unknown_image(LodeJoin *self, uint32_t object)
{
	uint32_t pid = g_array_index(self->recording->objects, LodeRecordedObject, object).pid;
	g_autofree char *path = self->recording->pids->len > 1
	                                ? g_strdup_printf("??? of process %" G_GUINT32_FORMAT, pid)
	                                : g_strdup("???");

	if (g_array_index(self->unknown_images, uint32_t, object) == LODE_NONE)
		g_array_index(self->unknown_images, uint32_t, object) = add_image(
			self, path, LODE_IMAGE_UNRESOLVED);
}

/* Images of the load map get a row only when something of them ran. */
static void add_mapped_image(LodeJoin *self, uint32_t object, uint64_t address)
{
	bool is_named = g_array_index(self->object_images, uint32_t, object) != LODE_NONE;
	LodeJitPlace place;
	LodeImageKind kind;

	if (is_named && find_stray_code(self, object, address, &place))
		add_image(self, place.path, LODE_IMAGE_JIT);
	else if (!is_named && find_mapping(self, object, address, &place, &kind))
		add_image(self, place.path, kind);
	else if (!is_named)
		add_unknown_image(self, object);
}

/* Rows come sorted by object, and images were added in that order: only "???" must be sorted, and
 * samples that are joined. */
static void merge_sites(LodeJoin *self, const GArray *named, GArray *unnamed)
{
	guint n = named->len + unnamed->len, i = 0, j = 0;
	LodeJoinSite *sites;

	if (unnamed->len > 1)
		qsort(unnamed->data, unnamed->len, sizeof(LodeJoinSite), lode_join_compare_sites);
	g_array_unref(self->sites);
	self->sites = lode_large_array_new(sizeof(LodeJoinSite), n);
	g_array_set_size(self->sites, n);
	sites = (LodeJoinSite *)self->sites->data;
	const LodeJoinSite *left = (const LodeJoinSite *)named->data;
	const LodeJoinSite *right = (const LodeJoinSite *)unnamed->data;
	for (guint k = 0; k < n; k++) {
		bool is_left = j == unnamed->len ||
		               (i < named->len && lode_join_compare_sites(&left[i], &right[j]) < 0);
		sites[k] = is_left ? left[i++] : right[j++];
	}
}

static void place_sites(LodeJoin *self)
{
	const GArray *rows = self->recording->instructions;
	g_autoptr(GArray) named = lode_large_array_new(sizeof(LodeJoinSite), rows->len);
	g_autoptr(GArray) unnamed = g_array_new(FALSE, FALSE, sizeof(LodeJoinSite));

	for (guint i = 0; i < rows->len; i++) {
		const LodeRecordedInstruction *row = &g_array_index(
			rows, LodeRecordedInstruction, i);
		uint32_t image = g_array_index(self->object_images, uint32_t, row->object);
		add_mapped_image(self, row->object, row->address);
		LodeJoinPlace place = lode_join_place(self, row->object, row->address);
		LodeJoinSite site = {place.address, place.image, i};
		bool is_sorted = image == place.image && image != LODE_NONE &&
		                 i < self->recording->first_sample_row;
		g_array_append_val(*(is_sorted ? &named : &unnamed), site);
	}
	merge_sites(self, named, unnamed);
}

static double sample_weight(const LodeJoin *self, uint32_t row)
{
	const LodeRecordedInstruction *sample = &g_array_index(
		self->recording->instructions, LodeRecordedInstruction, row);

	return self->recording
	        ->values[sample->first_value + lode_recording_weight_column(self->recording)];
}

/* A sample where no execution was counted; of an image of which some were, it is another path. */
static void leave_out(LodeJoin *self, const LodeJoinSite *site)
{
	const char *path = lode_profile_image(self->profile, site->image)->path;
	g_autofree char *example = g_strdup_printf(
		"0x%" G_GINT64_MODIFIER "x in %s", site->address, path);

	lode_profile_add_unresolved(self->profile,
		"sampled where the counting run executed nothing", example, 0,
		sample_weight(self, site->row));
}

/* Keeps the samples that are at a counted instruction: their site follows its. */
static void join_samples(LodeJoin *self)
{
	uint32_t first_sample = self->recording->first_sample_row;
	guint kept = 0;

	for (guint i = 0; i < self->sites->len; i++) {
		const LodeJoinSite site = g_array_index(self->sites, LodeJoinSite, i);
		const LodeJoinSite *last =
			kept > 0 ? &g_array_index(self->sites, LodeJoinSite, kept - 1) : NULL;
		if (site.row < first_sample || (last != NULL && last->image == site.image &&
						       last->address == site.address))
			g_array_index(self->sites, LodeJoinSite, kept++) = site;
		else
			leave_out(self, &site);
	}
	g_array_set_size(self->sites, kept);
}

static void open_image(size_t task, unsigned worker, void *user_data)
{
	LodeJoin *self = user_data;
	const LodeImage *image = lode_profile_image(self->profile, task);
	LodeBinaryImageOptions options = {.allow_debuginfod = self->context->allow_debuginfod};
	g_autoptr(GError) error = NULL;

	(void)worker;
	if (image->kind != LODE_IMAGE_FILE && image->kind != LODE_IMAGE_JIT)
		return;
	self->binaries[task] = lode_binary_image_open(image->path, &options, &error);
	if (self->binaries[task] == NULL)
		self->open_errors[task] = g_strdup(error->message);
}

/* A file that was replaced since the recording would lead to wrong instructions. */
static void check_build_id(LodeJoin *self, const LodeRecordedObject *object, uint32_t image)
{
	const char *now = self->binaries[image] != NULL
	                          ? lode_binary_image_build_id(self->binaries[image])
	                          : NULL;

	if (object->build_id == NULL || now == NULL || strcmp(object->build_id, now) == 0)
		return;
	self->open_errors[image] = g_strdup_printf(
		"%s: not the file that was recorded: its build-id is %s, it was %s", object->path,
		now, object->build_id);
	g_clear_pointer(&self->binaries[image], lode_binary_image_close);
}

static void check_build_ids(LodeJoin *self)
{
	for (guint i = 0; i < self->recording->objects->len; i++) {
		uint32_t image = g_array_index(self->object_images, uint32_t, i);
		if (image != LODE_NONE)
			check_build_id(self,
				&g_array_index(self->recording->objects, LodeRecordedObject, i),
				image);
	}
}

static char *known_build_id(const LodeJoin *self, uint32_t image)
{
	if (self->binaries[image] != NULL)
		return lode_profile_intern(
			self->profile, lode_binary_image_build_id(self->binaries[image]));
	for (guint i = 0; i < self->recording->objects->len; i++)
		if (g_array_index(self->object_images, uint32_t, i) == image)
			return lode_profile_intern(self->profile,
				g_array_index(self->recording->objects, LodeRecordedObject, i)
					.build_id);
	return NULL;
}

bool lode_join_images(LodeJoin *self, GError **error)
{
	(void)error;
	add_object_images(self);
	read_segments(self);
	place_sites(self);
	join_samples(self);
	self->n_binaries = self->profile->images->len;
	self->binaries = g_new0(LodeBinaryImage *, MAX(self->n_binaries, 1));
	self->open_errors = g_new0(char *, MAX(self->n_binaries, 1));
	lode_worker_pool_run(self->n_binaries, self->n_workers, open_image, self);
	check_build_ids(self);
	for (uint32_t i = 0; i < self->n_binaries; i++)
		lode_profile_image(self->profile, i)->build_id = known_build_id(self, i);
	return true;
}
