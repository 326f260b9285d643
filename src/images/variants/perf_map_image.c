/* SPDX-License-Identifier: MIT */
/* The names of a perf map as functions: without bytes and lines, which such a map does not have. */
#include "images/elf/image_variant.h"
#include "sources/code/perf_map.h"

typedef struct {
	LodeBinaryImage image;
	LodePerfMap *map;
} PerfMapImage;

static bool is_perf_map(const char *path, const char *head, size_t head_size)
{
	(void)head;
	(void)head_size;
	return lode_perf_map_is_name(path);
}

static LodeBinaryImage *open_perf_map(
	const char *path, const LodeBinaryImageOptions *options, GError **error)
{
	LodePerfMap *map = lode_perf_map_read(path, error);
	PerfMapImage *self;

	(void)options;
	if (map == NULL)
		return NULL;
	self = g_new0(PerfMapImage, 1);
	self->map = map;
	self->image.functions = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeBinaryFunction), map->entries->len);
	for (guint i = 0; i < map->entries->len; i++) {
		const LodePerfMapEntry *entry = &g_array_index(map->entries, LodePerfMapEntry, i);
		LodeBinaryFunction function = {
			entry->address, entry->size, entry->name, entry->name};

		g_array_append_val(self->image.functions, function);
	}
	return &self->image;
}

static void close_perf_map(LodeBinaryImage *image)
{
	lode_perf_map_free(((PerfMapImage *)image)->map);
}

static const uint8_t *bytes_at(const LodeBinaryImage *image, uint64_t address, size_t *out_n)
{
	(void)image;
	(void)address;
	(void)out_n;
	return NULL;
}

static bool has_lines(const LodeBinaryImage *image)
{
	(void)image;
	return false;
}

static void locate(LodeBinaryImage *image, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *calls)
{
	(void)image;
	(void)addresses;
	(void)calls;
	for (size_t i = 0; i < n; i++)
		out_locations[i] = (LodeBinaryLocation){0};
}

const LodeImageVariant lode_image_perf_map = {
	is_perf_map, open_perf_map, close_perf_map, bytes_at, has_lines, locate};
