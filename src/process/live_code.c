/* SPDX-License-Identifier: MIT */
#include "process/live_code.h"

#include "base/partition_point.h"
#include "sources/load_map_segments.h"

struct LodeLiveImage {
	LodeBinaryImage *image; /* NULL: it could not be opened */
	GArray *segments;       /* LodeLoadMapSegment */
};

struct LodeLiveCode {
	GHashTable *images; /* path → LodeLiveImage * */
};

static void free_image(void *data)
{
	LodeLiveImage *image = data;

	lode_binary_image_close(image->image);
	g_clear_pointer(&image->segments, g_array_unref);
	g_free(image);
}

LodeLiveCode *lode_live_code_new(void)
{
	LodeLiveCode *self = g_new0(LodeLiveCode, 1);

	self->images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_image);
	return self;
}

void lode_live_code_free(LodeLiveCode *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->images);
	g_free(self);
}

/* Nothing is asked of servers: the program runs on meanwhile. */
static LodeLiveImage *open_image(const char *path)
{
	const LodeBinaryImageOptions options = {.allow_debuginfod = false};
	LodeLiveImage *self = g_new0(LodeLiveImage, 1);

	self->segments = lode_load_map_segments_read(path, NULL);
	if (self->segments != NULL)
		self->image = lode_binary_image_open(path, &options, NULL);
	return self;
}

const LodeLiveImage *lode_live_code_image(LodeLiveCode *self, const char *path)
{
	LodeLiveImage *image = g_hash_table_lookup(self->images, path);

	if (image == NULL) {
		image = open_image(path);
		g_hash_table_insert(self->images, g_strdup(path), image);
	}
	return image->image != NULL ? image : NULL;
}

bool lode_live_image_place(const LodeLiveImage *self, uint64_t offset, uint64_t *out_address)
{
	for (guint i = 0; i < self->segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(
			self->segments, LodeLoadMapSegment, i);
		if (offset < segment->offset ||
			offset - segment->offset >= segment->file_size_bytes)
			continue;
		*out_address = segment->address + (offset - segment->offset);
		return true;
	}
	return false;
}

const uint8_t *lode_live_image_bytes(const LodeLiveImage *self, uint64_t address, size_t *out_n)
{
	return lode_binary_image_bytes(self->image, address, out_n);
}

const char *lode_live_image_function(const LodeLiveImage *self, uint64_t address)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(self->image, &n);
	size_t found = LODE_PARTITION_POINT(
		n, i, functions[i].address + functions[i].size <= address);

	return found < n && functions[found].address <= address ? functions[found].name : NULL;
}
