/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's objects → images, opened; and every executed instruction's place in them. What
 * callgrind could not name ("???") has run-time addresses, which the load map resolves.
 */
#include "base/worker_pool.h"
#include "ingest/join.h"
#include "sources/large_array.h"

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
		const char *path = g_array_index(objects, LodeRecordedObject, i).path;
		uint32_t image = strcmp(path, "???") == 0 ? LODE_NONE
		                                          : add_image(self, path, LODE_IMAGE_FILE);
		g_array_append_val(self->object_images, image);
		g_array_append_val(self->unknown_images, none);
	}
}

static const LodeLoadMapEntry *find_mapping(const LodeJoin *self, uint32_t object, uint64_t address)
{
	uint32_t pid = g_array_index(self->recording->objects, LodeRecordedObject, object).pid;

	return lode_load_map_set_find(self->load_maps, pid, address);
}

LodeJoinPlace lode_join_place(const LodeJoin *self, uint32_t object, uint64_t address)
{
	uint32_t image = g_array_index(self->object_images, uint32_t, object);
	const LodeLoadMapEntry *entry;

	if (image != LODE_NONE)
		return (LodeJoinPlace){image, address};
	entry = find_mapping(self, object, address);
	if (entry != NULL) {
		void *found = g_hash_table_lookup(self->image_ids, entry->path);
		if (found != NULL)
			return (LodeJoinPlace){GPOINTER_TO_UINT(found) - 1, address - entry->bias};
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
	const LodeLoadMapEntry *entry = find_mapping(self, object, address);

	if (entry != NULL)
		add_image(self, entry->path, LODE_IMAGE_FILE);
	else
		add_unknown_image(self, object);
}

static int compare_sites(const void *a, const void *b)
{
	const LodeJoinSite *left = a, *right = b;

	if (left->image != right->image)
		return left->image < right->image ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

/* Rows come sorted by object, and images were added in that order: only "???" must be sorted. */
static void merge_sites(LodeJoin *self, const GArray *named, GArray *unnamed)
{
	guint n = named->len + unnamed->len, i = 0, j = 0;
	LodeJoinSite *sites;

	if (unnamed->len > 1)
		qsort(unnamed->data, unnamed->len, sizeof(LodeJoinSite), compare_sites);
	g_array_unref(self->sites);
	self->sites = lode_large_array_new(sizeof(LodeJoinSite), n);
	g_array_set_size(self->sites, n);
	sites = (LodeJoinSite *)self->sites->data;
	const LodeJoinSite *left = (const LodeJoinSite *)named->data;
	const LodeJoinSite *right = (const LodeJoinSite *)unnamed->data;
	for (guint k = 0; k < n; k++) {
		bool is_left = j == unnamed->len ||
		               (i < named->len && compare_sites(&left[i], &right[j]) < 0);
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
		if (image == LODE_NONE)
			add_mapped_image(self, row->object, row->address);
		LodeJoinPlace place = lode_join_place(self, row->object, row->address);
		LodeJoinSite site = {place.address, place.image, i};
		g_array_append_val(*(image == LODE_NONE ? &unnamed : &named), site);
	}
	merge_sites(self, named, unnamed);
}

static void open_image(size_t task, unsigned worker, void *user_data)
{
	LodeJoin *self = user_data;
	const LodeImage *image = &LODE_AT(self->profile->images, LodeImage, task);
	LodeBinaryImageOptions options = {.allow_debuginfod = self->options->allow_debuginfod};
	g_autoptr(GError) error = NULL;

	(void)worker;
	if (image->kind != LODE_IMAGE_FILE)
		return;
	self->binaries[task] = lode_binary_image_open(image->path, &options, &error);
	if (self->binaries[task] == NULL)
		self->open_errors[task] = g_strdup(error->message);
}

bool lode_join_images(LodeJoin *self, GError **error)
{
	(void)error;
	add_object_images(self);
	place_sites(self);
	self->n_binaries = self->profile->images->len;
	self->binaries = g_new0(LodeBinaryImage *, MAX(self->n_binaries, 1));
	self->open_errors = g_new0(char *, MAX(self->n_binaries, 1));
	lode_worker_pool_run(self->n_binaries, self->n_workers, open_image, self);
	for (size_t i = 0; i < self->n_binaries; i++) {
		if (self->binaries[i] == NULL)
			continue;
		LODE_AT(self->profile->images, LodeImage, i).build_id = lode_profile_intern(
			self->profile, lode_binary_image_build_id(self->binaries[i]));
	}
	return true;
}
