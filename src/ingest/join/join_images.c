/* SPDX-License-Identifier: MIT */
/*
 * The recording's objects → images, opened; and every executed instruction's place in them. What
 * callgrind could not name ("???") has run-time addresses, which the load map resolves.
 */
#include "base/large_array.h"
#include "base/worker_pool.h"
#include "ingest/join/join.h"
#include "sources/load_map_segments.h"

#include <stdlib.h>
#include <string.h>

/* What is made into images and sites, and where they go. */
typedef struct {
	LodeProfile *profile;
	const LodeRecording *recording;
	LodeJoinImages *images;
} Joining;

/* Where code lies that is not in the file of its object. */
typedef struct {
	LodeJitPlace place;
	LodeImageKind kind;
} Elsewhere;

static const LodeRecordedObject *object_at(const LodeRecording *recording, uint32_t object)
{
	return &g_array_index(recording->objects, LodeRecordedObject, object);
}

static uint32_t image_of(const LodeJoinImages *self, uint32_t object)
{
	return g_array_index(self->object_images, uint32_t, object);
}

static uint32_t add_image(Joining *self, const char *path, LodeImageKind kind)
{
	void *found = g_hash_table_lookup(self->images->ids, path);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	LodeImage image = {.path = lode_profile_intern(self->profile, path), .kind = kind};
	g_array_append_val(self->profile->images, image);
	g_hash_table_insert(
		self->images->ids, image.path, GUINT_TO_POINTER(self->profile->images->len));
	return self->profile->images->len - 1;
}

static void add_object_images(Joining *self)
{
	uint32_t none = LODE_NONE;

	for (guint i = 0; i < self->recording->objects->len; i++) {
		const LodeRecordedObject *object = object_at(self->recording, i);
		LodeImageKind kind = object->is_kernel ? LODE_IMAGE_KERNEL
		                     : object->is_jit  ? LODE_IMAGE_JIT
		                                       : LODE_IMAGE_FILE;
		uint32_t image = strcmp(object->path, "???") == 0
		                         ? LODE_NONE
		                         : add_image(self, object->path, kind);
		g_array_append_val(self->images->object_images, image);
		g_array_append_val(self->images->unknown_images, none);
	}
}

/* They only serve to tell code that was made at run time from that of files. */
static void read_segments(Joining *self)
{
	if (lode_jit_code_set_n_files(self->images->context->jit) == 0)
		return;
	for (guint i = 0; i < self->recording->objects->len; i++) {
		const LodeRecordedObject *object = object_at(self->recording, i);
		GArray *segments = object->is_jit || strcmp(object->path, "???") == 0
		                           ? NULL
		                           : lode_load_map_segments_read(object->path, NULL);
		g_ptr_array_add(self->images->segments, segments);
	}
}

/* What lay at a run-time address: a mapped file, or code that was made there. */
static bool find_mapping(
	const LodeJoinContext *context, uint32_t pid, uint64_t address, Elsewhere *out)
{
	const LodeLoadMapEntry *entry = lode_load_map_set_find(context->load_maps, pid, address);

	out->kind = entry != NULL ? LODE_IMAGE_FILE : LODE_IMAGE_JIT;
	if (entry == NULL)
		return lode_jit_code_set_find(context->jit, pid, address, UINT64_MAX, &out->place);
	out->place = (LodeJitPlace){entry->path, address - entry->bias};
	return true;
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
static bool find_stray_code(const LodeJoinImages *self, const GArray *pids, uint32_t object,
	uint64_t address, Elsewhere *out)
{
	const GArray *segments = object < self->segments->len
	                                 ? g_ptr_array_index(self->segments, object)
	                                 : NULL;

	out->kind = LODE_IMAGE_JIT;
	if (segments == NULL || is_in_segments(segments, address))
		return false;
	for (guint i = 0; i < pids->len; i++)
		if (lode_jit_code_set_find(self->context->jit, g_array_index(pids, uint32_t, i),
			    address, UINT64_MAX, &out->place))
			return true;
	return false;
}

static bool find_elsewhere(const LodeJoinImages *self, const LodeRecording *recording,
	uint32_t object, uint64_t address, Elsewhere *out)
{
	uint32_t pid = object_at(recording, object)->pid;

	if (image_of(self, object) == LODE_NONE)
		return find_mapping(self->context, pid, address, out);
	return find_stray_code(self, recording->pids, object, address, out);
}

LodeJoinPlace lode_join_place(const LodeJoinImages *self, const LodeRecording *recording,
	uint32_t object, uint64_t address)
{
	uint32_t image = image_of(self, object);
	Elsewhere elsewhere;

	if (find_elsewhere(self, recording, object, address, &elsewhere)) {
		void *found = g_hash_table_lookup(self->ids, elsewhere.place.path);
		if (found != NULL)
			return (LodeJoinPlace){
				GPOINTER_TO_UINT(found) - 1, elsewhere.place.address};
	} else if (image != LODE_NONE) {
		return (LodeJoinPlace){image, address};
	}
	return (LodeJoinPlace){g_array_index(self->unknown_images, uint32_t, object), address};
}

static void add_unknown_image(Joining *self, uint32_t object)
{
	uint32_t *unknown = &g_array_index(self->images->unknown_images, uint32_t, object);
	g_autofree char *path = self->recording->pids->len > 1
	                                ? g_strdup_printf("??? of process %" G_GUINT32_FORMAT,
						  object_at(self->recording, object)->pid)
	                                : g_strdup("???");

	if (*unknown == LODE_NONE)
		*unknown = add_image(self, path, LODE_IMAGE_UNRESOLVED);
}

/* Images of the load map get a row only when something of them ran. */
static void add_mapped_image(Joining *self, uint32_t object, uint64_t address)
{
	Elsewhere elsewhere;

	if (find_elsewhere(self->images, self->recording, object, address, &elsewhere))
		add_image(self, elsewhere.place.path, elsewhere.kind);
	else if (image_of(self->images, object) == LODE_NONE)
		add_unknown_image(self, object);
}

int lode_join_compare_sites(const void *a, const void *b)
{
	const LodeJoinSite *left = a, *right = b;

	if (left->image != right->image)
		return left->image < right->image ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
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
 * those of "???" have to be sorted, and samples that are joined. */
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
		LodeJoinPlace place = lode_join_place(
			self->images, self->recording, row->object, row->address);
		LodeJoinSite site = {place.address, place.image, i};
		bool is_sorted = image == place.image && image != LODE_NONE &&
		                 i < self->recording->first_sample_row;
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
 * an instruction follow its count. What follows no count is left out.
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

static const char *known_build_id(const Joining *self, uint32_t image)
{
	if (self->images->binaries[image] != NULL)
		return lode_binary_image_build_id(self->images->binaries[image]);
	for (guint i = 0; i < self->recording->objects->len; i++)
		if (image_of(self->images, i) == image)
			return object_at(self->recording, i)->build_id;
	return NULL;
}

static bool is_opened(const LodeImage *image)
{
	return image->kind == LODE_IMAGE_FILE || image->kind == LODE_IMAGE_JIT;
}

/* With what the recording knows of each file, so that one that was replaced since is told. */
static void add_code_images(Joining *self)
{
	LodeCodeImages *code = self->images->context->code_images;

	for (guint i = 0; i < self->recording->objects->len; i++) {
		const LodeRecordedObject *object = object_at(self->recording, i);
		if (image_of(self->images, i) != LODE_NONE && !object->is_kernel)
			lode_code_images_add(code, object->path, object->build_id);
	}
	for (uint32_t i = 0; i < self->images->n; i++)
		if (is_opened(lode_profile_image(self->profile, i)))
			lode_code_images_add(
				code, lode_profile_image(self->profile, i)->path, NULL);
}

/* A path of two recordings may have been two files. */
static void check_build_ids(Joining *self)
{
	LodeJoinImages *images = self->images;
	LodeCodeImages *code = images->context->code_images;

	for (guint i = 0; i < self->recording->objects->len; i++) {
		const LodeRecordedObject *object = object_at(self->recording, i);
		uint32_t image = image_of(images, i);
		if (image == LODE_NONE || images->binaries[image] == NULL)
			continue;
		images->open_errors[image] = lode_code_image_why_not(
			lode_code_images_at(code, lode_code_images_find(code, object->path)),
			object->build_id);
		if (images->open_errors[image] != NULL)
			images->binaries[image] = NULL;
	}
}

static void open_images(Joining *self)
{
	LodeJoinImages *images = self->images;
	LodeCodeImages *code = images->context->code_images;

	images->n = self->profile->images->len;
	images->binaries = g_new0(LodeBinaryImage *, MAX(images->n, 1));
	images->open_errors = g_new0(char *, MAX(images->n, 1));
	add_code_images(self);
	lode_code_images_open_all(code, images->n_workers);
	for (uint32_t i = 0; i < images->n; i++) {
		const LodeImage *image = lode_profile_image(self->profile, i);
		if (!is_opened(image))
			continue;
		LodeCodeImage *opened = lode_code_images_at(
			code, lode_code_images_find(code, image->path));
		images->binaries[i] = opened->binary;
		images->open_errors[i] = g_strdup(opened->error);
	}
	check_build_ids(self);
	for (uint32_t i = 0; i < images->n; i++)
		lode_profile_image(self->profile, i)->build_id = lode_profile_intern(
			self->profile, known_build_id(self, i));
}

static void free_segments(void *data)
{
	g_clear_pointer((GArray **)&data, g_array_unref);
}

GArray *lode_join_images(LodeProfile *profile, const LodeRecording *recording,
	const LodeJoinContext *context, LodeJoinImages *out)
{
	Joining joining = {profile, recording, out};

	*out = (LodeJoinImages){
		.context = context,
		.n_workers = context->threads != 0 ? context->threads
	                                           : lode_worker_pool_default_size(),
		.ids = g_hash_table_new(g_str_hash, g_str_equal),
		.object_images = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.unknown_images = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.segments = g_ptr_array_new_with_free_func(free_segments),
	};
	add_object_images(&joining);
	read_segments(&joining);
	GArray *sites = place_sites(&joining);
	join_samples(&joining, sites);
	open_images(&joining);
	return sites;
}

void lode_join_images_clear(LodeJoinImages *self)
{
	for (size_t i = 0; i < self->n; i++)
		g_free(self->open_errors[i]);
	g_clear_pointer(&self->binaries, g_free);
	g_clear_pointer(&self->open_errors, g_free);
	g_clear_pointer(&self->ids, g_hash_table_unref);
	g_clear_pointer(&self->object_images, g_array_unref);
	g_clear_pointer(&self->unknown_images, g_array_unref);
	g_clear_pointer(&self->segments, g_ptr_array_unref);
}
